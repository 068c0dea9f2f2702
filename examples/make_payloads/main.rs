//! Writes the generated payloads of `www/` anew: `cargo run --example make_payloads`.
//!
//! They are checked in, and `tests/payloads.rs` holds them to what this program writes; it is
//! here to show where the bytes come from, and to be run after a change of [`generate`].

mod generate;

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let www = Path::new(env!("CARGO_MANIFEST_DIR")).join("www");
    for payload in generate::all() {
        fs::write(www.join(payload.name), &payload.bytes)?;
        println!("{:>8} {}", payload.bytes.len(), payload.name);
    }
    Ok(())
}
