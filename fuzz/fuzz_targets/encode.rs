//! A body, whole and in pieces, on all kernels: the oracles read it, and all kernels write the same.
//!
//! The first bytes choose level, format, piece sizes and flush.

#![no_main]

use laneflate_fuzz::oracle;
use laneflate_simd::{Decoder, Encoder, Flush, Format, Kernels, Level, Status, bound};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [level, choice, input_size, output_size, body @ ..] = data else {
        return;
    };
    let level = Level::new(level % 13).expect("in range");
    let format = [Format::Raw, Format::Zlib, Format::Gzip][usize::from(choice % 3)];
    let flush = [Flush::None, Flush::Sync, Flush::Full][usize::from(choice / 3 % 3)];

    let spec = Kernels::by_name("scalar").expect("runs everywhere");
    let whole = encode(spec, format, level, body);
    assert!(whole.len() <= bound(format, body.len()));
    let (input_size, output_size) = (1 + usize::from(*input_size), 1 + usize::from(*output_size));
    let pieces = in_pieces(spec, format, level, body, input_size, output_size, flush);
    for kernels in Kernels::all() {
        assert_eq!(encode(kernels, format, level, body), whole, "{kernels:?}");
        let again = in_pieces(kernels, format, level, body, input_size, output_size, flush);
        assert_eq!(again, pieces, "{kernels:?}");
    }
    for coded in [whole, pieces] {
        assert_eq!(oracle::libdeflate(format, &coded, body.len()), body);
        let mut decoded = Vec::new();
        let consumed = Decoder::new(format).decode(&coded, &mut decoded, body.len());
        assert_eq!(consumed, Ok(coded.len()));
        assert_eq!(decoded, body);
    }
});

fn encode(kernels: &'static Kernels, format: Format, level: Level, body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut encoder = Encoder::with_kernels(format, level, kernels);
    encoder.encode(body, &mut coded);
    // What came before leaves no trace.
    let first = std::mem::take(&mut coded);
    encoder.encode(body, &mut coded);
    assert_eq!(first, coded);
    coded
}

fn in_pieces(
    kernels: &'static Kernels,
    format: Format,
    level: Level,
    body: &[u8],
    input_size: usize,
    output_size: usize,
    flush: Flush,
) -> Vec<u8> {
    let mut encoder = Encoder::with_kernels(format, level, kernels);
    let mut output = vec![0; output_size];
    let mut coded = Vec::new();
    let mut pieces = body.chunks(input_size);
    loop {
        let piece = pieces.next();
        let flush = if piece.is_some() { flush } else { Flush::Finish };
        let mut rest = piece.unwrap_or_default();
        loop {
            let progress = encoder.compress(rest, &mut output, flush).expect("not finished");
            rest = &rest[progress.consumed..];
            coded.extend_from_slice(&output[..progress.produced]);
            match progress.status {
                Status::NeedsOutput => assert_eq!(progress.produced, output_size),
                Status::NeedsInput => break,
                Status::Done => return coded,
            }
        }
        assert!(rest.is_empty());
    }
}
