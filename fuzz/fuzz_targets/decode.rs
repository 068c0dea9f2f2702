//! Any bytes as a stream: the verdict of zlib-rs, the same body, the same end, on all kernels, whole and in pieces.
//!
//! The first bytes choose the format and piece sizes.

#![no_main]

use laneflate_simd::{Decoder, Error, ErrorKind, Format, Kernels, Status};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 18;

fuzz_target!(|data: &[u8]| {
    let [choice, input_size, output_size, coded @ ..] = data else {
        return;
    };
    let format = [Format::Raw, Format::Zlib, Format::Gzip][usize::from(choice % 3)];
    // One gzip member: zlib-rs reads no further.
    let (verdict, expected) = by_zlib(format, coded);
    let sizes = (1 + usize::from(*input_size), 1 + usize::from(*output_size));
    for kernels in Kernels::all() {
        for (input_size, output_size) in [sizes, (coded.len().max(1), LIMIT + 1)] {
            let mut body = Vec::new();
            let mut decoder = Decoder::with_kernels(format, kernels);
            let result = in_pieces(&mut decoder, coded, input_size, output_size, &mut body);
            match verdict {
                Verdict::End(consumed) => assert_eq!(result, Ok(Some(consumed))),
                Verdict::Starved => assert_eq!(result, Ok(None)),
                Verdict::Full => {
                    assert!(body.len() > LIMIT);
                    continue;
                }
                Verdict::Bad => assert!(result.is_err(), "{result:?}"),
            }
            assert!(matches!(verdict, Verdict::Bad) || body == expected);
        }
        if format != Format::Gzip {
            let mut body = Vec::new();
            let result = Decoder::with_kernels(format, kernels).decode(coded, &mut body, LIMIT);
            let kind = result.map_err(|error| error.kind());
            match verdict {
                Verdict::End(consumed) => assert_eq!((kind, &body), (Ok(consumed), &expected)),
                Verdict::Starved => assert_eq!(kind, Err(ErrorKind::UnexpectedEnd)),
                Verdict::Full => assert_eq!(kind, Err(ErrorKind::LimitExceeded)),
                Verdict::Bad => assert!(kind.is_err()),
            }
        }
    }
});

#[derive(Clone, Copy)]
enum Verdict {
    End(usize),
    Starved,
    Full,
    Bad,
}

fn by_zlib(format: Format, coded: &[u8]) -> (Verdict, Vec<u8>) {
    let mut decoder = match format {
        Format::Raw => flate2::Decompress::new(false),
        Format::Zlib => flate2::Decompress::new(true),
        Format::Gzip => flate2::Decompress::new_gzip(15),
    };
    let mut body = vec![0; LIMIT + 1];
    let status = decoder.decompress(coded, &mut body, flate2::FlushDecompress::None);
    body.truncate(decoder.total_out() as usize);
    let verdict = match status {
        Ok(flate2::Status::StreamEnd) if body.len() <= LIMIT => Verdict::End(decoder.total_in() as usize),
        Ok(_) if body.len() > LIMIT => Verdict::Full,
        Ok(_) => Verdict::Starved,
        Err(_) => Verdict::Bad,
    };
    (verdict, body)
}

/// Where the stream ends, or nothing if the input does first.
fn in_pieces(
    decoder: &mut Decoder,
    coded: &[u8],
    input_size: usize,
    output_size: usize,
    body: &mut Vec<u8>,
) -> Result<Option<usize>, Error> {
    let mut output = vec![0; output_size];
    let (mut taken, mut available) = (0, 0);
    while body.len() <= LIMIT {
        let progress = decoder.decompress(&coded[taken..available], &mut output)?;
        taken += progress.consumed;
        body.extend_from_slice(&output[..progress.produced]);
        match progress.status {
            Status::Done => return Ok(Some(taken)),
            Status::NeedsInput if available == coded.len() => return Ok(None),
            Status::NeedsInput => available = coded.len().min(available + input_size),
            Status::NeedsOutput => assert!(progress.produced > 0),
        }
    }
    Ok(None)
}
