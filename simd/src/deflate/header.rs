//! The header of a dynamic block (RFC 1951, section 3.2.7): two codes, themselves coded.

use super::bits::BitWriter;
use super::huffman;
use crate::format::{
    DISTANCE_SYMBOLS, LITLEN_SYMBOLS, MAX_PRECODE_BITS, PRECODE_ORDER, PRECODE_SYMBOLS, REPEAT_LAST,
    REPEAT_ZERO_LONG, REPEAT_ZERO_SHORT,
};

/// Space for all lengths, and for a word of eight after the last.
const MAX_LENGTHS: usize = (LITLEN_SYMBOLS + DISTANCE_SYMBOLS + 8).next_multiple_of(8);

/// The extra bits of each precode symbol.
const EXTRA_BITS: [u8; PRECODE_SYMBOLS] = {
    let mut bits = [0; PRECODE_SYMBOLS];
    bits[REPEAT_LAST as usize] = 2;
    bits[REPEAT_ZERO_SHORT as usize] = 3;
    bits[REPEAT_ZERO_LONG as usize] = 7;
    bits
};

/// The highest bit of each byte.
const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// The header of one block, ready to be measured and written.
pub(crate) struct Header {
    litlen_count: usize,
    distance_count: usize,
    precode_count: usize,
    precode_lengths: [u8; PRECODE_SYMBOLS],
    items: [Item; MAX_LENGTHS],
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
        let total = litlen_count + distance_count;
        let mut lengths = [0; MAX_LENGTHS];
        lengths[..LITLEN_SYMBOLS].copy_from_slice(litlen);
        lengths[litlen_count..litlen_count + DISTANCE_SYMBOLS].copy_from_slice(distance);
        // Ends the last run.
        lengths[total] = u8::MAX;

        let mut header = Self {
            litlen_count,
            distance_count,
            precode_count: 0,
            precode_lengths: [0; PRECODE_SYMBOLS],
            items: [Item::default(); MAX_LENGTHS],
            item_count: 0,
            size: 0,
        };
        header.collect_items(&lengths, total);

        // Neighbours are counted apart: an increment waits for the last one of the same symbol.
        let mut counts = [[0; PRECODE_SYMBOLS]; 4];
        for (index, item) in header.items[..header.item_count].iter().enumerate() {
            counts[index % 4][usize::from(item.symbol)] += 1;
        }
        let frequencies: [u32; PRECODE_SYMBOLS] =
            std::array::from_fn(|symbol| counts.iter().map(|counts| counts[symbol]).sum());
        huffman::code_lengths(&frequencies, MAX_PRECODE_BITS, &mut header.precode_lengths);
        header.precode_count = PRECODE_ORDER
            .iter()
            .rposition(|&symbol| header.precode_lengths[usize::from(symbol)] != 0)
            .map_or(4, |last| (last + 1).max(4));
        header.size += 5 + 5 + 4 + 3 * header.precode_count;
        for ((frequency, &length), extra) in
            frequencies.into_iter().zip(&header.precode_lengths).zip(EXTRA_BITS)
        {
            header.size += frequency as usize * usize::from(length + extra);
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
        let code = |item: Item| {
            let symbol = usize::from(item.symbol);
            let length = u32::from(self.precode_lengths[symbol]);
            let value = u64::from(codes[symbol]) | u64::from(item.extra) << length;
            (value, length + u32::from(EXTRA_BITS[symbol]))
        };
        let (quads, rest) = self.items[..self.item_count].as_chunks::<4>();
        let quads = quads.iter().map(|quad| {
            let [first, second, third, fourth] = quad.map(code);
            let (low, count) = (first.0 | second.0 << first.1, first.1 + second.1);
            let high = third.0 | fourth.0 << third.1;
            (low | high << count, count + third.1 + fourth.1)
        });
        let mut room = writer.room(self.size);
        // SAFETY: with what was put above, the header has `size` bits.
        unsafe {
            room.put(quads);
            room.put(rest.iter().copied().map(code));
        }
    }

    fn collect_items(&mut self, lengths: &[u8; MAX_LENGTHS], total: usize) {
        let word = |at: usize| u64::from_le_bytes(*lengths[at..].first_chunk().expect("has eight more"));
        let mut start = 0;
        for at in (0..total).step_by(8) {
            // The highest bit of each byte that is unlike the next one.
            let differ = word(at) ^ word(at + 1);
            let mut ends = (((differ & !HIGHEST) + !HIGHEST) | differ) & HIGHEST;
            while ends != 0 {
                let end = at + ends.trailing_zeros() as usize / 8 + 1;
                if end > total {
                    return;
                }
                self.collect(lengths[start], end - start);
                start = end;
                ends &= ends - 1;
            }
        }
    }

    fn collect(&mut self, length: u8, run: usize) {
        if run <= if length == 0 { 2 } else { 3 } {
            // Nearly all runs, without a branch on how long they are.
            self.items[self.item_count..][..3].fill(Item { symbol: length, extra: 0 });
            self.item_count += run;
        } else if length == 0 {
            self.collect_zeros(run);
        } else {
            self.collect_run(length, run);
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
