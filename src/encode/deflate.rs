//! gzip and zlib streams over [`laneflate_simd`]: its fixed output slices become an output that grows.

use std::{fmt, io};

use laneflate_simd::{Format, Level, Status, bound};

use super::Flush;

/// The least and the most room made in the output for one call of the codec.
const ROOM: (usize, usize) = (1 << 10, 16 << 10);

/// An encoder of gzip (whose header has no name, no time and no system) or zlib, used for one body after another.
pub struct DeflateEncoder {
    codec: laneflate_simd::Encoder,
    format: Format,
    fresh: bool,
}

impl DeflateEncoder {
    /// The best and slowest level.
    pub(super) const MAX_LEVEL: u8 = Level::BEST.number();

    /// What an encoder is taken to keep between two bodies, in bytes: window, hash chains and tables at the highest level.
    pub(super) const IDLE_BYTES: usize = 1 << 20;

    pub(super) fn new(format: Format, level: i32) -> Self {
        let level = u8::try_from(level).ok().and_then(Level::new).unwrap_or(Level::BEST);
        Self { codec: laneflate_simd::Encoder::new(format, level), format, fresh: true }
    }

    pub(super) fn reset(&mut self) {
        if !self.fresh {
            self.codec.reset();
            self.fresh = true;
        }
    }

    pub(super) fn push(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        if self.fresh && flush == Flush::Finish {
            return self.encode_whole(input, out);
        }
        self.fresh = false;
        let codec_flush = match flush {
            Flush::None => laneflate_simd::Flush::None,
            Flush::Sync => laneflate_simd::Flush::Sync,
            Flush::Finish => laneflate_simd::Flush::Finish,
        };
        let mut rest = input;
        loop {
            let used = out.len();
            out.resize(used + bound(self.format, rest.len()).clamp(ROOM.0, ROOM.1), 0);
            let result = self.codec.compress(rest, &mut out[used..], codec_flush);
            out.truncate(used + result.as_ref().map_or(0, |progress| progress.produced));
            let progress = result.map_err(io::Error::other)?;
            rest = &rest[progress.consumed..];
            match progress.status {
                Status::NeedsOutput => {}
                Status::NeedsInput | Status::Done => return Ok(()),
            }
        }
    }

    /// The whole body at once: without the copy into a window that a stream needs.
    pub(super) fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.reset();
        self.codec.encode(input, out);
        Ok(())
    }
}

impl fmt::Debug for DeflateEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeflateEncoder").field("format", &self.format).finish_non_exhaustive()
    }
}
