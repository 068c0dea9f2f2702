//! A response on its way out: its body as hyper takes it, and what is counted and logged when it ends.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Instant, SystemTime};

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use rustix::fs::Advice;

use super::socket::{LONGEST_SPAN, Wire};
use super::state::{ConnState, Span};
use super::worker::Shared;
use crate::access_log::Record;
use crate::body::Body;
use crate::service::{Notes, Reply};

/// One request under way, from its head to the last byte of its response.
pub(super) struct Outgoing {
    body: Outlet,
    state: Arc<ConnState>,
    shared: Arc<Shared>,
    http1: bool,
    head: bool,
    sent: u64,
    ended: Option<(StatusCode, Notes)>,
    /// `None` where nothing is logged.
    line: Option<Box<Line>>,
}

/// How much is read ahead of a span.
const NEXT_SPAN: NonZeroU64 = NonZeroU64::new(LONGEST_SPAN as u64).expect("a span has bytes");

/// Where the body's bytes come from.
enum Outlet {
    Body(Body),
    /// What is left of a file that the kernel sends.
    Span(Arc<File>, u64, u64),
}

/// What the access log wants of the request.
struct Line {
    started: Instant,
    method: Method,
    uri: Uri,
    version: Version,
    referer: Option<HeaderValue>,
    user_agent: Option<HeaderValue>,
}

impl Outgoing {
    pub(super) fn begin<B>(request: &Request<B>, state: Arc<ConnState>, shared: Arc<Shared>) -> Self {
        let line = shared.log.is_some().then(|| {
            let field = |name: header::HeaderName| request.headers().get(name).cloned();
            Box::new(Line {
                started: state.last_event(),
                method: request.method().clone(),
                uri: request.uri().clone(),
                version: request.version(),
                referer: field(header::REFERER),
                user_agent: field(header::USER_AGENT),
            })
        });
        let http1 = request.version() < Version::HTTP_2;
        let head = *request.method() == Method::HEAD;
        Self { body: Outlet::Body(Body::Empty), state, shared, http1, head, sent: 0, ended: None, line }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn state(&self) -> &Arc<ConnState> {
        &self.state
    }

    /// Makes `reply` the response, the last of its connection if that `closes`.
    pub(super) fn finish(mut self, reply: Reply, closes: bool) -> Response<Self> {
        let Reply { response, notes } = reply;
        let (mut parts, body) = response.into_parts();
        // hyper tells lengths too, but not that of an empty body to HEAD, nor in HTTP/2.
        let has_content = !matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if (self.head || !self.http1)
            && has_content
            && let Some(length) = body.size_hint().exact()
        {
            parts.headers.insert(header::CONTENT_LENGTH, length.into());
        }
        // A client that gets a request wrong may be out of step with what follows it.
        if closes || self.http1 && parts.status == StatusCode::BAD_REQUEST {
            parts.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        self.body = match body {
            // hyper leaves the body out of the answer to HEAD in HTTP/1; in HTTP/2 that is ours to do.
            _ if self.head && !self.http1 => Outlet::Body(Body::Empty),
            // HTTP/2 frames what it sends, so there the file is read.
            Body::File(file) if self.http1 => {
                let (file, offset, length) = file.into_span();
                Outlet::Span(file, offset, length)
            }
            body => Outlet::Body(body),
        };
        self.shared.counters.response(parts.status, notes.coding, notes.refusal);
        self.ended = Some((parts.status, notes));
        Response::from_parts(parts, self)
    }

    fn poll_wire(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Result<Wire, HeaderMap>>>> {
        match &mut self.body {
            Outlet::Span(_, _, 0) => Poll::Ready(None),
            Outlet::Span(file, offset, left) => {
                let length = (*left).min(LONGEST_SPAN as u64);
                self.state.push_span(Span { file: Arc::clone(file), offset: *offset, left: length });
                *offset += length;
                *left -= length;
                if let Some(next) = NonZeroU64::new(*left) {
                    // Read ahead while this span is sent; a kernel that declines is no harm.
                    let _ = rustix::fs::fadvise(file, *offset, Some(next.min(NEXT_SPAN)), Advice::WillNeed);
                }
                Poll::Ready(Some(Ok(Ok(Wire::File(length as usize)))))
            }
            Outlet::Body(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                Poll::Ready(frame.map(|frame| frame.map(split)))
            }
        }
    }
}

fn split(frame: Frame<Bytes>) -> Result<Wire, HeaderMap> {
    match frame.into_data() {
        Ok(bytes) => Ok(Wire::Bytes(bytes)),
        Err(frame) => Err(frame.into_trailers().unwrap_or_default()),
    }
}

impl HttpBody for Outgoing {
    type Data = Wire;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Wire>>>> {
        let Some(result) = ready!(self.poll_wire(cx)) else { return Poll::Ready(None) };
        if result.is_err() {
            self.state.set_broken();
        }
        if !self.http1 {
            self.state.progressed();
        }
        Poll::Ready(Some(result.map(|frame| match frame {
            Ok(wire) => {
                self.sent += wire.remaining() as u64;
                Frame::data(wire)
            }
            Err(trailers) => Frame::trailers(trailers),
        })))
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Outlet::Body(body) => body.is_end_stream(),
            Outlet::Span(_, _, left) => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Outlet::Body(body) => body.size_hint(),
            Outlet::Span(_, _, left) => SizeHint::with_exact(*left),
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.state.end_request(self.http1);
        // Without a response the client left, or the request panicked: there is nothing to count.
        let Some((status, notes)) = &self.ended else { return };
        // A body that was cut, or that HEAD left out, says nothing of what coding gains.
        if self.sent > 0 && self.is_end_stream() {
            self.shared.counters.body(notes.coding, notes.length_before.unwrap_or(self.sent), self.sent);
        }
        if let (Some(line), Some(log)) = (&self.line, &self.shared.log) {
            log.log(&Record {
                remote: self.state.peer.ip(),
                time: SystemTime::now(),
                method: &line.method,
                target: line.uri.path_and_query().map_or("*", |target| target.as_str()).as_bytes(),
                version: line.version,
                status: *status,
                body_bytes: self.sent,
                referer: line.referer.as_ref().map(HeaderValue::as_bytes),
                user_agent: line.user_agent.as_ref().map(HeaderValue::as_bytes),
                coding: notes.coding,
                length_before: notes.length_before,
                refusal: notes.refusal,
                duration: line.started.elapsed(),
            });
        }
    }
}
