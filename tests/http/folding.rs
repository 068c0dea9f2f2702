//! A connection that idles for a second or more gives back what memory it can; its client must not notice.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::{Conn, Server, Site, eventually, noise, patience, request, text};

/// Beyond the second after which a connection is folded, and the tick of the watch that sees it.
const IDLE: Duration = Duration::from_millis(2200);

/// Longer than what is kept in memory, so that it is sent from the disk.
const BIG: usize = 200 << 10;

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new()
        .with("page.html", text(5000))
        .with("big.bin", noise(BIG))
        .with("smuggled.html", "smuggled");
    let server = Server::start(&site, flags);
    (site, server)
}

/// A connection that has been served once and has idled since.
fn folded(server: &Server) -> Conn {
    let mut conn = server.connect();
    conn.ask("GET", "/page.html", &[]).rule("before the fold").status(200).body(text(5000));
    sleep(IDLE);
    conn
}

#[test]
fn a_request_after_the_fold_is_served_and_so_is_one_after_the_next() {
    let (_site, server) = serve(&[]);
    let mut conn = folded(&server);
    let reply = conn.ask("GET", "/page.html", &["Accept-Encoding: gzip"]);
    reply.rule("a request after the fold").status(200).coded("gzip").decodes_to(text(5000));
    sleep(Duration::from_millis(1600));
    let reply = conn.ask("GET", "/big.bin", &[]).rule("a request after the second fold");
    reply.status(200).that(reply.body == noise(BIG), "other bytes than the file's");
}

#[test]
fn two_requests_in_one_segment_after_the_fold_are_both_served() {
    let (_site, server) = serve(&[]);
    let mut conn = folded(&server);
    conn.send([request("GET", "/big.bin", &[]), request("HEAD", "/page.html", &[])].concat());
    let reply = conn.read_reply("GET").rule("the first of two requests after the fold");
    reply.status(200).that(reply.body == noise(BIG), "other bytes than the file's");
    let reply = conn.read_reply("HEAD").rule("the second of two requests after the fold");
    reply.status(200).has("content-length", "5000");
    conn.ask("GET", "/page.html", &[]).rule("the connection goes on").status(200).body(text(5000));
}

#[test]
fn a_head_in_two_parts_after_the_fold_is_whole() {
    let (_site, server) = serve(&[]);
    let mut conn = folded(&server);
    let head = request("GET", "/page.html", &["Range: bytes=10-19"]);
    let (first, rest) = head.split_at(30);
    conn.send(first);
    sleep(Duration::from_millis(700));
    conn.send(rest);
    let reply = conn.read_reply("GET").rule("half a head after the fold, then the rest");
    reply.status(206).body(&text(5000)[10..20]);
}

#[test]
fn a_connection_in_the_middle_of_a_head_is_not_folded() {
    let (_site, server) = serve(&[]);
    let mut conn = server.connect();
    let next = request("GET", "/page.html", &["Range: bytes=10-19"]);
    let (first, rest) = next.split_at(30);
    conn.send([&request("GET", "/page.html", &[]), first].concat());
    conn.read_reply("GET").rule("a request with a half behind it").status(200).body(text(5000));
    sleep(IDLE);
    conn.send(rest);
    let reply = conn.read_reply("GET").rule("what came of a head before the pause is not lost");
    reply.status(206).body(&text(5000)[10..20]);
}

#[test]
fn a_body_that_comes_late_is_not_a_request() {
    let (_site, server) = serve(&[]);
    let mut conn = server.connect();
    let body = request("GET", "/smuggled.html", &[]);
    conn.send(request("GET", "/page.html", &[&format!("Content-Length: {}", body.len())]));
    // The response may wait for the body.
    conn.patience(IDLE);
    let _ = conn.try_read_reply("GET");
    sleep(IDLE);
    let _ = conn.try_send(&body);
    conn.patience(Duration::from_millis(500));
    let (rest, _) = conn.read_to_end();
    let answered = rest.windows(8).any(|eight| eight == b"smuggled");
    assert!(!answered, "the body of a request became a request: {}", rest.escape_ascii());
}

#[test]
fn the_end_of_the_server_does_not_wait_for_folded_connections() {
    let (_site, mut server) = serve(&[]);
    let mut conn = folded(&server);
    server.signal(Signal::TERM);
    let start = Instant::now();
    assert_eq!(server.wait(patience()).code(), Some(0), "exit 0");
    let waited = start.elapsed();
    assert!(waited < Duration::from_secs(2), "a folded connection held it up for {waited:?}");
    conn.closed_within(patience(), "a folded connection is closed at the end");
}

#[test]
fn a_folded_connection_is_closed_after_the_keepalive_timeout() {
    let (_site, server) = serve(&["--keepalive-timeout", "3s"]);
    let start = Instant::now();
    let mut conn = folded(&server);
    conn.closed_within(Duration::from_secs(4), "an idle connection is closed, folded or not");
    let waited = start.elapsed();
    assert!(waited > Duration::from_millis(2800), "closed after {waited:?} of 3 s");
}

#[test]
fn a_client_that_leaves_a_folded_connection_makes_room() {
    let (_site, server) = serve(&["--max-connections-per-address", "1"]);
    drop(folded(&server));
    eventually("a folded connection ends with its client", Duration::from_secs(2), || {
        let mut conn = server.connect();
        conn.send(request("GET", "/page.html", &[]));
        conn.try_read_reply("GET").is_ok_and(|reply| reply.status == 200)
    });
}

#[test]
fn many_folded_connections_may_speak_at_once() {
    let (_site, server) = serve(&[]);
    let mut conns: Vec<Conn> = (0..200).map(|_| server.connect()).collect();
    for conn in &mut conns {
        conn.ask("GET", "/page.html", &[]).status(200);
    }
    sleep(IDLE);
    for conn in &mut conns {
        conn.send(request("GET", "/page.html", &["Accept-Encoding: gzip"]));
    }
    for conn in &mut conns {
        let reply = conn.read_reply("GET").rule("200 folded connections speak at once");
        reply.status(200).coded("gzip").decodes_to(text(5000));
    }
}
