//! The look-up on real folders.

mod lookup;
mod memory;
mod sidecars;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::testing::write_old;
use super::{Files, Found, LookupError, Resource};
use crate::config::{CodingSettings, FileCache, Site};

/// A site in a temporary folder, and a clock that is moved by hand.
struct Fixture {
    folder: tempfile::TempDir,
    site: Site,
    cache: FileCache,
    coding: CodingSettings,
    now: Instant,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Site { root: folder.path().join("www"), ..Site::default() };
        fs::create_dir(&site.root).unwrap();
        let (cache, coding) = (FileCache::default(), CodingSettings::default());
        Self { folder, site, cache, coding, now: Instant::now() }
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
        Files::new(&self.site, &self.cache, &self.coding, 1).unwrap()
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
