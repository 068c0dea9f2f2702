//! The command line.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use http::{HeaderValue, StatusCode};

use crate::config::{AccessLog, LogFormat, Settings, Sidecars, parse_size, parse_time};
use crate::encode::{Coding, Engine};

const EXAMPLES: &str = "\
Examples:
  laneflate                                    serve ./www (or, without it, .) on 127.0.0.1:8080
  laneflate serve dist --listen 0.0.0.0:80     serve a folder to the network
  laneflate serve app --fallback index.html    serve a single-page app
  laneflate serve . --listing --access-log -   browse a folder, log to standard output

Sizes take k, M or G; times take ms, s, m, h or d.";

/// A static web server that compresses on the fly: zstd, brotli and gzip with hand-vectorized DEFLATE.
#[derive(Parser, Debug)]
#[command(name = "laneflate", version, long_version = long_version(), after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Serve a folder.
    #[command(after_help = EXAMPLES)]
    Serve {
        /// The folder to serve.
        root: PathBuf,
        #[command(flatten)]
        options: Box<Options>,
    },
}

#[derive(Args, Debug)]
struct Options {
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    coding: CodingOptions,
    #[command(flatten)]
    site: SiteOptions,
    #[command(flatten)]
    cache: CacheOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    logs: LogOptions,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
struct Network {
    /// Address to listen on; may be repeated [default: 127.0.0.1:8080].
    #[arg(short, long, value_name = "ADDR", value_parser = address)]
    listen: Vec<SocketAddr>,
    /// Worker threads [default: one for each CPU].
    #[arg(short, long, value_name = "N", value_parser = count)]
    workers: Option<usize>,
    /// Let the system move workers between CPUs.
    #[arg(long)]
    no_pin: bool,
    /// Time that a shutdown waits for responses in flight [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    shutdown_timeout: Option<Duration>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Compression")]
struct CodingOptions {
    /// Codings offered, best first, of zstd, br, gzip and deflate; or off [default: zstd,br,gzip].
    #[arg(long, value_name = "LIST", value_parser = codings)]
    codings: Option<Codings>,
    /// Codec of gzip and deflate [default: laneflate].
    #[arg(long, value_name = "ENGINE")]
    gzip_engine: Option<GzipEngine>,
    /// Level of gzip and deflate, 1 (fast) to 12 (small), with zlib-rs to 9 [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=12))]
    gzip_level: Option<u8>,
    /// Quality of brotli, 0 (fast) to 11 (small) [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=11))]
    brotli_quality: Option<u8>,
    /// Level of zstd, 1 (fast) to 22 (small) [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=22))]
    zstd_level: Option<i32>,
    /// Shortest body that is coded [default: 256].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_length: Option<u64>,
    /// Memory for coded files, each coded once; off codes each response anew [default: 64M].
    #[arg(long, value_name = "SIZE|off", value_parser = store)]
    compress_store: Option<Store>,
    /// Use of .zst, .br and .gz files beside the originals [default: fresh].
    #[arg(long, value_name = "WHEN")]
    sidecars: Option<SidecarUse>,
    /// Code the server's own files even under Cache-Control: no-transform.
    #[arg(long)]
    ignore_no_transform: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
struct SiteOptions {
    /// Names tried in a directory, in order [default: index.html].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    index: Option<Vec<String>>,
    /// List directories that have no index.
    #[arg(long)]
    listing: bool,
    /// File that answers every path that names nothing, for single-page apps.
    #[arg(long, value_name = "FILE")]
    fallback: Option<String>,
    /// Follow symbolic links that lead out of the folder.
    #[arg(long)]
    follow_symlinks: bool,
    /// Serve names that begin with a dot (.well-known always is).
    #[arg(long)]
    dotfiles: bool,
    /// Charset of text files, or off [default: utf-8].
    #[arg(long, value_name = "NAME|off")]
    charset: Option<String>,
    /// Cache-Control of files, for example "max-age=3600".
    #[arg(long, value_name = "VALUE")]
    cache_control: Option<HeaderValue>,
    /// File that answers with an error status; may be repeated.
    #[arg(long, value_name = "STATUS=FILE", value_parser = error_page)]
    error_page: Vec<(StatusCode, String)>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Caches")]
struct CacheOptions {
    /// Open files remembered [default: 4096].
    #[arg(long, value_name = "N")]
    cache_entries: Option<usize>,
    /// Memory for the content of small files [default: 64M].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    cache_bytes: Option<u64>,
    /// Longest file whose content is kept in memory [default: 64k].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    cache_max_file: Option<u64>,
    /// Time before a remembered file is looked at again [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    cache_validity: Option<Duration>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Longest request head [default: 32k].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_head: Option<u64>,
    /// Longest request body [default: 1M].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_body: Option<u64>,
    /// Time for a request head [default: 15s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    head_timeout: Option<Duration>,
    /// Time that a connection may idle between requests [default: 65s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    keepalive_timeout: Option<Duration>,
    /// Requests after which a connection is closed [default: no limit].
    #[arg(long, value_name = "N")]
    keepalive_requests: Option<u64>,
    /// Time without progress while sending or receiving a body [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    stall_timeout: Option<Duration>,
    /// Connections in all [default: 65536, or what the limit of open files allows].
    #[arg(long, value_name = "N", value_parser = count)]
    max_connections: Option<usize>,
    /// Connections from one address [default: no limit].
    #[arg(long, value_name = "N", value_parser = count)]
    max_connections_per_address: Option<usize>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Logs and counters")]
struct LogOptions {
    /// File that requests are logged to; - is standard output; off logs none [default: off].
    #[arg(long, value_name = "PATH")]
    access_log: Option<String>,
    /// Shape of a line of the access log [default: combined].
    #[arg(long, value_name = "SHAPE")]
    log_format: Option<Shape>,
    /// Address that serves counters at /metrics, as Prometheus text [default: none].
    #[arg(long, value_name = "ADDR", value_parser = address)]
    metrics: Option<SocketAddr>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SidecarUse {
    /// Never.
    Off,
    /// Where no older than the original.
    Fresh,
    /// Whatever their age.
    Always,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GzipEngine {
    /// The one with kernels for each instruction set.
    Laneflate,
    /// zlib-rs, by way of flate2.
    ZlibRs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    Common,
    Combined,
    Json,
}

#[derive(Clone, Debug)]
struct Codings(Vec<Coding>);

#[derive(Clone, Copy, Debug)]
struct Store(Option<u64>);

impl Cli {
    /// The settings that the command line asks for, defaults in place of what it leaves out.
    ///
    /// # Errors
    ///
    /// A level of gzip that its engine does not have.
    pub fn into_settings(self) -> Result<Settings, clap::Error> {
        let (root, options) = match self.command {
            Some(Command::Serve { root, options }) => (root, *options),
            None => (default_root(), self.options),
        };
        let mut settings = Settings::default();
        settings.site.root = root;
        options.network.apply(&mut settings);
        options.coding.apply(&mut settings);
        options.site.apply(&mut settings);
        options.cache.apply(&mut settings);
        options.limits.apply(&mut settings);
        options.logs.apply(&mut settings);
        check_gzip_level(settings.coding.gzip_engine, settings.coding.gzip_level)?;
        Ok(settings)
    }
}

impl Network {
    fn apply(self, settings: &mut Settings) {
        if !self.listen.is_empty() {
            settings.listen = self.listen;
        }
        set(&mut settings.workers.count, self.workers);
        settings.workers.pin = !self.no_pin;
        set(&mut settings.workers.shutdown_timeout, self.shutdown_timeout);
    }
}

impl CodingOptions {
    fn apply(self, settings: &mut Settings) {
        let coding = &mut settings.coding;
        set(&mut coding.offered, self.codings.map(|Codings(offered)| offered));
        if let Some(engine) = self.gzip_engine {
            coding.gzip_engine = match engine {
                GzipEngine::Laneflate => Engine::Laneflate,
                GzipEngine::ZlibRs => Engine::ZlibRs,
            };
        }
        set(&mut coding.gzip_level, self.gzip_level);
        set(&mut coding.brotli_quality, self.brotli_quality);
        set(&mut coding.zstd_level, self.zstd_level);
        set(&mut coding.min_length, self.min_length);
        set(&mut coding.store, self.compress_store.map(|Store(bytes)| bytes));
        coding.honour_no_transform = !self.ignore_no_transform;
        if let Some(when) = self.sidecars {
            coding.sidecars = match when {
                SidecarUse::Off => Sidecars::Off,
                SidecarUse::Fresh => Sidecars::Fresh,
                SidecarUse::Always => Sidecars::Always,
            };
        }
    }
}

impl SiteOptions {
    fn apply(self, settings: &mut Settings) {
        let site = &mut settings.site;
        set(&mut site.index, self.index);
        site.listing = self.listing;
        site.fallback = self.fallback;
        site.follow_symlinks_out = self.follow_symlinks;
        site.dotfiles = self.dotfiles;
        if let Some(charset) = self.charset {
            site.charset = (charset != "off").then_some(charset);
        }
        site.cache_control = self.cache_control;
        site.error_pages = self.error_page;
    }
}

impl CacheOptions {
    fn apply(self, settings: &mut Settings) {
        let cache = &mut settings.file_cache;
        set(&mut cache.entries, self.cache_entries);
        set(&mut cache.content_bytes, self.cache_bytes);
        set(&mut cache.content_max_file, self.cache_max_file);
        set(&mut cache.validity, self.cache_validity);
    }
}

impl LimitOptions {
    fn apply(self, settings: &mut Settings) {
        let limits = &mut settings.limits;
        set(&mut limits.head_bytes, self.max_head.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)));
        set(&mut limits.body_bytes, self.max_body);
        set(&mut limits.head_timeout, self.head_timeout);
        set(&mut limits.keepalive_timeout, self.keepalive_timeout);
        set(&mut limits.keepalive_requests, self.keepalive_requests);
        set(&mut limits.stall_timeout, self.stall_timeout);
        set(&mut limits.connections, self.max_connections);
        limits.connections_per_address = self.max_connections_per_address;
    }
}

impl LogOptions {
    fn apply(self, settings: &mut Settings) {
        let format = match self.log_format {
            Some(Shape::Common) => LogFormat::Common,
            None | Some(Shape::Combined) => LogFormat::Combined,
            Some(Shape::Json) => LogFormat::Json,
        };
        settings.access_log = match self.access_log.as_deref() {
            None | Some("off") => None,
            Some("-") => Some(AccessLog { path: None, format }),
            Some(path) => Some(AccessLog { path: Some(path.into()), format }),
        };
        settings.metrics = self.metrics;
    }
}

fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *setting = value;
    }
}

fn check_gzip_level(engine: Engine, level: u8) -> Result<(), clap::Error> {
    if level <= engine.max_level() {
        return Ok(());
    }
    let message =
        format!("--gzip-level {level}: the levels of {} end at {}", engine.name(), engine.max_level());
    Err(Cli::command().error(ErrorKind::ValueValidation, message))
}

fn default_root() -> PathBuf {
    let www = PathBuf::from("www");
    if www.is_dir() { www } else { PathBuf::from(".") }
}

fn long_version() -> String {
    format!(
        "{}\nDEFLATE kernel: {}\nCodings: zstd, br, gzip, deflate",
        env!("CARGO_PKG_VERSION"),
        laneflate_simd::Kernels::detect().name()
    )
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let wrong = || "expected ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080".to_owned();
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err("expected a number, 1 or more".into()),
    }
}

fn codings(text: &str) -> Result<Codings, String> {
    if text == "off" {
        return Ok(Codings(Vec::new()));
    }
    let mut offered = Vec::new();
    for token in text.split(',') {
        let coding = Coding::from_token(token).ok_or_else(|| {
            format!("'{token}' is not a coding; known are zstd, br, gzip and deflate, or off")
        })?;
        if !offered.contains(&coding) {
            offered.push(coding);
        }
    }
    Ok(Codings(offered))
}

fn store(text: &str) -> Result<Store, String> {
    match text {
        "off" => Ok(Store(None)),
        size => match parse_size(size) {
            Ok(bytes) => Ok(Store(Some(bytes).filter(|&bytes| bytes > 0))),
            Err(error) => Err(format!("{error}, or off")),
        },
    }
}

fn error_page(text: &str) -> Result<(StatusCode, String), String> {
    let wrong = || "expected STATUS=FILE, such as 404=404.html".to_owned();
    let (status, file) = text.split_once('=').ok_or_else(wrong)?;
    let status = status.parse::<StatusCode>().map_err(|_| wrong())?;
    if !(status.is_client_error() || status.is_server_error()) || file.is_empty() {
        return Err(wrong());
    }
    Ok((status, file.to_owned()))
}
