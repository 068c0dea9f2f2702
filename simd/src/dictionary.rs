//! Preset dictionaries: bytes that a stream may refer to as if they came before it.

use crate::format::WINDOW;
use crate::{Error, ErrorKind, Format, Kernels};
use std::fmt;

/// A dictionary, as far as a match can reach back.
#[derive(Clone)]
pub(crate) struct Dictionary {
    bytes: Box<[u8]>,
    id: u32,
}

impl Dictionary {
    /// Fails for gzip, which has no way to name one.
    pub(crate) fn new(format: Format, kernels: &Kernels, bytes: &[u8]) -> Result<Self, Error> {
        if format == Format::Gzip {
            return Err(Error::new(ErrorKind::NoDictionary, 0));
        }
        let id = kernels.adler32(1, bytes);
        let bytes = bytes[bytes.len().saturating_sub(WINDOW)..].into();
        Ok(Self { bytes, id })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The Adler-32 of all of it, by which zlib streams name it (RFC 1950, section 2.2).
    pub(crate) fn id(&self) -> u32 {
        self.id
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionary({:08x})", self.id)
    }
}
