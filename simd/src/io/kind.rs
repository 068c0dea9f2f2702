//! The kinds of stream, as types: what tells `GzDecoder` from `ZlibDecoder`.

use crate::Format;

/// A kind of stream. Implemented by the types of this module only.
pub trait Kind {
    /// What stands around the data.
    const FORMAT: Format;
    /// Whether a reader goes on after the end of a stream with the next one.
    const REPEATS: bool = false;
}

/// One gzip member.
#[derive(Debug)]
pub struct Gzip;

/// Gzip members, one after another.
#[derive(Debug)]
pub struct Members;

/// A zlib stream.
#[derive(Debug)]
pub struct Zlib;

/// DEFLATE data alone.
#[derive(Debug)]
pub struct Deflate;

impl Kind for Gzip {
    const FORMAT: Format = Format::Gzip;
}

impl Kind for Members {
    const FORMAT: Format = Format::Gzip;
    const REPEATS: bool = true;
}

impl Kind for Zlib {
    const FORMAT: Format = Format::Zlib;
}

impl Kind for Deflate {
    const FORMAT: Format = Format::Raw;
}
