//! The decoder: compressed bytes are pushed in, the caller says how much may come out at once.

use std::io;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

/// The output grows in steps of this size, so that a limit far above the real size costs nothing.
const STEP: usize = 16 << 10;

/// What became of a push to a [`BrotliDecoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// All input is used up and all that it says is in the output; the stream goes on.
    NeedsInput,
    /// The limit is reached and more may follow: push again, from input byte `consumed` on (which may be none).
    NeedsRoom {
        /// Bytes of input that were used.
        consumed: usize,
    },
    /// The stream ended, and all of it is in the output.
    Finished {
        /// Bytes of input that were used; those after it do not belong to the stream.
        consumed: usize,
    },
}

/// A brotli decoder of one stream.
///
/// Its memory follows the content, up to the window that the stream asks for, 16 MiB at most. Streams of the "large window"
/// extension, which may ask for 1 GiB, are refused: `br` as a content coding is RFC 7932.
pub struct BrotliDecoder {
    // Boxed: the state is several KiB.
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    finished: bool,
}

impl BrotliDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        let state = BrotliState::new_strict(
            StandardAlloc::default(),
            StandardAlloc::default(),
            StandardAlloc::default(),
        );
        Self { state: Box::new(state), finished: false }
    }

    /// Decodes `input` and appends what comes out to `out`, at most `limit` bytes in this call.
    ///
    /// An error of kind `InvalidData` says that the stream is no valid brotli; what was appended before it is right.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>, limit: usize) -> io::Result<Decoded> {
        if self.finished {
            return Ok(Decoded::Finished { consumed: 0 });
        }
        let end = out.len().saturating_add(limit);
        let mut left = input.len();
        let mut consumed = 0;
        loop {
            let mut filled = out.len();
            let mut room = STEP.min(end - filled);
            out.resize(filled + room, 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut consumed,
                input,
                &mut room,
                &mut filled,
                out,
                &mut 0,
                &mut self.state,
            );
            out.truncate(filled);
            match result {
                BrotliResult::ResultSuccess => {
                    self.finished = true;
                    return Ok(Decoded::Finished { consumed });
                }
                // The decoder asks for input first, even where it holds output back for lack of room.
                BrotliResult::NeedsMoreInput if room > 0 => return Ok(Decoded::NeedsInput),
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput if out.len() == end => {
                    return Ok(Decoded::NeedsRoom { consumed });
                }
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "not a valid brotli stream"));
                }
            }
        }
    }
}

impl Default for BrotliDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for BrotliDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrotliDecoder").field("finished", &self.finished).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
