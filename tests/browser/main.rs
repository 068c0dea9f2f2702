//! The start page in a real browser: headless Chromium, driven through its WebDriver.
//!
//! Where Chromium or its driver (Debian: `chromium`, `chromium-driver`) is missing, each test
//! prints that it is skipped.

mod process;
mod webdriver;

use process::Process;
use serde_json::Value;
use std::fs;
use std::process::Command;
use webdriver::{Browser, Scripts};

/// A page without script errors, failed loads or breaches of its Content-Security-Policy.
const QUIET: Vec<Value> = Vec::new();

#[test]
fn start_page_shows_its_coding_and_sizes() {
    let Some(browser) = Browser::start(Scripts::Allowed) else {
        return;
    };
    let server = Server::start();

    // The second visit may revalidate, which transfers no body: the figures have to hold there too.
    for visit in ["first", "second"] {
        browser.open(&server.url("/"));
        browser.wait_until("document.getElementById('wire').value");
        let text = |id: &str| text(&browser, &format!("document.getElementById('{id}').textContent"));
        let number = |id: &str| number(&browser, &format!("document.getElementById('{id}').value"));

        let coding = text("coding");
        assert_eq!(number("size"), file_size("index.html"), "{visit} visit");
        assert_eq!(number("wire"), server.coded_size("/", &coding), "{visit} visit");
        assert_ratio(&text("ratio"), number("size"), number("wire"));
        assert!(text("server").starts_with("laneflate"), "{}", text("server"));
        for time in ["ttfb", "time"] {
            assert!(text(time).ends_with(" ms"), "{time}: {}", text(time));
        }
        assert_eq!(text("protocol"), "http/1.1");
    }
    assert_eq!(browser.console(), QUIET);
}

#[test]
fn start_page_measures_each_payload() {
    let Some(browser) = Browser::start(Scripts::Allowed) else {
        return;
    };
    let server = Server::start();
    browser.open(&server.url("/"));
    browser.run("document.getElementById('measure').click()");
    browser.wait_until("document.getElementById('status').textContent.endsWith('measured')");

    let rows = browser.run(
        "return [...document.querySelectorAll('#payloads tbody tr:not(.group)')].map((row) => ({
            path: row.querySelector('a').getAttribute('href'),
            kind: row.cells[1].textContent,
            coding: row.querySelector('.coding').textContent,
            wire: Number(row.querySelector('.wire data').value),
            ratio: row.querySelector('.ratio').textContent,
            time: row.querySelector('.time').textContent,
        }))",
    );
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 32);
    for row in rows {
        let field = |name: &str| row[name].as_str().unwrap();
        let (path, size, wire) = (field("path"), file_size(field("path")), row["wire"].as_u64().unwrap());
        let shrinks = size >= 1024 && field("kind") != "Random";
        if shrinks || field("coding") != "identity" {
            assert_eq!(wire, server.coded_size(&format!("/{path}"), field("coding")), "{path}");
        } else {
            assert_eq!(wire, size, "{path}");
        }
        if size > 0 {
            assert_ratio(field("ratio"), size, wire);
        }
        assert!(field("time").ends_with(" ms"), "{path}: {}", field("time"));
    }
    assert_eq!(browser.console(), QUIET);
}

#[test]
fn start_page_fits_a_phone() {
    let Some(browser) = Browser::start(Scripts::Allowed) else {
        return;
    };
    let server = Server::start();
    browser.resize(320, 640);
    browser.open(&server.url("/"));
    browser.run("document.getElementById('measure').click()");
    browser.wait_until("document.getElementById('status').textContent.endsWith('measured')");
    for part in ["html", ".scroll"] {
        let element = format!("document.querySelector('{part}')");
        let overflow = format!("{element}.scrollWidth - {element}.clientWidth");
        assert_eq!(number(&browser, &overflow), 0, "{part} scrolls sideways");
    }
}

#[test]
fn start_page_is_useful_without_scripts() {
    let Some(browser) = Browser::start(Scripts::Blocked) else {
        return;
    };
    let server = Server::start();
    browser.open(&server.url("/"));
    let visible = |selector: &str| {
        let script =
            format!("[...document.querySelectorAll('{selector}')].filter((e) => e.checkVisibility()).length");
        number(&browser, &script)
    };
    assert_eq!(visible("noscript h1"), 1);
    assert_eq!(visible("#payloads a"), 32);
    assert_eq!(visible(".needs-script"), 0, "what needs scripts is hidden");
    assert_eq!(browser.console(), QUIET);
}

/// The program under test, serving `www/` on a port of its own.
struct Server {
    address: String,
    _process: Process,
}

impl Server {
    fn start() -> Self {
        let (process, address) = Process::start(
            Command::new(env!("CARGO_BIN_EXE_laneflate"))
                .args(["serve", "www", "--listen", "127.0.0.1:0"])
                .current_dir(env!("CARGO_MANIFEST_DIR")),
            "http://",
        );
        Self { address: address.trim_end_matches(['/', ',']).to_owned(), _process: process }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Bytes of the body when a client asks for `coding`, which has to be one that browsers know.
    fn coded_size(&self, path: &str, coding: &str) -> u64 {
        assert!(["zstd", "br", "gzip"].contains(&coding), "{path}: {coding:?}");
        let request = minreq::get(self.url(path)).with_header("Accept-Encoding", coding);
        let response = request.with_timeout(30).send().unwrap();
        assert_eq!(response.header("Content-Encoding"), Some(coding), "{path}");
        response.as_bytes().len() as u64
    }
}

fn text(browser: &Browser, expression: &str) -> String {
    let value = browser.run(&format!("return String({expression})"));
    value.as_str().unwrap().to_owned()
}

fn number(browser: &Browser, expression: &str) -> u64 {
    text(browser, expression).parse().unwrap()
}

fn file_size(path: &str) -> u64 {
    fs::metadata(format!("{}/www/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap().len()
}

/// The page rounds to two decimals.
fn assert_ratio(shown: &str, size: u64, wire: u64) {
    let shown: f64 = shown.trim_end_matches('×').parse().unwrap();
    let exact = size as f64 / wire as f64;
    assert!((shown - exact).abs() < 0.006, "{shown} for {exact}");
}
