//! How many connections may be open, in all and from one address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;

/// Counts connections of all workers.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    per_address: Option<PerAddress>,
    /// Workers that wait for a place.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct PerAddress {
    limit: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// The right to one open connection.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// One connection counted for its address.
#[derive(Debug)]
pub(crate) struct Visit {
    gate: Arc<Gate>,
    address: IpAddr,
}

impl Gate {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS))),
            per_address: limits
                .connections_per_address
                .map(|limit| PerAddress { limit, open: Mutex::default() }),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Waits for a place.
    pub(crate) async fn place(&self) -> Place {
        let places = Arc::clone(&self.places);
        if let Ok(permit) = Arc::clone(&places).try_acquire_owned() {
            return Place { _permit: permit };
        }
        self.waiting.fetch_add(1, Relaxed);
        let permit = places.acquire_owned().await.expect("the semaphore is never closed");
        self.waiting.fetch_sub(1, Relaxed);
        Place { _permit: permit }
    }

    /// Whether a worker waits for a place, so that an idle connection is worth ending.
    pub(crate) fn is_crowded(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Counts a connection from `address`; `Err` if it has as many as it may.
    pub(crate) fn visit(self: &Arc<Self>, address: IpAddr) -> Result<Option<Visit>, TooMany> {
        let Some(per_address) = &self.per_address else { return Ok(None) };
        let address = address.to_canonical();
        let mut open = per_address.open();
        let count = open.entry(address).or_default();
        if *count >= per_address.limit {
            return Err(TooMany);
        }
        *count += 1;
        Ok(Some(Visit { gate: Arc::clone(self), address }))
    }
}

/// An address has as many connections as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl PerAddress {
    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Some(per_address) = &self.gate.per_address else { return };
        if let Entry::Occupied(mut count) = per_address.open().entry(self.address) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gets_it_back() {
        let gate = Arc::new(Gate::new(&Limits { connections_per_address: Some(2), ..Limits::default() }));
        let [a, b] = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2])];
        let first = gate.visit(a).unwrap();
        let _second = gate.visit(a).unwrap();
        assert_eq!(gate.visit(a).unwrap_err(), TooMany);
        let mapped = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(gate.visit(mapped).unwrap_err(), TooMany, "the same address in IPv6 clothes");
        assert!(gate.visit(b).is_ok());
        drop(first);
        assert!(gate.visit(a).is_ok());
    }

    #[tokio::test]
    async fn places_are_bounded() {
        let gate = Arc::new(Gate::new(&Limits { connections: 1, ..Limits::default() }));
        let place = gate.place().await;
        let waiting = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { gate.place().await }
        });
        tokio::task::yield_now().await;
        assert!(gate.is_crowded() && !waiting.is_finished());
        drop(place);
        waiting.await.unwrap();
        assert!(!gate.is_crowded());
    }
}
