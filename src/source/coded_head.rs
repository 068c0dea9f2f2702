//! Whether a file begins as its coding must: sidecars are made by others, and a wrong one breaks every
//! client.
//!
//! The head is looked at, not the whole: it tells a file of another kind, and a stream that HTTP clients may
//! refuse.

use std::fmt;
use std::io;
use std::os::unix::fs::FileExt;

use super::resource::Data;
use crate::encode::Coding;

/// The largest window that a client must support (RFC 9659 §3).
const ZSTD_WINDOW_MAX: u64 = 8 << 20;
/// Skippable frames passed before the first frame with content.
const ZSTD_SKIPPED_MAX: usize = 16;
/// Header and trailer of gzip around the shortest DEFLATE stream.
const GZIP_MIN: u64 = 10 + 2 + 8;

/// Why a file is not sent as what its name says.
#[derive(Debug)]
pub(super) enum Flaw {
    /// It does not begin as the coding does.
    NotOfThisCoding,
    /// Its window is larger than clients must support, in bytes where it is known.
    WindowTooLarge,
    /// It takes a dictionary that the client does not have.
    NeedsDictionary,
    /// It cannot be read.
    Unreadable(io::Error),
}

/// Looks at the head of a file of `len` bytes.
pub(super) fn check(coding: Coding, file: &Data, len: u64) -> Result<(), Flaw> {
    match coding {
        Coding::Gzip => check_gzip(&read(file, 0)?, len),
        Coding::Brotli => check_brotli(&read(file, 0)?, len),
        Coding::Zstd => check_zstd(file),
        Coding::Deflate => Err(Flaw::NotOfThisCoding),
    }
}

/// The longest head that is looked at: that of a zstd frame (RFC 8878 §3.1.1), 4 + 14 bytes.
const HEAD: usize = 18;

/// Bytes from `offset` on, filled up with zeros beyond the end of the file, and how many are real.
struct Head {
    bytes: [u8; HEAD],
    len: usize,
}

fn read(file: &Data, offset: u64) -> Result<Head, Flaw> {
    let mut bytes = [0; HEAD];
    let len = match file {
        Data::Disk(file) => file.read_at(&mut bytes, offset).map_err(Flaw::Unreadable)?,
        Data::Memory(content) => {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
            let len = HEAD.min(content.len() - start);
            bytes[..len].copy_from_slice(&content[start..start + len]);
            len
        }
    };
    Ok(Head { bytes, len })
}

impl Head {
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }
}

/// RFC 1952 §2.3: magic, method 8, no reserved flag.
fn check_gzip(head: &Head, len: u64) -> Result<(), Flaw> {
    let [magic1, magic2, method, flags, ..] = head.bytes;
    let fits = [magic1, magic2, method] == [0x1f, 0x8b, 8] && flags & 0xe0 == 0 && len >= GZIP_MIN;
    if fits { Ok(()) } else { Err(Flaw::NotOfThisCoding) }
}

/// RFC 7932 §9.1 and §9.2. Brotli has no magic: markup, JSON and many others are told from it, not all.
///
/// That a file begins like gzip does not make it wrong: a brotli stream of 2188 bytes in one meta-block may.
fn check_brotli(head: &Head, len: u64) -> Result<(), Flaw> {
    let mut bits = Bits { value: head.u64(0), taken: 0 };
    // WBITS 0010001 is reserved by RFC 7932, and the mark of the large-window extension.
    if bits.take(1) == 1 && bits.take(3) == 0 && bits.take(3) == 1 {
        return Err(Flaw::WindowTooLarge);
    }
    let is_last = bits.take(1) == 1;
    let is_empty = is_last && bits.take(1) == 1;
    if is_empty {
        let is_whole = len == bits.taken.div_ceil(8);
        return if is_whole { Ok(()) } else { Err(Flaw::NotOfThisCoding) };
    }
    let is_sound = match bits.take(2) {
        3 => !is_last && bits.take(1) == 0,
        more_nibbles => {
            bits.take(4 * (3 + more_nibbles));
            let highest = bits.take(4);
            more_nibbles == 0 || highest != 0
        }
    };
    let is_complete = bits.taken.div_ceil(8) <= len;
    if is_sound && is_complete { Ok(()) } else { Err(Flaw::NotOfThisCoding) }
}

struct Bits {
    value: u64,
    taken: u64,
}

impl Bits {
    fn take(&mut self, count: u64) -> u64 {
        let bits = (self.value >> self.taken) & ((1 << count) - 1);
        self.taken += count;
        bits
    }
}

/// RFC 8878 §3.1: the first frame that is not skippable, its window, and that it needs no dictionary.
fn check_zstd(file: &Data) -> Result<(), Flaw> {
    let mut offset = 0;
    for _ in 0..=ZSTD_SKIPPED_MAX {
        let head = read(file, offset)?;
        match head.u32(0) {
            0xfd2f_b528 if head.len >= 6 => return check_zstd_frame(&head),
            0x184d_2a50..=0x184d_2a5f if head.len >= 8 => offset += 8 + u64::from(head.u32(4)),
            _ => break,
        }
    }
    Err(Flaw::NotOfThisCoding)
}

/// The frame header behind the magic number (RFC 8878 §3.1.1.1).
fn check_zstd_frame(head: &Head) -> Result<(), Flaw> {
    let descriptor = head.bytes[4];
    let (size_flag, single_segment) = (descriptor >> 6, descriptor & 0x20 != 0);
    let (reserved, dictionary_flag) = (descriptor & 0x08 != 0, descriptor & 0x03);
    if reserved {
        return Err(Flaw::NotOfThisCoding);
    }
    let dictionary_at = if single_segment { 5 } else { 6 };
    let dictionary_len = [0, 1, 2, 4][usize::from(dictionary_flag)];
    let size_at = dictionary_at + dictionary_len;
    if head.bytes[dictionary_at..size_at].iter().any(|&byte| byte != 0) {
        return Err(Flaw::NeedsDictionary);
    }
    let window = if single_segment {
        match size_flag {
            0 => u64::from(head.bytes[size_at]),
            1 => 256 + u64::from(head.u32(size_at) as u16),
            2 => u64::from(head.u32(size_at)),
            _ => head.u64(size_at),
        }
    } else {
        let (exponent, mantissa) = (head.bytes[5] >> 3, u64::from(head.bytes[5] & 7));
        let base = 1_u64 << (10 + exponent);
        base + base / 8 * mantissa
    };
    if window > ZSTD_WINDOW_MAX { Err(Flaw::WindowTooLarge) } else { Ok(()) }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOfThisCoding => f.write_str("it does not begin as its ending says"),
            Self::WindowTooLarge => f.write_str("its window is larger than clients must support"),
            Self::NeedsDictionary => f.write_str("it needs a dictionary"),
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use bytes::Bytes;

    use super::*;

    fn verdict(coding: Coding, bytes: &[u8]) -> Result<(), Flaw> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let on_disk = check(coding, &Data::Disk(file.into()), bytes.len() as u64);
        let in_memory = check(coding, &Data::Memory(Bytes::copy_from_slice(bytes)), bytes.len() as u64);
        assert_eq!(format!("{on_disk:?}"), format!("{in_memory:?}"));
        on_disk
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(content: &[u8], window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    const OTHERS: [&[u8]; 4] = [b"", b"<!DOCTYPE html>", b"{\"a\": 1}", b"\x7fELF\x02\x01"];

    #[test]
    fn what_encoders_write_passes() {
        for content in [&b""[..], b"a", &[b'x'; 3000]] {
            assert!(verdict(Coding::Gzip, &gzip(content)).is_ok());
            assert!(verdict(Coding::Zstd, &zstd(content, 20)).is_ok());
            // With the size known to the encoder the frame is a single segment.
            assert!(verdict(Coding::Zstd, &zstd::bulk::compress(content, 3).unwrap()).is_ok());
        }
        // `brotli -c` of nothing, of "a", of 3000 times "x" with -w 16 and -w 24, of 2188 bytes with -w 10,
        // 17 and 24.
        let streams: [&[u8]; 7] = [
            b"\x3f",
            b"\x0f\x00\x80\x61\x03",
            b"\xe2\x76\x01\xbf\x04\x5e",
            b"\x1f\xb7\x0b\xf8\x25\xf0",
            b"\xa1\x58\x44\xc0\x2f\x83",
            b"\x81\x58\x44\xc0\x2f\x83",
            b"\x1f\x8b\x08\xf8\x25\xf0",
        ];
        for stream in streams {
            assert!(verdict(Coding::Brotli, stream).is_ok(), "{stream:x?}");
        }
    }

    #[test]
    fn other_files_do_not_pass() {
        for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
            for other in OTHERS {
                assert!(matches!(verdict(coding, other), Err(Flaw::NotOfThisCoding)), "{coding:?} {other:?}");
            }
        }
        assert!(verdict(Coding::Gzip, &zstd(b"a", 20)).is_err());
        assert!(verdict(Coding::Zstd, &gzip(b"a")).is_err());
    }

    #[test]
    fn heads_that_are_cut_short_do_not_pass() {
        for len in 0..18 {
            assert!(verdict(Coding::Gzip, &gzip(b"")[..len]).is_err(), "{len}");
        }
        for len in 0..6 {
            assert!(verdict(Coding::Zstd, &zstd(b"aaaa", 20)[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn windows_above_eight_mebibytes_are_refused() {
        let large = vec![0; 20 << 20];
        assert!(verdict(Coding::Zstd, &zstd(&large, 23)).is_ok());
        assert!(matches!(verdict(Coding::Zstd, &zstd(&large, 24)), Err(Flaw::WindowTooLarge)));
        // As a single segment, the window is the whole.
        let single = zstd::bulk::compress(&large, 3).unwrap();
        let is_single = single[4] & 0x20 != 0;
        assert_eq!(matches!(verdict(Coding::Zstd, &single), Err(Flaw::WindowTooLarge)), is_single);
        assert!(matches!(
            verdict(Coding::Brotli, b"\x11\x1c\x6e\x17\x02\x07\x64\xce"),
            Err(Flaw::WindowTooLarge)
        ));
    }

    #[test]
    fn skippable_frames_are_passed() {
        let mut stream = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc\x5f\x2a\x4d\x18\x00\x00\x00\x00".to_vec();
        stream.extend(zstd(b"content", 20));
        assert!(verdict(Coding::Zstd, &stream).is_ok());
        let endless = b"\x50\x2a\x4d\x18\x00\x00\x00\x00".repeat(100);
        assert!(verdict(Coding::Zstd, &endless).is_err());
    }

    #[test]
    fn a_dictionary_is_refused() {
        let frame = b"\x28\xb5\x2f\xfd\x01\x58\x07\x01\x00\x00";
        assert!(matches!(verdict(Coding::Zstd, frame), Err(Flaw::NeedsDictionary)));
    }
}
