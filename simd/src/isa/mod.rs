//! Instruction sets: one [`Kernels`] for each, best first.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod sve;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::ErrorKind;
use crate::checksum;
use crate::deflate::bits::BitWriter;
use crate::deflate::block::Codes;
use crate::deflate::body::Chunk;
use crate::deflate::cost::{self, Costs, Prices};
use crate::deflate::emit::{self, Coded};
use crate::deflate::histogram::{self, Symbols};
use crate::deflate::search::{self, Hash, Links, RUN, Reach};
use crate::deflate::token::Token;
use crate::inflate::bits::Input;
use crate::inflate::{Inflate, Output, fast};
use std::fmt;
use std::sync::OnceLock;

/// The hot loops, compiled for one instruction set.
///
/// Only [`Kernels::detect`], [`Kernels::by_name`] and [`Kernels::all`] hand out a reference, and only to what this CPU
/// can run: holding one is the proof.
pub struct Kernels {
    name: &'static str,
    available: fn() -> bool,
    crc32: fn(u32, &[u8]) -> u32,
    adler32: fn(u32, &[u8]) -> u32,
    parse: fn(Chunk, &[u8], usize) -> usize,
    emit: fn(&[Token], &Codes, usize, &mut BitWriter),
    inflate: fn(&mut Inflate, &mut Input, &mut Output) -> Result<(), ErrorKind>,
}

/// The small steps of the loops, by instruction set. The defaults are the spec; what replaces one gives the same result.
pub(crate) trait Isa {
    /// The hashes of [`RUN`] positions.
    ///
    /// # Safety
    ///
    /// `at + RUN + READ <= data.len()`.
    #[inline(always)]
    unsafe fn hash_run<const WORDS: usize>(hash: &Hash, data: &[u8], at: usize, hashes: &mut [u16; RUN]) {
        for (lane, slot) in hashes.iter_mut().enumerate() {
            // SAFETY: as the caller vouches.
            *slot = unsafe { hash.at::<WORDS>(data, at + lane) };
        }
    }

    /// The best match of [`RUN`] positions, of at least `least` bytes; a bit for each where all probed bytes are equal.
    ///
    /// # Safety
    ///
    /// `at + RUN + READ <= data.len()`.
    #[inline(always)]
    unsafe fn probe_run(
        run: &mut [Token; RUN],
        links: Links,
        data: &[u8],
        at: usize,
        bias: usize,
        least: usize,
    ) -> u32 {
        let mut deep = 0;
        for (lane, slot) in run.iter_mut().enumerate() {
            // SAFETY: as the caller vouches.
            *slot = unsafe { search::probe_one(links, lane, data, at + lane, bias, least) };
            deep |= u32::from(slot.length() == search::PROBED) << lane;
        }
        deep
    }

    /// How many bytes of `data[at..end]` are equal to what is `distance` before.
    #[inline(always)]
    fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
        search::equal_bytes(data, at, distance, end)
    }

    /// Finds the true lengths, up to `end`, of the matches that `deep` has a bit for.
    ///
    /// # Safety
    ///
    /// `at + RUN + PROBED <= end <= data.len()`.
    #[inline(always)]
    unsafe fn extend_run(
        run: &mut [Token; RUN],
        deep: u32,
        data: &[u8],
        at: usize,
        end: usize,
        reach: &mut Reach,
    ) where
        Self: Sized,
    {
        search::extend_run::<Self>(run, deep, data, at, end, reach);
    }

    /// What a run of tokens counts, the run at `index` of `symbols`.
    #[inline(always)]
    fn symbols_run(run: &[Token; RUN], index: usize, symbols: &mut Symbols) {
        let litlens = &mut symbols.litlen[index * RUN..][..RUN];
        let slots = &mut symbols.slot[symbols.slots..][..RUN];
        let mut matches = 0;
        for (&token, place) in run.iter().zip(litlens) {
            let (litlen, slot) = histogram::symbols_of(token);
            *place = litlen as u16;
            slots[matches % RUN] = slot as u8;
            matches += usize::from(!token.is_literal());
        }
        symbols.slots += matches;
    }

    /// The bits of a run of tokens; false if a pair has more than fit.
    #[inline(always)]
    fn code_run(run: &[Token; RUN], codes: &Codes, coded: &mut Coded) -> bool {
        emit::code_run(run, codes, coded)
    }

    /// What each near match, of up to [`PROBED`](search::PROBED) bytes, and each far one costs, and what the far one costs
    /// one byte shorter. Where there is none, [`NEVER`](cost::NEVER) or more.
    #[inline(always)]
    fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices: &mut Prices) {
        cost::price_run(near, far, costs, prices);
    }

    /// Chooses among the matches of [`SEGMENTS`](cost::SEGMENTS) segments.
    #[inline(always)]
    fn choose_segments(
        near: &[Token],
        far: &mut [Token],
        bytes: &[u8],
        stride: usize,
        costs: &Costs,
        totals: &mut [u32],
    ) where
        Self: Sized,
    {
        cost::choose_segments::<Self>(near, far, bytes, stride, costs, totals);
    }

    /// Continues a CRC-32.
    #[inline(always)]
    fn crc32(seed: u32, data: &[u8]) -> u32 {
        checksum::crc32::scalar(seed, data)
    }

    /// Continues an Adler-32.
    #[inline(always)]
    fn adler32(seed: u32, data: &[u8]) -> u32 {
        checksum::adler32::lanes(seed, data)
    }

    /// The lowest of 64 bits, as many as the lowest eight bits of `count` say, which is fewer than all.
    #[inline(always)]
    fn low_bits(bits: u64, count: u32) -> u64 {
        bits & ((1 << (count & 63)) - 1)
    }

    /// Copies a match: `length` bytes to `out[at..]`, from what is `distance` before each.
    ///
    /// # Safety
    ///
    /// `1 <= distance <= at` and `at + length + COPY_SLACK <= out.len()`.
    #[inline(always)]
    unsafe fn copy_match(out: &mut [u8], at: usize, distance: usize, length: usize) {
        // SAFETY: as the caller vouches.
        unsafe { fast::copy_match(out, at, distance, length) }
    }
}

/// Calls a loop, which is unsafe to call if it has features.
macro_rules! call {
    (; $call:expr) => {
        $call
    };
    ($feature:literal; $call:expr) => {
        // SAFETY: loops are called through a reference to their `Kernels`, which only a CPU with the features gives out.
        unsafe { $call }
    };
}

/// Defines the loops of an instruction set as whole functions.
macro_rules! kernels {
    ($name:literal, $isa:ty, $available:expr $(, $feature:literal)?) => {{
        $(#[target_feature(enable = $feature)])?
        fn crc32(seed: u32, data: &[u8]) -> u32 {
            <$isa>::crc32(seed, data)
        }
        $(#[target_feature(enable = $feature)])?
        fn adler32(seed: u32, data: &[u8]) -> u32 {
            <$isa>::adler32(seed, data)
        }
        $(#[target_feature(enable = $feature)])?
        fn parse(chunk: Chunk, data: &[u8], start: usize) -> usize {
            crate::deflate::body::parse::<$isa>(chunk, data, start)
        }
        $(#[target_feature(enable = $feature)])?
        fn emit_tokens(tokens: &[Token], codes: &Codes, size: usize, writer: &mut BitWriter) {
            emit::emit::<$isa>(tokens, codes, size, writer);
        }
        $(#[target_feature(enable = $feature)])?
        fn inflate(state: &mut Inflate, input: &mut Input, output: &mut Output) -> Result<(), ErrorKind> {
            fast::run::<$isa>(state, input, output)
        }
        Kernels {
            name: $name,
            available: $available,
            crc32: |seed, data| call!($($feature)?; crc32(seed, data)),
            adler32: |seed, data| call!($($feature)?; adler32(seed, data)),
            parse: |chunk, data, start| call!($($feature)?; parse(chunk, data, start)),
            emit: |tokens, codes, size, writer| call!($($feature)?; emit_tokens(tokens, codes, size, writer)),
            inflate: |state, input, output| call!($($feature)?; inflate(state, input, output)),
        }
    }};
}

/// Best first; the last one runs everywhere.
static LIST: &[Kernels] = &[
    #[cfg(target_arch = "x86_64")]
    kernels!(
        "avx512",
        avx512::Avx512,
        avx512::available,
        "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,avx512cd,vpclmulqdq,pclmulqdq,avx2,bmi1,bmi2,lzcnt,popcnt"
    ),
    #[cfg(target_arch = "x86_64")]
    kernels!("avx2", avx2::Avx2, avx2::available, "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq"),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    kernels!("sve", sve::Sve, sve::available, "sve,neon,aes"),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    kernels!("neon", neon::Neon, neon::available, "neon,aes"),
    kernels!("scalar", Scalar, || true),
];

struct Scalar;
impl Isa for Scalar {
    fn adler32(seed: u32, data: &[u8]) -> u32 {
        checksum::adler32::scalar(seed, data)
    }
}

impl Kernels {
    /// The best for this CPU, or what `LANEFLATE_ISA` names.
    ///
    /// # Panics
    ///
    /// If `LANEFLATE_ISA` names an instruction set that is unknown or that this CPU lacks.
    pub fn detect() -> &'static Self {
        static CHOICE: OnceLock<&'static Kernels> = OnceLock::new();
        CHOICE.get_or_init(|| match std::env::var("LANEFLATE_ISA") {
            Ok(name) => Self::by_name(&name).unwrap_or_else(|| {
                let names: Vec<_> = Self::all().map(Self::name).collect();
                panic!("LANEFLATE_ISA={name}: this CPU has {}", names.join(", "));
            }),
            Err(_) => Self::all().next().expect("scalar runs everywhere"),
        })
    }

    /// The one called `name`, if this CPU can run it.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all().find(|kernels| kernels.name == name)
    }

    /// All that this CPU can run, best first.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        LIST.iter().filter(|kernels| (kernels.available)())
    }

    /// The instruction set: `scalar`, `avx2`, `avx512`, `neon`, `sve`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn crc32(&self, seed: u32, data: &[u8]) -> u32 {
        (self.crc32)(seed, data)
    }

    pub(crate) fn parse(&self, chunk: Chunk, data: &[u8], start: usize) -> usize {
        (self.parse)(chunk, data, start)
    }

    pub(crate) fn emit(&self, tokens: &[Token], codes: &Codes, size: usize, writer: &mut BitWriter) {
        (self.emit)(tokens, codes, size, writer);
    }

    pub(crate) fn inflate(
        &self,
        state: &mut Inflate,
        input: &mut Input,
        output: &mut Output,
    ) -> Result<(), ErrorKind> {
        (self.inflate)(state, input, output)
    }

    pub(crate) fn adler32(&self, seed: u32, data: &[u8]) -> u32 {
        (self.adler32)(seed, data)
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernels").field(&self.name).finish()
    }
}
