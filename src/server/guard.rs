//! Strict framing of HTTP/1 requests, checked on the bytes as they come off the socket.
//!
//! hyper reads a few shapes leniently that RFC 9112 lets a server reject and that request smuggling lives on: lines ended by
//! a bare LF, `Content-Length` beside `Transfer-Encoding`, a repeated length. [`Guard`] follows the framing of the
//! stream (head, then a body by length or by chunks, then the next head) and, at the first offence, overwrites what follows
//! with NUL. NUL is valid in neither a head nor a chunk line, so hyper's parser stops there, answers 400 and closes: no second
//! responder is needed, and nothing behind the offence is ever read as a request.
//!
//! A line is judged when its LF arrives. What is kept between reads is the beginning of an unfinished line.

/// A line of a head longer than this is not kept for judging; a framing field must be shorter.
const LONGEST_KEPT: usize = 256;

/// Where the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a request line.
    RequestLine,
    /// In the fields of a head.
    Fields,
    /// In a body of known length: bytes to come.
    Body(u64),
    /// In the line with a chunk's size.
    ChunkSize,
    /// In a chunk: bytes to come, its closing CRLF included.
    Chunk(u64),
    /// In the trailer section.
    Trailers,
    /// An offence was seen.
    Poisoned,
    /// The request line is longer than it may be.
    LongRequestLine,
}

/// Follows the framing of one connection.
#[derive(Debug)]
pub(crate) struct Guard {
    state: State,
    /// The line so far, where it began in an earlier read.
    held: Vec<u8>,
    /// Whether any byte of the present line was seen in an earlier read.
    in_line: bool,
    /// Whether empty lines came where a request line is due.
    blank: bool,
    length: Option<u64>,
    chunked: bool,
    /// Bytes of the request line seen in earlier reads.
    line_bytes: usize,
    longest_request_line: usize,
}

impl Guard {
    pub(crate) fn new(longest_request_line: usize) -> Self {
        Self {
            state: State::RequestLine,
            held: Vec::new(),
            in_line: false,
            blank: false,
            length: None,
            chunked: false,
            line_bytes: 0,
            longest_request_line,
        }
    }

    /// Whether a request line was longer than it may be (414), which ends all reading.
    pub(crate) fn refuses_target(&self) -> bool {
        self.state == State::LongRequestLine
    }

    /// Whether a part of a head, but not all of it, was received.
    pub(crate) fn mid_head(&self) -> bool {
        match self.state {
            State::RequestLine => self.in_line || self.blank,
            State::Fields => true,
            _ => false,
        }
    }

    /// Whether what was received ends in a part of a head that is more than empty lines.
    pub(crate) fn has_part_of_head(&self) -> bool {
        self.in_line || self.state == State::Fields
    }

    /// Whether all that was received are whole requests.
    pub(crate) fn at_boundary(&self) -> bool {
        self.state == State::RequestLine && !self.in_line
    }

    /// Passes newly received bytes; an offence turns what follows it into NUL. Returns how many bytes may be read: all of
    /// them, or those before a request line that is too long.
    pub(crate) fn inspect(&mut self, received: &mut [u8]) -> usize {
        let mut at = 0;
        while at < received.len() {
            let rest = &received[at..];
            at += match self.state {
                State::Poisoned | State::LongRequestLine => {
                    received[at..].fill(0);
                    return received.len();
                }
                State::Body(left) => self.skip(left, rest.len(), State::Body, State::RequestLine),
                State::Chunk(left) => self.skip(left, rest.len(), State::Chunk, State::ChunkSize),
                State::RequestLine | State::Fields | State::ChunkSize | State::Trailers => {
                    let end = memchr::memchr(b'\n', rest);
                    if self.is_long(end.unwrap_or(rest.len())) {
                        self.state = State::LongRequestLine;
                        return at;
                    }
                    let Some(end) = end else {
                        self.hold(rest);
                        return received.len();
                    };
                    if !self.line(&rest[..end]) {
                        self.state = State::Poisoned;
                        received[at + end..].fill(0);
                        return received.len();
                    }
                    end + 1
                }
            };
        }
        received.len()
    }

    fn skip(&mut self, left: u64, there: usize, same: fn(u64) -> State, next: State) -> usize {
        let taken = left.min(there as u64);
        self.state = if taken == left { next } else { same(left - taken) };
        taken as usize
    }

    /// Whether `more` bytes make a request line longer than it may be.
    fn is_long(&mut self, more: usize) -> bool {
        if self.state != State::RequestLine {
            return false;
        }
        self.line_bytes += more;
        self.line_bytes > self.longest_request_line
    }

    fn hold(&mut self, part: &[u8]) {
        self.in_line = true;
        let room = LONGEST_KEPT.saturating_sub(self.held.len());
        self.held.extend_from_slice(&part[..part.len().min(room)]);
        // The last byte tells whether the line ends in CRLF, so it is kept whatever the length.
        if part.len() > room
            && let (Some(kept), Some(&last)) = (self.held.last_mut(), part.last())
        {
            *kept = last;
        }
    }

    /// Judges the line that `end` (the bytes before its LF) completes, and moves on; false is an offence.
    fn line(&mut self, end: &[u8]) -> bool {
        if !self.in_line {
            return self.judge(end);
        }
        self.hold(end);
        let mut line = std::mem::take(&mut self.held);
        let fair = self.judge(&line);
        line.clear();
        self.held = line;
        self.in_line = false;
        fair
    }

    fn judge(&mut self, line: &[u8]) -> bool {
        self.line_bytes = 0;
        let Some((b'\r', line)) = line.split_last() else { return false };
        match self.state {
            State::RequestLine => {
                // Empty lines before a request line are skipped (RFC 9112 §2.2).
                self.blank = line.is_empty();
                if !self.blank {
                    self.state = State::Fields;
                }
                true
            }
            State::Fields if line.is_empty() => self.end_of_head(),
            State::Fields => self.field(line),
            State::ChunkSize => self.chunk_size(line),
            State::Trailers => {
                if line.is_empty() {
                    self.state = State::RequestLine;
                }
                true
            }
            State::Body(_) | State::Chunk(_) | State::Poisoned | State::LongRequestLine => {
                unreachable!("no lines in this state")
            }
        }
    }

    fn field(&mut self, line: &[u8]) -> bool {
        // Only two fields bear on framing; their first letters let nearly every other line pass at once.
        let fair = match line[0] | 0x20 {
            b'c' => value_of(line, b"content-length").map(|value| self.content_length(value)),
            b't' => value_of(line, b"transfer-encoding").map(|value| self.transfer_encoding(value)),
            _ => None,
        };
        // A framing field that may have been cut in `hold` cannot be judged.
        fair.is_none_or(|fair| fair && line.len() + 1 < LONGEST_KEPT)
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> bool {
        let first = !std::mem::replace(&mut self.chunked, true);
        first && value.eq_ignore_ascii_case(b"chunked")
    }

    fn content_length(&mut self, value: &[u8]) -> bool {
        if self.length.is_some() || value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return false;
        }
        self.length = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        self.length.is_some()
    }

    fn end_of_head(&mut self) -> bool {
        let length = self.length.take();
        let chunked = std::mem::take(&mut self.chunked);
        if chunked && length.is_some() {
            return false;
        }
        self.state = match length {
            _ if chunked => State::ChunkSize,
            None | Some(0) => State::RequestLine,
            Some(length) => State::Body(length),
        };
        true
    }

    fn chunk_size(&mut self, line: &[u8]) -> bool {
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (size, extension) = line.split_at(digits);
        // 15 digits fit in 60 bits: neither the value nor the two bytes added below can overflow.
        if size.is_empty() || size.len() > 15 || !is_chunk_extension(extension) {
            return false;
        }
        let size = size.iter().fold(0, |sum, &digit| sum << 4 | u64::from(hex(digit)));
        self.state = if size == 0 { State::Trailers } else { State::Chunk(size + 2) };
        true
    }
}

/// What a line may have behind a chunk's size: nothing, or `;` and no control character (RFC 9112 §7.1.1).
fn is_chunk_extension(bytes: &[u8]) -> bool {
    let tail = bytes.trim_ascii_start();
    (tail.is_empty() && bytes.is_empty() || tail.first() == Some(&b';'))
        && tail.iter().all(|&byte| byte == b'\t' || byte >= b' ' && byte != 0x7f)
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// The trimmed value of the field in `line` if its name is `name` (lower case), however the colon is spaced.
fn value_of<'line>(line: &'line [u8], name: &[u8]) -> Option<&'line [u8]> {
    let (field, value) = line.split_at(memchr::memchr(b':', line)?);
    field.trim_ascii().eq_ignore_ascii_case(name).then(|| value[1..].trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes as hyper will see them, fed in pieces of `step`.
    fn seen(request: &[u8], step: usize) -> Vec<u8> {
        let mut guard = Guard::new(8192);
        let mut bytes = request.to_vec();
        for piece in bytes.chunks_mut(step) {
            guard.inspect(piece);
        }
        bytes
    }

    #[track_caller]
    fn passes(request: &[u8]) {
        for step in 1..=request.len() {
            assert_eq!(seen(request, step), request, "in pieces of {step}");
        }
    }

    /// Asserts that the byte at `offence`, and each after it, becomes NUL, and none before.
    #[track_caller]
    fn poisoned_at(request: &[u8], offence: usize) {
        for step in 1..=request.len() {
            let seen = seen(request, step);
            assert_eq!(seen[..offence], request[..offence], "in pieces of {step}");
            assert!(seen[offence..].iter().all(|&byte| byte == 0), "in pieces of {step}: {seen:?}");
        }
    }

    fn find(request: &[u8], what: &[u8]) -> usize {
        request.windows(what.len()).position(|window| window == what).unwrap()
    }

    #[test]
    fn pipelined_requests_pass() {
        passes(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\nTe: x\r\n\r\n");
    }

    #[test]
    fn bodies_are_not_read_as_lines() {
        passes(b"POST / HTTP/1.1\r\ncontent-length: 6\r\n\r\na\nb\nc\nGET / HTTP/1.1\r\n\r\n");
        passes(b"POST / HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\n\r\n3;a=b\r\na\nb\r\n0\r\nT: x\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn bare_line_feeds_are_refused() {
        let request = b"GET / HTTP/1.1\nHost: a\r\n\r\n";
        poisoned_at(request, find(request, b"\n"));
        let request = b"GET / HTTP/1.1\r\nHost: a\n\r\n";
        poisoned_at(request, find(request, b"a\n") + 1);
        let request = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n";
        poisoned_at(request, find(request, b"1\na") + 1);
    }

    #[test]
    fn length_beside_chunks_is_refused() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc";
        poisoned_at(request, find(request, b"\nabc"));
    }

    #[test]
    fn two_lengths_are_refused() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc";
        poisoned_at(request, find(request, b"3\r\n\r") + 2);
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3, 3\r\n\r\nabc";
        poisoned_at(request, find(request, b"3\r\n\r") + 2);
        let request = b"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc";
        poisoned_at(request, find(request, b"3\r\n\r") + 2);
    }

    #[test]
    fn codings_of_the_transfer_other_than_chunked_are_refused() {
        for value in ["gzip, chunked", "chunked, identity", "xchunked", "chunked;a=b"] {
            let request =
                format!("POST / HTTP/1.1\r\nTransfer-Encoding: {value}\r\n\r\n0\r\n\r\n").into_bytes();
            poisoned_at(&request, find(&request, b"\r\n\r\n") + 1);
        }
    }

    #[test]
    fn bad_chunk_sizes_are_refused() {
        for size in ["", "g", "-1", "0x1", "1 ", "1 x", "1;a\x01", "1000000000000000"] {
            let request =
                format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n").into_bytes();
            poisoned_at(&request, request.len() - 1);
        }
    }

    #[test]
    fn long_lines_keep_their_end() {
        let mut request = b"GET / HTTP/1.1\r\nX: ".to_vec();
        request.extend([b'x'; 1000]);
        request.extend(b"\r\nHost: a\r\n\r\n");
        for step in [1, 7, 300, 2000] {
            assert_eq!(seen(&request, step), request);
        }
    }

    #[test]
    fn framing_fields_too_long_to_keep_are_refused() {
        let request = format!("POST / HTTP/1.1\r\nContent-Length: {:0300}\r\n\r\nabcde", 5).into_bytes();
        poisoned_at(&request, find(&request, b"\r\n\r\n") + 1);
    }

    #[test]
    fn long_request_lines_are_noted_however_they_come() {
        for (length, refused) in [(100, false), (101, true), (1000, true)] {
            for step in [1, 7, 2000] {
                let mut guard = Guard::new(100);
                let mut line = vec![b'a'; length - 1];
                line.extend(b"\r\n");
                line.chunks_mut(step).for_each(|piece| {
                    guard.inspect(piece);
                });
                assert_eq!(guard.refuses_target(), refused, "{length} bytes in pieces of {step}");
            }
        }
    }

    #[test]
    fn boundaries_are_known() {
        let mut guard = Guard::new(8192);
        assert!(guard.at_boundary() && !guard.mid_head());
        guard.inspect(&mut b"GET / HT".to_vec());
        assert!(!guard.at_boundary() && guard.mid_head());
        guard.inspect(&mut b"TP/1.1\r\nContent-Length: 2\r\n\r\n".to_vec());
        assert!(!guard.at_boundary() && !guard.mid_head());
        guard.inspect(&mut b"ab".to_vec());
        assert!(guard.at_boundary());
    }
}
