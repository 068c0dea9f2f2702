//! NEON with the polynomial products of the cryptography extension, which Armv8 servers have.
//!
//! NEON cannot gather: the scalar steps of the search stay. Its own are the loops that compile to vectors, and the CRC.

use super::Isa;
use crate::checksum::fold::{Lane, crc32};
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
