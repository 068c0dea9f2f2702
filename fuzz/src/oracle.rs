//! Decoders of others.

use laneflate_simd::Format;

/// What a decoder says of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ends after this many bytes.
    End(usize),
    /// The input ends first.
    Starved,
    /// The body has more bytes than the limit.
    Full,
    /// It is not a stream of this format.
    Bad,
}

/// Decodes one stream or member with zlib-rs, up to one byte more than `limit`.
pub fn zlib(format: Format, coded: &[u8], limit: usize) -> (Verdict, Vec<u8>) {
    let mut decoder = zlib_decoder(format);
    let mut body = vec![0; limit + 1];
    let status = decoder.decompress(coded, &mut body, flate2::FlushDecompress::None);
    body.truncate(decoder.total_out() as usize);
    let verdict = match status {
        // Even if what comes next is wrong, which zlib-rs looks at early.
        _ if body.len() > limit => Verdict::Full,
        Ok(flate2::Status::StreamEnd) => Verdict::End(decoder.total_in() as usize),
        Ok(_) => Verdict::Starved,
        Err(_) => Verdict::Bad,
    };
    (verdict, body)
}

/// A streaming decoder by zlib-rs.
pub fn zlib_decoder(format: Format) -> flate2::Decompress {
    match format {
        Format::Raw => flate2::Decompress::new(false),
        Format::Zlib => flate2::Decompress::new(true),
        Format::Gzip => flate2::Decompress::new_gzip(15),
    }
}

/// Decodes a stream that stands for `len` bytes with libdeflate.
pub fn libdeflate(format: Format, coded: &[u8], len: usize) -> Vec<u8> {
    let mut decoder = libdeflater::Decompressor::new();
    let mut body = vec![0; len];
    let made = match format {
        Format::Raw => decoder.deflate_decompress(coded, &mut body),
        Format::Zlib => decoder.zlib_decompress(coded, &mut body),
        Format::Gzip => decoder.gzip_decompress(coded, &mut body),
    };
    assert_eq!(made, Ok(len));
    body
}
