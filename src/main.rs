//! The `laneflate` program: parse, start, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use laneflate::cli::Cli;
use laneflate::config::Settings;
use laneflate::encode::{Coding, Engine};
use laneflate::server::{Server, StartError};
use laneflate_simd::Kernels;
use tracing_subscriber::EnvFilter;

/// Gives memory back when a crowd of connections has gone, and costs less for each of their many small blocks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit code when the server could not start or run.
const FAILURE: u8 = 1;
/// Exit code of bad usage, as clap has it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if let Err(error) = check_kernel_choice() {
        eprintln!("laneflate: {error}");
        return ExitCode::from(USAGE);
    }
    let settings = Cli::parse().into_settings().unwrap_or_else(|error| error.exit());
    let filter = EnvFilter::try_from_env("LANEFLATE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
    match run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("laneflate: {error}");
            ExitCode::from(FAILURE)
        }
    }
}

/// The codec panics where the variable names kernels that this CPU lacks; a program says so in a line instead.
fn check_kernel_choice() -> Result<(), String> {
    let Ok(name) = std::env::var("LANEFLATE_ISA") else { return Ok(()) };
    if Kernels::by_name(&name).is_some() {
        return Ok(());
    }
    let known: Vec<_> = Kernels::all().map(Kernels::name).collect();
    Err(format!("LANEFLATE_ISA={name}: this CPU runs {}", known.join(", ")))
}

fn run(settings: Settings) -> Result<(), StartError> {
    let codings = codings(&settings.coding.offered);
    let codec = codec(settings.coding.gzip_engine);
    let root = settings.site.root.display().to_string();
    let server = Server::bind(settings)?;
    for address in server.addresses() {
        eprintln!(
            "laneflate {} serves {root} on http://{address} ({codings}; {codec})",
            env!("CARGO_PKG_VERSION")
        );
    }
    if let Some(address) = server.metrics_address() {
        eprintln!("laneflate counts on http://{address}/metrics");
    }
    let ended = server.run()?;
    if ended.cut > 0 {
        eprintln!("laneflate: {} connections did not finish in time and were cut", ended.cut);
    }
    Ok(())
}

fn codec(engine: Engine) -> String {
    match engine {
        Engine::Laneflate => format!("kernel {}", Kernels::detect().name()),
        Engine::ZlibRs => format!("gzip by {}", engine.name()),
    }
}

fn codings(offered: &[Coding]) -> String {
    match offered {
        [] => "no coding".into(),
        offered => offered.iter().map(|coding| coding.token()).collect::<Vec<_>>().join(", "),
    }
}
