//! Streams in pieces, with the rules that every streaming call keeps.

use crate::Sizes;
use laneflate_simd::{Decoder, Encoder, Error, Flush, Status};

/// Largest piece of output: a piece of any size is made anew for each call, and the sanitizer sees its end.
const LARGEST: usize = 1 << 16;

/// Gives all of `input` to the encoder and has it do what `flush` says; returns what it made of it.
pub fn compress(encoder: &mut Encoder, mut input: &[u8], flush: Flush, sizes: &mut Sizes) -> Vec<u8> {
    let mut coded = Vec::new();
    loop {
        let mut output = vec![0; sizes.next().min(LARGEST)];
        let progress = encoder.compress(input, &mut output, flush).expect("not finished");
        input = &input[progress.consumed..];
        coded.extend_from_slice(&output[..progress.produced]);
        match progress.status {
            Status::NeedsOutput => assert_eq!(progress.produced, output.len(), "there is room left"),
            status => {
                assert!(input.is_empty(), "input is left");
                assert_eq!(status == Status::Done, flush == Flush::Finish);
                return coded;
            }
        }
    }
}

/// Gives `coded` to the decoder until it ends, or the stream does, or `body` has more than `limit` bytes.
///
/// Returns the last status and how much of `coded` was taken.
pub fn decompress(
    decoder: &mut Decoder,
    coded: &[u8],
    sizes: &mut Sizes,
    limit: usize,
    body: &mut Vec<u8>,
) -> Result<(Status, usize), Error> {
    let (mut taken, mut available) = (0, 0);
    loop {
        let mut output = vec![0; sizes.next().min(LARGEST)];
        let progress = decoder.decompress(&coded[taken..available], &mut output)?;
        taken += progress.consumed;
        body.extend_from_slice(&output[..progress.produced]);
        match progress.status {
            Status::NeedsInput => {
                assert_eq!(taken, available, "input is left");
                if available == coded.len() {
                    return Ok((Status::NeedsInput, taken));
                }
                available = coded.len().min(available + sizes.next());
            }
            // What precedes an error is given out before it, in less than a full piece.
            Status::NeedsOutput => assert!(progress.produced > 0 || output.is_empty(), "no progress"),
            Status::Done => return Ok((Status::Done, taken)),
        }
        if body.len() > limit {
            return Ok((Status::NeedsOutput, taken));
        }
    }
}
