//! The thread that writes the log.
//!
//! Each worker appends its lines to a buffer of its own, under a lock that nobody else wants but for the moment in which
//! the thread takes the buffer away. The thread does so once a second, or sooner where a buffer has grown to
//! [`FLUSH_AT`]. If the disk or the reader of a pipe is slow, buffers grow to [`CAPACITY`]; lines beyond that are
//! dropped and counted, so that a slow log costs lines, and neither memory nor the time of requests.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Record, format};
use crate::config::{AccessLog, LogFormat};

/// A buffer of this size is written at once.
const FLUSH_AT: usize = 64 << 10;

/// A buffer of this size takes no more lines.
const CAPACITY: usize = 1 << 20;

/// Lines wait no longer than this to be written.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long the last handle waits, when dropped, for the log to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// Pause before another attempt at a pipe that is full and does not block.
const RETRY: Duration = Duration::from_millis(10);

/// A worker's handle to the log; a clone has a buffer of its own.
///
/// Dropping the last one writes what is left.
#[derive(Debug)]
pub struct Writer {
    buffer: Arc<Buffer>,
    shared: Arc<Shared>,
    format: LogFormat,
}

/// The log cannot be opened.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    cause: io::Error,
}

type Buffer = Mutex<Vec<u8>>;

#[derive(Debug)]
struct Shared {
    buffers: Mutex<Vec<Arc<Buffer>>>,
    orders: Mutex<Orders>,
    /// Tells the thread of new orders.
    ordered: Condvar,
    /// Tells the last handle that the thread has come to its end.
    finished: Condvar,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct Orders {
    flush: bool,
    reopen: bool,
    /// Handles that may still add lines; at none the thread ends.
    handles: usize,
    finished: bool,
}

/// What the thread owns.
struct Thread {
    shared: Arc<Shared>,
    sink: Sink,
    /// An empty buffer to put in the place of one taken away.
    spare: Vec<u8>,
    report: Report,
}

/// Where lines go.
struct Sink {
    path: Option<PathBuf>,
    out: Box<dyn Write + Send>,
    /// Whether the last write ended within a line.
    torn: bool,
}

/// Losses not yet told of in the error log; at most once in an [`INTERVAL`].
#[derive(Default)]
struct Report {
    lost_before: u64,
    error: Option<io::Error>,
    last: Option<Instant>,
}

impl Writer {
    /// Opens the log and starts its thread.
    ///
    /// # Errors
    ///
    /// Where the file cannot be opened for appending, or standard output is closed.
    pub fn open(settings: &AccessLog) -> Result<Self, OpenError> {
        let path = settings.path.clone();
        let opened = match &path {
            Some(path) => append_to(path),
            // A descriptor of its own, past the line buffer of `io::stdout`.
            None => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        };
        match opened.and_then(|file| Self::start(path.clone(), Box::new(file), settings.format)) {
            Ok(writer) => Ok(writer),
            Err(cause) => Err(OpenError { path: path.unwrap_or_else(|| "standard output".into()), cause }),
        }
    }

    fn start(path: Option<PathBuf>, out: Box<dyn Write + Send>, format: LogFormat) -> io::Result<Self> {
        let buffer = Arc::<Buffer>::default();
        let shared = Arc::new(Shared {
            buffers: Mutex::new(vec![Arc::clone(&buffer)]),
            orders: Mutex::new(Orders { handles: 1, ..Orders::default() }),
            ordered: Condvar::new(),
            finished: Condvar::new(),
            lost: AtomicU64::new(0),
        });
        let sink = Sink { path, out, torn: false };
        let thread =
            Thread { shared: Arc::clone(&shared), sink, spare: Vec::new(), report: Report::default() };
        std::thread::Builder::new().name("access-log".into()).spawn(move || thread.run())?;
        Ok(Self { buffer, shared, format })
    }

    /// Adds a line. Never waits for the disk.
    pub fn log(&self, record: &Record<'_>) {
        let mut lines = lock(&self.buffer);
        let before = lines.len();
        if before >= CAPACITY {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        format(record, self.format, &mut lines);
        let due = before < FLUSH_AT && lines.len() >= FLUSH_AT;
        drop(lines);
        if due {
            self.shared.order(|orders| orders.flush = true);
        }
    }

    /// Writes what was logged so far to the file as it was opened, then opens its path anew, as log rotation wants it.
    pub fn reopen(&self) {
        self.shared.order(|orders| orders.reopen = true);
    }

    /// Lines dropped so far, since they could not be written or not fast enough.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }
}

impl Clone for Writer {
    fn clone(&self) -> Self {
        let buffer = Arc::<Buffer>::default();
        lock(&self.shared.buffers).push(Arc::clone(&buffer));
        lock(&self.shared.orders).handles += 1;
        Self { buffer, shared: Arc::clone(&self.shared), format: self.format }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut orders = lock(&self.shared.orders);
        orders.handles -= 1;
        if orders.handles > 0 {
            return;
        }
        self.shared.ordered.notify_one();
        let waited = self.shared.finished.wait_timeout_while(orders, PATIENCE, |orders| !orders.finished);
        drop(waited);
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot open the access log {}: {}", self.path.display(), self.cause)
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl Shared {
    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut lock(&self.orders));
        self.ordered.notify_one();
    }
}

impl Thread {
    fn run(mut self) {
        loop {
            let (reopen, last) = self.wait();
            self.write_all_buffers();
            if reopen {
                self.reopen();
            }
            self.report.tell(self.shared.lost.load(Ordering::Relaxed), last);
            if last {
                lock(&self.shared.orders).finished = true;
                self.shared.finished.notify_one();
                return;
            }
        }
    }

    /// Waits for an order or the time to flush; says whether to reopen, and whether no line can follow.
    fn wait(&self) -> (bool, bool) {
        let idle = |orders: &mut Orders| !orders.flush && !orders.reopen && orders.handles > 0;
        let orders = lock(&self.shared.orders);
        let waited = self.shared.ordered.wait_timeout_while(orders, INTERVAL, idle);
        let (mut orders, _) = waited.unwrap_or_else(PoisonError::into_inner);
        orders.flush = false;
        (std::mem::take(&mut orders.reopen), orders.handles == 0)
    }

    fn write_all_buffers(&mut self) {
        // A buffer that only the list holds gets no more lines, and leaves the list once it is written.
        let mut abandoned = Vec::new();
        let buffers = {
            let mut list = lock(&self.shared.buffers);
            abandoned.extend(list.extract_if(.., |buffer| Arc::strong_count(buffer) == 1));
            list.clone()
        };
        for buffer in abandoned.iter().chain(&buffers) {
            let lines = std::mem::replace(&mut *lock(buffer), std::mem::take(&mut self.spare));
            if let Err((error, lost)) = self.sink.write(&lines) {
                self.shared.lost.fetch_add(lost, Ordering::Relaxed);
                self.report.error = Some(error);
            }
            self.spare = lines;
            self.spare.clear();
            self.spare.shrink_to(2 * FLUSH_AT);
        }
    }

    fn reopen(&mut self) {
        let Some(path) = &self.sink.path else { return };
        match append_to(path) {
            Ok(file) => {
                self.sink.out = Box::new(file);
                self.sink.torn = false;
            }
            Err(error) => {
                tracing::error!(
                    "cannot reopen the access log {}, so the old file goes on: {error}",
                    path.display()
                );
            }
        }
    }
}

impl Sink {
    /// Writes whole lines; on an error says how many of them are lost.
    fn write(&mut self, lines: &[u8]) -> Result<(), (io::Error, u64)> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut written = 0;
        let result = self.write_counted(lines, &mut written);
        self.torn = match written {
            0 => self.torn,
            _ => lines[written - 1] != b'\n',
        };
        result.map_err(|error| {
            let lost = lines[written..].iter().filter(|&&byte| byte == b'\n').count();
            (error, lost as u64)
        })
    }

    fn write_counted(&mut self, lines: &[u8], written: &mut usize) -> io::Result<()> {
        if self.torn {
            self.out.write_all(b"\n")?;
            self.torn = false;
        }
        while *written < lines.len() {
            match self.out.write(&lines[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => *written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                Err(error) => return Err(error),
            }
        }
        self.out.flush()
    }
}

impl Report {
    fn tell(&mut self, lost: u64, last: bool) {
        let recent = self.last.is_some_and(|last| last.elapsed() < INTERVAL);
        if lost == self.lost_before || (recent && !last) {
            return;
        }
        let lines = lost - self.lost_before;
        match self.error.take() {
            Some(error) => tracing::error!("cannot write the access log: {error}; {lines} lines are lost"),
            None => tracing::warn!("the access log is not taken fast enough; {lines} lines are lost"),
        }
        self.lost_before = lost;
        self.last = Some(Instant::now());
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

/// Locks; a panic elsewhere leaves the log usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
