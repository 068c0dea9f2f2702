//! One connection from accept to close.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::{HeaderValue, Request, Response, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::outgoing::Outgoing;
use super::socket::Socket;
use super::state::{ConnState, Verdict};
use super::worker::Shared;

/// How long a connection that closes with requests unread goes on reading, so that the client gets the answer.
const LINGER: Duration = Duration::from_secs(5);

/// What a client that is late with its request head is told (RFC 9110 §15.5.9).
const LATE_HEAD: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// What a client whose request target is too long is told (RFC 9110 §15.5.15).
const LONG_TARGET: &[u8] = b"HTTP/1.1 414 URI Too Long\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Why HTTP/1 ended.
enum End {
    /// By itself; what is left of the socket may have to linger.
    Closed,
    /// By a verdict.
    Verdict(Verdict),
}

/// Serves the connection until it ends.
pub(super) async fn serve(stream: TcpStream, state: Arc<ConnState>, shared: Arc<Shared>) {
    let socket = Socket::new(stream, Arc::clone(&state), &shared.limits);
    let (mut socket, end) = serve_http1(socket, &state, &shared).await;
    match end {
        End::Closed => match socket.into_http2() {
            Ok(socket) => return Box::pin(serve_http2(socket, state, shared)).await,
            Err(http1) => socket = http1,
        },
        End::Verdict(Verdict::LateHead) => tell(&socket, LATE_HEAD),
        End::Verdict(_) => return,
    }
    if socket.refuses_target() {
        tell(&socket, LONG_TARGET);
    }
    if socket.must_linger() {
        Box::pin(linger(socket)).await;
    }
}

/// Sends the last response of a connection, past hyper. A socket that does not take so few bytes at once has a client that
/// does not read.
fn tell(socket: &Socket, response: &[u8]) {
    let _ = socket.stream().try_write(response);
}

async fn serve_http1(socket: Socket, state: &Arc<ConnState>, shared: &Arc<Shared>) -> (Socket, End) {
    let service = service_fn(|request| respond(request, Arc::clone(state), Arc::clone(shared)));
    let mut connection = shared.http1.serve_connection(TokioIo::new(socket), service);
    let mut draining = false;
    let end = poll_fn(|cx| {
        state.listen_for_verdicts(cx.waker());
        match state.verdict() {
            Verdict::None => {}
            Verdict::Drain if draining => {}
            Verdict::Drain => {
                draining = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            verdict => return Poll::Ready(End::Verdict(verdict)),
        }
        // hyper has answered a malformed request by itself; every other error is a connection that broke.
        Pin::new(&mut connection).poll(cx).map(|result| {
            if let Err(error) = result {
                tracing::debug!(peer = %state.peer, %error, "connection ended");
            }
            End::Closed
        })
    })
    .await;
    (connection.into_parts().io.into_inner(), end)
}

async fn serve_http2(socket: Socket, state: Arc<ConnState>, shared: Arc<Shared>) {
    let service = {
        let (state, shared) = (Arc::clone(&state), Arc::clone(&shared));
        service_fn(move |request| respond(request, Arc::clone(&state), Arc::clone(&shared)))
    };
    let mut connection = shared.http2.serve_connection(TokioIo::new(socket), service);
    let mut draining = false;
    poll_fn(|cx| {
        state.listen_for_verdicts(cx.waker());
        match state.verdict() {
            Verdict::None => {}
            Verdict::Drain if draining => {}
            Verdict::Drain => {
                draining = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            Verdict::LateHead | Verdict::Cut => return Poll::Ready(()),
        }
        Pin::new(&mut connection).poll(cx).map(|result| {
            if let Err(error) = result {
                tracing::debug!(peer = %state.peer, %error, "connection ended");
            }
        })
    })
    .await;
}

async fn respond(
    request: Request<Incoming>,
    state: Arc<ConnState>,
    shared: Arc<Shared>,
) -> Result<Response<Outgoing>, Infallible> {
    let number = state.begin_request();
    let outgoing = Outgoing::begin(&request, state, shared);
    let http1 = request.version() < Version::HTTP_2;
    let enough = number >= outgoing.shared().limits.keepalive_requests;
    let reply = outgoing.shared().files.answer(&request, outgoing.state().last_event()).await;
    let mut response = outgoing.finish(reply);
    // A client that gets a request wrong may be out of step with what follows it.
    if http1 && (enough || response.status() == StatusCode::BAD_REQUEST) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Tells the client that no more comes, and reads what it still sends for a while, so that it is not answered by a reset that would
/// destroy the response on its way.
async fn linger(socket: Socket) {
    let mut stream = socket.into_stream();
    let until = Instant::now() + LINGER;
    let _ = rustix::net::shutdown(&stream, rustix::net::Shutdown::Write);
    let mut nowhere = [0; 4096];
    let drain = async { while matches!(stream.read(&mut nowhere).await, Ok(1..)) {} };
    let _ = tokio::time::timeout_at(until.into(), drain).await;
}

/// HTTP/1 as it is spoken here.
pub(super) fn http1(limits: &crate::config::Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        // A client may close its sending half behind its last request.
        .half_close(true)
        .max_buf_size(limits.head_bytes.max(8192))
        .max_header_size(limits.head_bytes)
        .max_headers(limits.head_fields);
    builder
}

/// HTTP/2 as it is spoken here.
pub(super) fn http2(limits: &crate::config::Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.h2_streams)
        .max_pending_accept_reset_streams(limits.h2_pending_resets)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_send_buf_size(64 << 10)
        .keep_alive_interval(limits.stall_timeout)
        .keep_alive_timeout(limits.stall_timeout);
    builder
}

/// Errors of `accept` that say the process or the system is out of something, and that waiting helps.
pub(super) fn is_exhaustion(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| exhausted.contains(&errno))
}
