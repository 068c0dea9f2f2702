//! Keeping a busy worker awake.
//!
//! A thread that sleeps in `epoll_wait` must be woken by whoever sends to it, and on a virtual machine both pay dearly: the
//! sender for the interrupt, the sleeper for coming back. A worker that answers many thousand requests a second sleeps for a few
//! microseconds between them, and then most of what it costs is falling asleep and waking. So it looks again for a moment before
//! it sleeps. It does so under load only: where requests come further apart than [`GAP`], it sleeps at once.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// How long a worker looks for more after its last request.
const GAP: Duration = Duration::from_micros(50);

/// Requests within one stretch of [`GAP`] that keep the worker looking for more.
const BUSY: u32 = 2;

/// Keeps one worker awake while requests come in quick succession.
#[derive(Debug)]
pub(super) struct Vigil {
    epoch: Instant,
    /// Microseconds since `epoch` of the last request.
    last: AtomicU64,
    /// Requests since the vigil last looked.
    requests: AtomicU32,
    asleep: AtomicBool,
    sleeper: Mutex<Option<Waker>>,
}

impl Vigil {
    pub(super) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            last: AtomicU64::new(0),
            requests: AtomicU32::new(0),
            asleep: AtomicBool::new(false),
            sleeper: Mutex::default(),
        }
    }

    /// Notes a request that came at `now`.
    pub(super) fn request(&self, now: Instant) {
        let now = now.saturating_duration_since(self.epoch).as_micros() as u64;
        let gap = now.saturating_sub(self.last.load(Relaxed));
        self.last.store(now, Relaxed);
        self.requests.store(self.requests.load(Relaxed) + 1, Relaxed);
        if self.asleep.load(Relaxed) && gap < GAP.as_micros() as u64 {
            self.wake();
        }
    }

    /// Runs until the worker ends.
    pub(super) async fn keep(&self) {
        loop {
            self.sleep().await;
            self.take();
            let mut since = Instant::now();
            let mut seen = 0;
            loop {
                // tokio polls the sockets, without waiting, before it comes back here.
                tokio::task::yield_now().await;
                seen += self.take();
                let now = Instant::now();
                if now - since < GAP {
                    continue;
                }
                if seen < BUSY {
                    break;
                }
                (since, seen) = (now, 0);
            }
        }
    }

    /// Sleeps until [`Self::wake`].
    async fn sleep(&self) {
        let mut called = false;
        poll_fn(|cx| {
            if called && !self.asleep.load(Relaxed) {
                return Poll::Ready(());
            }
            called = true;
            *self.sleeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            self.asleep.store(true, Relaxed);
            Poll::Pending
        })
        .await
    }

    fn take(&self) -> u32 {
        let requests = self.requests.load(Relaxed);
        self.requests.store(0, Relaxed);
        requests
    }

    #[cold]
    fn wake(&self) {
        self.asleep.store(false, Relaxed);
        if let Some(waker) = self.sleeper.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}
