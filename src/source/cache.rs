//! What each worker remembers of files: answers by path, good and bad, for a while and within bounds.
//!
//! Each thread has a shard of its own, so that a hit takes neither a lock nor a cache line that another core
//! writes. Good and bad answers are kept apart: a flood of requests for names that do not exist turns over
//! the bad ones only. Keys are paths in their one spelling, so that a flood of spellings of one path adds
//! nothing (see [`super::files`]).

use std::cell::RefCell;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use quick_cache::Weighter;
use quick_cache::unsync::{Cache as ClockCache, DefaultLifecycle};
use thread_local::ThreadLocal;

use super::error::LookupError;
use super::resource::{Data, Found};
use crate::config::FileCache;

/// Stands for a validity without end; an `Instant` cannot be moved by `Duration::MAX`.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 10);
/// How long an answer is believed whose file may have changed without its stamp showing it.
const RACY_VALIDITY: Duration = Duration::from_secs(1);
/// Bytes that an entry takes beside its key and contents.
const ENTRY_OVERHEAD: u64 = 512;
/// Bytes allowed for each bad answer, on average.
const BAD_ANSWER: u64 = 256;

/// Remembered answers, by thread.
pub(super) struct Cache<P: Send + Sync> {
    shards: ThreadLocal<RefCell<Shard<P>>>,
    bounds: Bounds,
    validity: Duration,
}

/// Bounds of one shard.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    entries: usize,
    content_bytes: u64,
    content_max_file: u64,
}

struct Shard<P> {
    good: Answers<Found<P>>,
    bad: Answers<LookupError>,
}

type Answers<T> = ClockCache<Box<str>, Answer<T>, Shares, RandomState, DefaultLifecycle<Box<str>, Answer<T>>>;

struct Answer<T> {
    value: T,
    bytes: u64,
    expires: Instant,
}

impl<P: Send + Sync> Cache<P> {
    /// `settings` are bounds for all `workers` together.
    pub(super) fn new(settings: &FileCache, workers: usize) -> Self {
        let workers = workers.max(1);
        let content_bytes = settings.content_bytes / workers as u64;
        let bounds = Bounds {
            entries: settings.entries.div_ceil(workers),
            content_bytes,
            // A resource with all its sidecars must fit, beside others.
            content_max_file: settings.content_max_file.min(content_bytes / 8),
        };
        Self { shards: ThreadLocal::new(), bounds, validity: settings.validity.min(FOREVER) }
    }

    /// The longest file whose content is to be kept.
    pub(super) fn content_max_file(&self) -> u64 {
        self.bounds.content_max_file
    }

    /// The answer for `path`, if there is one that is still believed.
    pub(super) fn fresh(&self, path: &str, now: Instant) -> Option<Result<Found<P>, LookupError>> {
        let shard = self.shard().borrow();
        if let Some(answer) = shard.good.get(path) {
            return (now < answer.expires).then(|| Ok(answer.value.clone()));
        }
        let answer = shard.bad.get(path)?;
        (now < answer.expires).then_some(Err(answer.value))
    }

    /// The good answer for `path`, however old.
    pub(super) fn last(&self, path: &str) -> Option<Found<P>> {
        self.shard().borrow().good.peek(path).map(|answer| answer.value.clone())
    }

    /// Remembers an answer, if it is one that lasts.
    pub(super) fn insert(&self, path: String, answer: &Result<Found<P>, LookupError>, now: Instant) {
        let mut shard = self.shard().borrow_mut();
        match answer {
            Ok(found) => {
                let validity = if is_racy(found) { self.validity.min(RACY_VALIDITY) } else { self.validity };
                let bytes = ENTRY_OVERHEAD + path.len() as u64 + content_bytes(found);
                shard.bad.remove(path.as_str());
                shard
                    .good
                    .insert(path.into(), Answer { value: found.clone(), bytes, expires: now + validity });
            }
            Err(error) if error.is_lasting() => {
                let bytes = path.len() as u64;
                shard.good.remove(path.as_str());
                shard.bad.insert(path.into(), Answer { value: *error, bytes, expires: now + self.validity });
            }
            Err(_) => {}
        }
    }

    /// Forgets what holds descriptors open. Those of responses in flight stay open until they end.
    pub(super) fn release_descriptors(&self) {
        self.shard().borrow_mut().good.retain(|_, answer| !holds_descriptor(&answer.value));
    }

    fn shard(&self) -> &RefCell<Shard<P>> {
        self.shards.get_or(|| RefCell::new(Shard::new(self.bounds)))
    }
}

impl<P> Shard<P> {
    fn new(bounds: Bounds) -> Self {
        let bad_bytes = bounds.entries as u64 * BAD_ANSWER;
        let good_bytes = bounds.content_bytes + bounds.entries as u64 * ENTRY_OVERHEAD;
        Self { good: answers(bounds.entries, good_bytes), bad: answers(bounds.entries, bad_bytes) }
    }
}

fn answers<T>(entries: usize, bytes: u64) -> Answers<T> {
    // One seed for each shard: collisions found in one process are of no use in another.
    let hasher = RandomState::default();
    ClockCache::with(
        entries,
        Shares::WHOLE,
        Shares { entries: entries as u64, bytes },
        hasher,
        DefaultLifecycle::default(),
    )
}

/// Weighs an answer as its share of the entries or of the bytes, whichever is larger; so neither bound is
/// exceeded.
#[derive(Clone, Copy, Debug)]
struct Shares {
    entries: u64,
    bytes: u64,
}

impl Shares {
    const WHOLE: u64 = 1 << 40;

    fn of(part: u64, whole: u64) -> u64 {
        let share = u128::from(part) * u128::from(Self::WHOLE) / u128::from(whole.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

impl<T> Weighter<Box<str>, Answer<T>> for Shares {
    fn weight(&self, _: &Box<str>, answer: &Answer<T>) -> u64 {
        Self::of(1, self.entries).max(Self::of(answer.bytes, self.bytes)).max(1)
    }
}

fn is_racy<P>(found: &Found<P>) -> bool {
    matches!(found, Found::File(resource) if resource.representations().any(|one| one.racy))
}

fn holds_descriptor<P>(found: &Found<P>) -> bool {
    matches!(found, Found::File(resource) if resource.representations().any(|one| matches!(one.data, Data::Disk(_))))
}

fn content_bytes<P>(found: &Found<P>) -> u64 {
    match found {
        Found::File(resource) => resource
            .representations()
            .filter_map(|one| one.content())
            .map(|content| content.len() as u64)
            .sum(),
        Found::Redirect(_) => 0,
        Found::Listing(html) => html.len() as u64,
    }
}
