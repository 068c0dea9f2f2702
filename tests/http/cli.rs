//! The command line: what it says, and how it ends where it cannot start.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Output};

use crate::common::{Server, Site, installed, patience, runner, text};

/// Runs to the end; fails where the program keeps running.
#[track_caller]
fn run(args: &[&str]) -> Output {
    run_command(runner(), args)
}

#[track_caller]
fn run_command(mut command: Command, args: &[&str]) -> Output {
    command.args(args);
    let mut child = crate::common::spawn(&mut command);
    let start = std::time::Instant::now();
    while child.try_wait().expect("wait").is_none() {
        if start.elapsed() > patience() {
            child.kill().expect("kill");
            panic!("{args:?} runs on where it should have ended");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.wait_with_output().expect("output")
}

/// The program must end with `code` and say one thing, which names `what`, on the error stream.
#[track_caller]
fn fails(args: &[&str], code: i32, what: &str) {
    failed(&run(args), args, code, what);
}

#[track_caller]
fn failed(output: &Output, args: &[&str], code: i32, what: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let shown = format!("{args:?}\nstderr:\n{stderr}");
    assert_eq!(output.status.code(), Some(code), "the exit code of {shown}");
    assert!(output.stdout.is_empty(), "an error is not said on standard output: {shown}");
    assert!(stderr.contains(what), "the error names {what:?}: {shown}");
    assert!(!stderr.contains("panicked"), "a panic is no message: {shown}");
    let lines = stderr.lines().filter(|line| !line.trim().is_empty()).count();
    // A usage error may add the usage and a hint.
    let most = if code == 2 { 6 } else { 1 };
    assert!((1..=most).contains(&lines), "{lines} lines where {most} are enough: {shown}");
}

fn root(site: &Site) -> String {
    site.root().to_str().expect("UTF-8").to_owned()
}

#[test]
fn help_names_every_flag() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    for word in ["serve", "--listen", "--version", "--help"] {
        assert!(help.contains(word), "--help lacks {word}:\n{help}");
    }
    let output = run(&["serve", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    let flags = [
        "--listen",
        "--workers",
        "--compress-store",
        "--gzip-engine",
        "--gzip-level",
        "--brotli-quality",
        "--zstd-level",
        "--codings",
        "--min-length",
        "--index",
        "--listing",
        "--fallback",
        "--follow-symlinks",
        "--dotfiles",
        "--charset",
        "--cache-control",
        "--error-page",
        "--sidecars",
        "--cache-entries",
        "--cache-bytes",
        "--cache-max-file",
        "--cache-validity",
        "--max-head",
        "--max-body",
        "--head-timeout",
        "--keepalive-timeout",
        "--keepalive-requests",
        "--stall-timeout",
        "--max-connections",
        "--max-connections-per-address",
        "--shutdown-timeout",
        "--ignore-no-transform",
        "--access-log",
        "--log-format",
        "--metrics",
        "--no-pin",
    ];
    for flag in flags {
        assert!(help.contains(flag), "serve --help lacks {flag}:\n{help}");
    }
}

#[test]
fn version_names_the_kernel() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    let version = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let kernel = ["scalar", "avx2", "avx512", "neon"].iter().any(|name| version.contains(name));
    assert!(kernel, "--version names the chosen kernel: {version}");
}

#[test]
fn the_first_line_says_where_it_listens_and_what_it_codes() {
    let site = Site::new().with("page.html", text(100));
    let server = Server::start(&site, &["--codings", "br,gzip"]);
    let said = server.stderr();
    assert_eq!(said.lines().count(), 1, "one line at the start: {said}");
    for word in [&format!("http://{}", server.address()), "br", "gzip"] {
        assert!(said.contains(word), "the line lacks {word}: {said}");
    }
    assert!(!said.contains("zstd"), "a coding that is off: {said}");
}

#[test]
fn it_listens_on_several_addresses() {
    let site = Site::new().with("page.html", text(100));
    let server = Server::start(&site, &["--listen", "127.0.0.1:0", "--listen", "[::1]:0"]);
    assert_eq!(server.addresses().len(), 3);
    for address in server.addresses() {
        let mut conn = crate::common::Conn::new(std::net::TcpStream::connect(address).expect("it listens"));
        conn.ask("GET", "/page.html", &[]).rule("each listener serves").status(200).body(text(100));
    }
}

#[test]
fn bad_flags_are_usage_errors() {
    let site = Site::new();
    let root = root(&site);
    let cases: [(&[&str], &str); 24] = [
        (&["--nosuch"], "--nosuch"),
        (&["serve", &root, "--nosuch"], "--nosuch"),
        (&["nosuch"], "nosuch"),
        (&["serve", &root, "extra"], "extra"),
        (&["serve", &root, "--listen"], "--listen"),
        (&["serve", &root, "--listen", "nonsense"], "nonsense"),
        (&["serve", &root, "--listen", "127.0.0.1"], "127.0.0.1"),
        (&["serve", &root, "--listen", "127.0.0.1:99999"], "127.0.0.1:99999"),
        (&["serve", &root, "--listen", "999.0.0.1:80"], "999.0.0.1:80"),
        (&["serve", &root, "--workers", "0"], "0"),
        (&["serve", &root, "--workers", "many"], "many"),
        (&["serve", &root, "--gzip-level", "13"], "13"),
        (&["serve", &root, "--gzip-engine", "zopfli"], "zopfli"),
        (&["serve", &root, "--gzip-engine", "zlib-rs", "--gzip-level", "10"], "end at 9"),
        (&["serve", &root, "--brotli-quality", "12"], "12"),
        (&["serve", &root, "--zstd-level", "23"], "23"),
        (&["serve", &root, "--codings", "gzip,lzw"], "lzw"),
        (&["serve", &root, "--compress-store", "big"], "big"),
        (&["serve", &root, "--cache-validity", "soon"], "soon"),
        (&["serve", &root, "--error-page", "404"], "404"),
        (&["serve", &root, "--error-page", "999=a.html"], "999"),
        (&["serve", &root, "--sidecars", "maybe"], "maybe"),
        (&["serve", &root, "--log-format", "xml"], "xml"),
        (&["serve", &root, "--cache-control", "a\nb"], "--cache-control"),
    ];
    for (args, what) in cases {
        fails(args, 2, what);
    }
}

#[test]
fn kernels_that_the_cpu_lacks_are_a_usage_error() {
    let mut command = runner();
    command.env("LANEFLATE_ISA", "mmx");
    let output = run_command(command, &["--version"]);
    failed(&output, &["--version"], 2, "LANEFLATE_ISA=mmx");
}

#[test]
fn a_taken_port_is_a_runtime_error() {
    let site = Site::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    fails(&["serve", &root(&site), "--listen", &address], 1, &address);
}

#[test]
fn another_server_on_the_port_is_a_runtime_error_too() {
    let site = Site::new();
    let first = Server::start(&site, &[]);
    let address = first.address().to_string();
    // SO_REUSEPORT would let two servers share it and take each other's requests.
    fails(&["serve", &root(&site), "--listen", &address], 1, &address);
}

#[test]
fn an_address_of_another_machine_is_a_runtime_error() {
    let site = Site::new();
    // TEST-NET-1 (RFC 5737) belongs to nobody.
    fails(&["serve", &root(&site), "--listen", "192.0.2.1:8080"], 1, "192.0.2.1:8080");
}

#[test]
fn a_root_that_cannot_be_served_is_a_runtime_error() {
    let site = Site::new().with("file", "no folder");
    let missing = format!("{}/missing", root(&site));
    fails(&["serve", &missing, "--listen", "127.0.0.1:0"], 1, &missing);
    let file = format!("{}/file", root(&site));
    fails(&["serve", &file, "--listen", "127.0.0.1:0"], 1, &file);
}

#[test]
fn a_root_that_may_not_be_read_is_a_runtime_error() {
    let site = Site::new();
    let root = root(&site);
    fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o000)).expect("permissions");
    let args = ["serve", &root, "--listen", "127.0.0.1:0"];
    if !rustix::process::geteuid().is_root() {
        fails(&args, 1, &root);
        return;
    }
    // Root reads everything, so this runs as nobody.
    if !installed("setpriv") {
        return;
    }
    let mut command = Command::new("setpriv");
    let program = runner();
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(program.get_program()).args(program.get_args());
    fs::set_permissions(site.outside(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
    let output = run_command(command, &args);
    if output.status.code() == Some(127) || output.status.code() == Some(126) {
        println!("skipped: the program lies where nobody may run it");
        return;
    }
    failed(&output, &args, 1, &root);
}

#[test]
fn an_access_log_that_cannot_be_written_is_a_runtime_error() {
    let site = Site::new();
    let path = format!("{}/missing/access.log", root(&site));
    fails(&["serve", &root(&site), "--listen", "127.0.0.1:0", "--access-log", &path], 1, &path);
}
