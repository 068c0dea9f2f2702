//! A worker: one thread, one single-threaded runtime, one listener for each address, and the connections accepted on them.

use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::server::conn::{http1, http2};
use hyper_util::rt::TokioExecutor;
use rustix::net::{SendFlags, Shutdown};
use slab::Slab;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::connection;
use super::gate::Gate;
use super::state::{ConnState, Verdict};
use super::vigil::Vigil;
use crate::access_log;
use crate::config::{Limits, Settings};
use crate::metrics::Counters;
use crate::service::StaticFiles;

/// Threads of a worker for what takes long: reads that wait for the disk, and coding of large files.
const BLOCKING_THREADS: usize = 32;

/// How long idle connections are kept when the server ends, for requests on their way.
const FAREWELL: Duration = Duration::from_millis(250);

/// How often the limits of time are looked at; a limit is kept to within this.
const WATCH: Duration = Duration::from_millis(500);

/// How long accepting pauses when the process or the system is out of descriptors or memory.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// What a client from an address with too many connections is told.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";

/// The phases of the server's life, as the workers are told of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Accept and serve.
    Run,
    /// Accept no more; finish what is in flight.
    Drain,
}

/// What all connections of a worker share.
pub(super) struct Shared {
    pub(super) files: StaticFiles,
    pub(super) limits: Limits,
    pub(super) counters: Arc<Counters>,
    pub(super) log: Option<access_log::Writer>,
    pub(super) http1: http1::Builder,
    pub(super) http2: http2::Builder<TokioExecutor>,
    pub(super) vigil: Vigil,
    gate: Arc<Gate>,
    open: Mutex<Slab<Arc<ConnState>>>,
}

impl Shared {
    pub(super) fn new(
        files: StaticFiles,
        settings: &Settings,
        counters: Arc<Counters>,
        log: Option<access_log::Writer>,
        gate: Arc<Gate>,
    ) -> Self {
        let limits = settings.limits.clone();
        Self {
            files,
            counters,
            log,
            http1: connection::http1(&limits),
            http2: connection::http2(&limits),
            limits,
            vigil: Vigil::new(),
            gate,
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Slab<Arc<ConnState>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pronounce(&self, verdict: Verdict) {
        self.open().iter().for_each(|(_, state)| state.pronounce(verdict));
    }

    /// Applies the limits of time, and where a connection waits for a place, ends those that idle longest.
    fn watch(&self, now: Instant) {
        let open = self.open();
        for (_, state) in open.iter() {
            let verdict = state.judge(now, &self.limits);
            if verdict != Verdict::None {
                state.pronounce(verdict);
            }
        }
        if self.gate.is_crowded() {
            let mut idle: Vec<_> = open
                .iter()
                .map(|(_, state)| state)
                .filter(|state| state.has_served() && state.is_idle())
                .collect();
            idle.sort_unstable_by_key(|state| state.last_event());
            // A part at a time: the crowd may pass, and who idles a moment may ask again.
            let enough = idle.len().div_ceil(8);
            idle.iter().take(enough).for_each(|state| state.pronounce(Verdict::Drain));
        }
    }
}

/// A connection's entry in the worker's list, removed however the connection ends.
struct Entry {
    shared: Arc<Shared>,
    key: usize,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.open().remove(self.key);
        self.shared.counters.closed.increment();
    }
}

/// Runs the worker on the current thread until `phase` says drain and no connection is left, or the time for that is over; the number of
/// connections then cut.
pub(super) fn run(
    listeners: Vec<TcpListener>,
    shared: Shared,
    shutdown_timeout: Duration,
    phase: watch::Receiver<Phase>,
) -> io::Result<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()?;
    runtime.block_on(async {
        let shared = Arc::new(shared);
        let accepting = listeners
            .into_iter()
            .map(|listener| {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                Ok(tokio::spawn(accept(listener, Arc::clone(&shared))))
            })
            .collect::<io::Result<Vec<_>>>()?;
        tokio::spawn(watch_over(Arc::clone(&shared)));
        tokio::spawn({
            let shared = Arc::clone(&shared);
            async move { shared.vigil.keep().await }
        });
        wait_for_drain(phase).await;
        // Clients that have a connection are about to ask again, or asked already. Their next response tells them that it is
        // the last; only who asks for nothing meanwhile is left without one.
        shared.pronounce(Verdict::Finish);
        sleep(FAREWELL).await;
        for task in accepting {
            task.abort();
        }
        Ok(drain(&shared, shutdown_timeout).await)
    })
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let mut reported = None;
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) if connection::is_exhaustion(&error) => {
                let now = Instant::now();
                if reported.is_none_or(|then| now - then > Duration::from_secs(10)) {
                    tracing::error!(%error, "accepting pauses; raise the limit of open files, or lower --max-connections");
                    reported = Some(now);
                }
                sleep(EXHAUSTED).await;
                continue;
            }
            // The client left while it waited in the queue.
            Err(error) => {
                tracing::debug!(%error, "accept");
                continue;
            }
        };
        // At the limit the worker accepts this one more, which waits here, and leaves the others in the listener's queue.
        let place = shared.gate.place().await;
        let Ok(visit) = shared.gate.visit(peer.ip()) else {
            refuse(stream);
            continue;
        };
        let state = Arc::new(ConnState::new(peer, Instant::now()));
        let key = shared.open().insert(Arc::clone(&state));
        shared.counters.accepted.increment();
        let entry = Entry { shared: Arc::clone(&shared), key };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _held = (place, visit, entry);
            connection::serve(stream, state, shared).await;
        });
    }
}

fn refuse(stream: TcpStream) {
    // Past tokio, which has not yet heard that the socket is writable. It is: nothing was written before.
    let _ = rustix::net::send(&stream, TOO_MANY, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    let _ = rustix::net::shutdown(&stream, Shutdown::Write);
}

async fn watch_over(shared: Arc<Shared>) {
    let mut ticks = interval(WATCH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        shared.watch(Instant::now());
    }
}

async fn wait_for_drain(mut phase: watch::Receiver<Phase>) {
    // An error means that the server is gone, which ends the worker too.
    let _ = phase.wait_for(|&phase| phase == Phase::Drain).await;
}

async fn drain(shared: &Shared, limit: Duration) -> usize {
    let until = Instant::now() + limit;
    loop {
        let left = {
            shared.pronounce(Verdict::Drain);
            shared.open().len()
        };
        if left == 0 || Instant::now() >= until {
            return left;
        }
        sleep(Duration::from_millis(10)).await;
    }
}
