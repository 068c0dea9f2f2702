//! What the encoder writes, three decoders read; what other encoders write, this decoder reads.

mod common;

use common::*;
use laneflate_simd::{Encoder, Format, Kernels, bound};

#[test]
fn every_level_format_and_body() {
    let bodies = bodies();
    for format in FORMATS {
        for level in levels() {
            let mut encoder = Encoder::new(format, level);
            for (name, body) in &bodies {
                let mut coded = Vec::new();
                let size = encoder.encode(body, &mut coded);
                assert_eq!(size, coded.len());
                let what = format!("{name}, {format:?}, {level:?}");
                assert!(size <= bound(format, body.len()), "{what}: {size}");
                assert!(decode(format, &coded) == *body, "{what}");
                assert!(zlib_decode(format, &coded, body.len()) == *body, "{what}");
                assert!(libdeflate_decode(format, &coded, body.len()) == *body, "{what}");
            }
        }
    }
}

#[test]
fn all_kernels_write_the_same() {
    let bodies = bodies();
    let spec = Kernels::by_name("scalar").expect("runs everywhere");
    for name in ["avx512", "avx2", "neon", "sve"] {
        let Some(kernels) = Kernels::by_name(name) else {
            println!("skipped: {name}, which this CPU lacks");
            continue;
        };
        for level in levels() {
            let mut one = Encoder::with_kernels(Format::Raw, level, spec);
            let mut two = Encoder::with_kernels(Format::Raw, level, kernels);
            for (body_name, body) in &bodies {
                let (mut expected, mut coded) = (Vec::new(), Vec::new());
                one.encode(body, &mut expected);
                two.encode(body, &mut coded);
                assert!(coded == expected, "{name}, {body_name}, {level:?}");
            }
        }
    }
}

#[test]
fn what_was_encoded_before_leaves_no_trace() {
    for level in levels() {
        let mut encoder = Encoder::new(Format::Gzip, level);
        for (name, body) in bodies() {
            let (mut first, mut again) = (Vec::new(), Vec::new());
            Encoder::new(Format::Gzip, level).encode(&body, &mut first);
            encoder.encode(&body, &mut again);
            assert!(first == again, "{name}, {level:?}");
        }
    }
}

#[test]
fn reads_what_others_write() {
    for (name, body) in bodies() {
        for level in [0, 1, 6, 9, 12] {
            let level = libdeflater::CompressionLvl::new(level).unwrap();
            let mut encoder = libdeflater::Compressor::new(level);
            let mut coded = vec![0; encoder.gzip_compress_bound(body.len())];
            let size = encoder.gzip_compress(&body, &mut coded).unwrap();
            assert!(decode(Format::Gzip, &coded[..size]) == body, "{name}");
        }
        for level in [1, 5, 9] {
            let mut encoder = flate2::Compress::new(flate2::Compression::new(level), true);
            let mut coded = Vec::with_capacity(2 * body.len() + 1000);
            let status = encoder.compress_vec(&body, &mut coded, flate2::FlushCompress::Finish).unwrap();
            assert_eq!(status, flate2::Status::StreamEnd);
            assert!(decode(Format::Zlib, &coded) == body, "{name}");
        }
    }
}

#[test]
fn appends() {
    let mut out = b"before".to_vec();
    let size = Encoder::new(Format::Gzip, laneflate_simd::Level::DEFAULT).encode(b"body", &mut out);
    assert_eq!(out.len(), 6 + size);
    assert_eq!(&out[..6], b"before");
    assert_eq!(decode(Format::Gzip, &out[6..]), b"body");
}

#[test]
fn gzip_header_says_nothing_of_time_or_place() {
    let mut out = Vec::new();
    Encoder::new(Format::Gzip, laneflate_simd::Level::DEFAULT).encode(b"", &mut out);
    assert_eq!(out[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
}
