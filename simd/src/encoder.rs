//! The encoder.

use crate::container;
use crate::deflate::bits::BitWriter;
use crate::deflate::block;
use crate::deflate::body::{self, Body};
use crate::dictionary::Dictionary;
use crate::format::{MAX_STORED, WINDOW};
use crate::{Error, ErrorKind, Flush, Format, GzHeader, Kernels, Level, Progress, Status};
use std::fmt;

/// Compresses bodies, one after another, whole or in pieces.
///
/// What it writes for a body depends on the format, the level and where the stream is flushed; not on the kernels, on
/// how the input and output are cut, or on the bodies before.
pub struct Encoder {
    format: Format,
    level: Level,
    kernels: &'static Kernels,
    gzip: GzHeader,
    dictionary: Option<Dictionary>,
    body: Body,
    stream: Stream,
}

/// What a stream in pieces needs beyond the body's state.
struct Stream {
    stage: Stage,
    /// The window, and after it what is not compressed or not written yet.
    window: Vec<u8>,
    /// Up to where the window is compressed.
    compressed: usize,
    /// Coded bytes that the output had no room for, from `delivered` on.
    pending: Vec<u8>,
    delivered: usize,
    /// The bits of the last, unfinished byte.
    bits: (u8, u8),
    /// The last flush, if nothing came after it.
    flushed: Flush,
    checksum: u32,
    length: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Body,
    Done,
}

/// The most bytes that [`Encoder::encode`] appends for a body of `len` bytes. Fields of a gzip header and the 4 bytes that name a
/// dictionary come on top.
pub const fn bound(format: Format, len: usize) -> usize {
    // No block is larger than stored ones: 3 bits, up to 7 to fill a byte, and 32, of which all but the last of a body
    // hold a chunk at least.
    let blocks = len / body::WHOLE.chunk + 1;
    container::size(format) + len + (blocks * (3 + 7 + 32)).div_ceil(8)
}

// That counts one stored block for each block.
const _: () = assert!(body::WHOLE.block <= MAX_STORED && body::STREAM.block <= MAX_STORED);

impl Encoder {
    /// An encoder with the best kernels for this CPU.
    pub fn new(format: Format, level: Level) -> Self {
        Self::with_kernels(format, level, Kernels::detect())
    }

    /// An encoder with the given kernels. The bytes it writes do not depend on them.
    pub fn with_kernels(format: Format, level: Level, kernels: &'static Kernels) -> Self {
        Self {
            format,
            level,
            kernels,
            gzip: GzHeader::new(),
            dictionary: None,
            body: Body::new(level.plan(), body::WHOLE),
            stream: Stream::new(format),
        }
    }

    /// Appends the compressed form of the whole body `input` to `out`; returns how many bytes that were, at most
    /// [`bound`].
    ///
    /// A stream that was under way is dropped.
    pub fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> usize {
        self.reset();
        let before = out.len();
        self.header(out);
        let fields = out.len() - before;
        let mut writer = BitWriter::new(out, (0, 0));
        match &self.dictionary {
            None => {
                self.body.begin(body::WHOLE, input.len());
                self.body.whole(input, self.kernels, &mut writer);
            }
            Some(dictionary) => {
                let joined = [dictionary.bytes(), input].concat();
                self.body.begin(body::WHOLE, joined.len());
                self.body.prime(dictionary.bytes(), self.kernels);
                self.body.whole(&joined, self.kernels, &mut writer);
            }
        }
        writer.align();
        let seed = container::seed(self.format);
        let checksum = container::checksum(self.format, self.kernels, seed, input);
        container::trailer(self.format, checksum, input.len() as u64, out);
        debug_assert!(out.len() - before <= bound(self.format, input.len()) + fields);
        out.len() - before
    }

    /// Takes from `input` and writes to `output` as much as goes, then does what `flush` says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Finished`] if input comes after [`Flush::Finish`] was done.
    pub fn compress(&mut self, input: &[u8], output: &mut [u8], flush: Flush) -> Result<Progress, Error> {
        let (mut consumed, mut produced) = (0, 0);
        let status = loop {
            produced += self.stream.deliver(&mut output[produced..]);
            if self.stream.delivered < self.stream.pending.len() {
                break Status::NeedsOutput;
            }
            if self.stream.stage == Stage::Done {
                if consumed < input.len() {
                    return Err(Error::new(ErrorKind::Finished, self.stream.length));
                }
                break Status::Done;
            }
            if self.stream.stage == Stage::Header {
                // Its length is not known; the window is all that need be found.
                self.body.begin(body::STREAM, WINDOW);
                let mut pending = std::mem::take(&mut self.stream.pending);
                self.header(&mut pending);
                self.stream.pending = pending;
                if let Some(dictionary) = &self.dictionary {
                    self.body.prime(dictionary.bytes(), self.kernels);
                    self.stream.window.extend_from_slice(dictionary.bytes());
                    self.stream.compressed = dictionary.bytes().len();
                }
                self.stream.stage = Stage::Body;
                continue;
            }
            consumed += self.take(&input[consumed..]);
            if self.stream.uncompressed() == body::STREAM.chunk {
                self.compress_chunk();
                continue;
            }
            if !self.stream.is_due(flush) {
                break Status::NeedsInput;
            }
            self.flush(flush);
        };
        Ok(Progress { consumed, produced, status })
    }

    /// Drops the stream under way; the next call begins a new one. Memory is kept.
    pub fn reset(&mut self) {
        self.body.restart(self.stream.window.len());
        self.stream.restart(self.format);
    }

    /// Sets the header of the gzip members that begin after this; other formats have none.
    pub fn set_gzip_header(&mut self, header: GzHeader) {
        self.gzip = header;
    }

    /// Sets the preset dictionary of the bodies that begin after this, of which the last 32 KiB are used; none is `&[]`.
    /// A decoder needs the same one. [`Flush::Full`] forgets it with all history.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoDictionary`] if the format is gzip.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<(), Error> {
        let new = Dictionary::new(self.format, self.kernels, dictionary)?;
        self.dictionary = (!dictionary.is_empty()).then_some(new);
        Ok(())
    }

    /// The level given to [`Encoder::new`].
    pub fn level(&self) -> Level {
        self.level
    }

    /// The kernels in use.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    fn header(&self, out: &mut Vec<u8>) {
        let id = self.dictionary.as_ref().map(Dictionary::id);
        container::header(self.format, self.level, &self.gzip, id, out);
    }

    /// Takes input up to a full chunk.
    fn take(&mut self, input: &[u8]) -> usize {
        let stream = &mut self.stream;
        let wanted = body::STREAM.chunk - stream.uncompressed();
        let part = &input[..input.len().min(wanted)];
        if stream.window.len() + part.len() > WINDOW + body::STREAM.block {
            let excess = stream.compressed - WINDOW;
            stream.window.drain(..excess);
            stream.compressed -= excess;
            self.body.slide(excess);
        }
        stream.window.extend_from_slice(part);
        stream.checksum = container::checksum(self.format, self.kernels, stream.checksum, part);
        stream.length += part.len() as u64;
        if !part.is_empty() {
            stream.flushed = Flush::None;
        }
        part.len()
    }

    fn compress_chunk(&mut self) {
        let stream = &mut self.stream;
        let mut writer = BitWriter::new(&mut stream.pending, stream.bits);
        let end = stream.window.len();
        self.body.chunk(&stream.window, end, self.kernels, &mut writer);
        stream.bits = writer.suspend();
        stream.compressed = end;
    }

    fn flush(&mut self, flush: Flush) {
        if self.stream.uncompressed() > 0 {
            self.compress_chunk();
        }
        let stream = &mut self.stream;
        let last = flush == Flush::Finish;
        let mut writer = BitWriter::new(&mut stream.pending, stream.bits);
        self.body.end_block(&stream.window, last, self.kernels, &mut writer);
        if last {
            writer.align();
        } else {
            block::write_stored(&mut writer, &[], false);
        }
        stream.bits = writer.suspend();
        stream.flushed = flush;
        if flush == Flush::Full {
            self.body.restart(stream.window.len());
            stream.window.clear();
            stream.compressed = 0;
        }
        if last {
            container::trailer(self.format, stream.checksum, stream.length, &mut stream.pending);
            stream.stage = Stage::Done;
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("format", &self.format)
            .field("level", &self.level)
            .field("kernels", &self.kernels)
            .finish_non_exhaustive()
    }
}

impl Stream {
    fn new(format: Format) -> Self {
        Self {
            stage: Stage::Header,
            window: Vec::new(),
            compressed: 0,
            pending: Vec::new(),
            delivered: 0,
            bits: (0, 0),
            flushed: Flush::None,
            checksum: container::seed(format),
            length: 0,
        }
    }

    fn restart(&mut self, format: Format) {
        self.window.clear();
        self.pending.clear();
        *self = Self {
            window: std::mem::take(&mut self.window),
            pending: std::mem::take(&mut self.pending),
            ..Self::new(format)
        };
    }

    fn uncompressed(&self) -> usize {
        self.window.len() - self.compressed
    }

    /// Whether the flush would do more than the last one did.
    fn is_due(&self, flush: Flush) -> bool {
        match flush {
            Flush::None => false,
            Flush::Sync => self.flushed == Flush::None,
            Flush::Full => self.flushed != Flush::Full,
            Flush::Finish => true,
        }
    }

    /// Moves pending bytes to the output.
    fn deliver(&mut self, output: &mut [u8]) -> usize {
        let pending = &self.pending[self.delivered..];
        let count = pending.len().min(output.len());
        output[..count].copy_from_slice(&pending[..count]);
        self.delivered += count;
        if self.delivered == self.pending.len() {
            self.pending.clear();
            self.delivered = 0;
        }
        count
    }
}
