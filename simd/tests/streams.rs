//! Streams in pieces: no split of input or output changes what comes out.

mod common;

use common::*;
use laneflate_simd::{Decoder, Encoder, Error, ErrorKind, Flush, Format, Level, Status};

fn level(n: u8) -> Level {
    Level::new(n).unwrap()
}

#[test]
fn pieces_of_any_size_make_the_same_stream() {
    let body = words(100_000);
    for format in FORMATS {
        for n in [0, 1, 4, 6, 9, 12] {
            let mut encoder = Encoder::new(format, level(n));
            let whole = encode_pieces(&mut encoder, &body, usize::MAX, 200_000, Flush::None);
            assert!(zlib_decode(format, &whole, body.len()) == body, "{format:?}, {n}");
            for (input, output) in [(1, 4096), (4096, 1), (7, 13), (8192, 8192), (100_000, 100)] {
                encoder.reset();
                let coded = encode_pieces(&mut encoder, &body, input, output, Flush::None);
                assert!(coded == whole, "{format:?}, {n}, {input}, {output}");
            }
        }
    }
}

#[test]
fn every_body_streams() {
    let mut encoder = Encoder::new(Format::Gzip, level(4));
    for (name, body) in bodies() {
        encoder.reset();
        let coded = encode_pieces(&mut encoder, &body, 1000, 1000, Flush::None);
        assert!(libdeflate_decode(Format::Gzip, &coded, body.len()) == body, "{name}");
        assert!(decode(Format::Gzip, &coded) == body, "{name}");
    }
}

#[test]
fn flushes_give_all_that_was_put_in() {
    let body = words(5000);
    for flush in [Flush::Sync, Flush::Full] {
        for n in [0, 1, 6] {
            let mut encoder = Encoder::new(Format::Zlib, level(n));
            let mut decoder = flate2::Decompress::new(true);
            let mut output = vec![0; 8000];
            for piece in body.chunks(700) {
                let progress = encoder.compress(piece, &mut output, flush).unwrap();
                assert_eq!((progress.consumed, progress.status), (piece.len(), Status::NeedsInput));
                let coded = &output[..progress.produced];
                assert_eq!(coded[coded.len() - 4..], [0, 0, 0xff, 0xff]);
                let mut decoded = Vec::with_capacity(1000);
                let sync = flate2::FlushDecompress::Sync;
                decoder.decompress_vec(coded, &mut decoded, sync).unwrap();
                assert!(decoded == piece, "{flush:?}, {n}");
                let nothing = encoder.compress(&[], &mut output, flush).unwrap();
                assert_eq!((nothing.produced, nothing.status), (0, Status::NeedsInput));
            }
        }
    }
}

#[test]
fn a_decoder_may_start_after_a_full_flush() {
    let body = words(3000);
    let mut encoder = Encoder::new(Format::Raw, level(6));
    let mut coded = vec![0; 10_000];
    let first = encoder.compress(&body, &mut coded, Flush::Full).unwrap().produced;
    let second = encoder.compress(&body, &mut coded[first..], Flush::Finish).unwrap();
    assert_eq!(second.status, Status::Done);
    assert!(decode(Format::Raw, &coded[first..first + second.produced]) == body);
}

/// The second flush was once taken for a repetition, and the history stayed.
#[test]
fn a_full_flush_right_after_a_sync_flush_forgets_the_history() {
    let body = words(3000);
    let mut encoder = Encoder::new(Format::Raw, level(6));
    let mut coded = vec![0; 10_000];
    let mut start = encoder.compress(&body, &mut coded, Flush::Sync).unwrap().produced;
    start += encoder.compress(&[], &mut coded[start..], Flush::Full).unwrap().produced;
    let again = encoder.compress(&[], &mut coded[start..], Flush::Full).unwrap();
    assert_eq!((again.produced, again.status), (0, Status::NeedsInput));
    let rest = encoder.compress(&body, &mut coded[start..], Flush::Finish).unwrap();
    assert!(decode(Format::Raw, &coded[start..start + rest.produced]) == body);
}

#[test]
fn flushes_survive_small_outputs() {
    let body = words(3000);
    for flush in [Flush::Sync, Flush::Full] {
        let mut encoder = Encoder::new(Format::Gzip, level(3));
        let coded = encode_pieces(&mut encoder, &body, 300, 3, flush);
        assert!(zlib_decode(Format::Gzip, &coded, body.len()) == body);
    }
}

#[test]
fn long_streams_keep_their_window() {
    let mut body = words(300_000);
    body.extend_from_within(..);
    for n in [1, 4, 6] {
        let mut encoder = Encoder::new(Format::Zlib, level(n));
        let coded = encode_pieces(&mut encoder, &body, 16384, 16384, Flush::None);
        assert!(zlib_decode(Format::Zlib, &coded, body.len()) == body);
        let mut decoder = Decoder::new(Format::Zlib);
        let (decoded, taken) = decode_pieces(&mut decoder, &coded, 777, 5000).unwrap();
        assert!(decoded == body && taken == coded.len());
    }
}

#[test]
fn nothing_more_after_the_end() {
    let mut encoder = Encoder::new(Format::Raw, level(1));
    let mut output = [0; 100];
    let end = encoder.compress(b"abc", &mut output, Flush::Finish).unwrap();
    assert_eq!(end.status, Status::Done);
    let again = encoder.compress(b"", &mut output, Flush::Finish).unwrap();
    assert_eq!((again.produced, again.status), (0, Status::Done));
    let more = encoder.compress(b"d", &mut output, Flush::Finish);
    assert_eq!(more.map_err(|error: Error| error.kind()), Err(ErrorKind::Finished));
    encoder.reset();
    let new = encoder.compress(b"d", &mut output, Flush::Finish).unwrap();
    assert_eq!(new.status, Status::Done);
}

#[test]
fn decoding_in_pieces_of_any_size() {
    for (name, body) in bodies() {
        for format in FORMATS {
            let mut coded = Vec::new();
            Encoder::new(format, level(6)).encode(&body, &mut coded);
            let size = coded.len();
            coded.extend_from_slice(b"trailing");
            let mut decoder = Decoder::new(format);
            for (input, output) in [(1, 1000), (1000, 1), (3, 7), (100_000, 300_000)] {
                if body.len() > 5000 && input * output < 10_000 {
                    continue;
                }
                decoder.reset();
                let (decoded, taken) = decode_pieces(&mut decoder, &coded, input, output).unwrap();
                assert!(decoded == body, "{name}, {format:?}, {input}, {output}");
                assert_eq!(taken, size, "{name}, {format:?}, {input}, {output}");
            }
        }
    }
}

#[test]
fn members_follow_each_other() {
    let mut coded = Vec::new();
    let mut encoder = Encoder::new(Format::Gzip, Level::DEFAULT);
    encoder.encode(b"one, ", &mut coded);
    encoder.encode(b"two", &mut coded);
    let size = coded.len();
    coded.extend_from_slice(&[0; 3]);
    let mut body = Vec::new();
    assert_eq!(Decoder::new(Format::Gzip).decode(&coded, &mut body, 8), Ok(size));
    assert_eq!(body, b"one, two");
}
