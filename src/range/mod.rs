//! Range requests (RFC 9110 §14): which bytes of the selected representation a client asks for.
//!
//! Whether the condition of `If-Range` holds is for [`crate::conditional::if_range`]; where it does not, `Range` is not
//! looked at.

mod multipart;

use std::io::Write;
use std::ops::Range;

use http::header::RANGE;
use http::{HeaderMap, HeaderValue, Method};

use crate::headers::members;

pub use multipart::Multipart;

/// Most ranges that are answered; a request for more gets the whole representation.
const MAX_RANGES: usize = 64;

/// What `Range` means for a representation of known length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeSet {
    /// Nothing, or nothing that is understood: the whole representation, with 200.
    Ignore,
    /// No byte of the representation: 416 with [`content_range_unsatisfied`].
    Unsatisfiable,
    /// One part: 206 with [`content_range`].
    One(Range<u64>),
    /// Several parts that do not overlap, in the order asked for: 206 with a [`Multipart`] body.
    Many(Vec<Range<u64>>),
}

/// One range of the request, before the length is known to it.
enum Spec {
    /// Positions of the first and the last byte, both within.
    FromTo(u64, u64),
    /// That many bytes at the end.
    Last(u64),
}

/// The bytes that a request asks for of `len`.
///
/// `Range` is defined for GET alone, and is a field of one line; otherwise it is ignored, as is any set with a
/// syntax error, an unknown unit or more than 64 ranges.
pub fn requested(method: &Method, headers: &HeaderMap, len: u64) -> RangeSet {
    let mut lines = headers.get_all(RANGE).iter();
    match (lines.next(), lines.next()) {
        (Some(line), None) if *method == Method::GET => parse(line.as_bytes(), len),
        _ => RangeSet::Ignore,
    }
}

/// The bytes that a value of `Range` means of `len`.
pub fn parse(value: &[u8], len: u64) -> RangeSet {
    let Some(specs) = after_unit(value) else { return RangeSet::Ignore };

    let mut any = false;
    let mut ranges = Vec::new();
    for (index, spec) in members(specs).enumerate() {
        let (Some(spec), true) = (Spec::parse(spec), index < MAX_RANGES) else {
            return RangeSet::Ignore;
        };
        any = true;
        match spec.within(len) {
            // A part of nothing cannot be named by Content-Range, yet such a set is not unsatisfiable.
            Some(range) if range.is_empty() => return RangeSet::Ignore,
            Some(range) => add(&mut ranges, range),
            None => {}
        }
    }
    match ranges.len() {
        0 if any => RangeSet::Unsatisfiable,
        0 => RangeSet::Ignore,
        1 => RangeSet::One(ranges.remove(0)),
        _ => RangeSet::Many(ranges),
    }
}

/// `Content-Range` of a part.
pub fn content_range(range: &Range<u64>, len: u64) -> HeaderValue {
    value_of(format_args!("bytes {}-{}/{len}", range.start, range.end - 1))
}

/// `Content-Range` of a 416.
pub fn content_range_unsatisfied(len: u64) -> HeaderValue {
    value_of(format_args!("bytes */{len}"))
}

impl Spec {
    fn parse(spec: &[u8]) -> Option<Self> {
        let dash = spec.iter().position(|&byte| byte == b'-')?;
        match (&spec[..dash], &spec[dash + 1..]) {
            ([], last) => Some(Self::Last(number(last)?)),
            (first, []) => Some(Self::FromTo(number(first)?, u64::MAX)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::FromTo(first, last))
            }
        }
    }

    /// The range as far as it lies within `len`; `None` where it is not satisfiable (RFC 9110 §14.1.2).
    fn within(self, len: u64) -> Option<Range<u64>> {
        match self {
            Self::FromTo(first, last) => (first < len).then(|| first..last.saturating_add(1).min(len)),
            Self::Last(count) => (count > 0).then(|| len.saturating_sub(count)..len),
        }
    }
}

/// What follows `bytes=`, in any case.
fn after_unit(value: &[u8]) -> Option<&[u8]> {
    let (unit, specs) = value.trim_ascii().split_at_checked(b"bytes=".len())?;
    unit.eq_ignore_ascii_case(b"bytes=").then_some(specs)
}

/// Digits; a number beyond 64 bits lies beyond the end of any representation, as the largest of them does.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        digit.is_ascii_digit().then(|| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    })
}

/// Adds a range to a set without overlaps, at the place of the first that it overlaps, which it is united with.
fn add(ranges: &mut Vec<Range<u64>>, new: Range<u64>) {
    let overlaps = |old: &Range<u64>| old.start < new.end && new.start < old.end;
    let Some(at) = ranges.iter().position(overlaps) else { return ranges.push(new) };

    let (mut start, mut end) = (new.start, new.end);
    ranges.retain(|old| {
        let united = overlaps(old);
        if united {
            (start, end) = (start.min(old.start), end.max(old.end));
        }
        !united
    });
    ranges.insert(at, start..end);
}

fn value_of(text: std::fmt::Arguments<'_>) -> HeaderValue {
    // `bytes `, three numbers of at most 20 digits, `-` and `/`.
    const CAPACITY: usize = 6 + 3 * 20 + 2;
    let mut buffer = [0; CAPACITY];
    let mut free = &mut buffer[..];
    free.write_fmt(text).expect("CAPACITY is that of the longest value");
    let len = CAPACITY - free.len();
    HeaderValue::from_bytes(&buffer[..len]).expect("a range is ASCII")
}

#[cfg(test)]
mod tests;
