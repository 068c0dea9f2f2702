//! Readers over a [`BufRead`]: what is read from them is what the inner reader has, compressed or decompressed.
//!
//! ```
//! use laneflate_simd::{Compression, bufread};
//! use std::io::Read;
//!
//! let mut coded = Vec::new();
//! bufread::ZlibEncoder::new(&b"hello, hello, hello"[..], Compression::fast()).read_to_end(&mut coded)?;
//! coded.extend_from_slice(b" and more");
//!
//! let mut body = String::new();
//! let mut decoder = bufread::ZlibDecoder::new(&coded[..]);
//! decoder.read_to_string(&mut body)?;
//! assert_eq!(body, "hello, hello, hello");
//! // What comes after the stream is not read.
//! assert_eq!(decoder.into_inner(), b" and more");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! When the inner reader fails, or would block, nothing is lost: call again.

use super::kind::{self, Kind};
use super::unexpected_end;
use crate::{Flush, Format, GzHeader, Level, Progress, Status};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;

/// Reads as a gzip member.
pub type GzEncoder<R> = Encoder<R, kind::Gzip>;
/// Reads as a zlib stream.
pub type ZlibEncoder<R> = Encoder<R, kind::Zlib>;
/// Reads as DEFLATE data alone.
pub type DeflateEncoder<R> = Encoder<R, kind::Deflate>;
/// Decodes a gzip member, and leaves what comes after it.
pub type GzDecoder<R> = Decoder<R, kind::Gzip>;
/// Decodes gzip members up to the end of the input.
pub type MultiGzDecoder<R> = Decoder<R, kind::Members>;
/// Decodes a zlib stream, and leaves what comes after it.
pub type ZlibDecoder<R> = Decoder<R, kind::Zlib>;
/// Decodes DEFLATE data, and leaves what comes after it.
pub type DeflateDecoder<R> = Decoder<R, kind::Deflate>;

/// Compresses what it reads.
pub struct Encoder<R, K: Kind> {
    inner: R,
    encoder: crate::Encoder,
    progress: Totals,
    kind: PhantomData<K>,
}

/// How far an adapter came.
#[derive(Default)]
struct Totals {
    consumed: u64,
    produced: u64,
    /// What the last call waited for.
    status: Option<Status>,
}

impl Totals {
    fn add(&mut self, progress: Progress) {
        self.consumed += progress.consumed as u64;
        self.produced += progress.produced as u64;
        self.status = Some(progress.status);
    }
}

impl<R, K: Kind> Encoder<R, K> {
    pub(super) fn with_encoder(inner: R, encoder: crate::Encoder) -> Self {
        Self { inner, encoder, progress: Totals::default(), kind: PhantomData }
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader. What is read from it is missing in the stream.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Gives the inner reader back.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Begins a new stream on `inner`; returns the reader before. Memory is kept.
    pub fn reset(&mut self, inner: R) -> R {
        self.restart();
        std::mem::replace(&mut self.inner, inner)
    }

    fn restart(&mut self) {
        self.encoder.reset();
        self.progress = Totals::default();
    }

    /// Bytes taken from the reader so far.
    pub fn total_in(&self) -> u64 {
        self.progress.consumed
    }

    /// Bytes given out so far.
    pub fn total_out(&self) -> u64 {
        self.progress.produced
    }
}

impl<R: BufRead, K: Kind> Encoder<R, K> {
    /// An encoder that reads from `inner`.
    pub fn new(inner: R, level: impl Into<Level>) -> Self {
        Self::with_encoder(inner, crate::Encoder::new(K::FORMAT, level.into()))
    }

    fn step(&mut self, output: &mut [u8]) -> io::Result<Progress> {
        if self.progress.status == Some(Status::NeedsOutput) {
            // There is more where the last call stopped, and it must not wait for the reader.
            let progress = self.encoder.compress(&[], output, Flush::None)?;
            if progress.produced > 0 {
                return Ok(progress);
            }
        }
        let input = self.inner.fill_buf()?;
        let flush = if input.is_empty() { Flush::Finish } else { Flush::None };
        let progress = self.encoder.compress(input, output, flush)?;
        self.inner.consume(progress.consumed);
        Ok(progress)
    }
}

impl<R: BufRead, K: Kind> Read for Encoder<R, K> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        while !output.is_empty() && self.progress.status != Some(Status::Done) {
            let progress = self.step(output)?;
            self.progress.add(progress);
            if progress.produced > 0 {
                return Ok(progress.produced);
            }
        }
        Ok(0)
    }
}

impl<R: fmt::Debug, K: Kind> fmt::Debug for Encoder<R, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("inner", &self.inner)
            .field("encoder", &self.encoder)
            .finish_non_exhaustive()
    }
}

/// Decompresses what it reads.
pub struct Decoder<R, K: Kind> {
    inner: R,
    decoder: crate::Decoder,
    progress: Totals,
    /// What went wrong with the header, for the first read.
    failed: Option<io::Error>,
    kind: PhantomData<K>,
}

impl<R, K: Kind> Decoder<R, K> {
    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Gives the inner reader back. What comes after the stream is still in it, once the end was read.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Of gzip: the header of the member, once it is complete.
    pub fn header(&self) -> Option<&GzHeader> {
        self.decoder.gzip_header()
    }

    /// Begins a new stream on `inner`; returns the reader before. Memory is kept.
    pub fn reset(&mut self, inner: R) -> R {
        self.restart();
        std::mem::replace(&mut self.inner, inner)
    }

    fn restart(&mut self) {
        self.decoder.reset();
        self.progress = Totals::default();
        self.failed = None;
    }

    /// Bytes taken from the reader so far.
    pub fn total_in(&self) -> u64 {
        self.progress.consumed
    }

    /// Bytes given out so far.
    pub fn total_out(&self) -> u64 {
        self.progress.produced
    }
}

impl<R: BufRead, K: Kind> Decoder<R, K> {
    /// A decoder that reads from `inner`. The header of gzip is read at once; what is wrong with it is the error of the
    /// first read.
    pub fn new(inner: R) -> Self {
        let decoder = crate::Decoder::new(K::FORMAT);
        let mut new = Self { inner, decoder, progress: Totals::default(), failed: None, kind: PhantomData };
        new.failed = match new.read_header() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            result => result.err(),
        };
        new
    }

    fn read_header(&mut self) -> io::Result<()> {
        while K::FORMAT == Format::Gzip && self.header().is_none() {
            match self.step(&mut []) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => drop(result?),
            }
        }
        Ok(())
    }

    fn step(&mut self, output: &mut [u8]) -> io::Result<Progress> {
        let progress = match self.progress.status {
            // There may be more where the last call stopped, and it must not wait for the reader.
            Some(Status::NeedsOutput) => self.decoder.decompress(&[], output)?,
            _ => self.step_with_input(output)?,
        };
        self.progress.add(progress);
        Ok(progress)
    }

    fn step_with_input(&mut self, output: &mut [u8]) -> io::Result<Progress> {
        let input = self.inner.fill_buf()?;
        let ended = input.is_empty();
        let progress = self.decoder.decompress(input, output)?;
        self.inner.consume(progress.consumed);
        if ended && progress.produced == 0 && progress.status == Status::NeedsInput {
            return Err(unexpected_end(self.progress.consumed));
        }
        Ok(progress)
    }

    /// Goes on with the next member, if there is one; returns whether.
    fn next_member(&mut self) -> io::Result<bool> {
        if !K::REPEATS || self.inner.fill_buf()?.is_empty() {
            return Ok(false);
        }
        self.decoder.reset();
        self.progress.status = None;
        Ok(true)
    }
}

impl<R: BufRead, K: Kind> Read for Decoder<R, K> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while !output.is_empty() {
            if self.progress.status == Some(Status::Done) && !self.next_member()? {
                break;
            }
            let progress = self.step(output)?;
            if progress.produced > 0 {
                return Ok(progress.produced);
            }
        }
        Ok(0)
    }
}

impl<R: fmt::Debug, K: Kind> fmt::Debug for Decoder<R, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("inner", &self.inner)
            .field("decoder", &self.decoder)
            .finish_non_exhaustive()
    }
}
