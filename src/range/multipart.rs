//! The body of a 206 with several parts: `multipart/byteranges` (RFC 9110 §14.6, RFC 2046 §5.1).

use std::collections::hash_map::RandomState;
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use http::HeaderValue;

use super::content_range;

/// What a multipart body consists of, ready to be walked: each head, then the bytes of its range, at last the tail.
#[derive(Clone, Debug)]
pub struct Multipart {
    /// What precedes a part, and the part.
    pub parts: Vec<(Bytes, Range<u64>)>,
    /// What follows the last part.
    pub tail: Bytes,
    /// `Content-Type`, which names the boundary.
    pub content_type: HeaderValue,
}

impl Multipart {
    /// Plans the body for ranges that lie within a representation of `len` bytes.
    pub fn new(ranges: &[Range<u64>], len: u64, content_type: Option<&HeaderValue>) -> Self {
        // 128 random bits: no file holds them by chance, and nobody can write a file that does.
        let random = || RandomState::new().build_hasher().finish();
        let boundary = format!("{:016x}{:016x}", random(), random());
        Self::with_boundary(&boundary, ranges, len, content_type)
    }

    fn with_boundary(
        boundary: &str,
        ranges: &[Range<u64>],
        len: u64,
        content_type: Option<&HeaderValue>,
    ) -> Self {
        let mut text = BytesMut::with_capacity((ranges.len() + 1) * 192);
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let line_break = if parts.is_empty() { "" } else { "\r\n" };
            put(&mut text, &[line_break.as_bytes(), b"--", boundary.as_bytes(), b"\r\n"]);
            if let Some(content_type) = content_type {
                put(&mut text, &[b"Content-Type: ", content_type.as_bytes(), b"\r\n"]);
            }
            put(&mut text, &[b"Content-Range: ", content_range(range, len).as_bytes(), b"\r\n\r\n"]);
            let head = text.split().freeze();
            parts.push((head, range.clone()));
        }
        write!(text, "\r\n--{boundary}--\r\n").expect("writing to memory succeeds");
        let tail = text.freeze();

        let content_type = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))
            .expect("a boundary is ASCII");
        Self { parts, tail, content_type }
    }
}

fn put(text: &mut BytesMut, pieces: &[&[u8]]) {
    pieces.iter().for_each(|piece| text.extend_from_slice(piece));
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &[u8] = b"0123456789";

    fn walk(plan: &Multipart) -> Vec<u8> {
        let mut body = Vec::new();
        for (head, range) in &plan.parts {
            body.extend_from_slice(head);
            body.extend_from_slice(&CONTENT[range.start as usize..range.end as usize]);
        }
        body.extend_from_slice(&plan.tail);
        body
    }

    #[test]
    fn the_body_is_that_of_the_rfc() {
        let html = HeaderValue::from_static("text/html");
        let plan = Multipart::with_boundary("B", &[0..1, 8..10], 10, Some(&html));
        let expected = "--B\r\n\
             Content-Type: text/html\r\n\
             Content-Range: bytes 0-0/10\r\n\
             \r\n\
             0\r\n\
             --B\r\n\
             Content-Type: text/html\r\n\
             Content-Range: bytes 8-9/10\r\n\
             \r\n\
             89\r\n\
             --B--\r\n";
        assert_eq!(String::from_utf8(walk(&plan)).unwrap(), expected);
        assert_eq!(plan.content_type, "multipart/byteranges; boundary=B");
    }

    #[test]
    fn parts_of_an_unknown_type_have_no_type() {
        let plan = Multipart::with_boundary("B", &[0..1, 8..10], 10, None);
        assert_eq!(plan.parts[0].0, "--B\r\nContent-Range: bytes 0-0/10\r\n\r\n");
    }

    #[test]
    fn boundaries_differ_and_are_those_announced() {
        let plans = [(); 2].map(|()| Multipart::new(&[0..1, 2..3], 10, None));
        assert_ne!(plans[0].content_type, plans[1].content_type);
        let announced = plans[0].content_type.to_str().unwrap().rsplit_once('=').unwrap().1;
        assert_eq!(announced.len(), 32);
        assert!(plans[0].parts[0].0.starts_with(format!("--{announced}\r\n").as_bytes()));
    }
}
