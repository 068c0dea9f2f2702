//! The two checksums of the containers: CRC-32 (gzip) and Adler-32 (zlib).

pub(crate) mod adler32;
pub(crate) mod crc32;

use crate::Kernels;

/// The CRC-32 of gzip (RFC 1952, section 8) of `data`, continuing from `seed`, the CRC-32 of what came before (0 at the start).
pub fn crc32(seed: u32, data: &[u8]) -> u32 {
    Kernels::detect().crc32(seed, data)
}

/// The Adler-32 of zlib (RFC 1950, section 8.2) of `data`, continuing from `seed` (1 at the start).
pub fn adler32(seed: u32, data: &[u8]) -> u32 {
    Kernels::detect().adler32(seed, data)
}
