//! What the tests of coding share: bodies by script, and decoders that others wrote.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brotlic::decode::BrotliDecoder;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use super::Coding;

/// What a [`Script`] does when it is polled.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Data(Bytes),
    /// Pending once; the task is woken at once.
    Idle,
    Trailers(HeaderMap),
    Fail,
}

/// A body that does what it is told. It panics if it is polled after its end.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    steps: VecDeque<Step>,
    exact: Option<u64>,
    ended: bool,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), exact: None, ended: false }
    }

    /// The pieces of `data`, each of `size` bytes, with nothing said of its length.
    pub(crate) fn pieces(data: &[u8], size: usize) -> Self {
        Self::new(data.chunks(size).map(|piece| Step::Data(Bytes::copy_from_slice(piece))))
    }

    /// The same with the length told.
    pub(crate) fn exact(mut self) -> Self {
        let lengths =
            self.steps.iter().map(|step| if let Step::Data(data) = step { data.len() as u64 } else { 0 });
        self.exact = Some(lengths.sum());
        self
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        assert!(!self.ended, "polled after its end");
        match self.steps.pop_front() {
            Some(Step::Data(data)) => {
                self.exact = self.exact.map(|left| left - data.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Some(Step::Idle) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Step::Fail) => {
                self.ended = true;
                Poll::Ready(Some(Err(io::Error::other("the source broke off"))))
            }
            None => {
                self.ended = true;
                Poll::Ready(None)
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.exact.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

/// What came out of a body.
#[derive(Debug)]
pub(crate) struct Output<E> {
    pub(crate) data: Bytes,
    pub(crate) frames: Vec<usize>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<E>,
    /// How often the body was pending.
    pub(crate) pauses: usize,
}

/// Reads a body to its end or its error, and checks that it keeps to the rules of [`Body`].
pub(crate) fn read<B: Body<Data = Bytes>>(body: B) -> Output<B::Error> {
    let mut body = std::pin::pin!(body);
    let mut cx = Context::from_waker(Waker::noop());
    let mut data = BytesMut::new();
    let mut output =
        Output { data: Bytes::new(), frames: Vec::new(), trailers: None, error: None, pauses: 0 };
    loop {
        let hint = body.size_hint();
        let ends = body.is_end_stream();
        let frame = match body.as_mut().poll_frame(&mut cx) {
            Poll::Pending => {
                output.pauses += 1;
                assert!(output.pauses < 1_000_000, "the body hangs");
                continue;
            }
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => frame,
        };
        assert!(!ends, "a frame after the end");
        match frame.map(Frame::into_data) {
            Ok(Ok(frame)) => {
                assert!(output.trailers.is_none(), "data after trailers");
                assert!(
                    hint.upper().is_none_or(|upper| frame.len() as u64 <= upper),
                    "more than the size hint"
                );
                output.frames.push(frame.len());
                data.extend_from_slice(&frame);
            }
            Ok(Err(frame)) => output.trailers = frame.into_trailers().ok(),
            Err(error) => {
                output.error = Some(error);
                break;
            }
        }
    }
    assert!(matches!(body.as_mut().poll_frame(&mut cx), Poll::Ready(None)), "something after the end");
    assert!(body.is_end_stream());
    output.data = data.freeze();
    output
}

/// Decodes a complete stream with a decoder that others wrote.
pub(crate) fn decode(coding: Coding, coded: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    decode_into(coding, coded, &mut plain)?;
    Ok(plain)
}

/// As much as the beginning of a stream decodes to.
pub(crate) fn decode_beginning(coding: Coding, coded: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let error = decode_into(coding, coded, &mut plain).expect_err("the stream has not ended");
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
    plain
}

fn decode_into(coding: Coding, coded: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
    match coding {
        Coding::Gzip => flate2::bufread::MultiGzDecoder::new(coded).read_to_end(plain).map(drop),
        Coding::Deflate => flate2::bufread::ZlibDecoder::new(coded).read_to_end(plain).map(drop),
        Coding::Zstd => zstd::stream::read::Decoder::with_buffer(coded)?.read_to_end(plain).map(drop),
        Coding::Brotli => decode_brotli(coded, plain),
    }
}

fn decode_brotli(mut coded: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
    let mut decoder = BrotliDecoder::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let step = decoder.decompress(coded, &mut buffer).map_err(io::Error::other)?;
        coded = &coded[step.bytes_read..];
        plain.extend_from_slice(&buffer[..step.bytes_written]);
        if decoder.is_finished() {
            return if coded.is_empty() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) };
        }
        if coded.is_empty() && step.bytes_written < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Text of `len` bytes that compresses like text.
pub(crate) fn text(len: usize) -> Vec<u8> {
    const WORDS: [&str; 8] =
        ["the ", "window ", "of a ", "coding ", "<p class=\"note\">", "</p>\n", "Gr\u{fc}\u{df}e ", "42, "];
    let mut random = random();
    let mut text = Vec::with_capacity(len + 32);
    while text.len() < len {
        text.extend_from_slice(WORDS[random() as usize % WORDS.len()].as_bytes());
    }
    text.truncate(len);
    text
}

/// Bytes that do not compress.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut random = random();
    (0..len).map(|_| random() as u8).collect()
}

/// Numbers of a fixed sequence (xorshift64*).
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}
