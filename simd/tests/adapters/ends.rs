//! How streams end: too soon, damaged, with more after them, or in a further member.

use crate::{body, same, streams};
use std::io::{ErrorKind, Read, Write};

/// What a reader gave, and how it ended.
fn outcome(mut reader: impl Read) -> (Vec<u8>, Option<ErrorKind>) {
    let mut all = Vec::new();
    let error = reader.read_to_end(&mut all).err();
    (all, error.map(|error| error.kind()))
}

#[test]
fn truncated_input_is_an_unexpected_end() {
    let streams = streams(&body()[..2000]);
    macro_rules! check {
        ($decoder:ident, $stream:expr) => {
            for len in 0..$stream.len() {
                let cut = &$stream[..len];
                assert_eq!(
                    same!({ outcome(read::$decoder::new(cut)).1 }),
                    Some(ErrorKind::UnexpectedEof),
                    "{len}"
                );
                assert_eq!(same!({ outcome(bufread::$decoder::new(cut)).1 }), Some(ErrorKind::UnexpectedEof));
                let mut ours = laneflate_simd::write::$decoder::new(Vec::new());
                ours.write_all(cut).expect("right so far");
                assert_eq!(ours.finish().expect_err("cut").kind(), ErrorKind::UnexpectedEof);
            }
        };
    }
    check!(GzDecoder, streams[0]);
    check!(MultiGzDecoder, streams[0]);
    check!(ZlibDecoder, streams[1]);
    check!(DeflateDecoder, streams[2]);
}

#[test]
fn damage_is_invalid_input_and_says_where() {
    let [gzip, zlib, _] = streams(b"a body");
    for at in [0, 2, gzip.len() - 6, gzip.len() - 1] {
        let mut bad = gzip.clone();
        bad[at] ^= 0x10;
        assert_eq!(
            same!({ outcome(read::GzDecoder::new(&bad[..])).1 }),
            Some(ErrorKind::InvalidInput),
            "{at}"
        );
        assert_eq!(
            same!({ outcome(bufread::MultiGzDecoder::new(&bad[..])).1 }),
            Some(ErrorKind::InvalidInput)
        );
    }
    let mut bad = zlib;
    bad[0] ^= 0x10;
    assert_eq!(same!({ outcome(read::ZlibDecoder::new(&bad[..])).1 }), Some(ErrorKind::InvalidInput));
    let error = laneflate_simd::read::ZlibDecoder::new(&bad[..]).read(&mut [0]).expect_err("damaged");
    let inner = error.get_ref().and_then(|error| error.downcast_ref::<laneflate_simd::Error>());
    let inner = inner.expect("an error of the codec");
    assert_eq!((inner.kind(), inner.position()), (laneflate_simd::ErrorKind::BadHeader, 2));
}

#[test]
fn bufread_leaves_the_rest() {
    let body = body();
    let [gzip, zlib, raw] = streams(&body);
    macro_rules! check {
        ($decoder:ident, $stream:expr) => {
            let input = [&$stream[..], b"the rest"].concat();
            let (decoded, rest) = same!({
                let mut decoder = bufread::$decoder::new(&input[..]);
                (outcome(&mut decoder), decoder.into_inner())
            });
            assert_eq!(rest, b"the rest");
            assert!(decoded == (body.clone(), None));
        };
    }
    check!(GzDecoder, gzip);
    check!(ZlibDecoder, zlib);
    check!(DeflateDecoder, raw);
}

#[test]
fn members() {
    let ([first, ..], [second, ..]) = (streams(b"first "), streams(b"second"));
    let both = [&first[..], &second].concat();
    assert_eq!(same!({ outcome(read::GzDecoder::new(&both[..])) }), (b"first ".to_vec(), None));
    assert_eq!(same!({ outcome(read::MultiGzDecoder::new(&both[..])) }), (b"first second".to_vec(), None));
    let rest = same!({
        let mut decoder = bufread::GzDecoder::new(&both[..]);
        outcome(&mut decoder);
        decoder.into_inner()
    });
    assert_eq!(rest, second);

    for size in [1, 7, 1000] {
        let decoded = same!({
            let mut decoder = write::MultiGzDecoder::new(Vec::new());
            both.chunks(size).for_each(|piece| decoder.write_all(piece).expect("right"));
            decoder.finish().expect("right")
        });
        assert_eq!(decoded, b"first second");
    }
}

#[test]
fn bytes_after_the_last_member() {
    let [gzip, ..] = streams(b"a body");
    let input = [&gzip[..], b"no gzip at all"].concat();
    assert_eq!(same!({ outcome(read::GzDecoder::new(&input[..])) }), (b"a body".to_vec(), None));
    let (decoded, error) = same!({ outcome(read::MultiGzDecoder::new(&input[..])) });
    assert_eq!((&decoded[..], error), (&b"a body"[..], Some(ErrorKind::InvalidInput)));
    // A writer takes none of them.
    let taken = same!({
        let mut decoder = write::GzDecoder::new(Vec::new());
        decoder.write_all(&gzip).expect("right");
        decoder.write(b"more").expect("ignored")
    });
    assert_eq!(taken, 0);
}

#[test]
fn empty_reads_and_reads_after_the_end() {
    let [gzip, zlib, raw] = streams(b"");
    macro_rules! check {
        ($decoder:ident, $stream:expr) => {
            let counts = same!({
                let mut decoder = read::$decoder::new(&$stream[..]);
                let mut counts = Vec::new();
                for size in [0, 10, 10] {
                    counts.push(decoder.read(&mut vec![0; size]).expect("right"));
                }
                counts
            });
            assert_eq!(counts, [0, 0, 0]);
        };
    }
    check!(GzDecoder, gzip);
    check!(MultiGzDecoder, gzip);
    check!(ZlibDecoder, zlib);
    check!(DeflateDecoder, raw);
}
