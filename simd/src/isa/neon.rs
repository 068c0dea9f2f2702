//! NEON with the polynomial products of the cryptography extension, which Armv8 servers have.
//!
//! NEON cannot gather: the scalar steps of the search stay. Its own are the loops that compile to
//! vectors, the CRC, and the copy of a match.

use super::Isa;
use crate::checksum::fold::{Lane, crc32};
use crate::inflate::fast::COPY_SLACK;
use core::arch::aarch64::*;

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
