//! AVX2, and what AVX-512 shares with it.
//!
//! AVX2 can gather, but not scatter, compare without a detour, or find the lowest set bit of a lane; the scalar steps of
//! the search, compiled for its shifts and bit counts, are as fast. Its own are the symbols and bits of tokens, the loops
//! that compile to vectors, and the CRC.

use super::Isa;
use crate::checksum::fold::{self, Lane};
use crate::deflate::bits::MAX_PUT;
use crate::deflate::block::Codes;
use crate::deflate::emit::Coded;
use crate::deflate::histogram::{LENGTH_INDEX, LITERAL_LANES, LITLEN_INDEXES, Symbols};
use crate::deflate::search::RUN;
use crate::deflate::token::Token;
use crate::format::NO_DISTANCE;
use core::arch::x86_64::*;

pub(super) struct Avx2;

pub(super) fn has_avx2() -> bool {
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

/// A vector for [`fold`](crate::checksum::fold).
#[derive(Clone, Copy)]
pub(super) struct Lane128(__m128i);

// These are inlined into kernels that have the features; a `Lane128` is nowhere else.
impl Lane for Lane128 {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the array has the 16 bytes.
        Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: the array has the 16 bytes.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), self.0) };
        bytes
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self, by: [u64; 2]) -> Self {
        // SAFETY: the kernels that this is inlined into have PCLMULQDQ.
        Self(unsafe {
            let by = _mm_set_epi64x(by[1] as i64, by[0] as i64);
            let first = _mm_clmulepi64_si128::<0x00>(self.0, by);
            let second = _mm_clmulepi64_si128::<0x11>(self.0, by);
            _mm_xor_si128(first, second)
        })
    }
}
