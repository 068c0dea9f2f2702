//! `CompressLayer` in servers of others, through a real socket: on an axum router, and on plain hyper.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use bytes::Bytes;
use flate2::read::GzDecoder;
use futures_util::stream;
use http::header::{CONTENT_TYPE, ETAG};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use laneflate::encode::layer::CompressLayer;
use tokio::net::TcpListener;
use tokio::runtime;
use tower_layer::Layer;

const PAGE_LINE: &str = "All work and no play makes a dull page.\n";

fn page() -> String {
    PAGE_LINE.repeat(200)
}

/// Serves in a thread of its own, for as long as the test program runs.
fn serve<F>(server: impl FnOnce(TcpListener) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()>,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move { server(TcpListener::from_std(listener).unwrap()).await });
    });
    address
}

fn axum_server() -> SocketAddr {
    let events = || async {
        Sse::new(stream::unfold(1, |event| async move {
            if event > 2 {
                // The source idles, and does not end.
                std::future::pending::<()>().await;
            }
            Some((Ok::<_, Infallible>(Event::default().data(format!("event {event}"))), event + 1))
        }))
    };
    let broken = || async {
        let pieces = [Ok(Bytes::from(page().repeat(100))), Err(io::Error::other("broken on purpose"))];
        ([(CONTENT_TYPE, "text/plain")], Body::from_stream(stream::iter(pieces))).into_response()
    };
    let app = Router::new()
        .route("/page", get(|| async { ([(CONTENT_TYPE, "text/plain"), (ETAG, "\"a\"")], page()) }))
        .route("/long", get(|| async { ([(CONTENT_TYPE, "text/plain")], page().repeat(100)) }))
        .route("/events", get(events))
        .route("/broken", get(broken))
        .layer(CompressLayer::new());
    serve(|listener| async move { axum::serve(listener, app).await.unwrap() })
}

fn hyper_server() -> SocketAddr {
    async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        Ok(Response::builder().header(CONTENT_TYPE, "text/plain").body(Full::from(page())).unwrap())
    }
    serve(|listener| async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let service = TowerToHyperService::new(CompressLayer::new().layer(tower::service_fn(answer)));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
        }
    })
}

/// The head of a response, in lower case, and what followed until the server closed the connection.
struct Reply {
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The body without its chunks, and whether the last chunk was there.
    fn unchunked(&self) -> (Vec<u8>, bool) {
        let (mut rest, mut data) = (&self.body[..], Vec::new());
        while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
            if size == 0 {
                return (data, true);
            }
            let chunk = &rest[at + 2..];
            if chunk.len() < size + 2 {
                break;
            }
            data.extend_from_slice(&chunk[..size]);
            rest = &chunk[size + 2..];
        }
        (data, false)
    }
}

fn connect(address: SocketAddr, request_line: &str, accept: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(socket, "{request_line}\r\nHost: test\r\nConnection: close\r\nAccept-Encoding: {accept}\r\n\r\n")
        .unwrap();
    socket
}

fn ask(address: SocketAddr, request_line: &str, accept: &str) -> Reply {
    let mut bytes = Vec::new();
    connect(address, request_line, accept).read_to_end(&mut bytes).unwrap();
    split(&bytes)
}

fn split(bytes: &[u8]) -> Reply {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    let head = String::from_utf8(bytes[..at].to_vec()).unwrap().to_ascii_lowercase();
    Reply { head, body: bytes[at + 4..].to_vec() }
}

fn gunzip(coded: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(coded).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn axum_small_page() {
    let reply = ask(axum_server(), "GET /page HTTP/1.1", "gzip");
    assert!(reply.head.starts_with("http/1.1 200 "));
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(reply.header("content-length"), Some(&*reply.body.len().to_string()));
    assert_eq!(reply.header("vary"), Some("accept-encoding"));
    assert_eq!(reply.header("etag"), Some("w/\"a\""));
    assert_eq!(gunzip(&reply.body), page());
}

#[test]
fn axum_head() {
    let server = axum_server();
    let get = ask(server, "GET /page HTTP/1.1", "gzip");
    let head = ask(server, "HEAD /page HTTP/1.1", "gzip");
    assert!(head.body.is_empty());
    for name in ["content-encoding", "content-length", "content-type", "vary", "etag"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
}

#[test]
fn axum_plain_page() {
    let reply = ask(axum_server(), "GET /page HTTP/1.1", "identity");
    assert_eq!(reply.header("content-encoding"), None);
    assert_eq!(reply.header("vary"), Some("accept-encoding"));
    assert_eq!(reply.header("etag"), Some("\"a\""));
    assert_eq!(reply.body, page().as_bytes());
}

#[test]
fn axum_long_page_in_each_coding() {
    let server = axum_server();
    for coding in ["gzip", "br", "zstd"] {
        let reply = ask(server, "GET /long HTTP/1.1", coding);
        assert_eq!(reply.header("content-encoding"), Some(coding));
        assert_eq!(reply.header("transfer-encoding"), Some("chunked"));
        let (coded, complete) = reply.unchunked();
        assert!(complete);
        let mut text = String::new();
        match coding {
            "gzip" => text = gunzip(&coded),
            "zstd" => text = String::from_utf8(zstd::decode_all(&coded[..]).unwrap()).unwrap(),
            _ => drop(brotlic::DecompressorReader::new(&coded[..]).read_to_string(&mut text).unwrap()),
        }
        assert!(text == page().repeat(100), "{coding}");
    }
}

#[test]
fn axum_events_arrive_while_the_source_idles() {
    let mut socket = connect(axum_server(), "GET /events HTTP/1.1", "gzip");
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let mut events = Vec::new();
    // The response never ends; a read that waits in vain fails by its timeout.
    while !events.ends_with(b"data: event 2\n\n") {
        let len = socket.read(&mut buffer).expect("the events in time");
        assert!(len > 0, "the response ended with {events:?}");
        bytes.extend_from_slice(&buffer[..len]);
        if !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            continue;
        }
        let reply = split(&bytes);
        assert_eq!(reply.header("content-encoding"), Some("gzip"));
        events.clear();
        // The stream is open, so its decoder complains in the end.
        let _ = GzDecoder::new(&reply.unchunked().0[..]).read_to_end(&mut events);
    }
    assert_eq!(events, b"data: event 1\n\ndata: event 2\n\n");
}

#[test]
fn axum_broken_source_gives_a_broken_response() {
    let server = axum_server();
    for coding in ["gzip", "identity"] {
        let reply = ask(server, "GET /broken HTTP/1.1", coding);
        assert!(!reply.unchunked().1, "{coding}: the last chunk was sent");
    }
}

#[test]
fn http_1_0_gets_a_length_or_a_close() {
    let server = axum_server();
    let small = ask(server, "GET /page HTTP/1.0", "gzip");
    assert_eq!(small.header("content-length"), Some(&*small.body.len().to_string()));
    assert_eq!(gunzip(&small.body), page());
    let long = ask(server, "GET /long HTTP/1.0", "gzip");
    assert_eq!(long.header("transfer-encoding"), None);
    assert_eq!(gunzip(&long.body), page().repeat(100));
}

#[test]
fn plain_hyper() {
    let server = hyper_server();
    let coded = ask(server, "GET / HTTP/1.1", "gzip;q=0.5, br;q=0.1");
    assert_eq!(coded.header("content-encoding"), Some("gzip"));
    assert_eq!(gunzip(&coded.body), page());
    let refused = ask(server, "GET / HTTP/1.1", "identity;q=0");
    assert!(refused.head.starts_with("http/1.1 406 "));
    assert_eq!(refused.header("content-length"), Some("0"));
}
