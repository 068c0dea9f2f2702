//! A program that runs beside a test and announces where it listens.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A child process. Dropping it kills it.
pub(crate) struct Process(Child);

impl Process {
    /// Starts `command` and waits until it prints `marker`. Returns the word that follows it.
    pub(crate) fn start(command: &mut Command, marker: &str) -> (Self, String) {
        let (reader, writer) = io::pipe().unwrap();
        command.stdin(Stdio::null());
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let process = Self(command.spawn().unwrap());
        // The command keeps its ends of the pipe; without them the child's exit ends the reading.
        command.stdout(Stdio::null()).stderr(Stdio::null());

        let mut lines = BufReader::new(reader).lines();
        let mut printed = Vec::new();
        let word = loop {
            let Some(line) = lines.next() else {
                panic!("{command:?} ended without {marker:?}, after {printed:#?}");
            };
            let line = line.unwrap();
            if let Some((_, rest)) = line.split_once(marker) {
                break rest.split_whitespace().next().unwrap_or_default().to_owned();
            }
            printed.push(line);
        };
        // Read on, or a talkative child would block on a full pipe.
        thread::spawn(move || lines.for_each(drop));
        (process, word)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
