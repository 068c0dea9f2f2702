//! Flush, finish, drop, reset, totals and headers.

use crate::{body, both, same, streams};
use std::io::{Read, Write};

/// What can be decoded of a stream that goes on.
fn decode_start(coded: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    // The end is missing.
    let _ = flate2::read::GzDecoder::new(coded).read_to_end(&mut body);
    body
}

#[test]
fn flush_gives_all_so_far() {
    let (ours, theirs) = both!({
        let mut encoder = write::GzEncoder::new(Vec::new(), Compression::default());
        let mut decoded = Vec::new();
        for piece in [&b""[..], b"one ", b"two ", b"three"] {
            encoder.write_all(piece).expect("in memory");
            encoder.flush().expect("in memory");
            decoded.push(decode_start(encoder.get_ref()));
        }
        decoded
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours, [&b""[..], b"one ", b"one two ", b"one two three"]);
}

#[test]
fn drop_finishes() {
    let (ours, theirs) = both!({
        let mut coded = Vec::new();
        write::GzEncoder::new(&mut coded, Compression::fast()).write_all(b"dropped").expect("in memory");
        coded
    });
    for coded in [ours, theirs] {
        let decoded = same!({
            let mut decoded = Vec::new();
            write::GzDecoder::new(&mut decoded).write_all(&coded).expect("right");
            decoded
        });
        assert_eq!(decoded, b"dropped");
    }
}

#[test]
fn finish_twice_writes_once() {
    let (ours, theirs) = both!({
        let mut encoder = write::ZlibEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(b"once").expect("in memory");
        encoder.try_finish().expect("in memory");
        let len = encoder.get_ref().len();
        encoder.try_finish().expect("in memory");
        (len, encoder.finish().expect("in memory").len())
    });
    assert_eq!(ours.0, ours.1);
    assert_eq!(theirs.0, theirs.1);
}

#[test]
fn reset_begins_anew() {
    let [_, zlib, raw] = streams(b"second");
    macro_rules! check {
        ($encoder:ident, $decoder:ident, $coded:expr) => {
            let (ours, theirs) = both!({
                let mut encoder = write::$encoder::new(Vec::new(), Compression::fast());
                encoder.write_all(b"first").expect("in memory");
                let first = encoder.reset(Vec::new()).expect("in memory");
                encoder.write_all(b"second").expect("in memory");
                assert_eq!(encoder.total_in(), 6);
                let mut reader = read::$encoder::new(&b"first"[..], Compression::fast());
                let mut third = Vec::new();
                reader.read_exact(&mut [0]).expect("more than a byte");
                reader.reset(&b"third"[..]);
                reader.read_to_end(&mut third).expect("in memory");
                [first, encoder.finish().expect("in memory"), third]
            });
            for streams in [ours, theirs] {
                let decoded = same!({
                    let mut decoder = write::$decoder::new(Vec::new());
                    decoder.write_all(&streams[0]).expect("right");
                    let first = decoder.reset(Vec::new()).expect("ended");
                    decoder.write_all(&streams[1]).expect("right");
                    let mut reader = read::$decoder::new(&$coded[..]);
                    let mut third = String::new();
                    reader.read_exact(&mut [0]).expect("more than a byte");
                    reader.reset(&streams[2][..]);
                    reader.read_to_string(&mut third).expect("right");
                    assert_eq!((reader.total_in(), reader.total_out()), (streams[2].len() as u64, 5));
                    (first, decoder.finish().expect("right"), third)
                });
                assert_eq!(decoded, (b"first".to_vec(), b"second".to_vec(), "third".into()));
            }
        };
    }
    check!(ZlibEncoder, ZlibDecoder, zlib);
    check!(DeflateEncoder, DeflateDecoder, raw);
}

#[test]
fn headers() {
    let (ours, theirs) = both!({
        let builder = || {
            let builder = GzBuilder::new().mtime(1_700_000_000).operating_system(3);
            builder.extra(&b"ab\x02\0hi"[..]).filename("name").comment("a comment")
        };
        let mut coded = Vec::new();
        let level = Compression::new(5);
        builder().read(&b"a body"[..], level).read_to_end(&mut coded).expect("in memory");
        let mut again = Vec::new();
        builder().buf_read(&b"a body"[..], level).read_to_end(&mut again).expect("in memory");
        assert_eq!(coded, again);
        let mut writer = builder().write(Vec::new(), level);
        writer.write_all(b"a body").expect("in memory");
        assert_eq!(writer.finish().expect("in memory"), coded);
        coded
    });
    // Up to the body they write the same.
    let header = 10 + 2 + 6 + 5 + 10;
    assert_eq!(ours[..header], theirs[..header]);
    let fields = same!({
        // The header is there before anything is read.
        let decoder = read::GzDecoder::new(&ours[..]);
        let header = decoder.header().expect("read by new");
        let texts =
            [header.filename(), header.comment(), header.extra()].map(|text| text.map(<[u8]>::to_vec));
        (header.mtime(), header.operating_system(), texts)
    });
    assert_eq!((fields.0, fields.1), (1_700_000_000, 3));
    assert_eq!(fields.2[0].as_deref(), Some(&b"name"[..]));
    let by_writer = same!({
        let mut decoder = write::GzDecoder::new(Vec::new());
        assert!(decoder.header().is_none());
        decoder.write_all(&ours).expect("right");
        decoder.header().map(|header| header.filename().map(<[u8]>::to_vec))
    });
    assert_eq!(by_writer, Some(Some(b"name".to_vec())));
}

#[test]
fn every_level_makes_what_flate2_reads() {
    let body = &body()[..70_000];
    for level in 0..=12 {
        let mut encoder =
            laneflate_simd::write::GzEncoder::new(Vec::new(), laneflate_simd::Compression::new(level));
        encoder.write_all(body).expect("in memory");
        let coded = encoder.finish().expect("in memory");
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(&coded[..]).read_to_end(&mut decoded).expect("right");
        assert!(decoded == body, "level {level}");
    }
}
