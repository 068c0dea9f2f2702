//! What is remembered, and for how long.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;
use crate::source::testing::set_age;

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
    fixture.write("short.gz", sidecars::GZIP);
    let files = fixture.files();
    for path in ["/short", "/long"] {
        let before = file(files.lookup(path, fixture.now));
        before.prepared.set(7).unwrap();
        let after = file(files.lookup(path, fixture.later()));
        assert!(Arc::ptr_eq(&before, &after), "{path}");
        assert_eq!(after.prepared.get(), Some(&7), "{path}");
    }
    assert!(file(files.lookup("/long", fixture.now)).identity.as_ref().unwrap().content().is_none());
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
    for number in 0..200 {
        fixture.write(format!("small-{number}"), "x");
        fixture.write(format!("large-{number}"), vec![b'x'; 10 << 10]);
    }
    let count_kept = |size: &str| {
        let files = fixture.files();
        let look_up = |number| file(files.lookup(&format!("/{size}-{number}"), fixture.now));
        let found: Vec<_> = (0..200).map(look_up).collect();
        // Of what is remembered, the cache holds one reference and this test the other.
        found.iter().filter(|resource| Arc::strong_count(resource) == 2).count()
    };
    let small = count_kept("small");
    assert!((25..=50).contains(&small), "{small} of 50 entries");
    let large = count_kept("large");
    assert!((5..=12).contains(&large), "{large} of the 10 KiB files that 100 KiB and overhead hold");
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
    assert!(first.identity.as_ref().unwrap().content().is_none());
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
