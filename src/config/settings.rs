//! Every setting of the server with its default and unit.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use http::HeaderValue;

use crate::encode::{Coding, Engine};

/// All settings of one server, built once and then shared read-only.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// Threads, sockets and processes.
    pub workers: Workers,
    /// What is served, and how names become files.
    pub site: Site,
    /// When and how responses are coded.
    pub coding: CodingSettings,
    /// What is remembered of files.
    pub file_cache: FileCache,
    /// Bounds on what clients may use.
    pub limits: Limits,
    /// Where requests are logged; `None` logs nothing.
    pub access_log: Option<AccessLog>,
    /// Address of the Prometheus counters; `None` opens no such listener.
    pub metrics: Option<SocketAddr>,
}

/// Threads and their sockets.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Worker threads; each has a runtime and a listener of its own.
    pub count: usize,
    /// Whether worker *n* is bound to the *n*-th CPU that the process may use.
    pub pin: bool,
    /// Length of each listener's queue of connections not yet accepted.
    pub backlog: i32,
    /// How long a shutdown waits for responses in flight.
    pub shutdown_timeout: Duration,
}

/// A folder and how it is served.
#[derive(Clone, Debug)]
pub struct Site {
    /// The folder.
    pub root: PathBuf,
    /// Names tried in a directory, in order.
    pub index: Vec<String>,
    /// Whether a directory without an index is listed.
    pub listing: bool,
    /// A file, relative to the root, that answers every path that names nothing (a single-page app).
    pub fallback: Option<String>,
    /// Whether a symbolic link may lead out of the root.
    pub follow_symlinks_out: bool,
    /// Whether names that begin with a dot are served; `.well-known` always is.
    pub dotfiles: bool,
    /// `charset` parameter added to text types; `None` adds none.
    pub charset: Option<String>,
    /// `Cache-Control` of files; `None` sends none.
    pub cache_control: Option<HeaderValue>,
    /// Files, relative to the root, that answer with an error status.
    pub error_pages: Vec<(http::StatusCode, String)>,
}

/// When and how responses are coded.
#[derive(Clone, Debug)]
pub struct CodingSettings {
    /// Codings offered, in the server's order of preference; empty turns coding off.
    pub offered: Vec<Coding>,
    /// The codec of gzip and deflate.
    pub gzip_engine: Engine,
    /// Level of gzip and deflate on the fly, 1 to 12; with [`Engine::ZlibRs`] to 9.
    pub gzip_level: u8,
    /// Quality of brotli on the fly, 0 to 11.
    pub brotli_quality: u8,
    /// Level of zstd on the fly, 1 to 22.
    pub zstd_level: i32,
    /// The shortest body that is coded, in bytes.
    pub min_length: u64,
    /// Whether `Cache-Control: no-transform` on the server's own files is honoured.
    pub honour_no_transform: bool,
    /// Use of `.zst`, `.br` and `.gz` files beside the originals.
    pub sidecars: Sidecars,
    /// Bytes of the compress-once store; `None` codes each response anew.
    pub store: Option<u64>,
}

/// Use of precompressed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sidecars {
    /// Never.
    Off,
    /// Where the sidecar is no older than its original.
    #[default]
    Fresh,
    /// Whatever its age.
    Always,
}

/// What is remembered of files, by each worker for itself.
#[derive(Clone, Debug)]
pub struct FileCache {
    /// Open files and negative answers kept, in all workers together.
    pub entries: usize,
    /// Bytes of small contents kept, in all workers together.
    pub content_bytes: u64,
    /// The longest file whose content is kept.
    pub content_max_file: u64,
    /// How long what is remembered is believed without looking at the disk.
    pub validity: Duration,
}

/// Bounds on what clients may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest request head in bytes; beyond it 431.
    pub head_bytes: usize,
    /// Most header fields of a request; beyond it 431.
    pub head_fields: usize,
    /// Longest request body in bytes; beyond it 413.
    pub body_bytes: u64,
    /// Time for a request head from its first byte, and for the first byte of a connection; beyond it 408.
    pub head_timeout: Duration,
    /// Time a kept-alive connection may idle.
    pub keepalive_timeout: Duration,
    /// Requests after which a connection is closed.
    pub keepalive_requests: u64,
    /// Time without progress while receiving a body or sending a response.
    pub stall_timeout: Duration,
    /// Connections in all.
    pub connections: usize,
    /// Connections from one address; `None` sets no such bound.
    pub connections_per_address: Option<usize>,
    /// Concurrent streams of one HTTP/2 connection.
    pub h2_streams: u32,
    /// Resets by the client that one HTTP/2 connection may have pending.
    pub h2_pending_resets: usize,
}

/// Where and how requests are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    /// A file that lines are appended to; `None` is standard output.
    pub path: Option<PathBuf>,
    /// The shape of a line.
    pub format: LogFormat,
}

/// The shape of a line of the access log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// NCSA common.
    Common,
    /// Common with Referer and User-Agent, nginx's default.
    #[default]
    Combined,
    /// One JSON object a line.
    Json,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            workers: Workers::default(),
            site: Site::default(),
            coding: CodingSettings::default(),
            file_cache: FileCache::default(),
            limits: Limits::default(),
            access_log: None,
            metrics: None,
        }
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            count: std::thread::available_parallelism().map_or(1, usize::from),
            pin: true,
            backlog: 4096,
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl Default for Site {
    fn default() -> Self {
        Self {
            root: PathBuf::from("."),
            index: vec!["index.html".into()],
            listing: false,
            fallback: None,
            follow_symlinks_out: false,
            dotfiles: false,
            charset: Some("utf-8".into()),
            cache_control: None,
            error_pages: Vec::new(),
        }
    }
}

impl Default for CodingSettings {
    fn default() -> Self {
        Self {
            offered: vec![Coding::Zstd, Coding::Brotli, Coding::Gzip],
            gzip_engine: Engine::default(),
            gzip_level: 5,
            brotli_quality: 5,
            zstd_level: 3,
            min_length: 256,
            honour_no_transform: true,
            sidecars: Sidecars::default(),
            store: Some(64 << 20),
        }
    }
}

impl Default for FileCache {
    fn default() -> Self {
        Self {
            entries: 4096,
            content_bytes: 64 << 20,
            content_max_file: 64 << 10,
            validity: Duration::from_secs(1),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 32 << 10,
            head_fields: 100,
            body_bytes: 1 << 20,
            head_timeout: Duration::from_secs(15),
            keepalive_timeout: Duration::from_secs(65),
            keepalive_requests: u64::MAX,
            stall_timeout: Duration::from_secs(30),
            connections: 65_536,
            connections_per_address: None,
            h2_streams: 128,
            h2_pending_resets: 20,
        }
    }
}
