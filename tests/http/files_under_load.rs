//! Files that change while they are sent.

use std::fs::{self, File};
use std::time::Duration;

use crate::common::{Server, Site, eventually, noise, patience, text};

/// More than the buffers of both sockets hold, so that a response is still being made when its file changes.
const BIG: usize = 48 << 20;

/// Reads the head and the first bytes of a response and leaves the rest in the server's hands.
fn begin(server: &Server, len: usize) -> (crate::common::Conn, Vec<u8>) {
    let mut conn = server.connect();
    conn.send(crate::common::request("GET", "/big.bin", &[]));
    let mut read = Vec::new();
    while !read.windows(4).any(|four| four == b"\r\n\r\n") {
        read.extend(conn.read_some(1));
    }
    let head = String::from_utf8_lossy(&read).to_ascii_lowercase();
    assert!(head.contains(&format!("content-length: {len}\r\n")), "{head}");
    let first = conn.read_some(1 << 10);
    (conn, first)
}

#[test]
fn a_file_replaced_in_mid_response_is_sent_to_its_old_end() {
    let old = noise(BIG);
    let site = Site::new().with("big.bin", &old);
    let server = Server::start(&site, &["--cache-validity", "0"]);
    let (mut conn, first) = begin(&server, BIG);
    site.replace("big.bin", "new");
    server.get("/big.bin", &[]).rule("a new request gets the new file").status(200).body("new");
    let rest = conn.read_some(BIG - first.len());
    assert!([first, rest].concat() == old, "the replaced file was not sent to its old end");
    conn.ask("GET", "/big.bin", &[]).rule("the connection goes on").status(200).body("new");
}

#[test]
fn a_file_removed_in_mid_response_is_sent_to_its_end() {
    let old = noise(BIG);
    let site = Site::new().with("big.bin", &old);
    let server = Server::start(&site, &[]);
    let (mut conn, first) = begin(&server, BIG);
    fs::remove_file(site.path("big.bin")).expect("remove");
    let rest = conn.read_some(BIG - first.len());
    assert!([first, rest].concat() == old, "the removed file was not sent to its end");
}

#[test]
fn a_file_truncated_in_mid_response_closes_the_connection() {
    let site = Site::new().with("big.bin", noise(BIG)).with("next.txt", "the next response");
    let server = Server::start(&site, &[]);
    let (mut conn, first) = begin(&server, BIG);
    // Pipelined: a server that pads or forgets would put this response into the body.
    conn.send(crate::common::request("GET", "/next.txt", &[]));
    File::options().write(true).open(site.path("big.bin")).expect("open").set_len(1 << 10).expect("truncate");
    let (rest, _) = conn.read_to_end();
    let len = first.len() + rest.len();
    assert!(len < BIG, "{len} bytes of a body of {BIG} came after its file was cut");
    let tail = &rest[rest.len().saturating_sub(64)..];
    assert!(
        !rest.windows(9).any(|nine| nine == b"HTTP/1.1 "),
        "a response within the body: {}",
        tail.escape_ascii()
    );
    server.still_serves("/next.txt", "a truncated file");
}

#[test]
fn a_file_truncated_while_it_is_coded_breaks_the_stream() {
    let site = Site::new().with("next.txt", "next");
    site.write("big.txt", noise(BIG));
    let server = Server::start(&site, &["--compress-store", "off"]);
    let mut conn = server.connect();
    conn.send(crate::common::request("GET", "/big.txt", &["Accept-Encoding: gzip"]));
    conn.read_some(1 << 10);
    File::options().write(true).open(site.path("big.txt")).expect("open").set_len(1 << 10).expect("truncate");
    let (rest, _) = conn.read_to_end();
    assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "a coded body that lost its file ended as if it were whole");
    server.still_serves("/next.txt", "a truncated file");
}

#[test]
fn a_file_that_grows_in_mid_response_keeps_its_length() {
    let old = noise(BIG);
    let site = Site::new().with("big.bin", &old).with("next.txt", "the next response");
    let server = Server::start(&site, &[]);
    let (mut conn, first) = begin(&server, BIG);
    let grown = File::options().write(true).open(site.path("big.bin")).expect("open");
    grown.set_len(BIG as u64 + 1000).expect("grow");
    let rest = conn.read_some(BIG - first.len());
    assert!([first, rest].concat() == old, "more or other bytes than the head announced");
    let next = conn.ask("GET", "/next.txt", &[]);
    next.rule("nothing of the growth is on the wire").status(200).body("the next response");
}

#[test]
fn changes_are_seen_within_the_validity_of_the_cache() {
    let site = Site::new().with("page.html", text(1000));
    let server = Server::start(&site, &["--cache-validity", "500ms"]);
    let see = |status: u16, body: &[u8]| {
        eventually("changes are seen within the validity", Duration::from_millis(1500), || {
            let reply = server.get("/page.html", &["Accept-Encoding: gzip"]);
            reply.status == status && (status != 200 || reply.decoded() == body)
        });
    };
    see(200, &text(1000));
    site.write("page.html", text(2000));
    site.age("page.html", Duration::from_secs(5));
    see(200, &text(2000));
    fs::remove_file(site.path("page.html")).expect("remove");
    see(404, b"");
    site.write("page.html", text(700));
    see(200, &text(700));
}

#[test]
fn a_file_rewritten_under_its_old_date_is_coded_anew() {
    let old = text(5000);
    let new: Vec<u8> = old.iter().rev().copied().collect();
    let site = Site::new().with("page.html", &old);
    let server = Server::start(&site, &["--cache-validity", "100ms"]);
    let accept = "Accept-Encoding: gzip";
    for _ in 0..2 {
        let reply = server.get("/page.html", &[accept]).rule("coded once, then from the store");
        reply.status(200).coded("gzip").decodes_to(&old);
    }
    // In place, so that the file keeps its number; of the same length; and with the date of every file here.
    site.write("page.html", &new);
    std::thread::sleep(Duration::from_millis(300));
    let reply = server.get("/page.html", &[accept]).rule("the store never serves stale bytes");
    reply.status(200).coded("gzip").decodes_to(&new);
    server.get("/page.html", &[]).rule("nor does the cache of files").status(200).body(&new);
}

#[test]
fn a_client_that_leaves_stops_the_work() {
    let site = Site::new().with("next.txt", "next");
    site.sparse("big.txt", 4 << 30);
    let server = Server::start(&site, &["--compress-store", "off"]);
    for _ in 0..4 {
        let mut conn = server.connect();
        conn.send(crate::common::request("GET", "/big.txt", &["Accept-Encoding: gzip"]));
        conn.read_some(100);
    }
    eventually("a client that leaves stops the work", patience(), || {
        let before = server.cpu_time();
        std::thread::sleep(Duration::from_millis(500));
        server.cpu_time() - before <= Duration::from_millis(20)
    });
    server.still_serves("/next.txt", "clients that left");
}
