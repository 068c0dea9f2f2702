//! Sidecars beside their originals, and alone.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;
use crate::config::Sidecars;
use crate::encode::Coding;
use crate::source::testing::set_age;

pub(super) const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
const BROTLI: &[u8] = b"\x0f\x00\x80\x61\x03";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x09\x00\x00\x61\x62\x9c\x28\x52\x2f";

#[test]
fn sidecars_are_found_with_their_original() {
    let fixture = Fixture::new();
    for (name, bytes) in [
        ("page.html", &b"page"[..]),
        ("page.html.gz", GZIP),
        ("page.html.br", BROTLI),
        ("page.html.zst", ZSTD),
    ] {
        fixture.write(name, bytes);
    }
    let resource = file(fixture.files().lookup("/page.html", fixture.now));
    assert!(resource.identity.is_some());
    for (coding, bytes) in [(Coding::Gzip, GZIP), (Coding::Brotli, BROTLI), (Coding::Zstd, ZSTD)] {
        assert_eq!(resource.sidecar(coding).unwrap().content().unwrap(), bytes, "{coding:?}");
    }
    assert!(resource.sidecar(Coding::Deflate).is_none());
    let coded = file(fixture.files().lookup("/page.html.gz", fixture.now));
    assert_eq!(coded.identity.as_ref().unwrap().content().unwrap(), GZIP);
}

#[test]
fn a_sidecar_alone_is_a_resource_without_original() {
    let fixture = Fixture::new();
    fixture.write("page.html.gz", GZIP);
    fixture.write("folder/index.html.br", BROTLI);
    let files = fixture.files();
    let resource = file(files.lookup("/page.html", fixture.now));
    assert!(resource.identity.is_none() && resource.sidecar(Coding::Gzip).is_some());
    assert_eq!(resource.name, Path::new("page.html"));
    assert!(file(files.lookup("/folder/", fixture.now)).sidecar(Coding::Brotli).is_some());
}

#[test]
fn a_sidecar_alone_in_a_coding_that_is_not_offered_is_nothing() {
    let mut fixture = Fixture::new();
    fixture.write("page.html", "page");
    for name in ["page.html.br", "script.js.br", "folder/index.html.br"] {
        fixture.write(name, BROTLI);
    }
    fixture.coding.offered = vec![Coding::Gzip];
    let files = fixture.files();
    for path in ["/script.js", "/folder/index.html"] {
        assert_eq!(files.lookup(path, fixture.now).unwrap_err(), LookupError::Missing, "{path}");
    }
    assert!(files.lookup("/folder/", fixture.now).is_err());
    assert!(file(files.lookup("/page.html", fixture.now)).sidecar(Coding::Brotli).is_none());
    assert!(file(files.lookup("/script.js.br", fixture.now)).identity.is_some());
}

#[test]
fn stale_and_false_sidecars_are_not_used() {
    let mut fixture = Fixture::new();
    fixture.write("page", "page");
    fixture.write("page.gz", GZIP);
    fixture.write("page.br", "<!DOCTYPE html>");
    fs::create_dir(fixture.path("page.zst")).unwrap();
    set_age(&fixture.path("page.gz"), Duration::from_secs(7200));
    let sidecars = |fixture: &Fixture| {
        let resource = file(fixture.files().lookup("/page", fixture.now));
        [Coding::Zstd, Coding::Brotli, Coding::Gzip].map(|coding| resource.sidecar(coding).is_some())
    };
    assert_eq!(sidecars(&fixture), [false, false, false]);
    fixture.coding.sidecars = Sidecars::Always;
    assert_eq!(sidecars(&fixture), [false, false, true]);
    fixture.coding.sidecars = Sidecars::Off;
    assert_eq!(sidecars(&fixture), [false, false, false]);
    fs::remove_file(fixture.path("page")).unwrap();
    assert_eq!(fixture.files().lookup("/page", fixture.now).unwrap_err(), LookupError::Missing);
}

#[test]
fn sidecars_obey_the_rules_of_files() {
    let fixture = Fixture::new();
    fixture.write("page", "page");
    fixture.write("real.gz", GZIP);
    write_old(&fixture.folder.path().join("outside.gz"), GZIP);
    symlink("../outside.gz", fixture.path("page.gz")).unwrap();
    symlink("real.gz", fixture.path("only.gz")).unwrap();
    let files = fixture.files();
    assert!(file(files.lookup("/page", fixture.now)).sidecar(Coding::Gzip).is_none());
    assert!(file(files.lookup("/only", fixture.now)).sidecar(Coding::Gzip).is_some());
}
