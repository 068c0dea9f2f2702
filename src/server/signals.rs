//! What signals mean: TERM, INT and QUIT end the server; USR1 opens the log anew.

use std::io;
use std::process;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::access_log;

/// Exit code of a process that an impatient second signal ended.
const IMPATIENT: i32 = 130;

/// The signals that end the server, and the one that rotates its log; caught from the moment that this exists.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    reopen: Signal,
}

impl Signals {
    /// Must be called within a runtime.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            reopen: signal(SignalKind::user_defined1())?,
        })
    }

    /// Waits for a signal that ends the server; meanwhile USR1 opens the access log anew.
    pub(super) async fn end(&mut self, log: Option<&access_log::Writer>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.quit.recv() => return,
                _ = self.reopen.recv() => {
                    if let Some(log) = log {
                        log.reopen();
                    }
                }
            }
        }
    }

    /// Ends the process at the next signal that ends the server.
    pub(super) async fn exit_on_next(mut self) {
        self.end(None).await;
        process::exit(IMPATIENT);
    }
}
