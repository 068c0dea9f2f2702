//! The `laneflate` program: parse, start, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use laneflate::cli::Cli;
use laneflate::config::Settings;
use laneflate::encode::Coding;
use laneflate::server::{Server, StartError};
use tracing_subscriber::EnvFilter;

/// Exit code when the server could not start or run; bad usage is 2, from clap.
const FAILURE: u8 = 1;

fn main() -> ExitCode {
    let settings = Cli::parse().into_settings();
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

fn run(settings: Settings) -> Result<(), StartError> {
    let codings = codings(&settings.coding.offered);
    let root = settings.site.root.display().to_string();
    let server = Server::bind(settings)?;
    for address in server.addresses() {
        let kernel = laneflate_simd::Kernels::detect().name();
        eprintln!(
            "laneflate {} serves {root} on http://{address} ({codings}; kernel {kernel})",
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

fn codings(offered: &[Coding]) -> String {
    match offered {
        [] => "no coding".into(),
        offered => offered.iter().map(|coding| coding.token()).collect::<Vec<_>>().join(", "),
    }
}
