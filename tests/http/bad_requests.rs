//! Requests that are wrong: the status that RFC 9110 and 9112 name, then a close, and a server that goes on.

use std::time::{Duration, Instant};

use crate::common::{Server, Site, noise, patience, request, text};

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new().with("page.html", text(5000)).with("smuggled.html", "smuggled");
    let server = Server::start(&site, flags);
    (site, server)
}

/// Sends `bytes`; the answer must be `status` and then a close.
#[track_caller]
fn refused(server: &Server, bytes: &[u8], statuses: &[u16], rule: &str) {
    let mut conn = server.connect();
    // The server may refuse before it has read everything.
    let _ = conn.try_send(bytes);
    match conn.try_read_reply("GET") {
        Ok(reply) => {
            reply.rule(rule).status_in(statuses);
        }
        Err(broken) => panic!(
            "no response: {broken}\nrule: {rule}\nto: {}",
            bytes[..bytes.len().min(300)].escape_ascii()
        ),
    }
    conn.closed_within(patience(), &format!("a refused request ends the connection: {rule}"));
}

#[test]
fn malformed_heads_get_400_and_a_close() {
    let (_site, server) = serve(&[]);
    let cases: [(&[u8], &str); 15] = [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "TLS on a plain port"),
        (b"hello\r\n\r\n", "no request line"),
        (b"GET\r\nHost: a\r\n\r\n", "no target"),
        (b"GET /page.html\r\nHost: a\r\n\r\n", "no version"),
        (b"GET /page.html HTTP/1.1 x\r\nHost: a\r\n\r\n", "a fourth word"),
        (b"GET /page.html HTTP/x.y\r\nHost: a\r\n\r\n", "no version number"),
        (b"GET /page.html http/1.1\r\nHost: a\r\n\r\n", "the version has case"),
        (b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "a space in the target"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", "a space in a field name"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", "no field name"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nnocolon\r\n\r\n", "no colon"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", "NUL in a value"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", "a bare CR in a value"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nX\xc3\xa9: b\r\n\r\n", "a field name beyond ASCII"),
        (b"G\x00T /page.html HTTP/1.1\r\nHost: a\r\n\r\n", "NUL in the method"),
    ];
    for (bytes, rule) in cases {
        refused(&server, bytes, &[400], rule);
    }
    refused(
        &server,
        b"GET /page.html HTTP/3.0\r\nHost: a\r\n\r\n",
        &[400, 505],
        "a version nobody speaks here",
    );
    server.still_serves("/page.html", "malformed heads");
}

#[test]
fn a_target_or_host_that_is_none_gets_400() {
    let (_site, server) = serve(&[]);
    let cases: [(&[u8], &str); 4] = [
        (b"GET page.html HTTP/1.1\r\nHost: a\r\n\r\n", "a target that is no form of target"),
        (b"GET /page.html HTTP/1.1\r\n\r\n", "no Host"),
        (b"GET /page.html HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "two Hosts"),
        (b"GET /page.html HTTP/1.1\r\nHost: a b/c\r\n\r\n", "a Host that is no host"),
    ];
    for (bytes, rule) in cases {
        server.raw(bytes).rule(&format!("RFC 9112 §3.2: {rule}")).status(400);
    }
    server.raw(b"GET /page.html HTTP/1.0\r\n\r\n").rule("HTTP/1.0 needs no Host").status(200);
}

#[test]
fn smuggling_shapes_get_400_and_a_close() {
    let (_site, server) = serve(&[]);
    const NEXT: &str = "GET /smuggled.html HTTP/1.1\r\nHost: a\r\n\r\n";
    let cases = [
        ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "both lengths"),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
            "both lengths, the other way round",
        ),
        ("Content-Length: 0\r\nContent-Length: 44\r\n\r\n", "two Content-Lengths that differ"),
        ("Content-Length: 0, 44\r\n\r\n", "a list of Content-Lengths that differ"),
        ("Content-Length: +0\r\n\r\n", "a sign"),
        ("Content-Length: -1\r\n\r\n", "a negative length"),
        ("Content-Length: 0x0\r\n\r\n", "a hexadecimal length"),
        ("Content-Length: 0 0\r\n\r\n", "a length of two words"),
        ("Content-Length:\r\n\r\n", "an empty length"),
        ("Content-Length: 99999999999999999999999999\r\n\r\n", "a length beyond all numbers"),
        ("Content-Length : 0\r\n\r\n", "a space before the colon"),
        ("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "a space before the colon"),
        ("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "chunked is not the last"),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            "chunked is not the last",
        ),
        ("X: a\r\n b\r\n\r\n", "a folded line (obs-fold)"),
        ("X: a\r\n\tb\r\n\r\n", "a folded line (obs-fold)"),
        (" X: a\r\n\r\n", "white space before a field"),
    ];
    for (rest, rule) in cases {
        for method in ["GET", "POST"] {
            let bytes = format!("{method} /page.html HTTP/1.1\r\nHost: a\r\n{rest}{NEXT}");
            refused(&server, bytes.as_bytes(), &[400], rule);
        }
    }
    for coding in ["xchunked", "gzip", "chunked, chunked", "\x0bchunked"] {
        let bytes = format!(
            "POST /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n{NEXT}"
        );
        refused(&server, bytes.as_bytes(), &[400, 501], "a transfer coding nobody knows (RFC 9112 §6.1)");
    }
    let old = format!("POST /page.html HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{NEXT}");
    refused(&server, old.as_bytes(), &[400], "a transfer coding in HTTP/1.0 (RFC 9112 §6.1)");
    server.still_serves("/page.html", "smuggling shapes");
}

#[test]
fn a_bare_lf_ends_no_line() {
    let (_site, server) = serve(&[]);
    let cases: [&[u8]; 4] = [
        b"GET /page.html HTTP/1.1\nHost: a\n\n",
        b"GET /page.html HTTP/1.1\r\nHost: a\n\r\n",
        b"GET /page.html HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n",
        b"GET /page.html HTTP/1.1\nHost: a\r\n\r\n",
    ];
    for bytes in cases {
        refused(&server, bytes, &[400], "a bare LF gets 400 and a close");
    }
    server.still_serves("/page.html", "bare LFs");
}

#[test]
fn broken_chunks_never_become_a_request() {
    let (_site, server) = serve(&[]);
    let next = "GET /smuggled.html HTTP/1.1\r\nHost: a\r\n\r\n";
    let cases = [
        ("zz\r\n", "a size that is no number"),
        ("-1\r\n", "a negative size"),
        ("0x5\r\nhello\r\n0\r\n\r\n", "a size with a prefix"),
        ("5;a\nb\r\nhello\r\n0\r\n\r\n", "LF in a chunk extension"),
        ("5;a\rb\r\nhello\r\n0\r\n\r\n", "CR in a chunk extension"),
        ("5\nhello\r\n0\r\n\r\n", "a size that ends in a bare LF"),
        ("5\r\nhelloXX0\r\n\r\n", "a chunk that does not end in CRLF"),
        ("fffffffffffffffff\r\nhello\r\n", "a size beyond all numbers"),
        ("5 5\r\nhello\r\n0\r\n\r\n", "a size of two words"),
    ];
    for (chunks, rule) in cases {
        let mut conn = server.connect();
        let head = "POST /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let _ = conn.try_send(format!("{head}{chunks}{next}"));
        let reply = conn.read_reply("POST").rule(rule);
        reply.status_in(&[400, 405]);
        conn.closed_within(patience(), &format!("a broken body ends the connection: {rule}"));
    }
    let mut conn = server.connect();
    let long = "x".repeat(200_000);
    let _ = conn.try_send(format!(
        "POST /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;{long}\r\nhello\r\n0\r\n\r\n{next}"
    ));
    conn.read_reply("POST").rule("chunk extensions are bounded").status_in(&[400, 405, 413]);
    conn.closed_within(patience(), "an extension without end ends the connection");
    server.still_serves("/page.html", "broken chunks");
}

#[test]
fn heads_beyond_the_limits_are_431() {
    let (_site, server) = serve(&[]);
    let value = "x".repeat(100 << 10);
    let one = request("GET", "/page.html", &[&format!("X: {value}")]);
    refused(&server, &one, &[431], "one field of 100 KB");
    let fields: Vec<String> = (0..1000).map(|n| format!("X-{n}: {}", "y".repeat(90))).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    refused(&server, &request("GET", "/page.html", &fields), &[431], "a thousand fields in 100 KB");
    let short = vec!["A: b"; 500];
    refused(&server, &request("GET", "/page.html", &short), &[431], "more fields than the limit");
    let within = vec!["A: b"; 90];
    server.get("/page.html", &within).rule("fields within the limit").status(200);
    server
        .get("/page.html", &[&format!("X: {}", "z".repeat(16_000))])
        .rule("16 KB are within the limit")
        .status(200);
    let (_site, tight) = serve(&["--max-head", "8192"]);
    refused(
        &tight,
        &request("GET", "/page.html", &[&format!("X: {}", "z".repeat(9000))]),
        &[431],
        "--max-head",
    );
    tight.get("/page.html", &[&format!("X: {}", "z".repeat(4000))]).rule("--max-head").status(200);
}

#[test]
fn a_target_beyond_the_limit_is_414() {
    let (_site, server) = serve(&[]);
    for len in [40_000, 70_000, 200_000] {
        let bytes = request("GET", &format!("/{}", "a".repeat(len)), &[]);
        refused(&server, &bytes, &[414], "a long target is 414 (RFC 9110 §15.5.15)");
    }
    server
        .get(&format!("/{}", "a/".repeat(3000)), &[])
        .rule("6 KB of target are within the limit")
        .status(404);
}

#[test]
fn a_414_waits_for_the_responses_before_it() {
    let (site, server) = serve(&["--max-head", "8192"]);
    let big = noise(3 << 20);
    site.write("big.bin", &big);
    let long = request("GET", &format!("/{}", "a".repeat(5000)), &[]);
    for (target, body) in [("/page.html", text(5000)), ("/big.bin", big)] {
        let mut conn = server.connect();
        conn.send([request("GET", target, &[]), long.clone()].concat());
        // So that a long response is still on its way when the target is refused.
        std::thread::sleep(Duration::from_millis(100));
        let reply = conn.read_reply("GET").rule("the response before a 414 is whole");
        reply.status(200).that(reply.body == body, "other bytes than the file's");
        let reply = conn.read_reply("GET").rule("a target longer than half of --max-head, behind a request");
        reply.status(414).has("connection", "close");
        conn.closed_within(patience(), "a 414 ends the connection");
    }
    server.still_serves("/page.html", "a long target behind a request");
}

#[test]
fn a_body_beyond_the_limit_is_413() {
    let (_site, server) = serve(&["--max-body", "1000"]);
    let mut conn = server.connect();
    conn.send("GET /page.html HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
    conn.read_reply("GET").rule("a Content-Length beyond --max-body").status(413);
    let mut conn = server.connect();
    conn.send("GET /page.html HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    conn.send("x".repeat(1000));
    conn.read_reply("GET").rule("a body within --max-body").status(200);
}

#[test]
fn a_slow_head_is_cut_in_time() {
    let (_site, server) = serve(&["--head-timeout", "1s"]);
    let slow = |piece: &str, pause: Duration| {
        let mut conn = server.connect();
        let start = Instant::now();
        conn.send("GET /page.html HTTP/1.1\r\nHost: a\r\n");
        while start.elapsed() < Duration::from_secs(3) && conn.try_send(piece).is_ok() {
            std::thread::sleep(pause);
        }
        let status = conn.try_read_reply("GET").ok().map(|reply| reply.status);
        assert!(matches!(status, None | Some(408)), "status {status:?} for a head that never ended");
        conn.closed_within(patience(), "a slow head is cut");
    };
    slow("X: y\r\n", Duration::from_millis(100));
    slow("x", Duration::from_millis(100));
    server.still_serves("/page.html", "slow heads");
}

#[test]
fn a_client_that_leaves_at_any_byte_harms_nobody() {
    let (_site, server) = serve(&[]);
    let whole = request("GET", "/page.html", &["Accept-Encoding: gzip", "Range: bytes=0-9"]);
    for end in 0..=whole.len() {
        let mut conn = server.connect();
        conn.send(&whole[..end]);
        if end % 2 == 0 {
            conn.finish();
            let (rest, _) = conn.read_to_end();
            // An unfinished head is no request: nothing, or an error, but no success.
            let answered = rest.starts_with(b"HTTP/1.1 2");
            assert_eq!(answered, end == whole.len(), "cut at {end}: {}", rest.escape_ascii());
        }
    }
    server.still_serves("/page.html", "clients that left");
    let body =
        b"POST /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for end in 0..body.len() {
        let mut conn = server.connect();
        conn.send(&body[..end]);
    }
    server.still_serves("/page.html", "clients that left");
}

#[test]
fn odd_headers_never_make_a_500() {
    let (_site, server) = serve(&[]);
    let names = [
        "Accept",
        "Accept-Encoding",
        "Range",
        "If-Range",
        "If-Match",
        "If-None-Match",
        "If-Modified-Since",
        "If-Unmodified-Since",
        "Cookie",
        "Connection",
        "Expect",
        "TE",
        "Upgrade",
        "Referer",
        "User-Agent",
        "Via",
        "Cache-Control",
        "Content-Type",
        "Content-Encoding",
        "Host",
        "HTTP2-Settings",
    ];
    let long = "9".repeat(5000);
    let list = ",".repeat(5000);
    let values: [&[u8]; 12] = [
        b"",
        b",",
        b";",
        b"\"",
        b"\xff\xfe\xfd",
        b"W/",
        b"*",
        b"bytes=",
        b"\t ",
        long.as_bytes(),
        list.as_bytes(),
        b"a=b=c;;;q=1.0001;\"x",
    ];
    for name in names {
        for value in values {
            let mut bytes = format!("GET /page.html HTTP/1.1\r\nConnection: close\r\n{name}: ").into_bytes();
            bytes.extend_from_slice(value);
            if name != "Host" {
                bytes.extend_from_slice(b"\r\nHost: a");
            }
            bytes.extend_from_slice(b"\r\n\r\n");
            let reply = server.raw(&bytes).rule("a request never makes a 500 by its headers");
            reply.that(reply.status < 500, "a server error");
        }
    }
    server.still_serves("/page.html", "odd headers");
}

#[test]
fn an_empty_line_before_a_request_is_skipped() {
    let (_site, server) = serve(&[]);
    let reply = server.raw(b"\r\nGET /page.html HTTP/1.1\r\nHost: a\r\n\r\n");
    reply.rule("RFC 9112 §2.2: at least one empty line is ignored").status(200).body(text(5000));
}
