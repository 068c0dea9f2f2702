//! gzip and zlib streams: the fixed output slices of a codec become an output that grows.

use std::{fmt, io};

use flate2::{Compress, Compression, FlushCompress};
use laneflate_simd::{Format, Level, Status, bound};

use super::{Effort, Engine, Flush};

/// The least and the most room made in the output for one call of the codec.
const ROOM: (usize, usize) = (1 << 10, 16 << 10);

/// An encoder of gzip (whose header has no name and no time) or zlib, used for one body after another.
pub struct DeflateEncoder {
    codec: Codec,
    format: Format,
    effort: Effort,
    stage: Stage,
}

/// How far the body under way is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Fresh,
    Begun,
    Finished,
}

// The one at hand by default is not behind a pointer.
#[allow(clippy::large_enum_variant)]
enum Codec {
    Laneflate(laneflate_simd::Encoder),
    ZlibRs(Compress),
}

/// What one call of the codec did.
struct Step {
    consumed: usize,
    produced: usize,
    /// Whether all that was due is done; else there was no room for it.
    done: bool,
}

impl DeflateEncoder {
    /// What an encoder is taken to keep between two bodies, in bytes: window, hash chains and tables at the highest level.
    pub(super) const IDLE_BYTES: usize = 1 << 20;

    pub(super) fn new(format: Format, effort: Effort) -> Self {
        Self { codec: Codec::new(format, effort), format, effort, stage: Stage::Fresh }
    }

    pub(super) fn reset(&mut self) {
        match (self.stage, &mut self.codec) {
            (Stage::Fresh, _) => return,
            (_, Codec::Laneflate(codec)) => codec.reset(),
            (Stage::Finished, Codec::ZlibRs(codec)) => codec.reset(),
            // After a body that was left unfinished, the reset of zlib-rs keeps bits of it.
            (Stage::Begun, Codec::ZlibRs(_)) => self.codec = Codec::new(self.format, self.effort),
        }
        self.stage = Stage::Fresh;
    }

    pub(super) fn push(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        if self.stage == Stage::Fresh && flush == Flush::Finish {
            return self.encode_whole(input, out);
        }
        self.push_stream(input, out, flush)
    }

    /// The whole body at once: without the copy into a window that a stream needs, where the codec can.
    pub(super) fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.reset();
        match &mut self.codec {
            Codec::Laneflate(codec) => {
                codec.encode(input, out);
                Ok(())
            }
            Codec::ZlibRs(_) => self.push_stream(input, out, Flush::Finish),
        }
    }

    fn push_stream(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        self.stage = Stage::Begun;
        let mut rest = input;
        loop {
            let used = out.len();
            out.resize(used + bound(self.format, rest.len()).clamp(ROOM.0, ROOM.1), 0);
            let result = self.codec.step(rest, &mut out[used..], flush);
            out.truncate(used + result.as_ref().map_or(0, |step| step.produced));
            let step = result?;
            rest = &rest[step.consumed..];
            if step.done {
                if flush == Flush::Finish {
                    self.stage = Stage::Finished;
                }
                return Ok(());
            }
        }
    }
}

impl Codec {
    fn new(format: Format, Effort { level, engine }: Effort) -> Self {
        let level = u8::try_from(level).unwrap_or(u8::MAX).min(engine.max_level());
        match engine {
            Engine::Laneflate => {
                let level = Level::new(level).unwrap_or(Level::BEST);
                Self::Laneflate(laneflate_simd::Encoder::new(format, level))
            }
            Engine::ZlibRs => {
                const WINDOW_BITS: u8 = 15;
                let level = Compression::new(level.into());
                Self::ZlibRs(match format {
                    Format::Gzip => Compress::new_gzip(level, WINDOW_BITS),
                    Format::Zlib => Compress::new(level, true),
                    Format::Raw => Compress::new(level, false),
                })
            }
        }
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], flush: Flush) -> io::Result<Step> {
        match self {
            Self::Laneflate(codec) => {
                let flush = match flush {
                    Flush::None => laneflate_simd::Flush::None,
                    Flush::Sync => laneflate_simd::Flush::Sync,
                    Flush::Finish => laneflate_simd::Flush::Finish,
                };
                let progress = codec.compress(input, output, flush).map_err(io::Error::other)?;
                let done = progress.status != Status::NeedsOutput;
                Ok(Step { consumed: progress.consumed, produced: progress.produced, done })
            }
            Self::ZlibRs(codec) => {
                let how = match flush {
                    Flush::None => FlushCompress::None,
                    Flush::Sync => FlushCompress::Sync,
                    Flush::Finish => FlushCompress::Finish,
                };
                let before = (codec.total_in(), codec.total_out());
                let status = codec.compress(input, output, how).map_err(io::Error::other)?;
                // Both are within the lengths of the slices.
                let consumed = (codec.total_in() - before.0) as usize;
                let produced = (codec.total_out() - before.1) as usize;
                let done = match flush {
                    Flush::Finish => status == flate2::Status::StreamEnd,
                    // It leaves room only where nothing is left to do.
                    Flush::None | Flush::Sync => produced < output.len(),
                };
                Ok(Step { consumed, produced, done })
            }
        }
    }
}

impl fmt::Debug for DeflateEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeflateEncoder").field("format", &self.format).finish_non_exhaustive()
    }
}
