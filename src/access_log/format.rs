//! The shapes of a line. Whatever bytes a client sends, a line stays one line, and its fields stay apart.

use std::io::Write;
use std::time::UNIX_EPOCH;

use http::Version;

use super::Record;
use crate::config::LogFormat;
use crate::date::HttpDate;

/// Appends the line of a record, with its line feed.
pub fn format(record: &Record<'_>, shape: LogFormat, out: &mut Vec<u8>) {
    match shape {
        LogFormat::Common => common(record, out),
        LogFormat::Combined => {
            common(record, out);
            out.extend_from_slice(b" \"");
            escaped(record.referer.unwrap_or(b"-"), out);
            out.extend_from_slice(b"\" \"");
            escaped(record.user_agent.unwrap_or(b"-"), out);
            out.push(b'"');
        }
        LogFormat::Json => json(record, out),
    }
    out.push(b'\n');
}

/// `remote - - [time] "request" status bytes`, times in UTC.
fn common(record: &Record<'_>, out: &mut Vec<u8>) {
    let date = date(record);
    display(record.remote, out);
    out.extend_from_slice(b" - - [");
    for piece in [&date[5..7], b"/", &date[8..11], b"/", &date[12..16], b":", &date[17..25]] {
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(b" +0000] \"");
    escaped(record.method.as_str().as_bytes(), out);
    out.push(b' ');
    escaped(record.target, out);
    out.push(b' ');
    out.extend_from_slice(version(record.version).as_bytes());
    out.extend_from_slice(b"\" ");
    out.extend_from_slice(record.status.as_str().as_bytes());
    out.push(b' ');
    display(record.body_bytes, out);
}

fn json(record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"time\":\"");
    iso_time(record, out);
    out.extend_from_slice(b"\",\"remote\":\"");
    display(record.remote, out);
    out.extend_from_slice(b"\",\"method\":");
    json_string(record.method.as_str().as_bytes(), out);
    out.extend_from_slice(b",\"target\":");
    json_string(record.target, out);
    out.extend_from_slice(b",\"version\":");
    json_string(version(record.version).as_bytes(), out);
    out.extend_from_slice(b",\"status\":");
    out.extend_from_slice(record.status.as_str().as_bytes());
    out.extend_from_slice(b",\"body_bytes\":");
    display(record.body_bytes, out);
    out.extend_from_slice(b",\"referer\":");
    json_string_or_null(record.referer, out);
    out.extend_from_slice(b",\"user_agent\":");
    json_string_or_null(record.user_agent, out);
    out.extend_from_slice(b",\"coding\":");
    json_string_or_null(record.coding.map(|coding| coding.token().as_bytes()), out);
    out.extend_from_slice(b",\"length_before\":");
    match record.length_before {
        Some(length) => display(length, out),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"refusal\":");
    json_string_or_null(record.refusal.map(|refusal| refusal.as_str().as_bytes()), out);
    let (seconds, micros) = (record.duration.as_secs(), record.duration.subsec_micros());
    display(format_args!(",\"seconds\":{seconds}.{micros:06}}}"), out);
}

/// As nginx writes variables: `\xHH` for quotes, backslashes, and all that is not printable ASCII.
fn escaped(text: &[u8], out: &mut Vec<u8>) {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    replaced(text, plain, out, |byte, out| {
        out.extend_from_slice(&[b'\\', b'x', hex(byte >> 4), hex(byte & 15)]);
    });
}

/// A string of JSON (RFC 8259 §7). Bytes that are not UTF-8 become U+FFFD, since JSON has no way to hold them.
fn json_string(text: &[u8], out: &mut Vec<u8>) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\' && byte != 0x7f;
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        replaced(chunk.valid().as_bytes(), plain, out, |byte, out| {
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
        });
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

fn json_string_or_null(text: Option<&[u8]>, out: &mut Vec<u8>) {
    match text {
        Some(text) => json_string(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Copies runs of plain bytes whole, and has the others replaced one by one.
fn replaced(
    mut text: &[u8],
    plain: impl Fn(u8) -> bool,
    out: &mut Vec<u8>,
    replace: impl Fn(u8, &mut Vec<u8>),
) {
    while let Some(at) = text.iter().position(|&byte| !plain(byte)) {
        out.extend_from_slice(&text[..at]);
        replace(text[at], out);
        text = &text[at + 1..];
    }
    out.extend_from_slice(text);
}

/// `2026-11-30T20:30:08.123Z`.
fn iso_time(record: &Record<'_>, out: &mut Vec<u8>) {
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let date = date(record);
    let month = MONTHS.chunks_exact(3).position(|name| *name == date[8..11]).map_or(1, |index| index + 1);
    let millis = record.time.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_millis());
    out.extend_from_slice(&date[12..16]);
    display(format_args!("-{month:02}-"), out);
    out.extend_from_slice(&date[5..7]);
    out.push(b'T');
    out.extend_from_slice(&date[17..25]);
    display(format_args!(".{millis:03}Z"), out);
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, whose pieces the lines are made of; the epoch for a clock that is out of bounds.
fn date(record: &Record<'_>) -> [u8; 29] {
    HttpDate::new(record.time).unwrap_or_default().text()
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        Version::HTTP_3 => "HTTP/3.0",
        _ => "HTTP/1.1",
    }
}

const fn hex(digit: u8) -> u8 {
    b"0123456789ABCDEF"[digit as usize]
}

fn display(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("writing to memory succeeds");
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, SystemTime};

    use http::{Method, StatusCode};

    use super::*;
    use crate::encode::Coding;
    use crate::policy::Refusal;

    fn record<'a>() -> Record<'a> {
        Record {
            remote: IpAddr::V4(Ipv4Addr::LOCALHOST),
            time: UNIX_EPOCH + Duration::new(784_111_777, 89_999_999),
            method: &Method::GET,
            target: b"/a?b=c",
            version: Version::HTTP_11,
            status: StatusCode::OK,
            body_bytes: 1234,
            referer: None,
            user_agent: None,
            coding: None,
            length_before: None,
            refusal: None,
            duration: Duration::from_nanos(2_000_345_999),
        }
    }

    fn line(record: &Record<'_>, shape: LogFormat) -> String {
        let mut out = b"before\n".to_vec();
        format(record, shape, &mut out);
        String::from_utf8(out).unwrap().strip_prefix("before\n").unwrap().to_owned()
    }

    #[test]
    fn common_is_that_of_ncsa() {
        assert_eq!(
            line(&record(), LogFormat::Common),
            "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 200 1234\n"
        );
    }

    #[test]
    fn combined_is_that_of_nginx() {
        let plain = record();
        assert_eq!(
            line(&plain, LogFormat::Combined),
            "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 200 1234 \"-\" \"-\"\n"
        );
        let named = Record {
            remote: "::1".parse().unwrap(),
            version: Version::HTTP_2,
            referer: Some(b"http://a/"),
            user_agent: Some(b"curl/8"),
            ..plain
        };
        assert_eq!(
            line(&named, LogFormat::Combined),
            "::1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/2.0\" 200 1234 \"http://a/\" \"curl/8\"\n"
        );
    }

    #[test]
    fn what_could_break_a_line_is_escaped() {
        let nasty = Record { target: b"/\"\\\x00\n\x1f\x7f\xff~ ", user_agent: Some(b"a\" \"b"), ..record() };
        let line = line(&nasty, LogFormat::Combined);
        assert!(line.contains("\"GET /\\x22\\x5C\\x00\\x0A\\x1F\\x7F\\xFF~  HTTP/1.1\""), "{line}");
        assert!(line.ends_with("\"a\\x22 \\x22b\"\n"), "{line}");
    }

    #[test]
    fn json_has_every_field() {
        let coded = Record {
            referer: Some(b"http://a/"),
            user_agent: Some("caf\u{e9}".as_bytes()),
            coding: Some(Coding::Gzip),
            length_before: Some(9000),
            ..record()
        };
        assert_eq!(
            line(&coded, LogFormat::Json),
            "{\"time\":\"1994-11-06T08:49:37.089Z\",\"remote\":\"127.0.0.1\",\"method\":\"GET\",\
             \"target\":\"/a?b=c\",\"version\":\"HTTP/1.1\",\"status\":200,\"body_bytes\":1234,\
             \"referer\":\"http://a/\",\"user_agent\":\"caf\u{e9}\",\"coding\":\"gzip\",\"length_before\":9000,\
             \"refusal\":null,\"seconds\":2.000345}\n"
        );
        let refused = Record { refusal: Some(Refusal::TooShort), ..record() };
        assert!(line(&refused, LogFormat::Json).contains(
            "\"referer\":null,\"user_agent\":null,\"coding\":null,\"length_before\":null,\"refusal\":\"too_short\","
        ));
    }

    #[test]
    fn json_escapes_what_a_string_cannot_hold() {
        let mut out = Vec::new();
        json_string(b"\"\\/\x00\n\x1f\x7f\xc3\xa9\xff\xc3", &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\"\\u0022\\u005C/\\u0000\\u000A\\u001F\\u007F\u{e9}\u{fffd}\u{fffd}\""
        );
    }

    #[test]
    fn all_months_are_known_and_a_clock_out_of_bounds_is_the_epoch() {
        for (month, seconds) in (1..=12).zip((0..).map(|n| n * 2_629_800 + 86_400)) {
            let record = Record { time: UNIX_EPOCH + Duration::from_secs(seconds), ..record() };
            assert!(line(&record, LogFormat::Json).starts_with(&format!("{{\"time\":\"1970-{month:02}-")));
        }
        let early: SystemTime = UNIX_EPOCH - Duration::from_secs(1);
        let record = Record { time: early, ..record() };
        assert!(line(&record, LogFormat::Common).contains("[01/Jan/1970:00:00:00 +0000]"));
    }
}
