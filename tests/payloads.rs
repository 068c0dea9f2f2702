//! What lies in `www/` is what its generator, its manifest and its start page say.

#[path = "../examples/make_payloads/generate.rs"]
mod generate;

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Licences that let anyone pass these files on, changed or not, in any company.
const PERMISSIVE: [&str; 7] =
    ["Apache-2.0", "BSD-2-Clause", "ISC", "MIT", "MIT OR Apache-2.0", "PSF-2.0", "public domain"];

#[test]
fn generated_payloads_are_what_the_generator_makes() {
    for payload in generate::all() {
        let on_disk = fs::read(www(payload.name)).unwrap();
        assert!(on_disk == payload.bytes, "{} differs", payload.name);
    }
}

#[test]
fn manifest_describes_each_file_of_the_web() {
    let manifest = Manifest::read();
    let listed: BTreeSet<_> = manifest.rows().map(|row| row["path"].to_owned()).collect();
    let present: BTreeSet<_> = fs::read_dir(www("9k"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !matches!(name.as_str(), "MANIFEST.tsv" | "LICENCES"))
        .collect();
    assert_eq!(listed, present);

    for row in manifest.rows() {
        let path = row["path"];
        let content = fs::read(www("9k").join(path)).unwrap();
        assert_eq!(content.len().to_string(), row["bytes"], "{path}");
        assert_eq!(hex(&Sha256::digest(&content)), row["sha256"], "{path}");
        assert!(PERMISSIVE.contains(&row["licence"]), "{path}");
        assert!(www("9k").join(row["licence_text"]).is_file(), "{path}");
        assert!(!row["origin"].is_empty(), "{path}");
    }
}

#[test]
fn start_page_lists_each_payload_with_its_size() {
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for payload in generate::all() {
        expected.insert(payload.name.to_owned(), payload.bytes.len());
    }
    for row in Manifest::read().rows() {
        expected.insert(format!("9k/{}", row["path"]), row["bytes"].parse().unwrap());
    }

    let page = fs::read_to_string(www("index.html")).unwrap();
    let listed: BTreeMap<String, usize> = page
        .lines()
        .filter(|line| line.contains("<data value="))
        .map(|line| {
            let size = attribute(line, "value").parse().unwrap();
            (attribute(line, "href").to_owned(), size)
        })
        .collect();
    assert_eq!(listed, expected);
}

#[test]
fn start_page_is_small_and_asks_no_one_else() {
    let files = ["index.html", "style.css", "app.js", "logo.svg"];
    let total: u64 = files.iter().map(|f| www(f).metadata().unwrap().len()).sum();
    assert!(total < 30_000, "{total} bytes");

    let page = fs::read_to_string(www("index.html")).unwrap();
    for name in ["href", "src"] {
        for tag in page.split('<').filter(|tag| tag.contains(&format!(" {name}="))) {
            let target = attribute(tag, name);
            let relative = !target.contains(':') && !target.starts_with('/');
            assert!(relative && www(target).is_file(), "{target}");
        }
    }
}

/// `www/9k/MANIFEST.tsv`: a line of column names, then a line for each file.
struct Manifest(String);

impl Manifest {
    fn read() -> Self {
        Self(fs::read_to_string(www("9k/MANIFEST.tsv")).unwrap())
    }

    fn rows(&self) -> impl Iterator<Item = BTreeMap<&str, &str>> {
        let mut lines = self.0.lines().map(|line| line.split('\t'));
        let names = lines.next().unwrap();
        lines.map(move |fields| names.clone().zip(fields).collect())
    }
}

fn www(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www").join(path)
}

/// The value of the attribute `name` in a piece of our own, regular HTML.
fn attribute<'a>(html: &'a str, name: &str) -> &'a str {
    let (_, rest) = html.split_once(&format!("{name}=\"")).unwrap();
    rest.split_once('"').unwrap().0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
