//! One connection from accept to close.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::responder::Responder;
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
    /// For now: the connection idles.
    Folded,
    /// For now, but there are requests yet to be read.
    Busy,
}

/// Serves the connection until it ends.
///
/// hyper keeps two buffers of 8 KiB for a connection, busy or not. One that has idled for a while is *folded*: hyper's half is
/// dropped, and made anew when the client speaks again. What remains is the socket and some hundred bytes of state.
pub(super) async fn serve(stream: TcpStream, state: Arc<ConnState>, shared: Arc<Shared>) {
    let mut socket = Socket::new(stream, Arc::clone(&state), &shared.limits);
    let end = loop {
        let end;
        (socket, end) = serve_http1(socket, &state, &shared).await;
        match end {
            End::Folded => {
                if let Some(verdict) = wait_folded(&socket, &state).await {
                    break End::Verdict(verdict);
                }
            }
            End::Busy => state.revoke_fold(),
            end => break end,
        }
    };
    match end {
        End::Closed if socket.turn_to_http2() => return Box::pin(serve_http2(socket, state, shared)).await,
        End::Closed => {}
        // Empty lines behind a request are no head that is late.
        End::Verdict(Verdict::LateHead) if socket.has_part_of_head() => tell(&socket, LATE_HEAD),
        End::Folded | End::Busy | End::Verdict(_) => return,
    }
    // If something is still unsent, it is a response that these bytes would end up in.
    if socket.refuses_target() && state.is_idle() {
        tell(&socket, LONG_TARGET);
    }
    if state.is_broken() {
        socket.reset_on_close();
    } else if socket.must_linger() {
        Box::pin(linger(socket)).await;
    }
}

/// Sends the last response of a connection, past hyper. A socket that does not take so few bytes at once has a client that
/// does not read.
fn tell(socket: &Socket, response: &[u8]) {
    let _ = socket.stream().try_write(response);
}

async fn serve_http1(socket: Socket, state: &Arc<ConnState>, shared: &Arc<Shared>) -> (Socket, End) {
    let service = Responder { state: Arc::clone(state), shared: Arc::clone(shared) };
    let mut connection = Box::new(shared.http1.serve_connection(TokioIo::new(socket), service));
    let mut draining = false;
    let end = poll_fn(|cx| {
        state.listen_for_verdicts(cx.waker());
        match state.verdict() {
            Verdict::None => {}
            Verdict::Fold => {
                if state.is_idle() {
                    return Poll::Ready(End::Folded);
                }
                state.revoke_fold();
            }
            Verdict::Finish => {}
            Verdict::Drain if draining => {}
            Verdict::Drain => {
                draining = true;
                Pin::new(&mut *connection).graceful_shutdown();
            }
            verdict => return Poll::Ready(End::Verdict(verdict)),
        }
        // hyper has answered a malformed request by itself; every other error is a connection that broke.
        Pin::new(&mut *connection).poll(cx).map(|result| {
            if let Err(error) = result {
                tracing::debug!(peer = %state.peer, %error, "connection ended");
            }
            End::Closed
        })
    })
    .await;
    let parts = (*connection).into_parts();
    let mut socket = parts.io.into_inner();
    // hyper yields after some pipelined requests, and may hold others when the verdict comes.
    let unread = socket.give_back(parts.read_buf);
    match end {
        End::Folded if unread => (socket, End::Busy),
        end => (socket, end),
    }
}

/// Waits until the client of a folded connection speaks or leaves, or a verdict ends the connection.
async fn wait_folded(socket: &Socket, state: &ConnState) -> Option<Verdict> {
    poll_fn(|cx| {
        state.listen_for_verdicts(cx.waker());
        match state.verdict() {
            Verdict::None | Verdict::Fold | Verdict::Finish => {
                socket.stream().poll_read_ready(cx).map(|_| {
                    state.revoke_fold();
                    None
                })
            }
            verdict => Poll::Ready(Some(verdict)),
        }
    })
    .await
}

async fn serve_http2(socket: Socket, state: Arc<ConnState>, shared: Arc<Shared>) {
    let service = Responder { state: Arc::clone(&state), shared: Arc::clone(&shared) };
    let mut connection = shared.http2.serve_connection(TokioIo::new(socket), service);
    let mut draining = false;
    poll_fn(|cx| {
        state.listen_for_verdicts(cx.waker());
        match state.verdict() {
            Verdict::None | Verdict::Fold => {}
            Verdict::Finish | Verdict::Drain if draining => {}
            Verdict::Finish | Verdict::Drain => {
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
        .max_send_buf_size(64 << 10);
    builder
}

/// Errors of `accept` that say the process or the system is out of something, and that waiting helps.
pub(super) fn is_exhaustion(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| exhausted.contains(&errno))
}
