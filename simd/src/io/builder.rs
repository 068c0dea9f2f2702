//! gzip encoders with a header of one's own, in the words of flate2.

use super::{bufread, read, write};
use crate::{Encoder, Format, GzHeader, Level};
use std::io::{BufRead, Read, Write};

/// Makes gzip encoders that write a file name, a time, and so on. [`GzHeader`] says what is allowed, without panics.
///
/// ```
/// use laneflate_simd::{Compression, GzBuilder, read::GzDecoder};
/// use std::io::Write;
///
/// let mut encoder = GzBuilder::new().filename("hello.txt").mtime(1).write(Vec::new(), Compression::fast());
/// encoder.write_all(b"hello")?;
/// let coded = encoder.finish()?;
/// let decoder = GzDecoder::new(&coded[..]);
/// assert_eq!(decoder.header().and_then(|header| header.filename()), Some(&b"hello.txt"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GzBuilder(GzHeader);

impl GzBuilder {
    /// No fields, no time, and an unknown system.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of modification, in seconds since 1970; 0 is none.
    pub fn mtime(self, mtime: u32) -> Self {
        Self(self.0.with_mtime(mtime))
    }

    /// The system by its number in RFC 1952.
    pub fn operating_system(self, number: u8) -> Self {
        Self(self.0.with_operating_system(number))
    }

    /// The extra field.
    ///
    /// # Panics
    ///
    /// If it has more than 65535 bytes.
    pub fn extra<T: Into<Vec<u8>>>(self, extra: T) -> Self {
        Self(self.0.with_extra(extra).expect("an extra field that fits"))
    }

    /// The file name, in Latin-1.
    ///
    /// # Panics
    ///
    /// If there is a NUL in it.
    pub fn filename<T: Into<Vec<u8>>>(self, name: T) -> Self {
        Self(self.0.with_filename_bytes(name).expect("a name without NUL"))
    }

    /// The comment, in Latin-1.
    ///
    /// # Panics
    ///
    /// If there is a NUL in it.
    pub fn comment<T: Into<Vec<u8>>>(self, comment: T) -> Self {
        Self(self.0.with_comment_bytes(comment).expect("a comment without NUL"))
    }

    /// An encoder that writes to `inner`.
    pub fn write<W: Write>(self, inner: W, level: impl Into<Level>) -> write::GzEncoder<W> {
        write::GzEncoder::with_encoder(inner, self.encoder(level))
    }

    /// An encoder that reads from `inner`.
    pub fn read<R: Read>(self, inner: R, level: impl Into<Level>) -> read::GzEncoder<R> {
        read::GzEncoder::with_encoder(inner, self.encoder(level))
    }

    /// An encoder that reads from `inner`.
    pub fn buf_read<R: BufRead>(self, inner: R, level: impl Into<Level>) -> bufread::GzEncoder<R> {
        bufread::GzEncoder::with_encoder(inner, self.encoder(level))
    }

    fn encoder(self, level: impl Into<Level>) -> Encoder {
        let mut encoder = Encoder::new(Format::Gzip, level.into());
        encoder.set_gzip_header(self.0);
        encoder
    }
}
