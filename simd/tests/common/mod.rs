//! Bodies and oracles that several tests share.

#![allow(dead_code, reason = "each test uses a part")]

#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod guard;

use laneflate_simd::{Decoder, Encoder, Flush, Format, Level, Status};

pub(crate) const FORMATS: [Format; 3] = [Format::Raw, Format::Zlib, Format::Gzip];

pub(crate) fn levels() -> impl Iterator<Item = Level> {
    (0..=12).filter_map(Level::new)
}

/// Bytes that do not compress.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

/// A text of words from a small vocabulary.
pub(crate) fn words(len: usize) -> Vec<u8> {
    let vocabulary = noise(300);
    let mut text = Vec::with_capacity(len + 16);
    for pair in noise(len + 2).chunks(2) {
        let start = usize::from(pair[0]);
        let word = &vocabulary[start..start + 1 + usize::from(pair[1] % 12)];
        text.extend(word.iter().map(|byte| b'a' + byte % 26));
        text.push(b' ');
        if text.len() >= len {
            break;
        }
    }
    text.truncate(len);
    text
}

/// Real files; see `tests/data/README.md`.
pub(crate) fn files() -> [&'static [u8]; 3] {
    [
        include_bytes!("../data/html-10-datafusion-comet.html"),
        include_bytes!("../data/js-01-bootstrap-collapse.js"),
        include_bytes!("../data/json-01-github-issues.json"),
    ]
}

/// Named bodies of many kinds.
pub(crate) fn bodies() -> Vec<(String, Vec<u8>)> {
    let mut bodies = Vec::new();
    for len in (0..80).chain([100, 255, 256, 257, 258, 259, 300, 511, 600]) {
        bodies.push((format!("words {len}"), words(len)));
        bodies.push((format!("zeros {len}"), vec![0; len]));
        bodies.push((format!("noise {len}"), noise(len)));
    }
    for middle in [1 << 14, 1 << 15, 1 << 16, 49152] {
        for len in [middle - 1, middle, middle + 1] {
            bodies.push((format!("words {len}"), words(len)));
            bodies.push((format!("zeros {len}"), vec![7; len]));
        }
    }
    for period in (1..=20).chain([31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 258, 300]) {
        let pattern = noise(period);
        let body = pattern.iter().copied().cycle().take(3000).collect();
        bodies.push((format!("period {period}"), body));
    }
    bodies.push(("noise 70000".into(), noise(70_000)));
    bodies.push(("words 200000".into(), words(200_000)));
    let sparse = noise(20_000).iter().map(|byte| 200 * (byte % 2)).collect();
    bodies.push(("two symbols".into(), sparse));
    // A match at the full distance of the window, and one beyond.
    for gap in [32768 - 100, 32768, 32769] {
        let mut body = noise(100);
        body.extend(vec![b'-'; gap - 100]);
        body.extend(noise(100));
        bodies.push((format!("distance {gap}"), body));
    }
    let mut mixed = words(40_000);
    mixed.extend(noise(40_000));
    mixed.extend(words(40_000));
    bodies.push(("text, noise, text".into(), mixed));
    for (index, file) in files().into_iter().enumerate() {
        bodies.push((format!("file {index}"), file.to_vec()));
    }
    bodies
}

/// Decodes with zlib-rs.
pub(crate) fn zlib_decode(format: Format, coded: &[u8], len: usize) -> Vec<u8> {
    let mut decoder = match format {
        Format::Raw => flate2::Decompress::new(false),
        Format::Zlib => flate2::Decompress::new(true),
        Format::Gzip => flate2::Decompress::new_gzip(15),
    };
    let mut body = vec![0; len + 1];
    let status = decoder
        .decompress(coded, &mut body, flate2::FlushDecompress::Finish)
        .expect("zlib-rs accepts the stream");
    assert_eq!(status, flate2::Status::StreamEnd);
    assert_eq!(decoder.total_in(), coded.len() as u64);
    body.truncate(decoder.total_out() as usize);
    body
}

/// Decodes with libdeflate.
pub(crate) fn libdeflate_decode(format: Format, coded: &[u8], len: usize) -> Vec<u8> {
    let mut decoder = libdeflater::Decompressor::new();
    let mut body = vec![0; len];
    let made = match format {
        Format::Raw => decoder.deflate_decompress(coded, &mut body),
        Format::Zlib => decoder.zlib_decompress(coded, &mut body),
        Format::Gzip => decoder.gzip_decompress(coded, &mut body),
    };
    assert_eq!(made, Ok(len));
    body
}

/// Decodes with this crate, in one call.
pub(crate) fn decode(format: Format, coded: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let consumed = Decoder::new(format).decode(coded, &mut body, usize::MAX);
    assert_eq!(consumed, Ok(coded.len()));
    body
}

/// Encodes in pieces of these sizes, flushing after each piece of input.
pub(crate) fn encode_pieces(
    encoder: &mut Encoder,
    body: &[u8],
    input_size: usize,
    output_size: usize,
    flush: Flush,
) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut output = vec![0; output_size];
    let mut pieces = body.chunks(input_size).peekable();
    loop {
        let piece = pieces.next().unwrap_or_default();
        let last = pieces.peek().is_none();
        let mut rest = piece;
        loop {
            let flush = if last { Flush::Finish } else { flush };
            let progress = encoder.compress(rest, &mut output, flush).unwrap();
            rest = &rest[progress.consumed..];
            coded.extend_from_slice(&output[..progress.produced]);
            match progress.status {
                Status::NeedsOutput => assert!(progress.produced > 0 || output.is_empty()),
                Status::NeedsInput => break,
                Status::Done => return coded,
            }
        }
        assert!(rest.is_empty());
    }
}

/// Decodes in pieces of these sizes.
pub(crate) fn decode_pieces(
    decoder: &mut Decoder,
    coded: &[u8],
    input_size: usize,
    output_size: usize,
) -> Result<(Vec<u8>, usize), laneflate_simd::Error> {
    let mut body = Vec::new();
    let mut output = vec![0; output_size];
    let mut taken = 0;
    let mut available = 0;
    loop {
        let progress = decoder.decompress(&coded[taken..available], &mut output)?;
        taken += progress.consumed;
        body.extend_from_slice(&output[..progress.produced]);
        match progress.status {
            Status::Done => return Ok((body, taken)),
            Status::NeedsOutput => assert_eq!(progress.produced, output_size),
            Status::NeedsInput if available == coded.len() => return Ok((body, usize::MAX)),
            Status::NeedsInput => available = coded.len().min(available + input_size),
        }
    }
}
