//! Readers over any [`Read`]: those of [`bufread`] with a buffer between.
//!
//! The buffer reads ahead: what comes after a stream may be lost with the adapter. Use [`bufread`] to keep it.
//!
//! ```
//! use laneflate_simd::{Level, read};
//! use std::io::Read;
//!
//! let mut coded = Vec::new();
//! read::GzEncoder::new(&b"hello, hello, hello"[..], Level::DEFAULT).read_to_end(&mut coded)?;
//! let mut body = String::new();
//! read::GzDecoder::new(&coded[..]).read_to_string(&mut body)?;
//! assert_eq!(body, "hello, hello, hello");
//! # Ok::<(), std::io::Error>(())
//! ```

use super::kind::{self, Kind};
use crate::{GzHeader, Level, bufread};
use std::fmt;
use std::io::{self, BufReader, Read};

/// Reads as a gzip member.
pub type GzEncoder<R> = Encoder<R, kind::Gzip>;
/// Reads as a zlib stream.
pub type ZlibEncoder<R> = Encoder<R, kind::Zlib>;
/// Reads as DEFLATE data alone.
pub type DeflateEncoder<R> = Encoder<R, kind::Deflate>;
/// Decodes one gzip member.
pub type GzDecoder<R> = Decoder<R, kind::Gzip>;
/// Decodes gzip members up to the end of the input.
pub type MultiGzDecoder<R> = Decoder<R, kind::Members>;
/// Decodes a zlib stream.
pub type ZlibDecoder<R> = Decoder<R, kind::Zlib>;
/// Decodes DEFLATE data.
pub type DeflateDecoder<R> = Decoder<R, kind::Deflate>;

/// Compresses what it reads.
pub struct Encoder<R, K: Kind>(bufread::Encoder<BufReader<R>, K>);

/// Decompresses what it reads.
pub struct Decoder<R, K: Kind>(bufread::Decoder<BufReader<R>, K>);

const BUFFER: usize = 32 * 1024;

impl<R: Read, K: Kind> Encoder<R, K> {
    /// An encoder that reads from `inner`.
    pub fn new(inner: R, level: impl Into<Level>) -> Self {
        Self(bufread::Encoder::new(BufReader::with_capacity(BUFFER, inner), level))
    }

    pub(super) fn with_encoder(inner: R, encoder: crate::Encoder) -> Self {
        Self(bufread::Encoder::with_encoder(BufReader::with_capacity(BUFFER, inner), encoder))
    }
}

impl<R: Read, K: Kind> Decoder<R, K> {
    /// A decoder that reads from `inner`. The header of gzip is read at once; what is wrong with it is the error of the
    /// first read.
    pub fn new(inner: R) -> Self {
        Self(bufread::Decoder::new(BufReader::with_capacity(BUFFER, inner)))
    }
}

impl<R, K: Kind> Decoder<R, K> {
    /// Of gzip: the header of the member, once it is complete.
    pub fn header(&self) -> Option<&GzHeader> {
        self.0.header()
    }
}

/// What both have.
macro_rules! adapter {
    ($name:ident) => {
        impl<R, K: Kind> $name<R, K> {
            /// The inner reader, which the buffer may be ahead of.
            pub fn get_ref(&self) -> &R {
                self.0.get_ref().get_ref()
            }

            /// The inner reader, which the buffer may be ahead of.
            pub fn get_mut(&mut self) -> &mut R {
                self.0.get_mut().get_mut()
            }

            /// Gives the inner reader back; what is in the buffer is lost.
            pub fn into_inner(self) -> R {
                self.0.into_inner().into_inner()
            }

            /// Begins a new stream on `inner`; returns the reader before. What is in the buffer is lost.
            pub fn reset(&mut self, inner: R) -> R
            where
                R: Read,
            {
                self.0.reset(BufReader::with_capacity(BUFFER, inner)).into_inner()
            }

            /// Bytes taken from the buffer so far.
            pub fn total_in(&self) -> u64 {
                self.0.total_in()
            }

            /// Bytes given out so far.
            pub fn total_out(&self) -> u64 {
                self.0.total_out()
            }
        }

        impl<R: Read, K: Kind> Read for $name<R, K> {
            fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
                self.0.read(output)
            }
        }

        impl<R: fmt::Debug, K: Kind> fmt::Debug for $name<R, K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

adapter!(Encoder);
adapter!(Decoder);
