//! As much of a WebDriver client as these tests need: one headless Chromium, driven over loopback.

use super::process::Process;
use minreq::Method;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Whether pages may run scripts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scripts {
    Allowed,
    Blocked,
}

/// A running browser with an empty profile. Dropping it ends it.
pub(crate) struct Browser {
    /// Address of the WebDriver session; commands are paths beneath it.
    session: String,
    profile: PathBuf,
    _driver: Process,
}

impl Browser {
    /// Starts the browser. Says so and returns `None` where it is not installed.
    pub(crate) fn start(scripts: Scripts) -> Option<Self> {
        let (Some(chromium), Some(chromedriver)) = (find("chromium"), find("chromedriver")) else {
            // Past the test harness, which shows what `println!` says of failed tests only.
            let _ = writeln!(io::stderr(), "skipped: chromium is not installed");
            return None;
        };
        let (driver, port) =
            Process::start(Command::new(chromedriver).arg("--port=0"), "started successfully on port ");
        let port = port.trim_end_matches('.');
        let profile = empty_profile();
        let options = options(&chromium, &profile, scripts);
        let created = call(Method::Post, &format!("http://127.0.0.1:{port}/session"), &options);
        let id = created["sessionId"].as_str().unwrap();
        Some(Self { session: format!("http://127.0.0.1:{port}/session/{id}"), profile, _driver: driver })
    }

    /// Loads a page, up to its `load` event.
    pub(crate) fn open(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    /// Sets the window's size in CSS pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({ "width": width, "height": height }));
    }

    /// Runs a function body in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until the JavaScript expression `condition` holds in the page.
    pub(crate) fn wait_until(&self, condition: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.run(&format!("return Boolean({condition})")) != true {
            assert!(Instant::now() < deadline, "never came true: {condition}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the console holds: messages, uncaught exceptions, failed loads, policy violations.
    pub(crate) fn console(&self) -> Vec<Value> {
        let log = self.post("/se/log", &json!({ "type": "browser" }));
        log.as_array().unwrap().clone()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        call(Method::Post, &format!("{}{command}", self.session), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Not `call`: a second panic while a test fails would hide the first.
        let _ = minreq::delete(&self.session).with_timeout(10).send();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

fn call(method: Method, url: &str, body: &Value) -> Value {
    let response = minreq::Request::new(method, url)
        .with_header("Content-Type", "application/json")
        .with_body(body.to_string())
        .with_timeout(60)
        .send()
        .unwrap();
    let mut reply: Value = serde_json::from_slice(response.as_bytes()).unwrap();
    assert_eq!(response.status_code, 200, "{url}: {}", reply["value"]["message"]);
    reply["value"].take()
}

fn options(chromium: &Path, profile: &Path, scripts: Scripts) -> Value {
    let mut prefs = json!({});
    if scripts == Scripts::Blocked {
        prefs["profile.managed_default_content_settings.javascript"] = json!(2);
    }
    json!({ "capabilities": { "alwaysMatch": {
        "goog:loggingPrefs": { "browser": "ALL" },
        "goog:chromeOptions": {
            "binary": chromium,
            "prefs": prefs,
            "args": [
                "--headless",
                // CI runs as root in a container, where Chromium's own sandbox cannot start.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                // Nothing but the server under test is there for it.
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                format!("--user-data-dir={}", profile.display()),
            ],
        },
    } } })
}

fn find(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

fn empty_profile() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("chromium-{}-{count}", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).unwrap();
    path
}
