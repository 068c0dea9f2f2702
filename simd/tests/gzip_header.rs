//! The fields of a gzip header, both ways.

use laneflate_simd::{Decoder, Encoder, ErrorKind, Format, GzHeader, Level, Status, bound, crc32};

fn encode(header: GzHeader) -> Vec<u8> {
    let mut encoder = Encoder::new(Format::Gzip, Level::FASTEST);
    encoder.set_gzip_header(header);
    let mut coded = Vec::new();
    encoder.encode(b"a body", &mut coded);
    coded
}

/// Decodes byte by byte; returns the header.
fn header_of(coded: &[u8]) -> Result<GzHeader, ErrorKind> {
    let mut decoder = Decoder::new(Format::Gzip);
    for byte in coded {
        let done = decoder.decompress(std::slice::from_ref(byte), &mut [0; 64]);
        if done.map_err(|error| error.kind())?.status == Status::Done {
            break;
        }
    }
    Ok(decoder.gzip_header().expect("a whole member").clone())
}

fn full() -> GzHeader {
    let header = GzHeader::new().with_mtime(0x1234_5678).with_operating_system(3);
    let header = header.with_extra(*b"ab\x01\0!").expect("short");
    header.with_filename("naïve.txt").and_then(|header| header.with_comment("a comment")).expect("in Latin-1")
}

#[test]
fn deterministic_by_default() {
    let coded = encode(GzHeader::default());
    assert_eq!(coded[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
    assert_eq!(header_of(&coded), Ok(GzHeader::new()));
}

#[test]
fn fields_come_back() {
    let texts = || [None, Some("")].into_iter().chain([Some("text")]);
    for name in texts() {
        for comment in texts() {
            for extra in [None, Some(vec![]), Some(vec![1; 65535])] {
                let mut header = GzHeader::new().with_mtime(7);
                header = name.map_or(Ok(header.clone()), |name| header.with_filename(name)).expect("right");
                header = comment.map_or(Ok(header.clone()), |text| header.with_comment(text)).expect("right");
                let plain = header.clone();
                header = extra.map_or(Ok(plain), |extra| header.with_extra(extra)).expect("right");
                let coded = encode(header.clone());
                assert!(coded.len() <= bound(Format::Gzip, 6) + header.size() - 10);
                let read = header_of(&coded).expect("right");
                assert_eq!(read.filename(), header.filename());
                assert_eq!(read.comment(), header.comment());
                assert!(read.extra() == header.extra());
            }
        }
    }
}

#[test]
fn streams_have_it_and_reset_keeps_it() {
    let mut encoder = Encoder::new(Format::Gzip, Level::DEFAULT);
    encoder.set_gzip_header(full());
    for _ in 0..2 {
        let mut coded = [0; 200];
        let done =
            encoder.compress(b"a body", &mut coded, laneflate_simd::Flush::Finish).expect("not finished");
        assert_eq!(done.status, Status::Done);
        assert_eq!(header_of(&coded[..done.produced]), Ok(full()));
        encoder.reset();
    }
}

#[test]
fn other_formats_have_none() {
    for format in [Format::Raw, Format::Zlib] {
        let mut encoder = Encoder::new(format, Level::DEFAULT);
        let (mut plain, mut coded) = (Vec::new(), Vec::new());
        encoder.encode(b"a body", &mut plain);
        encoder.set_gzip_header(full());
        encoder.encode(b"a body", &mut coded);
        assert_eq!(plain, coded);
        let mut decoder = Decoder::new(format);
        decoder.decompress(&coded, &mut [0; 64]).expect("right");
        assert!(decoder.gzip_header().is_none());
    }
}

/// The header's own checksum is of all bytes before it.
#[test]
fn header_checksum() {
    let mut coded = encode(full());
    let size = full().size();
    coded[3] |= 1 << 1;
    let sum = (crc32(0, &coded[..size]) as u16).to_le_bytes();
    coded.splice(size..size, sum);
    assert_eq!(header_of(&coded), Ok(full()));
    for at in [5, size - 3, size, size + 1] {
        let mut bad = coded.clone();
        bad[at] ^= 1;
        assert_eq!(header_of(&bad), Err(ErrorKind::HeaderChecksum), "byte {at}");
    }
}

#[test]
fn reserved_flags_are_an_error() {
    for flag in [0x20, 0x40, 0x80] {
        let mut coded = encode(full());
        coded[3] |= flag;
        assert_eq!(header_of(&coded), Err(ErrorKind::ReservedFlags));
    }
}

#[test]
fn long_texts_are_kept_up_to_the_bound() {
    let name = vec![b'n'; GzHeader::KEPT + 5000];
    let header = GzHeader::new().with_filename_bytes(name).expect("no NUL").with_comment("after it");
    let read = header_of(&encode(header.expect("in Latin-1"))).expect("right");
    assert_eq!(read.filename().map(<[u8]>::len), Some(GzHeader::KEPT));
    assert_eq!(read.comment(), Some(&b"after it"[..]));
}
