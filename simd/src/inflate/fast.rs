//! The loop for when neither input nor output is about to end.
//!
//! ```text
//! while there is room: refill; literal? store it : copy the match
//! ```
//!
//! 1. A refill is one load of eight bytes, without a branch: bits that are there already are put there again.
//! 2. After a refill there are at least 56 bits: two literals, or a length and, after another refill, a distance.
//! 3. A match is copied in words or vectors that may go past its end, into room that is known to be there.

use super::bits::{Bits, Input};
use super::{Inflate, Output};
use crate::ErrorKind;
use crate::format::{MAX_CODE_BITS, MAX_MATCH};
use crate::isa::Isa;
use crate::raw::load64;

/// Input that a turn may read: two refills advance by seven bytes and read eight.
const READ: usize = 7 + 8;

/// Output that a turn may write: two literals and a match, with what a copy writes past its end.
const WRITTEN: usize = 2 + MAX_MATCH + COPY_SLACK;

/// Bytes that the copy of a match may write past its end.
pub(crate) const COPY_SLACK: usize = 64;

const _: () = {
    assert!(2 * MAX_CODE_BITS <= 56);
    assert!(2 * MAX_CODE_BITS + 5 <= 56 && MAX_CODE_BITS + 13 <= 56);
};

/// True if the loop has at least one turn to do.
pub(crate) fn has_room(input: &Input, output: &Output) -> bool {
    input.bytes.len() - input.taken >= READ && output.bytes.len() - output.filled >= WRITTEN
}

/// Decodes symbols while there is room, or to the end of the block.
#[inline(always)]
pub(crate) fn run<I: Isa>(
    inflate: &mut Inflate,
    input: &mut Input,
    output: &mut Output,
) -> Result<(), ErrorKind> {
    let Bits { mut buffer, mut count } = inflate.bits;
    buffer &= (1 << count) - 1;
    let (bytes, mut taken) = (input.bytes, input.taken);
    let out = &mut *output.bytes;
    let mut filled = output.filled;
    let (litlen, distances) = (&inflate.tables.litlen, &inflate.tables.distance);
    let last_taken = bytes.len() - READ;
    let last_filled = out.len() - WRITTEN;
    let mut result = Ok(());
    let mut ended = false;

    macro_rules! refill {
        () => {
            // SAFETY: a turn begins at `last_taken` at most.
            buffer |= unsafe { load64(bytes, taken) } << count;
            taken += (63 - count as usize) >> 3;
            count |= 56;
        };
    }
    macro_rules! skip {
        ($size:expr) => {
            buffer >>= $size;
            count -= $size;
        };
    }

    while taken <= last_taken && filled <= last_filled {
        refill!();
        let mut entry = litlen.lookup(buffer);
        if entry.is_literal() {
            out[filled] = entry.literal();
            filled += 1;
            skip!(entry.size());
            entry = litlen.lookup(buffer);
            if entry.is_literal() {
                out[filled] = entry.literal();
                filled += 1;
                skip!(entry.size());
                continue;
            }
        }
        if entry.is_exception() {
            if entry.is_end() {
                skip!(entry.size());
                ended = true;
            } else {
                result = Err(ErrorKind::BadLiteralSymbol);
            }
            break;
        }
        let length = entry.value(buffer);
        skip!(entry.size());
        refill!();
        let far = distances.lookup(buffer);
        if far.is_exception() {
            result = Err(ErrorKind::BadDistanceSymbol);
            break;
        }
        let distance = far.value(buffer);
        skip!(far.size());
        if distance > filled {
            result = Err(ErrorKind::DistanceTooFar);
            break;
        }
        // SAFETY: `1 <= distance <= filled`, and there is room for the longest match and COPY_SLACK.
        unsafe { I::copy_match(out, filled, distance, length) };
        filled += length;
    }

    input.taken = taken;
    output.filled = filled;
    inflate.bits = Bits { buffer, count };
    inflate.bits.give_back(input);
    if ended {
        inflate.next_block();
    }
    result
}

/// Copies a match, eight bytes at a time. The spec of [`Isa::copy_match`].
///
/// # Safety
///
/// `1 <= distance <= at` and `at + length + COPY_SLACK <= out.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + COPY_SLACK <= out.len());
    // SAFETY: reads begin `distance` before writes, in what is written already; the last write begins before the end of
    // the match and is eight bytes long.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let end = to.add(length);
        if distance >= 8 {
            let mut from = to.sub(distance).cast_const();
            while to < end {
                to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read());
                (from, to) = (from.add(8), to.add(8));
            }
            return;
        }
        // Eight bytes of the pattern; steps of its largest multiple that fits keep it in phase.
        let mut pattern = [0u8; 8];
        for (index, byte) in pattern.iter_mut().enumerate() {
            *byte = to.sub(distance).add(index % distance).read();
        }
        let step = 8 - 8 % distance;
        while to < end {
            to.cast::<[u8; 8]>().write(pattern);
            to = to.add(step);
        }
    }
}
