//! Methods, HEAD, and bodies that a request brings along (RFC 9110 §9, RFC 9112 §6, §9.3).

use crate::common::{Server, Site, patience, text};

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new()
        .with("page.html", text(5000))
        .with("photo.png", text(5000))
        .with("empty.html", "")
        .with("index.html", text(300));
    let server = Server::start(&site, flags);
    (site, server)
}

#[test]
fn head_answers_what_get_would() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (_site, server) = serve(flags);
        let targets = ["/", "/page.html", "/photo.png", "/empty.html", "/nowhere"];
        for (target, coding) in
            targets.iter().flat_map(|target| ["identity", "gzip", "br"].map(|c| (target, c)))
        {
            let accept = format!("Accept-Encoding: {coding}");
            let get = server.get(target, &[&accept]);
            let mut conn = server.connect();
            let head =
                conn.ask("HEAD", target, &[&accept]).rule("HEAD answers what GET would, without a body");
            head.status(get.status);
            for field in
                ["content-type", "content-encoding", "etag", "vary", "last-modified", "accept-ranges"]
            {
                let (from_head, from_get) = (head.get(field), get.get(field));
                head.that(from_head == from_get, &format!("{field} is {from_head:?}, with GET {from_get:?}"));
            }
            let length = head.get("content-length");
            head.that(
                length.is_none() || length == get.get("content-length"),
                "a Content-Length that is not GET's",
            );
            conn.ask("GET", "/page.html", &[]).rule("nothing follows the head of HEAD").status(200);
        }
    }
}

#[test]
fn an_empty_200_is_not_coded() {
    let (_site, server) = serve(&[]);
    let reply =
        server.get("/empty.html", &["Accept-Encoding: gzip, br, zstd"]).rule("an empty 200 is not coded");
    reply.status(200).coded("identity").has("content-length", "0").body("");
}

#[test]
fn other_methods_are_405_with_allow() {
    let (_site, server) = serve(&[]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE"] {
        let reply =
            server.ask(method, "/page.html", &["Content-Length: 0"]).rule("405 names what is allowed");
        reply.status(405);
        allows_get_and_head(&reply);
    }
}

#[test]
fn options_says_what_is_allowed() {
    let (_site, server) = serve(&[]);
    for target in ["/page.html", "*"] {
        let reply = server.ask("OPTIONS", target, &[]).rule("OPTIONS, or its refusal, names what is allowed");
        reply.status_in(&[200, 204, 405]);
        allows_get_and_head(&reply);
    }
}

#[test]
fn methods_nobody_knows_are_501() {
    let (_site, server) = serve(&[]);
    for method in ["BREW", "get", "GETX"] {
        server
            .ask(method, "/page.html", &[])
            .rule("an unrecognized method is 501, and methods have case")
            .status(501);
    }
}

#[test]
fn a_body_sent_along_is_never_taken_for_a_request() {
    let (_site, server) = serve(&[]);
    let inner = "GET /inner HTTP/1.1\r\nHost: a\r\n\r\n";
    let fixed =
        format!("GET /page.html HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{inner}", inner.len());
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let chunked = format!("GET /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}");
    let posted = format!("POST /page.html HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}");
    for (bytes, status) in [(fixed, 200), (chunked, 200), (posted, 405)] {
        let mut conn = server.connect();
        conn.send(&bytes);
        conn.read_reply("GET").rule("the request itself is answered").status(status);
        if conn.try_send("GET /photo.png HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").is_err() {
            continue;
        }
        // A server may close instead of reading a body that it does not want, but it must not answer the body.
        if let Ok(next) = conn.try_read_reply("GET") {
            next.rule("the body is not a request").status(200).has("content-type", "image/png");
        }
    }
}

#[test]
fn expect_100_continue_is_answered() {
    let (_site, server) = serve(&[]);
    let mut conn = server.connect();
    conn.send("POST /page.html HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    let reply = conn.read_reply("POST").rule("a final status at once, or 100 and then a final status");
    if reply.status == 100 {
        conn.send("hello");
        conn.read_reply("POST").status(405);
    } else {
        reply.status(405);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_site, server) = serve(&[]);
    let mut conn = server.connect();
    let mut bytes = Vec::new();
    for n in 0..50 {
        let (method, target) = [("GET", "/page.html"), ("HEAD", "/photo.png"), ("GET", "/nowhere")][n % 3];
        bytes.extend(crate::common::request(method, target, &["Accept-Encoding: gzip"]));
    }
    conn.send(&bytes);
    for n in 0..50 {
        let (method, status) = [("GET", 200), ("HEAD", 200), ("GET", 404)][n % 3];
        let reply = conn.read_reply(method).rule("each pipelined request is answered in turn");
        reply.status(status);
        if n % 3 == 0 {
            reply.coded("gzip").decodes_to(text(5000));
        }
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let (_site, server) = serve(&[]);
    let mut conn = server.connect();
    for byte in crate::common::request("GET", "/page.html", &["Accept-Encoding: gzip"]) {
        conn.send([byte]);
    }
    conn.read_reply("GET").rule("a request in pieces is one request").status(200).decodes_to(text(5000));
}

#[test]
fn the_connection_goes_on_or_ends_as_the_client_asks() {
    let (_site, server) = serve(&[]);
    let close = "GET /page.html HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let old = "GET /page.html HTTP/1.0\r\n\r\n";
    for bytes in [close, old] {
        let mut conn = server.connect();
        conn.send(bytes);
        conn.read_reply("GET").status(200).body(text(5000));
        conn.closed_within(patience(), "Connection: close, and HTTP/1.0, end the connection");
    }
    let mut conn = server.connect();
    for _ in 0..3 {
        conn.send("GET /page.html HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let reply = conn.read_reply("GET").rule("HTTP/1.0 with keep-alive goes on");
        reply.status(200).has("connection", "keep-alive").body(text(5000));
    }
}

#[test]
fn every_response_has_date_and_type() {
    let (_site, server) = serve(&[]);
    for target in ["/page.html", "/nowhere"] {
        let reply = server.get(target, &[]).rule("Date and Content-Type are there");
        reply.that(reply.field("date").ends_with(" GMT"), "no IMF-fixdate");
        reply.that(reply.field("content-type").starts_with("text/html"), "not a page");
    }
}

#[track_caller]
fn allows_get_and_head(reply: &crate::common::Reply) {
    let allow: Vec<&str> = reply.field("allow").split(',').map(str::trim).collect();
    reply.that(allow.contains(&"GET") && allow.contains(&"HEAD"), "GET and HEAD are not in Allow");
}
