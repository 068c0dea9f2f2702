//! The header of a dynamic block (RFC 1951, section 3.2.7): two codes, themselves coded.

use super::bits::BitWriter;
use super::huffman;
use crate::format::{
    DISTANCE_SYMBOLS, LITLEN_SYMBOLS, MAX_PRECODE_BITS, PRECODE_ORDER, PRECODE_SYMBOLS, REPEAT_LAST,
    REPEAT_ZERO_LONG, REPEAT_ZERO_SHORT,
};

/// The header of one block, ready to be measured and written.
pub(crate) struct Header {
    litlen_count: usize,
    distance_count: usize,
    precode_count: usize,
    precode_lengths: [u8; PRECODE_SYMBOLS],
    items: [Item; LITLEN_SYMBOLS + DISTANCE_SYMBOLS],
    item_count: usize,
    size: usize,
}

/// A precode symbol with its extra bits.
#[derive(Clone, Copy, Default)]
struct Item {
    symbol: u8,
    extra: u8,
}

impl Header {
    /// Codes the lengths of both codes.
    pub(crate) fn new(litlen: &[u8; LITLEN_SYMBOLS], distance: &[u8; DISTANCE_SYMBOLS]) -> Self {
        let litlen_count = used(litlen, 257);
        let distance_count = used(distance, 1);
        let mut lengths = [0; LITLEN_SYMBOLS + DISTANCE_SYMBOLS];
        lengths[..litlen_count].copy_from_slice(&litlen[..litlen_count]);
        let total = litlen_count + distance_count;
        lengths[litlen_count..total].copy_from_slice(&distance[..distance_count]);

        let mut header = Self {
            litlen_count,
            distance_count,
            precode_count: 0,
            precode_lengths: [0; PRECODE_SYMBOLS],
            items: [Item::default(); LITLEN_SYMBOLS + DISTANCE_SYMBOLS],
            item_count: 0,
            size: 0,
        };
        header.collect_items(&lengths[..total]);

        let mut frequencies = [0; PRECODE_SYMBOLS];
        for item in &header.items[..header.item_count] {
            frequencies[usize::from(item.symbol)] += 1;
            header.size += extra_bits(item.symbol) as usize;
        }
        huffman::code_lengths(&frequencies, MAX_PRECODE_BITS, &mut header.precode_lengths);
        header.precode_count = PRECODE_ORDER
            .iter()
            .rposition(|&symbol| header.precode_lengths[usize::from(symbol)] != 0)
            .map_or(4, |last| (last + 1).max(4));
        header.size += 5 + 5 + 4 + 3 * header.precode_count;
        for (frequency, &length) in frequencies.into_iter().zip(&header.precode_lengths) {
            header.size += frequency as usize * usize::from(length);
        }
        header
    }

    /// Its size in bits.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes what follows the block type.
    pub(crate) fn write(&self, writer: &mut BitWriter) {
        writer.put(self.litlen_count as u32 - 257, 5);
        writer.put(self.distance_count as u32 - 1, 5);
        writer.put(self.precode_count as u32 - 4, 4);
        for &symbol in &PRECODE_ORDER[..self.precode_count] {
            writer.put(self.precode_lengths[usize::from(symbol)].into(), 3);
        }
        let mut codes = [0; PRECODE_SYMBOLS];
        huffman::assign_codes(&self.precode_lengths, &mut codes);
        for item in &self.items[..self.item_count] {
            let symbol = usize::from(item.symbol);
            let length = u32::from(self.precode_lengths[symbol]);
            writer.put(
                u32::from(codes[symbol]) | u32::from(item.extra) << length,
                length + extra_bits(item.symbol),
            );
        }
    }

    fn collect_items(&mut self, lengths: &[u8]) {
        let mut rest = lengths;
        while let Some(&length) = rest.first() {
            let run = rest.iter().take_while(|&&other| other == length).count();
            rest = &rest[run..];
            if length == 0 {
                self.collect_zeros(run);
            } else {
                self.collect_run(length, run);
            }
        }
    }

    fn collect_zeros(&mut self, mut run: usize) {
        while run >= 11 {
            let part = run.min(138);
            self.push(REPEAT_ZERO_LONG, part - 11);
            run -= part;
        }
        if run >= 3 {
            self.push(REPEAT_ZERO_SHORT, run - 3);
            run = 0;
        }
        for _ in 0..run {
            self.push(0, 0);
        }
    }

    fn collect_run(&mut self, length: u8, run: usize) {
        self.push(length, 0);
        let mut run = run - 1;
        while run >= 3 {
            // Seven are four and three rather than six and one.
            let part = if run == 7 { 4 } else { run.min(6) };
            self.push(REPEAT_LAST, part - 3);
            run -= part;
        }
        for _ in 0..run {
            self.push(length, 0);
        }
    }

    fn push(&mut self, symbol: u8, extra: usize) {
        self.items[self.item_count] = Item { symbol, extra: extra as u8 };
        self.item_count += 1;
    }
}

/// How many lengths must be sent: all up to the last that is not 0, and `least` at least.
fn used(lengths: &[u8], least: usize) -> usize {
    lengths.iter().rposition(|&length| length != 0).map_or(least, |last| (last + 1).max(least))
}

fn extra_bits(symbol: u8) -> u32 {
    match symbol {
        REPEAT_LAST => 2,
        REPEAT_ZERO_SHORT => 3,
        REPEAT_ZERO_LONG => 7,
        _ => 0,
    }
}
