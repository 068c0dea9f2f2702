//! AVX2, and what AVX-512 shares with it.
//!
//! AVX2 can gather, but not scatter, compare without a detour, or find the lowest set bit of a lane; the scalar steps,
//! compiled for its shifts and bit counts, are as fast. Its own are the loops that compile to vectors, and the CRC.

use super::Isa;
use crate::checksum::fold::{self, Lane};
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
