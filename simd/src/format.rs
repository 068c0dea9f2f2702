//! The tables of RFC 1951, section 3.2.5 to 3.2.7, built and checked at compile time.

/// How far back a match may reach.
pub(crate) const WINDOW: usize = 32768;

pub(crate) const MIN_MATCH: usize = 3;
pub(crate) const MAX_MATCH: usize = 258;

/// The symbol that ends a block; literals are below it, lengths above.
pub(crate) const END_OF_BLOCK: usize = 256;

/// Literal/length symbols that a stream may use. The fixed code has two more, which it may not.
pub(crate) const LITLEN_SYMBOLS: usize = 286;
pub(crate) const DISTANCE_SYMBOLS: usize = 30;
/// Stands for the distance of a literal in tables over distance symbols, which have 32 entries.
pub(crate) const NO_DISTANCE: usize = DISTANCE_SYMBOLS;
pub(crate) const PRECODE_SYMBOLS: usize = 19;

pub(crate) const MAX_CODE_BITS: usize = 15;
pub(crate) const MAX_PRECODE_BITS: usize = 7;

/// The longest stored block.
pub(crate) const MAX_STORED: usize = 65535;

/// The order in which the lengths of the precode are sent.
pub(crate) const PRECODE_ORDER: [u8; PRECODE_SYMBOLS] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Precode symbols: repeat the last length 3 to 6 times; 3 to 10 zeros; 11 to 138 zeros.
pub(crate) const REPEAT_LAST: u8 = 16;
pub(crate) const REPEAT_ZERO_SHORT: u8 = 17;
pub(crate) const REPEAT_ZERO_LONG: u8 = 18;

/// A symbol that stands for a range: its first value, and the bits that say which of the range.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) base: u16,
    pub(crate) extra: u8,
}

/// Length symbols 257 to 285.
pub(crate) const LENGTH_SLOTS: [Slot; 29] = {
    let mut slots = [Slot { base: 0, extra: 0 }; 29];
    let mut base = MIN_MATCH as u16;
    let mut index = 0;
    while index < 28 {
        // Eight lengths of their own, then four slots for each number of extra bits.
        let extra = if index < 8 { 0 } else { (index as u8 - 4) / 4 };
        slots[index] = Slot { base, extra };
        base += 1 << extra;
        index += 1;
    }
    // The longest match has a symbol of its own, though the slot before could hold it.
    slots[28] = Slot { base: MAX_MATCH as u16, extra: 0 };
    slots
};

/// Distance symbols 0 to 29.
pub(crate) const DISTANCE_SLOTS: [Slot; DISTANCE_SYMBOLS] = {
    let mut slots = [Slot { base: 0, extra: 0 }; DISTANCE_SYMBOLS];
    let mut base = 1;
    let mut index = 0;
    while index < DISTANCE_SYMBOLS {
        // Four distances of their own, then two slots for each number of extra bits.
        let extra = if index < 4 { 0 } else { (index as u8 - 2) / 2 };
        slots[index] = Slot { base, extra };
        base = base.wrapping_add(1 << extra);
        index += 1;
    }
    slots
};

const _: () = {
    assert!(LENGTH_SLOTS[8].base == 11 && LENGTH_SLOTS[8].extra == 1);
    assert!(LENGTH_SLOTS[27].base == 227 && LENGTH_SLOTS[27].extra == 5);
    assert!(DISTANCE_SLOTS[29].base == 24577 && DISTANCE_SLOTS[29].extra == 13);
    let last = DISTANCE_SLOTS[29];
    assert!(last.base as usize + (1 << last.extra) - 1 == WINDOW);
};

/// The index into [`LENGTH_SLOTS`] of each match length; 0 for lengths that are none.
pub(crate) static LENGTH_SLOT: [u8; MAX_MATCH + 1] = {
    let mut table = [0; MAX_MATCH + 1];
    let mut length = MIN_MATCH;
    let mut slot = 0;
    while length <= MAX_MATCH {
        while slot < 28 && LENGTH_SLOTS[slot + 1].base as usize <= length {
            slot += 1;
        }
        table[length] = slot as u8;
        length += 1;
    }
    table
};

/// Entries of a table over distances: one for each up to 256, then one for each run of 128.
pub(crate) const DISTANCE_INDEXES: usize = 512;

/// Where a distance stands in such a table; in bounds for what is none, too. No slot above 256 begins or ends inside
/// a run.
#[inline(always)]
pub(crate) const fn distance_index(distance: usize) -> usize {
    let below = distance.wrapping_sub(1);
    let index = if below < 256 { below } else { 256 + (below >> 7) };
    index % DISTANCE_INDEXES
}

/// The distance symbol, by [`distance_index`].
pub(crate) static DISTANCE_SLOT: [u8; DISTANCE_INDEXES] = {
    let mut table = [0; DISTANCE_INDEXES];
    let mut slot = 0;
    while slot < DISTANCE_SYMBOLS {
        let first = DISTANCE_SLOTS[slot].base as usize;
        let last = first + (1 << DISTANCE_SLOTS[slot].extra) - 1;
        let mut index = distance_index(first);
        while index <= distance_index(last) {
            table[index] = slot as u8;
            index += 1;
        }
        slot += 1;
    }
    table
};

/// The lengths of the fixed literal/length code.
pub(crate) const FIXED_LITLEN_LENGTHS: [u8; 288] = {
    let mut lengths = [8; 288];
    let mut symbol = 144;
    while symbol < 280 {
        lengths[symbol] = if symbol < 256 { 9 } else { 7 };
        symbol += 1;
    }
    lengths
};

/// The lengths of the fixed distance code.
pub(crate) const FIXED_DISTANCE_LENGTHS: [u8; 32] = [5; 32];
