//! Content coding: encoders, their pool, the compress-once store and the tower layer.

pub mod brotli;
mod coding;
mod flush;

pub use coding::Coding;
pub use flush::Flush;
