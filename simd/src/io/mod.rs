//! Adapters for [`std::io`], named and behaving as those of flate2: a program that uses it changes its imports.
//!
//! ```text
//! bytes written -> write::*Encoder   -> W             write::*Decoder   the other way round
//! bytes read    <- bufread::*Encoder <- R: BufRead    bufread::*Decoder the other way round
//!                  read::*           =  bufread::* over a BufReader
//! ```
//!
//! Differences, all of them on purpose: levels go on to 12; an error carries an [`Error`](crate::Error) with its position;
//! and what is decoded already is given out before the reader is asked for more.

pub mod bufread;
mod builder;
mod compression;
mod kind;
mod outbox;
pub mod read;
pub mod write;

pub use builder::GzBuilder;
pub use compression::Compression;

use crate::{Error, ErrorKind};
use std::io;

impl From<Error> for io::Error {
    /// [`ErrorKind::UnexpectedEnd`] is [`io::ErrorKind::UnexpectedEof`]; all else is
    /// [`io::ErrorKind::InvalidInput`], as flate2 has it.
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::UnexpectedEnd => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

/// The input has ended at `position`, and the stream has not.
fn unexpected_end(position: u64) -> io::Error {
    Error::new(ErrorKind::UnexpectedEnd, position).into()
}
