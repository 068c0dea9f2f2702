//! What AVX2 and AVX-512 share.

use crate::checksum::fold::Lane;
use core::arch::x86_64::*;

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
