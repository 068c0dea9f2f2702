//! Range requests (RFC 9110 §14).

use crate::common::{Reply, Server, Site, noise, text};

const LEN: usize = 1000;

fn serve(flags: &[&str]) -> (Vec<u8>, Site, Server) {
    let data = noise(LEN);
    let site = Site::new().with("data.bin", &data).with("empty.bin", "").with("page.html", text(5000));
    let server = Server::start(&site, flags);
    (data, site, server)
}

#[test]
fn one_range_is_a_206() {
    let (data, _site, server) = serve(&[]);
    let cases: [(&str, usize, usize, &str); 10] = [
        ("bytes=0-0", 0, 0, "the first byte"),
        ("bytes=999-999", 999, 999, "the last byte"),
        ("bytes=10-19", 10, 19, "ten bytes"),
        ("bytes=990-", 990, 999, "from a position to the end"),
        ("bytes=-10", 990, 999, "the last ten"),
        ("bytes=-5000", 0, 999, "a suffix longer than the file is all of it"),
        ("bytes=500-5000", 500, 999, "an end beyond the file is cut"),
        ("bytes=0-99999999999999999999999999", 0, 999, "huge numbers are beyond the end"),
        ("BYTES=0-9", 0, 9, "units are case-insensitive"),
        ("bytes= 0-9", 0, 9, "white space is free"),
    ];
    for (range, first, last, rule) in cases {
        let reply = server.get("/data.bin", &[&format!("Range: {range}")]).rule(rule);
        reply.status(206).has("content-range", &format!("bytes {first}-{last}/{LEN}"));
        reply.has("content-length", &(last - first + 1).to_string()).body(&data[first..=last]);
        reply.field("etag");
        reply.field("last-modified");
    }
}

#[test]
fn what_cannot_be_satisfied_is_a_416() {
    let (_data, _site, server) = serve(&[]);
    let cases: [(&str, &str, &str); 6] = [
        ("/data.bin", "bytes=1000-", "from the end"),
        ("/data.bin", "bytes=1000-2000", "beyond the end"),
        ("/data.bin", "bytes=-0", "a suffix of nothing"),
        ("/data.bin", "bytes=2000-3000,4000-", "several, all beyond the end"),
        ("/data.bin", "bytes=99999999999999999999999999-", "huge numbers are beyond the end"),
        ("/empty.bin", "bytes=0-0", "a file of no bytes"),
    ];
    for (target, range, rule) in cases {
        let len = if target == "/data.bin" { LEN } else { 0 };
        let mut conn = server.connect();
        let reply = conn.ask("GET", target, &[&format!("Range: {range}")]).rule(rule);
        reply.status(416).has("content-range", &format!("bytes */{len}"));
        conn.ask("GET", "/data.bin", &[]).rule("the connection goes on after a 416").status(200);
    }
}

#[test]
fn what_is_no_range_of_bytes_is_ignored() {
    let (data, _site, server) = serve(&[]);
    for range in
        ["items=0-5", "bytes=5-2", "bytes=abc", "bytes=", "bytes", "bytes=0-5-9", "bytes=--5", "bytes=0x0-5"]
    {
        let reply = server.get("/data.bin", &[&format!("Range: {range}")]);
        reply.rule("a malformed range or an unknown unit is ignored").status(200).body(&data);
    }
    let head = server.ask("HEAD", "/data.bin", &["Range: bytes=0-0"]);
    head.rule("ranges are defined for GET alone").status(200).has("content-length", "1000");
    let full = server.get("/data.bin", &[]).rule("ranges are advertised where nothing is coded");
    full.status(200).has("accept-ranges", "bytes");
}

#[test]
fn several_ranges_are_parts() {
    let (data, _site, server) = serve(&[]);
    let reply = server
        .get("/data.bin", &["Range: bytes=0-9,500-509,-1"])
        .rule("several ranges: multipart/byteranges");
    reply.status(206).lacks("content-range");
    let parts = parts(&reply);
    let expected = [(0, 9), (500, 509), (999, 999)];
    reply.that(parts.len() == 3, &format!("{} parts", parts.len()));
    for (part, (first, last)) in parts.iter().zip(expected) {
        let head = String::from_utf8_lossy(&part.head).to_ascii_lowercase();
        let range = format!("content-range: bytes {first}-{last}/{LEN}");
        reply.that(head.contains(&range), &format!("the part's head lacks {range}: {head:?}"));
        reply.that(head.contains("content-type: application/octet-stream"), "each part has the file's type");
        reply.that(part.body == data[first..=last], "the part's bytes are wrong");
    }
}

#[test]
fn of_several_ranges_the_satisfiable_ones_are_sent() {
    let (data, _site, server) = serve(&[]);
    let reply =
        server.get("/data.bin", &["Range: bytes=2000-,10-19"]).rule("what lies beyond the end is left out");
    reply.status(206).has("content-range", "bytes 10-19/1000").body(&data[10..=19]);
}

#[test]
fn overlapping_and_many_ranges_cost_no_more_than_the_file() {
    let (data, _site, server) = serve(&[]);
    let reply =
        server.get("/data.bin", &["Range: bytes=0-10,5-15,11-20"]).rule("overlapping ranges are merged");
    match reply.status {
        206 => reply.has("content-range", "bytes 0-20/1000").body(&data[..=20]),
        _ => reply.status(200).body(&data),
    };
    for member in ["0-", "0-999", "1-1", "-1000"] {
        let all = vec![member; 1000].join(",");
        let reply = server.get("/data.bin", &[&format!("Range: bytes={all}")]);
        let reply = reply.rule("a thousand ranges are merged, or the whole is sent");
        reply.status_in(&[200, 206]);
        reply.that(reply.body.len() <= LEN, "the response is longer than the file");
    }
    let scattered: Vec<String> = (0..400).map(|n| format!("{0}-{0}", n * 2)).collect();
    let reply = server.get("/data.bin", &[&format!("Range: bytes={}", scattered.join(","))]);
    let reply = reply.rule("many small ranges: the whole is cheaper than their heads");
    reply.status(200).body(&data);
}

#[test]
fn if_range_wants_a_strong_tag_or_the_date() {
    let (data, site, server) = serve(&[]);
    let tag = server.get("/data.bin", &[]).field("etag").to_owned();
    let cases: [(String, u16, &str); 6] = [
        (tag.clone(), 206, "the strong tag"),
        (Site::LAST_MODIFIED.into(), 206, "the date"),
        (format!("W/{tag}"), 200, "a weak tag never matches"),
        ("\"x\"".into(), 200, "another tag"),
        ("Wed, 01 Jan 2020 00:00:01 GMT".into(), 200, "the date must be the very one"),
        ("soon".into(), 200, "neither tag nor date"),
    ];
    for (value, status, rule) in &cases {
        let fields = ["Range: bytes=0-9", &format!("If-Range: {value}")];
        let reply = server.get("/data.bin", &fields).rule(&format!("If-Range: {rule}"));
        reply.status(*status).body(if *status == 206 { &data[..10] } else { &data });
    }
    site.write("fresh.bin", &data);
    site.touch("fresh.bin");
    let weak = server.get("/fresh.bin", &[]).field("etag").to_owned();
    let reply = server.get("/fresh.bin", &["Range: bytes=0-9", &format!("If-Range: {weak}")]);
    reply.rule("If-Range: the server's own weak tag does not match").status(200).body(&data);
}

#[test]
fn preconditions_come_before_ranges() {
    let (_data, _site, server) = serve(&[]);
    let tag = server.get("/data.bin", &[]).field("etag").to_owned();
    let none = format!("If-None-Match: {tag}");
    server.get("/data.bin", &["Range: bytes=0-9", &none]).rule("304 beats 206").status(304);
    server.get("/data.bin", &["Range: bytes=5000-", &none]).rule("304 beats 416").status(304);
    server.get("/data.bin", &["Range: bytes=0-9", "If-Match: \"x\""]).rule("412 beats 206").status(412);
}

#[test]
fn a_206_counts_bytes_of_the_representation_it_names() {
    let page = text(5000);
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (_data, _site, server) = serve(flags);
        for coding in ["gzip", "br", "zstd"] {
            let accept = format!("Accept-Encoding: {coding}");
            let full = server.get("/page.html", &[&accept]);
            let reply = server.get("/page.html", &[&accept, "Range: bytes=10-19"]);
            let reply =
                reply.rule("a 206 is never coded on the fly; Content-Range counts bytes of what it names");
            reply.status(206).varies();
            let whole = if reply.get("content-encoding").is_some() {
                reply.coded(coding).has("etag", full.field("etag"));
                reply.that(full.field("etag").starts_with('"'), "parts of a body without a strong tag");
                &full.body
            } else {
                &page
            };
            reply.has("content-range", &format!("bytes 10-19/{}", whole.len())).body(&whole[10..20]);
        }
    }
}

#[test]
fn a_body_coded_on_the_fly_does_not_advertise_ranges() {
    let (_data, _site, server) = serve(&["--compress-store", "off"]);
    let reply = server.get("/page.html", &["Accept-Encoding: gzip"]);
    let reply = reply.rule("Accept-Ranges is not advertised when coding on the fly");
    reply.coded("gzip").that(reply.get("accept-ranges").unwrap_or("none") == "none", "ranges are advertised");
}

/// One part of a multipart body.
pub(crate) struct Part {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// Takes a body of multipart/byteranges apart (RFC 2046 §5.1.1).
pub(crate) fn parts(reply: &Reply) -> Vec<Part> {
    let kind = reply.field("content-type");
    let boundary = kind.strip_prefix("multipart/byteranges; boundary=");
    let boundary = boundary.unwrap_or_else(|| reply.fail("not multipart/byteranges")).trim_matches('"');
    let mut parts = Vec::new();
    let delimiter = format!("--{boundary}").into_bytes();
    let mut rest = &reply.body[..];
    // The first delimiter may stand at the very beginning, each later one follows CRLF.
    rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
    loop {
        rest = rest.strip_prefix(&*delimiter).unwrap_or_else(|| reply.fail("no delimiter where one is due"));
        if let Some(end) = rest.strip_prefix(b"--") {
            reply.that(end.is_empty() || end == b"\r\n", "bytes after the last delimiter");
            return parts;
        }
        rest = rest.strip_prefix(b"\r\n").unwrap_or_else(|| reply.fail("a delimiter ends its line"));
        let head = find(rest, b"\r\n\r\n").unwrap_or_else(|| reply.fail("a part has a head"));
        let body = &rest[head + 4..];
        let end =
            find(body, &[b"\r\n", &*delimiter].concat()).unwrap_or_else(|| reply.fail("no last delimiter"));
        parts.push(Part { head: rest[..head].to_vec(), body: body[..end].to_vec() });
        rest = &body[end + 2..];
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
