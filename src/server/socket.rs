//! The socket under hyper: framing guard, progress marks and `sendfile`.
//!
//! **Files without a copy.** hyper writes the buffers a body gives it and knows nothing of files. A [`Wire::File`] frame
//! therefore shows hyper a slice of [`STAND_IN`], a region of zeros that is never touched, and queues the real span of the file beside
//! it. hyper passes slices on to a vectored writer untouched and in order; [`Socket`] knows the region by its address and
//! sends the queued span in its place. Only HTTP/1 in the clear takes this road: HTTP/2 copies frames, so it gets bytes.
//! Where the pages of the file are not in memory the call waits for the disk, as in nginx without `aio`; the kernel is
//! asked for each next span ahead of time (see [`Outgoing`](super::outgoing::Outgoing)).

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use rustix::net::{SendAncillaryBuffer, SendFlags, sockopt};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::guard::Guard;
use super::state::{ConnState, Span};
use crate::config::Limits;

/// The longest span behind one frame.
pub(crate) const LONGEST_SPAN: usize = 1 << 20;

/// Spans of this length are worth two system calls more, to leave in full segments.
const CORK_FROM: usize = 128 << 10;

/// A response longer than this may be on its way for long after the kernel took it.
const IN_FLIGHT: usize = 32 << 10;

/// What stands for a file in hyper's buffers. It is in `.bss` and no byte of it is read, so it takes no memory.
static STAND_IN: [u8; LONGEST_SPAN] = [0; LONGEST_SPAN];

/// A buffer of a response on its way to the socket.
pub(crate) enum Wire {
    /// Bytes in memory.
    Bytes(Bytes),
    /// As many bytes of the span that was queued for this frame.
    File(usize),
}

impl Buf for Wire {
    fn remaining(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(left) => *left,
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::File(left) => &STAND_IN[..*left],
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(count),
            Self::File(left) => *left -= count,
        }
    }
}

fn is_stand_in(slice: &IoSlice<'_>) -> bool {
    !slice.is_empty() && STAND_IN.as_ptr_range().contains(&slice.as_ptr())
}

/// What a client of HTTP/2 that knows its server begins with (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Which protocol the client speaks.
#[derive(Debug)]
enum Protocol {
    /// Not known yet: what was received so far could begin the preface.
    Open(Vec<u8>),
    /// HTTP/1, its framing guarded.
    Http1(Guard),
    /// HTTP/2; what was received before that was known is still to be read.
    Http2(Vec<u8>),
}

/// An accepted connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    state: Arc<ConnState>,
    protocol: Protocol,
    longest_request_line: usize,
    /// The last read filled its buffer, so more may be waiting.
    more_to_read: bool,
    ended: bool,
    /// Bytes sent since the last were received.
    sent_since_read: usize,
    /// Bytes that were read and inspected already, to be read again.
    given_back: Bytes,
    corked: AtomicBool,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, state: Arc<ConnState>, limits: &Limits) -> Self {
        Self {
            stream,
            state,
            protocol: Protocol::Open(Vec::new()),
            // The target may take half of what the head may.
            longest_request_line: limits.head_bytes / 2,
            more_to_read: false,
            ended: false,
            sent_since_read: 0,
            given_back: Bytes::new(),
            corked: AtomicBool::new(false),
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// Takes back bytes that were read from it and not used. Whether there are any.
    pub(crate) fn give_back(&mut self, bytes: Bytes) -> bool {
        // An empty slice would still hold the buffer that it was cut from.
        self.given_back = if bytes.is_empty() { Bytes::new() } else { bytes };
        !self.given_back.is_empty()
    }

    /// Turns to HTTP/2 if reading ended because the client speaks that; nothing it sent is lost. Whether it did.
    pub(crate) fn turn_to_http2(&mut self) -> bool {
        match &mut self.protocol {
            Protocol::Open(seen) if seen.starts_with(PREFACE) => {
                self.protocol = Protocol::Http2(std::mem::take(seen));
                true
            }
            _ => false,
        }
    }

    /// Whether reading ended because a request target is longer than it may be.
    pub(crate) fn refuses_target(&self) -> bool {
        matches!(&self.protocol, Protocol::Http1(guard) if guard.refuses_target())
    }

    /// Whether a part of a request head was received.
    pub(crate) fn has_part_of_head(&self) -> bool {
        matches!(&self.protocol, Protocol::Http1(guard) if guard.has_part_of_head())
    }

    /// Whether closing now could destroy a response under way: the kernel answers bytes that nobody read with a reset, and a
    /// reset makes the client drop what it has not read yet. So it is if there are such bytes, and if they may yet come
    /// before a long response has arrived.
    pub(crate) fn must_linger(&self) -> bool {
        let mid_request = || matches!(&self.protocol, Protocol::Http1(guard) if !guard.at_boundary());
        let unread = || rustix::io::ioctl_fionread(&self.stream).is_ok_and(|bytes| bytes > 0);
        !self.ended && (self.more_to_read || self.sent_since_read > IN_FLIGHT || mid_request() || unread())
    }

    /// Makes the close a reset, which tells a client that has no length to go by that what it got is not all.
    pub(crate) fn reset_on_close(&self) {
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    fn send(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match slices.iter().position(is_stand_in) {
            None => self.send_bytes(slices, SendFlags::empty()),
            Some(0) => self.send_span(slices[0].len()),
            Some(files_at) => {
                // The head waits in the kernel for the first page of the file, and they leave in one segment.
                let head = &slices[..files_at];
                let sent = self.send_bytes(head, SendFlags::MORE)?;
                if sent < head.iter().map(|slice| slice.len()).sum() {
                    return Ok(sent);
                }
                match self.send_span(slices[files_at].len()) {
                    Ok(more) => Ok(sent + more),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(sent),
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn send_bytes(&self, slices: &[IoSlice<'_>], flags: SendFlags) -> io::Result<usize> {
        if let [slice] = slices {
            return Ok(rustix::net::send(&self.stream, slice, flags | SendFlags::NOSIGNAL)?);
        }
        let mut control = SendAncillaryBuffer::new(&mut [] as &mut [MaybeUninit<u8>]);
        Ok(rustix::net::sendmsg(&self.stream, slices, &mut control, flags | SendFlags::NOSIGNAL)?)
    }

    fn send_span(&self, length: usize) -> io::Result<usize> {
        if length >= CORK_FROM && !self.corked.load(Relaxed) {
            // Held back until the whole span is in, the bytes leave in full segments.
            sockopt::set_tcp_cork(&self.stream, true)?;
            self.corked.store(true, Relaxed);
        }
        let sent = self.send_file(length)?;
        if sent == length && self.corked.load(Relaxed) {
            sockopt::set_tcp_cork(&self.stream, false)?;
            self.corked.store(false, Relaxed);
        }
        Ok(sent)
    }

    fn send_file(&self, length: usize) -> io::Result<usize> {
        let send = |span: &mut Span| {
            let length = length.min(usize::try_from(span.left).unwrap_or(usize::MAX));
            let sent = rustix::fs::sendfile(&self.stream, &*span.file, Some(&mut span.offset), length)?;
            if sent == 0 {
                // The head promised more than the file now has; the only honest end is a broken one.
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file shrank while it was sent",
                ));
            }
            span.left -= sent as u64;
            Ok(sent)
        };
        self.state.with_span(send).expect("each stand-in has its span queued")
    }
}

/// Reads the first bytes of a connection. Where they could begin the preface of HTTP/2, reads on to the first byte that
/// differs, and then gives them all, or to its end, which is an error: HTTP/1 ends here.
fn poll_opening(
    stream: &mut TcpStream,
    seen: &mut Vec<u8>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    let before = buf.filled().len();
    if seen.is_empty() {
        ready!(Pin::new(&mut *stream).poll_read(cx, buf))?;
        let received = &buf.filled()[before..];
        if received.is_empty() || received[0] != PREFACE[0] {
            return Poll::Ready(Ok(()));
        }
        seen.extend_from_slice(received);
        buf.set_filled(before);
    }
    loop {
        if seen.starts_with(PREFACE) {
            return Poll::Ready(Err(io::Error::other("the client speaks HTTP/2")));
        }
        if PREFACE.starts_with(seen) {
            let mut space = [0; PREFACE.len()];
            let mut rest = ReadBuf::new(&mut space[seen.len()..]);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut rest))?;
            seen.extend_from_slice(rest.filled());
            if !rest.filled().is_empty() {
                continue;
            }
        }
        buf.put_slice(seen);
        return Poll::Ready(Ok(()));
    }
}

fn long_target() -> io::Error {
    io::Error::other("the request target is too long")
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        if !this.given_back.is_empty() {
            let now = this.given_back.split_to(this.given_back.len().min(buf.remaining()));
            buf.put_slice(&now);
            return Poll::Ready(Ok(()));
        }
        match &mut this.protocol {
            Protocol::Http1(guard) if guard.refuses_target() => return Poll::Ready(Err(long_target())),
            Protocol::Open(seen) => {
                ready!(poll_opening(&mut this.stream, seen, cx, buf))?;
                this.protocol = Protocol::Http1(Guard::new(this.longest_request_line));
            }
            Protocol::Http2(seen) if !seen.is_empty() => {
                let now = seen.len().min(buf.remaining());
                buf.put_slice(&seen[..now]);
                seen.drain(..now);
            }
            Protocol::Http1(_) | Protocol::Http2(_) => ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?,
        }
        this.more_to_read = buf.remaining() == 0;
        this.sent_since_read = 0;
        this.ended = buf.filled().len() == before;
        // In HTTP/2 a read may be a PING and proves nothing; there requests and frames of bodies count as progress.
        let Protocol::Http1(guard) = &mut this.protocol else { return Poll::Ready(Ok(())) };
        let fair = guard.inspect(&mut buf.filled_mut()[before..]);
        this.state.received(guard.mid_head());
        if guard.refuses_target() {
            // What came before the long target is still to be answered.
            buf.set_filled(before + fair);
            return Poll::Ready(if fair > 0 { Ok(()) } else { Err(long_target()) });
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            let Poll::Ready(ready) = this.stream.poll_write_ready(cx) else {
                this.state.set_write_blocked(true);
                return Poll::Pending;
            };
            ready?;
            match this.stream.try_io(Interest::WRITABLE, || this.send(slices)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    this.state.set_write_blocked(false);
                    this.sent_since_read += *result.as_ref().unwrap_or(&0);
                    return Poll::Ready(result);
                }
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Nothing: the close that follows says the same in one call, and `linger` half-closes where that is not enough. hyper asks
    /// for this also when reading failed because the client speaks HTTP/2, and then the socket is needed yet.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
