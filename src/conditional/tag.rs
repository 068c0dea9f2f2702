//! Entity tags (RFC 9110 §8.8.3).

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;

use crate::encode::{Coding, Effort, Engine};

/// Room for the longest tag that is built here: `W/"` + two 64-bit numbers in hex + suffix + `"`.
const CAPACITY: usize = 64;

/// Tells the coded bytes of one release from those of another, whose encoders may write other bytes for the same level.
const RELEASE: u8 = fold(env!("CARGO_PKG_VERSION").as_bytes());

/// An entity tag, kept as the field value that it is sent as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag {
    value: HeaderValue,
}

/// A tag where it stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    weak: bool,
    opaque: &'a [u8],
}

impl EntityTag {
    /// The tag of the bytes of a file: of the original (`coding` is `None`), or of a sidecar, with the time and length
    /// of the sidecar itself.
    ///
    /// It is strong. Of a file that may change again without its time showing it, the caller makes it weak.
    pub fn of_file(modified: SystemTime, len: u64, coding: Option<Coding>) -> Self {
        let nanoseconds = nanoseconds(modified);
        match coding {
            None => Self::format(format_args!("\"{nanoseconds:x}-{len:x}\"")),
            Some(coding) => Self::format(format_args!("\"{nanoseconds:x}-{len:x}-{}\"", suffix(coding))),
        }
    }

    /// The tag of what an encoder makes of these bytes; as strong or weak as this one.
    ///
    /// Level, engine and the release of this program are part of it: each may change the coded bytes, and a client
    /// that resumes a download must not join halves of two encodings.
    #[must_use]
    pub fn coded(&self, coding: Coding, effort: impl Into<Effort>) -> Self {
        let Effort { level, engine } = effort.into();
        let engine = match engine {
            Engine::Laneflate => "",
            Engine::ZlibRs => "z",
        };
        let stem = &self.value.as_bytes()[..self.value.len() - 1];
        let mut text = Vec::with_capacity(stem.len() + 16);
        text.extend_from_slice(stem);
        write!(text, "-{}{level}{engine}.{RELEASE:02x}\"", suffix(coding))
            .expect("writing to memory succeeds");
        Self::from_text(HeaderValue::from_maybe_shared(bytes::Bytes::from(text)))
    }

    /// Reads a field value that is one tag.
    pub fn parse(value: &HeaderValue) -> Option<Self> {
        let (_, rest) = Tag::take(value.as_bytes())?;
        rest.is_empty().then(|| Self { value: value.clone() })
    }

    /// The same tag, weak.
    #[must_use]
    pub fn into_weak(self) -> Self {
        if self.is_weak() {
            return self;
        }
        let text = [b"W/", self.value.as_bytes()].concat();
        Self::from_text(HeaderValue::from_maybe_shared(bytes::Bytes::from(text)))
    }

    /// The tag as a value of `ETag`; costs no allocation.
    pub fn header_value(&self) -> HeaderValue {
        self.value.clone()
    }

    /// Whether the tag says only that two bodies mean the same.
    pub fn is_weak(&self) -> bool {
        self.value.as_bytes()[0] == b'W'
    }

    pub(super) fn as_tag(&self) -> Tag<'_> {
        Tag::take(self.value.as_bytes()).expect("holds a tag by construction").0
    }

    fn format(text: std::fmt::Arguments<'_>) -> Self {
        let mut buffer = [0; CAPACITY];
        let mut free = &mut buffer[..];
        free.write_fmt(text).expect("CAPACITY is that of the longest tag");
        let len = CAPACITY - free.len();
        Self::from_text(HeaderValue::from_bytes(&buffer[..len]))
    }

    fn from_text<E: std::fmt::Debug>(value: Result<HeaderValue, E>) -> Self {
        Self { value: value.expect("a tag is a field value") }
    }
}

impl<'a> Tag<'a> {
    /// The tag at the start of `text`, and what follows it.
    pub(super) fn take(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (weak, quoted) = match text {
            [b'W', b'/', quoted @ ..] => (true, quoted),
            quoted => (false, quoted),
        };
        let [b'"', rest @ ..] = quoted else { return None };
        let end = rest.iter().position(|&byte| byte == b'"')?;
        let opaque = &rest[..end];
        // etagc: visible characters but the quote, and bytes beyond ASCII.
        let valid = opaque.iter().all(|&byte| byte > b' ' && byte != 0x7f);
        valid.then_some((Self { weak, opaque }, &rest[end + 1..]))
    }

    pub(super) fn strong_eq(self, other: Tag<'_>) -> bool {
        !self.weak && !other.weak && self.opaque == other.opaque
    }

    pub(super) fn weak_eq(self, other: Tag<'_>) -> bool {
        self.opaque == other.opaque
    }
}

/// Nanoseconds since the epoch. They wrap after 584 years and before the epoch, which leaves them distinct.
fn nanoseconds(time: SystemTime) -> u64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as u64,
        Err(before) => (before.duration().as_nanos() as u64).wrapping_neg(),
    }
}

const fn suffix(coding: Coding) -> &'static str {
    match coding {
        Coding::Zstd => "zs",
        Coding::Brotli => "br",
        Coding::Gzip => "gz",
        Coding::Deflate => "df",
    }
}

/// FNV-1a, folded to a byte.
const fn fold(text: &[u8]) -> u8 {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < text.len() {
        hash = (hash ^ text[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash >> 24 ^ hash >> 16 ^ hash >> 8 ^ hash) as u8
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tag(text: &'static str) -> EntityTag {
        EntityTag::parse(&HeaderValue::from_static(text)).expect(text)
    }

    fn at(seconds: u64, nanoseconds: u32) -> SystemTime {
        UNIX_EPOCH + Duration::new(seconds, nanoseconds)
    }

    #[test]
    fn a_file_has_a_strong_tag_of_time_and_length() {
        let tag = EntityTag::of_file(at(1, 1), 0x2a, None);
        assert_eq!(tag.header_value(), "\"3b9aca01-2a\"");
        assert!(!tag.is_weak());
    }

    #[test]
    fn each_sidecar_has_a_tag_of_its_own() {
        let of = |coding| EntityTag::of_file(at(1, 0), 16, Some(coding)).header_value();
        assert_eq!(of(Coding::Gzip), "\"3b9aca00-10-gz\"");
        assert_eq!(of(Coding::Brotli), "\"3b9aca00-10-br\"");
        assert_eq!(of(Coding::Zstd), "\"3b9aca00-10-zs\"");
        assert_eq!(of(Coding::Deflate), "\"3b9aca00-10-df\"");
    }

    #[test]
    fn any_time_and_length_fit() {
        let before = UNIX_EPOCH - Duration::from_nanos(1);
        let tag = EntityTag::of_file(before, u64::MAX, Some(Coding::Gzip)).into_weak();
        assert_eq!(tag.header_value(), "W/\"ffffffffffffffff-ffffffffffffffff-gz\"");
    }

    #[test]
    fn coded_bytes_are_told_apart_by_coding_and_effort() {
        let plain = tag("\"a-1\"");
        let text = plain.coded(Coding::Gzip, 6).header_value();
        assert_eq!(text, format!("\"a-1-gz6.{RELEASE:02x}\""));
        assert_ne!(plain.coded(Coding::Gzip, 6), plain.coded(Coding::Gzip, 7));
        let other_engine = plain.coded(Coding::Gzip, Effort { level: 6, engine: Engine::ZlibRs });
        assert_ne!(plain.coded(Coding::Gzip, 6), other_engine);
        assert_ne!(plain.coded(Coding::Zstd, 6), plain.coded(Coding::Gzip, 6));
        assert_ne!(plain.coded(Coding::Zstd, 6), plain);
        assert!(tag("W/\"a-1\"").coded(Coding::Zstd, -5).is_weak());
    }

    #[test]
    fn releases_are_told_apart() {
        assert_ne!(fold(b"0.1.0"), fold(b"0.1.1"));
        assert_ne!(fold(b"0.1.0"), fold(b"0.2.0"));
    }

    /// The table of RFC 9110 §8.8.3.2.
    #[test]
    fn comparison() {
        for (left, right, strong, weak) in [
            ("W/\"1\"", "W/\"1\"", false, true),
            ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true),
        ] {
            let (one, two) = (tag(left), tag(right));
            assert_eq!(one.as_tag().strong_eq(two.as_tag()), strong, "{left} {right}");
            assert_eq!(one.as_tag().weak_eq(two.as_tag()), weak, "{left} {right}");
        }
    }

    #[test]
    fn only_well_formed_tags_are_read() {
        for text in
            ["", "a", "\"", "\"a", "a\"", "w/\"a\"", "W\"a\"", "W/a", "\"a b\"", "\"a\" ", "\"a\"\"b\"", "*"]
        {
            assert_eq!(EntityTag::parse(&HeaderValue::from_static(text)), None, "{text}");
        }
        for text in ["\"\"", "W/\"\"", "\"a,b\"", "\"\\\"", "\"!#~\""] {
            assert_eq!(tag(text).header_value(), text);
        }
        assert!(EntityTag::parse(&HeaderValue::from_bytes(b"\"\xe9\"").unwrap()).is_some());
    }

    #[test]
    fn weakening_is_done_once() {
        assert_eq!(tag("\"a\"").into_weak().header_value(), "W/\"a\"");
        assert_eq!(tag("\"a\"").into_weak().into_weak().header_value(), "W/\"a\"");
    }
}
