//! One block: from tokens to bits, in the cheapest of the three forms.

use super::bits::BitWriter;
use super::header::Header;
use super::histogram::{Construction, Histogram, LENGTH_INDEX, LITLEN_INDEXES, Lengths};
use super::huffman;
use super::token::Token;
use crate::Kernels;
use crate::format::{
    DISTANCE_SLOTS, DISTANCE_SYMBOLS, END_OF_BLOCK, FIXED_DISTANCE_LENGTHS, FIXED_LITLEN_LENGTHS,
    LENGTH_SLOTS, LITLEN_SYMBOLS, MAX_CODE_BITS, MAX_STORED,
};

/// The bits of a symbol and, for lengths, its extra bits: `count << 24 | bits`.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct Code(u32);

impl Code {
    #[inline(always)]
    pub(crate) const fn bits(self) -> u32 {
        self.0 & 0xff_ffff
    }

    #[inline(always)]
    pub(crate) const fn count(self) -> u32 {
        self.0 >> 24
    }

    fn new(bits: u32, count: u32) -> Self {
        debug_assert!(count <= 24 && bits >> count == 0);
        Self(count << 24 | bits)
    }
}

/// The bits of a distance symbol, and how many extra bits follow: `extra << 24 | count << 16 | bits`.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct DistanceCode(u32);

impl DistanceCode {
    #[inline(always)]
    pub(crate) const fn bits(self) -> u32 {
        self.0 & 0xffff
    }

    #[inline(always)]
    pub(crate) const fn count(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    #[inline(always)]
    pub(crate) const fn extra(self) -> u32 {
        self.0 >> 24
    }

    /// A table as the words it consists of.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn words(table: &[Self; 32]) -> &[u32; 32] {
        // SAFETY: the type is a transparent wrapper.
        unsafe { &*std::ptr::from_ref(table).cast() }
    }

    fn new(bits: u16, count: u8, extra: u8) -> Self {
        Self(u32::from(extra) << 24 | u32::from(count) << 16 | u32::from(bits))
    }
}

/// Most bits that one token can take: the longest codes with the most extra bits.
pub(crate) const MAX_TOKEN_BITS: usize = 2 * MAX_CODE_BITS + 5 + 13;

/// What the emission of one block looks up.
pub(crate) struct Codes {
    pub(crate) litlen: [Code; LITLEN_INDEXES],
    pub(crate) distance: [DistanceCode; 32],
    end: Code,
}

impl Codes {
    pub(crate) fn new(litlen: &[u8], distance: &[u8]) -> Self {
        let mut table = Self {
            litlen: [Code::default(); LITLEN_INDEXES],
            distance: [DistanceCode::default(); 32],
            end: Code::default(),
        };
        let mut codes = [0; 288];
        huffman::assign_codes(litlen, &mut codes[..litlen.len()]);
        let code = |symbol: usize| Code::new(codes[symbol].into(), litlen[symbol].into());
        for (byte, entry) in table.litlen[..256].iter_mut().enumerate() {
            *entry = code(byte);
        }
        table.end = code(END_OF_BLOCK);
        for (index, slot) in LENGTH_SLOTS.iter().enumerate() {
            let Code(first) = code(END_OF_BLOCK + 1 + index);
            let first = first + (u32::from(slot.extra) << 24);
            let step = 1 << litlen[END_OF_BLOCK + 1 + index];
            let at = LENGTH_INDEX + usize::from(slot.base);
            // The slot before the last has the entry of the longest match, too, until the last comes.
            for (extra, entry) in (0..).zip(&mut table.litlen[at..at + (1 << slot.extra)]) {
                *entry = Code(first + extra * step);
            }
        }
        huffman::assign_codes(distance, &mut codes[..distance.len()]);
        for (symbol, entry) in table.distance[..DISTANCE_SYMBOLS].iter_mut().enumerate() {
            *entry = DistanceCode::new(codes[symbol], distance[symbol], DISTANCE_SLOTS[symbol].extra);
        }
        table
    }
}

/// Writes the block that `tokens` make of `bytes`.
pub(crate) fn write(
    writer: &mut BitWriter,
    kernels: &Kernels,
    tokens: &[Token],
    histogram: &Histogram,
    construction: Construction,
    bytes: &[u8],
    last: bool,
) {
    let symbols = histogram.litlens();
    let distances = histogram.distances();
    let lengths = Lengths::new(construction, &symbols, distances);
    let header = Header::new(&lengths.litlen, &lengths.distance);
    let extra = extra_bits(&symbols, distances);
    let dynamic =
        header.size() + extra + size(&symbols, &lengths.litlen) + size(distances, &lengths.distance);
    let fixed = extra + size(&symbols, &FIXED_LITLEN_LENGTHS) + size(distances, &FIXED_DISTANCE_LENGTHS);
    let stored = stored_size(bytes.len());
    if stored <= dynamic.min(fixed) {
        return write_stored(writer, bytes, last);
    }
    writer.put(last.into(), 1);
    let (codes, bits) = if fixed <= dynamic {
        writer.put(1, 2);
        (Codes::new(&FIXED_LITLEN_LENGTHS, &FIXED_DISTANCE_LENGTHS), fixed)
    } else {
        writer.put(2, 2);
        header.write(writer);
        (Codes::new(&lengths.litlen, &lengths.distance), dynamic)
    };
    kernels.emit(tokens, &codes, bits, writer);
    writer.put(codes.end.bits(), codes.end.count());
}

/// Writes `bytes` as they are, in as many stored blocks as that takes; one empty one for none.
pub(crate) fn write_stored(writer: &mut BitWriter, bytes: &[u8], last: bool) {
    let mut rest = bytes;
    loop {
        let (part, after) = rest.split_at(rest.len().min(MAX_STORED));
        writer.put((last && after.is_empty()).into(), 3);
        writer.align();
        let length = part.len() as u16;
        writer.bytes(&length.to_le_bytes());
        writer.bytes(&(!length).to_le_bytes());
        writer.bytes(part);
        rest = after;
        if rest.is_empty() {
            return;
        }
    }
}

/// The size of that in bits, at most, without the three bits of the first block's type.
fn stored_size(len: usize) -> usize {
    8 * len + 40 * len.div_ceil(MAX_STORED).max(1)
}

fn size(frequencies: &[u32], lengths: &[u8]) -> usize {
    let pairs = frequencies.iter().zip(lengths);
    pairs.map(|(&frequency, &length)| frequency * u32::from(length)).sum::<u32>() as usize
}

fn extra_bits(symbols: &[u32; LITLEN_SYMBOLS], distances: &[u32; DISTANCE_SYMBOLS]) -> usize {
    let lengths = symbols[257..].iter().zip(&LENGTH_SLOTS);
    let distances = distances.iter().zip(&DISTANCE_SLOTS);
    lengths.chain(distances).map(|(&frequency, slot)| frequency * u32::from(slot.extra)).sum::<u32>() as usize
}
