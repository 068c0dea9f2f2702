//! Speed of decoding, next to libdeflate and zlib-rs: whole bodies, and in pieces of 16 KiB.
//!
//! ```text
//! cargo run --release --example inflate -- FOLDER [ROUNDS]
//! LANEFLATE_ISA=scalar cargo run --release --example inflate -- FOLDER
//! ```
//!
//! The bodies are coded by zlib-rs at level 6. The decoders take turns, one body at a time; the figure is the sum of the
//! best times of all bodies.

use flate2::{Decompress, FlushCompress, FlushDecompress};
use laneflate_simd::{Decoder, Format, Kernels, Status};
use std::time::Instant;
use std::{env, fs, io};

const PIECE: usize = 16384;

/// Decodes a gzip member to the buffer, which has the length of the body at least.
type Decode = dyn FnMut(&[u8], &mut Vec<u8>);

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: inflate FOLDER [ROUNDS]");
        std::process::exit(2);
    };
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(30);
    let mut bodies = Vec::new();
    for entry in fs::read_dir(folder)? {
        let body = fs::read(entry?.path())?;
        bodies.push((encode(&body), body.len()));
    }
    let total: usize = bodies.iter().map(|(_, size)| size).sum();
    println!("{} bodies, {total} bytes, kernels {}", bodies.len(), Kernels::detect().name());

    let mut decoders = decoders();
    let mut best = vec![vec![f64::INFINITY; bodies.len()]; decoders.len()];
    let mut out = Vec::new();
    for _ in 0..rounds {
        for ((_, decode), best) in decoders.iter_mut().zip(&mut best) {
            for ((coded, size), best) in bodies.iter().zip(best) {
                out.clear();
                let start = Instant::now();
                decode(coded, &mut out);
                *best = best.min(start.elapsed().as_secs_f64());
                assert_eq!(out.len(), *size);
            }
        }
    }
    for ((name, _), best) in decoders.iter().zip(&best) {
        let best: f64 = best.iter().sum();
        let (micros, speed) = (best * 1e6 / bodies.len() as f64, total as f64 / best / 1e6);
        println!("{name:20} {micros:9.1} us/body {speed:8.1} MB/s");
    }
    Ok(())
}

fn encode(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::Compress::new_gzip(flate2::Compression::new(6), 15);
    let mut coded = Vec::with_capacity(body.len() + body.len() / 8 + 100);
    let status = encoder.compress_vec(body, &mut coded, FlushCompress::Finish);
    assert_eq!(status.ok(), Some(flate2::Status::StreamEnd));
    coded
}

fn decoders() -> Vec<(&'static str, Box<Decode>)> {
    let mut ours = Decoder::new(Format::Gzip);
    let mut ours_in_pieces = Decoder::new(Format::Gzip);
    let mut libdeflate = libdeflater::Decompressor::new();
    vec![
        (
            "laneflate",
            Box::new(move |coded, out| {
                ours.decode(coded, out, usize::MAX).expect("is valid");
            }),
        ),
        (
            "libdeflate",
            Box::new(move |coded, out| {
                out.resize(stated(coded), 0);
                libdeflate.gzip_decompress(coded, out).expect("is valid");
            }),
        ),
        (
            "zlib-rs",
            Box::new(|coded, out| {
                out.reserve(stated(coded));
                let status = Decompress::new_gzip(15).decompress_vec(coded, out, FlushDecompress::Finish);
                assert_eq!(status.ok(), Some(flate2::Status::StreamEnd));
            }),
        ),
        (
            "laneflate, pieces",
            Box::new(move |coded, out| {
                out.resize(stated(coded), 0);
                ours_in_pieces.reset();
                let (mut taken, mut made) = (0, 0);
                loop {
                    let (input, output) = (piece(coded.len(), taken), piece(out.len(), made));
                    let progress =
                        ours_in_pieces.decompress(&coded[input], &mut out[output]).expect("is valid");
                    (taken, made) = (taken + progress.consumed, made + progress.produced);
                    if progress.status == Status::Done {
                        return;
                    }
                }
            }),
        ),
        (
            "zlib-rs, pieces",
            Box::new(|coded, out| {
                out.resize(stated(coded), 0);
                let mut decoder = Decompress::new_gzip(15);
                loop {
                    let (taken, made) = (decoder.total_in() as usize, decoder.total_out() as usize);
                    let (input, output) = (piece(coded.len(), taken), piece(out.len(), made));
                    let status = decoder.decompress(&coded[input], &mut out[output], FlushDecompress::None);
                    if status.expect("is valid") == flate2::Status::StreamEnd {
                        return;
                    }
                }
            }),
        ),
    ]
}

fn piece(size: usize, start: usize) -> std::ops::Range<usize> {
    start..size.min(start + PIECE)
}

/// The length of the body, by its trailer.
fn stated(coded: &[u8]) -> usize {
    coded.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}
