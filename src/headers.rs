//! Header fields that coding a response touches: `Vary`, `ETag`, and those that describe bytes no longer sent.

use bytes::{BufMut, BytesMut};
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::conditional::EntityTag;
use crate::encode::Coding;

const ACCEPT_ENCODING: &[u8] = b"Accept-Encoding";

/// Digests of the bytes as sent or as stored (RFC 9530, RFC 1864); none of them survives a coding.
static DIGESTS: [HeaderName; 4] = [
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-md5"),
];

/// The members of a list of tokens, without the empty ones and the white space around them (RFC 9110 §5.6.1).
///
/// Quoted strings are not looked for: none of the lists that are split here can hold one, and a stray quote must not
/// swallow the members after it.
pub fn members(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

/// Adds `Accept-Encoding` to `Vary`, as one line; nothing changes where it is there already, or `*` is.
pub fn vary_by_accept_encoding(headers: &mut HeaderMap) {
    if !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        return;
    }
    let mut merged = BytesMut::new();
    for member in headers.get_all(VARY).iter().flat_map(|line| members(line.as_bytes())) {
        if member == b"*" || member.eq_ignore_ascii_case(ACCEPT_ENCODING) {
            return;
        }
        merged.put_slice(member);
        merged.put_slice(b", ");
    }
    merged.put_slice(ACCEPT_ENCODING);
    let merged = HeaderValue::from_maybe_shared(merged.freeze());
    headers.insert(VARY, merged.expect("members of a field value, joined by commas, are one"));
}

/// Makes the entity tag weak, for a body that means the same and has other bytes; a malformed one is removed.
pub fn weaken_etag(headers: &mut HeaderMap) {
    let Some(value) = headers.get(ETAG) else { return };
    match EntityTag::parse(value) {
        Some(tag) => headers.insert(ETAG, tag.into_weak().header_value()),
        None => headers.remove(ETAG),
    };
}

/// Says that the body is coded on the fly: names the coding, and takes back what was true of the plain bytes only.
///
/// `Vary` is left to [`vary_by_accept_encoding`], which the uncoded response needs as well.
pub fn mark_coded(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(CONTENT_ENCODING, coding.header_value());
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    headers.remove(CONTENT_RANGE);
    for name in &DIGESTS {
        headers.remove(name);
    }
    weaken_etag(headers);
}

/// Whether `Cache-Control` forbids intermediaries to change the content (RFC 9111 §5.2.2.6).
pub fn no_transform(headers: &HeaderMap) -> bool {
    headers.get_all(CACHE_CONTROL).iter().any(|line| has_directive(line.as_bytes(), b"no-transform"))
}

/// Looks for a directive outside of quoted strings, which may hold commas and the directive's name.
fn has_directive(list: &[u8], name: &[u8]) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    let separates = |&byte: &u8| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        byte == b',' && !quoted
    };
    list.split(separates).any(|member| member.trim_ascii().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[track_caller]
    fn check_vary(before: &[&'static str], after: &[&str]) {
        let mut headers = HeaderMap::new();
        for line in before {
            headers.append(VARY, HeaderValue::from_static(line));
        }
        vary_by_accept_encoding(&mut headers);
        assert_eq!(headers.get_all(VARY).iter().collect::<Vec<_>>(), after);
    }

    #[test]
    fn vary_is_added_where_there_is_none() {
        check_vary(&[], &["Accept-Encoding"]);
        check_vary(&[""], &["Accept-Encoding"]);
    }

    #[test]
    fn vary_is_merged_with_what_is_there() {
        check_vary(&["Origin"], &["Origin, Accept-Encoding"]);
        check_vary(&["Origin,,Cookie", "Accept"], &["Origin, Cookie, Accept, Accept-Encoding"]);
        check_vary(&["X-Accept-Encoding"], &["X-Accept-Encoding, Accept-Encoding"]);
    }

    #[test]
    fn vary_is_not_repeated() {
        check_vary(&["accept-encoding"], &["accept-encoding"]);
        check_vary(&["Origin", "Cookie , ACCEPT-ENCODING"], &["Origin", "Cookie , ACCEPT-ENCODING"]);
    }

    #[test]
    fn vary_by_everything_stays() {
        check_vary(&["*"], &["*"]);
        check_vary(&["Origin", "*"], &["Origin", "*"]);
    }

    #[test]
    fn a_strong_tag_is_weakened_a_weak_one_stays_a_malformed_one_goes() {
        for (before, after) in
            [("\"a\"", Some("W/\"a\"")), ("W/\"a\"", Some("W/\"a\"")), ("a", None), ("\"a\"b\"", None)]
        {
            let mut headers = map(&[(ETAG, before)]);
            weaken_etag(&mut headers);
            assert_eq!(headers.get(ETAG).map(|tag| tag.to_str().unwrap()), after, "{before}");
        }
        let mut none = HeaderMap::new();
        weaken_etag(&mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn a_coded_response_keeps_nothing_that_describes_the_plain_bytes() {
        let mut headers = map(&[
            (CONTENT_LENGTH, "10"),
            (ACCEPT_RANGES, "bytes"),
            (CONTENT_RANGE, "bytes 0-9/10"),
            (ETAG, "\"a\""),
            (HeaderName::from_static("content-digest"), "sha-256=:AA==:"),
            (HeaderName::from_static("repr-digest"), "sha-256=:AA==:"),
            (HeaderName::from_static("digest"), "sha-256=AA=="),
            (HeaderName::from_static("content-md5"), "AA=="),
            (http::header::CONTENT_TYPE, "text/html"),
        ]);
        mark_coded(&mut headers, Coding::Brotli);
        assert_eq!(
            headers,
            map(&[(CONTENT_ENCODING, "br"), (ETAG, "W/\"a\""), (http::header::CONTENT_TYPE, "text/html"),])
        );
    }

    #[test]
    fn no_transform_is_found_among_other_directives() {
        for lines in [
            &["no-transform"][..],
            &["public, No-Transform , max-age=1"],
            &["public", "no-transform"],
            &["private=\"a, b\", no-transform"],
            &["x=\"\\\"\", no-transform"],
        ] {
            let fields: Vec<_> = lines.iter().map(|line| (CACHE_CONTROL, *line)).collect();
            assert!(no_transform(&map(&fields)), "{lines:?}");
        }
    }

    #[test]
    fn no_transform_is_not_found_inside_other_directives() {
        for line in [
            "",
            "public",
            "no-transformers",
            "x-no-transform",
            "x=\"a, no-transform, b\"",
            "x=\"\\\", no-transform\"",
        ] {
            assert!(!no_transform(&map(&[(CACHE_CONTROL, line)])), "{line}");
        }
        assert!(!no_transform(&HeaderMap::new()));
    }
}
