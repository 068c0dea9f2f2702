//! Streams of Google's C library, as the decoder decodes them.

use std::io::Write;

use super::super::tests::{noise, text};
use super::super::{BrotliEncoder, Flush};
use super::*;

#[test]
fn whole_streams() {
    for body in [vec![], vec![b'x'], text(150_000), noise(70_000), vec![0; 1 << 20]] {
        for quality in [1, 5, 11] {
            let coded = encode(&body, quality);
            let mut decoded = Vec::new();
            let result = BrotliDecoder::new().push(&coded, &mut decoded, usize::MAX).unwrap();
            assert_eq!(result, Decoded::Finished { consumed: coded.len() });
            assert!(decoded == body, "{} bytes at quality {quality}", body.len());
        }
    }
}

#[test]
fn split_input_and_limited_output() {
    let body = text(40_000);
    let coded = encode(&body, 5);
    for (step, limit) in
        [(1, usize::MAX), (1, 1), (7, 13), (coded.len(), 1), (coded.len(), 39_999), (100, 40_000)]
    {
        let mut decoder = BrotliDecoder::new();
        let mut decoded = Vec::new();
        let mut finished = false;
        for mut piece in coded.chunks(step) {
            loop {
                let before = decoded.len();
                let result = decoder.push(piece, &mut decoded, limit).unwrap();
                assert!(decoded.len() - before <= limit);
                match result {
                    Decoded::NeedsInput => break,
                    Decoded::NeedsRoom { consumed } => piece = &piece[consumed..],
                    Decoded::Finished { consumed } => {
                        assert_eq!(consumed, piece.len());
                        finished = true;
                        break;
                    }
                }
            }
        }
        assert!(finished, "step {step}, limit {limit}");
        assert!(decoded == body, "step {step}, limit {limit}");
    }
}

#[test]
fn what_a_sync_left_out_is_decoded_at_once() {
    let body = text(80_000);
    let mut coded = Vec::new();
    BrotliEncoder::new(5, None).push(&body, &mut coded, Flush::Sync).unwrap();
    let mut decoder = BrotliDecoder::new();
    let mut decoded = Vec::new();
    let Decoded::NeedsRoom { consumed } = decoder.push(&coded, &mut decoded, 70_000).unwrap() else {
        panic!("80,000 bytes fit into 70,000");
    };
    assert!(decoded == body[..70_000]);
    assert_eq!(decoder.push(&coded[consumed..], &mut decoded, usize::MAX).unwrap(), Decoded::NeedsInput);
    assert!(decoded == body);
}

#[test]
fn a_bomb_is_held_at_the_limit() {
    let coded = encode(&vec![0; 64 << 20], 5);
    let mut decoded = Vec::new();
    let result = BrotliDecoder::new().push(&coded, &mut decoded, 100_000).unwrap();
    assert!(matches!(result, Decoded::NeedsRoom { .. }));
    assert_eq!(decoded.len(), 100_000);
    assert!(decoded.capacity() < 200_000);
}

#[test]
fn output_is_appended() {
    let mut decoded = b"before ".to_vec();
    BrotliDecoder::new().push(&encode(b"after", 5), &mut decoded, 5).unwrap();
    assert_eq!(decoded, b"before after");
}

#[test]
fn bytes_after_the_end_are_left_to_the_caller() {
    let mut coded = encode(b"body", 5);
    let len = coded.len();
    coded.extend_from_slice(b"more");
    let mut decoder = BrotliDecoder::new();
    let mut decoded = Vec::new();
    assert_eq!(decoder.push(&coded, &mut decoded, 100).unwrap(), Decoded::Finished { consumed: len });
    assert_eq!(decoder.push(&coded[len..], &mut decoded, 100).unwrap(), Decoded::Finished { consumed: 0 });
    assert_eq!(decoded, b"body");
}

#[test]
fn a_cut_stream_never_finishes() {
    let coded = encode(&text(9000), 5);
    for cut in 0..coded.len() {
        let result = BrotliDecoder::new().push(&coded[..cut], &mut Vec::new(), usize::MAX).unwrap();
        assert_eq!(result, Decoded::NeedsInput, "cut at {cut}");
    }
}

#[test]
fn damage_is_an_error_or_another_body_but_never_a_panic() {
    let coded = encode(&text(9000), 5);
    let mut errors = 0;
    for at in 0..coded.len() {
        let mut damaged = coded.clone();
        damaged[at] ^= 0x5a;
        if let Err(error) = BrotliDecoder::new().push(&damaged, &mut Vec::new(), 1 << 20) {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            errors += 1;
        }
    }
    assert!(errors > 0);
}

#[test]
fn large_windows_are_refused() {
    let encoder = brotlic::BrotliEncoderOptions::new()
        .large_window_size(brotlic::LargeWindowSize::new(28).unwrap())
        .build()
        .unwrap();
    let coded = encode_with(encoder, &text(9000));
    let error = BrotliDecoder::new().push(&coded, &mut Vec::new(), usize::MAX).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

fn encode(body: &[u8], quality: u8) -> Vec<u8> {
    let quality = brotlic::Quality::new(quality).unwrap();
    encode_with(brotlic::BrotliEncoderOptions::new().quality(quality).build().unwrap(), body)
}

fn encode_with(encoder: brotlic::BrotliEncoder, body: &[u8]) -> Vec<u8> {
    let mut writer = brotlic::CompressorWriter::with_encoder(encoder, Vec::new());
    writer.write_all(body).unwrap();
    writer.into_inner().unwrap()
}
