//! The two checksums of the containers: CRC-32 (gzip) and Adler-32 (zlib).

pub(crate) mod adler32;
pub(crate) mod crc32;
pub(crate) mod fold;

use crate::Kernels;

/// The CRC-32 of gzip (RFC 1952, section 8) of `data`, continuing from `seed`, the CRC-32 of what came before (0 at the start).
pub fn crc32(seed: u32, data: &[u8]) -> u32 {
    Kernels::detect().crc32(seed, data)
}

/// The Adler-32 of zlib (RFC 1950, section 8.2) of `data`, continuing from `seed` (1 at the start).
pub fn adler32(seed: u32, data: &[u8]) -> u32 {
    Kernels::detect().adler32(seed, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_agree() {
        let data: Vec<u8> = (0..40_000u32).map(|i| ((i * i) >> 7) as u8).collect();
        let ones = vec![0xff; 40_000];
        for kernels in Kernels::all() {
            for data in [&data, &ones] {
                for len in (0..700).chain([5551, 5552, 5553, 11_111, 40_000]) {
                    for start in [0, 1, 7].into_iter().filter(|start| start + len <= data.len()) {
                        let part = &data[start..start + len];
                        let what = format!("{}, {len} bytes", kernels.name());
                        let seed = (len as u32).wrapping_mul(0x9e37_79b1);
                        assert_eq!(kernels.crc32(seed, part), crc32::scalar(seed, part), "{what}");
                        let seed = (len as u32 % 65521) << 16 | 65520;
                        assert_eq!(kernels.adler32(seed, part), adler32::scalar(seed, part), "{what}");
                    }
                }
            }
        }
    }
}
