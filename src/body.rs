//! The body of a response: one type for everything that the static service answers with.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::encode::body::Encoded;
use crate::encode::decode::Decoded;
use crate::source::FileBody;

/// The body of a response.
#[derive(Debug, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    Empty,
    /// Bytes in memory.
    Bytes(Bytes),
    /// A span of a file, as it is.
    File(FileBody),
    /// Pieces one after another: the parts of several ranges.
    Pieces(VecDeque<Piece>),
    /// Another body, coded on the fly.
    Coded(Box<Encoded<Body>>),
    /// Another body, which is coded, decoded on the fly.
    Decoded(Box<Decoded<Body>>),
}

/// A piece of a body made of several.
#[derive(Debug)]
pub enum Piece {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A span of a file.
    File(FileBody),
}

impl Body {
    fn poll_pieces(
        pieces: &mut VecDeque<Piece>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            match pieces.front_mut() {
                None => return Poll::Ready(None),
                Some(Piece::Bytes(bytes)) => {
                    let bytes = std::mem::take(bytes);
                    pieces.pop_front();
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Piece::File(file)) => match Pin::new(file).poll_frame(cx) {
                    Poll::Ready(None) => drop(pieces.pop_front()),
                    other => return other,
                },
            }
        }
    }
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.size_hint().lower(),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::Empty } else { Self::Bytes(bytes) }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Bytes(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Self::File(file) => Pin::new(file).poll_frame(cx),
            Self::Pieces(pieces) => Self::poll_pieces(pieces, cx),
            Self::Coded(coded) => Pin::new(coded).poll_frame(cx).map_err(io::Error::other),
            Self::Decoded(decoded) => Pin::new(decoded).poll_frame(cx).map_err(io::Error::other),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::File(file) => file.is_end_stream(),
            Self::Pieces(pieces) => pieces.is_empty(),
            Self::Coded(coded) => coded.is_end_stream(),
            Self::Decoded(decoded) => decoded.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::File(file) => file.size_hint(),
            Self::Pieces(pieces) => SizeHint::with_exact(pieces.iter().map(Piece::len).sum()),
            Self::Coded(coded) => coded.size_hint(),
            Self::Decoded(decoded) => decoded.size_hint(),
        }
    }
}
