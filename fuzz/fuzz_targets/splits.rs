//! A stream under any level, format, pieces and flushes: what is given before a flush comes out after it, nothing stalls,
//! and only the flushes show in the bytes.

#![no_main]

use laneflate_fuzz::{Choices, MOST_FLUSHES, Sizes, oracle, pieces};
use laneflate_simd::{Decoder, Encoder, ErrorKind, Flush, Format, Status};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let (format, level) = (choices.format(), choices.level());
    let flushes = Flushes { format, choices: choices.bytes(8) };
    let (mut inputs, mut outputs, mut decoded) = (choices.sizes(), choices.sizes(), choices.sizes());
    let body = choices.body();

    let mut encoder = Encoder::new(format, level);
    let coded = flushes.encode(&mut encoder, &body, &mut inputs, &mut outputs, &mut decoded);

    let nothing = encoder.compress(&[], &mut [0; 9], Flush::Finish).map(|done| (done.produced, done.status));
    assert_eq!(nothing, Ok((0, Status::Done)));
    let late = encoder.compress(b"late", &mut [0; 9], Flush::None).map_err(|error| error.kind());
    assert_eq!(late, Err(ErrorKind::Finished));

    assert!(oracle::libdeflate(format, &coded, body.len()) == body);
    assert!(oracle::zlib(format, &coded, body.len()) == (oracle::Verdict::End(coded.len()), body.clone()));
    let mut whole = Vec::new();
    let consumed = Decoder::new(format).decode(&[&coded, &b"more"[..]].concat(), &mut whole, body.len());
    assert!((consumed, whole) == (Ok(coded.len()), body));
});

/// What follows the pieces of a body, over and over.
struct Flushes<'a> {
    format: Format,
    choices: &'a [u8],
}

impl Flushes<'_> {
    fn after(&self, piece: usize) -> Flush {
        if piece >= MOST_FLUSHES {
            return Flush::None;
        }
        let choice = self.choices.get(piece % self.choices.len().max(1)).copied().unwrap_or(0);
        [Flush::None, Flush::Sync, Flush::Full, Flush::None][usize::from(choice % 4)]
    }

    /// Encodes the body, decoding it on the way with zlib-rs and our decoder, and from the last full flush on.
    fn encode(
        &self,
        encoder: &mut Encoder,
        body: &[u8],
        inputs: &mut Sizes,
        outputs: &mut Sizes,
        decoded: &mut Sizes,
    ) -> Vec<u8> {
        let mut readers = Readers::new(self.format);
        let (mut coded, mut given, mut restart) = (Vec::new(), 0, (0, 0));
        // Input that was not flushed, and the flush after it: with the same cuts, other pieces give the same bytes.
        let mut segments = vec![(0, Flush::None)];
        for piece in 0.. {
            let size = inputs.next().min(body.len() - given);
            let last = given + size == body.len();
            let flush = if last { Flush::Finish } else { self.after(piece) };
            let made = pieces::compress(encoder, &body[given..given + size], flush, outputs);
            given += size;
            readers.read(&made, decoded);
            coded.extend(made);
            match flush {
                Flush::None => continue,
                Flush::Sync => {}
                Flush::Full => restart = (coded.len(), given),
                Flush::Finish => assert!(readers.ours_ended),
            }
            readers.check(&body[..given]);
            segments.push((given, flush));
            if last {
                break;
            }
        }
        if restart.0 > 0 {
            let mut rest = Vec::new();
            let result = Decoder::new(Format::Raw).decode(&coded[restart.0..], &mut rest, body.len());
            assert!(result.is_ok(), "after a full flush: {result:?}");
            assert!(rest == body[restart.1..]);
        }
        encoder.reset();
        let again = segments.windows(2).flat_map(|pair| {
            let [(start, _), (end, flush)] = [pair[0], pair[1]];
            pieces::compress(encoder, &body[start..end], flush, decoded)
        });
        assert!(again.collect::<Vec<_>>() == coded, "other pieces, other bytes");
        coded
    }
}

/// Streaming decoders that are given all that was made so far.
struct Readers {
    ours: Decoder,
    ours_body: Vec<u8>,
    ours_ended: bool,
    zlib: flate2::Decompress,
    zlib_body: Vec<u8>,
}

impl Readers {
    fn new(format: Format) -> Self {
        Self {
            ours: Decoder::new(format),
            ours_body: Vec::new(),
            ours_ended: false,
            zlib: oracle::zlib_decoder(format),
            zlib_body: Vec::new(),
        }
    }

    fn read(&mut self, coded: &[u8], sizes: &mut Sizes) {
        let result = pieces::decompress(&mut self.ours, coded, sizes, usize::MAX, &mut self.ours_body);
        let (status, taken) = result.expect("what the encoder made is right");
        assert_eq!(taken, coded.len());
        self.ours_ended = status == Status::Done;

        let before = self.zlib.total_in();
        while self.zlib.total_in() - before < coded.len() as u64 {
            let rest = &coded[(self.zlib.total_in() - before) as usize..];
            self.zlib_body.reserve(1 << 16);
            self.zlib
                .decompress_vec(rest, &mut self.zlib_body, flate2::FlushDecompress::Sync)
                .expect("zlib-rs reads what the encoder made");
        }
        // What it holds back for want of room.
        self.zlib_body.reserve(1 << 16);
        let _ = self.zlib.decompress_vec(&[], &mut self.zlib_body, flate2::FlushDecompress::Sync);
    }

    fn check(&self, body: &[u8]) {
        assert!(self.ours_body == body, "our decoder has {} of {}", self.ours_body.len(), body.len());
        assert!(self.zlib_body == body, "zlib-rs has {} of {}", self.zlib_body.len(), body.len());
    }
}
