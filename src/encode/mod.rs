//! Content coding: encoders, their pool, the compress-once store and the tower layer.

mod coding;

pub use coding::Coding;
