//! May this response be coded? Guard clauses; each refusal has a name, which the access log and the counters carry.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use crate::config::CodingSettings;
use crate::headers::no_transform;

/// Why a response was not coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// No coding is offered.
    Off,
    /// The client accepts none of the offered codings, or would rather have the plain bytes.
    NotAsked,
    /// The response has no content of its own, as 204 and 304, or is not final.
    Status,
    /// The response is a part of a representation; coding it would make its offsets wrong.
    Range,
    /// The response has a `Content-Encoding` already.
    AlreadyCoded,
    /// `Cache-Control: no-transform`.
    NoTransform,
    /// The media type is absent, or one whose content is compressed already.
    Type,
    /// The body has no bytes.
    Empty,
    /// The body is shorter than what is worth coding.
    TooShort,
    /// The coded body turned out to be no shorter.
    NoGain,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Off,
        Self::NotAsked,
        Self::Status,
        Self::Range,
        Self::AlreadyCoded,
        Self::NoTransform,
        Self::Type,
        Self::Empty,
        Self::TooShort,
        Self::NoGain,
    ];

    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::NotAsked => "not_asked",
            Self::Status => "status",
            Self::Range => "range",
            Self::AlreadyCoded => "already_coded",
            Self::NoTransform => "no_transform",
            Self::Type => "type",
            Self::Empty => "empty",
            Self::TooShort => "too_short",
            Self::NoGain => "no_gain",
        }
    }
}

/// Whether the response may be coded, by its own properties; what the request accepts is for [`crate::negotiate`].
///
/// `length` is that of the whole body. Where it is not known, the caller holds the first bytes back until it is clear
/// whether there are [`CodingSettings::min_length`] of them.
///
/// # Errors
///
/// The first reason against coding.
pub fn may_code(
    status: StatusCode,
    headers: &HeaderMap,
    length: Option<u64>,
    settings: &CodingSettings,
) -> Result<(), Refusal> {
    if settings.offered.is_empty() {
        return Err(Refusal::Off);
    }
    if status == StatusCode::PARTIAL_CONTENT {
        return Err(Refusal::Range);
    }
    if !has_content(status) {
        return Err(Refusal::Status);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::AlreadyCoded);
    }
    if settings.honour_no_transform && no_transform(headers) {
        return Err(Refusal::NoTransform);
    }
    if !has_codable_type(headers) {
        return Err(Refusal::Type);
    }
    long_enough(length, settings)
}

/// Whether content of this media type gets shorter by coding. Parameters are ignored, and case is.
pub fn codable_type(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim_ascii();
    let starts = |prefix: &str| essence.get(..prefix.len()).is_some_and(|s| s.eq_ignore_ascii_case(prefix));
    let ends = |suffix: &str| {
        essence.len().checked_sub(suffix.len()).is_some_and(|at| {
            // By bytes, since a type that is not ASCII may not be split just anywhere.
            essence.as_bytes()[at..].eq_ignore_ascii_case(suffix.as_bytes())
        })
    };
    starts("text/")
        || SUFFIXES.iter().any(|suffix| ends(suffix))
        || TYPES.iter().any(|name| name.eq_ignore_ascii_case(essence))
}

/// Structured syntaxes (RFC 6839) that are text.
const SUFFIXES: [&str; 4] = ["+json", "+xml", "+yaml", "+json-seq"];

/// Types outside of `text/` and the suffixes that are text, or binary with much to gain.
const TYPES: &[&str] = &[
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "application/typescript",
    "application/xml",
    "application/xml-dtd",
    "application/wasm",
    "application/ndjson",
    "application/x-ndjson",
    "application/json-seq",
    "application/jsonl",
    "application/json5",
    "application/x-json",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/graphql",
    "application/sql",
    "application/x-sql",
    "application/n-quads",
    "application/n-triples",
    "application/trig",
    "application/sparql-query",
    "application/rtf",
    "application/postscript",
    "application/x-sh",
    "application/x-csh",
    "application/x-perl",
    "application/x-tex",
    "application/x-latex",
    "application/x-httpd-php",
    "application/x-subrip",
    "application/x-www-form-urlencoded",
    "application/mbox",
    "application/vnd.apple.mpegurl",
    "application/x-mpegurl",
    "application/vnd.ms-fontobject",
    "application/font-sfnt",
    "application/x-font-ttf",
    "application/x-font-otf",
    "application/x-font-truetype",
    "application/x-font-opentype",
    "font/ttf",
    "font/otf",
    "font/sfnt",
    "font/collection",
    "font/eot",
    "font/opentype",
    "model/obj",
    "model/gltf-binary",
];

/// Whether the final response of this status has content that is a representation (RFC 9110 §15).
fn has_content(status: StatusCode) -> bool {
    !status.is_informational()
        && !matches!(
            status,
            StatusCode::NO_CONTENT
                | StatusCode::RESET_CONTENT
                | StatusCode::IM_USED
                | StatusCode::NOT_MODIFIED
        )
}

fn has_codable_type(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).map(|value| value.to_str());
    matches!(value, Some(Ok(content_type)) if codable_type(content_type))
}

fn long_enough(length: Option<u64>, settings: &CodingSettings) -> Result<(), Refusal> {
    match length {
        Some(0) => Err(Refusal::Empty),
        Some(length) if length < settings.min_length => Err(Refusal::TooShort),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use http::header::CACHE_CONTROL;
    use http::{HeaderName, HeaderValue};

    use super::*;

    const HTML: (HeaderName, &str) = (CONTENT_TYPE, "text/html; charset=utf-8");

    fn headers(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn decide(
        status: u16,
        fields: &[(HeaderName, &'static str)],
        length: Option<u64>,
    ) -> Result<(), Refusal> {
        let status = StatusCode::from_u16(status).unwrap();
        may_code(status, &headers(fields), length, &CodingSettings::default())
    }

    #[test]
    fn a_page_is_coded() {
        assert_eq!(decide(200, &[HTML], Some(9000)), Ok(()));
        assert_eq!(decide(200, &[HTML], None), Ok(()));
    }

    #[test]
    fn nothing_is_coded_where_nothing_is_offered() {
        let settings = CodingSettings { offered: vec![], ..Default::default() };
        let decision = may_code(StatusCode::OK, &headers(&[HTML]), Some(9000), &settings);
        assert_eq!(decision, Err(Refusal::Off));
    }

    #[test]
    fn errors_and_redirects_with_content_are_coded() {
        for status in
            [200, 201, 202, 203, 207, 300, 301, 302, 400, 403, 404, 410, 416, 429, 500, 502, 503, 599]
        {
            assert_eq!(decide(status, &[HTML], Some(9000)), Ok(()), "{status}");
        }
    }

    #[test]
    fn a_status_without_content_is_not_coded() {
        for status in [100, 101, 103, 204, 205, 226, 304] {
            assert_eq!(decide(status, &[HTML], Some(9000)), Err(Refusal::Status), "{status}");
        }
    }

    #[test]
    fn a_part_is_not_coded() {
        assert_eq!(decide(206, &[HTML], Some(9000)), Err(Refusal::Range));
    }

    #[test]
    fn what_has_a_content_encoding_passes_through() {
        for coding in ["gzip", "identity", "", "aes128gcm"] {
            let decision = decide(200, &[HTML, (CONTENT_ENCODING, coding)], Some(9000));
            assert_eq!(decision, Err(Refusal::AlreadyCoded), "{coding}");
        }
    }

    #[test]
    fn no_transform_is_honoured_by_a_switch() {
        let fields = [HTML, (CACHE_CONTROL, "public, no-transform")];
        assert_eq!(decide(200, &fields, Some(9000)), Err(Refusal::NoTransform));
        let settings = CodingSettings { honour_no_transform: false, ..Default::default() };
        assert_eq!(may_code(StatusCode::OK, &headers(&fields), Some(9000), &settings), Ok(()));
    }

    #[test]
    fn a_type_that_is_compressed_or_absent_or_no_text_is_not_coded() {
        assert_eq!(decide(200, &[(CONTENT_TYPE, "image/png")], Some(9000)), Err(Refusal::Type));
        assert_eq!(decide(200, &[], Some(9000)), Err(Refusal::Type));
        let mut latin1 = HeaderMap::new();
        latin1.insert(CONTENT_TYPE, HeaderValue::from_bytes(b"text/html\xe9").unwrap());
        let decision = may_code(StatusCode::OK, &latin1, Some(9000), &CodingSettings::default());
        assert_eq!(decision, Err(Refusal::Type));
    }

    #[test]
    fn an_empty_body_is_not_coded_whatever_the_minimum() {
        assert_eq!(decide(200, &[HTML], Some(0)), Err(Refusal::Empty));
        let settings = CodingSettings { min_length: 0, ..Default::default() };
        assert_eq!(may_code(StatusCode::OK, &headers(&[HTML]), Some(0), &settings), Err(Refusal::Empty));
    }

    #[test]
    fn the_minimum_length_is_coded_and_one_byte_less_is_not() {
        let min = CodingSettings::default().min_length;
        assert_eq!(decide(200, &[HTML], Some(min)), Ok(()));
        assert_eq!(decide(200, &[HTML], Some(min - 1)), Err(Refusal::TooShort));
    }

    #[test]
    fn codable_types() {
        for name in [
            "text/html",
            "text/event-stream",
            "TEXT/CSS",
            "application/json",
            "application/problem+json",
            "application/ld+JSON",
            "application/xml",
            "application/atom+xml",
            "image/svg+xml",
            "application/wasm",
            "application/javascript",
            "Application/X-JavaScript",
            "application/manifest+json",
            "font/ttf",
            "font/otf",
            "application/vnd.ms-fontobject",
            "application/x-ndjson",
            "application/json;charset=utf-8",
            "application/json ; a=\"b;c\"",
            " text/plain",
        ] {
            assert!(codable_type(name), "{name}");
        }
    }

    #[test]
    fn types_that_are_not_coded() {
        for name in [
            "",
            ";",
            "text",
            "textual/html",
            "font/woff",
            "font/woff2",
            "image/png",
            "image/jpeg",
            "image/webp",
            "image/avif",
            "video/mp4",
            "audio/mpeg",
            "application/zip",
            "application/gzip",
            "application/zstd",
            "application/pdf",
            "application/octet-stream",
            "multipart/byteranges; boundary=a",
            "application/jsonx",
            "application/zip; name=a+json",
            "application/é+",
            "é+jso",
        ] {
            assert!(!codable_type(name), "{name}");
        }
    }

    #[test]
    fn names_of_reasons_are_all_there_and_differ() {
        let names: std::collections::HashSet<_> = Refusal::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(names.len(), Refusal::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
        for (index, reason) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "counters are indexed by it");
        }
    }
}
