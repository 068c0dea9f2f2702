//! How long coding takes, so that one response never holds up the other connections of its worker.

use super::{Coding, Effort, Engine};

/// Whether `len` bytes are coded in so short a time that a worker may do it in one go.
pub fn is_quick(coding: Coding, effort: impl Into<Effort>, len: usize) -> bool {
    step(coding, effort).is_some_and(|step| len <= step)
}

/// Bytes of input that `coding` with `effort` codes in about a millisecond on one core of a server, or `None` if even small
/// pieces take longer: such an encoder works on a thread for blocking work.
pub(super) fn step(coding: Coding, effort: impl Into<Effort>) -> Option<usize> {
    let Effort { level, engine } = effort.into();
    if engine == Engine::ZlibRs {
        return Some(if level <= 6 { 64 << 10 } else { 16 << 10 });
    }
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
