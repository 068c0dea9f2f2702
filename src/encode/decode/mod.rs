//! The way back: a coded body in, the plain one out, within bounds.
//!
//! It serves two: applications that are sent coded request bodies, and clients that accept only identity where the disk
//! has only a coded file.

mod decoder;
mod error;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::task;

use super::Coding;
use super::body::BoxError;
use decoder::Decoder;
pub use error::DecodeError;

/// About the most output of one frame.
const FRAME_BYTES: usize = 32 << 10;

/// Output after which the task yields, so that one body never holds up the other connections of its worker.
const TURN_BYTES: usize = 256 << 10;

/// Output that no ratio is asked of: the start of a body may be all white space.
const RATIO_GRACE_BYTES: u64 = 64 << 10;

/// What a body may become by decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of the decoded body.
    pub bytes: u64,
    /// Most decoded bytes for each coded byte, once the body is over 64 KiB; `None` asks for no ratio. DEFLATE reaches 1032,
    /// the others go far beyond; web content rarely exceeds 50.
    pub ratio: Option<u32>,
}

impl Bounds {
    /// No bounds, for bodies that the server itself vouches for.
    pub const NONE: Self = Self { bytes: u64::MAX, ratio: None };

    fn check(&self, taken: u64, given: u64) -> Result<(), DecodeError> {
        if given > self.bytes {
            return Err(DecodeError::too_large(self.bytes));
        }
        let Some(ratio) = self.ratio else { return Ok(()) };
        if given > RATIO_GRACE_BYTES && given > taken.saturating_mul(u64::from(ratio)) {
            return Err(DecodeError::ratio(ratio));
        }
        Ok(())
    }
}

pin_project! {
    /// A body with one coding undone.
    ///
    /// gzip may have several members and zstd several frames; `deflate` may lack its zlib wrapper. An empty body decodes to
    /// an empty one. Its errors say with [`DecodeError::status`] what to answer.
    pub struct Decoded<B>
    where
        B: Body,
    {
        #[pin]
        inner: B,
        input: Option<B::Data>,
        decoder: Decoder,
        bounds: Bounds,
        state: State,
        taken: u64,
        given: u64,
        // Output left before the task yields.
        turn: usize,
    }
}

#[derive(Debug)]
enum State {
    /// Input is needed for more output.
    Reading,
    /// The decoder has output that did not fit the last frame.
    Draining,
    /// All data went out; trailers may follow.
    Ended(Option<HeaderMap>),
}

impl<B: Body> Decoded<B> {
    /// Undoes `coding`.
    ///
    /// # Errors
    ///
    /// Only for want of memory.
    pub fn new(inner: B, coding: Coding, bounds: Bounds) -> std::io::Result<Self> {
        Ok(Self {
            inner,
            input: None,
            decoder: Decoder::new(coding)?,
            bounds,
            state: State::Reading,
            taken: 0,
            given: 0,
            turn: TURN_BYTES,
        })
    }
}

impl<B> Body for Decoded<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = DecodeError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, DecodeError>>> {
        let result = ready!(self.as_mut().poll_decoded(cx));
        if result.is_err() {
            *self.project().state = State::Ended(None);
        }
        Poll::Ready(result.transpose())
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Ended(None))
    }

    fn size_hint(&self) -> SizeHint {
        if matches!(self.state, State::Ended(_)) { SizeHint::with_exact(0) } else { SizeHint::new() }
    }
}

impl<B> Decoded<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    fn poll_decoded(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Frame<Bytes>>, DecodeError>> {
        let mut this = self.project();
        loop {
            if let State::Ended(trailers) = this.state {
                return Poll::Ready(Ok(trailers.take().map(Frame::trailers)));
            }
            let chunk = this.input.as_ref().map_or(&[][..], Buf::chunk);
            if !chunk.is_empty() || matches!(this.state, State::Draining) {
                if *this.turn == 0 {
                    *this.turn = TURN_BYTES;
                    // Wakes the task once the others had their turn and the driver has looked at the sockets.
                    let _ = pin!(task::yield_now()).poll(cx);
                    return Poll::Pending;
                }
                let mut out = Vec::new();
                let progress = this.decoder.step(chunk, &mut out, FRAME_BYTES)?;
                if let Some(input) = this.input {
                    input.advance(progress.consumed);
                }
                *this.state = if progress.more { State::Draining } else { State::Reading };
                *this.turn = this.turn.saturating_sub(out.len());
                *this.taken += progress.consumed as u64;
                *this.given += out.len() as u64;
                this.bounds.check(*this.taken, *this.given)?;
                if !out.is_empty() {
                    return Poll::Ready(Ok(Some(Frame::data(Bytes::from(out)))));
                }
                continue;
            }
            let polled = if this.inner.is_end_stream() {
                Poll::Ready(None)
            } else {
                this.inner.as_mut().poll_frame(cx)
            };
            let Poll::Ready(frame) = polled else {
                *this.turn = TURN_BYTES;
                return Poll::Pending;
            };
            let frame = frame.transpose().map_err(|error| DecodeError::body(error.into()))?;
            match frame.map(Frame::into_data) {
                Some(Ok(data)) => *this.input = Some(data),
                Some(Err(frame)) => {
                    this.decoder.finish()?;
                    *this.state = State::Ended(frame.into_trailers().ok());
                }
                None => {
                    this.decoder.finish()?;
                    *this.state = State::Ended(None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
