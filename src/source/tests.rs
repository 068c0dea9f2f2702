//! The look-up on real folders: what is found, what is refused, what is remembered and for how long.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::testing::{set_age, write_old};
use super::{Files, Found, LookupError, PathError, Refusal, Resource};
use crate::config::{FileCache, Sidecars, Site};
use crate::encode::Coding;

/// A site in a temporary folder, and a clock that is moved by hand.
struct Fixture {
    folder: tempfile::TempDir,
    site: Site,
    cache: FileCache,
    sidecars: Sidecars,
    now: Instant,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Site { root: folder.path().join("www"), ..Site::default() };
        fs::create_dir(&site.root).unwrap();
        Self { folder, site, cache: FileCache::default(), sidecars: Sidecars::Fresh, now: Instant::now() }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.site.root.join(name)
    }

    fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_old(&path, content);
    }

    fn files(&self) -> Files<u32> {
        Files::new(&self.site, &self.cache, self.sidecars, 1).unwrap()
    }

    fn later(&mut self) -> Instant {
        self.now += self.cache.validity;
        self.now
    }
}

fn file(answer: Result<Found<u32>, LookupError>) -> Arc<Resource<u32>> {
    match answer {
        Ok(Found::File(resource)) => resource,
        other => panic!("not a file: {other:?}"),
    }
}

fn content(answer: Result<Found<u32>, LookupError>) -> String {
    let resource = file(answer);
    let content = resource.identity.as_ref().expect("an original").content().expect("in memory");
    String::from_utf8(content.to_vec()).unwrap()
}

fn location(answer: Result<Found<u32>, LookupError>) -> String {
    match answer {
        Ok(Found::Redirect(location)) => location.to_str().unwrap().to_owned(),
        other => panic!("not a redirect: {other:?}"),
    }
}

const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
const BROTLI: &[u8] = b"\x0f\x00\x80\x61\x03";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x09\x00\x00\x61\x62\x9c\x28\x52\x2f";

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
    fixture.write(std::ffi::OsStr::from_bytes(b"\xff\xfe"), "not UTF-8");
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

#[test]
fn an_answer_is_believed_as_long_as_it_is_valid() {
    let mut fixture = Fixture::new();
    fixture.write("file", "old");
    let files = fixture.files();
    assert_eq!(files.lookup("/new", fixture.now).unwrap_err(), LookupError::Missing);
    let old = file(files.lookup("/file", fixture.now));
    fs::remove_file(fixture.path("file")).unwrap();
    fixture.write("new", "new");
    let almost = fixture.now + fixture.cache.validity - Duration::from_millis(1);
    assert!(Arc::ptr_eq(&old, &file(files.lookup("/file", almost))));
    assert_eq!(files.lookup("/new", almost).unwrap_err(), LookupError::Missing);
    let then = fixture.later();
    assert_eq!(files.lookup("/file", then).unwrap_err(), LookupError::Missing);
    assert_eq!(content(files.lookup("/new", then)), "new");
}

#[test]
fn what_has_not_changed_keeps_all_that_was_prepared() {
    let mut fixture = Fixture::new();
    fixture.cache.content_max_file = 10;
    fixture.write("short", "short");
    fixture.write("long", "longer than ten");
    fixture.write("short.gz", GZIP);
    let files = fixture.files();
    for path in ["/short", "/long"] {
        let before = file(files.lookup(path, fixture.now));
        before.prepared.set(7).unwrap();
        let after = file(files.lookup(path, fixture.later()));
        assert!(Arc::ptr_eq(&before, &after), "{path}");
        assert_eq!(after.prepared.get(), Some(&7), "{path}");
    }
    assert!(file(files.lookup("/long", fixture.now)).identity.as_ref().unwrap().file_body().is_some());
    fs::remove_file(fixture.path("short.gz")).unwrap();
    assert_eq!(file(files.lookup("/short", fixture.later())).prepared.get(), None);
}

#[test]
fn a_replaced_file_is_read_anew_though_length_and_time_are_the_same() {
    let mut fixture = Fixture::new();
    fixture.write("file", "one");
    let files = fixture.files();
    let before = file(files.lookup("/file", fixture.now));
    let time = fs::metadata(fixture.path("file")).unwrap().modified().unwrap();
    fs::write(fixture.path("file"), "two").unwrap();
    let times = fs::FileTimes::new().set_modified(time);
    fs::File::options().write(true).open(fixture.path("file")).unwrap().set_times(times).unwrap();
    assert_eq!(content(files.lookup("/file", fixture.later())), "two");
    assert_eq!(before.identity.as_ref().unwrap().content().unwrap(), "one");
}

#[test]
fn a_file_just_changed_is_racy_until_it_is_looked_at_again() {
    let mut fixture = Fixture::new();
    fixture.cache.validity = Duration::from_secs(60);
    fs::write(fixture.path("file"), "one").unwrap();
    let files = fixture.files();
    assert!(file(files.lookup("/file", fixture.now)).identity.as_ref().unwrap().racy);
    set_age(&fixture.path("file"), Duration::from_secs(5));
    // Believed for a second, however long answers are valid.
    fixture.now += Duration::from_secs(1);
    let strong = file(files.lookup("/file", fixture.now));
    assert!(!strong.identity.as_ref().unwrap().racy);
    fixture.now += Duration::from_secs(1);
    assert!(Arc::ptr_eq(&strong, &file(files.lookup("/file", fixture.now))));
}

#[test]
fn a_root_that_leads_elsewhere_is_followed() {
    let mut fixture = Fixture::new();
    for (release, text) in [("one", "first"), ("two", "second")] {
        fs::create_dir(fixture.folder.path().join(release)).unwrap();
        write_old(&fixture.folder.path().join(release).join("file"), text);
    }
    let current = fixture.folder.path().join("current");
    symlink("one", &current).unwrap();
    fixture.site.root.clone_from(&current);
    let files = fixture.files();
    assert_eq!(content(files.lookup("/file", fixture.now)), "first");
    fs::remove_file(&current).unwrap();
    assert_eq!(content(files.lookup("/file", fixture.later())), "first");
    symlink("two", &current).unwrap();
    assert_eq!(content(files.lookup("/file", fixture.later())), "second");
}

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
    assert!(!resource.is_sidecar_only());
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
    assert!(resource.is_sidecar_only() && resource.sidecar(Coding::Gzip).is_some());
    assert_eq!(resource.name, Path::new("page.html"));
    assert!(file(files.lookup("/folder/", fixture.now)).sidecar(Coding::Brotli).is_some());
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
    fixture.sidecars = Sidecars::Always;
    assert_eq!(sidecars(&fixture), [false, false, true]);
    fixture.sidecars = Sidecars::Off;
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

#[test]
fn floods_of_absent_names_and_of_spellings_push_nothing_out() {
    let mut fixture = Fixture::new();
    fixture.cache.entries = 32;
    fixture.cache.validity = Duration::from_secs(3600);
    for number in 0..20 {
        fixture.write(format!("{number}"), "real");
    }
    let files = fixture.files();
    let look_up_all =
        || (0..20).map(|number| file(files.lookup(&format!("/{number}"), fixture.now))).collect::<Vec<_>>();
    let before = look_up_all();
    for number in 0..5000 {
        assert!(files.lookup(&format!("/absent/{number}"), fixture.now).is_err());
        assert!(files.lookup(&format!("/{number}/../0"), fixture.now).is_ok());
    }
    let after = look_up_all();
    assert!(before.iter().zip(&after).all(|(before, after)| Arc::ptr_eq(before, after)));
}

#[test]
fn contents_and_entries_stay_within_their_bounds() {
    let mut fixture = Fixture::new();
    fixture.cache.validity = Duration::from_secs(3600);
    fixture.cache.content_bytes = 100 << 10;
    fixture.cache.entries = 50;
    let mut found = Vec::new();
    for number in 0..200 {
        fixture.write(format!("small-{number}"), "x");
        fixture.write(format!("large-{number}"), vec![b'x'; 10 << 10]);
    }
    let kept = |prefix: &str, found: &mut Vec<_>| {
        let files = fixture.files();
        found.extend((0..200).map(|number| file(files.lookup(&format!("/{prefix}-{number}"), fixture.now))));
        drop(files.lookup("/absent", fixture.now));
        // The cache holds one reference, the test the other.
        found.drain(..).filter(|resource| Arc::strong_count(resource) == 2).count()
    };
    let small = kept("small", &mut found);
    assert!((25..=50).contains(&small), "{small}");
    let large = kept("large", &mut found);
    assert!((5..=12).contains(&large), "{large}");
}

#[test]
fn a_file_too_large_to_share_the_memory_stays_on_disk() {
    let mut fixture = Fixture::new();
    fixture.cache.content_bytes = 8 << 10;
    fixture.write("fits", vec![0; 1 << 10]);
    fixture.write("large", vec![0; (1 << 10) + 1]);
    let files = fixture.files();
    assert!(file(files.lookup("/fits", fixture.now)).identity.as_ref().unwrap().content().is_some());
    assert!(file(files.lookup("/large", fixture.now)).identity.as_ref().unwrap().content().is_none());
}

#[test]
fn a_cache_of_no_entries_finds_everything_anew() {
    let mut fixture = Fixture::new();
    fixture.cache = FileCache { entries: 0, content_bytes: 0, content_max_file: 0, validity: Duration::MAX };
    fixture.write("file", "text");
    let files = fixture.files();
    let first = file(files.lookup("/file", fixture.now));
    assert!(first.identity.as_ref().unwrap().file_body().is_some());
    assert!(!Arc::ptr_eq(&first, &file(files.lookup("/file", fixture.now))));
}

#[test]
fn threads_share_the_files_but_not_what_they_remember() {
    let fixture = Fixture::new();
    fixture.write("file", "text");
    let files = fixture.files();
    let here = file(files.lookup("/file", fixture.now));
    std::thread::scope(|scope| {
        let there = scope.spawn(|| file(files.lookup("/file", fixture.now))).join().unwrap();
        assert!(!Arc::ptr_eq(&here, &there));
    });
}
