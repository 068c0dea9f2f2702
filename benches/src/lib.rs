//! Benchmarks of laneflate: what they share.

#![deny(unsafe_code)]

pub mod corpus;
pub mod rivals;
