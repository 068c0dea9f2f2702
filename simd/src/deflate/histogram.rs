//! How often each symbol occurs.

use super::huffman;
use super::search::RUN;
use super::shannon;
use super::token::Token;
use crate::format::{
    DISTANCE_SLOT, DISTANCE_SYMBOLS, END_OF_BLOCK, LENGTH_SLOTS, LITLEN_SYMBOLS, MAX_CODE_BITS, MAX_MATCH,
    MIN_MATCH, NO_DISTANCE, distance_index,
};
use crate::isa::Isa;
use core::hint::select_unpredictable;

/// Entries of a table by literal or length: literals by byte, then lengths by [`LENGTH_INDEX`]` + length`. The loops have
/// lengths at hand, not their symbols. A power of two, so that no index need be checked.
pub(crate) const LITLEN_INDEXES: usize = 512;

/// Where length 0 would stand in such a table.
pub(crate) const LENGTH_INDEX: usize = 256 - MIN_MATCH;

const _: () = assert!(LENGTH_INDEX + MAX_MATCH < LITLEN_INDEXES);

/// Where a step may count literals among the distances, which they have none of: a place for each lane of a run, so that
/// no increment waits for the one before.
pub(crate) const LITERAL_LANES: usize = 32;
const DISTANCE_INDEXES: usize = 64;

const _: () = assert!(DISTANCE_SYMBOLS <= LITERAL_LANES && LITERAL_LANES + RUN <= DISTANCE_INDEXES);

/// The frequencies in a block.
#[derive(Clone)]
pub(crate) struct Histogram {
    pub(crate) litlen: [u32; LITLEN_INDEXES],
    /// Distance symbols; then what [`LITERAL_LANES`] says.
    pub(crate) distance: [u32; DISTANCE_INDEXES],
}

/// Tokens whose symbols are found before they are counted: enough that the loads find what the stores left.
const PART: usize = 16 * RUN;

/// What some tokens count.
pub(crate) struct Symbols {
    /// Indexes of literals and lengths, one for each token.
    pub(crate) litlen: [u16; PART],
    /// Distance slots of the matches, and perhaps [`LITERAL_LANES`] for others.
    pub(crate) slot: [u8; PART],
    pub(crate) slots: usize,
}

/// How code lengths are found.
#[derive(Clone, Copy)]
pub(crate) enum Construction {
    /// The best ones.
    Huffman,
    /// Nearly as good ones, in less time.
    Shannon,
}

/// The code lengths of one block.
pub(crate) struct Lengths {
    pub(crate) litlen: [u8; LITLEN_SYMBOLS],
    pub(crate) distance: [u8; DISTANCE_SYMBOLS],
}

impl Histogram {
    pub(crate) const EMPTY: Self = Self { litlen: [0; LITLEN_INDEXES], distance: [0; DISTANCE_INDEXES] };

    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.litlen.iter_mut().zip(&other.litlen) {
            *count += more;
        }
        for (count, more) in self.distance.iter_mut().zip(&other.distance) {
            *count += more;
        }
    }

    /// Counts the symbols of tokens.
    #[inline(always)]
    pub(crate) fn count<I: Isa>(&mut self, tokens: &[Token]) {
        // Neighbours are counted apart: an increment waits for the last one of the same symbol.
        let mut odd = Self::EMPTY;
        let mut symbols = Symbols { litlen: [0; PART], slot: [0; PART], slots: 0 };
        for part in tokens.chunks(PART) {
            symbols.slots = 0;
            let (runs, rest) = part.as_chunks::<RUN>();
            for (index, run) in runs.iter().enumerate() {
                I::symbols_run(run, index, &mut symbols);
            }
            for litlen in symbols.litlen[..runs.len() * RUN].as_chunks::<2>().0 {
                self.litlen[usize::from(litlen[0]) % LITLEN_INDEXES] += 1;
                odd.litlen[usize::from(litlen[1]) % LITLEN_INDEXES] += 1;
            }
            let (pairs, last) = symbols.slot[..symbols.slots].as_chunks::<2>();
            for slot in pairs {
                self.distance[usize::from(slot[0]) % DISTANCE_INDEXES] += 1;
                odd.distance[usize::from(slot[1]) % DISTANCE_INDEXES] += 1;
            }
            if let [slot] = last {
                self.distance[usize::from(*slot) % DISTANCE_INDEXES] += 1;
            }
            for &token in rest {
                let (litlen, slot) = symbols_of(token);
                self.litlen[litlen % LITLEN_INDEXES] += 1;
                self.distance[slot] += 1;
            }
        }
        self.add(&odd);
    }

    /// The frequencies of the literals and lengths that are sent.
    pub(crate) fn litlens(&self) -> [u32; LITLEN_SYMBOLS] {
        let mut symbols = [0; LITLEN_SYMBOLS];
        symbols[..256].copy_from_slice(&self.litlen[..256]);
        symbols[END_OF_BLOCK] = 1;
        for (symbol, slot) in symbols[END_OF_BLOCK + 1..].iter_mut().zip(&LENGTH_SLOTS) {
            let first = LENGTH_INDEX + usize::from(slot.base);
            *symbol = self.litlen[first..first + (1 << slot.extra)].iter().sum();
        }
        // The slot before the last does not have the longest match.
        symbols[LITLEN_SYMBOLS - 2] -= symbols[LITLEN_SYMBOLS - 1];
        symbols
    }

    /// The frequencies of the distances that are sent.
    pub(crate) fn distances(&self) -> &[u32; DISTANCE_SYMBOLS] {
        self.distance.first_chunk().expect("has more")
    }

    /// The best code lengths for these frequencies.
    pub(crate) fn code_lengths(&self) -> Lengths {
        Lengths::new(Construction::Huffman, &self.litlens(), self.distances())
    }
}

impl Lengths {
    pub(crate) fn new(
        construction: Construction,
        litlens: &[u32; LITLEN_SYMBOLS],
        distances: &[u32; DISTANCE_SYMBOLS],
    ) -> Self {
        let mut lengths = Self { litlen: [0; LITLEN_SYMBOLS], distance: [0; DISTANCE_SYMBOLS] };
        let code_lengths = match construction {
            Construction::Huffman => huffman::code_lengths,
            Construction::Shannon => shannon::code_lengths,
        };
        code_lengths(litlens, MAX_CODE_BITS, &mut lengths.litlen);
        code_lengths(distances, MAX_CODE_BITS, &mut lengths.distance);
        lengths
    }
}

/// The index of a literal or length in a table of [`LITLEN_INDEXES`], and the distance slot or [`NO_DISTANCE`].
#[inline(always)]
pub(crate) fn symbols_of(token: Token) -> (usize, usize) {
    let literal = token.is_literal();
    let slot = usize::from(DISTANCE_SLOT[distance_index(token.distance())]);
    (
        select_unpredictable(literal, token.distance() & 0xff, LENGTH_INDEX + token.length()),
        select_unpredictable(literal, NO_DISTANCE, slot),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LENGTH_SLOT;

    #[test]
    fn lengths_fold_into_their_slots() {
        let mut histogram = Histogram::EMPTY;
        let mut expected = [0; LITLEN_SYMBOLS];
        expected[END_OF_BLOCK] = 1;
        for length in MIN_MATCH..=MAX_MATCH {
            let frequency = (length * length) as u32 % 101;
            histogram.litlen[LENGTH_INDEX + length] = frequency;
            expected[END_OF_BLOCK + 1 + usize::from(LENGTH_SLOT[length])] += frequency;
        }
        histogram.litlen[65] = 9;
        expected[65] = 9;
        assert_eq!(histogram.litlens(), expected);
    }
}
