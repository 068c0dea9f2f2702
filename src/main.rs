//! The `laneflate` program.

fn main() {}
