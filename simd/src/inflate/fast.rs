//! The loop for when neither input nor output is about to end.
//!
//! ```text
//! refill, look up
//! while there is room: store up to three literals, or copy a match; look up
//! ```
//!
//! 1. A refill is one load of eight bytes, without a branch: bits that are there already are put there again.
//! 2. After a refill there are at least 56 bits: three literals, or two, a length, and the first index of a distance.
//! 3. The next symbol is looked up, and the bits refilled, before the match is copied: the load of the entry, which all
//!    that follows waits for, is not behind the copy.
//! 4. A match is copied in words or vectors that may go past its end, into room that is known to be there.

use super::bits::{Bits, Input};
use super::table::{DISTANCE_BITS, LITLEN_BITS};
use super::{Inflate, Output};
use crate::ErrorKind;
use crate::format::{MAX_CODE_BITS, MAX_MATCH};
use crate::isa::Isa;
use crate::raw::{Unchecked, load64};

/// Input that a turn may read: two refills advance by seven bytes and read eight.
const READ: usize = 7 + 8;

/// Output that a turn may write: literals and a match, with what a copy writes past its end.
const WRITTEN: usize = 3 + MAX_MATCH + COPY_SLACK;

/// Bytes that the copy of a match may write past its end.
pub(crate) const COPY_SLACK: usize = 64;

/// Bits that are there after a refill.
const REFILLED: usize = 56;

const _: () = {
    // A turn takes two literals found by their first index, then a length with its extra bits, before it looks up the
    // distance. (A longer code of a literal, or a third literal, ends the turn.)
    assert!(2 * LITLEN_BITS + MAX_CODE_BITS + 5 + DISTANCE_BITS <= REFILLED);
    assert!(2 * LITLEN_BITS + MAX_CODE_BITS <= REFILLED);
    // After a refill it takes the distance, and looks up the next symbol.
    assert!(MAX_CODE_BITS + 13 + LITLEN_BITS <= REFILLED);
};

/// True if the loop has at least one turn to do.
pub(crate) fn has_room(input: &Input, output: &Output) -> bool {
    input.bytes.len() - input.taken >= READ && output.bytes.len() - output.filled >= WRITTEN
}

/// Decodes symbols while there is room, or to the end of the block.
///
/// Needs [`has_room`].
#[inline(always)]
pub(crate) fn run<I: Isa>(
    inflate: &mut Inflate,
    input: &mut Input,
    output: &mut Output,
) -> Result<(), ErrorKind> {
    // Above bit 7, `count` is what is left of the entries that were subtracted whole.
    let Bits { mut buffer, mut count } = inflate.bits;
    buffer &= (1 << count) - 1;
    let (bytes, mut taken) = (input.bytes, input.taken);
    let out = &mut *output.bytes;
    let mut filled = output.filled;
    let (litlen, distances) = (&inflate.tables.litlen, &inflate.tables.distance);
    let last_taken = bytes.len() - READ;
    let last_filled = out.len() - WRITTEN;
    let mut ended = false;

    macro_rules! refill {
        () => {
            // SAFETY: a turn begins at `last_taken` at most, and so does the first refill.
            buffer |= unsafe { load64(bytes, taken) } << (count & 63);
            taken += 7 - (count as usize >> 3 & 7);
            count |= REFILLED as u32;
        };
    }
    macro_rules! skip {
        ($entry:expr) => {
            buffer >>= $entry.size();
            count = count.wrapping_sub($entry.bits());
        };
    }
    macro_rules! first {
        () => {
            // SAFETY: as many bits as the table is indexed by.
            unsafe { litlen.first(I::low_bits(buffer, litlen.bits())) }
        };
    }
    macro_rules! value {
        ($entry:expr) => {
            $entry.value_with(I::low_bits(buffer, $entry.bits()))
        };
    }
    macro_rules! literal {
        ($entry:expr) => {
            // SAFETY: a turn begins at `last_filled` at most, and has no more than three literals.
            unsafe { out.put(filled, $entry.literal()) };
            filled += 1;
        };
    }

    refill!();
    let mut entry = first!();
    let result = 'turns: loop {
        if taken > last_taken || filled > last_filled {
            break Ok(());
        }
        if entry.is_literal() {
            skip!(entry);
            literal!(entry);
            entry = first!();
            if entry.is_literal() {
                skip!(entry);
                literal!(entry);
                entry = first!();
                if entry.is_literal() {
                    skip!(entry);
                    literal!(entry);
                    entry = first!();
                    refill!();
                    continue;
                }
            }
        }
        if entry.is_exception() {
            if entry.is_subtable() {
                entry = litlen.second(entry, buffer);
                if entry.is_literal() {
                    skip!(entry);
                    literal!(entry);
                    entry = first!();
                    refill!();
                    continue;
                }
            }
            if entry.is_exception() {
                if entry.is_end() {
                    skip!(entry);
                    ended = true;
                    break 'turns Ok(());
                }
                break 'turns Err(ErrorKind::BadLiteralSymbol);
            }
        }
        let length = value!(entry);
        skip!(entry);
        // SAFETY: as many bits as this table is always indexed by.
        let mut far = unsafe { distances.first(buffer & ((1 << DISTANCE_BITS) - 1)) };
        refill!();
        if far.is_exception() {
            if far.is_subtable() {
                far = distances.second(far, buffer);
            }
            if far.is_exception() {
                break 'turns Err(ErrorKind::BadDistanceSymbol);
            }
        }
        let distance = value!(far);
        skip!(far);
        if distance > filled {
            break 'turns Err(ErrorKind::DistanceTooFar);
        }
        entry = first!();
        refill!();
        // SAFETY: `1 <= distance <= filled`, and there is room for the longest match and COPY_SLACK.
        unsafe { I::copy_match(out, filled, distance, length) };
        filled += length;
    };

    input.taken = taken;
    output.filled = filled;
    inflate.bits = Bits { buffer, count: count & 63 };
    inflate.bits.give_back(input);
    if ended {
        inflate.next_block();
    }
    result
}

/// Copies a match, 16 or 8 bytes at a time. The spec of [`Isa::copy_match`].
///
/// # Safety
///
/// `1 <= distance <= at` and `at + length + COPY_SLACK <= out.len()`.
#[inline(always)]
pub(crate) unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
    debug_assert!(distance >= 1 && distance <= at && at + length + COPY_SLACK <= out.len());
    // SAFETY: reads begin `distance` before writes, and are as long; a write begins before the end of the match and has 16
    // bytes at most.
    unsafe {
        let mut to = out.as_mut_ptr().add(at);
        let mut from = to.sub(distance).cast_const();
        let end = to.add(length);
        // What the first step takes of a match that does not overlap itself is right, whatever the distance.
        if distance >= length.min(16) {
            loop {
                to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read());
                (from, to) = (from.add(16), to.add(16));
                if to >= end {
                    return;
                }
            }
        }
        if distance >= 8 {
            loop {
                to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read());
                (from, to) = (from.add(8), to.add(8));
                if to >= end {
                    return;
                }
            }
        }
        // Eight bytes of the pattern; steps of its largest multiple that fits keep it in phase.
        let mut bits = 8 * distance;
        let mut pattern = u64::from_le_bytes(from.cast::<[u8; 8]>().read()) & ((1 << bits) - 1);
        while bits < 64 {
            pattern |= pattern << bits;
            bits *= 2;
        }
        let step = 8 - 8 % distance;
        while to < end {
            to.cast::<[u8; 8]>().write(pattern.to_le_bytes());
            to = to.add(step);
        }
    }
}
