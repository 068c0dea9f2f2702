//! Content coding: from a body to its coded form and back.
//!
//! ```text
//!  whole body ── Encoder::encode_whole ──────────────┐
//!  stream ────── body::Encoded ── Encoder::push ─────┼─ coded bytes
//!  static file ─ variants::Store (codes it once) ────┘
//!  coded bytes ─ decode::Decoded ─ a body within limits
//! ```
//!
//! [`layer::CompressLayer`] puts the first two around any tower service. Encoders come from [`pool`], a stock that each
//! thread keeps for itself.

pub mod body;
pub mod brotli;
mod coding;
mod cost;
pub mod decode;
mod deflate;
mod effort;
mod encoder;
mod flush;
pub mod layer;
mod peek;
pub mod pool;
#[cfg(test)]
mod testing;
pub mod variants;
mod zstd;

pub use coding::Coding;
pub use cost::is_quick;
pub use effort::{Effort, Engine};
pub use encoder::{Encoder, Levels, encode_whole};
pub use flush::Flush;
