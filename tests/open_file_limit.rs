//! The look-up at the limit of open files. Alone in its file: the limit is one for the whole process.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, Instant};

use laneflate::config::{CodingSettings, FileCache, Site};
use laneflate::source::{Files, Found, LookupError, Resource};
use rustix::process::{Resource as Limited, Rlimit, getrlimit, setrlimit};

fn file(answer: Result<Found, LookupError>) -> Arc<Resource> {
    match answer {
        Ok(Found::File(resource)) => resource,
        other => panic!("not a file: {other:?}"),
    }
}

/// Opens files until no more can be opened.
fn take_all_descriptors() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

#[test]
fn cached_descriptors_make_room_and_what_is_known_is_served_still() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..40 {
        fs::write(folder.path().join(number.to_string()), "text").unwrap();
    }
    let limit = getrlimit(Limited::Nofile);
    setrlimit(Limited::Nofile, Rlimit { current: Some(100), ..limit }).unwrap();
    let site = Site { root: folder.path().to_owned(), ..Site::default() };
    let cache = FileCache { content_max_file: 0, ..FileCache::default() };
    let files = Files::new(&site, &cache, &CodingSettings::default(), 1).unwrap();
    let now = Instant::now();
    for number in 0..30 {
        file(files.lookup(&format!("/{number}"), now));
    }

    let mut taken = take_all_descriptors();
    assert!(File::open("/dev/null").is_err());
    let in_use = file(files.lookup("/30", now));
    let released = take_all_descriptors();
    assert!(released.len() >= 29, "only {} descriptors were released", released.len());
    taken.extend(released);

    let later = now + Duration::from_secs(10);
    assert!(Arc::ptr_eq(&in_use, &file(files.lookup("/30", later))));
    let error = files.lookup("/31", later).unwrap_err();
    assert_eq!(error, LookupError::Exhausted);
    assert_eq!(error.status(), 503);

    drop(taken);
    file(files.lookup("/31", later));
}
