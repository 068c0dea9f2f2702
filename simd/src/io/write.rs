//! Writers: what is written to them comes out of the inner writer compressed, or decompressed.
//!
//! ```
//! use laneflate_simd::{Compression, write};
//! use std::io::Write;
//!
//! let mut encoder = write::GzEncoder::new(Vec::new(), Compression::default());
//! encoder.write_all(b"hello, hello, hello")?;
//! let coded = encoder.finish()?;
//!
//! let mut decoder = write::GzDecoder::new(Vec::new());
//! decoder.write_all(&coded)?;
//! assert_eq!(decoder.finish()?, b"hello, hello, hello");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `flush` ends a block, so that the other end can have all that was written so far. Dropping an adapter finishes it, and
//! ignores errors; call `finish` to see them.
//!
//! When the inner writer fails, or would block, nothing is lost: call again.

use super::kind::{self, Kind};
use super::outbox::Outbox;
use super::unexpected_end;
use crate::{Flush, GzHeader, Level, Progress, Status};
use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;

/// Writes a gzip member.
pub type GzEncoder<W> = Encoder<W, kind::Gzip>;
/// Writes a zlib stream.
pub type ZlibEncoder<W> = Encoder<W, kind::Zlib>;
/// Writes DEFLATE data alone.
pub type DeflateEncoder<W> = Encoder<W, kind::Deflate>;
/// Decodes a gzip member. Of bytes after it, `write` takes none.
pub type GzDecoder<W> = Decoder<W, kind::Gzip>;
/// Decodes gzip members, one after another.
pub type MultiGzDecoder<W> = Decoder<W, kind::Members>;
/// Decodes a zlib stream. Of bytes after it, `write` takes none.
pub type ZlibDecoder<W> = Decoder<W, kind::Zlib>;
/// Decodes DEFLATE data. Of bytes after it, `write` takes none.
pub type DeflateDecoder<W> = Decoder<W, kind::Deflate>;

/// Compresses what is written to it.
pub struct Encoder<W: Write, K: Kind> {
    /// Until it is given back.
    inner: Option<W>,
    encoder: crate::Encoder,
    outbox: Outbox,
    total_in: u64,
    total_out: u64,
    kind: PhantomData<K>,
}

impl<W: Write, K: Kind> Encoder<W, K> {
    /// An encoder that writes to `inner`.
    pub fn new(inner: W, level: impl Into<Level>) -> Self {
        Self::with_encoder(inner, crate::Encoder::new(K::FORMAT, level.into()))
    }

    pub(super) fn with_encoder(inner: W, encoder: crate::Encoder) -> Self {
        let (inner, outbox) = (Some(inner), Outbox::new());
        Self { inner, encoder, outbox, total_in: 0, total_out: 0, kind: PhantomData }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        self.inner.as_ref().expect(PRESENT)
    }

    /// The inner writer. What is written to it stands in the middle of the stream.
    pub fn get_mut(&mut self) -> &mut W {
        self.inner.as_mut().expect(PRESENT)
    }

    /// Ends the stream, and writes what is left of it. After an error, call it again.
    ///
    /// # Errors
    ///
    /// What the inner writer says.
    pub fn try_finish(&mut self) -> io::Result<()> {
        while self.step(&[], Flush::Finish)?.status != Status::Done {}
        self.send()
    }

    /// Ends the stream and gives the inner writer back.
    ///
    /// # Errors
    ///
    /// What the inner writer says.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner.take().expect(PRESENT))
    }

    /// Ends the stream, and begins a new one on `inner`; returns the writer before. Memory is kept.
    ///
    /// # Errors
    ///
    /// What the writer before says; it stays.
    pub fn reset(&mut self, inner: W) -> io::Result<W> {
        self.try_finish()?;
        self.encoder.reset();
        (self.total_in, self.total_out) = (0, 0);
        Ok(self.inner.replace(inner).expect(PRESENT))
    }

    /// Bytes taken so far.
    pub fn total_in(&self) -> u64 {
        self.total_in
    }

    /// Bytes made of them so far, some of which may not be written yet.
    pub fn total_out(&self) -> u64 {
        self.total_out
    }

    fn step(&mut self, input: &[u8], flush: Flush) -> io::Result<Progress> {
        let Self { inner, encoder, outbox, .. } = self;
        let inner = inner.as_mut().expect(PRESENT);
        let fill = |room: &mut [u8]| encoder.compress(input, room, flush).map(|done| (done.produced, done));
        let progress = outbox.refill(inner, fill)?;
        self.total_in += progress.consumed as u64;
        self.total_out += progress.produced as u64;
        Ok(progress)
    }

    fn send(&mut self) -> io::Result<()> {
        self.outbox.send(self.inner.as_mut().expect(PRESENT))
    }
}

impl<W: Write, K: Kind> Write for Encoder<W, K> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let progress = self.step(bytes, Flush::None)?;
            if progress.consumed > 0 || progress.status != Status::NeedsOutput {
                return Ok(progress.consumed);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.step(&[], Flush::Sync)?.status == Status::NeedsOutput {}
        self.send()?;
        self.get_mut().flush()
    }
}

impl<W: Write, K: Kind> Drop for Encoder<W, K> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            let _ = self.try_finish();
        }
    }
}

impl<W: Write + fmt::Debug, K: Kind> fmt::Debug for Encoder<W, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("inner", &self.inner)
            .field("encoder", &self.encoder)
            .finish_non_exhaustive()
    }
}

/// Decompresses what is written to it.
pub struct Decoder<W: Write, K: Kind> {
    /// Until it is given back.
    inner: Option<W>,
    decoder: crate::Decoder,
    outbox: Outbox,
    total_in: u64,
    total_out: u64,
    done: bool,
    kind: PhantomData<K>,
}

impl<W: Write, K: Kind> Decoder<W, K> {
    /// A decoder that writes to `inner`.
    pub fn new(inner: W) -> Self {
        Self {
            inner: Some(inner),
            decoder: crate::Decoder::new(K::FORMAT),
            outbox: Outbox::new(),
            total_in: 0,
            total_out: 0,
            done: false,
            kind: PhantomData,
        }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        self.inner.as_ref().expect(PRESENT)
    }

    /// The inner writer.
    pub fn get_mut(&mut self) -> &mut W {
        self.inner.as_mut().expect(PRESENT)
    }

    /// Of gzip: the header of the member, once it is complete.
    pub fn header(&self) -> Option<&GzHeader> {
        self.decoder.gzip_header()
    }

    /// Writes what is decoded, and checks that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] if it has not; what the inner writer says.
    pub fn try_finish(&mut self) -> io::Result<()> {
        self.drain()?;
        if self.done { Ok(()) } else { Err(unexpected_end(self.total_in)) }
    }

    /// Does as [`Decoder::try_finish`], and gives the inner writer back.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner.take().expect(PRESENT))
    }

    /// Writes what is decoded, and begins a new stream on `inner`; returns the writer before. Memory is kept.
    ///
    /// # Errors
    ///
    /// As [`Decoder::try_finish`]; the writer before stays.
    pub fn reset(&mut self, inner: W) -> io::Result<W> {
        self.try_finish()?;
        self.decoder.reset();
        self.done = false;
        (self.total_in, self.total_out) = (0, 0);
        Ok(self.inner.replace(inner).expect(PRESENT))
    }

    /// Bytes taken so far.
    pub fn total_in(&self) -> u64 {
        self.total_in
    }

    /// Bytes made of them so far, some of which may not be written yet.
    pub fn total_out(&self) -> u64 {
        self.total_out
    }

    fn step(&mut self, input: &[u8]) -> io::Result<Progress> {
        let Self { inner, decoder, outbox, .. } = self;
        let inner = inner.as_mut().expect(PRESENT);
        let fill = |room: &mut [u8]| decoder.decompress(input, room).map(|done| (done.produced, done));
        let progress = outbox.refill(inner, fill)?;
        self.total_in += progress.consumed as u64;
        self.total_out += progress.produced as u64;
        self.done = progress.status == Status::Done;
        Ok(progress)
    }

    /// Writes all that can be decoded.
    fn drain(&mut self) -> io::Result<()> {
        while self.step(&[])?.status == Status::NeedsOutput {}
        self.outbox.send(self.inner.as_mut().expect(PRESENT))
    }
}

impl<W: Write, K: Kind> Write for Decoder<W, K> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            if K::REPEATS && self.done && !bytes.is_empty() {
                self.decoder.reset();
                self.done = false;
            }
            let progress = self.step(bytes)?;
            if progress.consumed > 0 || progress.status != Status::NeedsOutput {
                return Ok(progress.consumed);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.get_mut().flush()
    }
}

impl<W: Write, K: Kind> Drop for Decoder<W, K> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            let _ = self.drain();
        }
    }
}

impl<W: Write + fmt::Debug, K: Kind> fmt::Debug for Decoder<W, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("inner", &self.inner)
            .field("decoder", &self.decoder)
            .finish_non_exhaustive()
    }
}

/// The inner writer is only taken by what consumes the adapter.
const PRESENT: &str = "an adapter in use has its writer";
