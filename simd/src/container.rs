//! What stands around the DEFLATE stream.

use crate::{Format, GzHeader, Kernels, Level};

/// The bytes before the stream.
///
/// Unless `gzip` says otherwise they are the same for the same level, wherever and whenever they are written: the time is
/// 0 and the system unknown.
pub(crate) fn header(
    format: Format,
    level: Level,
    gzip: &GzHeader,
    dictionary: Option<u32>,
    out: &mut Vec<u8>,
) {
    match format {
        Format::Raw => {}
        Format::Zlib => {
            // DEFLATE with a window of 32 KiB; how hard the encoder tried; whether there is a dictionary; a check that
            // makes it a multiple of 31.
            let effort = match level.number() {
                0 | 1 => 0,
                2..=5 => 1,
                6..=8 => 2,
                _ => 3,
            };
            let word: u16 = 0x7800 | effort << 6 | u16::from(dictionary.is_some()) << 5;
            out.extend_from_slice(&(word + 31 - word % 31).to_be_bytes());
            if let Some(id) = dictionary {
                out.extend_from_slice(&id.to_be_bytes());
            }
        }
        Format::Gzip => {
            let effort = match level.number() {
                0 | 1 => 4,
                2..=8 => 0,
                _ => 2,
            };
            gzip.write(effort, out);
        }
    }
}

/// The bytes after the stream.
pub(crate) fn trailer(format: Format, checksum: u32, length: u64, out: &mut Vec<u8>) {
    match format {
        Format::Raw => {}
        Format::Zlib => out.extend_from_slice(&checksum.to_be_bytes()),
        Format::Gzip => {
            out.extend_from_slice(&checksum.to_le_bytes());
            out.extend_from_slice(&(length as u32).to_le_bytes());
        }
    }
}

/// How many bytes both have together, without gzip's optional fields and a dictionary's identifier.
pub(crate) const fn size(format: Format) -> usize {
    match format {
        Format::Raw => 0,
        Format::Zlib => 2 + 4,
        Format::Gzip => 10 + 8,
    }
}

/// The checksum of no bytes.
pub(crate) const fn seed(format: Format) -> u32 {
    matches!(format, Format::Zlib) as u32
}

/// Continues the checksum of the format over `data`.
pub(crate) fn checksum(format: Format, kernels: &Kernels, seed: u32, data: &[u8]) -> u32 {
    match format {
        Format::Raw => 0,
        Format::Zlib => kernels.adler32(seed, data),
        Format::Gzip => kernels.crc32(seed, data),
    }
}
