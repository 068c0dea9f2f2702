//! The body of a response that went through the layer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::encode::body::{BoxError, Encoded};
use crate::encode::peek::Peeked;

pin_project! {
    /// The body of a response of [`Compress`](super::Compress): coded, or as it was.
    pub struct CompressBody<B>
    where
        B: Body,
    {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B>
    where
        B: Body,
    {
        Empty,
        Untouched { #[pin] body: B },
        Read { body: Peeked<B> },
        Coded { #[pin] body: Encoded<Peeked<B>> },
    }
}

impl<B: Body> CompressBody<B> {
    pub(super) fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    pub(super) fn untouched(body: B) -> Self {
        Self { kind: Kind::Untouched { body } }
    }

    pub(super) fn read(body: Peeked<B>) -> Self {
        Self { kind: Kind::Read { body } }
    }

    pub(super) fn coded(body: Encoded<Peeked<B>>) -> Self {
        Self { kind: Kind::Coded { body } }
    }
}

impl<B> Body for CompressBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut kind = self.project().kind;
        let frame = match kind.as_mut().project() {
            KindProj::Empty => None,
            KindProj::Untouched { body } => {
                let as_bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
                ready!(body.poll_frame(cx))
                    .map(|frame| frame.map(|frame| frame.map_data(as_bytes)).map_err(Into::into))
            }
            KindProj::Read { body } => {
                ready!(Pin::new(body).poll_frame(cx)).map(|frame| frame.map_err(Into::into))
            }
            KindProj::Coded { body } => ready!(body.poll_frame(cx)),
        };
        if !matches!(frame, Some(Ok(_))) {
            // Whoever asks again does not reach the body, which has ended.
            kind.set(Kind::Empty);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Untouched { body } => body.is_end_stream(),
            Kind::Read { body } => body.is_end_stream(),
            Kind::Coded { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Untouched { body } => body.size_hint(),
            Kind::Read { body } => body.size_hint(),
            Kind::Coded { body } => body.size_hint(),
        }
    }
}
