//! What brotli costs on small bodies: the crate that the server uses, plainly and as the server uses it, beside Google's C library.
//!
//! `cargo run --release -p laneflate-bench --bin brotli_cost [FOLDER]`; without a folder, the 9 KB corpus of this package.
//! Each round codes each body with each candidate in turn, so that noise of the machine falls on all of them alike; each codes
//! it twice and the second run is timed, so that none pays for the caches that another left behind. Every result is decoded by
//! the other implementation and compared.

use std::env;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use brotli::enc::BrotliEncoderParams;
use brotlic::encode::BrotliOperation;
use laneflate::encode::Flush;
use laneflate::encode::brotli::{BrotliDecoder, BrotliEncoder, Decoded};
use laneflate_bench::corpus;

type AnyError = Box<dyn std::error::Error>;

const ROUNDS: usize = 15;
const QUALITIES: std::ops::RangeInclusive<u8> = 1..=6;

fn main() -> Result<(), AnyError> {
    let folder = env::args_os().nth(1).map_or_else(corpus::default_folder, PathBuf::from);
    let bodies = corpus::read(&folder)?;
    println!("{} bodies of {}, {ROUNDS} rounds", bodies.len(), folder.display());
    println!("{:7} {:34} {:>6} {:>11} {:>13}", "quality", "encoder", "ratio", "us per body", "against the C");
    for quality in QUALITIES {
        for row in measure(quality, &bodies)? {
            println!(
                "{quality:7} {:34} {:6.3} {:11.1} {:13.2}",
                row.name, row.ratio, row.micros, row.against_c
            );
        }
    }
    Ok(())
}

struct Row {
    name: &'static str,
    /// Size of all bodies over the size of all results.
    ratio: f64,
    /// Median over bodies and rounds.
    micros: f64,
    /// Median over bodies and rounds of this time over that of the C library for the same body in the same round.
    against_c: f64,
}

fn measure(quality: u8, bodies: &[Vec<u8>]) -> Result<Vec<Row>, AnyError> {
    let mut candidates = candidates(quality);
    let mut coded_size = vec![0; candidates.len()];
    let mut times = vec![Vec::new(); candidates.len()];
    let mut out = Vec::with_capacity(bodies.iter().map(Vec::len).max().unwrap_or(0) * 2 + 1024);
    for round in 0..ROUNDS {
        for body in bodies {
            for (at, candidate) in candidates.iter_mut().enumerate() {
                out.clear();
                (candidate.encode)(black_box(body), &mut out)?;
                out.clear();
                let start = Instant::now();
                (candidate.encode)(black_box(body), &mut out)?;
                times[at].push(start.elapsed().as_secs_f64() * 1e6);
                if round == 0 {
                    coded_size[at] += out.len();
                    (candidate.check)(&out, body)?;
                }
            }
        }
    }
    let body_size: usize = bodies.iter().map(Vec::len).sum();
    let of_c = times[0].clone();
    let rows = candidates.iter().zip(coded_size).zip(times).map(|((candidate, coded_size), times)| Row {
        name: candidate.name,
        ratio: body_size as f64 / coded_size as f64,
        against_c: median(times.iter().zip(&of_c).map(|(time, c)| time / c).collect()),
        micros: median(times),
    });
    Ok(rows.collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Appends the coded body to the vec.
type Encode = dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), AnyError>;

struct Candidate {
    name: &'static str,
    encode: Box<Encode>,
    check: fn(&[u8], &[u8]) -> Result<(), AnyError>,
}

/// The C library first: the others are compared with it.
fn candidates(quality: u8) -> [Candidate; 5] {
    let mut encoder = BrotliEncoder::new(quality, None);
    [
        Candidate {
            name: "C library",
            encode: Box::new(move |body, out| encode_c(quality, body, out)),
            check: check_with_crate,
        },
        Candidate {
            name: "crate, window fitted to the body",
            encode: Box::new(move |body, out| encode_crate(quality, fitted_window(body.len()), body, out)),
            check: check_with_c,
        },
        Candidate {
            name: "crate, its default window",
            encode: Box::new(move |body, out| encode_crate(quality, 22, body, out)),
            check: check_with_c,
        },
        Candidate {
            name: "laneflate, a new encoder each",
            encode: Box::new(move |body, out| {
                Ok(BrotliEncoder::new(quality, Some(body.len())).push(body, out, Flush::Finish)?)
            }),
            check: check_with_c,
        },
        Candidate {
            name: "laneflate, one encoder reused",
            encode: Box::new(move |body, out| Ok(encoder.encode_whole(body, out)?)),
            check: check_with_c,
        },
    ]
}

/// A new encoder for each body, as ngx_brotli has it.
fn encode_c(quality: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), AnyError> {
    let mut encoder = brotlic::BrotliEncoderOptions::new()
        .quality(brotlic::Quality::new(quality)?)
        .window_size(brotlic::WindowSize::new(fitted_window(body.len()))?)
        .size_hint(u32::try_from(body.len())?)
        .build()?;
    out.resize(out.capacity(), 0);
    let coded = encoder.compress(body, out, BrotliOperation::Finish)?;
    out.truncate(coded.bytes_written);
    if !encoder.is_finished() {
        return Err("the C library wants more room".into());
    }
    Ok(())
}

fn encode_crate(quality: u8, window_bits: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), AnyError> {
    let params = BrotliEncoderParams {
        quality: quality.into(),
        lgwin: window_bits.into(),
        size_hint: body.len(),
        ..BrotliEncoderParams::default()
    };
    brotli::CompressorWriter::with_params(out, 4096, &params).write_all(body)?;
    Ok(())
}

/// The smallest window that reaches over a whole body of `len` bytes.
fn fitted_window(len: usize) -> u8 {
    (10..22).find(|bits| len <= (1 << bits) - 16).unwrap_or(22)
}

fn check_with_c(coded: &[u8], body: &[u8]) -> Result<(), AnyError> {
    let mut decoded = vec![0; body.len() + 1];
    let len = brotlic::decompress(coded, &mut decoded)?;
    same(&decoded[..len], body)
}

fn check_with_crate(coded: &[u8], body: &[u8]) -> Result<(), AnyError> {
    let mut decoded = Vec::new();
    match BrotliDecoder::new().push(coded, &mut decoded, body.len() + 1)? {
        Decoded::Finished { consumed } if consumed == coded.len() => same(&decoded, body),
        other => Err(format!("the stream does not end where it should: {other:?}").into()),
    }
}

fn same(decoded: &[u8], body: &[u8]) -> Result<(), AnyError> {
    if decoded == body { Ok(()) } else { Err("the result decodes to another body".into()) }
}
