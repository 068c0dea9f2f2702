//! Streams that are no streams: the exact error, where zlib errs, and nowhere else.

mod common;

use common::*;
use laneflate_simd::{Decoder, Encoder, ErrorKind, Format, Level};

/// The kind of error and its position.
fn error_of(format: Format, coded: &[u8]) -> (ErrorKind, u64) {
    let error = Decoder::new(format).decode(coded, &mut Vec::new(), 1 << 20).unwrap_err();
    // In pieces, the same.
    let pieces = decode_pieces(&mut Decoder::new(format), coded, 1, 1);
    match pieces {
        Ok((_, taken)) => {
            assert_eq!((error.kind(), taken), (ErrorKind::UnexpectedEnd, usize::MAX));
        }
        Err(in_pieces) => assert_eq!(in_pieces.kind(), error.kind()),
    }
    (error.kind(), error.position())
}

fn kind_of(format: Format, coded: &[u8]) -> ErrorKind {
    error_of(format, coded).0
}

/// A raw stream of these bits, the first one first.
fn bits(text: &str) -> Vec<u8> {
    let bits: Vec<u8> = text.bytes().filter(|byte| b"01".contains(byte)).map(|byte| byte - b'0').collect();
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks(8).map(byte).collect()
}

#[test]
fn gzip_headers() {
    let header = |index: usize, byte: u8| {
        let mut bytes = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        bytes[index] = byte;
        error_of(Format::Gzip, &bytes)
    };
    assert_eq!(header(0, 0), (ErrorKind::BadHeader, 2));
    assert_eq!(header(1, 0), (ErrorKind::BadHeader, 2));
    assert_eq!(header(2, 7), (ErrorKind::UnknownMethod, 4));
    assert_eq!(header(3, 0x20), (ErrorKind::ReservedFlags, 4));
    assert_eq!(header(3, 0), (ErrorKind::UnexpectedEnd, 10));
    assert_eq!(kind_of(Format::Gzip, &[]), ErrorKind::UnexpectedEnd);
    // Found by fuzzing: zlib does not judge the first byte before it has the second.
    assert_eq!(kind_of(Format::Gzip, &[0x19]), ErrorKind::UnexpectedEnd);
}

#[test]
fn gzip_header_fields() {
    let mut coded = Vec::new();
    Encoder::new(Format::Gzip, Level::DEFAULT).encode(b"body", &mut coded);
    let mut header = vec![0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 255];
    header.extend(b"\x03\x00abcname\0comment\0");
    let check = laneflate_simd::crc32(0, &header) as u16;
    let with = |check: u16| [&header[..], &check.to_le_bytes(), &coded[10..]].concat();
    assert_eq!(decode(Format::Gzip, &with(check)), b"body");
    assert_eq!(zlib_decode(Format::Gzip, &with(check), 4), b"body");
    assert_eq!(kind_of(Format::Gzip, &with(check ^ 1)), ErrorKind::HeaderChecksum);
}

#[test]
fn zlib_headers() {
    assert_eq!(kind_of(Format::Zlib, &[0x78, 0x9d]), ErrorKind::BadHeader);
    assert_eq!(kind_of(Format::Zlib, &[0x77, 0x85]), ErrorKind::UnknownMethod);
    assert_eq!(kind_of(Format::Zlib, &[0x88, 0x1c]), ErrorKind::WindowTooLarge);
    assert_eq!(kind_of(Format::Zlib, &[0x78, 0xbb, 1, 2, 3, 4]), ErrorKind::NeedsDictionary(0x0102_0304));
}

/// Found by fuzzing: the id of a dictionary that is cut short is not an id.
#[test]
fn a_dictionary_id_cut_short() {
    let found = [0x48, 0x2c, 0x8d, 0x49, 0x00];
    for end in 2..=found.len() {
        assert_eq!(error_of(Format::Zlib, &found[..end]), (ErrorKind::UnexpectedEnd, end as u64));
    }
    let whole = [&found[..], &[7]].concat();
    assert_eq!(error_of(Format::Zlib, &whole), (ErrorKind::NeedsDictionary(0x8d49_0007), 6));
}

#[test]
fn trailers() {
    for format in [Format::Zlib, Format::Gzip] {
        let mut coded = Vec::new();
        Encoder::new(format, Level::DEFAULT).encode(b"some body", &mut coded);
        for cut in 0..coded.len() {
            assert_eq!(error_of(format, &coded[..cut]), (ErrorKind::UnexpectedEnd, cut as u64));
        }
        let last = coded.len() - 1;
        coded[last] ^= 1;
        let wrong = if format == Format::Zlib { ErrorKind::Checksum } else { ErrorKind::Length };
        assert_eq!(error_of(format, &coded), (wrong, coded.len() as u64));
    }
}

#[test]
fn blocks() {
    let kind = |text: &str| kind_of(Format::Raw, &bits(text));
    assert_eq!(kind("1 11"), ErrorKind::BadBlockType);
    assert_eq!(kind_of(Format::Raw, &[1, 5, 0, 5, 0]), ErrorKind::StoredLength);
    // Dynamic: 257 + 30 codes; 1 + 30 codes.
    assert_eq!(kind("1 01 01111 00000 0000"), ErrorKind::TooManyCodes);
    assert_eq!(kind("1 01 00000 01111 0000"), ErrorKind::TooManyCodes);
    // Precodes with lengths 1 1 1 (too many), 1 0 0 (incomplete).
    assert_eq!(kind("1 01 00000 00000 0000 100 100 100 000"), ErrorKind::BadPrecode);
    assert_eq!(kind("1 01 00000 00000 0000 100 000 000 000"), ErrorKind::BadPrecode);
    // Found by fuzzing: zlib takes a precode without symbols, and misses the end of block later.
    let empty = "1 01 00000 00000 0000 000 000 000 000";
    assert_eq!(kind(empty), ErrorKind::UnexpectedEnd);
    assert_eq!(kind(&format!("{empty}{}", "0".repeat(258))), ErrorKind::NoEndOfBlock);
    // A repeat before any length.
    assert_eq!(kind("1 01 00000 00000 0000 100 000 000 100 1 1"), ErrorKind::BadLengthRepeat);
    // Fixed: symbols 286 and 287; distance symbol 30; a match at the start.
    assert_eq!(kind("1 10 11000110"), ErrorKind::BadLiteralSymbol);
    assert_eq!(kind("1 10 11000111"), ErrorKind::BadLiteralSymbol);
    assert_eq!(kind("1 10 00110000 0000001 11110"), ErrorKind::BadDistanceSymbol);
    assert_eq!(kind("1 10 0000001 00000"), ErrorKind::DistanceTooFar);
    assert_eq!(kind("1 10 00110000 0000001 00001"), ErrorKind::DistanceTooFar);
}

#[test]
fn limits_are_exact() {
    let body = words(5000);
    let mut coded = Vec::new();
    Encoder::new(Format::Gzip, Level::DEFAULT).encode(&body, &mut coded);
    let mut decoder = Decoder::new(Format::Gzip);
    for limit in [0, 1, 100, 4999] {
        let error = decoder.decode(&coded, &mut Vec::new(), limit).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }
    assert_eq!(decoder.decode(&coded, &mut Vec::new(), 5000), Ok(coded.len()));
}

/// Random damage: the same verdict as zlib-rs, and on success the same body and end.
#[test]
fn damage_is_judged_as_zlib_does() {
    let mut streams = Vec::new();
    for n in [0, 1, 6, 9] {
        let mut coded = Vec::new();
        Encoder::new(Format::Raw, Level::new(n).unwrap()).encode(files()[n as usize % 3], &mut coded);
        coded.truncate(3000);
        streams.push(coded);
        let mut coded = Vec::new();
        Encoder::new(Format::Raw, Level::new(n).unwrap()).encode(&words(200), &mut coded);
        streams.push(coded);
    }
    let random = noise(60_000);
    let mut decoder = Decoder::new(Format::Raw);
    for (round, seed) in random.chunks_exact(6).enumerate() {
        let mut coded = streams[round % streams.len()].clone();
        for damage in seed.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([damage[0], damage[1]]));
            // Half of it at the start, where the codes are.
            let at = if round % 2 == 0 { at % coded.len() } else { at % coded.len().min(80) };
            coded[at] ^= 1 << (damage[2] % 8);
        }
        let mut body = vec![0; 1 << 17];
        let mut zlib = flate2::Decompress::new(false);
        let verdict = zlib.decompress(&coded, &mut body, flate2::FlushDecompress::None);
        let mut ours = Vec::new();
        let result = decoder.decode(&coded, &mut ours, body.len());
        match verdict {
            Ok(flate2::Status::StreamEnd) => {
                assert_eq!(result, Ok(zlib.total_in() as usize), "round {round}");
                assert!(ours == body[..zlib.total_out() as usize], "round {round}");
            }
            Ok(_) => {
                let kind = result.map_err(|error| error.kind());
                let full = zlib.total_out() == body.len() as u64;
                let expected = if full { ErrorKind::LimitExceeded } else { ErrorKind::UnexpectedEnd };
                assert_eq!(kind, Err(expected), "round {round}");
            }
            Err(_) => {
                let kind = result.unwrap_err().kind();
                let other = [ErrorKind::UnexpectedEnd, ErrorKind::LimitExceeded].contains(&kind);
                assert!(!other, "round {round}: {kind:?}");
            }
        }
    }
}
