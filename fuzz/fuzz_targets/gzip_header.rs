//! Gzip headers, written and read back by us and by flate2; and damaged ones, of which both think the same.

#![no_main]

use laneflate_fuzz::{Choices, Sizes, pieces};
use laneflate_simd::{Decoder, Encoder, Error, Format, GzHeader, GzHeaderError, Level, crc32};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Read};

/// The flag of a header that has its own checksum.
const HAS_CRC: u8 = 1 << 1;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let sizes = choices.bytes(3);
    let damages = choices.byte() % 4;
    let damages: Vec<_> = (0..damages).map(|_| (usize::from(choices.byte()), choices.byte())).collect();
    let (with_crc, cut) = (choices.byte() % 2 == 1, usize::from(choices.byte()));
    let Some(header) = header(&mut choices) else { return };

    let mut coded = Vec::new();
    let mut encoder = Encoder::new(Format::Gzip, Level::FASTEST);
    encoder.set_gzip_header(header.clone());
    encoder.encode(b"", &mut coded);
    if with_crc {
        coded[3] |= HAS_CRC;
        let crc = crc32(0, &coded[..header.size()]) as u16;
        coded.splice(header.size()..header.size(), crc.to_le_bytes());
    }
    assert_eq!(read(&coded, sizes), Ok(Some(header)));
    assert!(same(&coded, sizes));

    for (at, bits) in damages {
        let at = at % coded.len();
        coded[at] ^= bits;
    }
    coded.truncate(coded.len() - cut % coded.len());
    assert!(same(&coded, sizes));
    // Whatever comes, it does not depend on the pieces.
    assert_eq!(read(&coded, sizes), read(&coded, &[0xff]));
});

/// A header of any fields; none where one cannot be.
fn header(choices: &mut Choices) -> Option<GzHeader> {
    let fields = choices.byte();
    let number = u32::from_le_bytes([(); 4].map(|()| choices.byte()));
    let mut header = GzHeader::new().with_mtime(number).with_operating_system(choices.byte());
    let mut field = |bit: u8| {
        let count = choices.size();
        (fields & bit != 0).then(|| choices.bytes(count))
    };
    let (extra, name, comment) = (field(1), field(2), field(4));
    if let Some(extra) = extra {
        header = header.with_extra(extra).expect("no longer than the fuzzer's bytes");
    }
    for (text, is_name) in [(name, true), (comment, false)] {
        let Some(text) = text else { continue };
        let plain = header.clone();
        let with = if is_name { plain.with_filename_bytes(text) } else { plain.with_comment_bytes(text) };
        assert_eq!(with.as_ref().err(), text.contains(&0).then_some(&GzHeaderError::Nul));
        header = with.ok()?;
    }
    Some(header)
}

/// The header, if all of it is there.
fn read(coded: &[u8], sizes: &[u8]) -> Result<Option<GzHeader>, Error> {
    let mut decoder = Decoder::new(Format::Gzip);
    let result = pieces::decompress(&mut decoder, coded, &mut Sizes::new(sizes), usize::MAX, &mut Vec::new());
    match decoder.gzip_header() {
        Some(header) => Ok(Some(header.clone())),
        None => result.map(|_| None),
    }
}

/// Whether flate2 has the same header, or lacks the same, or refuses it too.
fn same(coded: &[u8], sizes: &[u8]) -> bool {
    let mut decoder = flate2::bufread::GzDecoder::new(coded);
    match (read(coded, sizes), decoder.header()) {
        (Ok(Some(ours)), Some(theirs)) => {
            ours.mtime() == theirs.mtime()
                && ours.operating_system() == theirs.operating_system()
                && ours.extra() == theirs.extra()
                && ours.filename() == theirs.filename()
                && ours.comment() == theirs.comment()
        }
        (Ok(None), None) => error(&mut decoder) == io::ErrorKind::UnexpectedEof,
        // It looks at the first ten bytes only when all are there.
        (Err(_), None) => coded.len() < 10 || error(&mut decoder) == io::ErrorKind::InvalidInput,
        _ => false,
    }
}

fn error(decoder: &mut impl Read) -> io::ErrorKind {
    decoder.read(&mut [0]).expect_err("no header").kind()
}
