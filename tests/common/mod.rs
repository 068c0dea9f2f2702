//! What every test of the running server shares: a root full of files, the server as a process of its own, a
//! client that writes raw bytes and reads exactly one response, and decoders that are not the server's.

mod client;
mod decode;
mod reply;
mod server;
mod site;

pub(crate) use client::{Conn, request};
pub(crate) use decode::decode;
pub(crate) use reply::Reply;
pub(crate) use server::{Server, runner, spawn};
pub(crate) use site::{Site, noise, text};

use std::time::{Duration, Instant};

/// How long a test waits for anything that should happen at once; emulated machines take their time.
pub(crate) fn patience() -> Duration {
    Duration::from_secs(if emulated() { 180 } else { 20 })
}

/// Whether the server runs under an emulator.
pub(crate) fn emulated() -> bool {
    std::env::var_os("LANEFLATE_TEST_RUNNER").is_some()
}

/// Asks `done` until it says yes; fails with `rule` where it never does.
#[track_caller]
pub(crate) fn eventually(rule: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {rule}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a program can be run; says that the test is skipped where it cannot.
pub(crate) fn installed(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
