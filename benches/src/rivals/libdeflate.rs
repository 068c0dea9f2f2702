//! libdeflate.

use super::{Coder, room, stated_len};
use libdeflater::{CompressionLvl, Compressor, Decompressor};

pub(super) struct Encoder {
    compressor: Compressor,
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(level: u8) -> Self {
        let level = CompressionLvl::new(level.into()).expect("one of its levels");
        Self { compressor: Compressor::new(level), out: Vec::new() }
    }
}

impl Coder for Encoder {
    fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
        let bound = self.compressor.gzip_compress_bound(body.len());
        let out = room(&mut self.out, bound);
        let made = self.compressor.gzip_compress(body, out).ok()?;
        Some(&self.out[..made])
    }
}

/// It does not size its output; the trailer does.
pub(super) struct Decoder {
    decompressor: Decompressor,
    out: Vec<u8>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { decompressor: Decompressor::new(), out: Vec::new() }
    }
}

impl Coder for Decoder {
    fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
        let out = room(&mut self.out, stated_len(coded)?);
        let made = self.decompressor.gzip_decompress(coded, out).ok()?;
        Some(&self.out[..made])
    }
}
