//! Decoding bodies that others, or we ourselves, coded.

use std::io::Write;

use http::{HeaderValue, StatusCode};

use super::*;
use crate::encode::encode_whole;
use crate::encode::testing::{Output, Script, Step, noise, read, text};

const LEVEL: i32 = 5;

fn decoded(coding: Coding, script: Script, bounds: Bounds) -> Output<DecodeError> {
    read(Decoded::new(script, coding, bounds).unwrap())
}

#[track_caller]
fn check(coding: Coding, coded: &[u8], plain: &[u8]) {
    for size in [1, 2, 3, 17, 1000, coded.len().max(1)] {
        let output = decoded(coding, Script::pieces(coded, size), Bounds::NONE);
        assert!(output.error.is_none(), "{coding:?}, by {size}: {:?}", output.error);
        assert!(output.data == plain, "{coding:?}, by {size}");
    }
}

fn raw_deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_coding_in_every_split() {
    for coding in Coding::ALL {
        for plain in [vec![], vec![b'x'], text(20_000), noise(5000), vec![0; 200_000]] {
            check(coding, &encode_whole(coding, LEVEL, &plain).unwrap(), &plain);
        }
    }
}

#[test]
fn deflate_without_its_wrapper() {
    for plain in [vec![], text(20_000), noise(70_000)] {
        check(Coding::Deflate, &raw_deflate(&plain), &plain);
    }
}

#[test]
fn an_empty_body_is_empty() {
    for coding in Coding::ALL {
        check(coding, &[], &[]);
    }
}

#[test]
fn streams_one_after_another() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let coded =
            [text(5000), vec![], noise(300)].map(|part| encode_whole(coding, LEVEL, &part).unwrap()).concat();
        check(coding, &coded, &[text(5000), noise(300)].concat());
    }
}

#[test]
fn what_follows_the_end_is_an_error() {
    let plain = text(2000);
    for (coding, after) in [
        (Coding::Gzip, &b"\0"[..]),
        (Coding::Gzip, b"\x1f\x8c"),
        (Coding::Deflate, b"x"),
        (Coding::Brotli, b"x"),
        (Coding::Zstd, b"garbage"),
    ] {
        let coded = [&encode_whole(coding, LEVEL, &plain).unwrap(), after].concat();
        for size in [1, coded.len() - after.len(), coded.len()] {
            let error = decoded(coding, Script::pieces(&coded, size), Bounds::NONE).error.expect("an error");
            assert!(error.is_malformed(), "{coding:?}, by {size}: {error}");
        }
    }
}

#[test]
fn a_body_cut_short_anywhere_is_an_error() {
    let plain = [text(300), noise(100)].concat();
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, &plain).unwrap();
        for len in 1..coded.len() {
            let error =
                decoded(coding, Script::pieces(&coded[..len], 50), Bounds::NONE).error.expect("an error");
            assert!(error.is_malformed(), "{coding:?}, {len} of {} bytes: {error}", coded.len());
            assert_eq!(error.status(), StatusCode::BAD_REQUEST);
        }
    }
}

#[test]
fn damage_is_an_error_or_another_body_but_never_a_panic() {
    let plain = text(400);
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, &plain).unwrap();
        for at in 0..coded.len() {
            let mut damaged = coded.to_vec();
            damaged[at] ^= 0x55;
            let output =
                decoded(coding, Script::pieces(&damaged, 64), Bounds { bytes: 1 << 20, ratio: None });
            // Two of the four have a checksum over all of the body.
            if output.error.is_none() && matches!(coding, Coding::Gzip | Coding::Deflate) {
                assert!(output.data == plain, "{coding:?} at {at}");
            }
        }
        let garbage =
            decoded(coding, Script::pieces(&noise(1000), 1000), Bounds::NONE).error.expect("an error");
        assert!(garbage.is_malformed(), "{coding:?}: {garbage}");
    }
}

#[test]
fn bounds_hold() {
    let bomb = vec![0; 4 << 20];
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, &bomb).unwrap();
        for bounds in [Bounds { bytes: 100_000, ratio: None }, Bounds { bytes: u64::MAX, ratio: Some(100) }] {
            let output = decoded(coding, Script::pieces(&coded, 1000), bounds);
            let error = output.error.expect("an error");
            assert!(error.is_too_large() && !error.is_malformed(), "{coding:?}: {error}");
            assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
            assert!(output.data.len() <= 200_000, "{coding:?}: {} bytes came through", output.data.len());
        }
        let exact = decoded(coding, Script::pieces(&coded, 1000), Bounds { bytes: 4 << 20, ratio: None });
        assert!(exact.error.is_none() && exact.data == bomb);
    }
}

#[test]
fn a_short_body_may_have_any_ratio() {
    let plain = vec![b' '; 60_000];
    let coded = encode_whole(Coding::Gzip, LEVEL, &plain).unwrap();
    let output =
        decoded(Coding::Gzip, Script::pieces(&coded, 1000), Bounds { bytes: u64::MAX, ratio: Some(2) });
    assert!(output.error.is_none() && output.data == plain);
}

#[test]
fn a_zstd_window_above_8_mib_is_refused() {
    let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    encoder.write_all(&text(1000)).unwrap();
    let coded = encoder.finish().unwrap();
    let error = decoded(Coding::Zstd, Script::pieces(&coded, 1000), Bounds::NONE).error.expect("an error");
    assert!(error.is_malformed(), "{error}");
}

#[test]
fn trailers_follow() {
    let trailers = HeaderMap::from_iter([(http::header::ETAG, HeaderValue::from_static("\"after\""))]);
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, b"body").unwrap();
        let output = decoded(
            coding,
            Script::new([Step::Data(coded), Step::Idle, Step::Trailers(trailers.clone())]),
            Bounds::NONE,
        );
        assert_eq!((&output.data[..], output.trailers.as_ref()), (&b"body"[..], Some(&trailers)));
    }
}

#[test]
fn an_error_of_the_source_comes_through() {
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, b"body").unwrap();
        let error = decoded(coding, Script::new([Step::Data(coded), Step::Fail]), Bounds::NONE)
            .error
            .expect("an error");
        assert!(!error.is_malformed() && !error.is_too_large());
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the source broke off");
    }
}

#[test]
fn a_long_body_is_decoded_in_turns() {
    let plain = vec![0; 4 << 20];
    for coding in Coding::ALL {
        let coded = encode_whole(coding, LEVEL, &plain).unwrap();
        let output = decoded(coding, Script::pieces(&coded, coded.len()), Bounds::NONE);
        assert!(output.pauses >= plain.len() / TURN_BYTES - 1, "{coding:?}: {} pauses", output.pauses);
        assert!(output.frames.iter().all(|len| *len <= 2 * FRAME_BYTES));
        assert!(output.data == plain);
    }
}
