//! Tokens to bits: the last of the hot loops.
//!
//! ```text
//! for each token: bits += code of the literal or length, its extra bits, code of the distance, its extra bits
//! ```
//!
//! 1. There is no branch between literal and match, which no predictor could learn: a literal has a distance of no bits.
//! 2. What to write is found for a run of tokens at once; only the writing waits for the token before.

use super::bits::BitWriter;
use super::block::{Codes, MAX_TOKEN_BITS};
use super::histogram::symbols_of;
use super::search::RUN;
use super::token::Token;
use crate::isa::Isa;

// A token goes into a 64-bit buffer that holds up to 7 bits already, without a look in between.
const _: () = assert!(7 + MAX_TOKEN_BITS <= 63);

/// Bytes that a step may store beyond what it advances.
const SLACK: usize = 8;

/// The bits of a run of tokens, and how many.
#[derive(Default)]
pub(crate) struct Coded {
    pub(crate) bits: [u64; RUN],
    pub(crate) count: [u32; RUN],
}

/// Writes the codes of `tokens`, which take at most `size` bits.
#[inline(always)]
pub(crate) fn emit<I: Isa>(tokens: &[Token], codes: &Codes, size: usize, writer: &mut BitWriter) {
    let (out, buffer, buffered) = writer.parts();
    let start = out.len();
    out.reserve(size / 8 + 1 + SLACK);
    let room = out.spare_capacity_mut().len();
    let base = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    let (mut bits, mut count) = (*buffer, *buffered);
    let mut at = 0;
    let mut put = |value: u64, length: u32| {
        bits |= value << count;
        count += length;
        debug_assert!(count < 64 && at + 8 <= room);
        // SAFETY: `at` is at most the whole bytes among the `size` bits of all tokens and the up to 7 before them, and
        // that and SLACK were reserved.
        unsafe { base.add(at).cast::<[u8; 8]>().write(bits.to_le_bytes()) };
        at += (count >> 3) as usize;
        bits >>= count & !7;
        count &= 7;
    };
    let (runs, rest) = tokens.as_chunks::<RUN>();
    let mut coded = Coded::default();
    for run in runs {
        I::code_run(run, codes, &mut coded);
        for (&value, &length) in coded.bits.iter().zip(&coded.count) {
            put(value, length);
        }
    }
    for &token in rest {
        let (value, length) = code(token, codes);
        put(value, length);
    }
    (*buffer, *buffered) = (bits, count);
    // SAFETY: all bytes before `at` were written.
    unsafe { out.set_len(start + at) };
}

/// All bits of one token, and how many.
#[inline(always)]
pub(crate) fn code(token: Token, codes: &Codes) -> (u64, u32) {
    let (index, slot) = symbols_of(token);
    let litlen = codes.litlen[index % codes.litlen.len()];
    let slot = codes.distance[slot % 32];
    // A slot begins one after a multiple of its size.
    let extra = (token.distance() as u32).wrapping_sub(1) & ((1 << slot.extra()) - 1);
    let far = u64::from(slot.bits()) | u64::from(extra) << slot.count();
    let value = u64::from(litlen.bits()) | far << litlen.count();
    (value, litlen.count() + slot.count() + slot.extra())
}
