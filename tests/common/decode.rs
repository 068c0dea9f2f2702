//! Strict decoders by others: all of the input must be one complete stream.

use std::io::{self, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// Decodes a whole body; an error where anything is missing, wrong or left over.
pub(crate) fn decode(coding: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = body;
    match coding {
        "identity" => out.extend_from_slice(body),
        "gzip" => {
            flate2::bufread::GzDecoder::new(&mut rest).read_to_end(&mut out)?;
            nothing_left(rest)?;
        }
        "deflate" => {
            flate2::bufread::ZlibDecoder::new(&mut rest).read_to_end(&mut out)?;
            nothing_left(rest)?;
        }
        "br" => out = unbrotli(body)?,
        "zstd" => {
            // 8 MiB of window, as RFC 9659 allows a client to insist on.
            let mut decoder = zstd::stream::read::Decoder::with_buffer(rest)?.single_frame();
            decoder.window_log_max(23)?;
            decoder.read_to_end(&mut out)?;
            nothing_left(decoder.finish())?;
        }
        other => return Err(io::Error::other(format!("a coding nobody asked for: {other}"))),
    }
    Ok(out)
}

/// The adapters of that crate read ahead and so hide what follows the stream; the step below them does not.
fn unbrotli(body: &[u8]) -> io::Result<Vec<u8>> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let (mut left, mut at, mut total) = (body.len(), 0, 0);
    let mut out = Vec::new();
    loop {
        let start = out.len();
        out.resize(start + (64 << 10), 0);
        let (mut room, mut end) = (64 << 10, start);
        let result = BrotliDecompressStream(
            &mut left, &mut at, body, &mut room, &mut end, &mut out, &mut total, &mut state,
        );
        out.truncate(end);
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess => break,
            BrotliResult::NeedsMoreInput => return Err(io::ErrorKind::UnexpectedEof.into()),
            BrotliResult::ResultFailure => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    nothing_left(&body[at..])?;
    Ok(out)
}

fn nothing_left(rest: &[u8]) -> io::Result<()> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(io::Error::other(format!("{} bytes after the end", rest.len())))
    }
}
