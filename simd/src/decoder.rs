//! The decoder.

use crate::{Error, ErrorKind, Format, Progress, Status};
use flate2::{Decompress, FlushDecompress};

/// Decompresses bodies, one after another, whole or in pieces.
#[derive(Debug)]
pub struct Decoder {
    inner: Decompress,
    format: Format,
    done: bool,
}

impl Decoder {
    /// A decoder for one format.
    pub fn new(format: Format) -> Self {
        let inner = match format {
            Format::Raw => Decompress::new(false),
            Format::Zlib => Decompress::new(true),
            Format::Gzip => Decompress::new_gzip(15),
        };
        Self { inner, format, done: false }
    }

    /// Appends the body that the whole stream `input` stands for to `out`; returns how many bytes of `input` the stream has.
    ///
    /// Of gzip, all members that follow each other directly are decoded. What comes after the stream is not looked at.
    /// A stream that was under way is dropped.
    ///
    /// # Errors
    ///
    /// What is wrong with the stream, or [`ErrorKind::LimitExceeded`] if the body has more than `limit` bytes.
    /// `out` then holds what it held before and an unspecified part of the body.
    pub fn decode(&mut self, input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<usize, Error> {
        let start = out.len();
        let mut consumed = 0;
        loop {
            self.reset();
            loop {
                let used = out.len();
                let room = (limit - (used - start)).min(input.len().max(1024) * 4) + 1;
                out.resize(used + room, 0);
                let result = self.decompress(&input[consumed..], &mut out[used..]);
                out.truncate(used + result.as_ref().map_or(0, |progress| progress.produced));
                let progress = result?;
                consumed += progress.consumed;
                if out.len() - start > limit {
                    return Err(Error::new(ErrorKind::LimitExceeded, consumed as u64));
                }
                match progress.status {
                    Status::Done => break,
                    Status::NeedsOutput => {}
                    Status::NeedsInput => {
                        return Err(Error::new(ErrorKind::UnexpectedEnd, consumed as u64));
                    }
                }
            }
            if self.format != Format::Gzip || !input[consumed..].starts_with(&[0x1f, 0x8b]) {
                self.reset();
                return Ok(consumed);
            }
        }
    }

    /// Takes from `input` and writes to `output` as much as goes.
    ///
    /// [`Status::Done`] comes at the end of the stream, of gzip at the end of each member: [`Decoder::reset`] and go on
    /// with the rest of the input to read the next one.
    ///
    /// # Errors
    ///
    /// What is wrong with the stream.
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        if self.done {
            return Ok(Progress { consumed: 0, produced: 0, status: Status::Done });
        }
        let (before_in, before_out) = (self.inner.total_in(), self.inner.total_out());
        let result = self
            .inner
            .decompress(input, output, FlushDecompress::None)
            .map_err(|_| Error::new(ErrorKind::BadHeader, self.inner.total_in()))?;
        let consumed = (self.inner.total_in() - before_in) as usize;
        let produced = (self.inner.total_out() - before_out) as usize;
        self.done = result == flate2::Status::StreamEnd;
        let status = if self.done {
            Status::Done
        } else if produced == output.len() {
            Status::NeedsOutput
        } else {
            Status::NeedsInput
        };
        Ok(Progress { consumed, produced, status })
    }

    /// Drops the stream under way; the next call begins a new one.
    pub fn reset(&mut self) {
        match self.format {
            Format::Raw => self.inner.reset(false),
            Format::Zlib => self.inner.reset(true),
            // zlib-rs keeps the container of the first call only through a fresh state.
            Format::Gzip => self.inner = Decompress::new_gzip(15),
        }
        self.done = false;
    }
}
