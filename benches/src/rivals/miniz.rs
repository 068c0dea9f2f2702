//! miniz_oxide, which knows no gzip: the container is ours, with the fastest CRC-32 of the rivals.

use super::{Coder, bound, room, stated_len};
use libdeflater::crc32;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::CompressionLevel;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, TDEFLStatus, compress};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// No name, no time, system unknown (RFC 1952, 2.3).
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const TRAILER: usize = 8;

pub(super) struct Encoder {
    compressor: CompressorOxide,
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(level: u8) -> Self {
        let mut compressor =
            CompressorOxide::with_format_and_level(DataFormat::Raw, CompressionLevel::DefaultLevel);
        compressor.set_compression_level_raw(level);
        Self { compressor, out: Vec::new() }
    }
}

impl Coder for Encoder {
    fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
        self.compressor.reset();
        let out = room(&mut self.out, bound(body.len()));
        let (header, rest) = out.split_at_mut(HEADER.len());
        header.copy_from_slice(&HEADER);
        let (status, _, made) = compress(&mut self.compressor, body, rest, TDEFLFlush::Finish);
        if status != TDEFLStatus::Done {
            return None;
        }
        rest[made..][..4].copy_from_slice(&crc32(body).to_le_bytes());
        rest[made + 4..][..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
        Some(&self.out[..HEADER.len() + made + TRAILER])
    }
}

/// Of members with a header of the plain kind, as all encoders here write it.
pub(super) struct Decoder {
    decompressor: Box<DecompressorOxide>,
    out: Vec<u8>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { decompressor: Box::default(), out: Vec::new() }
    }
}

impl Coder for Decoder {
    fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
        self.decompressor.init();
        let out = room(&mut self.out, stated_len(coded)?);
        let (raw, trailer) = coded[HEADER.len()..].split_at(coded.len() - HEADER.len() - TRAILER);
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, _, made) = decompress(&mut self.decompressor, raw, out, 0, flags);
        let valid = status == TINFLStatus::Done && crc32(&out[..made]).to_le_bytes() == trailer[..4];
        valid.then(|| &self.out[..made])
    }
}
