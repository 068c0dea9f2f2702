//! Decoding tables: from the next bits to a symbol, with its value and its extra bits.
//!
//! The first lookup takes up to 11 (literals and lengths) or 8 (distances) bits. Longer codes go on in a subtable,
//! as in libdeflate: as small as the codes with the same first bits allow.

use crate::format::{DISTANCE_SLOTS, END_OF_BLOCK, LENGTH_SLOTS, MAX_CODE_BITS, MAX_PRECODE_BITS};
use crate::raw::Unchecked;

/// What a lookup finds.
///
/// ```text
/// bit 31     literal
/// bits 16..  literal: the byte; match: least length or distance; subtable: where it begins
/// bit 15     exception: neither literal nor match
/// bit 14     exception: subtable
/// bit 13     exception: end of block (and if neither: no symbol)
/// bits 8..12 bits of the code; subtable: bits of its index
/// bits 0..8  bits of the code and the extra bits
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Entry(u32);

const LITERAL: u32 = 1 << 31;
const EXCEPTION: u32 = 1 << 15;
const SUBTABLE: u32 = 1 << 14;
const END: u32 = 1 << 13;

impl Entry {
    #[inline(always)]
    pub(crate) const fn is_literal(self) -> bool {
        self.0 & LITERAL != 0
    }

    #[inline(always)]
    pub(crate) const fn is_exception(self) -> bool {
        self.0 & EXCEPTION != 0
    }

    #[inline(always)]
    pub(crate) const fn is_subtable(self) -> bool {
        self.0 & SUBTABLE != 0
    }

    #[inline(always)]
    pub(crate) const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    #[inline(always)]
    pub(crate) const fn literal(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// The length or distance, its extra bits taken from `bits`, which begin with the code.
    #[inline(always)]
    pub(crate) const fn value(self, bits: u64) -> usize {
        self.value_with(bits & ((1 << self.size()) - 1))
    }

    /// The length or distance, of which `bits` are the code and the extra bits.
    #[inline(always)]
    pub(crate) const fn value_with(self, bits: u64) -> usize {
        ((self.0 >> 16) as u64 + (bits >> (self.0 >> 8 & 63))) as usize
    }

    /// Bits of the code and the extra bits.
    #[inline(always)]
    pub(crate) const fn size(self) -> u32 {
        self.0 & 63
    }

    /// The whole entry; [`Entry::size`] in its low eight bits.
    #[inline(always)]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// This symbol with a code of `bits` bits.
    const fn with_code(self, bits: usize) -> Self {
        Self(self.0 + (bits as u32) * 0x101)
    }

    const fn invalid() -> Self {
        Self(EXCEPTION)
    }

    const fn subtable(start: usize, bits: usize) -> Self {
        Self((start as u32) << 16 | EXCEPTION | SUBTABLE | (bits as u32) << 8)
    }
}

/// The bits of the first lookup, at most.
pub(crate) const LITLEN_BITS: usize = 11;
pub(crate) const DISTANCE_BITS: usize = 8;
const PRECODE_BITS: usize = MAX_PRECODE_BITS;

/// A table that is first indexed by as many bits as the longest code has, from `LEAST` to `BITS`; `SIZE` includes the
/// largest subtables.
///
/// Fewer are faster to fill, but a fixed number keeps a register of the hot loop free.
#[derive(Clone)]
pub(crate) struct Table<const LEAST: usize, const BITS: usize, const SIZE: usize> {
    entries: [Entry; SIZE],
    /// The bits of the first lookup.
    bits: u32,
}

// The sizes are what zlib's `examples/enough.c` computes for 288 or 32 symbols, 15 bits and this first index.
pub(crate) type LitlenTable = Table<1, LITLEN_BITS, 2342>;
pub(crate) type DistanceTable = Table<DISTANCE_BITS, DISTANCE_BITS, 402>;
pub(crate) type PrecodeTable = Table<PRECODE_BITS, PRECODE_BITS, 128>;

/// A code that is over-subscribed, or leaves bits unused.
pub(crate) struct BadCode;

impl<const LEAST: usize, const BITS: usize, const SIZE: usize> Table<LEAST, BITS, SIZE> {
    pub(crate) const fn new() -> Self {
        Self { entries: [Entry(0); SIZE], bits: LEAST as u32 }
    }

    /// The entry for the next bits, of which more may be set than there are.
    #[inline(always)]
    pub(crate) fn lookup(&self, bits: u64) -> Entry {
        let index = bits & ((1 << self.bits) - 1);
        // SAFETY: as many bits as the table is indexed by.
        let first = unsafe { self.first(index) };
        if first.is_subtable() { self.second(first, bits) } else { first }
    }

    /// How many bits the first lookup takes.
    #[inline(always)]
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// What the first lookup finds, which may be a subtable.
    ///
    /// # Safety
    ///
    /// `index` has no more than [`Table::bits`].
    #[inline(always)]
    pub(crate) unsafe fn first(&self, index: u64) -> Entry {
        const { assert!(SIZE >= 1 << BITS) };
        debug_assert!(self.bits as usize <= BITS && index < 1 << self.bits);
        // SAFETY: of what the caller vouches for there are BITS at most.
        unsafe { self.entries.at(index as usize) }
    }

    /// What the subtable `first` has for the bits, which begin with those of the first lookup.
    #[inline(always)]
    pub(crate) fn second(&self, first: Entry, bits: u64) -> Entry {
        let mask = (1 << (first.0 >> 8 & 31)) - 1;
        self.entries[(first.0 >> 16) as usize + (bits >> BITS & mask) as usize]
    }

    /// Builds the table of the code with these lengths. As in zlib, the code must be complete, or have a single symbol
    /// with one bit, or (where `may_be_empty`) none.
    pub(crate) fn build(
        &mut self,
        lengths: &[u8],
        symbols: &[Entry],
        may_be_single: bool,
    ) -> Result<(), BadCode> {
        let mut counts = [0usize; MAX_CODE_BITS + 1];
        for (_, chunk) in used_chunks(lengths) {
            for &length in chunk {
                counts[usize::from(length)] += 1;
            }
        }
        counts[0] = 0;
        let mut space = 1usize << MAX_CODE_BITS;
        for (length, count) in counts.iter().enumerate() {
            space = space.checked_sub(count << (MAX_CODE_BITS - length)).ok_or(BadCode)?;
        }
        if space > 0 {
            return self.build_incomplete(lengths, symbols, counts, may_be_single);
        }

        // The symbols by the length of their codes; unused ones come last, so that none takes a branch.
        let mut sorted = [Entry(0); 288];
        let mut offsets = [0; MAX_CODE_BITS + 1];
        let mut used = 0;
        for length in 1..=MAX_CODE_BITS {
            offsets[length] = used;
            used += counts[length];
        }
        offsets[0] = used;
        for (first, chunk) in used_chunks(lengths) {
            for (&length, &symbol) in chunk.iter().zip(&symbols[first..]) {
                let place = &mut offsets[usize::from(length)];
                sorted[*place] = symbol;
                *place += 1;
            }
        }

        let longest = counts.iter().rposition(|&count| count > 0).unwrap_or(1);
        self.bits = longest.clamp(LEAST, BITS) as u32;
        let mut sorted = sorted[..used].iter().copied();
        // Codes count up from their first bit, so reversed ones count down from the highest. What is filled already is
        // a table for codes of one bit less; a second copy makes it one for the next length.
        let mut code = 0usize;
        let mut filled = 1;
        for (length, &count) in counts.iter().enumerate().take(self.bits as usize + 1).skip(1) {
            self.entries.copy_within(..filled, filled);
            filled *= 2;
            for symbol in sorted.by_ref().take(count) {
                self.entries[code] = symbol.with_code(length);
                code = next_code(code, length);
            }
        }
        let mut prefix = usize::MAX;
        let (mut start, mut end) = (0, filled);
        for length in BITS + 1..=MAX_CODE_BITS {
            for left in (1..=counts[length]).rev() {
                if code & (filled - 1) != prefix {
                    prefix = code & (filled - 1);
                    let bits = subtable_bits(&counts, length, left, BITS);
                    start = end;
                    end += 1 << bits;
                    self.entries[prefix] = Entry::subtable(start, bits);
                }
                let Some(symbol) = sorted.next() else { break };
                let places = self.entries[start + (code >> BITS)..end].iter_mut();
                for place in places.step_by(1 << (length - BITS)) {
                    *place = symbol.with_code(length);
                }
                code = next_code(code, length);
            }
        }
        Ok(())
    }

    /// Makes each single bit mean `symbol`.
    pub(crate) fn fill(&mut self, symbol: Entry) {
        self.bits = LEAST as u32;
        self.entries[..1 << LEAST].fill(symbol.with_code(1));
    }

    fn build_incomplete(
        &mut self,
        lengths: &[u8],
        symbols: &[Entry],
        mut counts: [usize; MAX_CODE_BITS + 1],
        may_be_single: bool,
    ) -> Result<(), BadCode> {
        let single = std::mem::take(&mut counts[1]) == 1;
        if !may_be_single || counts.iter().any(|&count| count > 0) {
            return Err(BadCode);
        }
        self.fill(Entry::invalid());
        if single {
            let symbol = lengths.iter().position(|&length| length == 1).unwrap_or_default();
            let places = self.entries[..1 << LEAST].iter_mut().step_by(2);
            places.for_each(|place| *place = symbols[symbol].with_code(1));
        }
        Ok(())
    }
}

/// Runs of eight lengths, with the symbol of the first, except for those that are all 0: of text, most are.
fn used_chunks(lengths: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let chunks = lengths.chunks(8).enumerate().map(|(index, chunk)| (8 * index, chunk));
    chunks.filter(|(_, chunk)| *chunk != [0; 8])
}

/// The next code of the same length or longer, bits reversed: adds one at the highest bit, carrying downwards.
fn next_code(code: usize, length: usize) -> usize {
    let free = !code & ((1 << length) - 1);
    if free == 0 {
        return 0;
    }
    let bit = 1 << free.ilog2();
    code & (bit - 1) | bit
}

/// How many bits after the first `first` index the subtable of a code of `length` bits, of which `left` are not placed
/// yet: as many as it takes until longer codes fill it up.
fn subtable_bits(counts: &[usize], length: usize, left: usize, first: usize) -> usize {
    let mut bits = length - first;
    let mut used = left;
    while used < 1 << bits && first + bits < MAX_CODE_BITS {
        bits += 1;
        used = 2 * used + counts[first + bits];
    }
    bits
}

/// The symbols of literals and lengths.
pub(crate) static LITLEN: [Entry; 288] = {
    let mut entries = [Entry::invalid(); 288];
    let mut symbol = 0;
    while symbol < 288 {
        if symbol < END_OF_BLOCK {
            entries[symbol] = Entry(LITERAL | (symbol as u32) << 16);
        } else if symbol == END_OF_BLOCK {
            entries[symbol] = Entry(EXCEPTION | END);
        } else if symbol - 257 < LENGTH_SLOTS.len() {
            let slot = LENGTH_SLOTS[symbol - 257];
            entries[symbol] = Entry((slot.base as u32) << 16 | slot.extra as u32);
        }
        symbol += 1;
    }
    entries
};

/// The symbols of distances.
pub(crate) static DISTANCE: [Entry; 32] = {
    let mut entries = [Entry::invalid(); 32];
    let mut symbol = 0;
    while symbol < DISTANCE_SLOTS.len() {
        let slot = DISTANCE_SLOTS[symbol];
        entries[symbol] = Entry((slot.base as u32) << 16 | slot.extra as u32);
        symbol += 1;
    }
    entries
};

/// The symbols of the precode, as literals.
pub(crate) static PRECODE: [Entry; 19] = {
    let mut entries = [Entry(0); 19];
    let mut symbol = 0;
    while symbol < 19 {
        entries[symbol] = Entry(LITERAL | (symbol as u32) << 16);
        symbol += 1;
    }
    entries
};
