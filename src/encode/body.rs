//! The body of a coded response: any body in, coded frames out.
//!
//! One rule decides when what is held back goes out: while the source has data ready, nothing is flushed; when it idles,
//! all that was read from it is. So a download is coded as tightly as a file, and an event reaches its client at once.

use std::error::Error;
use std::future::Future;
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::runtime;
use tokio::task::{self, JoinHandle};

use super::pool::Pooled;
use super::{Flush, cost};

/// Any error of a body.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Output is gathered to frames of at least this size, unless the source idles: a frame costs its reader a system call.
const FRAME_BYTES: usize = 16 << 10;

/// The input of one visit to a thread for blocking work.
const AWAY_BYTES: usize = 64 << 10;

pin_project! {
    /// A body in its coded form.
    ///
    /// An error of the inner body comes out as it is, and the coded stream is then not ended: a decoder sees that it was
    /// cut short. Trailers follow the end of the coded stream. The inner body is not polled after its end.
    ///
    /// Coding goes in steps of about a millisecond, and between steps the task yields. Codings and levels too slow for
    /// that (brotli from quality 8, gzip from level 10, zstd from level 11) work on tokio's threads for blocking work, or
    /// in place where the body is polled outside of a tokio runtime.
    pub struct Encoded<B>
    where
        B: Body,
    {
        #[pin]
        inner: B,
        input: Option<B::Data>,
        trailers: Option<HeaderMap>,
        coder: Coder,
        state: State,
        // The input of a turn; `None` for an encoder that works away.
        step: Option<usize>,
        // Bytes that may yet be coded before the task yields.
        turn: usize,
    }
}

/// Where the encoder is.
enum Coder {
    Here(Work),
    Away(JoinHandle<io::Result<Work>>),
    /// Back in its pool: all is coded, or an error was met.
    Gone,
}

/// An encoder and what came out of it.
struct Work {
    encoder: Pooled,
    out: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// All that was read is in the output.
    Flushed,
    /// The encoder may hold something back.
    HoldingBack,
    /// The coded stream has ended.
    Finished,
}

/// What the encoder is to do next.
enum Task {
    Code,
    Flush,
    Finish,
}

impl<B: Body> Encoded<B> {
    /// Codes `inner` with an encoder that is ready for a body of its size.
    pub fn new(inner: B, encoder: Pooled) -> Self {
        let step = cost::step(encoder.coding(), encoder.effort());
        Self {
            inner,
            input: None,
            trailers: None,
            coder: Coder::Here(Work { encoder, out: Vec::new() }),
            state: State::Flushed,
            step,
            turn: step.unwrap_or(AWAY_BYTES),
        }
    }
}

impl<B> Body for Encoded<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let result = ready!(self.as_mut().poll_coded(cx));
        if let Err(error) = result {
            let this = self.project();
            *this.coder = Coder::Gone;
            *this.trailers = None;
            return Poll::Ready(Some(Err(error)));
        }
        Poll::Ready(result.transpose())
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.coder, Coder::Gone) && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        match &self.coder {
            Coder::Here(work) if self.state == State::Finished => hint.set_exact(work.out.len() as u64),
            Coder::Here(work) => hint.set_lower(work.out.len() as u64),
            Coder::Away(_) => {}
            Coder::Gone => hint.set_exact(0),
        }
        hint
    }
}

impl<B> Encoded<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    fn poll_coded(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Frame<Bytes>>, BoxError>> {
        loop {
            let this = self.as_mut().project();
            let work = match this.coder {
                Coder::Here(work) => work,
                Coder::Away(job) => {
                    *this.coder = Coder::Here(ready!(Pin::new(job).poll(cx))??);
                    continue;
                }
                Coder::Gone => return Poll::Ready(Ok(this.trailers.take().map(Frame::trailers))),
            };
            let due = if *this.state == State::HoldingBack { FRAME_BYTES } else { 1 };
            if work.out.len() >= due {
                let frame = Frame::data(Bytes::from(mem::take(&mut work.out)));
                if *this.state == State::Finished {
                    *this.coder = Coder::Gone;
                }
                return Poll::Ready(Ok(Some(frame)));
            }
            let task = ready!(self.as_mut().poll_task(cx))?;
            self.as_mut().perform(task)?;
        }
    }

    /// Reads the source until there is something for the encoder to do.
    fn poll_task(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Task, BoxError>> {
        let mut this = self.project();
        loop {
            let ends = this.inner.is_end_stream();
            if let Some(input) = this.input.as_ref().filter(|input| input.has_remaining()) {
                if *this.turn == 0 {
                    *this.turn = this.step.unwrap_or(AWAY_BYTES);
                    // Wakes the task once the others had their turn and the driver has looked at the sockets.
                    let _ = pin!(task::yield_now()).poll(cx);
                    return Poll::Pending;
                }
                let last =
                    ends && input.remaining() == input.chunk().len() && input.remaining() <= *this.turn;
                return Poll::Ready(Ok(if last { Task::Finish } else { Task::Code }));
            }
            if ends {
                return Poll::Ready(Ok(Task::Finish));
            }
            let Poll::Ready(frame) = this.inner.as_mut().poll_frame(cx) else {
                *this.turn = this.step.unwrap_or(AWAY_BYTES);
                return if *this.state == State::HoldingBack {
                    Poll::Ready(Ok(Task::Flush))
                } else {
                    Poll::Pending
                };
            };
            let Some(frame) = frame.transpose().map_err(Into::into)? else {
                return Poll::Ready(Ok(Task::Finish));
            };
            match frame.into_data() {
                Ok(data) => *this.input = Some(data),
                Err(frame) => {
                    *this.trailers = frame.into_trailers().ok();
                    return Poll::Ready(Ok(Task::Finish));
                }
            }
        }
    }

    /// Has the encoder do `task` with the next piece of the input.
    fn perform(self: Pin<&mut Self>, task: Task) -> Result<(), BoxError> {
        let this = self.project();
        let Coder::Here(mut work) = mem::replace(this.coder, Coder::Gone) else { return Ok(()) };
        let (flush, state) = match task {
            Task::Code => (Flush::None, State::HoldingBack),
            Task::Flush => (Flush::Sync, State::Flushed),
            Task::Finish => (Flush::Finish, State::Finished),
        };
        *this.state = state;
        let piece = this.input.as_ref().map_or(0, |input| input.chunk().len().min(*this.turn));
        if this.step.is_none()
            && let Ok(runtime) = runtime::Handle::try_current()
        {
            let piece = this.input.as_mut().map_or_else(Bytes::new, |input| input.copy_to_bytes(piece));
            *this.coder =
                Coder::Away(runtime.spawn_blocking(move || work.push(&piece, flush).map(|()| work)));
            return Ok(());
        }
        match this.input {
            Some(input) => {
                work.push(&input.chunk()[..piece], flush)?;
                input.advance(piece);
            }
            None => work.push(&[], flush)?,
        }
        if this.step.is_some() {
            *this.turn -= piece;
        }
        *this.coder = Coder::Here(work);
        Ok(())
    }
}

impl Work {
    fn push(&mut self, input: &[u8], flush: Flush) -> io::Result<()> {
        if self.out.capacity() == 0 {
            self.out.reserve(input.len().min(FRAME_BYTES));
        }
        self.encoder.push(input, &mut self.out, flush)
    }
}

#[cfg(test)]
mod tests;
