//! CRC-32 by carry-less multiplication.
//!
//! A CRC is the message, a polynomial over GF(2), modulo another. Sixteen bytes can be moved `n` bits ahead by two
//! products with `x^n` modulo the polynomial, and added to what is there (Gopal et al., "Fast CRC Computation for
//! Generic Polynomials Using PCLMULQDQ Instruction", 2009):
//!
//! ```text
//! four vectors of the message
//! for each further four vectors: move each ahead by the size of four, add
//! add up the four, then what is left of whole vectors
//! the last vector is a message with the same CRC; that and the rest go through the tables
//! ```
//!
//! Four, because a product takes about four times as long as it takes to begin the next.

use super::crc32::{POLYNOMIAL, update};

/// Sixteen bytes that can be multiplied.
pub(crate) trait Lane: Copy {
    fn load(bytes: &[u8; 16]) -> Self;
    fn store(self) -> [u8; 16];
    fn xor(self, other: Self) -> Self;
    /// The sum of the products of both halves with both constants.
    fn fold(self, by: [u64; 2]) -> Self;
}

/// Continues `seed` over `data`.
#[inline(always)]
pub(crate) fn crc32<L: Lane>(seed: u32, data: &[u8]) -> u32 {
    let (blocks, rest) = data.as_chunks::<16>();
    let Some((first, blocks)) = blocks.split_first() else {
        return !update(!seed, data);
    };
    let seeded = (u128::from_le_bytes(*first) ^ u128::from(!seed)).to_le_bytes();
    let mut sum = L::load(&seeded);
    let mut blocks = blocks.iter();
    if blocks.len() >= 7 {
        let mut next = || blocks.next().map(L::load);
        let (Some(second), Some(third), Some(fourth)) = (next(), next(), next()) else {
            return !update(!seed, data);
        };
        let mut sums = [sum, second, third, fourth];
        let mut quads = blocks.as_slice().chunks_exact(4);
        for quad in &mut quads {
            for (sum, block) in sums.iter_mut().zip(quad) {
                *sum = sum.fold(FOLD_512).xor(L::load(block));
            }
        }
        blocks = quads.remainder().iter();
        sum = sums[0];
        for other in &sums[1..] {
            sum = sum.fold(FOLD_128).xor(*other);
        }
    }
    for block in blocks {
        sum = sum.fold(FOLD_128).xor(L::load(block));
    }
    !update(update(0, &sum.store()), rest)
}

pub(crate) const FOLD_128: [u64; 2] = fold_by(128);
pub(crate) const FOLD_512: [u64; 2] = fold_by(512);

/// What moves 128 bits ahead by `bits`: for the half that comes first in the message, and for the other.
pub(crate) const fn fold_by(bits: u32) -> [u64; 2] {
    [power(bits + 32), power(bits - 32)]
}

/// `x^exponent` modulo the polynomial, bits reversed, and one further, as the product of reversed factors is one short.
const fn power(exponent: u32) -> u64 {
    let mut value = 1 << 31;
    let mut done = 0;
    while done < exponent {
        value = (value >> 1) ^ (POLYNOMIAL & (value & 1u32).wrapping_neg());
        done += 1;
    }
    (value as u64) << 1
}

// The constants of the paper.
const _: () = {
    assert!(FOLD_512[0] == 0x1_5444_2bd4 && FOLD_512[1] == 0x1_c6e4_1596);
    assert!(FOLD_128[0] == 0x1_7519_97d0 && FOLD_128[1] == 0xccaa_009e);
};
