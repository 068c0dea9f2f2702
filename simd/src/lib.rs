//! DEFLATE (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952), made for bodies that are coded on the fly.
//!
//! [`Encoder`] and [`Decoder`] each work two ways: on a body that is whole in memory
//! ([`Encoder::encode`], [`Decoder::decode`]) and on a stream, in pieces of any size
//! ([`Encoder::compress`], [`Decoder::decompress`]). Both keep their state between bodies. [`mod@write`], [`read`] and
//! [`bufread`] put them around [`std::io`] under the names that flate2 has, and [`GzHeader`] is what a gzip member says
//! of its body.
//!
//! ```
//! use laneflate_simd::{Decoder, Encoder, Format, Level};
//!
//! let mut coded = Vec::new();
//! Encoder::new(Format::Gzip, Level::DEFAULT).encode(b"hello, hello, hello", &mut coded);
//!
//! let mut body = Vec::new();
//! let consumed = Decoder::new(Format::Gzip).decode(&coded, &mut body, 1 << 20)?;
//! assert_eq!(body, b"hello, hello, hello");
//! assert_eq!(consumed, coded.len());
//! # Ok::<(), laneflate_simd::Error>(())
//! ```
//!
//! # Follow one body
//!
//! ```text
//! encoder -> deflate::body   cuts it into chunks and blocks
//!            deflate::search finds a match for each position      (or chain: all matches, for the high levels)
//!            deflate::cost   chooses the cheapest parse
//!            deflate::walk   makes tokens of it, and counts symbols
//!            deflate::block  builds the codes (huffman, header) and writes the block (emit)
//! decoder -> inflate         the state machine, its tables, and the loop for when there is room
//! ```
//!
//! The loops are written once, over small steps that each instruction set may replace, and compiled whole for each:
//! [`Kernels`] is one such set. What is written does not depend on which is used.

mod checksum;
mod container;
mod decoder;
mod deflate;
mod dictionary;
mod encoder;
mod error;
mod format;
mod gzip;
mod inflate;
mod io;
mod isa;
mod level;
mod raw;
mod stream;

pub use checksum::{adler32, crc32};
pub use decoder::Decoder;
pub use encoder::{Encoder, bound};
pub use error::{Error, ErrorKind};
pub use gzip::{GzHeader, GzHeaderError};
pub use io::{Compression, GzBuilder, bufread, read, write};
pub use isa::Kernels;
pub use level::Level;
pub use stream::{Flush, Format, Progress, Status};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
