//! What AVX2 and AVX-512 share: the copy of a match, and the lane of the CRC.

use crate::checksum::fold::Lane;
use crate::inflate::fast::COPY_SLACK;
use core::arch::x86_64::*;

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

/// Bytes that a step of [`copy_match`] writes.
const STEP: usize = 32;
const _: () = assert!(STEP <= COPY_SLACK);

/// Copies a match in vectors: most fit into the first. Of a period below 16, a pattern is made once.
///
/// # Safety
///
/// Those of [`Isa::copy_match`], and a CPU with AVX2.
#[inline(always)]
pub(super) unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + COPY_SLACK <= out.len());
    // SAFETY: reads begin `distance` before writes, and are as long; a write begins before the end of the match and is no
    // longer than STEP. Of the pattern, the shuffle takes only what was written before.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let mut from = to.sub(distance).cast_const();
        let end = to.add(length);
        // What the first vector holds of a match that does not overlap itself is right, whatever the distance.
        if distance >= length.min(STEP) {
            _mm256_storeu_si256(to.cast(), _mm256_loadu_si256(from.cast()));
            (from, to) = (from.add(STEP), to.add(STEP));
            while to < end {
                _mm256_storeu_si256(to.cast(), _mm256_loadu_si256(from.cast()));
                (from, to) = (from.add(STEP), to.add(STEP));
            }
            return;
        }
        if distance >= 16 {
            loop {
                _mm_storeu_si128(to.cast(), _mm_loadu_si128(from.cast()));
                (from, to) = (from.add(16), to.add(16));
                if to >= end {
                    return;
                }
            }
        }
        let shuffle = _mm_loadu_si128(PERIODIC[distance].as_ptr().cast());
        let pattern = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), shuffle);
        // Steps of the largest multiple of the period that fits stay in phase.
        let step = 16 - 16 % distance;
        loop {
            _mm_storeu_si128(to.cast(), pattern);
            to = to.add(step);
            if to >= end {
                return;
            }
        }
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
