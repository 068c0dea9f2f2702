//! The decoder.

use crate::container;
use crate::dictionary::Dictionary;
use crate::format::WINDOW;
use crate::inflate::bits::Input;
use crate::inflate::container::{Header, Trailer};
use crate::inflate::{Inflate, Output, Stop};
use crate::{Error, ErrorKind, Format, GzHeader, Kernels, Progress, Status};
use std::fmt;

/// Decompresses bodies, one after another, whole or in pieces.
pub struct Decoder {
    format: Format,
    kernels: &'static Kernels,
    dictionary: Option<Dictionary>,
    stage: Stage,
    header: Header,
    inflate: Box<Inflate>,
    trailer: Trailer,
    checksum: u32,
    /// Bytes taken and made since the stream began.
    taken: u64,
    made: u64,
    /// Of a stream in pieces: the window and what was decoded after it.
    window: Vec<u8>,
    /// Up to where the window is decoded, and up to where that was given out.
    filled: usize,
    delivered: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Header,
    Body,
    Trailer,
    Done,
    Failed(Error),
}

/// Bytes of a stream in pieces that are decoded before older ones are dropped.
const WINDOWS: usize = 2 * WINDOW + 1024;

impl Decoder {
    /// A decoder with the best kernels for this CPU.
    pub fn new(format: Format) -> Self {
        Self::with_kernels(format, Kernels::detect())
    }

    /// A decoder with the given kernels.
    pub fn with_kernels(format: Format, kernels: &'static Kernels) -> Self {
        Self {
            format,
            kernels,
            dictionary: None,
            stage: Stage::Header,
            header: Header::new(format),
            inflate: Box::new(Inflate::new()),
            trailer: Trailer::default(),
            checksum: container::seed(format),
            taken: 0,
            made: 0,
            window: Vec::new(),
            filled: 0,
            delivered: 0,
        }
    }

    /// Appends the body that the whole stream `input` stands for to `out`; returns how many bytes of `input` the stream
    /// has.
    ///
    /// Of gzip, all members that follow each other directly are decoded. What comes after the stream is not looked at.
    /// A stream that was under way is dropped.
    ///
    /// # Errors
    ///
    /// What is wrong with the stream, or [`ErrorKind::LimitExceeded`] if the body has more than `limit` bytes.
    /// `out` then holds what it held before and a part of the body.
    pub fn decode(&mut self, input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<usize, Error> {
        let start = out.len();
        let mut input = Input { bytes: input, taken: 0 };
        loop {
            self.reset();
            let before = input.taken;
            let member = self.decode_member(&mut input, out, limit - (out.len() - start));
            member.map_err(|error| error.after(before))?;
            let more = input.bytes[input.taken..].starts_with(&[0x1f, 0x8b]);
            if self.format != Format::Gzip || !more {
                self.reset();
                return Ok(input.taken);
            }
        }
    }

    /// Takes from `input` and writes to `output` as much as goes.
    ///
    /// [`Status::Done`] comes at the end of the stream, of gzip at the end of each member: [`Decoder::reset`] and go on
    /// with the rest of the input to read the next one.
    ///
    /// # Errors
    ///
    /// What is wrong with the stream; the same again for each further call.
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        let mut input = Input { bytes: input, taken: 0 };
        let mut produced = 0;
        let status = loop {
            produced += self.deliver(&mut output[produced..]);
            if self.delivered < self.filled {
                break Status::NeedsOutput;
            }
            if self.stage == Stage::Body {
                self.begin_window();
                self.make_room();
                let mut window = std::mem::take(&mut self.window);
                let filled = self.filled;
                let mut room = Output { bytes: &mut window, filled };
                let stop = self.body(&mut input, &mut room);
                self.filled = room.filled;
                self.window = window;
                if stop == Ok(Stop::Input) && self.filled == filled {
                    break Status::NeedsInput;
                }
                continue;
            }
            match self.around(&mut input) {
                Ok(None) => {}
                Ok(Some(status)) => break status,
                // What came before the error is given out first.
                Err(_) if produced > 0 => break Status::NeedsOutput,
                Err(error) => return Err(error),
            }
        };
        Ok(Progress { consumed: input.taken, produced, status })
    }

    /// Drops the stream under way; the next call begins a new one. Memory is kept.
    pub fn reset(&mut self) {
        self.stage = Stage::Header;
        self.header = Header::new(self.format);
        self.inflate.restart();
        self.trailer = Trailer::default();
        self.checksum = container::seed(self.format);
        (self.taken, self.made) = (0, 0);
        (self.filled, self.delivered) = (0, 0);
    }

    /// Sets the preset dictionary, for raw streams that begin after this and for zlib streams that want one; none is `&[]`.
    ///
    /// After [`ErrorKind::NeedsDictionary`] or [`ErrorKind::WrongDictionary`] of a stream in pieces, the right one lets it go
    /// on, with the input from the error's position on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoDictionary`] if the format is gzip.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<(), Error> {
        let new = Dictionary::new(self.format, self.kernels, dictionary)?;
        self.dictionary = (!dictionary.is_empty()).then_some(new);
        if let Stage::Failed(error) = self.stage
            && let ErrorKind::NeedsDictionary(_) | ErrorKind::WrongDictionary(_) = error.kind()
        {
            self.stage = Stage::Body;
            // What is still wrong is the error of the next call.
            let _ = self.check_dictionary();
        }
        Ok(())
    }

    /// The header of the gzip member that is decoded in pieces, once it is complete and until [`Decoder::reset`].
    ///
    /// It is kept in no more than three times [`GzHeader::KEPT`] bytes.
    pub fn gzip_header(&self) -> Option<&GzHeader> {
        let there = self.format == Format::Gzip && self.header.is_complete();
        there.then_some(self.header.gzip())
    }

    /// The kernels in use.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    fn decode_member(&mut self, input: &mut Input, out: &mut Vec<u8>, limit: usize) -> Result<(), Error> {
        self.decode_around(input)?;
        let (start, history) = (out.len(), self.history());
        let before = history.len();
        out.extend_from_slice(history);
        let result = self.decode_body(input, out, start, limit.saturating_add(before));
        out.drain(start..start + before);
        result?;
        self.decode_around(input)
    }

    /// Decodes header or trailer, which must be there.
    fn decode_around(&mut self, input: &mut Input) -> Result<(), Error> {
        while self.stage != Stage::Body {
            match self.around(input)? {
                None => {}
                Some(Status::Done) => break,
                Some(_) => return Err(Error::new(ErrorKind::UnexpectedEnd, self.taken)),
            }
        }
        Ok(())
    }

    /// Decodes the body, which must be there, to the end of `out`. Matches may reach back to `start`.
    fn decode_body(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        start: usize,
        limit: usize,
    ) -> Result<(), Error> {
        while self.stage == Stage::Body {
            let filled = out.len() - start;
            let room = self.guess(input).max(filled).min(limit - filled);
            out.resize(out.len() + room, 0);
            let mut output = Output { bytes: &mut out[start..], filled };
            let stop = self.body(input, &mut output);
            let filled = output.filled;
            out.truncate(start + filled);
            match stop? {
                Stop::Input => return Err(Error::new(ErrorKind::UnexpectedEnd, self.taken)),
                Stop::Output if filled == limit => {
                    return Err(Error::new(ErrorKind::LimitExceeded, self.taken));
                }
                Stop::Output | Stop::End => {}
            }
        }
        Ok(())
    }

    /// How much room to make for the output at first: what the last four bytes of gzip say, if that is likely.
    fn guess(&self, input: &Input) -> usize {
        let rest = input.bytes.len() - input.taken;
        let stated = input.bytes.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        // The margin lets the fast loop run to the end.
        if self.format == Format::Gzip && (rest..16 * rest).contains(&stated) {
            stated + 512
        } else {
            4 * rest + 512
        }
    }

    /// Decodes DEFLATE data, keeping count.
    fn body(&mut self, input: &mut Input, output: &mut Output) -> Result<Stop, Error> {
        let (taken, filled) = (input.taken, output.filled);
        let stop = self.inflate.run(self.kernels, input, output);
        self.taken += (input.taken - taken) as u64;
        let made = &output.bytes[filled..output.filled];
        self.made += made.len() as u64;
        self.checksum = container::checksum(self.format, self.kernels, self.checksum, made);
        match stop {
            Ok(Stop::End) => self.stage = Stage::Trailer,
            Ok(_) => {}
            Err(kind) => return Err(self.fail(kind)),
        }
        stop.map_err(|kind| self.fail(kind))
    }

    /// Reads header or trailer; returns a status when that cannot go on.
    fn around(&mut self, input: &mut Input) -> Result<Option<Status>, Error> {
        let taken = input.taken;
        let complete = match self.stage {
            Stage::Header => self.header.read(self.kernels, input),
            Stage::Trailer => self.trailer.read(self.format, self.checksum, self.made, input),
            Stage::Body => return Ok(None),
            Stage::Done => return Ok(Some(Status::Done)),
            Stage::Failed(error) => return Err(error),
        };
        self.taken += (input.taken - taken) as u64;
        if !complete.map_err(|kind| self.fail(kind))? {
            return Ok(Some(Status::NeedsInput));
        }
        if self.stage == Stage::Header {
            self.stage = Stage::Body;
            self.check_dictionary()?;
        } else {
            self.stage = Stage::Done;
        }
        Ok(None)
    }

    /// Fails unless the dictionary that the header names, if any, is set.
    fn check_dictionary(&mut self) -> Result<(), Error> {
        match (self.header.dictionary(), &self.dictionary) {
            (Some(id), None) => Err(self.fail(ErrorKind::NeedsDictionary(id))),
            (Some(id), Some(set)) if set.id() != id => Err(self.fail(ErrorKind::WrongDictionary(id))),
            _ => Ok(()),
        }
    }

    /// What the stream may refer to as if it came before.
    fn history(&self) -> &[u8] {
        let used = self.format == Format::Raw || self.header.dictionary().is_some();
        self.dictionary.as_ref().filter(|_| used).map_or(&[], Dictionary::bytes)
    }

    /// Puts the dictionary into the window, before a stream's first byte.
    fn begin_window(&mut self) {
        let len = self.history().len();
        if self.filled > 0 || len == 0 {
            return;
        }
        self.window.resize(WINDOWS, 0);
        let mut window = std::mem::take(&mut self.window);
        window[..len].copy_from_slice(self.history());
        self.window = window;
        (self.filled, self.delivered) = (len, len);
    }

    fn fail(&mut self, kind: ErrorKind) -> Error {
        let error = Error::new(kind, self.taken);
        self.stage = Stage::Failed(error);
        error
    }

    /// Moves decoded bytes to the output.
    fn deliver(&mut self, output: &mut [u8]) -> usize {
        let ready = &self.window[self.delivered..self.filled];
        let count = ready.len().min(output.len());
        output[..count].copy_from_slice(&ready[..count]);
        self.delivered += count;
        count
    }

    /// Drops bytes that no match can reach, all delivered, when the window is full.
    fn make_room(&mut self) {
        self.window.resize(WINDOWS, 0);
        if self.filled == WINDOWS {
            self.window.copy_within(WINDOWS - WINDOW.., 0);
            (self.filled, self.delivered) = (WINDOW, WINDOW);
        }
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("format", &self.format)
            .field("kernels", &self.kernels)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
