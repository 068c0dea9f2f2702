//! Size and time of every level, next to libdeflate's and zlib-rs's, on the files of a folder.
//!
//! ```text
//! cargo run --release --example frontier -- FOLDER [ROUNDS] [NAME]
//! LANEFLATE_ISA=scalar cargo run --release --example frontier -- FOLDER
//! ```
//!
//! All coders take turns within each round, bodies one at a time, each coder's state reused. The figure is the sum of
//! each body's best time: other work on the machine only ever adds. `NAME` keeps the coders
//! of that name (`laneflate`), or one of them (`"laneflate 6"`).

use laneflate_simd::{Decoder, Encoder, Format, Kernels, Level};
use std::time::Instant;
use std::{env, fs, io};

/// Codes one body after another, appending to a vector that it is given empty.
struct Coder {
    name: String,
    code: Box<Code>,
    /// Seconds, for each body.
    best: Vec<f64>,
    made: usize,
}

type Code = dyn FnMut(&[u8], &mut Vec<u8>);

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: frontier FOLDER [ROUNDS] [NAME]");
        std::process::exit(2);
    };
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(30);
    let wanted = arguments.next().unwrap_or_default();
    let bodies = read(&folder)?;
    let total: usize = bodies.iter().map(Vec::len).sum();
    println!("{} bodies, {total} bytes, kernels {}", bodies.len(), Kernels::detect().name());

    let mut coders = encoders();
    coders.retain(|coder| {
        coder.name == wanted || coder.name.starts_with(&format!("{wanted} ")) || wanted.is_empty()
    });
    run(&mut coders, &bodies, rounds);
    for coder in &coders {
        let ratio = total as f64 / coder.made as f64;
        report(coder, total, bodies.len(), &format!("ratio {ratio:.3}"));
    }

    let mut coded = Vec::new();
    for body in &bodies {
        let mut out = Vec::new();
        Encoder::new(Format::Gzip, Level::DEFAULT).encode(body, &mut out);
        coded.push(out);
    }
    let mut coders = decoders(bodies.iter().map(Vec::len).max().unwrap_or(0));
    run(&mut coders, &coded, rounds);
    for coder in &coders {
        assert_eq!(coder.made, total, "{}", coder.name);
        report(coder, total, bodies.len(), "");
    }
    Ok(())
}

fn read(folder: &str) -> io::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.into()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir::<std::path::PathBuf>(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    paths.into_iter().map(fs::read).collect()
}

fn coder(name: String, code: impl FnMut(&[u8], &mut Vec<u8>) + 'static) -> Coder {
    Coder { name, code: Box::new(code), best: Vec::new(), made: 0 }
}

fn encoders() -> Vec<Coder> {
    let mut coders = Vec::new();
    for level in (0..=12).filter_map(Level::new) {
        let mut encoder = Encoder::new(Format::Gzip, level);
        coders.push(coder(format!("laneflate {}", level.number()), move |body, out| {
            encoder.encode(body, out);
        }));
    }
    for level in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12] {
        let number = libdeflater::CompressionLvl::new(level).expect("one of its levels");
        let mut encoder = libdeflater::Compressor::new(number);
        coders.push(coder(format!("libdeflate {level}"), move |body, out| {
            out.resize(encoder.gzip_compress_bound(body.len()), 0);
            let size = encoder.gzip_compress(body, out).expect("has room");
            out.truncate(size);
        }));
    }
    for level in [1, 2, 6, 9] {
        let mut encoder = flate2::Compress::new_gzip(flate2::Compression::new(level), 15);
        coders.push(coder(format!("zlib-rs {level}"), move |body, out| {
            encoder.reset();
            out.reserve(body.len() + body.len() / 8 + 100);
            let status = encoder.compress_vec(body, out, flate2::FlushCompress::Finish);
            assert_eq!(status.ok(), Some(flate2::Status::StreamEnd));
        }));
    }
    coders
}

fn decoders(longest: usize) -> Vec<Coder> {
    let mut ours = Decoder::new(Format::Gzip);
    let mut rival = libdeflater::Decompressor::new();
    vec![
        coder("laneflate, decode".into(), move |coded, out| {
            ours.decode(coded, out, usize::MAX).expect("is valid");
        }),
        coder("libdeflate, decode".into(), move |coded, out| {
            // It does not size its output; give it what it is told elsewhere.
            let stated = coded.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            out.resize(stated as usize, 0);
            rival.gzip_decompress(coded, out).expect("is valid");
        }),
        coder("zlib-rs, decode".into(), move |coded, out| {
            let mut decoder = flate2::Decompress::new_gzip(15);
            out.reserve(longest);
            let status = decoder.decompress_vec(coded, out, flate2::FlushDecompress::Finish);
            assert_eq!(status.ok(), Some(flate2::Status::StreamEnd));
        }),
    ]
}

fn run(coders: &mut [Coder], bodies: &[Vec<u8>], rounds: usize) {
    let mut out = Vec::new();
    for _ in 0..rounds {
        for coder in &mut *coders {
            coder.made = 0;
            coder.best.resize(bodies.len(), f64::INFINITY);
            for (body, best) in bodies.iter().zip(&mut coder.best) {
                out.clear();
                let start = Instant::now();
                (coder.code)(body, &mut out);
                *best = best.min(start.elapsed().as_secs_f64());
                coder.made += out.len();
            }
        }
    }
}

fn report(coder: &Coder, total: usize, bodies: usize, size: &str) {
    let best: f64 = coder.best.iter().sum();
    let (micros, speed) = (best * 1e6 / bodies as f64, total as f64 / best / 1e6);
    println!("{:20} {size:12} {micros:9.1} us/body {speed:8.1} MB/s", coder.name);
}
