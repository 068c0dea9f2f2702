//! Adler-32, scalar.

/// The largest prime below 2^16.
pub(crate) const MODULUS: u32 = 65521;

/// Bytes that can be added before the sums must be reduced: the largest `n` for which
/// `255 n (n + 1) / 2 + (n + 1) (MODULUS - 1)` fits 32 bits.
pub(crate) const MAX_RUN: usize = 5552;

const _: () = {
    const fn worst(n: u64) -> u64 {
        255 * n * (n + 1) / 2 + (n + 1) * (MODULUS as u64 - 1)
    }
    assert!(worst(MAX_RUN as u64) <= u32::MAX as u64);
    assert!(worst(MAX_RUN as u64 + 1) > u32::MAX as u64);
};

/// Continues `seed` over `data`.
pub(crate) fn scalar(seed: u32, data: &[u8]) -> u32 {
    let (mut low, mut high) = (seed & 0xffff, seed >> 16);
    for run in data.chunks(MAX_RUN) {
        for &byte in run {
            low += u32::from(byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    high << 16 | low
}

/// Continues `seed` over `data`, many bytes at a time in loops that compile to vectors.
///
/// With the bytes in rows of `LANES`, each column has its own two sums; a byte that counts `n` times in the sum of a
/// column's sums stands before `n` rows less its column.
#[inline(always)]
pub(crate) fn lanes(seed: u32, data: &[u8]) -> u32 {
    const LANES: usize = 64;
    let (mut low, mut high) = (seed & 0xffff, seed >> 16);
    for run in data.chunks(MAX_RUN / LANES * LANES) {
        let (rows, rest) = run.as_chunks::<LANES>();
        let (mut sums, mut sums_of_sums) = ([0u32; LANES], [0u32; LANES]);
        for row in rows {
            for ((sum, sum_of_sums), &byte) in sums.iter_mut().zip(&mut sums_of_sums).zip(row) {
                *sum += u32::from(byte);
                *sum_of_sums += *sum;
            }
        }
        high += (rows.len() * LANES) as u32 * low + LANES as u32 * sums_of_sums.iter().sum::<u32>();
        let columns = sums.iter().zip(0..);
        high -= columns.map(|(sum, column)| sum * column).sum::<u32>();
        low += sums.iter().sum::<u32>();
        for &byte in rest {
            low += u32::from(byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(scalar(1, b""), 1);
        assert_eq!(scalar(1, b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn largest_sums_do_not_overflow() {
        let data = vec![0xff; 3 * MAX_RUN + 7];
        let naive = data.iter().fold((1u64, 0u64), |(a, b), &x| {
            let a = (a + u64::from(x)) % u64::from(MODULUS);
            (a, (b + a) % u64::from(MODULUS))
        });
        assert_eq!(u64::from(scalar(1, &data)), naive.1 << 16 | naive.0);
    }
}
