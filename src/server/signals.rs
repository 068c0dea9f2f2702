//! What signals mean: TERM, INT and QUIT end the server; USR1 opens the log anew.

use std::io;
use std::process;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::access_log;

/// Exit code of a process that an impatient second signal ended.
const IMPATIENT: i32 = 130;

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.quit.recv() => {}
        }
    }
}

/// Waits for a signal that ends the server; meanwhile USR1 opens the access log anew.
pub(super) async fn wait_for_end(log: Option<&access_log::Writer>) -> io::Result<()> {
    let mut end = Signals::new()?;
    let mut reopen = signal(SignalKind::user_defined1())?;
    loop {
        tokio::select! {
            () = end.next() => return Ok(()),
            _ = reopen.recv() => {
                if let Some(log) = log {
                    log.reopen();
                }
            }
        }
    }
}

/// Ends the process at the next signal.
pub(super) async fn exit_on_second() {
    if let Ok(mut signals) = Signals::new() {
        signals.next().await;
        process::exit(IMPATIENT);
    }
}
