//! NEON with the polynomial products of the cryptography extension, which Armv8 servers have.
//!
//! NEON cannot gather: what the search compares and what the codes of tokens are is loaded word by word, between vectors
//! that do the rest for eight or sixteen positions at once.

use super::Isa;
use crate::checksum::fold::{Lane, crc32};
use crate::deflate::cost::{Costs, NEVER, Prices};
use crate::deflate::histogram::{LENGTH_INDEX, LITERAL_LANES, Symbols};
use crate::deflate::search::{self, FACTORS, Hash, Links, PROBED, READ, RUN};
use crate::deflate::token::Token;
use crate::format::{MAX_MATCH, MIN_MATCH, WINDOW};
use crate::inflate::fast::COPY_SLACK;
use crate::raw::load64;
use core::arch::aarch64::*;
use core::hint::select_unpredictable;

pub(super) struct Neon;

pub(super) fn available() -> bool {
    std::arch::is_aarch64_feature_detected!("neon") && std::arch::is_aarch64_feature_detected!("aes")
}

impl Isa for Neon {
    #[inline(always)]
    fn crc32(seed: u32, data: &[u8]) -> u32 {
        crc32::<Lane128>(seed, data)
    }

    #[inline(always)]
    unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
        // SAFETY: as the caller vouches; the kernels have NEON.
        unsafe { copy_match(out, at, distance, length) }
    }

    #[inline(always)]
    unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
        // SAFETY: as the caller vouches; the kernels have NEON.
        unsafe { hash_run::<WORDS>(hash, data, at, hashes) }
    }

    #[inline(always)]
    unsafe fn probe_run(
        run: &mut [Token; RUN],
        links: Links,
        data: &[u8],
        at: usize,
        bias: usize,
        least: usize,
    ) -> u32 {
        // SAFETY: as the caller vouches; the kernels have NEON.
        unsafe { probe_run(run, links, data, at, bias, least) }
    }

    #[inline(always)]
    fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
        // SAFETY: the kernels have NEON.
        unsafe { equal_bytes(data, at, distance, end) }
    }

    #[inline(always)]
    fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
        // SAFETY: the kernels have NEON.
        unsafe { price_run(near, far, costs, prices) }
    }

    #[inline(always)]
    fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
        // SAFETY: the kernels have NEON.
        unsafe { symbols_run(run, index, symbols) }
    }
}

/// Words that begin one after another are loaded by columns: every fourth is in the same vector. A store that interleaves
/// puts the hashes in order.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
    debug_assert!(at + RUN + READ <= data.len());
    let shift = vdupq_n_s32(-(hash.shift as i32));
    let column = |first: usize| {
        let product = |sum, word: usize| {
            // SAFETY: ends at most 3 + 8 + 16 bytes after `at`, for which the caller vouches.
            let own = unsafe { vld1q_u8(data.as_ptr().add(at + first + 4 * word)) };
            let own = vandq_u32(vreinterpretq_u32_u8(own), vdupq_n_u32(hash.masks[word]));
            vmlaq_u32(sum, own, vdupq_n_u32(FACTORS[word]))
        };
        let mut sum = product(vdupq_n_u32(0), 0);
        if WORDS > 1 {
            sum = product(sum, 1);
        }
        if WORDS > 2 {
            sum = product(sum, 2);
        }
        vmovn_u32(vshlq_u32(sum, shift))
    };
    let columns = uint16x4x4_t(column(0), column(1), column(2), column(3));
    // SAFETY: the array has the 32 bytes.
    unsafe { vst4_u16(hashes.as_mut_ptr(), columns) };
}

static LANES: [u16; RUN] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Distances and choices are made in vectors. What is at the distances, and how many bits are equal, passes through
/// general registers, eight positions in each; through memory, loads would wait for stores of another size.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn probe_run(
    run: &mut [Token; RUN],
    links: Links,
    data: &[u8],
    at: usize,
    bias: usize,
    least: usize,
) -> u32 {
    debug_assert!(at + RUN + READ <= data.len() && at <= usize::from(u16::MAX) - RUN);
    // SAFETY: the array has the 32 bytes.
    let lanes = unsafe { [vld1q_u16(LANES.as_ptr()), vld1q_u16(LANES.as_ptr().add(8))] };
    let here = lanes.map(|lanes| vaddq_u16(lanes, vdupq_n_u16((at + bias) as u16)));
    let reach =
        lanes.map(|lanes| vminq_u16(vaddq_u16(lanes, vdupq_n_u16(at as u16)), vdupq_n_u16(WINDOW as u16)));
    let mut most = vdupq_n_u8(0);
    let mut best = [vdupq_n_u16(0); 2];
    for links in links.runs() {
        let half = |half: usize| {
            // SAFETY: a run has two halves.
            let link = unsafe { vld1q_u16(links.as_ptr().add(8 * half)) };
            let distance = vsubq_u16(here[half], link);
            let valid = vcleq_u16(distance, reach[half]);
            let distance = vandq_u16(distance, valid);
            // SAFETY: valid distances are at most the position, and what is not valid is now 0.
            let equal = unsafe { equal_bits(data, at + 8 * half, distance) };
            (distance, vmovn_u16(valid), equal)
        };
        let (low, high) = (half(0), half(1));
        let equal = vandq_u8(vshrq_n_u8::<3>(vcombine_u8(low.2, high.2)), vcombine_u8(low.1, high.1));
        let better = vreinterpretq_s8_u8(vcgeq_u8(equal, most));
        most = vmaxq_u8(equal, most);
        let better =
            [vmovl_s8(vget_low_s8(better)), vmovl_high_s8(better)].map(|half| vreinterpretq_u16_s16(half));
        best = [vbslq_u16(better[0], low.0, best[0]), vbslq_u16(better[1], high.0, best[1])];
    }
    let found = vcgeq_u8(most, vdupq_n_u8(least as u8));
    let length = vandq_u8(most, found);
    let found = vreinterpretq_s8_u8(found);
    let found = [vmovl_s8(vget_low_s8(found)), vmovl_high_s8(found)];
    let lengths = [vmovl_u8(vget_low_u8(length)), vmovl_high_u8(length)];
    for (half, eight) in run.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let distance = vandq_u16(best[half], vreinterpretq_u16_s16(found[half]));
        // SAFETY: there are eight tokens.
        unsafe { interleave(eight.as_mut_ptr(), distance, lengths[half]) };
    }
    let deep = vandq_u8(vceqq_u8(length, vdupq_n_u8(PROBED as u8)), vreinterpretq_u8_u64(vdupq_n_u64(BITS)));
    u32::from(vaddv_u8(vget_low_u8(deep))) | u32::from(vaddv_u8(vget_high_u8(deep))) << 8
}

/// A bit for each of eight bytes.
const BITS: u64 = 0x8040_2010_0804_0201;

/// How many bits, from the lowest, of the eight bytes at each of eight positions are equal to what is `distance` before.
///
/// # Safety
///
/// Each distance is at most its position, and 16 bytes follow `at`.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn equal_bits(data: &[u8], at: usize, distance: uint16x8_t) -> uint8x8_t {
    let bits = |lane: usize, distances: u64| {
        let distance = usize::from(distances as u16);
        // SAFETY: as the caller vouches.
        let (own, other) = unsafe { (load64(data, at + lane), load64(data, at + lane - distance)) };
        u64::from((own ^ other).trailing_zeros())
    };
    let four = |lane: usize, distances: u64| {
        let (one, two) = (bits(lane, distances), bits(lane + 1, distances >> 16));
        let (three, four) = (bits(lane + 2, distances >> 32), bits(lane + 3, distances >> 48));
        one | two << 8 | three << 16 | four << 24
    };
    let distances = vreinterpretq_u64_u16(distance);
    let low = four(0, vgetq_lane_u64::<0>(distances));
    let high = four(4, vgetq_lane_u64::<1>(distances));
    vcreate_u8(low | high << 32)
}

/// Compares 32 bytes before the first branch, which is then nearly always the same.
#[target_feature(enable = "neon")]
#[inline]
fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    debug_assert!(distance <= at && at <= end && end <= data.len());
    let mut equal = 0;
    while at + equal + 32 <= data.len() {
        let differ = |from: usize| {
            // SAFETY: so many bytes follow, and `distance` is at most the position.
            let same = unsafe {
                let here = data.as_ptr().add(at + from);
                vceqq_u8(vld1q_u8(here), vld1q_u8(here.sub(distance)))
            };
            // Four bits for each byte.
            let same = vshrn_n_u16::<4>(vreinterpretq_u16_u8(same));
            !vget_lane_u64::<0>(vreinterpret_u64_u8(same))
        };
        let (low, high) = (differ(equal), differ(equal + 16));
        if low | high != 0 {
            let (differs, before) = select_unpredictable(low != 0, (low, 0), (high, 16));
            equal += before + (differs.trailing_zeros() >> 2) as usize;
            return equal.min(end - at);
        }
        // The next loads do not wait for the comparison.
        equal += 32;
        if at + equal >= end {
            return end - at;
        }
    }
    equal + search::equal_bytes(data, at + equal, distance, end)
}

/// Both tables of costs fit registers, as their low and high bytes: all costs are below 2^16.
#[target_feature(enable = "neon")]
#[inline]
fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
    let (length, distance) = (Table::new(&costs.length), Table::new(&costs.distance));
    let (lengths, distances) = split(near);
    // Up to PROBED bytes, each length has a slot of its own.
    let near = length.at(above(lengths)).plus(distance.at(distance_slot(distances)));
    near.store(lengths, &mut prices.near);
    let (lengths, distances) = split(far);
    let above = above(lengths);
    let far = distance.at(distance_slot(distances));
    length.at(length_slot(above)).plus(far).store(lengths, &mut prices.whole);
    let shorter = vsubq_u8(above, vdupq_n_u8(1));
    length.at(length_slot(shorter)).plus(far).store(lengths, &mut prices.short);
}

/// Low and high bytes.
#[derive(Clone, Copy)]
struct Table(uint8x16x2_t, uint8x16x2_t);

impl Table {
    #[target_feature(enable = "neon")]
    #[inline]
    fn new(costs: &[u32; 32]) -> Self {
        let halves = |first: usize| {
            // SAFETY: the table is eight vectors of four costs.
            let words = unsafe { [load(costs, first), load(costs, first + 1)] };
            vuzp1q_u16(words[0], words[1])
        };
        let bytes = [0, 2, 4, 6].map(|first| vreinterpretq_u8_u16(halves(first)));
        Self(
            uint8x16x2_t(vuzp1q_u8(bytes[0], bytes[1]), vuzp1q_u8(bytes[2], bytes[3])),
            uint8x16x2_t(vuzp2q_u8(bytes[0], bytes[1]), vuzp2q_u8(bytes[2], bytes[3])),
        )
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn at(self, slots: uint8x16_t) -> Sums {
        let (low, high) = (vqtbl2q_u8(self.0, slots), vqtbl2q_u8(self.1, slots));
        Sums([vreinterpretq_u16_u8(vzip1q_u8(low, high)), vreinterpretq_u16_u8(vzip2q_u8(low, high))])
    }
}

/// Costs of a run.
#[derive(Clone, Copy)]
struct Sums([uint16x8_t; 2]);

impl Sums {
    #[target_feature(enable = "neon")]
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self([vaddq_u16(self.0[0], other.0[0]), vaddq_u16(self.0[1], other.0[1])])
    }

    /// Adds [`NEVER`] where the length is 0.
    #[target_feature(enable = "neon")]
    #[inline]
    fn store(self, lengths: [uint16x8_t; 2], prices: &mut [u32; RUN]) {
        for (half, prices) in prices.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let never = vandq_u16(vceqzq_u16(lengths[half]), vdupq_n_u16((NEVER >> 16) as u16));
            // SAFETY: half of the array is 32 bytes.
            unsafe { interleave(prices.as_mut_ptr(), self.0[half], never) };
        }
    }
}

/// Lengths and distances.
#[target_feature(enable = "neon")]
#[inline]
fn split(run: &[Token; RUN]) -> ([uint16x8_t; 2], [uint16x8_t; 2]) {
    let half = |first: usize| {
        // SAFETY: a run is four vectors of four tokens.
        unsafe { (load(run, first), load(run, first + 1)) }
    };
    let (low, high) = (half(0), half(2));
    // The distance is the low half of each token.
    (
        [vuzp2q_u16(low.0, low.1), vuzp2q_u16(high.0, high.1)],
        [vuzp1q_u16(low.0, low.1), vuzp1q_u16(high.0, high.1)],
    )
}

/// The `index`th four words.
///
/// # Safety
///
/// There are as many.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn load<T>(words: &[T], index: usize) -> uint16x8_t {
    debug_assert!(size_of::<T>() == 4 && 4 * index + 4 <= words.len());
    // SAFETY: as the caller vouches.
    unsafe { vld1q_u16(words.as_ptr().add(4 * index).cast()) }
}

/// Writes eight words of these low and high halves. Unlike the stores of two vectors, this lets the compiler choose
/// registers one by one.
///
/// # Safety
///
/// `words` points to as many.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn interleave<T>(words: *mut T, low: uint16x8_t, high: uint16x8_t) {
    debug_assert!(size_of::<T>() == 4);
    // SAFETY: as the caller vouches.
    unsafe {
        vst1q_u16(words.cast(), vzip1q_u16(low, high));
        vst1q_u16(words.add(4).cast(), vzip2q_u16(low, high));
    }
}

/// By how much lengths are above the shortest.
#[target_feature(enable = "neon")]
#[inline]
fn above(lengths: [uint16x8_t; 2]) -> uint8x16_t {
    vsubq_u8(narrow(lengths), vdupq_n_u8(MIN_MATCH as u8))
}

#[target_feature(enable = "neon")]
#[inline]
fn narrow(halves: [uint16x8_t; 2]) -> uint8x16_t {
    vuzp1q_u8(vreinterpretq_u8_u16(halves[0]), vreinterpretq_u8_u16(halves[1]))
}

/// Four slots for each power of two. The first eight are their own, and so is the longest.
#[target_feature(enable = "neon")]
#[inline]
fn length_slot(above: uint8x16_t) -> uint8x16_t {
    // With no more than five zeros in front, the lowest have a shift of 0 and are their own slots.
    let zeros = vminq_u8(vclzq_u8(above), vdupq_n_u8(5));
    let top = vshlq_u8(above, vreinterpretq_s8_u8(vsubq_u8(zeros, vdupq_n_u8(5))));
    let slot = vsubq_u8(vaddq_u8(top, vdupq_n_u8(20)), vshlq_n_u8::<2>(zeros));
    let longest = vceqq_u8(above, vdupq_n_u8((MAX_MATCH - MIN_MATCH) as u8));
    vsubq_u8(slot, longest)
}

/// Two slots for each power of two: the power, and the bit after the highest. The first two are their own.
#[target_feature(enable = "neon")]
#[inline]
fn distance_slot(distances: [uint16x8_t; 2]) -> uint8x16_t {
    narrow(distances.map(|distance| {
        let below = vsubq_u16(distance, vdupq_n_u16(1));
        let zeros = vminq_u16(vclzq_u16(below), vdupq_n_u16(14));
        let top = vshlq_u16(below, vreinterpretq_s16_u16(vsubq_u16(zeros, vdupq_n_u16(14))));
        vsubq_u16(vaddq_u16(top, vdupq_n_u16(28)), vshlq_n_u16::<1>(zeros))
    }))
}

#[target_feature(enable = "neon")]
#[inline]
fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
    let (lengths, distances) = split(run);
    let literal = lengths.map(|length| vceqq_u16(length, vdupq_n_u16(1)));
    let litlens = &mut symbols.litlen[index * RUN..][..RUN];
    for (half, litlens) in litlens.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let length = vaddq_u16(lengths[half], vdupq_n_u16(LENGTH_INDEX as u16));
        // SAFETY: the array has the 16 bytes.
        unsafe { vst1q_u16(litlens.as_mut_ptr(), vbslq_u16(literal[half], distances[half], length)) };
    }
    // SAFETY: the array has the 32 bytes.
    let lanes = unsafe { [vld1q_u16(LANES.as_ptr()), vld1q_u16(LANES.as_ptr().add(8))] };
    let lanes = vaddq_u8(narrow(lanes), vdupq_n_u8(LITERAL_LANES as u8));
    let slot = vbslq_u8(narrow(literal), lanes, distance_slot(distances));
    let slots = &mut symbols.slot[symbols.slots..][..RUN];
    // SAFETY: the slice has the 16 bytes.
    unsafe { vst1q_u8(slots.as_mut_ptr(), slot) };
    symbols.slots += RUN;
}

/// Where each byte of a repeated pattern comes from, by its period.
static PERIODIC: [[u8; 16]; 16] = {
    let mut table = [[0; 16]; 16];
    let mut period = 1;
    while period < 16 {
        let mut index = 0;
        while index < 16 {
            table[period][index] = (index % period) as u8;
            index += 1;
        }
        period += 1;
    }
    table
};

const _: () = assert!(16 <= COPY_SLACK);

/// Copies a match, 16 bytes at a time. Of a period below 16, a pattern is made once.
///
/// # Safety
///
/// Those of [`Isa::copy_match`], and a CPU with NEON.
#[inline(always)]
unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + COPY_SLACK <= out.len());
    // SAFETY: reads begin `distance` before writes; a write begins before the end of the match and has 16 bytes. Only
    // the pattern is read from beyond what is written, and its shuffle takes none of that.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let mut from = to.sub(distance).cast_const();
        let end = to.add(length);
        if distance >= 16 {
            loop {
                vst1q_u8(to, vld1q_u8(from));
                (from, to) = (from.add(16), to.add(16));
                if to >= end {
                    return;
                }
            }
        }
        let pattern = vqtbl1q_u8(vld1q_u8(from), vld1q_u8(PERIODIC[distance].as_ptr()));
        // Steps of the largest multiple of the period that fits stay in phase.
        let step = 16 - 16 % distance;
        loop {
            vst1q_u8(to, pattern);
            to = to.add(step);
            if to >= end {
                return;
            }
        }
    }
}

/// A vector for [`fold`](crate::checksum::fold).
#[derive(Clone, Copy)]
struct Lane128(uint8x16_t);

// These are inlined into kernels that have the features; a `Lane128` is nowhere else.
impl Lane for Lane128 {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the array has the 16 bytes.
        Self(unsafe { vld1q_u8(bytes.as_ptr()) })
    }

    #[inline(always)]
    fn store(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: the array has the 16 bytes.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), self.0) };
        bytes
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the kernels that this is inlined into have NEON.
        Self(unsafe { veorq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self, by: [u64; 2]) -> Self {
        // SAFETY: the kernels that this is inlined into have PMULL.
        Self(unsafe { fold(self.0, by) })
    }
}

#[target_feature(enable = "neon,aes")]
#[inline]
fn fold(lane: uint8x16_t, by: [u64; 2]) -> uint8x16_t {
    let halves = vreinterpretq_u64_u8(lane);
    let first = vmull_p64(vgetq_lane_u64::<0>(halves), by[0]);
    let second = vmull_p64(vgetq_lane_u64::<1>(halves), by[1]);
    veorq_u8(vreinterpretq_u8_p128(first), vreinterpretq_u8_p128(second))
}
