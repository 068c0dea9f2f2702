//! Streams of every encoder, as other decoders read them.

use super::*;
use crate::encode::testing::{decode, decode_beginning, noise, text};

/// A fast, a usual and a thorough level of each coding.
const LEVELS: [(Coding, [i32; 3]); 4] = [
    (Coding::Gzip, [1, 6, 9]),
    (Coding::Deflate, [1, 6, 9]),
    (Coding::Brotli, [1, 5, 9]),
    (Coding::Zstd, [-1, 3, 12]),
];

fn each(mut test: impl FnMut(Coding, Effort, Encoder)) {
    for (coding, levels) in LEVELS {
        for effort in levels.map(Effort::from) {
            test(coding, effort, Encoder::new(coding, effort).unwrap());
            if matches!(coding, Coding::Gzip | Coding::Deflate) {
                let effort = Effort { engine: Engine::ZlibRs, ..effort };
                test(coding, effort, Encoder::new(coding, effort).unwrap());
            }
        }
    }
}

#[test]
fn whole_bodies() {
    each(|coding, effort, mut encoder| {
        for body in [vec![], vec![b'x'], text(255), text(9000), text(150_000), noise(9000)] {
            let mut coded = b"before".to_vec();
            encoder.encode_whole(&body, &mut coded).unwrap();
            let coded = coded.strip_prefix(b"before").expect("what was in the output stays");
            assert!(decode(coding, coded).unwrap() == body, "{coding:?} {effort:?}, {} bytes", body.len());
        }
    });
}

#[test]
fn every_split_of_the_input() {
    let body = text(600);
    each(|coding, effort, mut encoder| {
        for size in (1..20).chain([63, 64, 65, 299, 300, 599, 600]) {
            for flush in [Flush::None, Flush::Sync] {
                encoder.begin(Some(body.len() as u64)).unwrap();
                let mut coded = Vec::new();
                for piece in body.chunks(size) {
                    encoder.push(piece, &mut coded, flush).unwrap();
                }
                encoder.push(&[], &mut coded, Flush::Finish).unwrap();
                assert!(
                    decode(coding, &coded).unwrap() == body,
                    "{coding:?} {effort:?}, pieces of {size}, {flush:?}"
                );
            }
        }
    });
}

#[test]
fn pieces_around_the_sizes_of_blocks() {
    let body = text(300_000);
    each(|coding, effort, mut encoder| {
        for size in [32_768, 65_535, 65_536, 131_073, 299_999] {
            encoder.begin(None).unwrap();
            let mut coded = Vec::new();
            for piece in body.chunks(size) {
                encoder.push(piece, &mut coded, Flush::None).unwrap();
            }
            encoder.push(&[], &mut coded, Flush::Finish).unwrap();
            assert!(decode(coding, &coded).unwrap() == body, "{coding:?} {effort:?}, pieces of {size}");
        }
    });
}

#[test]
fn what_was_pushed_before_a_sync_decodes() {
    let body = [text(40_000), noise(40_000)].concat();
    each(|coding, effort, mut encoder| {
        encoder.begin(None).unwrap();
        let (mut coded, mut pushed) = (Vec::new(), 0);
        for (len, flush) in [(1, Flush::Sync), (500, Flush::None), (3, Flush::Sync), (70_000, Flush::Sync)] {
            encoder.push(&body[pushed..pushed + len], &mut coded, flush).unwrap();
            pushed += len;
            if flush == Flush::Sync {
                let decoded = decode_beginning(coding, &coded);
                assert!(
                    decoded == body[..pushed],
                    "{coding:?} {effort:?}: {} of {pushed} bytes",
                    decoded.len()
                );
            }
        }
    });
}

#[test]
fn a_new_body_forgets_the_one_before() {
    each(|coding, effort, mut encoder| {
        encoder.push(&text(100_000), &mut Vec::new(), Flush::None).unwrap();
        let mut coded = Vec::new();
        encoder.encode_whole(b"a second body", &mut coded).unwrap();
        assert_eq!(decode(coding, &coded).unwrap(), b"a second body", "{coding:?} {effort:?}");

        encoder.begin(None).unwrap();
        encoder.push(&text(100_000), &mut Vec::new(), Flush::Sync).unwrap();
        encoder.begin(Some(12)).unwrap();
        coded.clear();
        encoder.push(b"a third body", &mut coded, Flush::None).unwrap();
        encoder.push(&[], &mut coded, Flush::Finish).unwrap();
        assert_eq!(decode(coding, &coded).unwrap(), b"a third body", "{coding:?} {effort:?}");
    });
}

#[test]
fn gzip_says_nothing_of_time_or_name() {
    let coded = encode_whole(Coding::Gzip, 6, b"body").unwrap();
    assert_eq!(coded[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
}

#[test]
fn deflate_has_the_zlib_wrapper() {
    let coded = encode_whole(Coding::Deflate, 6, b"body").unwrap();
    assert_eq!(coded[0], 0x78);
    assert_eq!(u16::from_be_bytes([coded[0], coded[1]]) % 31, 0);
}

/// The head of a zstd frame (RFC 8878, section 3.1.1.1): window, content size, and whether a checksum follows.
fn zstd_head(frame: &[u8]) -> (u64, Option<u64>, bool) {
    assert_eq!(frame[..4], 0xfd2f_b528_u32.to_le_bytes());
    let (descriptor, rest) = (frame[4], &frame[5..]);
    let single_segment = descriptor & 0x20 != 0;
    let size = ::zstd::zstd_safe::get_frame_content_size(frame).unwrap();
    let window = if single_segment {
        size.expect("a single segment tells its size")
    } else {
        let base = 1 << (10 + (rest[0] >> 3));
        base + base / 8 * u64::from(rest[0] & 7)
    };
    (window, size, descriptor & 0x04 != 0)
}

#[test]
fn no_zstd_window_exceeds_8_mib() {
    const SIZE: u64 = 100 << 20;
    // Tables of the highest levels take half a gigabyte for bodies of this size.
    for level in [-7, 1, 3, 9, 19, 20] {
        for size in [None, Some(SIZE)] {
            let mut encoder = Encoder::new(Coding::Zstd, level).unwrap();
            encoder.begin(size).unwrap();
            let mut frame = Vec::new();
            encoder.push(b"the beginning", &mut frame, Flush::Sync).unwrap();
            let (window, told, checksum) = zstd_head(&frame);
            assert!(window <= 8 << 20, "level {level}, {size:?}: {window}");
            assert_eq!(told, size);
            assert!(!checksum);
        }
    }
}

#[test]
fn a_zstd_body_of_another_size_than_it_said_is_an_error() {
    for len in [9, 11] {
        let mut encoder = Encoder::new(Coding::Zstd, 3).unwrap();
        encoder.begin(Some(10)).unwrap();
        let mut out = Vec::new();
        let pushed = encoder.push(&text(len), &mut out, Flush::None);
        assert!(pushed.and_then(|()| encoder.push(&[], &mut out, Flush::Finish)).is_err(), "{len} bytes");
    }
}

#[test]
fn levels_stay_within_their_coding() {
    let levels = Levels { gzip: 255, brotli: 255, zstd: 1000 };
    assert_eq!(Coding::ALL.map(|coding| levels.level(coding)), [22, 11, 12, 12]);
    let levels = Levels { gzip: 0, brotli: 0, zstd: -1_000_000 };
    assert_eq!(Coding::ALL.map(|coding| levels.level(coding)), [-7, 0, 0, 0]);
}
