//! Any `Range` of a representation of any length: parts lie within, are not empty, do not overlap, and together are the
//! bytes that were asked for, as a plain reading of RFC 9110 §14.1 finds them.
//!
//! The first eight bytes choose the length.

#![no_main]

use laneflate::range::{RangeSet, content_range, content_range_unsatisfied, parse};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;

/// As many as are answered with parts.
const MOST: usize = 64;

fuzz_target!(|data: &[u8]| {
    let Some((len, value)) = data.split_first_chunk() else { return };
    let len = u64::from_le_bytes(*len);
    // Most lengths that the fuzzer chooses are beyond all ranges that it finds.
    for len in [len, len % 256] {
        let set = parse(value, len);
        let asked = asked(value, len);
        match (&set, &asked) {
            (RangeSet::Ignore, None) => continue,
            (RangeSet::Unsatisfiable, Some(asked)) if asked.is_empty() => {
                assert_eq!(content_range_unsatisfied(len), format!("bytes */{len}"));
                continue;
            }
            _ => {}
        }
        let (parts, Some(asked)) = (parts(&set), &asked) else { panic!("{set:?} for {asked:?}") };
        assert!(!parts.is_empty() && parts.len() <= MOST);
        assert_eq!(united(&parts), united(asked));
        for (index, part) in parts.iter().enumerate() {
            assert!(part.start < part.end && part.end <= len, "{part:?} of {len}");
            let apart = |other: &Range<u64>| other.end <= part.start || part.end <= other.start;
            assert!(parts[..index].iter().all(apart), "{part:?} overlaps one of {parts:?}");
            let expected = format!("bytes {}-{}/{len}", part.start, part.end - 1);
            assert_eq!(content_range(part, len), expected);
        }
    }
});

fn parts(set: &RangeSet) -> Vec<Range<u64>> {
    match set {
        RangeSet::One(part) => vec![part.clone()],
        RangeSet::Many(parts) => {
            assert!(parts.len() > 1);
            parts.clone()
        }
        RangeSet::Ignore | RangeSet::Unsatisfiable => vec![],
    }
}

/// What is asked for and there, as it comes; none where the field is to be ignored.
fn asked(value: &[u8], len: u64) -> Option<Vec<Range<u64>>> {
    let value = str::from_utf8(value).ok()?.trim_ascii().to_ascii_lowercase();
    let specs: Vec<_> = value.strip_prefix("bytes=")?.split(',').map(str::trim_ascii).collect();
    let specs: Vec<_> = specs.into_iter().filter(|spec| !spec.is_empty()).collect();
    if specs.is_empty() || specs.len() > MOST {
        return None;
    }
    let mut asked = Vec::new();
    for spec in specs {
        let (first, last) = spec.split_once('-')?;
        let (start, end) = if first.is_empty() {
            let count = number(last)?;
            if count > 0 && len == 0 {
                return None;
            }
            (len - count.min(len), len)
        } else {
            let (first, last) = (number(first)?, if last.is_empty() { u64::MAX } else { number(last)? });
            if first > last {
                return None;
            }
            (first, last.saturating_add(1).min(len))
        };
        if start < end {
            asked.push(start..end);
        }
    }
    Some(asked)
}

/// As much of a number as matters.
fn number(digits: &str) -> Option<u64> {
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// The same bytes as ranges in order that do not touch.
fn united(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut united: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match united.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => united.push(range),
        }
    }
    united
}
