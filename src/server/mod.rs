//! The server: listeners, workers, connections, signals.
//!
//! [`Server::bind`] checks everything that can be wrong (the folder, the addresses, the log file) before anything is served;
//! [`Server::run`] serves until a signal ends it. Each worker is a thread with a runtime and listeners of its own, so a request
//! meets no lock of another thread.

mod connection;
mod cpu;
mod gate;
mod guard;
mod listener;
mod metrics_endpoint;
mod outgoing;
mod responder;
mod signals;
mod socket;
mod state;
mod vigil;
mod worker;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use self::gate::Gate;
pub use self::listener::ListenError;
use self::signals::Signals;
use self::worker::{Phase, Shared};
use crate::access_log;
use crate::config::Settings;
use crate::metrics::Registry;
use crate::service::StaticFiles;
use crate::source::RootError;

/// A server that has its sockets and its folder, and is ready to run.
pub struct Server {
    settings: Settings,
    files: StaticFiles,
    registry: Registry,
    log: Option<access_log::Writer>,
    /// For each worker, a listener for each address.
    listeners: Vec<Vec<TcpListener>>,
    metrics: Option<TcpListener>,
    runtime: Runtime,
    signals: Signals,
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// The folder cannot be served.
    Root(RootError),
    /// An address cannot be listened on.
    Listen(ListenError),
    /// The access log cannot be written.
    Log(access_log::OpenError),
    /// The system refused a thread or a runtime.
    System(io::Error),
}

/// How a server ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Connections that were cut because they did not finish in time.
    pub cut: usize,
}

impl Server {
    /// Opens the folder, the addresses and the log.
    pub fn bind(mut settings: Settings) -> Result<Self, StartError> {
        fit_to_open_files(&mut settings);
        let registry = Registry::new(settings.workers.count);
        let files = StaticFiles::new(&settings).map_err(StartError::Root)?;
        let mut listeners: Vec<Vec<TcpListener>> = (0..settings.workers.count).map(|_| Vec::new()).collect();
        for &address in &settings.listen {
            let sockets = listener::listen(address, &settings.workers).map_err(StartError::Listen)?;
            for (worker, socket) in listeners.iter_mut().zip(sockets) {
                worker.push(socket);
            }
        }
        let metrics = settings.metrics.map(listener::listen_once).transpose().map_err(StartError::Listen)?;
        let log = settings
            .access_log
            .as_ref()
            .map(access_log::Writer::open)
            .transpose()
            .map_err(StartError::Log)?;
        // From here on a signal ends the server in good order, also before it runs.
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::System)?;
        let signals = {
            let _within = runtime.enter();
            Signals::new().map_err(StartError::System)?
        };
        Ok(Self { settings, files, registry, log, listeners, metrics, runtime, signals })
    }

    /// The addresses listened on; port 0 has become the port taken.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let first = self.listeners.first();
        first.into_iter().flatten().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// The address of the counters, if they are served.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref()?.local_addr().ok()
    }

    /// Serves until SIGTERM, SIGINT or SIGQUIT, then finishes what is in flight; a second signal does not wait.
    pub fn run(self) -> Result<Ended, StartError> {
        let Self { settings, files, registry, log, listeners, metrics, runtime, mut signals } = self;
        let gate = Arc::new(Gate::new(&settings.limits));
        let (phase, phases) = watch::channel(Phase::Run);
        let (alarm, mut alarms) = mpsc::channel::<()>(1);
        let cpus = if settings.workers.pin { cpu::allowed() } else { Vec::new() };
        let mut workers = Vec::with_capacity(listeners.len());
        for (number, listeners) in listeners.into_iter().enumerate() {
            let shared = Shared::new(
                files.clone(),
                &settings,
                registry.worker(number),
                log.clone(),
                Arc::clone(&gate),
            );
            let cpu = (!cpus.is_empty()).then(|| cpus[number % cpus.len()]);
            let (limit, phases) = (settings.workers.shutdown_timeout, phases.clone());
            let alarm = Alarm(alarm.clone());
            let worker = move || {
                let _alarm = alarm;
                if let Some(cpu) = cpu {
                    cpu::pin_current_thread(cpu);
                }
                worker::run(listeners, shared, limit, phases)
            };
            let thread = thread::Builder::new().name(format!("worker-{number}"));
            workers.push(thread.spawn(worker).map_err(StartError::System)?);
        }
        runtime.block_on(async {
            if let Some(listener) = metrics {
                let sources = metrics_endpoint::Sources { registry, files, log: log.clone() };
                tokio::spawn(metrics_endpoint::serve(listener, sources));
            }
            tokio::select! {
                () = signals.end(log.as_ref()) => {}
                // A worker that ends by itself has failed; the others cannot stand in for it, and `join` tells why.
                _ = alarms.recv() => {}
            }
        });
        phase.send_replace(Phase::Drain);
        drop(runtime.spawn(signals.exit_on_next()));
        let joining = runtime.spawn_blocking(move || join(workers));
        let cut = runtime
            .block_on(joining)
            .map_err(io::Error::from)
            .and_then(|cut| cut)
            .map_err(StartError::System)?;
        Ok(Ended { cut })
    }
}

/// Goes off when its worker ends, also by a panic.
struct Alarm(mpsc::Sender<()>);

impl Drop for Alarm {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

/// Waits for all workers; the connections they cut.
fn join(workers: Vec<thread::JoinHandle<io::Result<usize>>>) -> io::Result<usize> {
    workers.into_iter().try_fold(0, |cut, worker| {
        let ended = worker.join().map_err(|_| io::Error::other("a worker panicked"))?;
        Ok(cut + ended?)
    })
}

/// Raises the process's limit of open files as far as it goes, and what would still go beyond it is lowered to fit.
fn fit_to_open_files(settings: &mut Settings) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Refused at worst, and then the limit stays as it was.
    let _ = setrlimit(Resource::Nofile, limit);
    let Some(open_files) = getrlimit(Resource::Nofile).current else { return };
    let open_files = usize::try_from(open_files).unwrap_or(usize::MAX);
    // Each worker holds its listeners, its epoll, event and timer descriptors; the process a few more.
    let fixed = 16 + settings.workers.count * (settings.listen.len() + 4);
    let free = open_files.saturating_sub(fixed);
    settings.file_cache.entries = settings.file_cache.entries.min(free / 4);
    // A connection may have a file open that is not in the cache.
    settings.limits.connections = settings.limits.connections.min(free * 5 / 8).max(1);
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(error) => error.fmt(f),
            Self::Listen(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::System(error) => write!(f, "the system refused a thread or a runtime: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Root(error) => Some(error),
            Self::Listen(error) => Some(error),
            Self::Log(error) => Some(error),
            Self::System(error) => Some(error),
        }
    }
}
