//! Programs by others read what the server writes: whole and streamed, in every coding.

use std::fs;
use std::process::Command;

use crate::common::{Server, Site, installed, noise, text};

/// Bodies of every kind of size, as files in a site.
fn site() -> Site {
    let mut mixed = text(1 << 20);
    mixed.extend(noise(200_000));
    mixed.extend(text(300_000));
    Site::new()
        .with("small.html", text(300))
        .with("page.html", text(9000))
        .with("noise.txt", noise(70_000))
        .with("mixed.txt", mixed)
}

const FILES: [&str; 4] = ["small.html", "page.html", "noise.txt", "mixed.txt"];

/// Runs `check` on every body of a coding, from the store and coded anew: the file it lies in, and the original's.
fn each_body(coding: &str, check: impl Fn(&str, &str)) {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let site = site();
        let server = Server::start(&site, flags);
        for file in FILES {
            let reply = server.get(&format!("/{file}"), &[&format!("Accept-Encoding: {coding}")]);
            let reply = reply.rule("a body for strict decoders");
            reply.status(200);
            if file == "noise.txt" && reply.get("content-encoding").is_none() {
                // What coding makes longer may be sent plain.
                continue;
            }
            reply.coded(coding);
            let packed = site.outside().join(format!("packed.{coding}"));
            fs::write(&packed, &reply.body).expect("write");
            check(packed.to_str().expect("UTF-8"), site.path(file).to_str().expect("UTF-8"));
        }
    }
}

#[track_caller]
fn run(program: &str, args: &[&str]) {
    let output =
        Command::new(program).args(args).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?} ends with {}:\n{stderr}", output.status);
}

/// Whether a program accepts a line of its own language that tries a feature.
fn can(program: &str, args: &[&str]) -> bool {
    let able = Command::new(program).args(args).output().is_ok_and(|output| output.status.success());
    if !able {
        println!("skipped: this {program} cannot {}", args.last().unwrap_or(&""));
    }
    able
}

#[test]
fn gzip_accepts_every_body() {
    if installed("gzip") {
        each_body("gzip", |packed, _| run("sh", &["-c", "gzip -t <\"$1\"", "sh", packed]));
    }
}

#[test]
fn brotli_accepts_every_body() {
    if installed("brotli") {
        each_body("br", |packed, original| {
            run("brotli", &["-t", "-S", ".br", packed]);
            run("sh", &["-c", "brotli -dc -S .br <\"$1\" | cmp - \"$2\"", "sh", packed, original]);
        });
    }
}

#[test]
fn zstd_accepts_every_body() {
    if installed("zstd") {
        each_body("zstd", |packed, original| {
            run("sh", &["-c", "zstd -qt --memory=8MB <\"$1\"", "sh", packed]);
            run("sh", &["-c", "zstd -dcq <\"$1\" | cmp - \"$2\"", "sh", packed, original]);
        });
    }
}

#[test]
fn python_reads_every_body_of_gzip() {
    const PROGRAM: &str = "
import sys, zlib
packed, original = (open(name, 'rb').read() for name in sys.argv[1:])
stream = zlib.decompressobj(31)
assert stream.decompress(packed) + stream.flush() == original
assert stream.eof and not stream.unused_data
stream, out = zlib.decompressobj(31), b''
for i in range(0, len(packed), 7):
    out += stream.decompress(packed[i:i + 7])
assert out == original and stream.eof";
    if installed("python3") {
        each_body("gzip", |packed, original| run("python3", &["-c", PROGRAM, packed, original]));
    }
}

#[test]
fn node_reads_every_body() {
    const PROGRAM: &str = "
const fs = require('fs'), zlib = require('zlib');
const [unpack, packed, original] = process.argv.slice(1);
const out = zlib[unpack](fs.readFileSync(packed));
process.exit(out.equals(fs.readFileSync(original)) ? 0 : 1);";
    if !installed("node") {
        return;
    }
    for (coding, unpack) in
        [("gzip", "gunzipSync"), ("br", "brotliDecompressSync"), ("zstd", "zstdDecompressSync")]
    {
        if can("node", &["-e", &format!("require('zlib').{unpack}.name")]) {
            each_body(coding, |packed, original| run("node", &["-e", PROGRAM, unpack, packed, original]));
        }
    }
}

#[test]
fn curl_gets_every_file_byte_for_byte() {
    if !installed("curl") {
        return;
    }
    for flags in [&[][..], &["--compress-store", "off"]] {
        let site = site();
        let server = Server::start(&site, flags);
        let got = site.outside().join("got");
        let got = got.to_str().expect("UTF-8");
        for coding in ["gzip", "br", "zstd"] {
            // curl decodes what it was built with; it lists that in its own Accept-Encoding.
            let features = Command::new("curl").arg("--version").output().expect("curl").stdout;
            let name = if coding == "br" {
                "brotli"
            } else if coding == "gzip" {
                "libz"
            } else {
                coding
            };
            if !String::from_utf8_lossy(&features).contains(name) {
                println!("skipped: this curl knows no {coding}");
                continue;
            }
            for file in FILES {
                let url = format!("http://{}/{file}", server.address());
                let accept = format!("Accept-Encoding: {coding}");
                run("curl", &["-sSf", "--compressed", "-H", &accept, "-o", got, &url]);
                let same = fs::read(got).expect("read") == fs::read(site.path(file)).expect("read");
                assert!(same, "curl --compressed {accept} {url} gave other bytes");
            }
        }
    }
}
