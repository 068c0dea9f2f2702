//! What is found and what is refused.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::*;
use crate::source::{PathError, Refusal};

fn location(answer: Result<Found<u32>, LookupError>) -> String {
    match answer {
        Ok(Found::Redirect(location)) => location.to_str().unwrap().to_owned(),
        other => panic!("not a redirect: {other:?}"),
    }
}

#[test]
fn a_file_is_found_under_any_spelling_of_its_path() {
    let fixture = Fixture::new();
    fixture.write("a/b.html", "b");
    let files = fixture.files();
    let resource = file(files.lookup("/a/b.html", fixture.now));
    assert_eq!(resource.name, Path::new("a/b.html"));
    for spelling in ["/a/b.html", "/%61/b.html", "//a///b.html", "/x/../a/./b.html"] {
        assert!(Arc::ptr_eq(&resource, &file(files.lookup(spelling, fixture.now))), "{spelling}");
    }
    for absent in ["/a/b.html/", "/a/c.html", "/a/b.html/c", "/A/b.html"] {
        assert_eq!(files.lookup(absent, fixture.now).unwrap_err(), LookupError::Missing, "{absent}");
    }
    let climbing = files.lookup("/../www/a/b.html", fixture.now).unwrap_err();
    assert_eq!(climbing, LookupError::Path(PathError::AboveRoot));
}

#[test]
fn names_of_any_bytes_are_found() {
    let fixture = Fixture::new();
    fixture.write("50%25.png", "encoded twice");
    fixture.write("50%.png", "encoded once");
    fixture.write(OsStr::from_bytes(b"\xff\xfe"), "not UTF-8");
    fixture.write("a b\n", "blanks");
    let files = fixture.files();
    for (path, text) in [
        ("/50%25.png", "encoded once"),
        ("/50%2525.png", "encoded twice"),
        ("/%ff%FE", "not UTF-8"),
        ("/a%20b%0a", "blanks"),
    ] {
        assert_eq!(content(files.lookup(path, fixture.now)), text, "{path}");
    }
}

#[test]
fn a_directory_redirects_to_its_slash_and_never_to_a_host() {
    let fixture = Fixture::new();
    fixture.write("evil.example/index.html", "index");
    fixture.write("a b/index.html", "index");
    let files = fixture.files();
    for (path, to) in [
        ("/evil.example", "/evil.example/"),
        ("//evil.example", "/evil.example/"),
        ("/x/..//evil.example", "/evil.example/"),
        ("/a%20b", "/a%20b/"),
    ] {
        assert_eq!(location(files.lookup(path, fixture.now)), to, "{path}");
    }
    assert_eq!(content(files.lookup("/a%20b/", fixture.now)), "index");
}

#[test]
fn an_index_is_the_first_of_its_names_that_is_a_file() {
    let mut fixture = Fixture::new();
    fixture.site.index = ["index.html", "index.htm", "default.html"].map(String::from).to_vec();
    fixture.write("default.html", "third");
    fs::create_dir(fixture.path("index.html")).unwrap();
    let files = fixture.files();
    assert_eq!(content(files.lookup("/", fixture.now)), "third");
    fixture.write("index.htm", "second");
    assert_eq!(content(files.lookup("/", fixture.later())), "second");
    assert_eq!(file(files.lookup("/", fixture.now)).name, Path::new("index.htm"));
}

#[test]
fn a_directory_without_index_is_forbidden_or_listed() {
    let mut fixture = Fixture::new();
    fixture.write("folder/file", "");
    assert_eq!(
        fixture.files().lookup("/folder/", fixture.now).unwrap_err(),
        LookupError::Forbidden(Refusal::NoIndex)
    );
    fixture.site.listing = true;
    let Ok(Found::Listing(html)) = fixture.files().lookup("/folder/", fixture.now) else {
        panic!("not a listing")
    };
    assert!(html.windows(8).any(|part| part == b"\"./file\""));
}

#[test]
fn the_fallback_answers_what_names_nothing() {
    let mut fixture = Fixture::new();
    fixture.site.fallback = Some("app.html".into());
    fixture.write("app.html", "app");
    fixture.write("real.txt", "real");
    fixture.write(".env", "secret");
    fs::create_dir(fixture.path("empty")).unwrap();
    symlink("/etc/passwd", fixture.path("out")).unwrap();
    let files = fixture.files();
    for path in ["/absent", "/deep/er/absent", "/", "/empty/", "/real.txt/x"] {
        assert_eq!(content(files.lookup(path, fixture.now)), "app", "{path}");
        assert!(files.lookup_exact(path, fixture.now).is_err(), "{path}");
    }
    assert_eq!(content(files.lookup("/real.txt", fixture.now)), "real");
    assert_eq!(files.lookup("/.env", fixture.now).unwrap_err(), LookupError::Path(PathError::Hidden));
    assert_eq!(files.lookup("/out", fixture.now).unwrap_err(), LookupError::Forbidden(Refusal::Link));
    fs::remove_file(fixture.path("app.html")).unwrap();
    assert_eq!(files.lookup("/absent", fixture.later()).unwrap_err(), LookupError::Missing);
}

#[test]
fn nothing_beside_the_root_is_reached() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.folder.path().join("www-secret")).unwrap();
    fs::write(fixture.folder.path().join("www-secret/key"), "secret").unwrap();
    fixture.write("a", "");
    symlink("../www-secret", fixture.path("sibling")).unwrap();
    let files = fixture.files();
    for path in [
        "/../www-secret/key",
        "/-secret/key",
        "/..%2fwww-secret/key",
        "/sibling/key",
        "/a/../../www-secret/key",
    ] {
        assert!(files.lookup(path, fixture.now).is_err(), "{path}");
    }
}
