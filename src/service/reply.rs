//! The pieces that responses are made of.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, RANGE, SERVER, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::Ask;
use super::prepared::{Face, File};
use crate::body::{Body, Piece};
use crate::conditional::{Validators, if_range};
use crate::encode::Coding;
use crate::policy::Refusal;
use crate::range::{self, Multipart, RangeSet};
use crate::source::{Data, FileBody};

/// Value of `Server`.
pub(super) const NAME: HeaderValue = HeaderValue::from_static("laneflate");

/// A response, and what is worth noting of it.
#[derive(Debug)]
pub struct Reply {
    /// The response.
    pub response: Response<Body>,
    /// For log and counters.
    pub notes: Notes,
}

/// What log and counters want to know of a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes {
    /// The coding of the body; `None` for identity.
    pub coding: Option<Coding>,
    /// Bytes of the body before coding.
    pub length_before: Option<u64>,
    /// Why no coding was applied.
    pub refusal: Option<Refusal>,
}

/// An answer, at once or when the store has it.
pub(crate) enum Answer {
    /// This.
    Done(Reply),
    /// What [`super::StaticFiles`] makes of a file that the store has yet to code.
    Store(Wait),
}

/// A file that the store has yet to code.
pub(crate) struct Wait {
    pub(super) file: Arc<File>,
    pub(super) coding: Coding,
}

impl Reply {
    /// A response without content.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self::new(status, HeaderMap::new(), Body::Empty, Notes::default())
    }

    pub(super) fn new(status: StatusCode, headers: HeaderMap, body: Body, notes: Notes) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response.headers_mut().insert(SERVER, NAME);
        Self { response, notes }
    }

    /// The whole of a representation.
    pub(super) fn whole(face: &Face, body: Body, notes: Notes) -> Self {
        let mut response = Response::new(body);
        *response.headers_mut() = face.headers.clone();
        Self { response, notes }
    }
}

/// 304: what a cache is to bring up to date (RFC 9110 §15.4.5), and nothing of the content.
pub(super) fn not_modified(face: &Face) -> Reply {
    let mut headers = HeaderMap::with_capacity(8);
    for name in [ETAG, VARY, CACHE_CONTROL, LAST_MODIFIED] {
        if let Some(value) = face.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    Reply::new(StatusCode::NOT_MODIFIED, headers, Body::Empty, Notes::default())
}

/// The bytes of a representation, of which ranges can be had.
pub(super) struct Ranged<'a> {
    pub(super) face: &'a Face,
    pub(super) data: Data,
    pub(super) length: u64,
    /// What `If-Range` is held against.
    pub(super) validators: Validators<'a>,
    pub(super) notes: Notes,
}

/// No byte of the representation was asked for.
pub(super) struct Unsatisfiable(pub(super) HeaderValue);

impl Ranged<'_> {
    /// The whole, or the ranges that the request asks for.
    pub(super) fn reply(self, ask: &Ask<'_>) -> Result<Reply, Unsatisfiable> {
        let ranges = match ask.headers.contains_key(RANGE) && if_range(ask.headers, self.validators) {
            true => range::requested(ask.method, ask.headers, self.length),
            false => RangeSet::Ignore,
        };
        match ranges {
            RangeSet::Ignore => Ok(Reply::whole(self.face, cut(&self.data, 0, self.length), self.notes)),
            RangeSet::Unsatisfiable => Err(Unsatisfiable(range::content_range_unsatisfied(self.length))),
            RangeSet::One(range) => {
                let body = cut(&self.data, range.start, range.end - range.start);
                let mut reply = self.partial(body);
                let content_range = range::content_range(&range, self.length);
                reply.response.headers_mut().insert(CONTENT_RANGE, content_range);
                Ok(reply)
            }
            RangeSet::Many(ranges) => {
                let multipart = Multipart::new(&ranges, self.length, self.face.headers.get(CONTENT_TYPE));
                let mut pieces = VecDeque::with_capacity(2 * multipart.parts.len() + 1);
                for (head, range) in multipart.parts {
                    pieces.push_back(Piece::Bytes(head));
                    pieces.push_back(piece(&self.data, range.start, range.end - range.start));
                }
                pieces.push_back(Piece::Bytes(multipart.tail));
                let mut reply = self.partial(Body::Pieces(pieces));
                reply.response.headers_mut().insert(CONTENT_TYPE, multipart.content_type);
                Ok(reply)
            }
        }
    }

    fn partial(&self, body: Body) -> Reply {
        let mut reply = Reply::whole(self.face, body, Notes { length_before: None, ..self.notes });
        *reply.response.status_mut() = StatusCode::PARTIAL_CONTENT;
        reply
    }
}

/// The body of `length` bytes of `data` from `offset` on.
pub(super) fn cut(data: &Data, offset: u64, length: u64) -> Body {
    match piece(data, offset, length) {
        _ if length == 0 => Body::Empty,
        Piece::Bytes(bytes) => Body::Bytes(bytes),
        Piece::File(file) => Body::File(file),
    }
}

fn piece(data: &Data, offset: u64, length: u64) -> Piece {
    match data {
        Data::Memory(bytes) => Piece::Bytes(slice(bytes, offset, length)),
        Data::Disk(file) => Piece::File(FileBody::new(Arc::clone(file), offset, length)),
    }
}

fn slice(bytes: &Bytes, offset: u64, length: u64) -> Bytes {
    // Both are within the bytes, whose length is a usize.
    bytes.slice(offset as usize..(offset + length) as usize)
}
