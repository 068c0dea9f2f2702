//! Laneflate and its rivals behind one trait, each used in the way that is best for it: whole bodies, state kept from one
//! body to the next, an output buffer that is large enough and not cleared. All write and read gzip.
//!
//! | rival | by | to build it |
//! |---|---|---|
//! | libdeflate | `libdeflater` | a C compiler |
//! | zlib | `libz-sys` | a C compiler |
//! | zlib-ng | `libz-ng-sys` | a C compiler and cmake; feature `zlib-ng` |
//! | zlib-rs | `libz-rs-sys` | |
//! | miniz_oxide | itself, in a gzip container of ours | |
//! | ISA-L | `isal-sys` | a C compiler, nasm, autoconf, automake, libtool, make; feature `isal` |

mod ffi;
mod libdeflate;
mod miniz;
mod ours;

use std::fmt;
use std::ops::RangeInclusive;

/// The most that a streaming coder takes or gives in one call.
pub const PIECE: usize = 16 * 1024;

/// For decoders that give pieces: all at once.
const WHOLE: usize = usize::MAX;

/// Turns inputs into outputs, one after another, and keeps its state.
pub trait Coder {
    /// What `input` becomes; nothing if the coder says that it cannot.
    fn code(&mut self, input: &[u8]) -> Option<&[u8]>;
}

/// Whose work a coder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are names")]
pub enum Maker {
    Laneflate,
    IsaL,
    Libdeflate,
    Zlib,
    ZlibNg,
    ZlibRs,
    MinizOxide,
}

impl Maker {
    /// Is this zlib, or something that stands in for it?
    pub fn of_zlib_family(self) -> bool {
        matches!(self, Self::Zlib | Self::ZlibNg | Self::ZlibRs | Self::MinizOxide)
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Laneflate => "laneflate",
            Self::IsaL => "isa-l",
            Self::Libdeflate => "libdeflate",
            Self::Zlib => "zlib",
            Self::ZlibNg => "zlib-ng",
            Self::ZlibRs => "zlib-rs",
            Self::MinizOxide => "miniz_oxide",
        })
    }
}

/// What a coder is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Whose it is.
    pub maker: Maker,
    /// Of an encoder, its level.
    pub level: Option<u8>,
    /// What else tells it from others of its maker, or nothing.
    pub what: &'static str,
}

impl Name {
    /// Is this the whole name, or its beginning up to the level or what follows a comma?
    pub fn begins_with(&self, part: &str) -> bool {
        let full = self.to_string();
        full.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.maker)?;
        if let Some(level) = self.level {
            write!(f, " {level}")?;
        }
        if !self.what.is_empty() {
            write!(f, ", {}", self.what)?;
        }
        Ok(())
    }
}

/// A coder with its name.
pub struct Entrant {
    /// The name.
    pub name: Name,
    /// The coder.
    pub coder: Box<dyn Coder>,
}

impl Entrant {
    fn new(maker: Maker, level: Option<u8>, what: &'static str, coder: impl Coder + 'static) -> Self {
        Self { name: Name { maker, level, what }, coder: Box::new(coder) }
    }
}

/// What was left out of this build, and how to have it.
pub const MISSING: &[&str] = &[
    #[cfg(not(feature = "isal"))]
    "isa-l (--features isal; wants nasm, autoconf, automake, libtool and make)",
    #[cfg(not(feature = "zlib-ng"))]
    "zlib-ng (--features zlib-ng; wants cmake)",
];

/// Every level of ours and of every rival that was built in.
pub fn encoders() -> Vec<Entrant> {
    let ours = at_levels(Maker::Laneflate, 0..=12, ours::Encoder::new);
    #[cfg(feature = "isal")]
    let ours = ours.chain(at_levels(Maker::IsaL, 0..=3, ffi::isal::Encoder::new));
    let with_zlib = ours
        .chain(at_levels(Maker::Libdeflate, 1..=12, libdeflate::Encoder::new))
        .chain(at_levels(Maker::Zlib, 0..=9, ffi::zlib::Encoder::new));
    #[cfg(feature = "zlib-ng")]
    let with_zlib = with_zlib.chain(at_levels(Maker::ZlibNg, 0..=9, ffi::zlib_ng::Encoder::new));
    with_zlib
        .chain(at_levels(Maker::ZlibRs, 0..=9, ffi::zlib_rs::Encoder::new))
        .chain(at_levels(Maker::MinizOxide, 0..=10, miniz::Encoder::new))
        .collect()
}

fn at_levels<C: Coder + 'static>(
    maker: Maker,
    levels: RangeInclusive<u8>,
    new: fn(u8) -> C,
) -> impl Iterator<Item = Entrant> {
    levels.map(move |level| Entrant::new(maker, Some(level), "", new(level)))
}

/// Every level of ours, whole and in pieces of [`PIECE`].
pub fn streaming_encoders() -> Vec<Entrant> {
    (0..=12)
        .flat_map(|level| {
            [
                Entrant::new(Maker::Laneflate, Some(level), "", ours::Encoder::new(level)),
                Entrant::new(Maker::Laneflate, Some(level), "streaming", ours::StreamEncoder::new(level)),
            ]
        })
        .collect()
}

/// All decoders of whole bodies, and those of streams whose output is in pieces of [`PIECE`].
pub fn decoders() -> Vec<Entrant> {
    vec![
        Entrant::new(Maker::Laneflate, None, "", ours::Decoder::new()),
        #[cfg(feature = "isal")]
        Entrant::new(Maker::IsaL, None, "", ffi::isal::Decoder::new()),
        Entrant::new(Maker::Libdeflate, None, "", libdeflate::Decoder::new()),
        Entrant::new(Maker::Zlib, None, "", ffi::zlib::Decoder::new(WHOLE)),
        #[cfg(feature = "zlib-ng")]
        Entrant::new(Maker::ZlibNg, None, "", ffi::zlib_ng::Decoder::new(WHOLE)),
        Entrant::new(Maker::ZlibRs, None, "", ffi::zlib_rs::Decoder::new(WHOLE)),
        Entrant::new(Maker::MinizOxide, None, "", miniz::Decoder::new()),
        Entrant::new(Maker::Laneflate, None, "streaming", ours::StreamDecoder::new()),
        Entrant::new(Maker::ZlibRs, None, "streaming", ffi::zlib_rs::Decoder::new(PIECE)),
    ]
}

/// Checksums, as four bytes.
pub fn checksums() -> Vec<Entrant> {
    use laneflate_simd as simd;
    vec![
        Entrant::new(Maker::Laneflate, None, "crc32", Checksum::new(|data| simd::crc32(0, data))),
        Entrant::new(Maker::Libdeflate, None, "crc32", Checksum::new(libdeflater::crc32)),
        Entrant::new(Maker::Laneflate, None, "adler32", Checksum::new(|data| simd::adler32(1, data))),
        Entrant::new(Maker::Libdeflate, None, "adler32", Checksum::new(libdeflater::adler32)),
    ]
}

/// Decoders for what others wrote.
pub struct Judges {
    of_libdeflate: ffi::zlib::Decoder,
    of_others: libdeflate::Decoder,
}

impl Judges {
    /// None of them has seen anything yet.
    pub fn new() -> Self {
        Self { of_libdeflate: ffi::zlib::Decoder::new(WHOLE), of_others: libdeflate::Decoder::new() }
    }

    /// What `coded` stands for, by a decoder that its maker has no part in.
    pub fn decode(&mut self, maker: Maker, coded: &[u8]) -> Option<&[u8]> {
        match maker {
            Maker::Libdeflate => self.of_libdeflate.code(coded),
            _ => self.of_others.code(coded),
        }
    }
}

impl Default for Judges {
    fn default() -> Self {
        Self::new()
    }
}

struct Checksum {
    sum: fn(&[u8]) -> u32,
    made: [u8; 4],
}

impl Checksum {
    fn new(sum: fn(&[u8]) -> u32) -> Self {
        Self { sum, made: [0; 4] }
    }
}

impl Coder for Checksum {
    fn code(&mut self, input: &[u8]) -> Option<&[u8]> {
        self.made = (self.sum)(input).to_le_bytes();
        Some(&self.made)
    }
}

/// The first `len` bytes of `buffer`, which grows if it must.
fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

/// More than any of these encoders makes of `len` bytes.
fn bound(len: usize) -> usize {
    len + len / 4 + 1024
}

/// The length of the body that `coded` states in its trailer, if it has one (RFC 1952, 2.3.1: `ISIZE`).
fn stated_len(coded: &[u8]) -> Option<usize> {
    coded.last_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize)
}
