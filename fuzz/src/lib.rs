//! What the targets share: choices read from the fuzzer's bytes, bodies built from them, streams in pieces, and oracles.

mod choices;
pub mod oracle;
pub mod pieces;

pub use choices::{Choices, Sizes};

/// Flushes of one stream. Each ends a block, which takes its time: a flush after each byte of a body finds no more.
pub const MOST_FLUSHES: usize = 200;
