//! Any lines of `Accept-Encoding` against the rules of RFC 9110 §12.5.3, told a second time in the plainest way.
//!
//! The first byte chooses what is offered; each line of the rest is a field.

#![no_main]

use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, HeaderValue};
use laneflate::encode::Coding;
use laneflate::negotiate::Accepted;
use libfuzzer_sys::fuzz_target;
use std::cmp::Reverse;

fuzz_target!(|data: &[u8]| {
    let [choice, lines @ ..] = data else { return };
    let mut offered = Coding::ALL.to_vec();
    offered.rotate_left(usize::from(choice % 4));
    offered.truncate(usize::from(choice / 4 % 5));

    let mut headers = HeaderMap::new();
    let lines: Vec<_> = lines.split(|&byte| byte == b'\n').collect();
    for line in &lines {
        let Ok(value) = HeaderValue::from_bytes(line) else { return };
        headers.append(ACCEPT_ENCODING, value);
    }
    let accepted = Accepted::parse(&headers);

    let members: Vec<_> = lines.iter().flat_map(|line| line.split(|&byte| byte == b',')).collect();
    let named = |names: &[&str]| {
        let qualities = members.iter().filter_map(|member| quality(member, names));
        qualities.max().or_else(|| members.iter().filter_map(|member| quality(member, &["*"])).max())
    };
    let mut wanted: Vec<_> = offered
        .iter()
        .map(|coding| {
            let names: &[&str] =
                if *coding == Coding::Gzip { &["gzip", "x-gzip"] } else { &[coding.token()] };
            (Some(*coding), named(names).unwrap_or(0))
        })
        .collect();
    wanted.push((None, named(&["identity"]).unwrap_or(1)));
    for &(item, quality) in &wanted {
        assert_eq!(accepted.quality(item), quality, "{item:?}");
    }
    wanted.retain(|&(_, quality)| quality > 0);
    wanted.sort_by_key(|&(_, quality)| Reverse(quality));
    let wanted: Vec<_> = wanted.into_iter().map(|(item, _)| item).collect();
    assert_eq!(accepted.rank(&offered).as_slice(), wanted);
});

/// The quality in thousandths that a member gives to one of the names; none if it is of another or malformed.
fn quality(member: &[u8], names: &[&str]) -> Option<u16> {
    let member = str::from_utf8(member).ok()?.trim_matches([' ', '\t']);
    let (name, weight) = match member.split_once(';') {
        None => (member, "q=1"),
        Some((name, weight)) => (name.trim_end_matches([' ', '\t']), weight.trim_matches([' ', '\t'])),
    };
    if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return None;
    }
    let value = weight.strip_prefix("q=").or_else(|| weight.strip_prefix("Q="))?;
    let well_formed = value.len() <= 5
        && value.bytes().enumerate().all(|(at, byte)| match at {
            0 => matches!(byte, b'0' | b'1'),
            1 => byte == b'.',
            _ => byte.is_ascii_digit(),
        });
    let thousandths = value.parse::<f64>().ok().filter(|_| well_formed)? * 1000.0;
    (thousandths <= 1000.0).then_some(thousandths.round() as u16)
}
