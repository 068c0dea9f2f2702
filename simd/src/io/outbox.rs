//! Bytes on their way to a writer that may take few of them, or none just now.

use std::io::{self, Write};

pub(super) struct Outbox {
    bytes: Box<[u8]>,
    sent: usize,
    filled: usize,
}

/// As much as goes out in one call.
const SIZE: usize = 32 * 1024;

impl Outbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; SIZE].into(), sent: 0, filled: 0 }
    }

    /// Sends all, then has `fill` put more in: it returns how many bytes that were.
    ///
    /// # Errors
    ///
    /// What the writer says; nothing is lost then, and `fill` was not called.
    pub(super) fn refill<T, E: Into<io::Error>>(
        &mut self,
        writer: &mut impl Write,
        fill: impl FnOnce(&mut [u8]) -> Result<(usize, T), E>,
    ) -> io::Result<T> {
        self.send(writer)?;
        let (filled, rest) = fill(&mut self.bytes).map_err(Into::into)?;
        self.filled = filled;
        Ok(rest)
    }

    pub(super) fn send(&mut self, writer: &mut impl Write) -> io::Result<()> {
        while self.sent < self.filled {
            match writer.write(&self.bytes[self.sent..self.filled])? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.sent += count,
            }
        }
        self.clear();
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        (self.sent, self.filled) = (0, 0);
    }
}
