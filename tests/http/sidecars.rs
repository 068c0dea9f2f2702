//! Precompressed files beside their originals.

use std::io::Write;
use std::time::Duration;

use crate::common::{Server, Site, text};

/// A file with all three sidecars, one with gzip alone, and a sidecar without its original; all of one age.
fn site() -> Site {
    let page = text(5000);
    Site::new()
        .with("all.css", &page)
        .with("all.css.gz", gzip(&page))
        .with("all.css.br", brotli_stored(&page))
        .with("all.css.zst", zstd(&page, 20))
        .with("only.js.gz", gzip(&page))
        .with("some.css", &page)
        .with("some.css.gz", gzip(&page))
}

/// What gzip makes of a body at a level that the server does not use, so that a sidecar is told from a body coded
/// on the fly.
fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder =
        flate2::GzBuilder::new().filename("sidecar").write(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).expect("in memory");
    encoder.finish().expect("in memory")
}

/// A brotli stream of uncompressed meta-blocks (RFC 7932 §9.2), written by hand: no encoder is needed for it.
fn brotli_stored(body: &[u8]) -> Vec<u8> {
    assert!((1..=1 << 16).contains(&body.len()), "one meta-block with a length of 16 bits");
    // WBITS 16 is the bit 0. Then ISLAST 0, MNIBBLES 0 0 (four), MLEN - 1 in 16 bits, ISUNCOMPRESSED 1; padding.
    let bits = ((body.len() as u32 - 1) << 4) | (1 << 20);
    let mut out = bits.to_le_bytes()[..3].to_vec();
    out.extend_from_slice(body);
    // ISLAST 1, ISLASTEMPTY 1.
    out.push(0b11);
    out
}

fn zstd(body: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(window_log).expect("a window");
    // Without the size in the frame, so that the window is the one asked for.
    encoder.include_contentsize(false).expect("a parameter");
    encoder.write_all(body).expect("in memory");
    encoder.finish().expect("in memory")
}

fn read(site: &Site, name: &str) -> Vec<u8> {
    std::fs::read(site.path(name)).expect("read")
}

#[test]
fn a_sidecar_is_chosen_by_negotiation_and_sent_as_it_is() {
    let site = site();
    let server = Server::start(&site, &[]);
    let cases = [
        ("gzip", "gzip", "all.css.gz"),
        ("br", "br", "all.css.br"),
        ("zstd", "zstd", "all.css.zst"),
        ("gzip, br", "br", "all.css.br"),
        ("gzip, br;q=0.5", "gzip", "all.css.gz"),
    ];
    for (accept, coding, file) in cases {
        let bytes = read(&site, file);
        let reply = server.get("/all.css", &[&format!("Accept-Encoding: {accept}")]);
        let reply =
            reply.rule("the sidecar's bytes, its length, and the type of the name that was asked for");
        reply.status(200).coded(coding).varies().body(&bytes).decodes_to(text(5000));
        reply.has("content-length", &bytes.len().to_string()).has("content-type", "text/css; charset=utf-8");
        reply.that(reply.field("etag").starts_with('"'), "a sidecar has a strong tag");
    }
    let plain = server.get("/all.css", &[]).rule("the original for a client that wants identity");
    plain.status(200).coded("identity").varies().body(text(5000));
}

#[test]
fn each_sidecar_has_a_tag_of_its_own_that_revalidates() {
    let site = site();
    let server = Server::start(&site, &[]);
    let mut tags = Vec::new();
    for coding in ["identity", "gzip", "br", "zstd"] {
        let accept = format!("Accept-Encoding: {coding}");
        let tag = server.get("/all.css", &[&accept]).field("etag").to_owned();
        let again = server.get("/all.css", &[&accept, &format!("If-None-Match: {tag}")]);
        again.rule("the tag of a sidecar revalidates it").status(304).has("etag", &tag).varies();
        assert!(!tags.contains(&tag), "two representations share the tag {tag}");
        tags.push(tag);
    }
}

#[test]
fn the_next_acceptable_sidecar_serves_where_the_first_is_missing() {
    let site = site();
    let server = Server::start(&site, &[]);
    let reply = server.get("/some.css", &["Accept-Encoding: zstd, br, gzip"]);
    let reply = reply.rule("a sidecar that exists, or the preferred coding on the fly");
    reply.status(200).decodes_to(text(5000));
    if reply.get("content-encoding") == Some("gzip") {
        reply.body(read(&site, "some.css.gz"));
    }
    let server = Server::start(&site, &["--sidecars", "off"]);
    let reply = server.get("/some.css", &["Accept-Encoding: gzip"]).rule("--sidecars off codes on the fly");
    reply.status(200).coded("gzip").decodes_to(text(5000));
    reply.that(reply.body != read(&site, "some.css.gz"), "the sidecar was used");
}

#[test]
fn a_sidecar_older_than_its_original_is_not_used() {
    let site = site();
    site.age("all.css", Duration::from_secs(10));
    let server = Server::start(&site, &[]);
    let stale = read(&site, "all.css.gz");
    for _ in 0..3 {
        let reply = server.get("/all.css", &["Accept-Encoding: gzip"]).rule("an older sidecar is not used");
        reply
            .status(200)
            .coded("gzip")
            .decodes_to(text(5000))
            .that(reply.body != stale, "the stale sidecar was used");
    }
    let logged = server.stderr().matches("all.css.gz").count();
    assert_eq!(logged, 1, "a stale sidecar is logged once:\n{}", server.stderr());
    let server = Server::start(&site, &["--sidecars", "always"]);
    let reply = server.get("/all.css", &["Accept-Encoding: gzip"]);
    reply.rule("--sidecars always uses it whatever its age").status(200).coded("gzip").body(&stale);
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_no_sidecar() {
    let site = site();
    for name in ["all.css.gz", "all.css.zst"] {
        site.write(name, "<!doctype html> not a compressed file");
    }
    let server = Server::start(&site, &[]);
    for coding in ["gzip", "zstd"] {
        let reply = server.get("/all.css", &[&format!("Accept-Encoding: {coding}")]);
        reply.rule("the magic bytes are checked").status(200).coded(coding).decodes_to(text(5000));
    }
}

#[test]
fn a_zstd_window_above_8_mib_is_refused() {
    let site = site();
    let wide = zstd(&text(5000), 24);
    assert!(crate::common::decode("zstd", &wide).is_err(), "the fixture's window is above 8 MiB");
    site.write("all.css.zst", &wide);
    let server = Server::start(&site, &[]);
    let reply = server.get("/all.css", &["Accept-Encoding: zstd"]).rule("RFC 9659: windows of 8 MiB at most");
    reply
        .status(200)
        .coded("zstd")
        .that(reply.body != wide, "the wide sidecar was used")
        .decodes_to(text(5000));
}

#[test]
fn a_sidecar_alone_serves_every_client() {
    let site = site();
    let server = Server::start(&site, &[]);
    let coded = server.get("/only.js", &["Accept-Encoding: gzip"]).rule("only a sidecar is on the disk");
    coded.status(200).coded("gzip").varies().body(read(&site, "only.js.gz"));
    for fields in [&[][..], &["Accept-Encoding: identity"], &["Accept-Encoding: br"]] {
        let plain =
            server.get("/only.js", fields).rule("only a sidecar: inflated, or coded anew, for other clients");
        plain.status(200).varies().decodes_to(text(5000));
        plain.that(plain.get("content-encoding") != Some("gzip"), "a coding that was not asked for");
        plain.that(plain.field("content-type").contains("javascript"), "the type is the name's");
    }
}

#[test]
fn a_sidecar_alone_in_a_coding_that_is_not_offered_is_nothing() {
    let site = Site::new()
        .with("foo.js.br", brotli_stored(&text(5000)))
        .with("missing.html", "nothing here")
        .with("app.html", "the app");
    for fields in [&[][..], &["Accept-Encoding: br"], &["Accept-Encoding: gzip, br"]] {
        let offered = ["--codings", "gzip", "--error-page", "404=missing.html"];
        let reply = Server::start(&site, &offered).get("/foo.js", fields);
        reply.rule("no original, and no sidecar that may be used: 404").status(404).body("nothing here");
        let offered = ["--codings", "gzip", "--fallback", "app.html"];
        let reply = Server::start(&site, &offered).get("/foo.js", fields);
        reply.rule("such a path names nothing, so it is the fallback's").status(200).body("the app");
    }
    let plain = Server::start(&site, &["--codings", "gzip"]).get("/foo.js", &[]);
    let plain = plain.rule("without a page of the site's own: the built-in one");
    plain.status(404).that(plain.field("content-type").starts_with("text/html"), "not a page");
    plain.that(!plain.body.is_empty(), "an empty page");
}

#[test]
fn a_sidecar_serves_ranges_of_its_own_bytes() {
    let site = site();
    let server = Server::start(&site, &[]);
    let accept = "Accept-Encoding: gzip";
    let full = server.get("/all.css", &[accept]);
    let reply =
        server.get("/all.css", &[accept, "Range: bytes=10-19", &format!("If-Range: {}", full.field("etag"))]);
    let reply = reply.rule("a range under the sidecar's own tag counts the sidecar's bytes");
    reply.status(206).coded("gzip").varies().has("etag", full.field("etag"));
    reply.has("content-range", &format!("bytes 10-19/{}", full.body.len())).body(&full.body[10..20]);
}

#[test]
fn a_compressed_file_asked_for_by_name_is_itself() {
    let page = text(5000);
    let site = site().with("pack.tar.gz", gzip(&page)).with("logo.svgz", gzip(&page));
    let server = Server::start(&site, &[]);
    for fields in [&["Accept-Encoding: gzip"][..], &[]] {
        let reply = server.get("/pack.tar.gz", fields).rule("x.tar.gz is application/gzip, without a coding");
        reply.status(200).has("content-type", "application/gzip").lacks("content-encoding");
        reply.body(read(&site, "pack.tar.gz"));
    }
    let reply = server.get("/all.css.gz", &["Accept-Encoding: gzip"]).rule("a sidecar by its own name");
    reply
        .status(200)
        .has("content-type", "application/gzip")
        .lacks("content-encoding")
        .body(read(&site, "all.css.gz"));
    let reply = server.get("/logo.svgz", &["Accept-Encoding: gzip"]).rule(".svgz is svg with gzip");
    reply.status(200).has("content-type", "image/svg+xml").coded("gzip").body(read(&site, "logo.svgz"));
}
