//! `Accept-Encoding` (RFC 9110 §12.5.3, §12.4.2, §8.4.1).

use crate::common::{Reply, Server, Site, patience, text};

/// Fields of a request, the coding that is right, and the rule.
type Case = (&'static [&'static str], &'static str, &'static str);

fn check(server: &Server, page: &[u8], cases: &[Case]) {
    for (fields, coding, rule) in cases {
        server.get("/page.html", fields).rule(rule).status(200).coded(coding).varies().decodes_to(page);
    }
}

fn serve(flags: &[&str]) -> (Vec<u8>, Site, Server) {
    let page = text(5000);
    let site = Site::new().with("page.html", &page).with("photo.png", &page);
    let server = Server::start(&site, flags);
    (page, site, server)
}

#[test]
fn the_field_is_a_list_of_members_in_any_case_and_spacing() {
    let (page, _site, server) = serve(&[]);
    check(
        &server,
        &page,
        &[
            (&[], "identity", "no Accept-Encoding: identity"),
            (&["Accept-Encoding:"], "identity", "empty Accept-Encoding: identity"),
            (&["Accept-Encoding: gzip"], "gzip", "a coding that is named is used"),
            (&["Accept-Encoding: GZip"], "gzip", "tokens are case-insensitive"),
            (&["ACCEPT-ENCODING: br"], "br", "field names are case-insensitive"),
            (&["Accept-Encoding: x-gzip"], "gzip", "x-gzip is gzip"),
            (&["Accept-Encoding: gzip;Q=0.5, br;q=0.4"], "gzip", "q is case-insensitive"),
            (
                &["Accept-Encoding: \t gzip \t;\t q=0.5 ,br ; q=0.4"],
                "gzip",
                "white space around ; and , is free",
            ),
            (&["Accept-Encoding: gzip;q=0.5,br;q=0.4"], "gzip", "white space is optional"),
            (&["Accept-Encoding: , ,, gzip ,,"], "gzip", "empty members are skipped"),
            (&["Accept-Encoding: foo", "Accept-Encoding: gzip"], "gzip", "several lines are one list"),
            (
                &["Accept-Encoding: gzip;q=0.1", "Accept-Encoding: br;q=0.9"],
                "br",
                "several lines are one list",
            ),
        ],
    );
}

#[test]
fn a_malformed_member_is_passed_over() {
    let (page, _site, server) = serve(&[]);
    check(
        &server,
        &page,
        &[
            (&["Accept-Encoding: gzip;q=2"], "identity", "q is at most 1"),
            (&["Accept-Encoding: gzip;q=-1, br"], "br", "q is not negative"),
            (&["Accept-Encoding: gzip;q=0.1234, br;q=0.1"], "br", "q has at most three decimals"),
            (&["Accept-Encoding: gzip;q=abc, br;q=0.1"], "br", "q is a number"),
            (&["Accept-Encoding: gzip;q=, br;q=0.1"], "br", "q is not empty"),
            (&["Accept-Encoding: gz ip, br"], "br", "a token holds no space"),
            (&["Accept-Encoding: ;q=1, gzip"], "gzip", "a member has a name"),
            (&["Accept-Encoding: \"gzip\", br"], "br", "a coding is a token, not a string"),
            (&["Accept-Encoding: gzip;;, br;q=0.5"], "br", "a parameter has a name"),
            (&["Accept-Encoding: gzip, deflate, foo, bar;q=0.3"], "gzip", "unknown codings are passed over"),
        ],
    );
    let mut conn = server.connect();
    conn.send(b"GET /page.html HTTP/1.1\r\nHost: a\r\nAccept-Encoding: \xff\xfe;q=1, gzip\r\n\r\n");
    conn.read_reply("GET").rule("bytes beyond ASCII make a malformed member").status(200).coded("gzip");
}

#[test]
fn q_orders_and_forbids() {
    let (page, _site, server) = serve(&[]);
    check(
        &server,
        &page,
        &[
            (&["Accept-Encoding: gzip;q=0"], "identity", "q=0 forbids"),
            (&["Accept-Encoding: gzip;q=0.000, br"], "br", "q=0.000 forbids"),
            (&["Accept-Encoding: gzip;q=1.000, br;q=0.999"], "gzip", "the highest q wins"),
            (&["Accept-Encoding: gzip;q=0.001"], "gzip", "q=0.001 is acceptable"),
            (&["Accept-Encoding: zstd;q=0.1, gzip;q=0.2, br;q=0.15"], "gzip", "the highest q wins"),
            (&["Accept-Encoding: gzip, br, zstd"], "zstd", "between equals the server's order"),
            (&["Accept-Encoding: gzip, br"], "br", "between equals the server's order"),
            (
                &["Accept-Encoding: gzip;q=0.5, identity"],
                "identity",
                "a higher q for identity wins over a coding",
            ),
            (&["Accept-Encoding: identity;q=0.5, gzip;q=0.4"], "identity", "a higher q for identity wins"),
            (&["Accept-Encoding: identity;q=0.5, gzip;q=0.6"], "gzip", "a higher q for a coding wins"),
            (&["Accept-Encoding: identity"], "identity", "identity alone"),
            (&["Accept-Encoding: identity;q=0, gzip;q=0.1"], "gzip", "identity;q=0 forbids identity"),
        ],
    );
}

#[test]
fn the_asterisk_stands_for_what_is_not_named() {
    let (page, _site, server) = serve(&[]);
    check(
        &server,
        &page,
        &[
            (&["Accept-Encoding: *"], "zstd", "* accepts the server's first"),
            (&["Accept-Encoding: zstd;q=0, *"], "br", "* leaves out what is named"),
            (&["Accept-Encoding: gzip, *;q=0"], "gzip", "*;q=0 forbids the rest"),
            (&["Accept-Encoding: *;q=0.5, identity"], "identity", "identity by name beats *"),
            (&["Accept-Encoding: *;q=0, identity"], "identity", "identity named is not part of *"),
            (&["Accept-Encoding: *;q=0.5, gzip;q=0.9"], "gzip", "a name beats *"),
        ],
    );
}

#[test]
fn nothing_acceptable_is_406() {
    let (page, _site, server) = serve(&[]);
    let refused: [(&str, &str); 4] = [
        ("Accept-Encoding: identity;q=0", "identity forbidden and no coding named"),
        ("Accept-Encoding: *;q=0", "*;q=0 with identity not named forbids identity"),
        ("Accept-Encoding: foo, identity;q=0", "never an unlisted coding"),
        ("Accept-Encoding: gzip;q=0, br;q=0, zstd;q=0, identity;q=0", "everything forbidden"),
    ];
    for (field, rule) in refused {
        let reply = server.get("/page.html", &[field]).rule(rule);
        reply.status(406).coded("identity").varies();
        let head = server.ask("HEAD", "/page.html", &[field]).rule("HEAD answers what GET would");
        head.status(406).varies();
    }
    let plain = server.get("/photo.png", &["Accept-Encoding: identity;q=0"]);
    plain
        .rule("what is never coded does not depend on the field, so it is sent as it is")
        .status(200)
        .body(&page);
    let plain = server.get("/photo.png", &["Accept-Encoding: gzip"]);
    plain.rule("what is never coded is sent plain otherwise").status(200).coded("identity").body(&page);
}

#[test]
fn the_server_order_and_set_are_settings() {
    let (page, _site, server) = serve(&["--codings", "gzip,br"]);
    check(
        &server,
        &page,
        &[
            (&["Accept-Encoding: br, gzip"], "gzip", "the configured order decides between equals"),
            (&["Accept-Encoding: br"], "br", "a later coding is offered too"),
            (&["Accept-Encoding: zstd"], "identity", "a coding that is not configured is not offered"),
            (&["Accept-Encoding: *"], "gzip", "* accepts the configured first"),
        ],
    );
    let reply = server.get("/page.html", &["Accept-Encoding: zstd, identity;q=0"]);
    reply.rule("only offered codings save from 406").status(406);
}

#[test]
fn deflate_means_the_zlib_wrapper() {
    let (page, _site, server) = serve(&["--codings", "gzip,deflate"]);
    // The decoder of `coded` insists on the wrapper.
    check(
        &server,
        &page,
        &[
            (&["Accept-Encoding: deflate"], "deflate", "deflate is offered where it is configured"),
            (&["Accept-Encoding: deflate, gzip"], "gzip", "the configured order decides"),
        ],
    );
}

#[test]
fn deflate_is_not_offered_by_default() {
    let (page, _site, server) = serve(&[]);
    check(
        &server,
        &page,
        &[(&["Accept-Encoding: deflate"], "identity", "deflate is not offered by default")],
    );
}

#[test]
fn a_client_of_http_1_0_gets_no_chunks() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (page, _site, server) = serve(flags);
        for coding in ["gzip", "br", "zstd"] {
            let mut conn = server.connect();
            conn.send(format!("GET /page.html HTTP/1.0\r\nAccept-Encoding: {coding}\r\n\r\n"));
            let reply: Reply = conn.read_reply("GET").rule("HTTP/1.0: a length or a close, no chunks");
            reply.status(200).lacks("transfer-encoding").varies().decodes_to(&page);
            conn.closed_within(patience(), "HTTP/1.0 without keep-alive closes");
        }
    }
}
