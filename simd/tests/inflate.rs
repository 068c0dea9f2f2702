//! The decoder on every kernel: no byte outside its buffers, every distance and length, every split.

mod common;

use common::*;
use laneflate_simd::{Decoder, Encoder, Format, Kernels, Level};

fn encode(format: Format, body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    Encoder::new(format, Level::DEFAULT).encode(body, &mut coded);
    coded
}

fn decode_with(kernels: &'static Kernels, format: Format, coded: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let consumed = Decoder::with_kernels(format, kernels).decode(coded, &mut body, usize::MAX);
    assert_eq!(consumed, Ok(coded.len()));
    body
}

/// A period of n is a match of distance n: where vectors overlap themselves.
#[test]
fn every_period_and_length() {
    let noise = noise(300);
    let kernels: Vec<_> = Kernels::all().collect();
    for period in 1..=300 {
        let lengths = (0..=600).filter(|len| len % 7 == period % 7);
        for len in lengths {
            let body: Vec<u8> = noise[..period].iter().copied().cycle().take(len).collect();
            // Something after it, so that the fast loop does it; something that must stay as it is.
            let body = [&body, &noise[..], &body].concat();
            let coded = encode(Format::Zlib, &body);
            for kernels in &kernels {
                assert!(decode_with(kernels, Format::Zlib, &coded) == body, "{kernels:?}, {period}, {len}");
            }
        }
    }
}

#[test]
fn every_split_of_a_small_stream() {
    for body in [words(0), words(60), vec![7; 300], noise(40)] {
        let coded = encode(Format::Gzip, &body);
        for kernels in Kernels::all() {
            let mut decoder = Decoder::with_kernels(Format::Gzip, kernels);
            for input in 1..=coded.len() {
                for output in 1..=body.len() + 1 {
                    decoder.reset();
                    let (decoded, taken) = decode_pieces(&mut decoder, &coded, input, output).unwrap();
                    assert!(decoded == body && taken == coded.len(), "{kernels:?}, {input}, {output}");
                }
            }
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn nothing_outside_the_buffers() {
    use laneflate_simd::Status;
    for (name, body) in bodies().into_iter().filter(|(_, body)| body.len() < 70_000) {
        let coded = encode(Format::Gzip, &body);
        for kernels in Kernels::all() {
            for edge in guard::EDGES {
                let coded = guard::Guarded::copy_of(&coded, edge);
                assert!(decode_with(kernels, Format::Gzip, &coded) == body, "{kernels:?}, {name}");
                let mut out = guard::Guarded::new(body.len(), edge);
                let mut decoder = Decoder::with_kernels(Format::Gzip, kernels);
                let progress = decoder.decompress(&coded, &mut out).unwrap();
                assert!(progress.status == Status::Done && out[..] == body, "{kernels:?}, {edge:?}, {name}");
                // Ends too early, everywhere near its end.
                for cut in 0..coded.len().min(20) {
                    let cut = guard::Guarded::copy_of(&coded[..coded.len() - cut - 1], edge);
                    let mut body = Vec::new();
                    assert!(decoder.decode(&cut, &mut body, usize::MAX).is_err());
                }
            }
        }
    }
}
