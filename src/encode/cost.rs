//! How long coding takes, so that one response never holds up the other connections of its worker.

use super::Coding;

/// Whether `len` bytes are coded in so short a time that a worker may do it in one go.
pub fn is_quick(coding: Coding, level: i32, len: usize) -> bool {
    step(coding, level).is_some_and(|step| len <= step)
}

/// Bytes of input that `coding` at `level` codes in about a millisecond on one core of a server, or `None` if even small
/// pieces take longer: such an encoder works on a thread for blocking work.
pub(super) const fn step(coding: Coding, level: i32) -> Option<usize> {
    match (coding, level) {
        (Coding::Gzip | Coding::Deflate, ..=5) => Some(64 << 10),
        (Coding::Gzip | Coding::Deflate, 6..=7) => Some(16 << 10),
        (Coding::Gzip | Coding::Deflate, 8..=9) => Some(8 << 10),
        (Coding::Brotli, ..=6) => Some(32 << 10),
        (Coding::Brotli, 7) => Some(16 << 10),
        (Coding::Zstd, ..=4) => Some(128 << 10),
        (Coding::Zstd, 5..=9) => Some(32 << 10),
        (Coding::Zstd, 10) => Some(16 << 10),
        _ => None,
    }
}
