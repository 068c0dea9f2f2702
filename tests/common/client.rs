//! A client that sends bytes as given and reads exactly one response at a time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::reply::{Framing, Reply};
use super::{Server, patience};

/// One connection.
pub(crate) struct Conn {
    stream: TcpStream,
    /// Bytes read and not yet part of a response.
    ahead: Vec<u8>,
    sent: Vec<u8>,
}

/// What was on the wire when no response could be read.
type Broken = String;

impl Conn {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(patience())).expect("a time limit");
        stream.set_write_timeout(Some(patience())).expect("a time limit");
        stream.set_nodelay(true).expect("no delay");
        Self { stream, ahead: Vec::new(), sent: Vec::new() }
    }

    /// Connects from a given local address, such as 127.0.0.2.
    #[track_caller]
    pub(crate) fn from(local: SocketAddr, server: &Server) -> Self {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
        socket.bind(&local.into()).expect("bind");
        socket.connect(&server.address().into()).expect("the server accepts connections");
        Self::new(socket.into())
    }

    /// Sends bytes.
    #[track_caller]
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).expect("the server takes what is sent");
    }

    /// Sends bytes to a server that may have closed already.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.sent.extend_from_slice(bytes.as_ref());
        self.stream.write_all(bytes.as_ref())
    }

    /// Sends a request without a body and reads its response.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, target: &str, fields: &[&str]) -> Reply {
        self.sent.clear();
        self.send(request(method, target, fields));
        self.read_reply(method)
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&self) {
        // The peer may have closed first.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Reads one response; `method` is the request's, since a response to HEAD has no body.
    #[track_caller]
    pub(crate) fn read_reply(&mut self, method: &str) -> Reply {
        match self.try_read_reply(method) {
            Ok(reply) => reply,
            Err(broken) => panic!("no response: {broken}\nto: {}", self.sent.escape_ascii()),
        }
    }

    /// Reads one response, or says what came instead.
    pub(crate) fn try_read_reply(&mut self, method: &str) -> Result<Reply, Broken> {
        let end = self.fill_to(|bytes| bytes.windows(4).position(|four| four == b"\r\n\r\n"))?;
        let head: Vec<u8> = self.ahead.drain(..end + 4).collect();
        let mut reply = Reply::parse(&head, &self.sent);
        (reply.body, reply.framing) = match reply.announced(method) {
            Framing::None => (Vec::new(), Framing::None),
            Framing::Length(len) => (self.take(len)?, Framing::Length(len)),
            Framing::Chunked => (self.take_chunked(&mut reply)?, Framing::Chunked),
            Framing::Close => (self.read_to_end().0, Framing::Close),
        };
        Ok(reply)
    }

    /// Reads whatever comes until the server closes; `false` where it ended in an error such as a reset.
    pub(crate) fn read_to_end(&mut self) -> (Vec<u8>, bool) {
        let mut rest = std::mem::take(&mut self.ahead);
        let clean = self.stream.read_to_end(&mut rest).is_ok();
        (rest, clean)
    }

    /// Reads at least `len` bytes and leaves them unparsed.
    #[track_caller]
    pub(crate) fn read_some(&mut self, len: usize) -> Vec<u8> {
        self.take(len).unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Fails unless the server closes within `limit` and sends nothing more.
    #[track_caller]
    pub(crate) fn closed_within(&mut self, limit: Duration, rule: &str) {
        let start = Instant::now();
        self.stream.set_read_timeout(Some(limit)).expect("a time limit");
        let mut byte = [0];
        match self.ahead.first().map(|_| Ok(1)).unwrap_or_else(|| self.stream.read(&mut byte)) {
            Ok(0) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Ok(_) => panic!("{rule}: the server sent more where it should have closed"),
            Err(error) => panic!("{rule}: not closed after {:?}: {error}", start.elapsed()),
        }
        self.stream.set_read_timeout(Some(patience())).expect("a time limit");
    }

    /// Sets how long a read waits.
    pub(crate) fn patience(&self, limit: Duration) {
        self.stream.set_read_timeout(Some(limit)).expect("a time limit");
    }

    /// A body in chunks; trailers are added to the response's fields.
    fn take_chunked(&mut self, reply: &mut Reply) -> Result<Vec<u8>, Broken> {
        let mut body = Vec::new();
        loop {
            let line = self.take_line()?;
            let size = line.split(|&b| b == b';').next().unwrap_or_default();
            let size = std::str::from_utf8(size).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok());
            let size = size.ok_or_else(|| format!("a bad chunk size: {}", line.escape_ascii()))?;
            if size == 0 {
                break;
            }
            body.extend(self.take(size)?);
            let end = self.take(2)?;
            if end != b"\r\n" {
                return Err(format!("a chunk ends in {}", end.escape_ascii()));
            }
        }
        loop {
            let line = self.take_line()?;
            if line.is_empty() {
                return Ok(body);
            }
            reply.push_field(&line);
        }
    }

    fn take_line(&mut self) -> Result<Vec<u8>, Broken> {
        let end = self.fill_to(|bytes| bytes.windows(2).position(|two| two == b"\r\n"))?;
        let mut line: Vec<u8> = self.ahead.drain(..end + 2).collect();
        line.truncate(end);
        Ok(line)
    }

    fn take(&mut self, len: usize) -> Result<Vec<u8>, Broken> {
        self.fill_to(|bytes| (bytes.len() >= len).then_some(len))?;
        Ok(self.ahead.drain(..len).collect())
    }

    /// Reads until `found` finds what it looks for in the bytes that are ahead.
    fn fill_to(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> Result<usize, Broken> {
        let mut buffer = [0; 64 << 10];
        loop {
            if let Some(at) = found(&self.ahead) {
                return Ok(at);
            }
            let why = match self.stream.read(&mut buffer) {
                Ok(0) => "the server closed".into(),
                Ok(n) => {
                    self.ahead.extend_from_slice(&buffer[..n]);
                    continue;
                }
                // Emulators let signals of their own through.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error.to_string(),
            };
            let shown = &self.ahead[..self.ahead.len().min(400)];
            return Err(format!("{why} after {} bytes: {}", self.ahead.len(), shown.escape_ascii()));
        }
    }
}

/// The bytes of a request without a body.
pub(crate) fn request(method: &str, target: &str, fields: &[&str]) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
    for field in fields {
        head.push_str(field);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}
