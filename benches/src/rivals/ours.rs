//! Laneflate, whole and in pieces.

use super::{Coder, PIECE, bound, room, stated_len};
use laneflate_simd::{Flush, Format, Level, Progress, Status};

fn new_encoder(level: u8) -> laneflate_simd::Encoder {
    laneflate_simd::Encoder::new(Format::Gzip, Level::new(level).expect("one of our levels"))
}

pub(super) struct Encoder {
    encoder: laneflate_simd::Encoder,
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(level: u8) -> Self {
        Self { encoder: new_encoder(level), out: Vec::new() }
    }
}

impl Coder for Encoder {
    fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
        self.out.clear();
        self.encoder.encode(body, &mut self.out);
        Some(&self.out)
    }
}

/// Takes and gives at most [`PIECE`] bytes at a time.
pub(super) struct StreamEncoder {
    encoder: laneflate_simd::Encoder,
    out: Vec<u8>,
}

impl StreamEncoder {
    pub(super) fn new(level: u8) -> Self {
        Self { encoder: new_encoder(level), out: Vec::new() }
    }
}

impl Coder for StreamEncoder {
    fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
        self.encoder.reset();
        let out = room(&mut self.out, bound(body.len()));
        let (mut taken, mut made) = (0, 0);
        loop {
            let input = &body[taken..body.len().min(taken + PIECE)];
            let end = out.len().min(made + PIECE);
            let last = taken + input.len() == body.len();
            let flush = if last { Flush::Finish } else { Flush::None };
            let Progress { consumed, produced, status } =
                self.encoder.compress(input, &mut out[made..end], flush).ok()?;
            taken += consumed;
            made += produced;
            if status == Status::Done {
                return Some(&self.out[..made]);
            }
        }
    }
}

pub(super) struct Decoder {
    decoder: laneflate_simd::Decoder,
    out: Vec<u8>,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self { decoder: laneflate_simd::Decoder::new(Format::Gzip), out: Vec::new() }
    }
}

impl Coder for Decoder {
    fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
        self.out.clear();
        self.decoder.decode(coded, &mut self.out, usize::MAX).ok()?;
        Some(&self.out)
    }
}

/// Gives at most [`PIECE`] bytes at a time.
pub(super) struct StreamDecoder {
    decoder: laneflate_simd::Decoder,
    out: Vec<u8>,
}

impl StreamDecoder {
    pub(super) fn new() -> Self {
        Self { decoder: laneflate_simd::Decoder::new(Format::Gzip), out: Vec::new() }
    }
}

impl Coder for StreamDecoder {
    fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
        self.decoder.reset();
        let out = room(&mut self.out, stated_len(coded)?);
        let (mut taken, mut made) = (0, 0);
        loop {
            let end = out.len().min(made + PIECE);
            let Progress { consumed, produced, status } =
                self.decoder.decompress(&coded[taken..], &mut out[made..end]).ok()?;
            taken += consumed;
            made += produced;
            if status == Status::Done {
                return Some(&self.out[..made]);
            }
        }
    }
}
