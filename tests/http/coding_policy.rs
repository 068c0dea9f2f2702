//! Which responses are coded, and what coding leaves behind in the head.

use crate::common::{Server, Site, text};

const ACCEPT: &str = "Accept-Encoding: gzip";

#[test]
fn text_and_its_kin_are_coded_and_packed_formats_are_not() {
    const CODED: [&str; 24] = [
        "html",
        "htm",
        "css",
        "js",
        "mjs",
        "json",
        "map",
        "xml",
        "svg",
        "txt",
        "md",
        "csv",
        "wasm",
        "ttf",
        "otf",
        "eot",
        "webmanifest",
        "ndjson",
        "rss",
        "atom",
        "xhtml",
        "geojson",
        "vtt",
        "ics",
    ];
    const PLAIN: [&str; 20] = [
        "woff", "woff2", "png", "jpg", "jpeg", "gif", "webp", "avif", "mp4", "webm", "mp3", "ogg", "zip",
        "gz", "br", "zst", "7z", "xz", "bz2", "bin",
    ];
    let mut site = Site::new();
    for extension in CODED.iter().chain(&PLAIN) {
        site = site.with(&format!("file.{extension}"), text(2000));
    }
    let server = Server::start(&site, &[]);
    for extension in CODED {
        let reply = server.get(&format!("/file.{extension}"), &[ACCEPT]).rule("this type is coded");
        reply.status(200).coded("gzip").varies().decodes_to(text(2000));
    }
    for extension in PLAIN {
        let reply = server.get(&format!("/file.{extension}"), &[ACCEPT]).rule("this type is never coded");
        reply.status(200).coded("identity").lacks("vary").has("content-length", "2000").body(text(2000));
    }
}

#[test]
fn types_are_current_and_text_has_a_charset() {
    const TYPES: [(&str, &str); 16] = [
        ("html", "text/html; charset=utf-8"),
        ("css", "text/css; charset=utf-8"),
        ("js", "text/javascript; charset=utf-8"),
        ("mjs", "text/javascript; charset=utf-8"),
        ("txt", "text/plain; charset=utf-8"),
        ("json", "application/json"),
        ("svg", "image/svg+xml"),
        ("wasm", "application/wasm"),
        ("webmanifest", "application/manifest+json"),
        ("woff2", "font/woff2"),
        ("avif", "image/avif"),
        ("webp", "image/webp"),
        ("mp4", "video/mp4"),
        ("pdf", "application/pdf"),
        ("zst", "application/zstd"),
        ("unheardof", "application/octet-stream"),
    ];
    let mut site =
        Site::new().with("README", "no extension").with("blob", "nor this").with("page.HTML", "upper case");
    for (extension, _) in TYPES {
        site = site.with(&format!("file.{extension}"), text(100));
    }
    let server = Server::start(&site, &[]);
    for (extension, kind) in TYPES {
        server.get(&format!("/file.{extension}"), &[]).rule("the type of a name").has("content-type", kind);
    }
    server.get("/README", &[]).rule("a text by its name").has("content-type", "text/plain; charset=utf-8");
    server.get("/blob", &[]).rule("no extension").has("content-type", "application/octet-stream");
    server
        .get("/page.HTML", &[])
        .rule("extensions have no case")
        .has("content-type", "text/html; charset=utf-8");
    let server = Server::start(&site, &["--charset", "off"]);
    server.get("/file.html", &[]).rule("--charset off").has("content-type", "text/html");
    let server = Server::start(&site, &["--charset", "windows-1252"]);
    server
        .get("/file.html", &[])
        .rule("--charset NAME")
        .has("content-type", "text/html; charset=windows-1252");
}

#[test]
fn short_bodies_are_not_coded() {
    let site = Site::new()
        .with("short.html", text(255))
        .with("long.html", text(256))
        .with("longer.html", text(1000));
    let server = Server::start(&site, &[]);
    let reply = server.get("/short.html", &[ACCEPT]).rule("below the minimum of 256 bytes");
    reply.coded("identity").has("content-length", "255").body(text(255));
    server.get("/long.html", &[ACCEPT]).rule("at the minimum").coded("gzip").decodes_to(text(256));
    let server = Server::start(&site, &["--min-length", "1000"]);
    server.get("/long.html", &[ACCEPT]).rule("--min-length").coded("identity").body(text(256));
    server.get("/longer.html", &[ACCEPT]).rule("--min-length").coded("gzip").decodes_to(text(1000));
}

#[test]
fn no_transform_is_honoured() {
    let site = Site::new().with("page.html", text(5000));
    for value in ["no-transform", "public, No-Transform, max-age=60"] {
        let server = Server::start(&site, &["--cache-control", value]);
        let reply = server.get("/page.html", &[ACCEPT]).rule("Cache-Control: no-transform is honoured");
        reply.status(200).coded("identity").has("cache-control", value).body(text(5000));
        let server = Server::start(&site, &["--cache-control", value, "--ignore-no-transform"]);
        let reply =
            server.get("/page.html", &[ACCEPT]).rule("--ignore-no-transform codes the server's own files");
        reply.status(200).coded("gzip").decodes_to(text(5000));
    }
}

#[test]
fn lengths_are_those_of_what_is_sent() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let site = Site::new().with("page.html", text(9000)).with("photo.png", text(9000));
        site.write("big.txt", text(3 << 20));
        let server = Server::start(&site, flags);
        for (target, len) in [("/page.html", 9000), ("/photo.png", 9000), ("/big.txt", 3 << 20)] {
            let plain = server.get(target, &[]).rule("an uncoded body never loses its length");
            plain.status(200).has("content-length", &len.to_string()).body(text(len));
            for coding in ["gzip", "br", "zstd"] {
                let coded = server.get(target, &[&format!("Accept-Encoding: {coding}")]);
                let coded = coded.rule("a coded body never keeps the old length");
                coded.status(200).decodes_to(text(len));
                if target != "/photo.png" {
                    coded.coded(coding).that(coded.body.len() < len / 2, "coding made it no smaller");
                }
            }
        }
    }
}

#[test]
fn coding_off_codes_nothing() {
    let site = Site::new().with("page.html", text(5000));
    let server = Server::start(&site, &["--codings", "off"]);
    let reply = server.get("/page.html", &["Accept-Encoding: gzip, br, zstd"]);
    reply.rule("--codings off turns coding off").status(200).coded("identity").lacks("vary").body(text(5000));
}

#[test]
fn levels_trade_time_for_size() {
    let site = Site::new().with("page.txt", text(50_000));
    let mut sizes = Vec::new();
    for level in ["1", "6", "9"] {
        let server = Server::start(&site, &["--gzip-level", level]);
        let reply = server.get("/page.txt", &[ACCEPT]).rule("--gzip-level");
        reply.coded("gzip").decodes_to(text(50_000));
        sizes.push(reply.body.len());
    }
    assert!(sizes[0] > sizes[1] && sizes[1] >= sizes[2], "sizes at gzip levels 1, 6 and 9: {sizes:?}");
    for (flag, coding) in [("--brotli-quality", "br"), ("--zstd-level", "zstd")] {
        let sizes = ["1", "9"].map(|level| {
            let server = Server::start(&site, &[flag, level]);
            let reply = server.get("/page.txt", &[&format!("Accept-Encoding: {coding}")]).rule(flag);
            reply.coded(coding).decodes_to(text(50_000));
            reply.body.len()
        });
        assert!(sizes[0] > sizes[1], "sizes with {flag} 1 and 9: {sizes:?}");
    }
}

#[test]
fn a_thousand_first_requests_get_one_body() {
    let site = Site::new().with("page.html", text(200_000));
    let server = Server::start(&site, &[]);
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| (0..50).map(|_| server.get("/page.html", &[ACCEPT]).body).collect::<Vec<_>>())
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    assert_eq!(bodies.len(), 1000);
    assert!(
        bodies.iter().all(|body| body == &bodies[0]),
        "the first requests for one file got different bodies"
    );
    server.get("/page.html", &[ACCEPT]).rule("and the body is right").coded("gzip").decodes_to(text(200_000));
}
