//! Code lengths without sorting frequencies or building a tree: nearly the best, in less than half the time.
//!
//! ```text
//! for each symbol: length = ceil(log2(total / frequency))
//! for each symbol, the one first that was rounded up most: if there is room, length -= 1
//! ```
//!
//! The first is Shannon's code. It always fits, and leaves room in the code space, since it rounds every length up; what
//! is best given back to those that lost most by it. An incomplete code is no good to a decoder, so it is all given back.
//!
//! It is all in integers: `length` is the smallest with `frequency << length >= total`, and what it was rounded up by is
//! how far the left side is above.

use super::huffman;
use crate::format::LITLEN_SYMBOLS;

/// Steps in which the rounding is looked at: enough to be 0.1 % from the best code.
const STEPS: usize = 32;

/// As [`huffman::code_lengths`], which it leaves rare cases to.
pub(crate) fn code_lengths(frequencies: &[u32], limit: usize, lengths: &mut [u8]) {
    debug_assert!(frequencies.len() == lengths.len() && lengths.len() <= LITLEN_SYMBOLS);
    let total: u32 = frequencies.iter().sum();
    let most = frequencies.iter().max().copied().unwrap_or(0);
    if total > 1 << limit || most == total {
        // A length might be above the limit, or there are not two symbols.
        return huffman::code_lengths(frequencies, limit, lengths);
    }
    lengths.fill(0);
    let mut symbols = [0u16; LITLEN_SYMBOLS];
    let mut used = 0;
    for (symbol, &frequency) in frequencies.iter().enumerate() {
        symbols[used] = symbol as u16;
        used += usize::from(frequency != 0);
    }
    let symbols = &symbols[..used];

    let scale = ((STEPS as u32) << 16) / total;
    let mut coded = [Coded::default(); LITLEN_SYMBOLS];
    let mut places = [0u16; STEPS];
    let mut room = 1 << limit;
    for (&symbol, coded) in symbols.iter().zip(&mut coded) {
        let frequency = frequencies[usize::from(symbol)];
        let close = total.ilog2() - frequency.ilog2();
        let length = close + u32::from(frequency << close < total);
        let step = (((frequency << length) - total) * scale) >> 16;
        *coded = Coded { symbol, length: length as u8, step: step as u8 };
        places[step as usize % STEPS] += 1;
        room -= 1u32 << (limit as u32 - length);
    }

    // A counting sort.
    let mut before = 0;
    for place in places.iter_mut().rev() {
        (before, *place) = (before + *place, before);
    }
    let mut sorted = [Coded::default(); LITLEN_SYMBOLS];
    for coded in &coded[..used] {
        let place = &mut places[usize::from(coded.step) % STEPS];
        sorted[usize::from(*place)] = *coded;
        *place += 1;
    }

    // One bit less takes as much room again. The longest codes take the unit of the room, so that one round after the
    // other they fill it.
    while room > 0 {
        for coded in &mut sorted[..used] {
            let more = 1 << (limit as u32 - u32::from(coded.length));
            let fits = more <= room;
            coded.length -= u8::from(fits);
            room -= if fits { more } else { 0 };
        }
    }
    for coded in &sorted[..used] {
        lengths[usize::from(coded.symbol)] = coded.length;
    }
}

/// A symbol that occurs.
#[derive(Clone, Copy, Default)]
struct Coded {
    symbol: u16,
    length: u8,
    /// How much the length was rounded up by.
    step: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths_of(frequencies: &[u32], limit: usize) -> Vec<u8> {
        let mut lengths = vec![0; frequencies.len()];
        code_lengths(frequencies, limit, &mut lengths);
        lengths
    }

    /// Asserts that the code is complete and within the limit, and that it has a code for what needs one and no others.
    fn assert_sound(frequencies: &[u32], limit: usize) {
        let lengths = lengths_of(frequencies, limit);
        let used = lengths.iter().filter(|&&length| length > 0);
        assert!(used.clone().all(|&length| usize::from(length) <= limit));
        let sum: u32 = used.map(|&length| 1 << (limit - usize::from(length))).sum();
        assert_eq!(sum, 1 << limit, "{frequencies:?}");
        if frequencies.iter().filter(|&&frequency| frequency > 0).count() >= 2 {
            for (&frequency, &length) in frequencies.iter().zip(&lengths) {
                assert_eq!(frequency == 0, length == 0, "{frequencies:?}");
            }
        }
    }

    fn size(frequencies: &[u32], lengths: &[u8]) -> u32 {
        frequencies.iter().zip(lengths).map(|(&frequency, &length)| frequency * u32::from(length)).sum()
    }

    #[test]
    fn few_symbols() {
        assert_eq!(lengths_of(&[0, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths_of(&[0, 0, 9], 15), [1, 0, 1]);
        assert_eq!(lengths_of(&[0, 1, 9], 15), [0, 1, 1]);
        assert_eq!(lengths_of(&[5, 1, 1, 2], 15), [1, 3, 3, 2]);
        assert_eq!(lengths_of(&[1; 286], 15).iter().filter(|&&length| length == 8).count(), 226);
    }

    #[test]
    fn complete_whatever_the_frequencies() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for round in 0..3000 {
            let count = 2 + random() as usize % 285;
            let skew = 1 + round % 16;
            let frequencies: Vec<u32> = (0..count).map(|_| random() >> (random() % skew)).collect();
            assert_sound(&frequencies, 15);
            let scarce: Vec<u32> = frequencies.iter().map(|frequency| frequency >> 12).collect();
            assert_sound(&scarce, 15);
            assert_sound(&scarce[..count.min(30)], 15);
            assert_sound(&scarce[..count.min(19)], 7);
        }
    }

    #[test]
    fn extreme_skews() {
        for rare in 1..=285 {
            let mut frequencies = vec![1; rare + 1];
            // The largest total that is not left to Huffman's code, and one more.
            for total in [1 << 15, (1 << 15) + 1] {
                frequencies[rare / 2] = total - rare as u32;
                assert_sound(&frequencies, 15);
            }
        }
        let powers: Vec<u32> = (0..15).map(|power| 1 << power).chain([1]).collect();
        assert_eq!(lengths_of(&powers, 15), [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 15]);
    }

    #[test]
    fn close_to_the_best() {
        let mut state = 7u32;
        let (mut near, mut best) = (0, 0);
        for _ in 0..200 {
            let frequencies: Vec<u32> = (0..286)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 25) >> (state >> 16 & 7)
                })
                .collect();
            near += size(&frequencies, &lengths_of(&frequencies, 15));
            let mut lengths = vec![0; 286];
            huffman::code_lengths(&frequencies, 15, &mut lengths);
            best += size(&frequencies, &lengths);
        }
        assert!(best <= near && near - best < best / 200, "{near} for {best}");
    }
}
