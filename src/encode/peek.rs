//! A body that is read ahead, to learn how long it is before the head of its response is sent.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

/// A body, with what was read of it in front.
///
/// It is boxed, since a body that was polled must not move, and this one goes on into the response.
#[derive(Debug)]
pub(super) struct Peeked<B: Body> {
    inner: Pin<Box<B>>,
    front: VecDeque<Bytes>,
    front_len: usize,
    after: Option<After<B::Error>>,
}

/// What comes after the front, where that is known.
#[derive(Debug)]
enum After<E> {
    Nothing,
    Trailers(HeaderMap),
    Error(E),
}

/// How far reading ahead came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// All data of the body.
    Whole,
    /// As much as was asked for, or all until an error.
    Part,
}

impl<B: Body> Peeked<B> {
    pub(super) fn new(inner: B) -> Self {
        Self { inner: Box::pin(inner), front: VecDeque::new(), front_len: 0, after: None }
    }

    /// Reads on until the body ends or `enough` bytes are there; pending where the source idles.
    pub(super) fn poll_peek(&mut self, cx: &mut Context<'_>, enough: usize) -> Poll<Seen> {
        loop {
            match self.after {
                Some(After::Nothing | After::Trailers(_)) => return Poll::Ready(Seen::Whole),
                Some(After::Error(_)) => return Poll::Ready(Seen::Part),
                None if self.inner.is_end_stream() => return Poll::Ready(Seen::Whole),
                None if self.front_len >= enough => return Poll::Ready(Seen::Part),
                None => {}
            }
            match ready!(self.inner.as_mut().poll_frame(cx)) {
                None => self.after = Some(After::Nothing),
                Some(Err(error)) => self.after = Some(After::Error(error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(mut data) => {
                        self.front_len += data.remaining();
                        self.front.push_back(data.copy_to_bytes(data.remaining()));
                    }
                    Err(frame) => {
                        self.after = Some(frame.into_trailers().map_or(After::Nothing, After::Trailers))
                    }
                },
            }
        }
    }

    /// Bytes of data read ahead.
    pub(super) fn front_len(&self) -> usize {
        self.front_len
    }

    /// What was read ahead, in one piece. It stays in front.
    pub(super) fn front(&mut self) -> &[u8] {
        if self.front.len() > 1 {
            let mut joined = BytesMut::with_capacity(self.front_len);
            self.front.drain(..).for_each(|piece| joined.extend_from_slice(&piece));
            self.front.push_back(joined.freeze());
        }
        self.front.front().map_or(&[], |piece| piece)
    }

    /// Puts `data` in the place of what was read ahead.
    pub(super) fn replace_front(&mut self, data: Bytes) {
        self.front.clear();
        self.front_len = data.len();
        self.front.push_back(data);
    }
}

impl<B: Body> Body for Peeked<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(data) = self.front.pop_front() {
            self.front_len -= data.len();
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if let Some(after) = &mut self.after {
            return Poll::Ready(match std::mem::replace(after, After::Nothing) {
                After::Nothing => None,
                After::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
                After::Error(error) => Some(Err(error)),
            });
        }
        let frame = ready!(self.inner.as_mut().poll_frame(cx));
        if frame.is_none() {
            self.after = Some(After::Nothing);
        }
        let as_bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(as_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.front.is_empty()
            && match self.after {
                None => self.inner.is_end_stream(),
                Some(After::Nothing) => true,
                Some(After::Trailers(_) | After::Error(_)) => false,
            }
    }

    fn size_hint(&self) -> SizeHint {
        let front = SizeHint::with_exact(self.front_len as u64);
        match self.after {
            None => front + self.inner.size_hint(),
            Some(After::Nothing) => front,
            // With a length, HTTP/1.1 could not carry the trailers.
            Some(After::Trailers(_) | After::Error(_)) => front + SizeHint::new(),
        }
    }
}

// The body is behind a box, and nothing else is ever pinned.
impl<B: Body> Unpin for Peeked<B> {}
