//! Content negotiation by `Accept-Encoding` (RFC 9110 §12.4.2, §12.5.3).
//!
//! Qualities are kept in thousandths, so that comparing them is exact. A member of the list that does not follow the
//! grammar is passed over: the client then gets at worst a representation that it did not ask to have coded.

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use crate::encode::Coding;
use crate::headers::members;

/// The quality of what a client wants most.
const WANTED_MOST: u16 = 1000;

/// The quality of identity where the client says nothing of it: acceptable, and after every coding that it lists.
const WANTED_LEAST: u16 = 1;

/// What a client accepts, from all its `Accept-Encoding` lines.
///
/// Qualities are in thousandths; `None` where the client does not name the coding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    codings: [Option<u16>; Coding::ALL.len()],
    identity: Option<u16>,
    any: Option<u16>,
}

/// Representations that a client accepts, best first; `None` stands for identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    items: [Option<Coding>; Coding::ALL.len() + 1],
    len: usize,
}

impl Accepted {
    /// Reads every `Accept-Encoding` line as one list. No line, or an empty one, accepts identity only.
    pub fn parse(headers: &HeaderMap) -> Self {
        let mut accepted = Self::default();
        for line in headers.get_all(ACCEPT_ENCODING) {
            for member in members(line.as_bytes()) {
                accepted.note(member);
            }
        }
        accepted
    }

    /// Whether the client can be sent the plain bytes.
    pub fn identity_acceptable(&self) -> bool {
        self.identity_quality() > 0
    }

    /// How much the client wants a coding, or identity (`None`), in thousandths; 0 forbids it.
    pub fn quality(&self, item: Option<Coding>) -> u16 {
        item.map_or_else(|| self.identity_quality(), |coding| self.coding_quality(coding))
    }

    /// The acceptable representations among `offered` and identity, best first; empty where nothing is acceptable.
    ///
    /// The highest quality comes first. Between equals, codings keep the order of `offered` and precede identity.
    pub fn rank(&self, offered: &[Coding]) -> Ranked {
        let mut ranked = Ranked::default();
        let mut qualities = [0; Coding::ALL.len() + 1];
        for &coding in offered {
            ranked.insert(&mut qualities, Some(coding), self.coding_quality(coding));
        }
        ranked.insert(&mut qualities, None, self.identity_quality());
        ranked
    }

    /// Takes in one list member, `token` or `token;q=…`.
    fn note(&mut self, member: &[u8]) {
        let (token, weight) = match member.iter().position(|&byte| byte == b';') {
            None => (member, Some(WANTED_MOST)),
            Some(at) => (member[..at].trim_ascii_end(), weight(&member[at + 1..])),
        };
        let Some(quality) = weight else { return };

        let slot = if let Some(coding) = coding_of(token) {
            &mut self.codings[coding as usize]
        } else if token == b"*" {
            &mut self.any
        } else if token.eq_ignore_ascii_case(b"identity") {
            &mut self.identity
        } else {
            return;
        };
        // A client that names a coding twice (`gzip, x-gzip;q=0`) can decode it.
        *slot = (*slot).max(Some(quality));
    }

    fn coding_quality(&self, coding: Coding) -> u16 {
        self.codings[coding as usize].or(self.any).unwrap_or(0)
    }

    fn identity_quality(&self) -> u16 {
        self.identity.or(self.any).unwrap_or(WANTED_LEAST)
    }
}

impl Ranked {
    /// The representation to send if it can be had; `None` where nothing is acceptable (406).
    pub fn best(&self) -> Option<Option<Coding>> {
        self.as_slice().first().copied()
    }

    /// The representations, best first.
    pub fn as_slice(&self) -> &[Option<Coding>] {
        &self.items[..self.len]
    }

    /// The representations, best first, by value.
    pub fn iter(&self) -> impl Iterator<Item = Option<Coding>> + Clone + '_ {
        self.as_slice().iter().copied()
    }

    /// Whether nothing is acceptable.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One step of a stable insertion sort; what is forbidden or already there is left out.
    fn insert(&mut self, qualities: &mut [u16; Coding::ALL.len() + 1], item: Option<Coding>, quality: u16) {
        if quality == 0 || self.as_slice().contains(&item) {
            return;
        }
        let mut at = self.len;
        while at > 0 && qualities[at - 1] < quality {
            self.items[at] = self.items[at - 1];
            qualities[at] = qualities[at - 1];
            at -= 1;
        }
        self.items[at] = item;
        qualities[at] = quality;
        self.len += 1;
    }
}

fn coding_of(token: &[u8]) -> Option<Coding> {
    Coding::from_token(str::from_utf8(token).ok()?)
}

/// `q=` and its value, in thousandths; `None` where it is malformed.
fn weight(parameter: &[u8]) -> Option<u16> {
    match parameter.trim_ascii() {
        [b'q' | b'Q', b'=', value @ ..] => quality_value(value),
        _ => None,
    }
}

/// `qvalue`: 0 or 1 with up to three decimals, and no more than 1.
fn quality_value(value: &[u8]) -> Option<u16> {
    let (whole, decimals) = match value {
        [whole @ (b'0' | b'1')] => (whole, &[][..]),
        [whole @ (b'0' | b'1'), b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let mut thousandths = u16::from(whole - b'0') * 1000;
    for (digit, scale) in decimals.iter().zip([100, 10, 1]) {
        if !digit.is_ascii_digit() {
            return None;
        }
        thousandths += u16::from(digit - b'0') * scale;
    }
    (thousandths <= 1000).then_some(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Coding::{Brotli, Deflate, Gzip, Zstd};
    use http::HeaderValue;

    const OFFERED: [Coding; 3] = [Zstd, Brotli, Gzip];

    fn lines(lines: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT_ENCODING, HeaderValue::from_bytes(line).unwrap());
        }
        headers
    }

    fn accepted(line: &str) -> Accepted {
        Accepted::parse(&lines(&[line.as_bytes()]))
    }

    #[track_caller]
    fn check(line: &str, expected: &[Option<Coding>]) {
        assert_eq!(accepted(line).rank(&OFFERED).as_slice(), expected, "{line:?}");
    }

    #[test]
    fn no_field_and_an_empty_field_accept_identity_only() {
        assert_eq!(Accepted::parse(&HeaderMap::new()).rank(&OFFERED).as_slice(), [None]);
        for empty in ["", " ", ",", " , ,"] {
            check(empty, &[None]);
        }
    }

    #[test]
    fn between_equals_the_order_of_the_server_decides_and_identity_is_last() {
        check("gzip, deflate, br, zstd", &[Some(Zstd), Some(Brotli), Some(Gzip), None]);
        check("identity, gzip, br", &[Some(Brotli), Some(Gzip), None]);
        assert_eq!(
            accepted("gzip, br, deflate").rank(&[Gzip, Deflate, Brotli]).as_slice(),
            [Some(Gzip), Some(Deflate), Some(Brotli), None]
        );
    }

    #[test]
    fn the_highest_quality_wins() {
        check("zstd;q=0.1, br;q=0.5, gzip;q=0.9", &[Some(Gzip), Some(Brotli), Some(Zstd), None]);
        check("br;q=0.999, gzip", &[Some(Gzip), Some(Brotli), None]);
    }

    #[test]
    fn identity_comes_first_where_its_quality_is_higher() {
        check("gzip;q=0.5, identity", &[None, Some(Gzip)]);
        check("br, gzip;q=0.5, identity;q=0.7", &[Some(Brotli), None, Some(Gzip)]);
        check("gzip;q=0.5, identity;q=0.5", &[Some(Gzip), None]);
    }

    #[test]
    fn unnamed_identity_follows_even_the_least_wanted_coding() {
        check("gzip;q=0.001", &[Some(Gzip), None]);
    }

    #[test]
    fn zero_forbids() {
        check("gzip;q=0, br", &[Some(Brotli), None]);
        check("gzip;q=0.000", &[None]);
        check("identity;q=0", &[]);
        check("gzip, identity;q=0", &[Some(Gzip)]);
    }

    #[test]
    fn the_star_stands_for_everything_not_named() {
        check("*", &[Some(Zstd), Some(Brotli), Some(Gzip), None]);
        check("*;q=0.5, gzip", &[Some(Gzip), Some(Zstd), Some(Brotli), None]);
        check("zstd;q=0, *", &[Some(Brotli), Some(Gzip), None]);
        check("gzip;q=0.5, identity;q=0.2, *;q=0", &[Some(Gzip), None]);
    }

    #[test]
    fn a_forbidden_star_forbids_identity_unless_it_is_named() {
        check("*;q=0", &[]);
        check("gzip, *;q=0", &[Some(Gzip)]);
        assert!(!accepted("gzip, *;q=0").identity_acceptable());
        assert!(accepted("identity;q=0.1, *;q=0").identity_acceptable());
        assert!(!accepted("identity;q=0, *").identity_acceptable());
        assert!(accepted("gzip").identity_acceptable());
    }

    /// Every combination of qualities, against the rule as it is told.
    #[test]
    fn any_list_ranks_as_the_rule_says() {
        const QUALITIES: [Option<u16>; 4] = [None, Some(0), Some(500), Some(1000)];
        const NAMES: [&str; 5] = ["zstd", "br", "gzip", "identity", "*"];
        for case in 0..QUALITIES.len().pow(NAMES.len() as u32) {
            let named: Vec<_> = (0..NAMES.len()).map(|at| QUALITIES[case >> (2 * at) & 3]).collect();
            let member = |(name, quality): (&str, &Option<u16>)| {
                quality.map(|thousandths| format!("{name};q={}", f32::from(thousandths) / 1000.0))
            };
            let list: Vec<_> = NAMES.into_iter().zip(&named).filter_map(member).collect();

            let quality = |at: usize, unnamed: u16| named[at].or(named[4]).unwrap_or(unnamed);
            let mut expected = vec![
                (Some(Zstd), quality(0, 0)),
                (Some(Brotli), quality(1, 0)),
                (Some(Gzip), quality(2, 0)),
                (None, quality(3, 1)),
            ];
            expected.retain(|&(_, quality)| quality > 0);
            expected.sort_by_key(|&(_, quality)| std::cmp::Reverse(quality));
            let expected: Vec<_> = expected.into_iter().map(|(representation, _)| representation).collect();
            check(&list.join(", "), &expected);
        }
    }

    #[test]
    fn several_lines_are_one_list() {
        let headers = lines(&[b"gzip;q=0.5", b"", b"br, identity;q=0"]);
        assert_eq!(Accepted::parse(&headers).rank(&OFFERED).as_slice(), [Some(Brotli), Some(Gzip)]);
    }

    #[test]
    fn case_and_white_space_do_not_matter() {
        check("GZIP ; Q=0.5\t,\tBr ;q=1", &[Some(Brotli), Some(Gzip), None]);
        check("Identity;q=0,gZip", &[Some(Gzip)]);
    }

    #[test]
    fn x_gzip_is_gzip_and_the_better_of_both_counts() {
        check("x-gzip", &[Some(Gzip), None]);
        check("gzip, x-gzip;q=0", &[Some(Gzip), None]);
        check("x-gzip;q=0", &[None]);
    }

    #[test]
    fn every_quality_of_the_grammar_is_read() {
        for (text, expected) in [
            ("0", 0),
            ("0.", 0),
            ("0.5", 500),
            ("0.05", 50),
            ("0.005", 5),
            ("0.123", 123),
            ("1", 1000),
            ("1.", 1000),
            ("1.0", 1000),
            ("1.000", 1000),
        ] {
            assert_eq!(quality_value(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_malformed_member_is_passed_over() {
        for weight in [
            "q=",
            "q=.5",
            "q=2",
            "q=1.001",
            "q=1.5",
            "q=0.0005",
            "q=-1",
            "q=0.5 x",
            "q=abc",
            "q=+1",
            "q =1",
            "q= 1",
            "",
            "x=1",
            "q=1;q=0",
            "q=1e0",
            "q=0.a",
            "q=\u{ff11}",
        ] {
            check(&format!("gzip;{weight}, br"), &[Some(Brotli), None]);
        }
        check("gz ip, =, ;, ;q=1, gzip/1, br", &[Some(Brotli), None]);
    }

    #[test]
    fn bytes_that_are_not_text_spoil_only_their_member() {
        let headers = lines(&[b"\xff\xfe, gz\xffip, br;q=\xff, gzip"]);
        assert_eq!(Accepted::parse(&headers).rank(&OFFERED).as_slice(), [Some(Gzip), None]);
    }

    #[test]
    fn only_what_is_offered_is_ranked_and_only_once() {
        assert_eq!(accepted("deflate, gzip, compress").rank(&[]).as_slice(), [None]);
        assert_eq!(accepted("gzip").rank(&[Gzip; 9]).as_slice(), [Some(Gzip), None]);
        assert!(accepted("deflate, identity;q=0").rank(&OFFERED).is_empty());
        assert_eq!(accepted("deflate, identity;q=0").rank(&OFFERED).best(), None);
        assert_eq!(accepted("br").rank(&OFFERED).best(), Some(Some(Brotli)));
    }
}
