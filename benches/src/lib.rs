//! Benchmarks of laneflate.
