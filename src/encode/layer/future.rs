//! From the service's response to the coded one.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::header::CONTENT_LENGTH;
use http::{Response, StatusCode, response};
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::task;

use super::Options;
use super::body::CompressBody;
use super::plan::{Asked, Plan};
use crate::encode::body::{BoxError, Encoded};
use crate::encode::peek::{Peeked, Seen};
use crate::encode::{Coding, Effort, cost, encode_whole, pool};
use crate::headers::{mark_coded, vary_by_accept_encoding};
use crate::policy::Refusal;

/// How often a source that has nothing ready may let the other tasks run before the head is sent without knowing more.
const GRACE_TURNS: u8 = 3;

pin_project! {
    /// The response of [`Compress`](super::Compress), as long as it is not there.
    pub struct ResponseFuture<F, B>
    where
        B: Body,
    {
        #[pin]
        inner: F,
        asked: Asked,
        options: Arc<Options>,
        reading: Option<Reading<B>>,
    }
}

/// A response that is to be coded, while its body is read ahead.
struct Reading<B: Body> {
    parts: response::Parts,
    body: Peeked<B>,
    coding: Coding,
    effort: Effort,
    plain_forbidden: bool,
    min_length: usize,
    /// Turns that the source may yet take.
    grace: u8,
}

impl<F, B: Body> ResponseFuture<F, B> {
    pub(super) fn new(inner: F, asked: Asked, options: Arc<Options>) -> Self {
        Self { inner, asked, options, reading: None }
    }
}

impl<F, B, E> Future for ResponseFuture<F, B>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<CompressBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.reading.is_none() {
            let (mut parts, body) = ready!(this.inner.poll(cx))?.into_parts();
            match this.asked.plan(&mut parts, &body, this.options) {
                Plan::Pass => {
                    return Poll::Ready(Ok(Response::from_parts(parts, CompressBody::untouched(body))));
                }
                Plan::Plain(refusal) => {
                    parts.extensions.insert(refusal);
                    return Poll::Ready(Ok(Response::from_parts(parts, CompressBody::untouched(body))));
                }
                Plan::NotAcceptable => return Poll::Ready(Ok(not_acceptable())),
                Plan::Code { coding, .. } if this.asked.head_only && body.size_hint().exact() == Some(0) => {
                    mark_coded(&mut parts.headers, coding);
                    return Poll::Ready(Ok(Response::from_parts(parts, CompressBody::empty())));
                }
                Plan::Code { coding, plain_forbidden } => {
                    let settings = &this.options.settings;
                    let min_length = if plain_forbidden { 1 } else { settings.min_length };
                    *this.reading = Some(Reading {
                        parts,
                        body: Peeked::new(body),
                        coding,
                        effort: Effort::of(settings, coding),
                        plain_forbidden,
                        min_length: usize::try_from(min_length).unwrap_or(usize::MAX),
                        grace: GRACE_TURNS,
                    });
                }
            }
        }
        let Some(reading) = this.reading else { return Poll::Pending };
        let seen = ready!(reading.poll_seen(cx));
        let Some(reading) = this.reading.take() else { return Poll::Pending };
        let response = reading.respond(seen);
        Poll::Ready(Ok(if this.asked.head_only { without_body(response) } else { response }))
    }
}

impl<B> Reading<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    /// Reads ahead, while the source is ready, until it is clear what the body is.
    fn poll_seen(&mut self, cx: &mut Context<'_>) -> Poll<Seen> {
        let enough = self.whole_limit().max(self.min_length);
        if self.body.size_hint().exact().is_some_and(|len| len > enough as u64) {
            return Poll::Ready(Seen::Part);
        }
        let polled = self.body.poll_peek(cx, enough);
        if polled.is_ready() {
            return polled;
        }
        if self.grace == 0 {
            // The client may be waiting for the head, or for the little there is.
            return Poll::Ready(Seen::Part);
        }
        self.grace -= 1;
        // Wakes the task once the others had their turn, and perhaps gave something to read.
        let _ = pin!(task::yield_now()).poll(cx);
        Poll::Pending
    }

    fn respond(self, seen: Seen) -> Response<CompressBody<B>> {
        let len = self.body.front_len();
        match seen {
            Seen::Whole if len == 0 => self.plain(Refusal::Empty),
            Seen::Whole if len < self.min_length => self.plain(Refusal::TooShort),
            Seen::Whole if len <= self.whole_limit() => self.coded_whole(),
            Seen::Whole | Seen::Part => self.coded_stream(),
        }
    }

    fn plain(mut self, refusal: Refusal) -> Response<CompressBody<B>> {
        self.parts.extensions.insert(refusal);
        Response::from_parts(self.parts, CompressBody::read(self.body))
    }

    fn coded_whole(mut self) -> Response<CompressBody<B>> {
        let plain = self.body.front();
        let coded = match encode_whole(self.coding, self.effort, plain) {
            Ok(coded) if coded.len() < plain.len() || self.plain_forbidden => coded,
            Ok(_) => return self.plain(Refusal::NoGain),
            Err(error) => return self.failed(&error),
        };
        self.body.replace_front(coded);
        mark_coded(&mut self.parts.headers, self.coding);
        Response::from_parts(self.parts, CompressBody::read(self.body))
    }

    fn coded_stream(mut self) -> Response<CompressBody<B>> {
        let encoder = pool::take(self.coding, self.effort).and_then(|mut encoder| {
            encoder.begin(self.body.size_hint().exact())?;
            Ok(encoder)
        });
        match encoder {
            Ok(encoder) => {
                mark_coded(&mut self.parts.headers, self.coding);
                Response::from_parts(self.parts, CompressBody::coded(Encoded::new(self.body, encoder)))
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Without memory for an encoder the response goes out plain.
    fn failed(self, error: &io::Error) -> Response<CompressBody<B>> {
        tracing::error!(coding = self.coding.token(), %error, "a response could not be coded");
        Response::from_parts(self.parts, CompressBody::read(self.body))
    }

    /// The longest body that is coded in one call, before its head is sent.
    fn whole_limit(&self) -> usize {
        cost::step(self.coding, self.effort).unwrap_or_default()
    }
}

/// The answer to HEAD: what GET would have sent, with the length, if that is known, and without the body.
fn without_body<B>(response: Response<CompressBody<B>>) -> Response<CompressBody<B>>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = response.into_parts();
    if let Some(len) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| len.into());
    }
    Response::from_parts(parts, CompressBody::empty())
}

/// 406 (RFC 9110, section 15.5.7): a client that forbids identity can read no explanation.
fn not_acceptable<B: Body>() -> Response<CompressBody<B>> {
    let mut response = Response::new(CompressBody::empty());
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    vary_by_accept_encoding(response.headers_mut());
    response
}
