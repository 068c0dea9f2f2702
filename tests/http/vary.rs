//! `Vary` (RFC 9110 §12.5.5, RFC 9111 §4.1): every response whose coding could have differed says so.

use crate::common::{Server, Site, text};

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new()
        .with("page.html", text(5000))
        .with("missing.html", text(5000))
        .with("side.css", text(5000))
        .with("photo.png", text(5000))
        .with("font.woff2", text(5000));
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut packed = packed;
    std::io::Write::write_all(&mut packed, &text(5000)).expect("in memory");
    let site = site.with("side.css.gz", packed.finish().expect("in memory"));
    let server = Server::start(&site, flags);
    (site, server)
}

#[test]
fn every_response_that_could_have_been_coded_varies() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (_site, server) = serve(flags);
        let tag = server.get("/page.html", &[]).field("etag").to_owned();
        let revalidate = format!("If-None-Match: {tag}");
        let cases: [(&str, &str, &[&str], u16, &str); 9] = [
            ("GET", "/page.html", &["Accept-Encoding: gzip"], 200, "the coded one"),
            ("GET", "/page.html", &["Accept-Encoding: identity"], 200, "the identity one"),
            ("GET", "/page.html", &[], 200, "the one to a request without the field"),
            ("GET", "/side.css", &["Accept-Encoding: gzip"], 200, "the sidecar"),
            ("GET", "/side.css", &[], 200, "the identity one beside a sidecar"),
            ("GET", "/page.html", &[&revalidate], 304, "the 304"),
            ("HEAD", "/page.html", &["Accept-Encoding: gzip"], 200, "the HEAD"),
            ("HEAD", "/page.html", &[], 200, "the HEAD without the field"),
            ("GET", "/page.html", &["Range: bytes=0-9"], 206, "the 206"),
        ];
        for (method, target, fields, status, rule) in cases {
            server.ask(method, target, fields).rule(&format!("{rule} varies")).status(status).varies();
        }
    }
}

#[test]
fn an_error_page_that_could_have_been_coded_varies() {
    let (_site, server) = serve(&["--error-page", "404=missing.html"]);
    for fields in [&["Accept-Encoding: gzip"][..], &[]] {
        let reply = server.get("/nowhere", fields).rule("error pages are coded like pages, and vary");
        reply.status(404).varies().decodes_to(text(5000));
    }
    server.get("/nowhere", &["Accept-Encoding: gzip"]).rule("error pages are coded").coded("gzip");
}

#[test]
fn what_is_never_coded_does_not_vary() {
    let (_site, server) = serve(&[]);
    for target in ["/photo.png", "/font.woff2"] {
        for fields in [&["Accept-Encoding: gzip, br, zstd"][..], &[]] {
            let reply = server.get(target, fields).rule("no Vary on types that are never coded");
            reply.status(200).coded("identity").lacks("vary");
        }
    }
}
