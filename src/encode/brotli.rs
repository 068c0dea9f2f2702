//! Brotli (RFC 7932) over the `brotli` crate: an encoder whose memory is reused, and a decoder that takes pushes.
//!
//! The codec is a port of Google's C library and costs about what that costs, if two traps are kept away from. Both are
//! about memory, and both weigh most on small bodies (figures: `docs/brotli.md`):
//!
//! 1. **Small windows.** For windows up to 2^16 bytes the C library has hash tables (its H40 to H42) that the crate has not
//!    ported. From quality 5 the crate then falls back to its default table, which is that of quality 9: 32 MiB, filled with
//!    page faults, for a body of 9 KB. So the window is never below 2^17, however short the body.
//! 2. **Fresh memory.** Each stream allocates its hash table (1 MiB at quality 5) and zeroes it. A pool hands the blocks of the
//!    last stream to the next and leaves out the zeroing where nothing depends on it.

mod decoder;
mod pool;

use std::io;

use brotli::enc::BrotliEncoderParams;
use brotli::enc::encode::{
    BrotliEncoderDestroyInstance, BrotliEncoderInitParams, BrotliEncoderOperation, BrotliEncoderStateStruct,
};

use super::Flush;
pub use decoder::{BrotliDecoder, Decoded};
use pool::Pool;

/// The smallest window: the first for which the crate has a hash table of sane size at every quality.
const MIN_WINDOW_BITS: i32 = 17;

/// The largest window, 1 MiB: beyond it qualities up to 8 gain next to nothing, for their hash tables hold a few recent
/// positions a bucket.
const MAX_WINDOW_BITS: i32 = 20;

/// The window of a body of unknown length, 512 KiB. Half of what it could be, since the window is most of a stream's memory.
const STREAM_WINDOW_BITS: i32 = 19;

/// Input bytes after which a meta-block ends at the latest. Left to itself the codec collects up to twice the window, at up
/// to ten bytes of memory a byte, before anything comes out. Ending meta-blocks early adds 0.15 % to the size of web bodies.
const META_BLOCK_BYTES: usize = 128 << 10;

/// The distance that a window of `bits` does not reach (RFC 7932, section 9.1).
const WINDOW_GAP: usize = 16;

/// A brotli encoder, used for one body after another.
///
/// The most memory of a stream in progress, in MiB, as measured. A known length above 1 MiB doubles the window and, at
/// qualities 4 to 6, the hash table. Qualities 10 and 11 take more and are not meant for coding on the fly.
///
/// | quality | 0, 1 | 2, 3 | 4 | 5 | 6 | 7 | 8 | 9 |
/// |---|---|---|---|---|---|---|---|---|
/// | body of 9 KB, pushed whole | 0.2 | 0.4 | 0.7 | 1.2 | 2.2 | 8.3 | 17 | 33 |
/// | length unknown, 8 MiB | 0.2 | 2.0 | 2.8 | 3.4 | 4.4 | 11 | 19 | 36 |
/// | length known, 8 MiB | 0.2 | 2.8 | 7.3 | 5.7 | 7.7 | 12 | 20 | 37 |
///
/// Between bodies an encoder keeps at most [`BrotliEncoder::IDLE_BYTES`] for the next one.
pub struct BrotliEncoder {
    state: BrotliEncoderStateStruct<Pool>,
    quality: u8,
    /// Input that went into the meta-block in progress, in bytes.
    uncoded: usize,
}

impl BrotliEncoder {
    /// The best and slowest quality.
    pub const MAX_QUALITY: u8 = 11;

    /// The most memory that an encoder keeps while it codes nothing, in bytes.
    pub const IDLE_BYTES: usize = pool::KEPT_BYTES;

    /// An encoder of quality 0 to 11 (more counts as 11), ready for a body of `size_hint` bytes if that is known. A wrong
    /// hint costs ratio or memory, never correctness.
    pub fn new(quality: u8, size_hint: Option<usize>) -> Self {
        let quality = quality.min(Self::MAX_QUALITY);
        Self { state: start(Pool::new(keeps_dirty_tables(quality)), quality, size_hint), quality, uncoded: 0 }
    }

    /// Drops the stream in progress, if any, and gets ready for another body.
    pub fn reset(&mut self, size_hint: Option<usize>) {
        // Returns the blocks of the stream to the pool.
        BrotliEncoderDestroyInstance(&mut self.state);
        let pool = std::mem::take(&mut self.state.m8);
        self.state = start(pool, self.quality, size_hint);
        self.uncoded = 0;
    }

    /// Codes `input` and appends what comes out to `out`.
    ///
    /// Fails only if the stream was finished before and `input` is not empty.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>, flush: Flush) -> io::Result<()> {
        let mut rest = input;
        while self.uncoded + rest.len() > META_BLOCK_BYTES {
            let (block, after) = rest.split_at(META_BLOCK_BYTES - self.uncoded);
            self.step(block, out, BrotliEncoderOperation::BROTLI_OPERATION_FLUSH)?;
            self.uncoded = 0;
            rest = after;
        }
        let operation = match flush {
            Flush::None => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
            Flush::Sync => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            Flush::Finish => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
        };
        self.uncoded = if flush == Flush::None { self.uncoded + rest.len() } else { 0 };
        self.step(rest, out, operation)
    }

    /// Codes a whole body as one stream and appends it to `out`. A stream in progress is dropped.
    pub fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.reset(Some(input.len()));
        self.push(input, out, Flush::Finish)
    }

    /// Carries out `operation` until the codec has taken all of `input` and has nothing left to give.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, operation: BrotliEncoderOperation) -> io::Result<()> {
        let mut left = input.len();
        let mut consumed = 0;
        loop {
            // With no room of the caller's to write to, the codec lays a meta-block out in memory of its own and lends that.
            let coded = self.state.compress_stream(
                operation,
                &mut left,
                input,
                &mut consumed,
                &mut 0,
                &mut [],
                &mut 0,
                &mut None,
                &mut |_, _, _, _| (),
            );
            if !coded {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "input after the end of the brotli stream",
                ));
            }
            let mut ready = 0;
            let block = self.state.take_output(&mut ready);
            out.extend_from_slice(&block[..ready]);
            if left == 0 && ready == 0 {
                return Ok(());
            }
        }
    }
}

impl std::fmt::Debug for BrotliEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrotliEncoder").field("quality", &self.quality).finish_non_exhaustive()
    }
}

fn start(pool: Pool, quality: u8, size_hint: Option<usize>) -> BrotliEncoderStateStruct<Pool> {
    let mut state = BrotliEncoderStateStruct::new(pool);
    state.params = BrotliEncoderParams {
        quality: i32::from(quality),
        lgwin: window_bits(size_hint),
        size_hint: size_hint.unwrap_or(0),
        ..BrotliEncoderInitParams()
    };
    state
}

/// The smallest window that reaches over the whole body, within bounds.
fn window_bits(size_hint: Option<usize>) -> i32 {
    let Some(size) = size_hint else {
        return STREAM_WINDOW_BITS;
    };
    (MIN_WINDOW_BITS..MAX_WINDOW_BITS)
        .find(|bits| size <= (1 << bits) - WINDOW_GAP)
        .unwrap_or(MAX_WINDOW_BITS)
}

/// From quality 5 to 9 each bucket of the hash table has a count of its entries, kept apart, and what lies past the count is
/// never read. Below 5 each entry is taken for a position of this body, and the codec panics where it is not.
fn keeps_dirty_tables(quality: u8) -> bool {
    (5..10).contains(&quality)
}

#[cfg(test)]
mod tests;
