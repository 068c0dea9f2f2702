//! Zstandard frames (RFC 8878) within the limits of RFC 9659, over the C library.

use std::ops::RangeInclusive;
use std::{fmt, io};

use ::zstd::zstd_safe::{self, CCtx, CParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};
use zstd_safe::zstd_sys::ZSTD_EndDirective;

use super::Flush;

/// The largest window that a decoder of the content coding must take: 8 MiB (RFC 9659, section 3).
pub(super) const MAX_WINDOW_LOG: u32 = 23;

/// The levels from 20 on ask for larger windows, all others for at most this one.
const FIRST_LEVEL_BEYOND: i32 = 20;

/// The window of a body of unknown length. Buffers and tables of a running stream grow with it; 512 KiB keeps one under
/// 3 MiB at the default level.
const STREAM_WINDOW_LOG: u32 = 19;

/// The least room made in the output for one call of the library.
const MIN_ROOM: usize = 1 << 10;

/// An encoder of frames without a checksum (the transfer has its own), used for one body after another.
pub struct ZstdEncoder {
    context: CCtx<'static>,
    level: i32,
}

impl ZstdEncoder {
    /// What the library allows is more (down to -131072); below this, speed is no longer gained.
    pub(super) const LEVELS: RangeInclusive<i32> = -7..=22;

    pub(super) fn new(level: i32) -> io::Result<Self> {
        let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        set(&mut context, CParameter::CompressionLevel(level))?;
        set(&mut context, CParameter::ChecksumFlag(false))?;
        let mut encoder = Self { context, level };
        encoder.reset(None)?;
        Ok(encoder)
    }

    /// Drops the frame in progress, if any, and begins one for a body of `size` bytes if that is known.
    pub(super) fn reset(&mut self, size: Option<u64>) -> io::Result<()> {
        self.context.reset(ResetDirective::SessionOnly).map_err(error)?;
        let window_log = match size {
            None => STREAM_WINDOW_LOG,
            Some(_) if self.level >= FIRST_LEVEL_BEYOND => MAX_WINDOW_LOG,
            // The library's own choice for the level and the size.
            Some(_) => 0,
        };
        set(&mut self.context, CParameter::WindowLog(window_log))?;
        self.context.set_pledged_src_size(size).map_err(error)?;
        Ok(())
    }

    pub(super) fn push(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        let directive = match flush {
            Flush::None => ZSTD_EndDirective::ZSTD_e_continue,
            Flush::Sync => ZSTD_EndDirective::ZSTD_e_flush,
            Flush::Finish => ZSTD_EndDirective::ZSTD_e_end,
        };
        let mut source = InBuffer::around(input);
        let mut room = MIN_ROOM;
        loop {
            out.reserve(room);
            let used = out.len();
            let mut target = OutBuffer::around_pos(out, used);
            let left = self.context.compress_stream2(&mut target, &mut source, directive).map_err(error)?;
            if source.pos() == input.len() && (flush == Flush::None || left == 0) {
                return Ok(());
            }
            room = left.max(MIN_ROOM);
        }
    }

    /// The whole body at once: with room for the worst case the library writes straight into the output.
    pub(super) fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.reset(Some(input.len() as u64))?;
        out.reserve(zstd_safe::compress_bound(input.len()));
        self.push(input, out, Flush::Finish)
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        self.context.sizeof()
    }
}

impl fmt::Debug for ZstdEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZstdEncoder").field("level", &self.level).finish_non_exhaustive()
    }
}

fn set(context: &mut CCtx<'_>, parameter: CParameter) -> io::Result<()> {
    context.set_parameter(parameter).map(drop).map_err(error)
}

pub(super) fn error(code: zstd_safe::ErrorCode) -> io::Error {
    io::Error::other(get_error_name(code))
}
