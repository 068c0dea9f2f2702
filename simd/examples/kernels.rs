//! The instruction sets of this machine, and a fingerprint of what each level writes for a file.
//!
//! ```text
//! cargo run --release --example kernels -- FILE
//! ```
//!
//! The fingerprints are the same on every machine: run it on two and compare.

use laneflate_simd::{Decoder, Encoder, Format, Kernels, Level, crc32};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: kernels FILE");
        std::process::exit(2);
    };
    let body = fs::read(path)?;
    for kernels in Kernels::all() {
        print!("{:8}", kernels.name());
        for level in (0..=12).filter_map(Level::new) {
            let mut coded = Vec::new();
            Encoder::with_kernels(Format::Gzip, level, kernels).encode(&body, &mut coded);
            let mut decoded = Vec::new();
            let mut decoder = Decoder::with_kernels(Format::Gzip, kernels);
            decoder.decode(&coded, &mut decoded, body.len()).expect("was just written");
            assert!(decoded == body, "{kernels:?}, {level:?}");
            print!(" {:08x}", crc32(0, &coded));
        }
        println!();
    }
    Ok(())
}
