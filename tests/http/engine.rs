//! Both codecs of gzip and deflate: what they send decodes, whole and as a stream.

use crate::common::{Server, Site, text};

const ENGINES: [&str; 2] = ["laneflate", "zlib-rs"];

/// More than any engine codes in one go.
const LONG: usize = 700_000;

#[test]
fn every_engine_codes_whole_bodies_and_streams() {
    let site =
        Site::new().with("short.txt", text(300)).with("page.html", text(9000)).with("long.txt", text(LONG));
    for engine in ENGINES {
        for level in ["1", "6", "9"] {
            for store in ["off", "64M"] {
                let flags = ["--gzip-engine", engine, "--gzip-level", level, "--compress-store", store];
                let server = Server::start(&site, &[&flags[..], &["--codings", "gzip,deflate"]].concat());
                for coding in ["gzip", "deflate"] {
                    for (path, len) in [("/short.txt", 300), ("/page.html", 9000), ("/long.txt", LONG)] {
                        let reply = server.get(path, &[&format!("Accept-Encoding: {coding}")]);
                        let reply = reply.rule(&format!("{engine} {level} codes, store {store}"));
                        reply.status(200).coded(coding).varies().decodes_to(text(len));
                    }
                }
            }
        }
    }
}

#[test]
fn an_encoder_that_has_streamed_codes_the_next_body_too() {
    let site = Site::new().with("page.html", text(9000)).with("long.txt", text(LONG));
    for engine in ENGINES {
        let flags = ["--workers", "1", "--compress-store", "off", "--gzip-engine", engine];
        let server = Server::start(&site, &flags);
        for (path, len) in [("/long.txt", LONG), ("/page.html", 9000), ("/long.txt", LONG)] {
            let reply = server.get(path, &["Accept-Encoding: gzip"]).rule(&format!("{engine} begins anew"));
            reply.status(200).coded("gzip").decodes_to(text(len));
        }
    }
}

#[test]
fn engines_have_tags_of_their_own() {
    let site = Site::new().with("page.html", text(9000));
    let [ours, other] = ENGINES.map(|engine| {
        let server = Server::start(&site, &["--gzip-engine", engine]);
        server.get("/page.html", &["Accept-Encoding: gzip"]).status(200).field("etag").to_owned()
    });
    assert_ne!(ours, other, "halves of two encodings must not be joined");
}

#[test]
fn the_first_line_names_another_engine() {
    let server = Server::start(&Site::new(), &["--gzip-engine", "zlib-rs"]);
    assert!(server.stderr().contains("gzip by zlib-rs"), "{}", server.stderr());
}
