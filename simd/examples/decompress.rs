//! Decompresses a gzip file, all of its members, in pieces: the memory does not depend on the length.
//!
//! ```text
//! cargo run --release --example decompress -- FROM TO [LIMIT]
//! ```
//!
//! With a limit, a file that stands for more bytes than that is an error: a few kilobytes may stand for gigabytes.

use laneflate_simd::read::MultiGzDecoder;
use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (from, to, limit) = match arguments.as_slice() {
        [from, to] => (from, to, Ok(u64::MAX)),
        [from, to, limit] => (from, to, limit.parse()),
        _ => {
            eprintln!("usage: decompress FROM TO [LIMIT]");
            return ExitCode::from(2);
        }
    };
    let Ok(limit) = limit else {
        eprintln!("decompress: the limit is a number of bytes");
        return ExitCode::from(2);
    };
    match decompress(Path::new(from), Path::new(to), limit) {
        Ok(len) => {
            println!("{len} bytes");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("decompress: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The length of what was written.
fn decompress(from: &Path, to: &Path, limit: u64) -> Result<u64, String> {
    let input = File::open(from).map_err(|error| format!("{}: {error}", from.display()))?;
    let mut output = File::create_new(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let mut decoder = MultiGzDecoder::new(input);
    let failed = |error: io::Error| format!("{} to {}: {error}", from.display(), to.display());
    let len = io::copy(&mut decoder.by_ref().take(limit), &mut output).map_err(failed)?;
    // Not before the end does a decoder look at the checksum; and there may be more than was asked for.
    match decoder.read(&mut [0]).map_err(failed)? {
        0 => Ok(len),
        _ => Err(format!("{}: more than {limit} bytes; the first are in {}", from.display(), to.display())),
    }
}
