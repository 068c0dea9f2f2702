//! One encoder for each coding, all with the same three calls.

use std::io;

use bytes::Bytes;
use laneflate_simd::Format;

use super::brotli::BrotliEncoder;
use super::deflate::DeflateEncoder;
use super::zstd::ZstdEncoder;
use super::{Coding, Effort, Engine, Flush, pool};
use crate::config::CodingSettings;

/// How hard each coding tries. A number outside of a coding's range counts as the nearest inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Level of gzip and deflate, 0 to 12; with [`Engine::ZlibRs`] to 9.
    pub gzip: u8,
    /// Quality of brotli, 0 to 11.
    pub brotli: u8,
    /// Level of zstd, 1 to 22; the negative ones trade size for speed.
    pub zstd: i32,
}

impl Levels {
    /// The level that `coding` goes by, within its range.
    pub fn level(&self, coding: Coding) -> i32 {
        match coding {
            Coding::Gzip | Coding::Deflate => i32::from(self.gzip.min(Engine::Laneflate.max_level())),
            Coding::Brotli => i32::from(self.brotli.min(BrotliEncoder::MAX_QUALITY)),
            Coding::Zstd => self.zstd.clamp(*ZstdEncoder::LEVELS.start(), *ZstdEncoder::LEVELS.end()),
        }
    }
}

impl From<&CodingSettings> for Levels {
    fn from(settings: &CodingSettings) -> Self {
        Self { gzip: settings.gzip_level, brotli: settings.brotli_quality, zstd: settings.zstd_level }
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self::from(&CodingSettings::default())
    }
}

/// Codes a body that is whole in memory, with an encoder from this thread's [`pool`].
///
/// # Errors
///
/// Only for want of memory.
pub fn encode_whole(coding: Coding, effort: impl Into<Effort>, input: &[u8]) -> io::Result<Bytes> {
    let mut out = Vec::new();
    pool::take(coding, effort)?.encode_whole(input, &mut out)?;
    Ok(Bytes::from(out))
}

/// An encoder of one coding with one effort, used for one body after another.
#[derive(Debug)]
pub enum Encoder {
    /// gzip.
    Gzip(DeflateEncoder),
    /// The zlib wrapper, which HTTP calls `deflate`.
    Deflate(DeflateEncoder),
    /// Brotli; boxed, as it is much larger than the others.
    Brotli(Box<BrotliEncoder>),
    /// Zstandard.
    Zstd(ZstdEncoder),
}

impl Encoder {
    /// An encoder with an `effort` of [`Effort::of`], ready for a body of unknown length.
    ///
    /// # Errors
    ///
    /// Only for want of memory.
    pub fn new(coding: Coding, effort: impl Into<Effort>) -> io::Result<Self> {
        let effort = effort.into();
        Ok(match coding {
            Coding::Gzip => Self::Gzip(DeflateEncoder::new(Format::Gzip, effort)),
            Coding::Deflate => Self::Deflate(DeflateEncoder::new(Format::Zlib, effort)),
            Coding::Brotli => {
                let quality = u8::try_from(effort.level).unwrap_or(BrotliEncoder::MAX_QUALITY);
                Self::Brotli(Box::new(BrotliEncoder::new(quality, None)))
            }
            Coding::Zstd => Self::Zstd(ZstdEncoder::new(effort.level)?),
        })
    }

    /// Drops the stream in progress, if any, and begins one for a body of `size` bytes if that is known.
    ///
    /// # Errors
    ///
    /// Only for want of memory.
    pub fn begin(&mut self, size: Option<u64>) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) | Self::Deflate(encoder) => encoder.reset(),
            Self::Brotli(encoder) => encoder.reset(size.and_then(|size| usize::try_from(size).ok())),
            Self::Zstd(encoder) => encoder.reset(size)?,
        }
        Ok(())
    }

    /// Takes all of `input` and appends to `out` what `flush` makes due.
    ///
    /// # Errors
    ///
    /// A body that does not have the size it was begun with, input after [`Flush::Finish`], or want of memory.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) | Self::Deflate(encoder) => encoder.push(input, out, flush),
            Self::Brotli(encoder) => encoder.push(input, out, flush),
            Self::Zstd(encoder) => encoder.push(input, out, flush),
        }
    }

    /// Codes a whole body in one call, the fastest way, and appends it to `out`. A stream in progress is dropped.
    ///
    /// # Errors
    ///
    /// Only for want of memory.
    pub fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) | Self::Deflate(encoder) => encoder.encode_whole(input, out),
            Self::Brotli(encoder) => encoder.encode_whole(input, out),
            Self::Zstd(encoder) => encoder.encode_whole(input, out),
        }
    }

    /// The most memory, in bytes, that the encoder keeps between two bodies, having coded what it has.
    pub(super) fn idle_memory(&self) -> usize {
        match self {
            Self::Gzip(_) | Self::Deflate(_) => DeflateEncoder::IDLE_BYTES,
            Self::Brotli(_) => BrotliEncoder::IDLE_BYTES,
            Self::Zstd(encoder) => encoder.memory(),
        }
    }
}

#[cfg(test)]
mod tests;
