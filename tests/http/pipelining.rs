//! Requests sent before the responses to those in front of them came (RFC 9112 §9.3.2).

use std::io::Read;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Reply, Server, Site, noise, patience, request};
use crate::ranges::parts;

/// Several spans of 1 MiB, which is what the server sends of a file at a time.
const LARGE: usize = (7 << 20) / 2;

#[test]
fn files_of_all_lengths_keep_their_order_for_a_slow_reader() {
    let (large, middle, small) = (noise(LARGE), noise(200 << 10), noise(10));
    let site = Site::new().with("large.bin", &large).with("middle.bin", &middle).with("small.bin", &small);
    let server = Server::start(&site, &[]);
    let across = (1 << 20) - 5000..(1 << 20) + 70_000;
    let spread = [100..200, (1 << 20) - 1..(1 << 20) + 1, LARGE - 300_000..LARGE];
    let list: Vec<String> = spread.iter().map(|range| format!("{}-{}", range.start, range.end - 1)).collect();
    let asked = [
        request("GET", "/large.bin", &[]),
        request("GET", "/middle.bin", &[]),
        request("GET", "/small.bin", &[]),
        request("GET", "/large.bin", &[&format!("Range: bytes={}-{}", across.start, across.end - 1)]),
        request("GET", "/large.bin", &[&format!("Range: bytes={}", list.join(","))]),
        request("GET", "/small.bin", &["Connection: close"]),
    ]
    .concat();
    let bytes = read_slowly(&server, &asked);
    let mut rest = &bytes[..];
    let mut next = |status, rule: &str| {
        let reply = take_reply(&mut rest, &asked).rule(rule);
        reply.status(status);
        reply
    };
    next(200, "a file of several spans").body(&large);
    next(200, "a file of one span").body(&middle);
    next(200, "a file that lies in memory").body(&small);
    next(206, "a range across the end of a span").body(&large[across]);
    let reply = next(206, "several ranges");
    let parts = parts(&reply);
    reply.that(parts.len() == spread.len(), &format!("{} parts", parts.len()));
    for (part, range) in parts.iter().zip(spread) {
        reply.that(part.body == large[range], "the part's bytes are wrong");
    }
    next(200, "the file in memory again").body(&small);
    assert!(rest.is_empty(), "{} bytes after the last response", rest.len());
}

/// Sends `asked` and reads all that comes, through a narrow window and in pieces of odd lengths.
fn read_slowly(server: &Server, asked: &[u8]) -> Vec<u8> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(64 << 10).expect("a narrow window");
    socket.connect(&server.address().into()).expect("the server accepts connections");
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(patience())).expect("a time limit");
    std::io::Write::write_all(&mut stream, asked).expect("the server takes what is sent");
    let mut bytes = Vec::new();
    for length in [1, 7, 1009, 65_537, 13, 300_007, 4099].into_iter().cycle() {
        let read = stream.by_ref().take(length).read_to_end(&mut bytes).expect("the server goes on sending");
        if read == 0 {
            break;
        }
        sleep(Duration::from_millis(2));
    }
    bytes
}

/// Takes the response that `bytes` begin with.
#[track_caller]
fn take_reply(bytes: &mut &[u8], asked: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head where one is due") + 4;
    let mut reply = Reply::parse(&bytes[..end], asked);
    let length: usize = reply.field("content-length").parse().expect("a length");
    reply.that(bytes.len() >= end + length, "the body is cut");
    reply.body = bytes[end..end + length].to_vec();
    *bytes = &bytes[end + length..];
    reply
}
