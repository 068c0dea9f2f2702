//! One decoder for each coding, all with the same two calls.

use std::io;

use ::zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};
use laneflate_simd::{Format, Status};

use super::DecodeError;
use crate::encode::Coding;
use crate::encode::brotli::{self, BrotliDecoder};
use crate::encode::zstd;

/// Output is seldom more than this many times its input.
const USUAL_RATIO: usize = 8;

/// The least room for output.
const LEAST_ROOM: usize = 512;

/// A decoder of one body.
pub(super) enum Decoder {
    Inflate(Box<Inflate>),
    Brotli { codec: BrotliDecoder, at: At },
    Zstd { codec: DCtx<'static>, at: At },
}

/// How far one step came.
pub(super) struct Step {
    /// Bytes of input that were used.
    pub(super) consumed: usize,
    /// Whether there may be more output without more input.
    pub(super) more: bool,
}

/// Where in the body a decoder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Start,
    Within,
    /// After a stream, which of gzip and zstd another may follow.
    End,
}

impl Decoder {
    pub(super) fn new(coding: Coding) -> io::Result<Self> {
        Ok(match coding {
            Coding::Gzip => Self::Inflate(Box::new(Inflate::new(Some(Format::Gzip)))),
            Coding::Deflate => Self::Inflate(Box::new(Inflate::new(None))),
            Coding::Brotli => Self::Brotli { codec: BrotliDecoder::new(), at: At::Start },
            Coding::Zstd => {
                let mut codec = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
                codec.set_parameter(DParameter::WindowLogMax(zstd::MAX_WINDOW_LOG)).map_err(zstd::error)?;
                Self::Zstd { codec, at: At::Start }
            }
        })
    }

    /// Decodes from the start of `input` and appends about `room` bytes to `out` at most.
    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>, room: usize) -> Result<Step, DecodeError> {
        match self {
            Self::Inflate(inflate) => inflate.step(input, out, room),
            Self::Brotli { at: At::End, .. } => Err(DecodeError::trailing_data()),
            Self::Brotli { codec, at } => {
                *at = At::Within;
                match codec.push(input, out, room).map_err(DecodeError::malformed)? {
                    brotli::Decoded::NeedsInput => Ok(Step { consumed: input.len(), more: false }),
                    brotli::Decoded::NeedsRoom { consumed } => Ok(Step { consumed, more: true }),
                    brotli::Decoded::Finished { consumed } => {
                        *at = At::End;
                        Ok(Step { consumed, more: false })
                    }
                }
            }
            Self::Zstd { codec, at } => {
                out.reserve(room);
                let used = out.len();
                let mut source = InBuffer::around(input);
                let mut target = OutBuffer::around_pos(out, used);
                let left = codec
                    .decompress_stream(&mut target, &mut source)
                    .map_err(|code| DecodeError::malformed(zstd::error(code)))?;
                let full = target.pos() == target.capacity();
                *at = if left == 0 { At::End } else { At::Within };
                Ok(Step { consumed: source.pos(), more: full && left > 0 })
            }
        }
    }

    /// Checks that the input may end here.
    pub(super) fn finish(&self) -> Result<(), DecodeError> {
        let at = match self {
            Self::Inflate(inflate) => inflate.at,
            Self::Brotli { at, .. } | Self::Zstd { at, .. } => *at,
        };
        if at == At::Within { Err(DecodeError::truncated()) } else { Ok(()) }
    }
}

/// gzip, zlib and raw DEFLATE.
pub(super) struct Inflate {
    codec: laneflate_simd::Decoder,
    /// `None` until the first byte tells zlib from raw DEFLATE.
    format: Option<Format>,
    at: At,
}

impl Inflate {
    fn new(format: Option<Format>) -> Self {
        Self { codec: laneflate_simd::Decoder::new(format.unwrap_or(Format::Zlib)), format, at: At::Start }
    }

    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, room: usize) -> Result<Step, DecodeError> {
        if self.format.is_none()
            && let Some(&first) = input.first()
        {
            let format = if is_zlib(first) { Format::Zlib } else { Format::Raw };
            self.codec = laneflate_simd::Decoder::new(format);
            self.format = Some(format);
        }
        if self.at == At::End && !input.is_empty() {
            // A gzip file may have several members (RFC 1952, section 2.2).
            if self.format != Some(Format::Gzip) {
                return Err(DecodeError::trailing_data());
            }
            self.codec.reset();
        }
        let used = out.len();
        // Room costs zeroing; what does not fit comes in the next step.
        out.resize(used + room.min(input.len().saturating_mul(USUAL_RATIO).max(LEAST_ROOM)), 0);
        let result = self.codec.decompress(input, &mut out[used..]);
        out.truncate(used + result.as_ref().map_or(0, |progress| progress.produced));
        let progress = result.map_err(DecodeError::malformed)?;
        self.at = if progress.status == Status::Done { At::End } else { At::Within };
        Ok(Step { consumed: progress.consumed, more: progress.status == Status::NeedsOutput })
    }
}

/// Whether a stream with this first byte has the zlib wrapper: method 8, window at most 32 KiB. As raw DEFLATE the byte would
/// begin a stored block with padding other than zero, which no encoder writes.
fn is_zlib(first: u8) -> bool {
    first & 0x8f == 0x08
}
