//! Coded bodies from scripted ones.

use std::task::Waker;

use http::HeaderValue;
use http_body_util::Full;

use super::*;
use crate::encode::testing::{Script, Step, decode, decode_beginning, noise, read, text};
use crate::encode::{Coding, pool};

fn encoded<B: Body>(inner: B, coding: Coding, level: i32) -> Encoded<B> {
    let mut encoder = pool::take(coding, level).unwrap();
    encoder.begin(inner.size_hint().exact()).unwrap();
    Encoded::new(inner, encoder)
}

fn data(bytes: &'static [u8]) -> Step {
    Step::Data(Bytes::from_static(bytes))
}

fn trailers() -> HeaderMap {
    HeaderMap::from_iter([(http::header::ETAG, HeaderValue::from_static("\"after\""))])
}

#[test]
fn every_coding_of_every_split() {
    for coding in Coding::ALL {
        for len in [0, 1, 1000] {
            let body = text(len);
            for size in [1, 2, 3, 100, 999, 1000] {
                for script in [Script::pieces(&body, size), Script::pieces(&body, size).exact()] {
                    let output = read(encoded(script, coding, 5));
                    assert!(output.error.is_none());
                    assert_eq!(
                        decode(coding, &output.data).unwrap(),
                        body,
                        "{coding:?}, {len} bytes by {size}"
                    );
                }
            }
        }
    }
}

#[test]
fn long_bodies_go_out_in_frames_of_some_size() {
    let body = [text(700_000), noise(300_000)].concat();
    for coding in Coding::ALL {
        for script in [Script::pieces(&body, 1000), Script::pieces(&body, 1_000_000).exact()] {
            let output = read(encoded(script, coding, 1));
            assert!(decode(coding, &output.data).unwrap() == body);
            let (last, others) = output.frames.split_last().unwrap();
            assert!(others.iter().all(|len| *len >= FRAME_BYTES), "{coding:?}: {others:?}");
            assert!(*last > 0);
        }
    }
}

#[test]
fn nothing_is_flushed_while_input_is_ready() {
    let body = text(100_000);
    for coding in Coding::ALL {
        let whole = read(encoded(Full::new(Bytes::from(body.clone())), coding, 5)).data.len();
        let split = read(encoded(Script::pieces(&body, 50), coding, 5)).data.len();
        // Two thousand flushes would double it at least.
        assert!(split < whole * 3 / 2, "{coding:?}: {split} and {whole}");
    }
}

#[test]
fn an_idle_source_flushes_what_it_gave() {
    let events: [&[u8]; 3] = [b"data: one\n\n", b"data: two\n\n", b"data: three\n\n"];
    for (coding, level) in [(Coding::Gzip, 6), (Coding::Deflate, 1), (Coding::Brotli, 5), (Coding::Zstd, 3)] {
        let steps = events.iter().flat_map(|event| [data(event), Step::Idle, Step::Idle]);
        let mut body = Box::pin(encoded(Script::new(steps), coding, level));
        let mut cx = Context::from_waker(Waker::noop());
        let (mut coded, mut sent) = (Vec::new(), Vec::new());
        for event in events {
            sent.extend_from_slice(event);
            let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut cx) else {
                panic!("{coding:?} withholds")
            };
            coded.extend_from_slice(&frame.into_data().unwrap());
            assert_eq!(decode_beginning(coding, &coded), sent, "{coding:?}");
            // With nothing new there is nothing to flush.
            assert!(body.as_mut().poll_frame(&mut cx).is_pending());
        }
        let end = read(body);
        assert_eq!(decode(coding, &[coded, end.data.to_vec()].concat()).unwrap(), sent);
    }
}

#[test]
fn an_error_of_the_source_leaves_the_stream_open() {
    for coding in Coding::ALL {
        for before in
            [vec![Step::Fail], vec![data(b"some"), Step::Fail], vec![data(b"some"), Step::Idle, Step::Fail]]
        {
            let output = read(encoded(Script::new(before), coding, 1));
            assert_eq!(output.error.unwrap().to_string(), "the source broke off");
            let decoded = decode(coding, &output.data);
            // flate2 reads no bytes at all as no member at all.
            assert!(decoded.is_err() || output.data.is_empty(), "{coding:?} ends well: {decoded:?}");
        }
    }
}

#[test]
fn trailers_follow_the_end() {
    for coding in Coding::ALL {
        for before in [vec![], vec![data(b"some data")], vec![data(b"some data"), Step::Idle]] {
            let has_data = !before.is_empty();
            let output =
                read(encoded(Script::new(before.into_iter().chain([Step::Trailers(trailers())])), coding, 1));
            assert_eq!(output.trailers, Some(trailers()));
            assert_eq!(decode(coding, &output.data).unwrap(), if has_data { &b"some data"[..] } else { b"" });
        }
    }
}

#[test]
fn a_long_frame_is_coded_in_turns() {
    let body = Bytes::from(text(1 << 20));
    for (coding, level) in [(Coding::Gzip, 1), (Coding::Brotli, 5), (Coding::Zstd, 3)] {
        let step = cost::step(coding, level).unwrap();
        let output = read(encoded(Full::new(body.clone()), coding, level));
        assert_eq!(output.pauses, body.len() / step - 1, "{coding:?}");
        assert!(decode(coding, &output.data).unwrap() == body);
    }
}

#[tokio::test]
async fn slow_encoders_work_away() {
    let body = text(200_000);
    for (coding, level) in [(Coding::Brotli, 8), (Coding::Zstd, 11), (Coding::Gzip, 10)] {
        assert_eq!(cost::step(coding, level), None);
        let mut encoded = pin!(encoded(Script::pieces(&body, 70_000), coding, level));
        let mut coded = Vec::new();
        let mut away = 0;
        while let Some(frame) = std::future::poll_fn(|cx| {
            let polled = encoded.as_mut().poll_frame(cx);
            away += usize::from(matches!(encoded.as_mut().project().coder, Coder::Away(_)));
            polled
        })
        .await
        {
            coded.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        assert!(away > 0, "{coding:?} stayed");
        assert!(decode(coding, &coded).unwrap() == body);
    }
}

#[test]
fn slow_encoders_stay_where_there_is_no_runtime() {
    let body = text(100_000);
    let output = read(encoded(Script::pieces(&body, 70_000), Coding::Zstd, 11));
    assert!(decode(Coding::Zstd, &output.data).unwrap() == body);
}

#[test]
fn a_body_of_another_length_than_it_said_is_an_error() {
    struct Lying(Script);

    impl Body for Lying {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Pin::new(&mut self.0).poll_frame(cx)
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(100)
        }
    }

    let output = read(encoded(Lying(Script::pieces(&text(99), 99)), Coding::Zstd, 3));
    assert!(output.error.is_some());
    assert!(decode(Coding::Zstd, &output.data).is_err());
}
