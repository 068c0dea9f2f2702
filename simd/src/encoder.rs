//! The encoder.

use crate::{Error, ErrorKind, Flush, Format, Kernels, Level, Progress, Status};
use flate2::{Compress, Compression, FlushCompress};

/// Compresses bodies, one after another, whole or in pieces.
#[derive(Debug)]
pub struct Encoder {
    inner: Compress,
    level: Level,
    kernels: &'static Kernels,
    done: bool,
}

/// The most bytes that [`Encoder::encode`] appends for a body of `len` bytes.
pub fn bound(format: Format, len: usize) -> usize {
    let container = match format {
        Format::Raw => 0,
        Format::Zlib => 6,
        Format::Gzip => 18,
    };
    container + len + len / 1000 + 64
}

impl Encoder {
    /// An encoder with the best kernels for this CPU.
    pub fn new(format: Format, level: Level) -> Self {
        Self::with_kernels(format, level, Kernels::detect())
    }

    /// An encoder with the given kernels. The bytes it writes do not depend on them.
    pub fn with_kernels(format: Format, level: Level, kernels: &'static Kernels) -> Self {
        let strength = Compression::new(u32::from(level.number().min(9)));
        let inner = match format {
            Format::Raw => Compress::new(strength, false),
            Format::Zlib => Compress::new(strength, true),
            Format::Gzip => Compress::new_gzip(strength, 15),
        };
        Self { inner, level, kernels, done: false }
    }

    /// Appends the compressed form of the whole body `input` to `out`; returns how many bytes that were.
    ///
    /// A stream that was under way is dropped.
    pub fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> usize {
        self.reset();
        let start = out.len();
        let mut rest = input;
        loop {
            let used = out.len();
            out.resize(used + rest.len() + 1024, 0);
            let progress =
                self.compress(rest, &mut out[used..], Flush::Finish).expect("a stream that has just begun");
            out.truncate(used + progress.produced);
            rest = &rest[progress.consumed..];
            if progress.status == Status::Done {
                break;
            }
        }
        self.reset();
        out.len() - start
    }

    /// Takes from `input` and writes to `output` as much as goes, then does what `flush` says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Finished`] if input comes after [`Flush::Finish`] was done.
    pub fn compress(&mut self, input: &[u8], output: &mut [u8], flush: Flush) -> Result<Progress, Error> {
        if self.done {
            if !input.is_empty() {
                return Err(Error::new(ErrorKind::Finished, self.inner.total_in()));
            }
            return Ok(Progress { consumed: 0, produced: 0, status: Status::Done });
        }
        let (before_in, before_out) = (self.inner.total_in(), self.inner.total_out());
        let mode = match flush {
            Flush::None => FlushCompress::None,
            Flush::Sync => FlushCompress::Sync,
            Flush::Full => FlushCompress::Full,
            Flush::Finish => FlushCompress::Finish,
        };
        let result = self.inner.compress(input, output, mode);
        let consumed = (self.inner.total_in() - before_in) as usize;
        let produced = (self.inner.total_out() - before_out) as usize;
        self.done = matches!(result, Ok(flate2::Status::StreamEnd));
        let status = if self.done {
            Status::Done
        } else if produced == output.len() || consumed < input.len() {
            Status::NeedsOutput
        } else {
            Status::NeedsInput
        };
        Ok(Progress { consumed, produced, status })
    }

    /// Drops the stream under way; the next call begins a new one. Memory is kept.
    pub fn reset(&mut self) {
        self.inner.reset();
        self.done = false;
    }

    /// The level given to [`Encoder::new`].
    pub fn level(&self) -> Level {
        self.level
    }

    /// The kernels in use.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
}
