//! The store under concurrent, failing and vanishing requests.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::*;
use crate::encode::Engine;
use crate::encode::testing::{decode, noise, text};

fn key(inode: u64, len: usize) -> Key {
    Key {
        stamp: Stamp {
            dev: 1,
            ino: inode,
            len: len as u64,
            modified: (1_700_000_000, 0),
            changed: (1_700_000_000, 0),
        },
        coding: Coding::Gzip,
        effort: Effort::from(1),
    }
}

/// A file too long to be coded by the worker itself.
const LONG: usize = 300_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_first_requests_code_a_file_once() {
    for len in [9000, LONG] {
        let store = Arc::new(Store::new(10 << 20));
        let body = Bytes::from(text(len));
        let reads = Arc::new(AtomicUsize::new(0));
        let requests: Vec<_> = (0..1000)
            .map(|_| {
                let (store, body, reads) = (Arc::clone(&store), body.clone(), Arc::clone(&reads));
                tokio::spawn(async move {
                    let read = move || {
                        reads.fetch_add(1, Ordering::Relaxed);
                        Ok(body)
                    };
                    store.get_or_encode(key(1, len), read).await
                })
            })
            .collect();
        let mut variants = Vec::new();
        for request in requests {
            variants.push(request.await.unwrap().unwrap());
        }
        assert!(decode(Coding::Gzip, variants[0].bytes().unwrap()).unwrap() == body);
        assert!(variants.iter().all(|variant| Arc::ptr_eq(variant, &variants[0])));
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        let stats = store.stats();
        assert_eq!((stats.misses, stats.hits, stats.entries), (1, 999, 1));
    }
}

#[tokio::test]
async fn when_the_first_request_goes_away_another_takes_its_place() {
    let store = Arc::new(Store::new(10 << 20));
    // Nobody can code while both permits are out: the first request waits with the place taken.
    let permits = u32::try_from(store.workshop.available_permits()).unwrap();
    let all = Arc::clone(&store.workshop).acquire_many_owned(permits).await.unwrap();
    let ask = |body: Bytes| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.get_or_encode(key(1, LONG), move || Ok(body)).await })
    };
    let first = ask(Bytes::from(noise(LONG)));
    tokio::task::yield_now().await;
    let others: Vec<_> = (0..10).map(|_| ask(Bytes::from(text(LONG)))).collect();
    tokio::task::yield_now().await;
    assert_eq!(store.stats().misses, 1);

    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    drop(all);
    for other in others {
        let variant = other.await.unwrap().unwrap();
        assert!(decode(Coding::Gzip, variant.bytes().unwrap()).unwrap() == text(LONG));
    }
    assert_eq!(store.stats().misses, 2);
}

#[tokio::test]
async fn work_that_nobody_waits_for_stops() {
    let store = Arc::new(Store::new(10 << 20));
    let (entered, wait_entered) = std::sync::mpsc::channel();
    let (leave, wait_leave) = std::sync::mpsc::channel();
    let request = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let read = move || {
                entered.send(()).unwrap();
                wait_leave.recv().unwrap();
                Ok(Bytes::from(text(LONG)))
            };
            store.get_or_encode(key(1, LONG), read).await
        })
    };
    while wait_entered.try_recv().is_err() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    leave.send(()).unwrap();
    // The permit comes back once the worker has noticed.
    let permits = std::thread::available_parallelism().map_or(1, usize::from);
    while store.workshop.available_permits() < permits {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(store.stats().entries, 0);
}

#[tokio::test]
async fn a_failure_is_told_and_not_remembered() {
    let store = Store::new(10 << 20);
    for len in [9000, LONG] {
        let gone = store.get_or_encode(key(1, len), || Err(io::ErrorKind::NotFound.into())).await;
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::NotFound);
        let cut = store.get_or_encode(key(1, len), move || Ok(Bytes::from(text(len - 1)))).await;
        assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(store.get_or_encode(key(1, len), move || Ok(Bytes::from(text(len)))).await.is_ok());
    }
    assert_eq!(store.stats().entries, 2);
}

#[tokio::test]
async fn a_panic_costs_one_request_only() {
    let store = Arc::new(Store::new(10 << 20));
    let panics = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.get_or_encode(key(1, 9000), || panic!("in a test")).await })
    };
    assert!(panics.await.unwrap_err().is_panic());
    assert!(store.get_or_encode(key(1, 9000), || Ok(Bytes::from(text(9000)))).await.is_ok());
}

#[tokio::test]
async fn what_gains_nothing_is_remembered_as_such() {
    let store = Store::new(10 << 20);
    for len in [9000, LONG] {
        for _ in 0..2 {
            let variant =
                store.get_or_encode(key(1, len), move || Ok(Bytes::from(noise(len)))).await.unwrap();
            assert_eq!(variant.bytes(), Err(Refusal::NoGain));
        }
    }
    let stats = store.stats();
    assert_eq!((stats.misses, stats.hits), (2, 2));
    assert_eq!(stats.bytes, 2 * ENTRY_BYTES);
}

#[tokio::test]
async fn the_store_stays_within_its_bytes() {
    const BYTES: u64 = 200_000;
    let store = Store::new(BYTES);
    let body = Bytes::from(text(9000));
    let mut handles = Vec::new();
    for inode in 0..500 {
        let body = body.clone();
        let variant = store.get_or_encode(key(inode, 9000), move || Ok(body)).await.unwrap();
        handles.push(Handle::new(key(inode, 9000), &variant));
        assert!(store.stats().bytes <= BYTES);
    }
    let stats = store.stats();
    assert!(stats.bytes > BYTES / 2, "{stats:?}");
    // Handles keep nothing alive.
    let alive = handles.iter().filter(|handle| handle.get(&store).is_some()).count();
    assert_eq!(alive, stats.entries);
}

#[tokio::test]
async fn a_file_too_large_for_the_store_is_not_admitted() {
    let store = Store::new(100_000);
    assert!(store.admits(25_000));
    assert!(!store.admits(25_001));
}

#[tokio::test]
async fn each_coding_effort_and_state_of_a_file_has_its_own_variant() {
    let store = Store::new(10 << 20);
    let base = key(1, 9000);
    let keys = [
        base,
        Key { coding: Coding::Zstd, ..base },
        Key { effort: Effort::from(2), ..base },
        Key { effort: Effort { engine: Engine::ZlibRs, ..base.effort }, ..base },
        Key { stamp: Stamp { modified: (1_700_000_000, 1), ..base.stamp }, ..base },
        Key { stamp: Stamp { changed: (1_700_000_000, 1), ..base.stamp }, ..base },
        Key { stamp: Stamp { ino: 2, ..base.stamp }, ..base },
        Key { stamp: Stamp { dev: 2, ..base.stamp }, ..base },
    ];
    for key in keys {
        let variant = store.get_or_encode(key, || Ok(Bytes::from(text(9000)))).await.unwrap();
        assert!(decode(key.coding, variant.bytes().unwrap()).unwrap() == text(9000));
    }
    assert_eq!(store.stats().misses, keys.len() as u64);
}

#[tokio::test]
async fn a_handle_leads_to_its_variant_and_counts_as_use() {
    let store = Store::new(10 << 20);
    let variant = store.get_or_encode(key(1, 9000), || Ok(Bytes::from(text(9000)))).await.unwrap();
    let handle = Handle::new(key(1, 9000), &variant);
    for _ in 0..64 {
        assert!(Arc::ptr_eq(&handle.get(&store).unwrap(), &variant));
    }
    assert_eq!(store.stats().hits, 64);
}
