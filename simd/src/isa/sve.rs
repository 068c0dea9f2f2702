//! SVE, for vectors of 16 to 256 bytes.
//!
//! Stable Rust has no type for such a vector: each step is one block of assembly, and holds them in no other place.
//!
//! A step is here where the model of the cores says that it gains (`docs/arm.md`); the others are those of NEON:
//!
//! 1. Matches are extended with a predicate instead of a tail, in a third of the instructions.
//! 2. Candidates are gathered where a vector has 32 bytes or more. With 16, all the work waits for two vector pipelines,
//!    and NEON's, which leaves half of it to the others, takes less time.
//! 3. Prices want two slots and five gathers for each lane of 32 bits. NEON finds the slots of sixteen lengths in one
//!    vector of bytes, and has the tables in registers.
//! 4. Hashes, symbols, and the CRC are bound by multiplications and shifts, which are no faster in these registers.
//!
//! SVE2 has nothing for these steps: `histcnt` counts equals within a vector, which at 16 bytes has four lanes; `match`
//! compares bytes of one segment, not keys of a window; `bext` picks bits where the codes of tokens only append them.

use super::Isa;
use super::neon::{self, Neon};
use crate::deflate::cost::{Costs, Prices};
use crate::deflate::histogram::Symbols;
use crate::deflate::search::{Hash, Links, MAX_KEYS, PROBED, READ, RUN, STRIP};
use crate::deflate::token::Token;
use crate::format::WINDOW;
use core::arch::asm;

pub(super) struct Sve;

pub(super) fn available() -> bool {
    std::arch::is_aarch64_feature_detected!("sve") && neon::available()
}

impl Isa for Sve {
    #[inline(always)]
    fn crc32(seed: u32, data: &[u8]) -> u32 {
        Neon::crc32(seed, data)
    }

    #[inline(always)]
    unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
        // SAFETY: as the caller vouches.
        unsafe { Neon::copy_match(out, at, distance, length) }
    }

    #[inline(always)]
    unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
        // SAFETY: as the caller vouches.
        unsafe { Neon::hash_run::<WORDS>(hash, data, at, hashes) }
    }

    #[inline(always)]
    unsafe fn probe_run(
        run: &mut [Token; RUN],
        links: Links,
        data: &[u8],
        at: usize,
        bias: usize,
        least: usize,
    ) -> u32 {
        // SAFETY: as the caller vouches; the kernels have SVE.
        unsafe {
            if words() < 8 {
                Neon::probe_run(run, links, data, at, bias, least)
            } else {
                probe_run(run, links, data, at, bias, least)
            }
        }
    }

    #[inline(always)]
    fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
        // SAFETY: the kernels have SVE.
        unsafe { equal_bytes(data, at, distance, end) }
    }

    #[inline(always)]
    fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
        Neon::price_run(near, far, costs, prices);
    }

    #[inline(always)]
    fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
        Neon::symbols_run(run, index, symbols);
    }
}

/// Where what a key finds has its length, in bytes: above the number of the key, which is above the distance.
const LENGTH_BIT: u32 = 19;

// Bits that are equal are eight times the bytes.
const _: () = assert!(MAX_KEYS <= 1 << 3 && WINDOW < 1 << 16 && LENGTH_BIT == 16 + 3);

/// Looks at 32-bit lanes: eight bytes are two words, and the second counts where the first is equal.
///
/// What a key finds is one number, in the order of length and key, so that a maximum keeps the best.
///
/// # Safety
///
/// Those of [`Isa::probe_run`], and a CPU with SVE.
#[target_feature(enable = "sve")]
#[inline]
unsafe fn probe_run(
    run: &mut [Token; RUN],
    links: Links,
    data: &[u8],
    at: usize,
    bias: usize,
    least: usize,
) -> u32 {
    debug_assert!(at + RUN + READ <= data.len() && least <= PROBED);
    let (links, keys) = links.base();
    let deep: u32;
    // SAFETY: the lanes of `p0` are positions of the run; of each key's links, a run is read. The bytes that are loaded
    // whole are those up to `at + 32`, for which the caller vouches. Of what a gather loads, `p1` leaves what is in the
    // data: distances of at most the position, to eight bytes that end before its own do.
    unsafe {
        asm!(
            "ptrue p3.s",
            "index z16.s, #0, #1", // lane
            "mov z17.s, #1",
            "lsl z17.s, p3/m, z17.s, z16.s", // the bit of the lane
            "index z18.b, #0, #1",
            "lsr z19.b, z18.b, #2",
            "and z18.b, z18.b, #3",
            "add z18.b, z18.b, z19.b", // the first word of each lane, by byte
            "mov z19.b, #4",
            "add z19.b, z19.b, z18.b", // the second word
            "mov z20.s, {here:w}",
            "add z20.s, z20.s, z16.s", // position on the scale of the links
            "mov z21.s, {at:w}",
            "add z21.s, z21.s, z16.s", // position
            "mov z22.s, #0x8000", // the window
            "mov z23.s, #0x10000", // the next key
            "mov z24.s, {least:w}",
            "mov z25.s, #0x400000", // eight bytes
            "mov z26.s, #0", // which are deep
            "mov z27.s, {step:w}",
            "mov z28.s, #0",
            "mov {lane}, xzr",
            "whilelo p0.s, {lane}, {run_len}",
            "2:",
            "whilelo p1.b, {lane}, {read}",
            "ld1b {{z1.b}}, p1/z, [{base}, {lane}]",
            "tbl z0.b, {{z1.b}}, z18.b",
            "tbl z1.b, {{z1.b}}, z19.b",
            "mov z2.d, z22.d",
            "umin z2.s, p0/m, z2.s, z21.s", // how far a match may reach
            "mov z3.s, #0", // the best
            "mov z4.s, #0", // the key
            "add {link}, {links}, {lane}, lsl #1",
            "mov {key}, {keys}",
            "cbz {key}, 4f",
            "3:",
            "ld1h {{z5.s}}, p0/z, [{link}]",
            "sub z5.s, z20.s, z5.s",
            "and z5.s, z5.s, #0xffff", // distance
            "cmphs p1.s, p0/z, z2.s, z5.s",
            "sub z6.s, z16.s, z5.s",
            "ld1w {{z7.s}}, p1/z, [{base}, z6.s, sxtw]",
            "ld1w {{z6.s}}, p1/z, [{second}, z6.s, sxtw]",
            "eor z7.d, z7.d, z0.d",
            "eor z6.d, z6.d, z1.d",
            "rbit z7.s, p0/m, z7.s",
            "rbit z6.s, p0/m, z6.s",
            "clz z7.s, p0/m, z7.s",
            "clz z6.s, p0/m, z6.s",
            "cmphs p2.s, p1/z, z7.s, #32",
            "add z7.s, p2/m, z7.s, z6.s",
            "and z7.s, z7.s, #0x78", // equal bits, of whole bytes
            "add z5.s, z5.s, z4.s",
            "mla z5.s, p1/m, z7.s, z23.s",
            "umax z3.s, p1/m, z3.s, z5.s",
            "add z4.s, z4.s, z23.s",
            "add {link}, {link}, {stride}",
            "subs {key}, {key}, #1",
            "b.ne 3b",
            "4:",
            "cmphs p1.s, p0/z, z3.s, z24.s",
            "cmphs p2.s, p0/z, z3.s, z25.s",
            "lsr z5.s, z3.s, {length_bit}",
            "trn1 z5.h, z3.h, z5.h",
            "sel z5.s, p1, z5.s, z28.s",
            "st1w {{z5.s}}, p0, [{run}, {lane}, lsl #2]",
            "orr z26.s, p2/m, z26.s, z17.s",
            "lsl z17.s, p3/m, z17.s, z27.s",
            "add z16.s, z16.s, z27.s",
            "add z20.s, z20.s, z27.s",
            "add z21.s, z21.s, z27.s",
            "incw {lane}",
            "whilelo p0.s, {lane}, {run_len}",
            "b.mi 2b",
            "orv s0, p3, z26.s",
            "fmov {deep:w}, s0",
            base = in(reg) data.as_ptr().add(at),
            second = in(reg) data.as_ptr().add(at + 4),
            links = in(reg) links,
            keys = in(reg) keys,
            stride = in(reg) 2 * STRIP,
            run = in(reg) run.as_mut_ptr(),
            run_len = in(reg) RUN,
            read = in(reg) RUN + READ,
            at = in(reg) at,
            here = in(reg) at + bias,
            least = in(reg) least << LENGTH_BIT,
            step = in(reg) words(),
            length_bit = const LENGTH_BIT,
            lane = out(reg) _,
            link = out(reg) _,
            key = out(reg) _,
            deep = lateout(reg) deep,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _,
            out("v23") _, out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _,
            out("p0") _, out("p1") _, out("p2") _, out("p3") _,
            options(nostack),
        );
    }
    deep
}

/// Compares a vector before each branch; at the end, the lanes that are beyond it take no part.
#[target_feature(enable = "sve")]
#[inline]
fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    debug_assert!(distance <= at && at <= end && end <= data.len());
    let equal: usize;
    // SAFETY: bytes are read from `at` up to `end`, and `distance` before; it is at most `at`.
    unsafe {
        let here = data.as_ptr().add(at);
        asm!(
            "mov {equal}, xzr",
            "whilelo p0.b, {equal}, {len}",
            "2:",
            "ld1b {{z0.b}}, p0/z, [{here}, {equal}]",
            "ld1b {{z1.b}}, p0/z, [{there}, {equal}]",
            "cmpne p1.b, p0/z, z0.b, z1.b",
            "b.ne 3f",
            "incb {equal}", // so that the next loads do not wait for the comparison
            "whilelo p0.b, {equal}, {len}",
            "b.mi 2b",
            "mov {equal}, {len}",
            "b 4f",
            "3:",
            "brkb p1.b, p0/z, p1.b",
            "incp {equal}, p1.b",
            "4:",
            equal = out(reg) equal,
            len = in(reg) end - at,
            here = in(reg) here,
            there = in(reg) here.sub(distance),
            out("v0") _, out("v1") _, out("p0") _, out("p1") _,
            options(nostack, readonly),
        );
    }
    equal
}

/// 32-bit lanes of a vector.
#[target_feature(enable = "sve")]
#[inline]
fn words() -> usize {
    let words;
    // SAFETY: only reads how long vectors are.
    unsafe { asm!("cntw {}", out(reg) words, options(pure, nomem, nostack, preserves_flags)) };
    words
}
