//! HTTP/2 without TLS, by prior knowledge (RFC 9113 §3.3), with a client by others.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Method, Request, StatusCode};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::common::{Server, Site, decode, noise, patience, text};

/// Names and values.
type Fields<'a> = &'a [(&'a str, &'a str)];

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new()
        .with("page.html", text(5000))
        .with("big.bin", noise(3 << 20))
        .with("docs/index.html", "docs");
    site.sparse("huge.bin", 1 << 30);
    let server = Server::start(&site, flags);
    (site, server)
}

/// Runs a client to its end, or fails after a while.
#[track_caller]
fn run(client: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(patience(), client).await.expect("within the time") });
}

async fn connect(server: &Server) -> SendRequest<Bytes> {
    connect_with_window(server, 65_535).await.0
}

/// Connects with a window of that many bytes for each stream; the task that drives the connection and answers PING ends with it.
async fn connect_with_window(server: &Server, window: u32) -> (SendRequest<Bytes>, JoinHandle<()>) {
    let stream = TcpStream::connect(server.address()).await.expect("the server accepts connections");
    let (client, connection) = h2::client::Builder::new()
        // Until the server's settings come, no more than the fewest that it may be expected to take.
        .initial_max_send_streams(100)
        .initial_window_size(window)
        .handshake(stream)
        .await
        .expect("HTTP/2 by prior knowledge");
    // How it ended is the server's choice: GOAWAY, or the socket closed.
    let task = tokio::spawn(async { drop(connection.await) });
    (client, task)
}

/// A request to `target` with fields.
fn request(server: &Server, method: Method, target: &str, fields: Fields<'_>) -> Request<()> {
    let uri = format!("http://{}{target}", server.address());
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(()).expect("a request")
}

async fn ask(
    client: &mut SendRequest<Bytes>,
    request: Request<()>,
) -> Result<(StatusCode, HeaderMap, Vec<u8>), h2::Error> {
    *client = client.clone().ready().await?;
    let (response, _) = client.send_request(request, true)?;
    let response = response.await?;
    let (status, fields) = (response.status(), response.headers().clone());
    let mut stream = response.into_body();
    let mut body = Vec::new();
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        body.extend_from_slice(&data);
    }
    Ok((status, fields, body))
}

#[test]
fn files_come_plain_and_coded() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        for coding in ["identity", "gzip", "br", "zstd"] {
            let get = request(&server, Method::GET, "/page.html", &[("accept-encoding", coding)]);
            let (status, fields, body) = ask(&mut client, get).await.expect("a response");
            assert_eq!(status, 200);
            let said =
                fields.get("content-encoding").map_or("identity", |value| value.to_str().expect("ASCII"));
            assert_eq!(said, coding);
            assert_eq!(fields["vary"], "Accept-Encoding");
            assert!(decode(coding, &body).expect("a whole body") == text(5000), "the {coding} body");
            for forbidden in ["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"]
            {
                assert!(!fields.contains_key(forbidden), "RFC 9113 §8.2.2 forbids {forbidden}: {fields:?}");
            }
        }
        let get = request(&server, Method::GET, "/big.bin", &[]);
        let (_, fields, body) = ask(&mut client, get).await.expect("a response");
        assert_eq!(fields["content-length"], "3145728");
        assert!(body == noise(3 << 20), "a body longer than the window");
    });
}

#[test]
fn the_rules_of_http_hold_in_version_2() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        let head = request(&server, Method::HEAD, "/page.html", &[]);
        let (status, fields, body) = ask(&mut client, head).await.expect("a response to HEAD without DATA");
        assert_eq!((status.as_u16(), body.len()), (200, 0), "HEAD has no body");
        let tag = fields["etag"].to_str().expect("ASCII").to_owned();
        let cases: [(Method, &str, Fields<'_>, u16); 8] = [
            (Method::GET, "/page.html", &[("if-none-match", &tag)], 304),
            (Method::GET, "/page.html", &[("if-match", "\"x\"")], 412),
            (Method::GET, "/page.html", &[("range", "bytes=0-9")], 206),
            (Method::GET, "/page.html", &[("range", "bytes=5000-")], 416),
            (Method::GET, "/page.html", &[("accept-encoding", "identity;q=0")], 406),
            (Method::GET, "/nowhere", &[], 404),
            (Method::POST, "/page.html", &[], 405),
            (Method::GET, "/../secret", &[], 400),
        ];
        for (method, target, fields, expected) in cases {
            let sent = request(&server, method.clone(), target, fields);
            let (status, fields, body) = ask(&mut client, sent).await.expect("a response");
            assert_eq!(status.as_u16(), expected, "{method} {target}: {fields:?}");
            if status == 304 {
                assert!(body.is_empty() && !fields.contains_key("content-length"), "a 304 has no content");
            }
        }
        let (status, fields, _) =
            ask(&mut client, request(&server, Method::GET, "/docs", &[])).await.expect("a response");
        assert!(status.is_redirection(), "{status}");
        assert_eq!(fields["location"], "/docs/");
    });
}

#[test]
fn many_streams_run_at_once() {
    let (_site, server) = serve(&[]);
    run(async {
        let client = connect(&server).await;
        let mut tasks = Vec::new();
        for n in 0..400 {
            let mut client = client.clone();
            let coding = ["identity", "gzip", "br", "zstd"][n % 4];
            let sent = request(&server, Method::GET, "/page.html", &[("accept-encoding", coding)]);
            tasks.push(tokio::spawn(async move {
                let (status, _, body) = ask(&mut client, sent).await.expect("a response");
                assert_eq!(status, 200);
                assert!(decode(coding, &body).expect("a whole body") == text(5000), "the body of stream {n}");
            }));
        }
        for task in tasks {
            task.await.expect("a stream");
        }
    });
}

#[test]
fn a_stream_that_is_not_read_holds_up_no_other() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        client = client.ready().await.expect("ready");
        let (response, _) =
            client.send_request(request(&server, Method::GET, "/huge.bin", &[]), true).expect("a stream");
        let stalled = response.await.expect("a response");
        // The connection's window is shared, so the bytes are given back at once, the stream's own are not.
        for _ in 0..20 {
            let mut other = connect(&server).await;
            let sent = request(&server, Method::GET, "/page.html", &[]);
            let (status, _, _) = ask(&mut other, sent).await.expect("a response");
            assert_eq!(status, 200);
        }
        drop(stalled);
        let sent = request(&server, Method::GET, "/page.html", &[]);
        let (status, _, body) = ask(&mut client, sent).await.expect("a response on the same connection");
        assert_eq!((status.as_u16(), body.len()), (200, 5000));
    });
}

#[test]
fn the_number_of_streams_is_bounded() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        ask(&mut client, request(&server, Method::GET, "/page.html", &[])).await.expect("a response");
        let most = client.current_max_send_streams();
        assert!((1..=1000).contains(&most), "SETTINGS_MAX_CONCURRENT_STREAMS is {most}");
    });
}

#[test]
fn an_idle_connection_is_closed_though_it_answers_ping() {
    let (_site, server) = serve(&["--keepalive-timeout", "1s", "--stall-timeout", "500ms"]);
    run(async {
        let (mut client, task) = connect_with_window(&server, 65_535).await;
        for _ in 0..4 {
            let get = request(&server, Method::GET, "/page.html", &[]);
            let (status, _, _) = ask(&mut client, get).await.expect("a connection in use goes on");
            assert_eq!(status, 200);
            sleep(Duration::from_millis(400)).await;
        }
        timeout(Duration::from_secs(4), task)
            .await
            .expect("PING keeps no idle connection")
            .expect("no panic");
    });
}

#[test]
fn a_reader_that_never_opens_its_window_is_cut_though_it_answers_ping() {
    for window in [0, 1000] {
        let (_site, server) = serve(&["--stall-timeout", "1s"]);
        run(async {
            let (client, task) = connect_with_window(&server, window).await;
            let mut client = client.ready().await.expect("ready");
            let get = request(&server, Method::GET, "/huge.bin", &[]);
            let (response, _) = client.send_request(get, true).expect("a stream");
            let stalled = response.await.expect("a head, which needs no window");
            let ended = timeout(Duration::from_secs(5), task).await;
            ended.unwrap_or_else(|_| panic!("a window of {window} bytes is never opened")).expect("no panic");
            drop(stalled);
        });
        server.still_serves("/page.html", "a reader that never opens its window");
    }
}

#[test]
fn a_reader_that_opens_its_window_slowly_is_served() {
    let (_site, server) = serve(&["--stall-timeout", "1s"]);
    run(async {
        let mut client = connect(&server).await.ready().await.expect("ready");
        let get = request(&server, Method::GET, "/huge.bin", &[]);
        let (response, _) = client.send_request(get, true).expect("a stream");
        let mut body = response.await.expect("a response").into_body();
        for _ in 0..12 {
            let data = body.data().await.expect("more of the body").expect("a reader that goes on is served");
            body.flow_control().release_capacity(data.len()).expect("capacity");
            sleep(Duration::from_millis(250)).await;
        }
    });
}

#[test]
fn a_flood_of_resets_ends_the_connection_and_nothing_else() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        let mut refused = false;
        for _ in 0..20_000 {
            let sent = request(&server, Method::GET, "/huge.bin", &[]);
            let Ok(ready) = client.clone().ready().await else {
                refused = true;
                break;
            };
            client = ready;
            match client.send_request(sent, true) {
                Ok((_, mut stream)) => stream.send_reset(h2::Reason::CANCEL),
                Err(_) => {
                    refused = true;
                    break;
                }
            }
            tokio::task::yield_now().await;
        }
        // Either the connection was ended, or the resets cost so little that it could stay.
        if !refused {
            let sent = request(&server, Method::GET, "/page.html", &[]);
            let _ = ask(&mut client, sent).await;
        }
        let mut other = connect(&server).await;
        let sent = request(&server, Method::GET, "/page.html", &[]);
        let (status, _, _) = ask(&mut other, sent).await.expect("other clients are served");
        assert_eq!(status, 200);
    });
    server.still_serves("/page.html", "a flood of resets");
}

#[test]
fn a_head_beyond_the_limit_ends_its_stream_at_most() {
    let (_site, server) = serve(&[]);
    run(async {
        let mut client = connect(&server).await;
        let long = "x".repeat(100 << 10);
        let sent = request(&server, Method::GET, "/page.html", &[("x-long", &long)]);
        if let Ok((status, _, _)) = ask(&mut client, sent).await {
            assert_eq!(status, 431, "a head of 100 KB");
        }
    });
    server.still_serves("/page.html", "a long head");
}

#[test]
fn what_is_no_http_2_is_refused() {
    let (_site, server) = serve(&["--head-timeout", "2s"]);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let frames: [(&[u8], &str); 4] = [
        (b"GET / HTTP/1.1\r\n\r\n", "no frame after the preface"),
        (&[0, 0, 0, 0, 0, 0, 0, 0, 1], "DATA on a stream that is idle"),
        (&[0xff, 0xff, 0xff, 1, 4, 0, 0, 0, 1], "a frame of 16 MB"),
        (&[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0], "a WINDOW_UPDATE of nothing"),
    ];
    for (frame, rule) in frames {
        let mut conn = server.connect();
        conn.send(preface);
        conn.send(frame);
        // SETTINGS and GOAWAY may come; what counts is that it ends.
        conn.patience(Duration::from_secs(10));
        let start = std::time::Instant::now();
        conn.read_to_end();
        assert!(start.elapsed() < Duration::from_secs(10), "not closed: {rule}");
    }
    server.still_serves("/page.html", "broken HTTP/2");
}

#[test]
fn an_offer_to_upgrade_is_passed_over() {
    let (_site, server) = serve(&[]);
    let fields = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"];
    let reply = server.get("/page.html", &fields).rule("RFC 9113 §3.1: upgrading is no more");
    reply.status(200).body(text(5000));
}
