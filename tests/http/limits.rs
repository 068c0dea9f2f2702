//! Bounds on what clients may use.

use std::time::{Duration, Instant};

use crate::common::{Conn, Server, Site, eventually, patience, request, runner, text};

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new().with("page.html", text(5000));
    site.sparse("big.bin", 256 << 20);
    let server = Server::start(&site, flags);
    (site, server)
}

/// Whether a connection is served: a request on it gets its response soon.
fn served(conn: &mut Conn) -> bool {
    conn.patience(Duration::from_millis(700));
    let sent = conn.try_send(request("GET", "/page.html", &[])).is_ok();
    let reply = sent.then(|| conn.try_read_reply("GET").ok()).flatten();
    conn.patience(patience());
    reply.is_some_and(|reply| reply.status == 200)
}

#[test]
fn a_client_that_sends_nothing_is_cut_after_the_head_timeout() {
    let (_site, server) = serve(&["--head-timeout", "1s"]);
    let mut conn = server.connect();
    let start = Instant::now();
    // A 408 first is as good (RFC 9110 §15.5.9).
    if let Ok(reply) = conn.try_read_reply("GET") {
        reply.rule("no request at all").status(408);
    }
    conn.closed_within(patience(), "a client that sends nothing is cut");
    let waited = start.elapsed();
    assert!(waited > Duration::from_millis(800) && waited < Duration::from_secs(8), "cut after {waited:?}");
}

#[test]
fn a_late_head_is_told_408() {
    let (_site, server) = serve(&["--head-timeout", "1s"]);
    let late = |conn: &mut Conn, rule: &str| {
        conn.send("GET /page.html HTTP/1.1\r\nHost: a\r\n");
        let start = Instant::now();
        let reply = conn.read_reply("GET").rule(rule);
        reply.status(408).has("connection", "close");
        let waited = start.elapsed();
        reply.that(waited > Duration::from_millis(800) && waited < Duration::from_secs(4), "not in time");
        conn.closed_within(patience(), "a 408 ends the connection");
    };
    late(&mut server.connect(), "RFC 9110 §15.5.9: half a head, and no more of it in time");
    let mut conn = server.connect();
    conn.ask("GET", "/page.html", &[]).status(200);
    late(&mut conn, "RFC 9110 §15.5.9: half a head behind a request");
}

#[test]
fn empty_lines_do_not_stand_for_a_head() {
    let (_site, server) = serve(&["--head-timeout", "1s"]);
    let mut conn = server.connect();
    let start = Instant::now();
    conn.patience(Duration::from_millis(300));
    while conn.try_send("\r\n").is_ok() {
        let (_, ended) = conn.read_to_end();
        if ended {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(4), "empty lines hold a connection open");
    }
    server.still_serves("/page.html", "empty lines");
}

#[test]
fn an_idle_connection_is_closed_after_the_keepalive_timeout() {
    let (_site, server) = serve(&["--keepalive-timeout", "1s"]);
    let mut conn = server.connect();
    conn.ask("GET", "/page.html", &[]).status(200);
    let start = Instant::now();
    conn.closed_within(Duration::from_secs(8), "an idle connection is closed without a word");
    assert!(start.elapsed() > Duration::from_millis(800), "closed after {:?}", start.elapsed());
    let mut conn = server.connect();
    for _ in 0..6 {
        conn.ask("GET", "/page.html", &[]).rule("a connection in use goes on").status(200);
        std::thread::sleep(Duration::from_millis(400));
    }
}

#[test]
fn a_connection_ends_after_its_requests() {
    let (_site, server) = serve(&["--keepalive-requests", "3"]);
    let mut conn = server.connect();
    for _ in 0..2 {
        let reply = conn.ask("GET", "/page.html", &[]).rule("requests within the limit");
        reply.status(200).that(reply.get("connection") != Some("close"), "closed too early");
    }
    let last = conn.ask("GET", "/page.html", &[]);
    last.rule("the last response says that it is the last")
        .status(200)
        .has("connection", "close")
        .body(text(5000));
    conn.closed_within(patience(), "the connection ends after its requests");
}

#[test]
fn a_reader_that_stalls_is_cut() {
    let (_site, server) = serve(&["--stall-timeout", "1s"]);
    let mut conn = server.connect();
    conn.send(request("GET", "/big.bin", &[]));
    std::thread::sleep(Duration::from_secs(4));
    let (read, _) = conn.read_to_end();
    assert!(read.len() < 256 << 20, "a reader that stalled for 4 s with a limit of 1 s got all of the body");
    server.still_serves("/page.html", "a stalled reader");
}

#[test]
fn a_slow_reader_that_goes_on_is_served() {
    let (site, server) = serve(&["--stall-timeout", "1s"]);
    site.sparse("some.bin", 12 << 20);
    let mut conn = server.connect();
    conn.send(request("GET", "/some.bin", &[]));
    for _ in 0..8 {
        conn.read_some(1 << 20);
        std::thread::sleep(Duration::from_millis(300));
    }
    conn.read_some(4 << 20);
}

#[test]
fn a_body_that_stalls_is_cut() {
    let (_site, server) = serve(&["--stall-timeout", "1s"]);
    let mut conn = server.connect();
    conn.send("GET /page.html HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhello");
    let start = Instant::now();
    // The response may come at once; the connection must not wait for the body for ever.
    let _ = conn.try_read_reply("GET");
    conn.closed_within(Duration::from_secs(8), "a request body that stalls ends the connection");
    assert!(start.elapsed() < Duration::from_secs(8));
}

/// A connection in the middle of a response, so that it is not idle.
fn busy(server: &Server) -> Conn {
    let mut conn = server.connect();
    conn.send(request("GET", "/big.bin", &[]));
    conn.read_some(1);
    conn
}

#[test]
fn connections_in_all_are_bounded() {
    let (_site, server) = serve(&["--max-connections", "4", "--workers", "1"]);
    let mut held: Vec<Conn> = (0..4).map(|_| busy(&server)).collect();
    assert!(!served(&mut server.connect()), "one more than --max-connections is served");
    held.pop();
    eventually("a connection that ended makes room", patience(), || served(&mut server.connect()));
}

#[test]
fn idle_connections_give_way_when_there_is_no_room() {
    let (_site, server) = serve(&["--max-connections", "4", "--workers", "1"]);
    let mut held: Vec<Conn> = (0..4).map(|_| server.connect()).collect();
    for conn in &mut held {
        assert!(served(conn), "a connection within --max-connections is served");
    }
    eventually("an idle connection makes room", patience(), || served(&mut server.connect()));
}

#[test]
fn connections_of_one_address_are_bounded() {
    let (_site, server) = serve(&["--max-connections-per-address", "2"]);
    let mut held: Vec<Conn> = (0..2).map(|_| server.connect()).collect();
    for conn in &mut held {
        assert!(served(conn), "a connection within --max-connections-per-address is served");
    }
    assert!(!served(&mut server.connect()), "one more than --max-connections-per-address is served");
    let mut other = Conn::from("127.0.0.2:0".parse().expect("an address"), &server);
    assert!(served(&mut other), "another address is served");
    held.pop();
    eventually("a connection that ended makes room", patience(), || served(&mut server.connect()));
}

#[test]
fn a_connection_too_many_is_told_503() {
    let (_site, server) = serve(&["--max-connections-per-address", "1"]);
    let mut held = server.connect();
    assert!(served(&mut held), "a connection within --max-connections-per-address is served");
    let told = |conn: &mut Conn, rule: &str| {
        let reply = conn.read_reply("GET").rule(rule);
        reply.status(503).has("connection", "close");
        reply.that(reply.field("retry-after").parse::<u32>().is_ok(), "Retry-After is no number of seconds");
        conn.closed_within(patience(), "a 503 ends the connection");
    };
    told(&mut server.connect(), "RFC 9110 §15.6.4: one connection too many, and its client waits");
    for _ in 0..20 {
        let mut conn = server.connect();
        let _ = conn.try_send(request("GET", "/page.html", &[]));
        told(&mut conn, "RFC 9110 §15.6.4: one connection too many, and its client asks at once");
    }
    assert!(served(&mut held), "the connection within the limit goes on");
}

#[test]
fn the_limit_of_open_files_makes_the_server_pause_not_spin() {
    let site = Site::new().with("page.html", text(5000));
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]);
    let program = runner();
    command.arg(program.get_program()).args(program.get_args());
    command.arg("serve").arg(site.root()).args(["--listen", "127.0.0.1:0", "--workers", "1"]);
    let server = Server::ready(command);
    let held: Vec<Conn> = (0..200).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(500));
    let before = server.cpu_time();
    std::thread::sleep(Duration::from_secs(2));
    let spent = server.cpu_time() - before;
    assert!(spent < Duration::from_millis(200), "{spent:?} of processor time in 2 s with nothing to do");
    drop(held);
    eventually("serves again once files are free", patience(), || served(&mut server.connect()));
}
