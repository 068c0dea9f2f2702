//! Where a block ends.

use super::histogram::Histogram;

/// Bits that a block of its own costs: about the header of a dynamic block.
const HEADER_BITS: u64 = 8 * 64;

/// True if two blocks are smaller than one with the symbols of both.
pub(crate) fn pays(before: &Histogram, after: &Histogram) -> bool {
    let mut both = before.clone();
    both.add(after);
    information(&both) > information(before) + information(after) + (HEADER_BITS << FRACTION)
}

const FRACTION: u32 = 8;

/// The entropy of all symbols, in 2^-8 bits.
fn information(histogram: &Histogram) -> u64 {
    of(&histogram.litlen) + of(&histogram.distance[..30])
}

fn of(frequencies: &[u32]) -> u64 {
    let total: u32 = frequencies.iter().sum();
    let weighted = |count: u32| u64::from(count) * u64::from(log2(count));
    weighted(total) - frequencies.iter().map(|&count| weighted(count)).sum::<u64>()
}

/// The binary logarithm in 2^-8, of 0 as of 1; between powers of two a parabola that errs by less than 0.01.
fn log2(value: u32) -> u32 {
    let value = value.max(1);
    let power = value.ilog2();
    let mantissa = (u64::from(value) << 16 >> power) as u32 - (1 << 16);
    let bend = (u64::from(mantissa) * u64::from((1 << 16) - mantissa)) >> 16;
    (power << FRACTION) + ((mantissa + (bend as u32) / 3) >> (16 - FRACTION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_is_close() {
        for value in (1..100_000u32).step_by(7) {
            let exact = f64::from(value).log2() * 256.0;
            assert!((f64::from(log2(value)) - exact).abs() < 4.0, "{value}");
        }
    }

    #[test]
    fn splits_where_the_symbols_change() {
        let of_bytes = |bytes: std::ops::Range<usize>| {
            let mut histogram = Histogram::EMPTY;
            histogram.litlen[bytes].fill(100);
            histogram
        };
        assert!(pays(&of_bytes(0..64), &of_bytes(100..164)));
        assert!(!pays(&of_bytes(0..64), &of_bytes(0..64)));
    }
}
