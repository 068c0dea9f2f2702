//! The server as a process.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Conn, Reply, Site, patience};

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    addresses: Vec<SocketAddr>,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    /// Serves the root of `site` on a free port of 127.0.0.1.
    #[track_caller]
    pub(crate) fn start(site: &Site, flags: &[&str]) -> Self {
        let mut command = runner();
        command.arg("serve").arg(site.root()).args(["--listen", "127.0.0.1:0"]).args(flags);
        Self::ready(command)
    }

    /// Runs a command line that starts a server and waits until it listens.
    ///
    /// The server prints one line with `http://ADDRESS` for each listener.
    #[track_caller]
    pub(crate) fn ready(mut command: Command) -> Self {
        let listeners =
            command.get_args().filter(|arg| *arg == "--listen" || *arg == "--metrics").count().max(1);
        let mut child = spawn(&mut command);
        let stderr = Arc::new(Mutex::new(String::new()));
        let lines = collect(child.stderr.take().expect("a pipe"), Arc::clone(&stderr));
        let mut server = Self { child, addresses: Vec::new(), stderr };
        while server.addresses.len() < listeners {
            match lines.recv_timeout(patience()) {
                Ok(line) => server.addresses.extend(address_in(&line)),
                Err(_) => panic!("{command:?} does not say where it listens; it says:\n{}", server.stderr()),
            }
        }
        server
    }

    /// The first listener.
    pub(crate) fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// All listeners in the order in which the server named them.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What the server has said on its error stream.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().expect("no reader panics").clone()
    }

    /// A new connection.
    #[track_caller]
    pub(crate) fn connect(&self) -> Conn {
        Conn::new(TcpStream::connect(self.address()).expect("the server accepts connections"))
    }

    /// One GET on a connection of its own; `fields` are lines such as `Range: bytes=0-0`.
    #[track_caller]
    pub(crate) fn get(&self, target: &str, fields: &[&str]) -> Reply {
        self.ask("GET", target, fields)
    }

    /// One request without a body on a connection of its own.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, target: &str, fields: &[&str]) -> Reply {
        self.connect().ask(method, target, fields)
    }

    /// Raw bytes on a connection of its own, and the first response.
    #[track_caller]
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut conn = self.connect();
        conn.send(bytes);
        conn.read_reply("GET")
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the server runs");
    }

    /// Waits for the end of the process.
    #[track_caller]
    pub(crate) fn wait(&mut self, limit: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status;
            }
            assert!(start.elapsed() < limit, "still running after {limit:?}; it says:\n{}", self.stderr());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Processor time used so far, from `/proc`.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("/proc");
        // The name in parentheses may hold spaces; user and system time are the 12th and 13th field after it.
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("a name").split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
        // Linux reports these in hundredths of a second on every architecture.
        Duration::from_millis(ticks * 10)
    }

    /// Fails where the server no longer serves.
    #[track_caller]
    pub(crate) fn still_serves(&self, target: &str, after: &str) {
        self.get(target, &["Connection: close"]).rule(&format!("goes on serving after {after}")).status(200);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Neither fails unless the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's program, under the emulator that `LANEFLATE_TEST_RUNNER` names if it is set.
pub(crate) fn runner() -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_laneflate"));
    let emulator = std::env::var("LANEFLATE_TEST_RUNNER").unwrap_or_default();
    let mut words = emulator.split_whitespace();
    match words.next() {
        None => Command::new(program),
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
    }
}

/// Starts a command with nothing on its input and pipes on its outputs.
#[track_caller]
pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Reads lines on a thread of its own, so that the server never blocks on a full pipe.
fn collect(stream: impl Read + Send + 'static, all: Arc<Mutex<String>>) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut all = all.lock().expect("no reader panics");
            all.push_str(&line);
            all.push('\n');
            // The receiver is gone once the server is ready.
            let _ = sender.send(line);
        }
    });
    lines
}

/// Every address written as `http://ADDRESS:PORT` in a line.
fn address_in(line: &str) -> Vec<SocketAddr> {
    line.split("http://")
        .skip(1)
        .filter_map(|rest| {
            let end =
                rest.find(|c: char| !(c.is_ascii_hexdigit() || "[].:".contains(c))).unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', ':']).parse().ok()
        })
        .collect()
}
