//! Tokens to bits: the last of the hot loops.
//!
//! ```text
//! for each token: bits += code of the literal or length, its extra bits, code of the distance, its extra bits
//! ```
//!
//! 1. There is no branch between literal and match, which no predictor could learn: a literal has a distance of no bits.
//! 2. What to write is found for a run of tokens at once, and joined two by two; only the writing of a pair waits for the
//!    pair before.
//! 3. Two tokens of most bits would not fit the buffer together. They are so rare that a run with such a pair is just
//!    written token by token.

use super::bits::{BitWriter, MAX_PUT};
use super::block::{Codes, MAX_TOKEN_BITS};
use super::histogram::symbols_of;
use super::search::RUN;
use super::token::Token;
use crate::isa::Isa;

const _: () = assert!(MAX_TOKEN_BITS <= MAX_PUT as usize);

/// The bits of a run of tokens, two by two, and how many.
#[derive(Default)]
pub(crate) struct Coded {
    pub(crate) bits: [u64; RUN / 2],
    pub(crate) count: [u32; RUN / 2],
}

/// Writes the codes of `tokens`, which take at most `size` bits.
#[inline(always)]
pub(crate) fn emit<I: Isa>(tokens: &[Token], codes: &Codes, size: usize, writer: &mut BitWriter) {
    debug_assert!(size >= tokens.iter().map(|&token| code(token, codes).1 as usize).sum());
    let mut room = writer.room(size);
    let (runs, rest) = tokens.as_chunks::<RUN>();
    let mut coded = Coded::default();
    for run in runs {
        let fits = I::code_run(run, codes, &mut coded);
        // SAFETY: the tokens take at most `size` bits, as the caller says.
        unsafe {
            if fits {
                room.put(coded.bits.iter().copied().zip(coded.count));
            } else {
                room.put(run.iter().map(|&token| code(token, codes)));
            }
        }
    }
    // SAFETY: as above.
    unsafe { room.put(rest.iter().map(|&token| code(token, codes))) };
}

/// The spec of [`Isa::code_run`].
#[inline(always)]
pub(crate) fn code_run(run: &[Token; RUN], codes: &Codes, coded: &mut Coded) -> bool {
    let mut most = 0;
    let places = coded.bits.iter_mut().zip(&mut coded.count);
    for (pair, (bits, count)) in run.as_chunks::<2>().0.iter().zip(places) {
        let [first, second] = pair.map(|token| code(token, codes));
        *bits = first.0 | second.0 << first.1;
        *count = first.1 + second.1;
        most = most.max(*count);
    }
    most <= MAX_PUT
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernels;
    use crate::format::{DISTANCE_SYMBOLS, LITLEN_SYMBOLS, MAX_CODE_BITS, MAX_MATCH, MIN_MATCH, WINDOW};

    /// Bit by bit, as RFC 1951 says it.
    fn plain(tokens: &[Token], codes: &Codes) -> Vec<u8> {
        let mut bits = Vec::new();
        for &token in tokens {
            let (value, count) = code(token, codes);
            bits.extend((0..count).map(|bit| (value >> bit & 1) as u8));
        }
        bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
    }

    fn emitted(kernels: &Kernels, tokens: &[Token], codes: &Codes) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = BitWriter::new(&mut out, (0, 0));
        kernels.emit(tokens, codes, tokens.len() * MAX_TOKEN_BITS, &mut writer);
        writer.align();
        out
    }

    #[test]
    fn longest_tokens() {
        let longest = Token::matched(MAX_MATCH - 1, WINDOW);
        let codes =
            Codes::new(&[MAX_CODE_BITS as u8; LITLEN_SYMBOLS], &[MAX_CODE_BITS as u8; DISTANCE_SYMBOLS]);
        assert_eq!(code(longest, &codes).1 as usize, MAX_TOKEN_BITS);
        for kernels in Kernels::all() {
            for count in 0..70 {
                let tokens = vec![longest; count];
                assert_eq!(emitted(kernels, &tokens, &codes), plain(&tokens, &codes), "{kernels:?}");
            }
        }
    }

    #[test]
    fn pairs_at_the_limit() {
        let mut state = 1u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        // Codes of 9 to 15 bits: pairs have more than fit ever more often.
        for bits in 9..=MAX_CODE_BITS as u8 {
            let codes = Codes::new(&[bits; LITLEN_SYMBOLS], &[bits - 3; DISTANCE_SYMBOLS]);
            let tokens: Vec<_> = (0..1000)
                .map(|_| match random(3) {
                    0 => Token::literal(random(256) as u8),
                    _ => Token::matched(
                        MIN_MATCH + random(MAX_MATCH - MIN_MATCH + 1),
                        1 + (random(WINDOW) >> random(15)),
                    ),
                })
                .collect();
            let expected = plain(&tokens, &codes);
            for kernels in Kernels::all() {
                assert_eq!(emitted(kernels, &tokens, &codes), expected, "{kernels:?}");
            }
        }
    }
}
