//! The cheapest parse of a chunk, given what each symbol costs.
//!
//! ```text
//! for each position, from the last to the first:
//!     total = min(literal + total of the next position,
//!                 near match + total of the position after it,
//!                 far match + total of the position after it,
//!                 far match without its last byte + total of the position after that)
//! ```
//!
//! The costs come from typical text, or from the codes of an earlier parse of the same chunk.
//!
//! 1. No step has a branch on data, which no predictor could learn.
//! 2. What a match costs does not depend on the totals; it is found for a run of positions at once.
//! 3. Where there is no match, its price is more than any parse costs.
//! 4. A chunk is cut into sixteen segments, which do not wait for each other: vectors take all of them at once.

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
pub(crate) const NEVER: u32 = 1 << 30;

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

/// What the matches at each position of a run cost: the near one, and the far one, whole and one byte shorter.
pub(crate) struct Prices {
    pub(crate) near: [u32; RUN],
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

/// Segments that a chunk is cut into: as many as the widest vector has lanes.
pub(crate) const SEGMENTS: usize = 16;

/// Positions after its end where the parse of a segment begins. Parses that begin apart soon meet; and what they begin with
/// matters little, if [`AFTER`] is right.
pub(crate) const RUN_UP: usize = 16;

/// What each byte after that costs: next to nothing, for who gets there by one match gets on by the next.
const AFTER: u32 = BIT as u32 / 2;

/// Bytes below which a chunk is one segment.
const MIN_SEGMENTED: usize = 1024;

/// How many positions each segment of a chunk has.
pub(crate) fn stride(len: usize) -> usize {
    if len < MIN_SEGMENTED { len.next_multiple_of(RUN) } else { len.div_ceil(SEGMENTS).next_multiple_of(RUN) }
}

/// How long maps and bytes must be for [`choose`], with nothing in them after the chunk.
pub(crate) fn padded(len: usize) -> usize {
    let segments = if len < MIN_SEGMENTED { 1 } else { SEGMENTS };
    segments * stride(len) + RUN_UP
}

/// Rows or entries of the totals of a segment: one before the first position for "one byte shorter than none", and what
/// the longest match may reach.
pub(crate) fn total_count(stride: usize) -> usize {
    1 + stride + RUN_UP + MAX_MATCH
}

/// The total for a position that is `beyond` bytes after those that are parsed.
#[inline(always)]
pub(crate) fn beyond(beyond: usize) -> u32 {
    (MAX_MATCH - beyond) as u32 * AFTER
}

/// Puts in `far` what the cheapest parse takes at each position, should it come there: a literal, the match in `near`, or
/// the match in `far`, maybe one byte shorter.
///
/// All are [`padded`].
#[inline(always)]
pub(crate) fn choose<I: Isa>(
    near: &[Token],
    far: &mut [Token],
    bytes: &[u8],
    len: usize,
    costs: &Costs,
    totals: &mut Vec<u32>,
) {
    let padded = padded(len);
    assert!(near.len() == padded && far.len() == padded && bytes.len() == padded && len <= MAX_CHUNK);
    let stride = stride(len);
    let wanted = total_count(stride) * if len < MIN_SEGMENTED { 1 } else { SEGMENTS };
    totals.resize(wanted.max(totals.len()), 0);
    if len < MIN_SEGMENTED {
        choose_segment::<I>(near, far, bytes, stride, costs, totals);
    } else {
        I::choose_segments(near, far, bytes, stride, costs, &mut totals[..wanted]);
    }
}

/// The spec of [`Isa::choose_segments`].
#[inline(always)]
pub(crate) fn choose_segments<I: Isa>(
    near: &[Token],
    far: &mut [Token],
    bytes: &[u8],
    stride: usize,
    costs: &Costs,
    totals: &mut [u32],
) {
    // From the first on: a segment runs up through the matches of the next one, which must not be chosen from yet.
    for segment in 0..SEGMENTS {
        let range = segment * stride..(segment + 1) * stride + RUN_UP;
        let far = &mut far[range.clone()];
        choose_segment::<I>(&near[range.clone()], far, &bytes[range], stride, costs, totals);
    }
}

#[inline(always)]
fn choose_segment<I: Isa>(
    near: &[Token],
    far: &mut [Token],
    bytes: &[u8],
    stride: usize,
    costs: &Costs,
    totals: &mut [u32],
) {
    let len = stride + RUN_UP;
    assert!(
        near.len() >= len && far.len() >= len && bytes.len() >= len && totals.len() >= total_count(stride)
    );
    for (index, total) in totals[1 + len..][..MAX_MATCH].iter_mut().enumerate() {
        *total = beyond(index);
    }
    let mut next = totals[1 + len];
    let mut prices = Prices { near: [0; RUN], whole: [0; RUN], short: [0; RUN] };
    let mut from = len;
    while from > 0 {
        from -= RUN;
        let (Some(run), Some(far_run)) = (near[from..].first_chunk(), far[from..].first_chunk()) else {
            break;
        };
        I::price_run(run, far_run, costs, &mut prices);
        for lane in (0..RUN).rev() {
            let at = from + lane;
            // SAFETY: `at` is before the end of all three, and `lane` before that of a run.
            let (near, found, byte) = unsafe { (near.at(at), far.at(at), bytes.at(at)) };
            let (close, after) = (at + near.length(), at + found.length());
            debug_assert!(after < at + 1 + MAX_MATCH && close < at + 1 + MAX_MATCH && lane < RUN);
            // SAFETY: a match is no longer than MAX_MATCH, and the totals have as many after the last position.
            let (close, whole, short) = unsafe {
                (
                    totals.at(close + 1) + prices.near.at(lane),
                    totals.at(after + 1) + prices.whole.at(lane),
                    totals.at(after) + prices.short.at(lane),
                )
            };
            let matched = select_unpredictable(short < whole, short, whole);
            let found = select_unpredictable(short < whole, found.shortened(), found);
            let other = select_unpredictable(close < matched, near, found);
            let matched = select_unpredictable(close < matched, close, matched);
            // Only from here on the position waits for the next one.
            let literal = next + costs.literal[usize::from(byte)];
            let choice = select_unpredictable(matched < literal, other, Token::literal(byte));
            next = select_unpredictable(matched < literal, matched, literal);
            // SAFETY: as above.
            unsafe {
                if at < stride {
                    far.put(at, choice);
                }
                totals.put(at + 1, next);
            }
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
pub(crate) fn price_run(near: &[Token], far: &[Token], costs: &Costs, prices: &mut Prices) {
    for (lane, (near, far)) in near.iter().zip(far).enumerate() {
        let none = |token: Token| if token.length() == 0 { NEVER } else { 0 };
        prices.near[lane] = costs.price(near.length(), near.distance()) + none(*near);
        let (length, distance) = (far.length(), far.distance());
        prices.whole[lane] = costs.price(length, distance) + none(*far);
        prices.short[lane] = costs.price(length.wrapping_sub(1), distance) + none(*far);
    }
}

const _: () = assert!(DISTANCE_SYMBOLS < 32 && LENGTH_SLOTS.len() < 32);
