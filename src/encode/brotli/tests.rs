//! Streams of the encoder, as Google's C library decodes them.

use brotlic::decode::{BrotliDecoder as Reference, DecoderInfo};

use super::*;

#[test]
fn whole_bodies_at_every_quality() {
    for quality in 0..=BrotliEncoder::MAX_QUALITY {
        let mut encoder = BrotliEncoder::new(quality, None);
        for body in bodies(quality) {
            let mut coded = Vec::new();
            encoder.encode_whole(&body, &mut coded).unwrap();
            assert!(decode(&coded) == body, "quality {quality}, {} bytes", body.len());
        }
    }
}

#[test]
fn split_input() {
    let body = text(150_000);
    for quality in [0, 1, 2, 4, 5, 9] {
        for step in [1, 7, 4096, 65_536, 65_537, 149_999] {
            let mut encoder = BrotliEncoder::new(quality, None);
            let mut coded = Vec::new();
            // Single bytes only for the start: each push at quality 0 and 1 is a meta-block.
            for piece in body[..body.len().min(step * 3000)].chunks(step) {
                encoder.push(piece, &mut coded, Flush::None).unwrap();
            }
            encoder.push(&[], &mut coded, Flush::Finish).unwrap();
            assert!(decode(&coded) == body[..body.len().min(step * 3000)], "quality {quality}, step {step}");
        }
    }
}

#[test]
fn what_a_sync_left_out_decodes_at_once() {
    let body = text(100_000);
    for quality in 0..=9 {
        let mut encoder = BrotliEncoder::new(quality, None);
        let mut reference = Reference::new();
        let mut decoded = Vec::new();
        let mut pushed = 0;
        // With nothing pushed yet, with a little, with nothing new, and with more than a block.
        for (len, flush) in [
            (0, Flush::Sync),
            (11, Flush::Sync),
            (0, Flush::Sync),
            (500, Flush::None),
            (3, Flush::Sync),
            (80_000, Flush::Sync),
            (1, Flush::Finish),
        ] {
            let mut coded = Vec::new();
            encoder.push(&body[pushed..pushed + len], &mut coded, flush).unwrap();
            pushed += len;
            decode_part(&mut reference, &coded, &mut decoded);
            if flush != Flush::None {
                assert!(decoded == body[..pushed], "quality {quality}, after {pushed} bytes");
            }
        }
        assert!(reference.is_finished(), "quality {quality}");
    }
}

/// Old content of reused blocks must never show: validators and caches rely on one body having one result.
#[test]
fn a_reused_encoder_codes_the_same_bytes_as_a_new_one() {
    for quality in 0..=BrotliEncoder::MAX_QUALITY {
        let mut reused = BrotliEncoder::new(quality, None);
        reused.encode_whole(&noise(100_000), &mut Vec::new()).unwrap();
        // The last hint takes other hash tables.
        for hint in [None, Some(9000), Some(1 << 23)] {
            for body in bodies(quality) {
                let mut of_reused = Vec::new();
                reused.reset(hint);
                reused.push(&body, &mut of_reused, Flush::Finish).unwrap();
                let mut of_new = Vec::new();
                let mut new = BrotliEncoder::new(quality, hint);
                new.push(&body, &mut of_new, Flush::Finish).unwrap();
                assert!(of_reused == of_new, "quality {quality}, {} bytes, hint {hint:?}", body.len());
            }
        }
    }
}

/// No input stays behind for longer than a meta-block, however well it compresses, and no push is too large.
#[test]
fn output_comes_without_a_flush() {
    for quality in [0, 1, 2, 4, 5] {
        let mut encoder = BrotliEncoder::new(quality, None);
        let mut reference = Reference::new();
        let mut decoded = Vec::new();
        for pushed in [0, 1, META_BLOCK_BYTES - 1, META_BLOCK_BYTES, 3 * META_BLOCK_BYTES] {
            let mut coded = Vec::new();
            encoder.push(&vec![b'.'; pushed], &mut coded, Flush::None).unwrap();
            decode_part(&mut reference, &coded, &mut decoded);
        }
        let behind = 5 * META_BLOCK_BYTES - decoded.len();
        assert!(behind <= META_BLOCK_BYTES, "quality {quality} holds {behind} bytes back");
    }
}

#[test]
fn a_reset_drops_the_stream_in_progress() {
    for quality in [1, 5] {
        let mut encoder = BrotliEncoder::new(quality, None);
        encoder.push(&text(70_000), &mut Vec::new(), Flush::None).unwrap();
        encoder.reset(Some(5));
        let mut coded = Vec::new();
        encoder.push(b"hello", &mut coded, Flush::Finish).unwrap();
        assert_eq!(decode(&coded), b"hello");
    }
}

#[test]
fn a_wrong_size_hint_does_no_harm() {
    let body = text(150_000);
    for quality in [1, 4, 5] {
        for hint in [0, 1, 100_000, 1 << 21, 1 << 23, usize::MAX] {
            let mut encoder = BrotliEncoder::new(quality, Some(hint));
            let mut coded = Vec::new();
            encoder.push(&body, &mut coded, Flush::Finish).unwrap();
            assert!(decode(&coded) == body, "quality {quality}, hint {hint}");
        }
    }
}

#[test]
fn nothing_follows_the_end() {
    let mut encoder = BrotliEncoder::new(5, None);
    let mut coded = Vec::new();
    encoder.push(b"all", &mut coded, Flush::Finish).unwrap();
    let len = coded.len();
    encoder.push(&[], &mut coded, Flush::Finish).unwrap();
    assert_eq!(coded.len(), len);
    let error = encoder.push(b"more", &mut coded, Flush::None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn the_window_reaches_over_the_body_and_is_never_a_small_one() {
    assert_eq!(window_bits(Some(0)), 17);
    assert_eq!(window_bits(Some((1 << 17) - 16)), 17);
    assert_eq!(window_bits(Some((1 << 17) - 15)), 18);
    assert_eq!(window_bits(Some(usize::MAX)), 20);
    assert_eq!(window_bits(None), 19);
}

/// The trap of the module's first note: a table of 32 MiB would be too large to be kept.
#[test]
fn a_small_body_has_a_small_table_and_it_is_kept() {
    for (quality, table) in [(4, 512 << 10), (5, 1 << 20), (6, 2 << 20)] {
        let mut encoder = BrotliEncoder::new(quality, None);
        encoder.encode_whole(&text(9000), &mut Vec::new()).unwrap();
        encoder.reset(None);
        let kept = encoder.state.m8.kept_bytes();
        assert!((table..table + (256 << 10)).contains(&kept), "quality {quality} keeps {kept} bytes");
    }
}

#[test]
fn bodies_of_many_sizes_do_not_crowd_the_table_out() {
    let body = text(200_000);
    for quality in [5, 6] {
        let mut encoder = BrotliEncoder::new(quality, None);
        for len in (1000..200_000).step_by(9000) {
            encoder.encode_whole(&body[..len], &mut Vec::new()).unwrap();
        }
        encoder.reset(None);
        for piece in body.chunks(20_000) {
            encoder.push(piece, &mut Vec::new(), Flush::None).unwrap();
        }
        encoder.reset(None);
        assert!(encoder.state.m8.keeps_a_hash_table(), "quality {quality}");
    }
}

#[test]
fn an_idle_encoder_keeps_no_more_than_it_says() {
    let body = text(400_000);
    for quality in 0..10 {
        let mut encoder = BrotliEncoder::new(quality, Some(3 << 20));
        for piece in body.chunks(100_000) {
            encoder.push(piece, &mut Vec::new(), Flush::None).unwrap();
        }
        encoder.reset(None);
        assert!(encoder.state.m8.kept_bytes() <= BrotliEncoder::IDLE_BYTES, "quality {quality}");
    }
}

#[test]
fn encoders_and_decoders_move_between_threads() {
    fn assert_send<T: Send>() {}
    assert_send::<BrotliEncoder>();
    assert_send::<BrotliDecoder>();
}

fn bodies(quality: u8) -> Vec<Vec<u8>> {
    let mut bodies = vec![vec![], vec![b'x'], vec![0; 70_000], text(9000), noise(9000)];
    if quality < 10 {
        bodies.extend([text(80_000), noise(70_000)]);
    }
    bodies
}

/// Words in random order, so that there are matches near and far and literals too.
pub(super) fn text(len: usize) -> Vec<u8> {
    const WORDS: &[&str] =
        &["window", "literal", "distance", "<p class=\"note\">", "</p>\n", "the", "of", "Brötchen", "42"];
    let mut random = random();
    let mut text = Vec::with_capacity(len + 32);
    while text.len() < len {
        let number = random();
        text.extend_from_slice(WORDS[number as usize % WORDS.len()].as_bytes());
        match number >> 32 & 7 {
            0 => text.extend_from_slice(format!("{:x}", number as u16).as_bytes()),
            _ => text.push(b' '),
        }
    }
    text.truncate(len);
    text
}

pub(super) fn noise(len: usize) -> Vec<u8> {
    let mut random = random();
    (0..len).map(|_| (random() >> 32) as u8).collect()
}

/// Numbers of a fixed sequence (xorshift64*).
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn decode(coded: &[u8]) -> Vec<u8> {
    let mut reference = Reference::new();
    let mut decoded = Vec::new();
    decode_part(&mut reference, coded, &mut decoded);
    assert!(reference.is_finished(), "the stream has no end");
    decoded
}

/// Decodes all that `coded` says, and asserts that it is used up.
fn decode_part(reference: &mut Reference, mut coded: &[u8], decoded: &mut Vec<u8>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let step = reference.decompress(coded, &mut buffer).expect("the C library finds the stream valid");
        coded = &coded[step.bytes_read..];
        decoded.extend_from_slice(&buffer[..step.bytes_written]);
        // Output may be waiting even where the decoder asks for input.
        if !matches!(step.info, DecoderInfo::NeedsMoreOutput) && step.bytes_written < buffer.len() {
            assert!(coded.is_empty(), "{} bytes are left over", coded.len());
            return;
        }
    }
}
