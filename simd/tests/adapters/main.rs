//! The io adapters next to flate2's: each scenario is run with both, and both must do the same.

mod awkward;
mod ends;
mod writers;

/// Runs a scenario with each crate under the name `lib`, and gives both outcomes.
macro_rules! both {
    ($scenario:block) => {{
        let theirs = {
            #[allow(unused_imports)]
            use flate2 as lib;
            #[allow(unused_imports)]
            use flate2::{Compression, GzBuilder, bufread, read, write};
            $scenario
        };
        let ours = {
            #[allow(unused_imports)]
            use laneflate_simd as lib;
            #[allow(unused_imports)]
            use laneflate_simd::{Compression, GzBuilder, bufread, read, write};
            $scenario
        };
        (ours, theirs)
    }};
}

/// Both outcomes must be the same, and are returned once.
macro_rules! same {
    ($scenario:block) => {{
        let (ours, theirs) = crate::both!($scenario);
        assert_eq!(ours, theirs, "ours, then flate2's");
        ours
    }};
}

pub(crate) use {both, same};

/// A body longer than any buffer of the adapters.
pub(crate) fn body() -> Vec<u8> {
    (0..300_000u32).map(|i| b"etaoinsh"[(i.wrapping_mul(i) >> 9) as usize % 8] ^ (i >> 12) as u8).collect()
}

/// A gzip member, zlib stream and raw stream of `body`, by flate2.
pub(crate) fn streams(body: &[u8]) -> [Vec<u8>; 3] {
    use std::io::Read;
    let level = flate2::Compression::fast();
    let mut streams = [Vec::new(), Vec::new(), Vec::new()];
    flate2::bufread::GzEncoder::new(body, level).read_to_end(&mut streams[0]).expect("in memory");
    flate2::bufread::ZlibEncoder::new(body, level).read_to_end(&mut streams[1]).expect("in memory");
    flate2::bufread::DeflateEncoder::new(body, level).read_to_end(&mut streams[2]).expect("in memory");
    streams
}
