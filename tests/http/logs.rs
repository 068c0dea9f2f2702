//! The access log and the counters.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use rustix::process::Signal;

use crate::common::{Conn, Server, Site, eventually, patience, request, runner, spawn, text};

fn site() -> Site {
    Site::new().with("page.html", text(5000))
}

/// The lines of a log, once there are as many as there should be.
#[track_caller]
fn lines(path: &Path, count: usize) -> Vec<String> {
    let read = || fs::read_to_string(path).unwrap_or_default();
    eventually("each request is logged", patience(), || read().lines().count() >= count);
    let log = read();
    assert_eq!(log.lines().count(), count, "{log}");
    log.lines().map(str::to_owned).collect()
}

#[test]
fn each_request_is_one_line_of_the_combined_log() {
    let site = site();
    let path = site.outside().join("access.log");
    let server = Server::start(&site, &["--access-log", path.to_str().expect("UTF-8")]);
    server.get("/page.html?a=1", &["User-Agent: test/1", "Referer: http://a.example/"]).status(200);
    server.ask("HEAD", "/nowhere", &["User-Agent: evil\" \\agent"]).status(404);
    let lines = lines(&path, 2);
    let find = |what: &str| lines.iter().find(|line| line.contains(what)).expect(what);
    let page = find("/page.html");
    assert!(page.starts_with("127.0.0.1 - - ["), "{page}");
    let rest = " +0000] \"GET /page.html?a=1 HTTP/1.1\" 200 5000 \"http://a.example/\" \"test/1\"";
    assert!(page.ends_with(rest), "{page}");
    let missing = find("/nowhere");
    let rest = "\"HEAD /nowhere HTTP/1.1\" 404 0 \"-\" \"evil\\x22 \\x5Cagent\"";
    assert!(missing.ends_with(rest), "what a client sends cannot break out of its quotes: {missing}");
}

#[test]
fn a_line_of_json_says_how_a_response_was_coded() {
    let site = site().with("photo.png", text(700));
    let path = site.outside().join("access.log");
    let flags = ["--access-log", path.to_str().expect("UTF-8"), "--log-format", "json"];
    let server = Server::start(&site, &flags);
    let coded = server.get("/page.html", &["Accept-Encoding: gzip"]);
    server.get("/photo.png", &["Accept-Encoding: gzip"]).status(200);
    let lines: Vec<serde_json::Value> =
        lines(&path, 2).iter().map(|line| serde_json::from_str(line).expect(line)).collect();
    let find = |target: &str| lines.iter().find(|line| line["target"] == target).expect(target);
    let page = find("/page.html");
    assert_eq!(page["status"], 200, "{page}");
    assert_eq!(page["coding"], "gzip", "{page}");
    assert_eq!(page["body_bytes"], coded.body.len(), "{page}");
    assert_eq!(page["length_before"], 5000, "{page}");
    assert!(page["refusal"].is_null(), "{page}");
    let photo = find("/photo.png");
    assert!(photo["coding"].is_null(), "{photo}");
    assert!(photo["refusal"].is_string(), "the log says why a response was not coded: {photo}");
}

#[test]
fn the_log_goes_to_standard_output() {
    let site = site();
    let mut command = runner();
    command.arg("serve").arg(site.root());
    command.args(["--listen", "127.0.0.1:0", "--access-log", "-", "--log-format", "common"]);
    let mut child = spawn(&mut command);
    let mut ready = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut ready).expect("a line");
    let address =
        ready.split("http://").nth(1).and_then(|rest| rest.split([' ', '/', ')']).next()).expect(&ready);
    let stream = TcpStream::connect(address).expect("it listens");
    Conn::new(stream).ask("GET", "/page.html", &[]).status(200);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert!(line.ends_with("\"GET /page.html HTTP/1.1\" 200 5000\n"), "{line}");
}

#[test]
fn a_rotated_log_is_opened_anew_and_loses_nothing() {
    let site = site();
    let path = site.outside().join("access.log");
    let old = site.outside().join("access.log.1");
    let server = Server::start(&site, &["--access-log", path.to_str().expect("UTF-8")]);
    for n in 0..40 {
        if n == 20 {
            fs::rename(&path, &old).expect("rename");
            server.signal(Signal::USR1);
            eventually("USR1 opens the log anew", patience(), || path.exists());
        }
        server.get("/page.html", &[]).status(200);
    }
    let count = |path: &Path| fs::read_to_string(path).unwrap_or_default().lines().count();
    eventually("every request is in one log or the other", patience(), || count(&old) + count(&path) == 40);
    assert!(count(&old) >= 20 && count(&path) > 0, "{} and {} lines", count(&old), count(&path));
}

#[test]
fn counters_are_served_on_an_address_of_their_own() {
    let site = site();
    let server = Server::start(&site, &["--metrics", "127.0.0.1:0"]);
    let [site_address, metrics] = *server.addresses() else { panic!("{:?}", server.addresses()) };
    assert_ne!(site_address, metrics);
    for _ in 0..3 {
        server.get("/page.html", &["Accept-Encoding: gzip"]).status(200);
    }
    server.get("/nowhere", &[]).status(404);
    server.get("/metrics", &[]).rule("the site itself has no counters").status(404);
    let expected = [
        "laneflate_requests_total{class=\"2xx\"} 3",
        "laneflate_requests_total{class=\"4xx\"} 2",
        "laneflate_responses_total{coding=\"gzip\"} 3",
        "laneflate_plain_bytes_total{coding=\"gzip\"} 15000",
    ];
    eventually(&format!("{expected:?} in\n{}", scrape(metrics)), patience(), || {
        let page = scrape(metrics);
        expected.iter().all(|line| page.lines().any(|found| found == *line))
    });
}

/// The page of counters.
#[track_caller]
fn scrape(metrics: SocketAddr) -> String {
    let stream = TcpStream::connect(metrics).expect("it listens");
    let reply = Conn::new(stream).ask("GET", "/metrics", &[]);
    reply.status(200).that(reply.field("content-type").starts_with("text/plain"), "not Prometheus text");
    String::from_utf8(reply.body).expect("UTF-8")
}

/// The bytes counted for bodies of a coding: as they were before it, and as they were sent.
#[track_caller]
fn bytes_counted(metrics: SocketAddr, coding: &str) -> (u64, u64) {
    let page = scrape(metrics);
    let value = |name: &str| {
        let start = format!("laneflate_{name}_bytes_total{{coding=\"{coding}\"}} ");
        let value = page.lines().find_map(|line| line.strip_prefix(&start));
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {start}in\n{page}"))
    };
    (value("plain"), value("sent"))
}

#[test]
fn only_bodies_sent_whole_are_counted() {
    let site = site();
    site.sparse("big.bin", 256 << 20);
    let server = Server::start(&site, &["--metrics", "127.0.0.1:0"]);
    let [_, metrics] = *server.addresses() else { panic!("{:?}", server.addresses()) };
    let mut conn = server.connect();
    let fields = ["Accept-Encoding: gzip"];
    let tag = conn.ask("HEAD", "/page.html", &fields).field("etag").to_owned();
    conn.ask("GET", "/page.html", &[fields[0], &format!("If-None-Match: {tag}")]).status(304);
    // One connection, so that what came before is counted when this is.
    let body = conn.ask("GET", "/page.html", &fields).rule("a coded body").coded("gzip").body.clone();
    let sent = || bytes_counted(metrics, "gzip");
    eventually("the body of the GET is counted", patience(), || sent().1 > 0);
    assert_eq!(sent(), (5000, body.len() as u64), "HEAD and 304 have no bytes; GET has those of its body");

    conn.ask("HEAD", "/big.bin", &[]).status(200);
    conn.send(request("GET", "/big.bin", &[]));
    conn.read_some(1 << 20);
    drop(conn);
    eventually("the connection that was given up has ended", patience(), || {
        scrape(metrics).lines().any(|line| line == "laneflate_connections_active 0")
    });
    server.get("/page.html", &[]).status(200).body(text(5000));
    let sent = || bytes_counted(metrics, "identity");
    eventually("the body of the last GET is counted", patience(), || sent().1 > 0);
    assert_eq!(sent(), (5000, 5000), "a body that was cut says nothing of what coding gains");
}
