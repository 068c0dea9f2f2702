//! The header of a gzip member (RFC 1952, section 2.3).

use std::fmt;

/// The fields of a gzip header that say something about the body.
///
/// Names and comments are Latin-1 by the standard; many programs write UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GzHeader {
    pub(crate) mtime: u32,
    pub(crate) operating_system: u8,
    pub(crate) extra: Option<Vec<u8>>,
    pub(crate) filename: Option<Vec<u8>>,
    pub(crate) comment: Option<Vec<u8>>,
}

/// A field that a gzip header cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GzHeaderError {
    /// A NUL in a file name or comment, which one ends.
    Nul,
    /// A character of a file name or comment that Latin-1 lacks.
    NotLatin1(char),
    /// An extra field of more than 65535 bytes: this many.
    ExtraTooLong(usize),
}

pub(crate) const HAS_CRC: u8 = 1 << 1;
pub(crate) const HAS_EXTRA: u8 = 1 << 2;
pub(crate) const HAS_NAME: u8 = 1 << 3;
pub(crate) const HAS_COMMENT: u8 = 1 << 4;
pub(crate) const RESERVED: u8 = 0xe0;

impl GzHeader {
    /// How many bytes of a file name and of a comment a decoder keeps; the rest is read and dropped. The extra field is
    /// no longer by itself, so that a header takes less than 192 KiB.
    pub const KEPT: usize = 65535;

    /// No fields, no time, and an unknown system: what an encoder writes by itself.
    pub const fn new() -> Self {
        Self { mtime: 0, operating_system: 255, extra: None, filename: None, comment: None }
    }

    /// With the time of modification, in seconds since 1970; 0 is none.
    pub fn with_mtime(self, mtime: u32) -> Self {
        Self { mtime, ..self }
    }

    /// With the number of the system that RFC 1952 gives; 255 is unknown, 3 Unix.
    pub fn with_operating_system(self, number: u8) -> Self {
        Self { operating_system: number, ..self }
    }

    /// With a file name.
    ///
    /// # Errors
    ///
    /// [`GzHeaderError::Nul`] and [`GzHeaderError::NotLatin1`].
    pub fn with_filename(self, name: &str) -> Result<Self, GzHeaderError> {
        Ok(Self { filename: Some(latin1(name)?), ..self })
    }

    /// With a file name in Latin-1, or what the reader is known to take.
    ///
    /// # Errors
    ///
    /// [`GzHeaderError::Nul`].
    pub fn with_filename_bytes(self, name: impl Into<Vec<u8>>) -> Result<Self, GzHeaderError> {
        Ok(Self { filename: Some(without_nul(name.into())?), ..self })
    }

    /// With a comment. Lines end with a line feed alone.
    ///
    /// # Errors
    ///
    /// [`GzHeaderError::Nul`] and [`GzHeaderError::NotLatin1`].
    pub fn with_comment(self, comment: &str) -> Result<Self, GzHeaderError> {
        Ok(Self { comment: Some(latin1(comment)?), ..self })
    }

    /// With a comment in Latin-1, or what the reader is known to take.
    ///
    /// # Errors
    ///
    /// [`GzHeaderError::Nul`].
    pub fn with_comment_bytes(self, comment: impl Into<Vec<u8>>) -> Result<Self, GzHeaderError> {
        Ok(Self { comment: Some(without_nul(comment.into())?), ..self })
    }

    /// With an extra field: subfields of two bytes of name, two of length, and data.
    ///
    /// # Errors
    ///
    /// [`GzHeaderError::ExtraTooLong`].
    pub fn with_extra(self, extra: impl Into<Vec<u8>>) -> Result<Self, GzHeaderError> {
        let extra = extra.into();
        if extra.len() > usize::from(u16::MAX) {
            return Err(GzHeaderError::ExtraTooLong(extra.len()));
        }
        Ok(Self { extra: Some(extra), ..self })
    }

    /// The time of modification, in seconds since 1970; 0 is none.
    pub fn mtime(&self) -> u32 {
        self.mtime
    }

    /// The number of the system.
    pub fn operating_system(&self) -> u8 {
        self.operating_system
    }

    /// The extra field.
    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    /// The file name.
    pub fn filename(&self) -> Option<&[u8]> {
        self.filename.as_deref()
    }

    /// The comment.
    pub fn comment(&self) -> Option<&[u8]> {
        self.comment.as_deref()
    }

    /// How many bytes the header has.
    pub fn size(&self) -> usize {
        let extra = self.extra.as_ref().map_or(0, |extra| 2 + extra.len());
        let texts = [&self.filename, &self.comment].into_iter().flatten();
        10 + extra + texts.map(|text| text.len() + 1).sum::<usize>()
    }

    /// Appends the header; `effort` says how hard the encoder tried.
    pub(crate) fn write(&self, effort: u8, out: &mut Vec<u8>) {
        let before = out.len();
        let mut flags = 0;
        for (field, flag) in
            [(&self.extra, HAS_EXTRA), (&self.filename, HAS_NAME), (&self.comment, HAS_COMMENT)]
        {
            flags |= if field.is_some() { flag } else { 0 };
        }
        out.extend_from_slice(&[0x1f, 0x8b, 8, flags]);
        out.extend_from_slice(&self.mtime.to_le_bytes());
        out.extend_from_slice(&[effort, self.operating_system]);
        if let Some(extra) = &self.extra {
            out.extend_from_slice(&(extra.len() as u16).to_le_bytes());
            out.extend_from_slice(extra);
        }
        for text in [&self.filename, &self.comment].into_iter().flatten() {
            out.extend_from_slice(text);
            out.push(0);
        }
        debug_assert_eq!(out.len() - before, self.size());
    }
}

impl Default for GzHeader {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for GzHeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul => f.write_str("a NUL in a file name or comment"),
            Self::NotLatin1(char) => write!(f, "{char:?} in a file name or comment, which are Latin-1"),
            Self::ExtraTooLong(len) => write!(f, "an extra field of {len} bytes; it may have 65535"),
        }
    }
}

impl std::error::Error for GzHeaderError {}

fn latin1(text: &str) -> Result<Vec<u8>, GzHeaderError> {
    let bytes = text.chars().map(|char| u8::try_from(char).map_err(|_| GzHeaderError::NotLatin1(char)));
    without_nul(bytes.collect::<Result<_, _>>()?)
}

fn without_nul(bytes: Vec<u8>) -> Result<Vec<u8>, GzHeaderError> {
    if bytes.contains(&0) { Err(GzHeaderError::Nul) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_do_not_fit_are_refused() {
        let new = GzHeader::new;
        assert_eq!(new().with_filename("a\0b"), Err(GzHeaderError::Nul));
        assert_eq!(new().with_comment("a\0"), Err(GzHeaderError::Nul));
        assert_eq!(new().with_filename_bytes([1, 0]), Err(GzHeaderError::Nul));
        assert_eq!(new().with_filename("a☃"), Err(GzHeaderError::NotLatin1('☃')));
        assert_eq!(new().with_extra(vec![0; 65536]), Err(GzHeaderError::ExtraTooLong(65536)));
        assert!(new().with_extra(vec![0; 65535]).is_ok());
    }

    #[test]
    fn texts_are_latin1() {
        let header = GzHeader::new().with_filename("naïve").expect("in Latin-1");
        assert_eq!(header.filename(), Some(&b"na\xefve"[..]));
    }
}
