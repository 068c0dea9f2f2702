//! A look-up that is answered from the cache allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::time::{Duration, Instant};

use laneflate::config::{CodingSettings, FileCache, Site};
use laneflate::source::Files;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to `System` as it came; counting touches a thread-local that is initialised
// by a constant and has no destructor, so it allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_hit_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("index.html"), "text").unwrap();
    fs::write(folder.path().join("large"), vec![0; 1 << 20]).unwrap();
    let site = Site { root: folder.path().to_owned(), listing: true, ..Site::default() };
    let cache = FileCache { validity: Duration::from_secs(60), ..FileCache::default() };
    let files: Files = Files::new(&site, &cache, &CodingSettings::default(), 1).unwrap();
    let now = Instant::now();
    for path in ["/", "/index.html", "/large", "/folder", "/folder/", "/absent"] {
        let miss = ALLOCATIONS.get();
        let first = files.lookup(path, now).map_err(|error| error.status());
        assert_ne!(ALLOCATIONS.get(), miss, "the allocator does not count");
        let hit = ALLOCATIONS.get();
        let second = files.lookup(path, now).map_err(|error| error.status());
        assert_eq!(ALLOCATIONS.get(), hit, "{path}");
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }
}
