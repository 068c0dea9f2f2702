//! What the targets share: choices read from the fuzzer's bytes, bodies built from them, streams in pieces, and oracles.

mod choices;
pub mod oracle;
pub mod pieces;

pub use choices::{Choices, Sizes};
