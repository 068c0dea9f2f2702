//! Preset dictionaries, next to zlib-rs.

use laneflate_simd::{Decoder, Encoder, ErrorKind, Flush, Format, Kernels, Level, Status, adler32, bound};

/// Of several lengths, around a window and a chunk.
fn dictionaries() -> Vec<Vec<u8>> {
    [1, 2, 3, 100, 6144, 6145, 20_000, 32_767, 32_768, 32_769, 70_000].map(noise).to_vec()
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Refers to the dictionary's end, and to its start, where that is in reach.
fn body(dictionary: &[u8]) -> Vec<u8> {
    let (start, end) = (&dictionary[..dictionary.len().min(200)], dictionary.len().saturating_sub(3000));
    [&dictionary[end..], b"something new", start, &dictionary[end..]].concat()
}

fn encode(
    format: Format,
    level: Level,
    kernels: &'static Kernels,
    dictionary: &[u8],
    body: &[u8],
) -> Vec<u8> {
    let mut encoder = Encoder::with_kernels(format, level, kernels);
    encoder.set_dictionary(dictionary).expect("not gzip");
    let mut coded = Vec::new();
    encoder.encode(body, &mut coded);
    assert!(coded.len() <= bound(format, body.len()) + 4);
    coded
}

fn stream(encoder: &mut Encoder, body: &[u8], piece: usize) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut output = [0; 1000];
    let mut rest = body;
    loop {
        let input = &rest[..rest.len().min(piece)];
        let flush = if input.len() == rest.len() { Flush::Finish } else { Flush::None };
        let progress = encoder.compress(input, &mut output, flush).expect("not finished");
        rest = &rest[progress.consumed..];
        coded.extend_from_slice(&output[..progress.produced]);
        if progress.status == Status::Done {
            return coded;
        }
    }
}

/// By zlib-rs.
fn decode_by_zlib(format: Format, dictionary: &[u8], coded: &[u8], len: usize) -> Vec<u8> {
    let mut decoder = flate2::Decompress::new(format == Format::Zlib);
    let mut body = vec![0; len + 1];
    let mut taken = 0;
    if format == Format::Zlib {
        let flush = flate2::FlushDecompress::None;
        let error = decoder.decompress(coded, &mut body, flush).expect_err("a dictionary is wanted");
        assert_eq!(error.needs_dictionary(), Some(adler32(1, dictionary)));
        taken = decoder.total_in() as usize;
    }
    decoder.set_dictionary(dictionary).expect("the right one");
    let flush = flate2::FlushDecompress::Finish;
    let status = decoder.decompress(&coded[taken..], &mut body, flush).expect("a right stream");
    assert_eq!(status, flate2::Status::StreamEnd);
    body.truncate(decoder.total_out() as usize);
    body
}

#[test]
fn zlib_reads_ours() {
    for dictionary in dictionaries() {
        let body = body(&dictionary);
        for format in [Format::Raw, Format::Zlib] {
            for level in (0..=12).filter_map(Level::new) {
                let scalar = Kernels::by_name("scalar").expect("runs everywhere");
                let whole = encode(format, level, scalar, &dictionary, &body);
                let mut encoder = Encoder::with_kernels(format, level, scalar);
                encoder.set_dictionary(&dictionary).expect("not gzip");
                let pieces = stream(&mut encoder, &body, 777);
                encoder.reset();
                assert!(stream(&mut encoder, &body, 777) == pieces, "kept over a reset");
                for kernels in Kernels::all() {
                    assert!(
                        encode(format, level, kernels, &dictionary, &body) == whole,
                        "{}",
                        kernels.name()
                    );
                }
                for coded in [whole, pieces] {
                    let decoded = decode_by_zlib(format, &dictionary, &coded, body.len());
                    assert!(decoded == body, "{format:?}, {level:?}, {} bytes", dictionary.len());
                    let mut decoder = Decoder::new(format);
                    decoder.set_dictionary(&dictionary).expect("not gzip");
                    let mut out = b"before".to_vec();
                    assert_eq!(decoder.decode(&coded, &mut out, body.len()), Ok(coded.len()));
                    assert!(out[6..] == body && out.starts_with(b"before"));
                }
            }
        }
    }
}

#[test]
fn it_pays() {
    let dictionary = noise(5000);
    for format in [Format::Raw, Format::Zlib] {
        for level in (1..=12).filter_map(Level::new) {
            let coded = encode(format, level, Kernels::detect(), &dictionary, &dictionary[1000..4000]);
            assert!(coded.len() < 200, "{level:?}: {} bytes", coded.len());
        }
    }
}

#[test]
fn we_read_zlibs_byte_by_byte() {
    for dictionary in dictionaries() {
        let body = body(&dictionary);
        for format in [Format::Raw, Format::Zlib] {
            let mut encoder = flate2::Compress::new(flate2::Compression::new(6), format == Format::Zlib);
            encoder.set_dictionary(&dictionary).expect("at the start");
            let mut coded = Vec::with_capacity(100_000);
            encoder.compress_vec(&body, &mut coded, flate2::FlushCompress::Finish).expect("room");

            let mut decoder = Decoder::new(format);
            decoder.set_dictionary(&dictionary).expect("not gzip");
            let (mut decoded, mut output) = (Vec::new(), [0; 50]);
            for byte in &coded {
                let mut input = std::slice::from_ref(byte);
                loop {
                    let progress = decoder.decompress(input, &mut output).expect("right");
                    input = &input[progress.consumed..];
                    decoded.extend_from_slice(&output[..progress.produced]);
                    if progress.status != Status::NeedsOutput {
                        break;
                    }
                }
            }
            assert!(decoded == body);
        }
    }
}

#[test]
fn a_missing_or_wrong_one_is_named() {
    let dictionary = noise(300);
    let id = adler32(1, &dictionary);
    let coded = encode(Format::Zlib, Level::DEFAULT, Kernels::detect(), &dictionary, &dictionary);
    let mut decoder = Decoder::new(Format::Zlib);
    let mut out = b"before".to_vec();
    let error = decoder.decode(&coded, &mut out, 1000).expect_err("none is set");
    assert_eq!((error.kind(), error.position()), (ErrorKind::NeedsDictionary(id), 6));
    assert!(error.to_string().contains(&format!("{id:08x}")), "{error}");
    decoder.set_dictionary(b"another").expect("not gzip");
    let error = decoder.decode(&coded, &mut out, 1000).expect_err("another is set");
    assert_eq!(error.kind(), ErrorKind::WrongDictionary(id));
    assert_eq!(out, b"before");
}

/// As with zlib: ask, set, go on.
#[test]
fn it_can_be_given_when_asked_for() {
    let dictionary = noise(300);
    let coded = encode(Format::Zlib, Level::DEFAULT, Kernels::detect(), &dictionary, &dictionary);
    let mut decoder = Decoder::new(Format::Zlib);
    let mut output = [0; 400];
    let error = decoder.decompress(&coded, &mut output).expect_err("none is set");
    decoder.set_dictionary(b"a wrong one").expect("not gzip");
    let rest = &coded[error.position() as usize..];
    let still = decoder.decompress(rest, &mut output).expect_err("the wrong one is set");
    assert!(matches!(still.kind(), ErrorKind::WrongDictionary(_)));
    decoder.set_dictionary(&dictionary).expect("not gzip");
    let progress = decoder.decompress(rest, &mut output).expect("right");
    assert_eq!((progress.status, progress.consumed), (Status::Done, rest.len()));
    assert!(output[..progress.produced] == dictionary);
}

#[test]
fn gzip_has_none() {
    let error = Encoder::new(Format::Gzip, Level::DEFAULT).set_dictionary(b"words").expect_err("gzip");
    assert_eq!(error.kind(), ErrorKind::NoDictionary);
    let error = Decoder::new(Format::Gzip).set_dictionary(b"words").expect_err("gzip");
    assert_eq!(error.kind(), ErrorKind::NoDictionary);
}

#[test]
fn a_stream_without_one_does_not_use_it() {
    let mut coded = Vec::new();
    Encoder::new(Format::Zlib, Level::DEFAULT).encode(b"a body", &mut coded);
    let mut decoder = Decoder::new(Format::Zlib);
    decoder.set_dictionary(b"words").expect("not gzip");
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&coded, &mut out, 100), Ok(coded.len()));
    assert_eq!(out, b"a body");

    let mut encoder = Encoder::new(Format::Zlib, Level::DEFAULT);
    encoder.set_dictionary(b"words").expect("not gzip");
    encoder.set_dictionary(b"").expect("not gzip");
    let mut again = Vec::new();
    encoder.encode(b"a body", &mut again);
    assert_eq!(again, coded);
}
