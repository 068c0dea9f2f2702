//! Every instruction set against scalar: the same bytes from the encoder, and the same body or error from the decoder, of a
//! stream that is whole or damaged.

#![no_main]

use laneflate_fuzz::{Choices, MOST_FLUSHES, Sizes, pieces};
use laneflate_simd::{Decoder, Encoder, Error, Flush, Format, Kernels, Level, Status};
use libfuzzer_sys::fuzz_target;
use std::iter;

const LIMIT: usize = 1 << 18;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let (format, level) = (choices.format(), choices.level());
    let flush = choices.one_of(&[None, Some(Flush::None), Some(Flush::Sync), Some(Flush::Full)]);
    let damages = choices.byte() % 4;
    let damages: Vec<_> = (0..damages).map(|_| (choices.size(), choices.byte())).collect();
    let sizes = choices.bytes(6);
    let body = choices.body();

    let spec = Kernels::by_name("scalar").expect("runs everywhere");
    let mut coded = encode(spec, format, level, flush, sizes, &body);
    for kernels in Kernels::all() {
        let same = encode(kernels, format, level, flush, sizes, &body) == coded;
        assert!(same, "{kernels:?} writes other bytes than scalar");
    }

    for (at, bits) in damages {
        let at = at % coded.len();
        coded[at] ^= bits;
    }
    let expected = (decode(spec, format, &coded), decode_pieces(spec, format, &coded, sizes));
    for kernels in Kernels::all() {
        assert!(decode(kernels, format, &coded) == expected.0, "{kernels:?} decodes otherwise");
        let pieces = decode_pieces(kernels, format, &coded, sizes);
        assert!(pieces == expected.1, "{kernels:?} decodes pieces otherwise");
    }
});

/// Encodes in one call, or in pieces with this flush after each of the first.
fn encode(
    kernels: &'static Kernels,
    format: Format,
    level: Level,
    flush: Option<Flush>,
    sizes: &[u8],
    body: &[u8],
) -> Vec<u8> {
    let mut encoder = Encoder::with_kernels(format, level, kernels);
    let mut coded = Vec::new();
    let Some(flush) = flush else {
        encoder.encode(body, &mut coded);
        return coded;
    };
    let (mut sizes, mut rest) = (Sizes::new(sizes), body);
    let mut flushes = iter::repeat_n(flush, MOST_FLUSHES);
    while !rest.is_empty() {
        let flush = flushes.next().unwrap_or(Flush::None);
        let (piece, after) = rest.split_at(sizes.next().min(rest.len()));
        coded.extend(pieces::compress(&mut encoder, piece, flush, &mut sizes));
        rest = after;
    }
    coded.extend(pieces::compress(&mut encoder, &[], Flush::Finish, &mut sizes));
    coded
}

/// The result, and the body or what of it came before an error.
fn decode(kernels: &'static Kernels, format: Format, coded: &[u8]) -> (Result<usize, Error>, Vec<u8>) {
    let mut body = Vec::new();
    let result = Decoder::with_kernels(format, kernels).decode(coded, &mut body, LIMIT);
    (result, body)
}

fn decode_pieces(
    kernels: &'static Kernels,
    format: Format,
    coded: &[u8],
    sizes: &[u8],
) -> (Result<(Status, usize), Error>, Vec<u8>) {
    let mut body = Vec::new();
    let mut decoder = Decoder::with_kernels(format, kernels);
    let result = pieces::decompress(&mut decoder, coded, &mut Sizes::new(sizes), LIMIT, &mut body);
    (result, body)
}
