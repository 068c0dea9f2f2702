//! The compress-once store: coded forms of static files, shared by all workers and bounded in bytes.
//!
//! 1. A worker that serves a file keeps a [`Handle`] to each variant beside the open file. As long as the store keeps the
//!    variant, the handle leads straight to it, without a lock.
//! 2. Else the worker asks the store, by [`Key`]. What is there is there.
//! 3. What is not is coded by the first to ask, while all others wait for it (single flight). If the first one goes away
//!    or fails, the next of them takes its place.
//!
//! A variant that is no smaller than its file is remembered too, as a verdict that takes no space.

mod handle;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tokio::sync::Semaphore;
use tokio::task;

use super::{Coding, Effort, Flush, is_quick, pool};
use crate::policy::Refusal;
use crate::source::Stamp;
pub use handle::Handle;

/// What an entry costs beside its bytes: key, pointers and counts in the store, and the store's own tables.
const ENTRY_BYTES: u64 = 256;

/// The usual variant, from which the store sizes its tables.
const TYPICAL_VARIANT_BYTES: u64 = 8 << 10;

/// A file may take this part of the store; beyond, it is coded anew for each response, as a stream.
const LARGEST_PART: u64 = 4;

/// The input after which whoever codes looks whether anybody still waits for it.
const PIECE_BYTES: usize = 256 << 10;

/// One state of one file in one coding.
///
/// Two states of a file are told apart by its [`Stamp`]. Clocks of file systems tick every few milliseconds: a file that was
/// modified just now is better not asked for here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The state of the file.
    pub stamp: Stamp,
    /// The coding.
    pub coding: Coding,
    /// How hard the encoder tries, and which it is.
    pub effort: Effort,
}

/// The coded form of a file.
#[derive(Debug)]
pub struct Variant {
    bytes: Option<Bytes>,
}

impl Variant {
    /// The coded bytes.
    ///
    /// # Errors
    ///
    /// [`Refusal::NoGain`] if they would be no fewer than the plain ones.
    pub fn bytes(&self) -> Result<&Bytes, Refusal> {
        self.bytes.as_ref().ok_or(Refusal::NoGain)
    }
}

/// What a store holds and has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests that found their variant. Those by way of a [`Handle`] are added up to 63 late.
    pub hits: u64,
    /// Requests for which a file was coded.
    pub misses: u64,
    /// Variants held.
    pub entries: usize,
    /// Bytes held, with keys and overhead.
    pub bytes: u64,
}

/// The store.
pub struct Store {
    cache: Cache<Key, Arc<Variant>, ByBytes>,
    /// Bounds the files that are coded on threads for blocking work at the same time, and with them the memory that takes.
    workshop: Arc<Semaphore>,
    largest: u64,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Store {
    /// A store of at most `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            // One, or a variant could take no more than its shard. The lock is not on the hot path.
            .shards(1)
            .weight_capacity(bytes)
            .estimated_items_capacity(
                usize::try_from(bytes / TYPICAL_VARIANT_BYTES).unwrap_or(usize::MAX).max(16),
            )
            .build()
            .expect("both capacities are set");
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cache: Cache::with_options(options, ByBytes, DefaultHashBuilder::default(), Default::default()),
            workshop: Arc::new(Semaphore::new(workers)),
            largest: bytes / LARGEST_PART,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Whether a file of `len` bytes is small enough for the store.
    pub fn admits(&self, len: u64) -> bool {
        len <= self.largest
    }

    /// The variant that `key` names. If it is not here, the file that `read` returns is coded, here or on a thread for
    /// blocking work, by how long that takes.
    ///
    /// A caller that goes away stops the work; if others wait for it, one of them begins anew with its own `read`.
    ///
    /// # Errors
    ///
    /// Those of `read`, and a length other than that in `key`. Nothing is remembered then.
    pub async fn get_or_encode<R>(&self, key: Key, read: R) -> io::Result<Arc<Variant>>
    where
        R: FnOnce() -> io::Result<Bytes> + Send + 'static,
    {
        let place = match self.cache.get_value_or_guard_async(&key).await {
            Ok(variant) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return Ok(variant);
            }
            Err(place) => place,
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let variant = Arc::new(self.encode(key, read).await?);
        // It may be too large to be kept, or the place may be gone; the variant is right all the same.
        let _ = place.insert(Arc::clone(&variant));
        Ok(variant)
    }

    /// Numbers for the metrics.
    pub fn stats(&self) -> Stats {
        Stats {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            entries: self.cache.len(),
            bytes: self.cache.weight(),
        }
    }

    async fn encode<R>(&self, key: Key, read: R) -> io::Result<Variant>
    where
        R: FnOnce() -> io::Result<Bytes> + Send + 'static,
    {
        if usize::try_from(key.stamp.len).is_ok_and(|len| is_quick(key.coding, key.effort, len)) {
            return encode(key, read, || true);
        }
        let permit = Arc::clone(&self.workshop).acquire_owned().await.map_err(io::Error::other)?;
        // Dropped with this future, which the worker then notices.
        let waiting = Arc::new(());
        let awaited = Arc::downgrade(&waiting);
        let job = task::spawn_blocking(move || {
            let variant = encode(key, read, || awaited.strong_count() > 0);
            drop(permit);
            variant
        });
        let variant = job.await.map_err(io::Error::other)?;
        drop(waiting);
        variant
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// Codes a file, as long as it is `wanted`.
fn encode<R>(key: Key, read: R, wanted: impl Fn() -> bool) -> io::Result<Variant>
where
    R: FnOnce() -> io::Result<Bytes>,
{
    if !wanted() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let plain = read()?;
    if plain.len() as u64 != key.stamp.len {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the length of the file changed"));
    }
    let mut encoder = pool::take(key.coding, key.effort)?;
    let mut coded = Vec::new();
    if plain.len() <= PIECE_BYTES {
        encoder.encode_whole(&plain, &mut coded)?;
    } else {
        encoder.begin(Some(key.stamp.len))?;
        for piece in plain.chunks(PIECE_BYTES) {
            if !wanted() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            encoder.push(piece, &mut coded, Flush::None)?;
            if coded.len() >= plain.len() {
                return Ok(Variant { bytes: None });
            }
        }
        encoder.push(&[], &mut coded, Flush::Finish)?;
    }
    if coded.len() >= plain.len() {
        return Ok(Variant { bytes: None });
    }
    // It stays for long: what the vector has in reserve goes back.
    Ok(Variant { bytes: Some(Bytes::from(coded.into_boxed_slice())) })
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Key, Arc<Variant>> for ByBytes {
    fn weight(&self, _: &Key, variant: &Arc<Variant>) -> u64 {
        ENTRY_BYTES + variant.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests;
