//! The service that hyper calls for each request of a connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::Service;

use super::outgoing::Outgoing;
use super::state::{ConnState, Verdict};
use super::worker::Shared;
use crate::service::Answer;

/// The service of one connection, as hyper calls it.
pub(super) struct Responder {
    pub(super) state: Arc<ConnState>,
    pub(super) shared: Arc<Shared>,
}

/// A response: there already, as nearly all are, or coming. The first way moves less, and takes no memory.
// A box for the larger variant would cost an allocation for each response.
#[allow(clippy::large_enum_variant)]
pub(super) enum Response {
    There(Option<http::Response<Outgoing>>),
    Coming(Pin<Box<dyn Future<Output = http::Response<Outgoing>> + Send>>),
}

impl Service<Request<Incoming>> for Responder {
    type Response = http::Response<Outgoing>;
    type Error = Infallible;
    type Future = Response;

    fn call(&self, request: Request<Incoming>) -> Response {
        let number = self.state.begin_request();
        if request.version() == Version::HTTP_2 {
            self.state.progressed();
        }
        let last = number >= self.shared.limits.keepalive_requests || self.state.verdict() >= Verdict::Finish;
        let closes = last && request.version() < Version::HTTP_2;
        let outgoing = Outgoing::begin(&request, Arc::clone(&self.state), Arc::clone(&self.shared));
        let now = self.state.last_event();
        self.shared.vigil.request(now);
        match self.shared.files.answer(&request, now) {
            Answer::Done(reply) => Response::There(Some(outgoing.finish(reply, closes))),
            Answer::Store(wait) => Response::Coming(Box::pin(async move {
                let _coding = Coding::of(outgoing.state());
                let reply = outgoing.shared().files.wait(&request, now, wait).await;
                outgoing.finish(reply, closes)
            })),
        }
    }
}

/// Marks a connection as waiting for a file to be coded, however the wait ends.
struct Coding(Arc<ConnState>);

impl Coding {
    fn of(state: &Arc<ConnState>) -> Self {
        state.begin_coding();
        Self(Arc::clone(state))
    }
}

impl Drop for Coding {
    fn drop(&mut self) {
        self.0.end_coding();
    }
}

impl Future for Response {
    type Output = Result<http::Response<Outgoing>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::There(response) => Poll::Ready(Ok(response.take().expect("not polled after it is ready"))),
            Self::Coming(coming) => coming.as_mut().poll(cx).map(Ok),
        }
    }
}
