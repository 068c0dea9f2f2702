//! Length-limited prefix codes.

use crate::format::MAX_CODE_BITS;

/// Sets the code length of each symbol so that the total for `frequencies` is smallest, with no length above `limit`.
///
/// At least two symbols get a code: some decoders want the code complete, and a single code cannot be.
pub(crate) fn code_lengths(frequencies: &[u32], limit: usize, lengths: &mut [u8]) {
    debug_assert_eq!(frequencies.len(), lengths.len());
    debug_assert!(lengths.len() <= 1 << SYMBOL_BITS && lengths.len() <= 1 << limit);
    lengths.fill(0);
    let mut buffer = [0u32; 1 << SYMBOL_BITS];
    let mut used = 0;
    for (symbol, &frequency) in frequencies.iter().enumerate() {
        debug_assert!(frequency < 1 << (32 - SYMBOL_BITS));
        buffer[used] = frequency << SYMBOL_BITS | symbol as u32;
        used += usize::from(frequency != 0);
    }
    if used < 2 {
        let symbol = (buffer[0] & SYMBOL_MASK) as usize * used;
        lengths[symbol] = 1;
        lengths[usize::from(symbol == 0)] = 1;
        return;
    }
    let leaves = &mut buffer[..used];
    leaves.sort_unstable();

    let mut symbols = [0u16; 1 << SYMBOL_BITS];
    for (symbol, leaf) in symbols.iter_mut().zip(leaves.iter_mut()) {
        *symbol = (*leaf & SYMBOL_MASK) as u16;
        *leaf >>= SYMBOL_BITS;
    }
    link_parents(leaves);
    let mut next = used;
    for (length, count) in count_depths(leaves, limit).into_iter().enumerate() {
        // The rarest symbols come first in `symbols`, and the longest codes last in the counts.
        for _ in 0..count {
            next -= 1;
            lengths[usize::from(symbols[next])] = length as u8;
        }
    }
    debug_assert_eq!(next, 0);
}

/// Gives each symbol its canonical code (RFC 1951, section 3.2.2), bits reversed as they are sent.
pub(crate) fn assign_codes(lengths: &[u8], codes: &mut [u16]) {
    debug_assert!(lengths.iter().all(|&length| usize::from(length) <= MAX_CODE_BITS));
    // Neighbours are counted apart, and so are symbols without a code below: each increment waits for the last in its place.
    let mut counts = [[0u16; LENGTHS]; 4];
    for (index, &length) in lengths.iter().enumerate() {
        counts[index % 4][usize::from(length) % LENGTHS] += 1;
    }
    // Codes are aligned to the left, where they are a sum of what each code before takes of the code space.
    let mut next = [0u16; 2 * LENGTHS];
    for length in 1..LENGTHS - 1 {
        let count: u16 = counts.iter().map(|counts| counts[length]).sum();
        next[length + 1] = next[length].wrapping_add(count << (16 - length));
    }
    for (index, (&length, code)) in lengths.iter().zip(&mut *codes).enumerate() {
        let place = if length == 0 { LENGTHS + index % LENGTHS } else { length.into() };
        let next = &mut next[place % (2 * LENGTHS)];
        *code = *next;
        *next = next.wrapping_add(((1u32 << 16) >> length) as u16);
    }
    for code in codes {
        *code = code.reverse_bits();
    }
}

/// Values of a code length, with 0.
const LENGTHS: usize = MAX_CODE_BITS + 1;

const _: () = assert!(LENGTHS.is_power_of_two());

const SYMBOL_BITS: u32 = 9;
const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1;

/// Turns sorted weights into a Huffman tree in place (Moffat and Katajainen, "In-place calculation of minimum-redundancy
/// codes"): inner node `i` is then the index of its parent, the root is the last but one element.
fn link_parents(nodes: &mut [u32]) {
    let last = nodes.len() - 1;
    let (mut leaf, mut inner) = (0, 0);
    for next in 0..last {
        let mut weight = 0;
        for _ in 0..2 {
            if leaf <= last && (inner >= next || nodes[leaf] <= nodes[inner]) {
                weight += nodes[leaf];
                leaf += 1;
            } else {
                weight += nodes[inner];
                nodes[inner] = next as u32;
                inner += 1;
            }
        }
        nodes[next] = weight;
    }
}

/// How many leaves have each depth, none of them deeper than `limit`.
fn count_depths(parents: &mut [u32], limit: usize) -> [u16; MAX_CODE_BITS + 1] {
    let mut counts = [0u16; MAX_CODE_BITS + 1];
    let root = parents.len() - 2;
    counts[1] = 2;
    parents[root] = 0;
    for node in (0..root).rev() {
        let depth = parents[parents[node] as usize] as usize + 1;
        parents[node] = depth as u32;
        // The node takes the place of a leaf and has two of its own; past the limit it takes a shallower one instead.
        let mut place = depth;
        if place >= limit {
            place = limit - 1;
            while counts[place] == 0 {
                place -= 1;
            }
        }
        counts[place] -= 1;
        counts[place + 1] += 2;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths_of(frequencies: &[u32], limit: usize) -> Vec<u8> {
        let mut lengths = vec![0; frequencies.len()];
        code_lengths(frequencies, limit, &mut lengths);
        lengths
    }

    fn kraft(lengths: &[u8]) -> f64 {
        let used = lengths.iter().filter(|&&length| length > 0);
        used.map(|&length| 0.5f64.powi(length.into())).sum()
    }

    #[test]
    fn example_of_the_rfc() {
        let mut codes = [0; 8];
        assign_codes(&[3, 3, 3, 3, 3, 2, 4, 4], &mut codes);
        assert_eq!(codes[0], 0b010);
        assert_eq!(codes[4], 0b011);
        assert_eq!(codes[5], 0b00);
        assert_eq!(codes[7], 0b1111);
    }

    #[test]
    fn codes_are_complete() {
        assert_eq!(lengths_of(&[0, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths_of(&[0, 0, 9], 15), [1, 0, 1]);
        assert_eq!(lengths_of(&[9, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths_of(&[5, 1, 1, 2], 15), [1, 3, 3, 2]);
        let mut state = 1u32;
        for count in 2..=286 {
            let frequencies: Vec<u32> = (0..count)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16) >> (state % 16)
                })
                .collect();
            assert_eq!(kraft(&lengths_of(&frequencies, 15)), 1.0);
            assert_eq!(kraft(&lengths_of(&frequencies, 9)), 1.0);
        }
    }

    #[test]
    fn lengths_are_limited() {
        // Fibonacci weights make the deepest trees.
        let mut frequencies = vec![1u32, 1];
        while frequencies.len() < 19 {
            frequencies.push(frequencies[frequencies.len() - 1] + frequencies[frequencies.len() - 2]);
        }
        let lengths = lengths_of(&frequencies, 7);
        assert_eq!(kraft(&lengths), 1.0);
        assert_eq!(lengths.iter().max(), Some(&7));
        assert_eq!(lengths_of(&frequencies[..10], 15).iter().max(), Some(&9));
    }
}
