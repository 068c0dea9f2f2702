//! AVX-512 as of Ice Lake and Zen 4: sixteen positions at a time.
//!
//! CPUs before these lack VBMI, and slow down for 512-bit registers; they take AVX2.

mod parse;

use super::Isa;
use super::x86::{self, Lane128};
use crate::checksum::fold;
use crate::deflate::bits::MAX_PUT;
use crate::deflate::block::{Codes, DistanceCode};
use crate::deflate::cost::{Costs, Prices};
use crate::deflate::emit::Coded;
use crate::deflate::histogram::{LENGTH_INDEX, LITLEN_INDEXES, Symbols};
use crate::deflate::search::{self, FACTORS, Hash, Links, PROBED, RUN, Reach};
use crate::deflate::token::Token;
use crate::format::{MAX_MATCH, NO_DISTANCE, WINDOW};
use core::arch::x86_64::*;

pub(super) struct Avx512;

pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Byte indexes that give each 32-bit lane `i` the bytes `i + offset` on.
const fn windows32(offset: u8) -> [u8; 64] {
    let mut indexes = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        indexes[byte] = (byte / 4 + byte % 4) as u8 + offset;
        byte += 1;
    }
    indexes
}

/// Byte indexes that give each 64-bit lane `i` the bytes `i + offset` on.
const fn windows64(offset: u8) -> [u8; 64] {
    let mut indexes = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        indexes[byte] = (byte / 8 + byte % 8) as u8 + offset;
        byte += 1;
    }
    indexes
}

static WINDOWS32: [[u8; 64]; 3] = [windows32(0), windows32(4), windows32(8)];
static WINDOWS64: [[u8; 64]; 2] = [windows64(0), windows64(8)];
/// Indexes of the even 32-bit lanes of two vectors.
static EVEN: [u8; 64] = {
    let mut indexes = [0; 64];
    let mut lane = 0;
    while lane < 16 {
        indexes[4 * lane] = 2 * lane as u8;
        lane += 1;
    }
    indexes
};

static LANES: [u16; RUN] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

impl Isa for Avx512 {
    #[inline(always)]
    fn crc32(seed: u32, data: &[u8]) -> u32 {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { crc32(seed, data) }
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
        unsafe { long_match(data, at, distance, end) }
    }

    #[inline(always)]
    unsafe fn extend_run(
        run: &mut [Token; RUN],
        deep: u32,
        data: &[u8],
        at: usize,
        end: usize,
        reach: &mut Reach,
    ) {
        if deep != 0 {
            // SAFETY: as the caller vouches; the features are those of the kernel that this is inlined into.
            unsafe { extend_run(run, deep as u16, data, at, end, reach) }
        }
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

    #[inline(always)]
    fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { parse::price_run(near, far, costs, prices) }
    }

    #[inline(always)]
    fn choose_segments(
        near: &[Token],
        far: &mut [Token],
        bytes: &[u8],
        stride: usize,
        costs: &Costs,
        totals: &mut [u32],
    ) {
        // SAFETY: the features are those of the kernel that this is inlined into.
        unsafe { parse::choose_segments(near, far, bytes, stride, costs, totals) }
    }
}

/// As [`fold`], on vectors of 64 bytes.
#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq")]
#[inline]
fn crc32(seed: u32, data: &[u8]) -> u32 {
    let (blocks, rest) = data.as_chunks::<64>();
    let [first, second, third, fourth, blocks @ ..] = blocks else {
        return fold::crc32::<Lane128>(seed, data);
    };
    let fold = |sum, by, next| {
        let low = _mm512_clmulepi64_epi128::<0x00>(sum, by);
        let high = _mm512_clmulepi64_epi128::<0x11>(sum, by);
        // The sum of all three.
        _mm512_ternarylogic_epi64::<0x96>(low, high, next)
    };
    let seeded = _mm512_zextsi128_si512(_mm_cvtsi32_si128(!seed as i32));
    let mut sums = [_mm512_xor_si512(load(first), seeded), load(second), load(third), load(fourth)];
    let by = const { fold::fold_by(4 * 512) };
    let by = _mm512_broadcast_i32x4(_mm_set_epi64x(by[1] as i64, by[0] as i64));
    let (quads, blocks) = blocks.as_chunks::<4>();
    for quad in quads {
        sums[0] = fold(sums[0], by, load(&quad[0]));
        sums[1] = fold(sums[1], by, load(&quad[1]));
        sums[2] = fold(sums[2], by, load(&quad[2]));
        sums[3] = fold(sums[3], by, load(&quad[3]));
    }
    let by = const { fold::fold_by(512) };
    let by = _mm512_broadcast_i32x4(_mm_set_epi64x(by[1] as i64, by[0] as i64));
    let mut sum = fold(sums[0], by, sums[1]);
    sum = fold(sum, by, sums[2]);
    sum = fold(sum, by, sums[3]);
    for block in blocks {
        sum = fold(sum, by, load(block));
    }
    // The four lanes are a message of 64 bytes with the same CRC.
    let mut message = [0; 64];
    // SAFETY: the array has the 64 bytes.
    unsafe { _mm512_storeu_si512(message.as_mut_ptr().cast(), sum) };
    let sum = fold::crc32::<Lane128>(!0, &message);
    fold::crc32::<Lane128>(sum, rest)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vl")]
#[inline]
unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
    debug_assert!(at + 32 <= data.len());
    // SAFETY: the caller vouches for these 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(data.as_ptr().add(at).cast()) };
    let bytes = _mm512_castsi256_si512(bytes);
    let product = |word: usize| {
        let own = _mm512_permutexvar_epi8(load(&WINDOWS32[word]), bytes);
        let own = _mm512_and_si512(own, _mm512_set1_epi32(hash.masks[word] as i32));
        _mm512_mullo_epi32(own, _mm512_set1_epi32(FACTORS[word] as i32))
    };
    let mut sum = product(0);
    if WORDS > 1 {
        sum = _mm512_add_epi32(sum, product(1));
    }
    if WORDS > 2 {
        sum = _mm512_add_epi32(sum, product(2));
    }
    let sum = _mm512_srl_epi32(sum, _mm_cvtsi32_si128(hash.shift as i32));
    // SAFETY: the array has the 32 bytes.
    unsafe { _mm256_storeu_si256(hashes.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(sum)) };
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vl,avx512vpopcntdq")]
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
    // SAFETY: the caller vouches for 32 bytes.
    let base = unsafe { data.as_ptr().add(at) };
    // SAFETY: as above.
    let bytes = _mm512_castsi256_si512(unsafe { _mm256_loadu_si256(base.cast()) });
    let lanes = load16(&LANES);
    let here = _mm256_add_epi16(lanes, _mm256_set1_epi16((at + bias) as i16));
    let reach = if at >= WINDOW {
        _mm256_set1_epi16(WINDOW as u16 as i16)
    } else {
        let unbound = _mm256_add_epi16(lanes, _mm256_set1_epi16(at as i16));
        _mm256_min_epu16(unbound, _mm256_set1_epi16(WINDOW as u16 as i16))
    };
    let mut most = _mm512_setzero_si512();
    let mut best = _mm512_setzero_si512();
    for links in links.runs() {
        let distance = _mm256_sub_epi16(here, load16(links));
        let valid = _mm256_cmple_epu16_mask(distance, reach);
        let distance = _mm512_cvtepu16_epi32(distance);
        let index = _mm512_sub_epi32(_mm512_cvtepu16_epi32(lanes), distance);
        // SAFETY: valid distances are at most the position.
        let equal = unsafe { equal_bytes(bytes, base, valid, index) };
        let better = _mm512_cmpge_epu32_mask(equal, most);
        most = _mm512_mask_mov_epi32(most, better, equal);
        best = _mm512_mask_mov_epi32(best, better, distance);
    }
    let found = _mm512_cmpge_epu32_mask(most, _mm512_set1_epi32(least as i32));
    let matches = _mm512_or_si512(_mm512_slli_epi32::<16>(most), best);
    let matches = _mm512_maskz_mov_epi32(found, matches);
    // SAFETY: the run has the 64 bytes.
    unsafe { _mm512_storeu_si512(run.as_mut_ptr().cast(), matches) };
    _mm512_cmpeq_epu32_mask(most, _mm512_set1_epi32(PROBED as i32)).into()
}

/// A deep position with the distance of the one before is inside of the same match. Only the others, few of a run, are
/// looked at one by one; what they find goes to all lanes after them, and there is overwritten by the next.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vl,avx512vpopcntdq")]
#[inline]
unsafe fn extend_run(
    run: &mut [Token; RUN],
    deep: u16,
    data: &[u8],
    at: usize,
    end: usize,
    reach: &mut Reach,
) {
    debug_assert!(at + RUN + PROBED <= end && end <= data.len());
    let (length, distance) = split(run);
    // What the last run leaves is as good as a lane before the first, if it reaches that far.
    let carried = if reach.until > at { reach.distance } else { 0 };
    let before = _mm512_alignr_epi32::<15>(distance, _mm512_set1_epi32(carried as i32));
    let same = _mm512_mask_cmpeq_epi32_mask(deep << 1 | 1, before, distance);
    let mut starts = deep & !same;
    let mut until = _mm512_set1_epi32((reach.until as i32).wrapping_sub(at as i32));
    while starts != 0 {
        let lane = starts.trailing_zeros() as usize;
        starts &= starts - 1;
        reach.distance = run[lane % RUN].distance();
        let known = at + lane + PROBED;
        reach.until = known + long_match(data, known, reach.distance, end);
        until = _mm512_mask_set1_epi32(until, u16::MAX << lane, (reach.until - at) as i32);
    }
    let whole = _mm512_sub_epi32(until, _mm512_cvtepu16_epi32(load16(&LANES)));
    let whole = _mm512_min_epi32(whole, _mm512_set1_epi32(MAX_MATCH as i32));
    let length = _mm512_mask_mov_epi32(length, deep, whole);
    let matches = _mm512_or_si512(_mm512_slli_epi32::<16>(length), distance);
    // SAFETY: the run has the 64 bytes.
    unsafe { _mm512_storeu_si512(run.as_mut_ptr().cast(), matches) };
}

/// How many of the eight bytes of each position are equal to those at its index from `base`; 0 for positions that are not
/// `valid`. The positions are those of a run, which `bytes` begins with.
///
/// # Safety
///
/// Eight bytes can be read at each valid index.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vl,avx512vpopcntdq")]
#[inline]
unsafe fn equal_bytes(bytes: __m512i, base: *const u8, valid: u16, index: __m512i) -> __m512i {
    let half = |windows, valid: __mmask8, index| {
        let own = _mm512_permutexvar_epi8(load(windows), bytes);
        let unequal = _mm512_xor_si512(own, _mm512_set1_epi64(-1));
        // SAFETY: as the caller vouches.
        let other = unsafe { _mm512_mask_i32gather_epi64::<1>(unequal, valid, index, base.cast()) };
        let differ = _mm512_xor_si512(own, other);
        // As many bits as are below the lowest that differs; 64 if none does.
        let below = _mm512_add_epi64(differ, _mm512_set1_epi64(-1));
        _mm512_popcnt_epi64(_mm512_andnot_si512(differ, below))
    };
    let low = half(&WINDOWS64[0], valid as u8, _mm512_castsi512_si256(index));
    let high = half(&WINDOWS64[1], (valid >> 8) as u8, _mm512_extracti64x4_epi64::<1>(index));
    _mm512_srli_epi32::<3>(_mm512_permutex2var_epi32(low, load(&EVEN), high))
}

/// Compares 64 bytes before the first branch, which is then as good as always the same.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn long_match(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    debug_assert!(distance <= at && at <= end && end <= data.len());
    let mut equal = 0;
    while at + equal + 64 <= data.len() {
        // SAFETY: 64 bytes follow `at + equal`, and `distance` is at most the position.
        let (here, there) = unsafe {
            let here = data.as_ptr().add(at + equal);
            (_mm512_loadu_si512(here.cast()), _mm512_loadu_si512(here.sub(distance).cast()))
        };
        let unequal = _mm512_cmpneq_epi8_mask(here, there);
        equal += unequal.trailing_zeros() as usize;
        if unequal != 0 || at + equal >= end {
            return equal.min(end - at);
        }
    }
    equal + search::equal_bytes(data, at + equal, distance, end)
}

#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
    let (length, distance) = split(run);
    let literal = _mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(1));
    let litlen = _mm512_add_epi32(length, _mm512_set1_epi32(LENGTH_INDEX as i32));
    let litlen = _mm512_mask_mov_epi32(litlen, literal, distance);
    let slots = _mm512_maskz_compress_epi32(!literal, distance_slot(distance));
    let litlens = &mut symbols.litlen[index * RUN..][..RUN];
    let places = &mut symbols.slot[symbols.slots..][..RUN];
    // SAFETY: the slices have the 32 and 16 bytes.
    unsafe {
        _mm256_storeu_si256(litlens.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(litlen));
        _mm_storeu_si128(places.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(slots));
    }
    symbols.slots += literal.count_zeros() as usize;
}

#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn code_run(run: &[Token; RUN], codes: &Codes, coded: &mut Coded) -> bool {
    let (length, distance) = split(run);
    let literal = _mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(1));
    let index = _mm512_add_epi32(length, _mm512_set1_epi32(LENGTH_INDEX as i32));
    let index = _mm512_mask_mov_epi32(index, literal, distance);
    let index = _mm512_and_si512(index, _mm512_set1_epi32(LITLEN_INDEXES as i32 - 1));
    // SAFETY: the table has LITLEN_INDEXES entries of four bytes.
    let near = unsafe { _mm512_i32gather_epi32::<4>(index, codes.litlen.as_ptr().cast()) };
    let near_count = _mm512_srli_epi32::<24>(near);
    let near = _mm512_and_si512(near, _mm512_set1_epi32(0xff_ffff));

    let slot = _mm512_mask_mov_epi32(distance_slot(distance), literal, _mm512_set1_epi32(NO_DISTANCE as i32));
    let far = lookup(DistanceCode::words(&codes.distance), slot);
    let extra_count = _mm512_srli_epi32::<24>(far);
    let far_count = _mm512_and_si512(_mm512_srli_epi32::<16>(far), _mm512_set1_epi32(0xff));
    let far = _mm512_and_si512(far, _mm512_set1_epi32(0xffff));
    let one = _mm512_set1_epi32(1);
    let mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, extra_count), one);
    let extra = _mm512_and_si512(_mm512_sub_epi32(distance, one), mask);
    let far = _mm512_or_si512(far, _mm512_sllv_epi32(extra, far_count));

    let count = _mm512_add_epi32(near_count, _mm512_add_epi32(far_count, extra_count));

    // Each 64-bit lane has two tokens; their halves are joined to tokens, and those to the pair.
    let first = |halves| _mm512_and_si512(halves, _mm512_set1_epi64(0xffff_ffff));
    let second = |halves| _mm512_srli_epi64::<32>(halves);
    let join = |near, far, shift| _mm512_or_si512(near, _mm512_sllv_epi64(far, shift));
    let pair = join(
        join(first(near), first(far), first(near_count)),
        join(second(near), second(far), second(near_count)),
        first(count),
    );
    let count = _mm512_add_epi64(first(count), second(count));
    // SAFETY: the arrays have the 64 and 32 bytes.
    unsafe {
        _mm512_storeu_si512(coded.bits.as_mut_ptr().cast(), pair);
        _mm256_storeu_si256(coded.count.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(count));
    }
    _mm512_cmpgt_epu64_mask(count, _mm512_set1_epi64(MAX_PUT.into())) == 0
}

/// Lengths and distances.
#[target_feature(enable = "avx512f")]
#[inline]
fn split(run: &[Token; RUN]) -> (__m512i, __m512i) {
    parts(tokens(run))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn tokens(run: &[Token; RUN]) -> __m512i {
    // SAFETY: the run has the 64 bytes.
    unsafe { _mm512_loadu_si512(run.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn parts(tokens: __m512i) -> (__m512i, __m512i) {
    (_mm512_srli_epi32::<16>(tokens), _mm512_and_si512(tokens, _mm512_set1_epi32(0xffff)))
}

/// Two slots for each power of two: the power, and the bit after the highest. The first four are their own.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn distance_slot(distance: __m512i) -> __m512i {
    let one = _mm512_set1_epi32(1);
    let below = _mm512_sub_epi32(distance, one);
    let power = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(below));
    let shift = _mm512_sub_epi32(power, one);
    let slot = _mm512_add_epi32(_mm512_add_epi32(shift, shift), _mm512_srlv_epi32(below, shift));
    _mm512_mask_mov_epi32(slot, _mm512_cmplt_epu32_mask(below, _mm512_set1_epi32(2)), below)
}

/// The entries at the lowest five bits of each index.
#[target_feature(enable = "avx512f")]
#[inline]
fn lookup(table: &[u32; 32], index: __m512i) -> __m512i {
    // SAFETY: the table has twice the 64 bytes.
    unsafe {
        let low = _mm512_loadu_si512(table.as_ptr().cast());
        let high = _mm512_loadu_si512(table.as_ptr().add(16).cast());
        _mm512_permutex2var_epi32(low, index, high)
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(values: &mut [u32; RUN], vector: __m512i) {
    // SAFETY: the array has the 64 bytes.
    unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), vector) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array has the 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load16(values: &[u16; RUN]) -> __m256i {
    // SAFETY: the array has the 32 bytes.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}
