//! Any bytes as a stream: the verdict of zlib-rs, the same body, the same end, on all kernels, whole and in pieces.
//!
//! The first bytes choose the format, the limit and piece sizes.

#![no_main]

use laneflate_fuzz::oracle::{self, Verdict};
use laneflate_fuzz::{Sizes, pieces};
use laneflate_simd::{Decoder, ErrorKind, Format, Kernels, Status};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, input_size, output_size, coded @ ..] = data else {
        return;
    };
    let format = [Format::Raw, Format::Zlib, Format::Gzip][usize::from(choice % 3)];
    let limit = [1 << 18, 0, 1, 300][usize::from(choice / 3 % 4)];
    let (verdict, expected) = oracle::zlib(format, coded, limit);
    let members = members(format, coded, limit);
    for kernels in Kernels::all() {
        for sizes in [[*input_size, *output_size], [0xff, 0xff]] {
            let mut body = Vec::new();
            let mut decoder = Decoder::with_kernels(format, kernels);
            let result = pieces::decompress(&mut decoder, coded, &mut Sizes::new(&sizes), limit, &mut body);
            match verdict {
                Verdict::End(consumed) => assert_eq!(result, Ok((Status::Done, consumed))),
                Verdict::Starved => assert_eq!(result, Ok((Status::NeedsInput, coded.len()))),
                Verdict::Full => assert!(body.len() > limit),
                Verdict::Bad => assert!(result.is_err(), "{result:?}"),
            }
            assert!(matches!(verdict, Verdict::Bad | Verdict::Full) || body == expected);
        }
        let mut body = Vec::new();
        let result = Decoder::with_kernels(format, kernels).decode(coded, &mut body, limit);
        let kind = result.map_err(|error| error.kind());
        match members.0 {
            Verdict::End(consumed) => assert_eq!((kind, &body), (Ok(consumed), &members.1)),
            Verdict::Starved => assert_eq!(kind, Err(ErrorKind::UnexpectedEnd)),
            Verdict::Full => assert_eq!(kind, Err(ErrorKind::LimitExceeded)),
            Verdict::Bad => assert!(kind.is_err()),
        }
        assert!(body.len() <= limit);
    }
});

/// What zlib-rs, which reads no further than a member, says of all members that follow each other.
fn members(format: Format, coded: &[u8], limit: usize) -> (Verdict, Vec<u8>) {
    let (mut taken, mut body) = (0, Vec::new());
    loop {
        let (verdict, member) = oracle::zlib(format, &coded[taken..], limit - body.len());
        body.extend(member);
        let Verdict::End(consumed) = verdict else { return (verdict, body) };
        taken += consumed;
        if format != Format::Gzip || !coded[taken..].starts_with(&[0x1f, 0x8b]) {
            return (Verdict::End(taken), body);
        }
    }
}
