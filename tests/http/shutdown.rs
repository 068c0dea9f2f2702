//! The end of the process on a signal.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::{Conn, Server, Site, eventually, patience, request, text};

const BIG: usize = 64 << 20;

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new().with("page.html", text(5000));
    site.sparse("big.bin", BIG as u64);
    let server = Server::start(&site, flags);
    (site, server)
}

fn begin(server: &Server) -> Conn {
    let mut conn = server.connect();
    conn.send(request("GET", "/big.bin", &[]));
    conn.read_some(1);
    conn
}

#[test]
fn term_and_int_finish_what_is_in_flight() {
    for signal in [Signal::TERM, Signal::INT] {
        let (_site, mut server) = serve(&[]);
        let mut conn = begin(&server);
        server.signal(signal);
        eventually("no new connection is accepted", patience(), || {
            TcpStream::connect(server.address()).is_err()
        });
        let rest = conn.read_some(BIG);
        assert!(rest.iter().rev().take(1000).all(|&byte| byte == 0), "the body's end");
        assert_eq!(server.wait(patience()).code(), Some(0), "exit 0 after {signal:?}");
    }
}

#[test]
fn idle_connections_do_not_hold_up_the_end() {
    let (_site, mut server) = serve(&[]);
    let mut idle = server.connect();
    idle.ask("GET", "/page.html", &[]).status(200);
    let mut silent = server.connect();
    server.signal(Signal::TERM);
    let start = Instant::now();
    assert_eq!(server.wait(patience()).code(), Some(0), "exit 0");
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "idle connections held it up for {:?}",
        start.elapsed()
    );
    idle.closed_within(patience(), "an idle connection is closed");
    silent.closed_within(patience(), "a connection without a request is closed");
}

#[test]
fn the_time_for_the_end_is_bounded() {
    let (_site, mut server) = serve(&["--shutdown-timeout", "1s"]);
    let _stalled = begin(&server);
    server.signal(Signal::TERM);
    let start = Instant::now();
    assert_eq!(server.wait(patience()).code(), Some(0), "exit 0 where a client never reads its response");
    let waited = start.elapsed();
    assert!(waited > Duration::from_millis(700) && waited < Duration::from_secs(8), "it took {waited:?}");
}

#[test]
fn no_request_is_lost_at_the_end() {
    let (_site, mut server) = serve(&[]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (answered, broken) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(|| client(&server, &stop))).collect();
        std::thread::sleep(Duration::from_millis(300));
        server.signal(Signal::TERM);
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().expect("a client")).fold(
            (0, Vec::new()),
            |(n, mut all), (m, one)| {
                all.extend(one);
                (n + m, all)
            },
        )
    });
    assert!(answered > 0, "the clients were served");
    assert!(broken.is_empty(), "responses that began and did not end: {broken:?}");
    assert_eq!(server.wait(patience()).code(), Some(0), "exit 0");
}

/// Asks on one connection after another until `stop`; counts whole responses and keeps what was cut.
fn client(server: &Server, stop: &std::sync::atomic::AtomicBool) -> (usize, Vec<String>) {
    let mut answered = 0;
    let mut broken = Vec::new();
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let Ok(stream) = TcpStream::connect(server.address()) else { break };
        let mut conn = Conn::new(stream);
        for _ in 0..10 {
            if conn.try_send(request("GET", "/page.html", &["Accept-Encoding: gzip"])).is_err() {
                break;
            }
            match conn.try_read_reply("GET") {
                Ok(reply) => {
                    reply.status(200).decodes_to(text(5000));
                    answered += 1;
                }
                // A kept-alive connection may close between two requests, but not within a response.
                Err(error) if error.contains("after 0 bytes") => break,
                Err(error) => {
                    broken.push(error);
                    break;
                }
            }
        }
    }
    (answered, broken)
}
