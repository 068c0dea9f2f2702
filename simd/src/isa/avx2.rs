//! AVX2: four or eight positions at a time.
//!
//! It has no scatter, and no table of more than eight words in a register: the choice of the parse and the extension of
//! matches are the scalar ones, compiled for its shifts and bit counts.

use super::Isa;
use super::x86::{self, Lane128};
use crate::checksum::fold;
use crate::deflate::bits::MAX_PUT;
use crate::deflate::block::Codes;
use crate::deflate::cost::{Costs, NEVER, Prices};
use crate::deflate::emit::Coded;
use crate::deflate::histogram::{LENGTH_INDEX, LITERAL_LANES, LITLEN_INDEXES, Symbols};
use crate::deflate::search::{self, FACTORS, Hash, Links, PROBED, RUN};
use crate::deflate::token::Token;
use crate::format::{MAX_MATCH, MIN_MATCH, NO_DISTANCE, WINDOW};
use core::arch::x86_64::*;

pub(super) struct Avx2;

pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("pclmulqdq")
}

impl Isa for Avx2 {
    #[inline(always)]
    fn crc32(seed: u32, data: &[u8]) -> u32 {
        fold::crc32::<Lane128>(seed, data)
    }

    #[inline(always)]
    fn low_bits(bits: u64, count: u32) -> u64 {
        // SAFETY: the kernels have BMI2.
        unsafe { _bzhi_u64(bits, count) }
    }

    #[inline(always)]
    unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
        // SAFETY: as the caller vouches; the kernels have AVX2.
        unsafe { x86::copy_match(out, at, distance, length) }
    }

    #[inline(always)]
    unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
        // SAFETY: as the caller vouches; the features are those of the kernel that this is inlined into.
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
        // SAFETY: as the caller vouches; the features are those of the kernel that this is inlined into.
        unsafe { probe_run(run, links, data, at, bias, least) }
    }

    #[inline(always)]
    fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { equal_bytes(data, at, distance, end) }
    }

    #[inline(always)]
    fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { price_run(near, far, costs, prices) }
    }

    #[inline(always)]
    fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { symbols_run(run, index, symbols) }
    }

    #[inline(always)]
    fn code_run(run: &[Token; RUN], codes: &Codes, coded: &mut Coded) -> bool {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { code_run(run, codes, coded) }
    }
}

/// Byte indexes that give the 32-bit lanes `i` the bytes `i` on, of eight positions.
static WINDOWS32: [u8; 32] = {
    let mut indexes = [0; 32];
    let mut byte = 0;
    while byte < 32 {
        indexes[byte] = (byte / 4 + byte % 4) as u8;
        byte += 1;
    }
    indexes
};

/// The same for 64-bit lanes, of four positions.
static WINDOWS64: [u8; 32] = {
    let mut indexes = [0; 32];
    let mut byte = 0;
    while byte < 32 {
        indexes[byte] = (byte / 8 + byte % 8) as u8;
        byte += 1;
    }
    indexes
};

#[target_feature(enable = "avx2")]
#[inline]
unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
    debug_assert!(at + 32 <= data.len());
    let half = |from: usize| {
        let product = |word: usize| {
            // SAFETY: at most bytes 8 + 8 + 16 from `at`, for which the caller vouches.
            let own = unsafe { windows(data, from + 4 * word, &WINDOWS32) };
            let own = _mm256_and_si256(own, _mm256_set1_epi32(hash.masks[word] as i32));
            _mm256_mullo_epi32(own, _mm256_set1_epi32(FACTORS[word] as i32))
        };
        let mut sum = product(0);
        if WORDS > 1 {
            sum = _mm256_add_epi32(sum, product(1));
        }
        if WORDS > 2 {
            sum = _mm256_add_epi32(sum, product(2));
        }
        _mm256_srl_epi32(sum, _mm_cvtsi32_si128(hash.shift as i32))
    };
    let packed = _mm256_packus_epi32(half(at), half(at + 8));
    // SAFETY: the array has the 32 bytes.
    unsafe {
        _mm256_storeu_si256(hashes.as_mut_ptr().cast(), _mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
    };
}

/// What the lanes read of the sixteen bytes at `at`.
///
/// # Safety
///
/// `at + 16 <= data.len()`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn windows(data: &[u8], at: usize, indexes: &[u8; 32]) -> __m256i {
    debug_assert!(at + 16 <= data.len());
    // SAFETY: as the caller vouches; the array has 32 bytes.
    unsafe {
        let bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(data.as_ptr().add(at).cast()));
        _mm256_shuffle_epi8(bytes, _mm256_loadu_si256(indexes.as_ptr().cast()))
    }
}

#[target_feature(enable = "avx2")]
#[inline]
unsafe fn probe_run(
    run: &mut [Token; RUN],
    links: Links,
    data: &[u8],
    at: usize,
    bias: usize,
    least: usize,
) -> u32 {
    debug_assert!(at + 32 <= data.len());
    let lanes = _mm256_set_epi64x(3, 2, 1, 0);
    let low = _mm256_set1_epi64x(0xffff);
    let full = _mm256_set1_epi64x(PROBED as i64);
    let mut deep = 0;
    for (group, four) in run.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let first = at + 4 * group;
        // SAFETY: the caller vouches for 32 bytes.
        let own = unsafe { windows(data, first, &WINDOWS64) };
        let here = _mm256_add_epi64(lanes, _mm256_set1_epi64x((first + bias) as i64));
        let reach = _mm256_add_epi64(lanes, _mm256_set1_epi64x(first as i64));
        let reach = _mm256_min_epi32(reach, _mm256_set1_epi64x(WINDOW as i64));
        let mut most = _mm256_setzero_si256();
        let mut best = _mm256_setzero_si256();
        for links in links.runs() {
            // SAFETY: a run has four groups of four.
            let link = unsafe { _mm_loadl_epi64(links.as_ptr().add(4 * group).cast()) };
            let distance = _mm256_and_si256(_mm256_sub_epi64(here, _mm256_cvtepu16_epi64(link)), low);
            let valid = _mm256_xor_si256(_mm256_cmpgt_epi64(distance, reach), _mm256_set1_epi64x(-1));
            let unequal = _mm256_xor_si256(own, _mm256_set1_epi64x(-1));
            let index = _mm256_sub_epi64(lanes, distance);
            // SAFETY: valid distances are at most the position.
            let other = unsafe {
                let base = data.as_ptr().add(first);
                _mm256_mask_i64gather_epi64::<1>(unequal, base.cast(), index, valid)
            };
            let differ = _mm256_xor_si256(own, other);
            // The lowest bit of each byte below the first that differs; their sum.
            let below = _mm256_andnot_si256(differ, _mm256_add_epi64(differ, _mm256_set1_epi64x(-1)));
            let below = _mm256_and_si256(_mm256_srli_epi64::<7>(below), _mm256_set1_epi8(1));
            let equal = _mm256_sad_epu8(below, _mm256_setzero_si256());
            let worse = _mm256_cmpgt_epi64(most, equal);
            most = _mm256_blendv_epi8(equal, most, worse);
            best = _mm256_blendv_epi8(distance, best, worse);
        }
        let found = _mm256_cmpgt_epi64(most, _mm256_set1_epi64x(least as i64 - 1));
        let matches = _mm256_and_si256(_mm256_or_si256(_mm256_slli_epi64::<16>(most), best), found);
        let even = _mm256_permutevar8x32_epi32(matches, _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0));
        // SAFETY: the four tokens are 16 bytes.
        unsafe { _mm_storeu_si128(four.as_mut_ptr().cast(), _mm256_castsi256_si128(even)) };
        let whole = _mm256_castsi256_pd(_mm256_cmpeq_epi64(most, full));
        deep |= (_mm256_movemask_pd(whole) as u32) << (4 * group);
    }
    deep
}

/// Compares 32 bytes before the first branch, which is then nearly always the same.
#[target_feature(enable = "avx2,bmi1")]
#[inline]
fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    debug_assert!(distance <= at && at <= end && end <= data.len());
    let mut equal = 0;
    while at + equal + 32 <= data.len() {
        // SAFETY: so many bytes follow, and `distance` is at most the position.
        let (here, there) = unsafe {
            let here = data.as_ptr().add(at + equal);
            (_mm256_loadu_si256(here.cast()), _mm256_loadu_si256(here.sub(distance).cast()))
        };
        let same = _mm256_movemask_epi8(_mm256_cmpeq_epi8(here, there)) as u32;
        equal += same.trailing_ones() as usize;
        if same != u32::MAX || at + equal >= end {
            return equal.min(end - at);
        }
    }
    equal + search::equal_bytes(data, at + equal, distance, end)
}

#[target_feature(enable = "avx2")]
#[inline]
fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
    let runs = near.as_chunks::<8>().0.iter().zip(far.as_chunks::<8>().0);
    for (half, (near, far)) in runs.enumerate() {
        let (found, length, distance) = matches(near);
        let price = _mm256_add_epi32(
            lookup(&costs.length, length_slot(length)),
            lookup(&costs.distance, distance_slot(distance)),
        );
        store(&mut prices.near, half, or_never(price, found));
        let (found, length, distance) = matches(far);
        let far = or_never(lookup(&costs.distance, distance_slot(distance)), found);
        let whole = lookup(&costs.length, length_slot(length));
        store(&mut prices.whole, half, _mm256_add_epi32(whole, far));
        let shorter = _mm256_sub_epi32(length, _mm256_set1_epi32(1));
        let short = lookup(&costs.length, length_slot(shorter));
        store(&mut prices.short, half, _mm256_add_epi32(short, far));
    }
}

/// Which are matches, lengths, and distances.
#[target_feature(enable = "avx2")]
#[inline]
fn matches(tokens: &[Token; 8]) -> (__m256i, __m256i, __m256i) {
    // SAFETY: the tokens are 32 bytes.
    let tokens = unsafe { _mm256_loadu_si256(tokens.as_ptr().cast()) };
    let found = _mm256_cmpgt_epi32(tokens, _mm256_setzero_si256());
    (found, _mm256_srli_epi32::<16>(tokens), _mm256_and_si256(tokens, _mm256_set1_epi32(0xffff)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn or_never(price: __m256i, found: __m256i) -> __m256i {
    _mm256_blendv_epi8(_mm256_set1_epi32(NEVER as i32), price, found)
}

/// Four slots for each power of two. The first eight are their own, and so is the longest.
#[target_feature(enable = "avx2")]
#[inline]
fn length_slot(length: __m256i) -> __m256i {
    let above = _mm256_sub_epi32(length, _mm256_set1_epi32(MIN_MATCH as i32));
    let shift = _mm256_sub_epi32(power(above), _mm256_set1_epi32(2));
    let slot = _mm256_add_epi32(_mm256_slli_epi32::<2>(shift), _mm256_srlv_epi32(above, shift));
    let slot = _mm256_blendv_epi8(slot, above, _mm256_cmpgt_epi32(_mm256_set1_epi32(4), above));
    let longest = _mm256_cmpeq_epi32(length, _mm256_set1_epi32(MAX_MATCH as i32));
    _mm256_blendv_epi8(slot, _mm256_set1_epi32(28), longest)
}

/// The power of two of positive numbers below 2^24, which a float holds exactly.
#[target_feature(enable = "avx2")]
#[inline]
fn power(value: __m256i) -> __m256i {
    let float = _mm256_castps_si256(_mm256_cvtepi32_ps(value));
    _mm256_sub_epi32(_mm256_srli_epi32::<23>(float), _mm256_set1_epi32(127))
}

/// The entries at the lowest five bits of each index.
#[target_feature(enable = "avx2")]
#[inline]
fn lookup(table: &[u32; 32], index: __m256i) -> __m256i {
    let index = _mm256_and_si256(index, _mm256_set1_epi32(31));
    // SAFETY: the table has an entry for each five bits.
    unsafe { _mm256_i32gather_epi32::<4>(table.as_ptr().cast(), index) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(values: &mut [u32; RUN], half: usize, vector: __m256i) {
    let half = &mut values.as_chunks_mut::<8>().0[half];
    // SAFETY: half of the array is 32 bytes.
    unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), vector) };
}

#[target_feature(enable = "avx2")]
#[inline]
fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
    let [low, high] = [0, 8].map(|first| {
        let (length, distance) = split(run, first);
        let literal = _mm256_cmpeq_epi32(length, _mm256_set1_epi32(1));
        let litlen = _mm256_add_epi32(length, _mm256_set1_epi32(LENGTH_INDEX as i32));
        let lanes = _mm256_set1_epi32((LITERAL_LANES + first) as i32);
        let lanes = _mm256_add_epi32(lanes, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        let slot = _mm256_blendv_epi8(distance_slot(distance), lanes, literal);
        (_mm256_blendv_epi8(litlen, distance, literal), slot)
    });
    // Packing is done within the halves of a vector.
    let pack = |low, high| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(low, high));
    let slots = pack(low.1, high.1);
    let slots = _mm_packus_epi16(_mm256_castsi256_si128(slots), _mm256_extracti128_si256::<1>(slots));
    let litlens = &mut symbols.litlen[index * RUN..][..RUN];
    let places = &mut symbols.slot[symbols.slots..][..RUN];
    // SAFETY: the slices have the 32 and 16 bytes.
    unsafe {
        _mm256_storeu_si256(litlens.as_mut_ptr().cast(), pack(low.0, high.0));
        _mm_storeu_si128(places.as_mut_ptr().cast(), slots);
    }
    symbols.slots += RUN;
}

#[target_feature(enable = "avx2")]
#[inline]
fn code_run(run: &[Token; RUN], codes: &Codes, coded: &mut Coded) -> bool {
    let mut excess = _mm256_setzero_si256();
    for half in 0..2 {
        let (length, distance) = split(run, half * RUN / 2);
        let literal = _mm256_cmpeq_epi32(length, _mm256_set1_epi32(1));
        let index = _mm256_add_epi32(length, _mm256_set1_epi32(LENGTH_INDEX as i32));
        let index = _mm256_blendv_epi8(index, distance, literal);
        let index = _mm256_and_si256(index, _mm256_set1_epi32(LITLEN_INDEXES as i32 - 1));
        let slot =
            _mm256_blendv_epi8(distance_slot(distance), _mm256_set1_epi32(NO_DISTANCE as i32), literal);
        let slot = _mm256_and_si256(slot, _mm256_set1_epi32(31));
        // SAFETY: the tables have LITLEN_INDEXES and 32 entries of four bytes.
        let (near, far) = unsafe {
            (
                _mm256_i32gather_epi32::<4>(codes.litlen.as_ptr().cast(), index),
                _mm256_i32gather_epi32::<4>(codes.distance.as_ptr().cast(), slot),
            )
        };
        let near_count = _mm256_srli_epi32::<24>(near);
        let near = _mm256_and_si256(near, _mm256_set1_epi32(0xff_ffff));
        let extra_count = _mm256_srli_epi32::<24>(far);
        let far_count = _mm256_and_si256(_mm256_srli_epi32::<16>(far), _mm256_set1_epi32(0xff));
        let far = _mm256_and_si256(far, _mm256_set1_epi32(0xffff));
        let one = _mm256_set1_epi32(1);
        let mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, extra_count), one);
        let extra = _mm256_and_si256(_mm256_sub_epi32(distance, one), mask);
        let far = _mm256_or_si256(far, _mm256_sllv_epi32(extra, far_count));
        let count = _mm256_add_epi32(near_count, _mm256_add_epi32(far_count, extra_count));

        // Each 64-bit lane has two tokens; their halves are joined to tokens, and those to the pair.
        let first = |halves| _mm256_and_si256(halves, _mm256_set1_epi64x(0xffff_ffff));
        let second = |halves| _mm256_srli_epi64::<32>(halves);
        let join = |near, far, shift| _mm256_or_si256(near, _mm256_sllv_epi64(far, shift));
        let pair = join(
            join(first(near), first(far), first(near_count)),
            join(second(near), second(far), second(near_count)),
            first(count),
        );
        let count = _mm256_add_epi64(first(count), second(count));
        excess = _mm256_or_si256(excess, _mm256_cmpgt_epi32(count, _mm256_set1_epi32(MAX_PUT as i32)));
        let even = _mm256_permutevar8x32_epi32(count, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
        let bits = &mut coded.bits[half * RUN / 4..][..RUN / 4];
        let counts = &mut coded.count[half * RUN / 4..][..RUN / 4];
        // SAFETY: the slices have the 32 and 16 bytes.
        unsafe {
            _mm256_storeu_si256(bits.as_mut_ptr().cast(), pair);
            _mm_storeu_si128(counts.as_mut_ptr().cast(), _mm256_castsi256_si128(even));
        }
    }
    _mm256_testz_si256(excess, excess) != 0
}

/// Lengths and distances of half a run.
#[target_feature(enable = "avx2")]
#[inline]
fn split(run: &[Token; RUN], first: usize) -> (__m256i, __m256i) {
    let half = &run[first..][..RUN / 2];
    // SAFETY: the slice has the 32 bytes.
    let tokens = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    (_mm256_srli_epi32::<16>(tokens), _mm256_and_si256(tokens, _mm256_set1_epi32(0xffff)))
}

/// Two slots for each power of two: the power, which is the exponent of the distance as a float, and the bit after the
/// highest, which is the first of the fraction. The first two are their own.
#[target_feature(enable = "avx2")]
#[inline]
fn distance_slot(distance: __m256i) -> __m256i {
    let one = _mm256_set1_epi32(1);
    let below = _mm256_sub_epi32(distance, one);
    let float = _mm256_castps_si256(_mm256_cvtepi32_ps(below));
    let slot = _mm256_sub_epi32(_mm256_srli_epi32::<22>(float), _mm256_set1_epi32(2 * 127));
    _mm256_max_epi32(slot, _mm256_min_epi32(below, one))
}
