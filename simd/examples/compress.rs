//! Compresses a file to a gzip file, in pieces: the memory does not depend on the length.
//!
//! ```text
//! cargo run --release --example compress -- FROM TO [LEVEL]
//! ```

use laneflate_simd::{Level, write::GzEncoder};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::{env, io};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (from, to, level) = match arguments.as_slice() {
        [from, to] => (from, to, Some(Level::DEFAULT)),
        [from, to, level] => (from, to, level.parse().ok().and_then(Level::new)),
        _ => {
            eprintln!("usage: compress FROM TO [LEVEL]");
            return ExitCode::from(2);
        }
    };
    let Some(level) = level else {
        eprintln!("compress: the level is a number from 0 (stored) to 12 (smallest)");
        return ExitCode::from(2);
    };
    match compress(Path::new(from), Path::new(to), level) {
        Ok((before, after)) => {
            println!("{before} -> {after} bytes");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("compress: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The lengths before and after.
fn compress(from: &Path, to: &Path, level: Level) -> Result<(u64, u64), String> {
    let mut input = File::open(from).map_err(|error| format!("{}: {error}", from.display()))?;
    // Nothing that is there already is overwritten, the input least of all.
    let output = File::create_new(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let copied = (|| {
        let mut encoder = GzEncoder::new(output, level);
        let before = io::copy(&mut input, &mut encoder)?;
        // Dropping it would finish too, and hide the error.
        Ok((before, encoder.finish()?.metadata()?.len()))
    })();
    copied.map_err(|error: io::Error| format!("{} to {}: {error}", from.display(), to.display()))
}
