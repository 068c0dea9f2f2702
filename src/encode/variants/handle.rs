//! The way to a variant that takes no lock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use super::{Key, Store, Variant};

/// Uses between two visits to the store.
const VISIT_EVERY: u32 = 64;

/// Remembers where a variant is, without keeping it from being evicted.
///
/// A handle is meant to be used by one thread: others may, at the price of a contended counter.
#[derive(Debug)]
pub struct Handle {
    key: Key,
    variant: Weak<Variant>,
    uses: AtomicU32,
}

impl Handle {
    /// A handle to what [`Store::get_or_encode`] gave for `key`.
    pub fn new(key: Key, variant: &Arc<Variant>) -> Self {
        Self { key, variant: Arc::downgrade(variant), uses: AtomicU32::new(0) }
    }

    /// The variant, unless `store` has evicted it.
    ///
    /// Once in a while this visits the store, so that it sees that the variant is in use and keeps it.
    pub fn get(&self, store: &Store) -> Option<Arc<Variant>> {
        let variant = self.variant.upgrade()?;
        let uses = self.uses.load(Ordering::Relaxed) + 1;
        if uses < VISIT_EVERY {
            self.uses.store(uses, Ordering::Relaxed);
        } else {
            self.uses.store(0, Ordering::Relaxed);
            store.cache.get(&self.key);
            store.hits.fetch_add(u64::from(VISIT_EVERY), Ordering::Relaxed);
        }
        Some(variant)
    }
}
