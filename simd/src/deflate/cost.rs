//! The cheapest parse of a chunk, given what each symbol costs.
//!
//! ```text
//! for each position, from the last to the first:
//!     total = min(literal + total of the next position,
//!                 match + total of the position after it,
//!                 match without its last byte + total of the position after that)
//! ```
//!
//! The costs come from typical text, or from the codes of an earlier parse of the same chunk.
//!
//! 1. No step has a branch on data, which no predictor could learn.
//! 2. What a match costs does not depend on the totals; it is found for a run of positions at once.
//! 3. Where there is no match, its "position after it" is the position itself, the total of which is not known yet and
//!    set to more than any parse costs.

use super::chain::Chains;
use super::histogram::Histogram;
use super::search::{MAX_CHUNK, RUN};
use super::token::Token;
use super::typical;
use crate::format::{
    DISTANCE_SLOT, DISTANCE_SLOTS, DISTANCE_SYMBOLS, END_OF_BLOCK, LENGTH_SLOT, LENGTH_SLOTS, MAX_CODE_BITS,
    MAX_MATCH, MIN_MATCH, distance_index,
};
use crate::isa::Isa;
use crate::raw::Unchecked;
use core::hint::select_unpredictable;

/// Costs count sixteenths of a bit.
pub(crate) const BIT: u16 = 16;

/// More than any parse costs.
const NEVER: u32 = 1 << 30;

/// The highest cost of a symbol without its extra bits.
const MAX_BITS: u16 = 20;

const _: () = {
    assert!(MAX_BITS as usize >= MAX_CODE_BITS);
    assert!(MAX_CHUNK as u64 * (MAX_BITS * BIT) as u64 + (u16::MAX as u64) < NEVER as u64);
    assert!((2 * MAX_BITS + 5 + 13) as u64 * (BIT as u64) < u16::MAX as u64);
};

/// What each symbol costs, with its extra bits.
#[derive(Clone)]
pub(crate) struct Costs {
    pub(crate) literal: [u32; 256],
    /// By length slot.
    pub(crate) length: [u32; 32],
    /// By distance slot.
    pub(crate) distance: [u32; 32],
}

/// What the match at each position of a run costs, whole and one byte shorter.
pub(crate) struct Prices {
    pub(crate) whole: [u32; RUN],
    pub(crate) short: [u32; RUN],
}

impl Costs {
    /// The costs under the best codes for these tokens. Symbols without a code cost a little more than the rarest.
    #[inline(always)]
    pub(crate) fn after<I: Isa>(tokens: &[Token]) -> Self {
        let mut histogram = Histogram::EMPTY;
        histogram.count::<I>(tokens);
        let lengths = histogram.code_lengths();
        let price = |length: u8, unused: u8| u16::from(if length == 0 { unused } else { length }) * BIT;
        Self::new(|symbol| price(lengths.litlen[symbol], 12), |symbol| price(lengths.distance[symbol], 10))
    }

    fn new(litlen: impl Fn(usize) -> u16, distance: impl Fn(usize) -> u16) -> Self {
        let mut costs = Self {
            literal: std::array::from_fn(|byte| litlen(byte).into()),
            length: [0; 32],
            distance: [0; 32],
        };
        for (slot, properties) in LENGTH_SLOTS.iter().enumerate() {
            costs.length[slot] = (litlen(257 + slot) + u16::from(properties.extra) * BIT).into();
        }
        for (slot, properties) in DISTANCE_SLOTS.iter().enumerate() {
            costs.distance[slot] = (distance(slot) + u16::from(properties.extra) * BIT).into();
        }
        costs
    }

    /// The costs in typical text.
    pub(crate) fn typical() -> Self {
        Self::new(
            |symbol| match symbol.checked_sub(END_OF_BLOCK + 1) {
                None => typical::LITERAL[symbol].into(),
                Some(slot) => typical::LENGTH[slot].into(),
            },
            |slot| typical::DISTANCE[slot].into(),
        )
    }

    /// What a match of this length and distance costs.
    #[inline(always)]
    pub(crate) fn price(&self, length: usize, distance: usize) -> u32 {
        let slot = usize::from(LENGTH_SLOT[length.min(LENGTH_SLOT.len() - 1)]);
        self.length[slot] + self.distance[usize::from(DISTANCE_SLOT[distance_index(distance)])]
    }
}

/// Puts in place of each match what the cheapest parse takes at that position, should it come there.
#[inline(always)]
pub(crate) fn choose<I: Isa>(map: &mut [Token], bytes: &[u8], costs: &Costs, totals: &mut Vec<u32>) {
    let len = bytes.len();
    debug_assert!(len == map.len() && len <= MAX_CHUNK);
    // One more on both sides: for "one byte shorter than none", and for the end.
    totals.clear();
    totals.resize(len + 2, NEVER);
    totals[len + 1] = 0;
    let totals = &mut totals[..len + 2];

    let mut next = 0;
    let mut prices = Prices { whole: [0; RUN], short: [0; RUN] };
    let mut from = len;
    while from > 0 {
        let part = (from - 1) % RUN + 1;
        from -= part;
        match map[from..].first_chunk() {
            Some(run) if part == RUN => I::price_run(run, costs, &mut prices),
            _ => price_run(&map[from..from + part], costs, &mut prices),
        }
        let run = map[from..from + part].iter_mut().zip(&bytes[from..from + part]);
        let run = run.zip(prices.whole.iter().zip(&prices.short));
        for (lane, ((slot, &byte), (whole, short))) in run.enumerate().rev() {
            let found = *slot;
            let at = from + lane;
            let after = at + found.length();
            debug_assert!(after <= len);
            // SAFETY: a match ends in the chunk, so `after <= len`; the totals have two more.
            let (whole, short) = unsafe { (totals.at(after + 1) + whole, totals.at(after) + short) };
            let literal = next + costs.literal[usize::from(byte)];
            let matched = select_unpredictable(short < whole, short, whole);
            let found = select_unpredictable(short < whole, found.shortened(), found);
            *slot = select_unpredictable(matched < literal, found, Token::literal(byte));
            next = select_unpredictable(matched < literal, matched, literal);
            // SAFETY: as above.
            unsafe { totals.put(at + 1, next) };
        }
    }
}

/// As [`choose`], but takes at each position the cheapest of all lengths of all its matches.
#[inline(always)]
pub(crate) fn choose_any(
    chains: &Chains,
    map: &mut [Token],
    bytes: &[u8],
    costs: &Costs,
    totals: &mut Vec<u32>,
) {
    let len = bytes.len();
    debug_assert!(len == map.len() && len <= MAX_CHUNK);
    totals.clear();
    totals.resize(len + 1, 0);
    let mut by_length = [0; MAX_MATCH + 1];
    for (length, cost) in by_length.iter_mut().enumerate().skip(MIN_MATCH) {
        *cost = costs.length[usize::from(LENGTH_SLOT[length])];
    }
    for at in (0..len).rev() {
        let mut best = totals[at + 1] + costs.literal[usize::from(bytes[at])];
        let mut choice = Token::literal(bytes[at]);
        let mut from = MIN_MATCH;
        for found in chains.at(at) {
            let slot = DISTANCE_SLOT[distance_index(found.distance())];
            let after = &totals[at + from..=at + found.length()];
            // The length goes along in the lowest bits, so that one minimum finds both; of equals the shortest.
            let cheapest = after
                .iter()
                .zip(&by_length[from..=found.length()])
                .zip(from as u32..)
                .map(|((total, cost), length)| (total + cost) << LENGTH_BITS | length)
                .min()
                .unwrap_or(u32::MAX);
            let total = (cheapest >> LENGTH_BITS) + costs.distance[usize::from(slot)];
            if total < best {
                best = total;
                choice = Token::matched((cheapest & ((1 << LENGTH_BITS) - 1)) as usize, found.distance());
            }
            from = found.length() + 1;
        }
        totals[at] = best;
        map[at] = choice;
    }
}

const LENGTH_BITS: u32 = 9;
const _: () = {
    assert!(MAX_MATCH < 1 << LENGTH_BITS);
    let most = (MAX_CHUNK as u64 + 3) * (MAX_BITS * BIT) as u64;
    assert!(most < 1 << (32 - LENGTH_BITS));
};

/// The spec of [`Isa::price_run`], for up to a whole run.
#[inline(always)]
pub(crate) fn price_run(run: &[Token], costs: &Costs, prices: &mut Prices) {
    for (lane, found) in run.iter().enumerate() {
        let (length, distance) = (found.length(), found.distance());
        prices.whole[lane] = costs.price(length, distance);
        prices.short[lane] = costs.price(length.wrapping_sub(1), distance);
    }
}

const _: () = assert!(DISTANCE_SYMBOLS < 32 && LENGTH_SLOTS.len() < 32);
