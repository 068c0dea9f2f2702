//! DEFLATE, from bits to a body.
//!
//! One state machine that can stop between any two symbols, for want of input or of output. Where there is plenty of
//! both, [`fast`] takes over.

pub(crate) mod bits;
pub(crate) mod container;
pub(crate) mod fast;
pub(crate) mod table;

use crate::format::{
    DISTANCE_SYMBOLS, END_OF_BLOCK, FIXED_DISTANCE_LENGTHS, FIXED_LITLEN_LENGTHS, LITLEN_SYMBOLS,
    PRECODE_ORDER, PRECODE_SYMBOLS, REPEAT_LAST, REPEAT_ZERO_SHORT,
};
use crate::{ErrorKind, Kernels};
use bits::{Bits, Input, Starved};
use table::{BadCode, DISTANCE, DistanceTable, LITLEN, LitlenTable, PRECODE, PrecodeTable};

/// Decodes one DEFLATE stream.
pub(crate) struct Inflate {
    pub(crate) bits: Bits,
    state: State,
    last: bool,
    pub(crate) tables: Tables,
    fixed: bool,
    lengths: [u8; LITLEN_SYMBOLS + DISTANCE_SYMBOLS],
}

/// The codes of a block.
pub(crate) struct Tables {
    pub(crate) litlen: LitlenTable,
    pub(crate) distance: DistanceTable,
    precode: PrecodeTable,
}

/// Where the output goes, and what a match may reach.
pub(crate) struct Output<'a> {
    /// History up to `filled`, then room.
    pub(crate) bytes: &'a mut [u8],
    pub(crate) filled: usize,
}

/// Why decoding stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Input,
    Output,
    End,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Block,
    StoredLength,
    Stored { left: usize },
    Counts,
    Precode { counts: Counts, have: usize },
    Lengths { counts: Counts, have: usize },
    Symbols,
    Copy { length: usize, distance: usize },
    End,
}

#[derive(Clone, Copy, Debug)]
struct Counts {
    litlen: usize,
    distance: usize,
    precode: usize,
}

/// Bytes that a repeated code length is stored to at once.
const REPEAT_STORE: usize = 16;

/// What ends a step other than progress.
enum Halt {
    Stop(Stop),
    Error(ErrorKind),
}

impl From<Starved> for Halt {
    fn from(_: Starved) -> Self {
        Self::Stop(Stop::Input)
    }
}

impl From<ErrorKind> for Halt {
    fn from(kind: ErrorKind) -> Self {
        Self::Error(kind)
    }
}

impl Inflate {
    pub(crate) fn new() -> Self {
        Self {
            bits: Bits::default(),
            state: State::Block,
            last: false,
            tables: Tables {
                litlen: LitlenTable::new(),
                distance: DistanceTable::new(),
                precode: PrecodeTable::new(),
            },
            fixed: false,
            lengths: [0; LITLEN_SYMBOLS + DISTANCE_SYMBOLS],
        }
    }

    pub(crate) fn restart(&mut self) {
        self.bits = Bits::default();
        self.state = State::Block;
        self.last = false;
    }

    /// Decodes until the input or the output is used up, or the stream ends. At the end, the bits of the last byte are
    /// dropped, and bytes after it given back.
    pub(crate) fn run(
        &mut self,
        kernels: &Kernels,
        input: &mut Input,
        output: &mut Output,
    ) -> Result<Stop, ErrorKind> {
        loop {
            match self.step(kernels, input, output) {
                Ok(()) => {}
                Err(Halt::Stop(stop)) => {
                    if stop != Stop::Input {
                        self.bits.give_back(input);
                    }
                    return Ok(stop);
                }
                Err(Halt::Error(kind)) => {
                    self.bits.give_back(input);
                    return Err(kind);
                }
            }
        }
    }

    fn step(&mut self, kernels: &Kernels, input: &mut Input, output: &mut Output) -> Result<(), Halt> {
        match self.state {
            State::Block => self.block(input)?,
            State::StoredLength => {
                let word = self.bits.take(32, input)?;
                let length = word & 0xffff;
                if length != !word >> 16 {
                    return Err(ErrorKind::StoredLength.into());
                }
                self.bits.give_back(input);
                self.state = State::Stored { left: length as usize };
            }
            State::Stored { left } => self.stored(left, input, output)?,
            State::Counts => {
                let word = self.bits.take(14, input)? as usize;
                let counts = Counts {
                    litlen: 257 + (word & 31),
                    distance: 1 + (word >> 5 & 31),
                    precode: 4 + (word >> 10),
                };
                if counts.litlen > LITLEN_SYMBOLS || counts.distance > DISTANCE_SYMBOLS {
                    return Err(ErrorKind::TooManyCodes.into());
                }
                self.lengths[..PRECODE_SYMBOLS].fill(0);
                self.state = State::Precode { counts, have: 0 };
            }
            State::Precode { counts, have } => self.precode(counts, have, input)?,
            State::Lengths { counts, have } => self.code_lengths(counts, have, input)?,
            State::Symbols => {
                if fast::has_room(input, output) {
                    kernels.inflate(self, input, output)?;
                }
                if matches!(self.state, State::Symbols) {
                    self.symbol(input, output)?;
                }
            }
            State::Copy { length, distance } => self.copy(length, distance, output)?,
            State::End => return Err(Halt::Stop(Stop::End)),
        }
        Ok(())
    }

    fn block(&mut self, input: &mut Input) -> Result<(), Halt> {
        if self.last {
            self.bits.align();
            self.state = State::End;
            return Ok(());
        }
        let word = self.bits.take(3, input)?;
        self.last = word & 1 == 1;
        self.state = match word >> 1 {
            0 => {
                self.bits.align();
                State::StoredLength
            }
            1 => {
                self.build_fixed();
                State::Symbols
            }
            2 => State::Counts,
            _ => return Err(ErrorKind::BadBlockType.into()),
        };
        Ok(())
    }

    fn stored(&mut self, left: usize, input: &mut Input, output: &mut Output) -> Result<(), Halt> {
        if left == 0 {
            self.state = State::Block;
            return Ok(());
        }
        let room = &mut output.bytes[output.filled..];
        if room.is_empty() {
            return Err(Halt::Stop(Stop::Output));
        }
        debug_assert_eq!(self.bits.count, 0, "the length was the last thing read");
        let rest = &input.bytes[input.taken..];
        if rest.is_empty() {
            return Err(Halt::Stop(Stop::Input));
        }
        let count = left.min(room.len()).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        input.taken += count;
        output.filled += count;
        self.state = State::Stored { left: left - count };
        Ok(())
    }

    fn precode(&mut self, counts: Counts, mut have: usize, input: &mut Input) -> Result<(), Halt> {
        while have < counts.precode {
            let length = self.bits.take(3, input)?;
            self.lengths[usize::from(PRECODE_ORDER[have])] = length as u8;
            have += 1;
            self.state = State::Precode { counts, have };
        }
        let lengths = &self.lengths[..PRECODE_SYMBOLS];
        if lengths.iter().all(|&length| length == 0) {
            // zlib reads a length of 0 from each bit of a code without symbols. It ends as badly: without end of block.
            self.tables.precode.fill(PRECODE[0]);
        } else {
            let built = self.tables.precode.build(lengths, &PRECODE, false);
            built.map_err(|BadCode| ErrorKind::BadPrecode)?;
        }
        self.state = State::Lengths { counts, have: 0 };
        Ok(())
    }

    fn code_lengths(&mut self, counts: Counts, mut have: usize, input: &mut Input) -> Result<(), Halt> {
        let total = counts.litlen + counts.distance;
        // In a local, the bits stay in registers.
        let mut bits = self.bits;
        let halt = loop {
            if have == total {
                break None;
            }
            if bits.count < 14 {
                bits.refill(input);
            }
            let entry = self.tables.precode.lookup(bits.buffer);
            let symbol = entry.literal();
            if symbol < REPEAT_LAST {
                if entry.size() > bits.count {
                    break Some(Halt::Stop(Stop::Input));
                }
                bits.skip(entry.size());
                self.lengths[have] = symbol;
                have += 1;
                continue;
            }
            let (least, extra) = match symbol {
                REPEAT_LAST => (3, 2),
                REPEAT_ZERO_SHORT => (3, 3),
                _ => (11, 7),
            };
            if entry.size() + extra > bits.count {
                break Some(Halt::Stop(Stop::Input));
            }
            bits.skip(entry.size());
            let count = least + (bits.buffer & ((1 << extra) - 1)) as usize;
            bits.skip(extra);
            if count > total - have || symbol == REPEAT_LAST && have == 0 {
                break Some(ErrorKind::BadLengthRepeat.into());
            }
            let length = if symbol == REPEAT_LAST { self.lengths[have - 1] } else { 0 };
            // Most repeats are short: a fixed size is one store, and what is too much of it is overwritten.
            if let Some(room) = self.lengths[have..].first_chunk_mut::<REPEAT_STORE>() {
                *room = [length; REPEAT_STORE];
            }
            if count > REPEAT_STORE || total - have < REPEAT_STORE {
                self.lengths[have..have + count].fill(length);
            }
            have += count;
        };
        self.bits = bits;
        self.state = State::Lengths { counts, have };
        if let Some(halt) = halt {
            return Err(halt);
        }
        if self.lengths[END_OF_BLOCK] == 0 {
            return Err(ErrorKind::NoEndOfBlock.into());
        }
        self.fixed = false;
        let (litlen, distance) = self.lengths[..total].split_at(counts.litlen);
        let built = self.tables.litlen.build(litlen, &LITLEN, true);
        built.map_err(|BadCode| ErrorKind::BadLiteralCode)?;
        let built = self.tables.distance.build(distance, &DISTANCE, true);
        built.map_err(|BadCode| ErrorKind::BadDistanceCode)?;
        self.state = State::Symbols;
        Ok(())
    }

    fn build_fixed(&mut self) {
        if self.fixed {
            return;
        }
        let litlen = self.tables.litlen.build(&FIXED_LITLEN_LENGTHS, &LITLEN, false);
        let distance = self.tables.distance.build(&FIXED_DISTANCE_LENGTHS, &DISTANCE, false);
        debug_assert!(litlen.is_ok() && distance.is_ok(), "the fixed codes are complete");
        self.fixed = true;
    }

    /// Decodes one literal, match, or end of block, if all its bits are there.
    fn symbol(&mut self, input: &mut Input, output: &mut Output) -> Result<(), Halt> {
        self.bits.refill(input);
        let Bits { buffer, count } = self.bits;
        let entry = self.tables.litlen.lookup(buffer);
        if entry.size() > count {
            return Err(Halt::Stop(Stop::Input));
        }
        if entry.is_exception() && !entry.is_end() {
            return Err(ErrorKind::BadLiteralSymbol.into());
        }
        if entry.is_exception() {
            self.bits.skip(entry.size());
            self.state = State::Block;
            return Ok(());
        }
        if entry.is_literal() {
            let Some(place) = output.bytes.get_mut(output.filled) else {
                return Err(Halt::Stop(Stop::Output));
            };
            *place = entry.literal();
            output.filled += 1;
            self.bits.skip(entry.size());
            return Ok(());
        }
        let after = buffer >> entry.size();
        let far = self.tables.distance.lookup(after);
        if entry.size() + far.size() > count {
            return Err(Halt::Stop(Stop::Input));
        }
        if far.is_exception() {
            return Err(ErrorKind::BadDistanceSymbol.into());
        }
        let (length, distance) = (entry.value(buffer), far.value(after));
        if distance > output.filled {
            return Err(ErrorKind::DistanceTooFar.into());
        }
        if output.filled == output.bytes.len() {
            return Err(Halt::Stop(Stop::Output));
        }
        self.bits.skip(entry.size() + far.size());
        self.copy(length, distance, output)
    }

    /// Copies a match as far as there is room.
    fn copy(&mut self, length: usize, distance: usize, output: &mut Output) -> Result<(), Halt> {
        let count = length.min(output.bytes.len() - output.filled);
        for at in output.filled..output.filled + count {
            output.bytes[at] = output.bytes[at - distance];
        }
        output.filled += count;
        if count < length {
            let length = length - count;
            self.state = State::Copy { length, distance };
            return Err(Halt::Stop(Stop::Output));
        }
        self.state = State::Symbols;
        Ok(())
    }

    /// The block has ended.
    pub(crate) fn next_block(&mut self) {
        self.state = State::Block;
    }
}
