//! The allocator that the codec is given: blocks go back on a shelf and are taken again by the next stream.

use brotli::enc::cluster::HistogramPair;
use brotli::enc::command::Command;
use brotli::enc::entropy_encode::HuffmanTree;
use brotli::enc::histogram::{ContextType, HistogramCommand, HistogramDistance, HistogramLiteral};
use brotli::enc::{
    Allocator, BrotliAlloc, PDF, SliceWrapper, SliceWrapperMut, StaticCommand, ZopfliNode, floatX, s16, v8,
};

/// The most that a pool keeps, in bytes.
pub(super) const KEPT_BYTES: usize = BYTES + COUNTS + FAST_TABLES + TABLES + COMMANDS;

// Bytes kept of each type: all that a body of 64 KiB takes at quality 6. Each type has a limit of its own, so that what a large
// body leaves behind of one cannot crowd out the hash table, which is what pays.
const BYTES: usize = 640 << 10;
const COUNTS: usize = 64 << 10;
const FAST_TABLES: usize = 128 << 10;
const TABLES: usize = (2 << 20) + (128 << 10);
const COMMANDS: usize = 1 << 20;

/// Smaller blocks are left to malloc, which keeps them at hand itself.
const MIN_BLOCK_BYTES: usize = 4 << 10;

/// The smallest hash table from quality 5 on: 2^14 buckets of 2^4 entries. With meta-blocks of [`super::META_BLOCK_BYTES`] no
/// other block of `u32` comes near it.
const HASH_TABLE_LEN: usize = 1 << 18;

/// A run of elements lent to the codec.
pub(super) struct Block<T>(Vec<T>);

/// Memory for one encoder.
#[derive(Default)]
pub(super) struct Pool {
    bytes: Shelf<u8, BYTES>,
    counts: Shelf<u16, COUNTS>,
    fast_tables: Shelf<i32, FAST_TABLES>,
    tables: Shelf<u32, TABLES>,
    commands: Shelf<Command, COMMANDS>,
    dirty_tables: bool,
}

impl Pool {
    /// With `dirty_tables` a hash table comes with the content that it had.
    pub(super) fn new(dirty_tables: bool) -> Self {
        Self { dirty_tables, ..Self::default() }
    }

    /// What is on the shelves, in bytes.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.bytes.kept_bytes
            + self.counts.kept_bytes
            + self.fast_tables.kept_bytes
            + self.tables.kept_bytes
            + self.commands.kept_bytes
    }

    #[cfg(test)]
    pub(super) fn keeps_a_hash_table(&self) -> bool {
        self.tables.blocks.iter().any(|block| block.len() >= HASH_TABLE_LEN)
    }
}

/// Blocks of one type that wait for their next use, `LIMIT` bytes at most.
struct Shelf<T, const LIMIT: usize> {
    blocks: Vec<Vec<T>>,
    kept_bytes: usize,
}

impl<T: Clone + Default, const LIMIT: usize> Shelf<T, LIMIT> {
    /// A block of `len` elements: default values, or whatever it held if it may be `dirty`.
    fn lend(&mut self, len: usize, dirty: bool) -> Block<T> {
        // A fresh vec of zeroes costs no zeroing: it is calloc, and a large one comes as untouched pages.
        if len * size_of::<T>() < MIN_BLOCK_BYTES {
            return Block(vec![T::default(); len]);
        }
        let Some(mut block) = self.take(len) else {
            return Block(vec![T::default(); len]);
        };
        if !dirty {
            block.clear();
        }
        block.resize(len, T::default());
        Block(block)
    }

    /// Takes the smallest block with room for `len` elements. If none has it, the largest is dropped for having been too
    /// small, so that there are never more blocks than were once in use together.
    fn take(&mut self, len: usize) -> Option<Vec<T>> {
        let room = |at: &usize| self.blocks[*at].capacity();
        let fitting = (0..self.blocks.len()).filter(|at| room(at) >= len).min_by_key(room);
        let at = fitting.or_else(|| (0..self.blocks.len()).max_by_key(room))?;
        let block = self.blocks.swap_remove(at);
        self.kept_bytes -= byte_size(&block);
        fitting.map(|_| block)
    }

    fn put(&mut self, block: Vec<T>) {
        let size = byte_size(&block);
        if size >= MIN_BLOCK_BYTES && self.kept_bytes + size <= LIMIT {
            self.kept_bytes += size;
            self.blocks.push(block);
        }
    }
}

fn byte_size<T>(block: &Vec<T>) -> usize {
    block.capacity() * size_of::<T>()
}

macro_rules! pooled {
    ($($element:ty: $shelf:ident, dirty $dirty:expr;)*) => {$(
        impl Allocator<$element> for Pool {
            type AllocatedMemory = Block<$element>;

            fn alloc_cell(&mut self, len: usize) -> Block<$element> {
                let dirty: fn(&Pool, usize) -> bool = $dirty;
                let dirty = dirty(self, len);
                self.$shelf.lend(len, dirty)
            }

            fn free_cell(&mut self, block: Block<$element>) {
                self.$shelf.put(block.0);
            }
        }
    )*};
}

// The codec counts the commands that it has written and reads no others.
pooled! {
    u8: bytes, dirty |_, _| false;
    u16: counts, dirty |_, _| false;
    i32: fast_tables, dirty |_, _| false;
    u32: tables, dirty |pool, len| pool.dirty_tables && len >= HASH_TABLE_LEN;
    Command: commands, dirty |_, _| true;
}

macro_rules! unpooled {
    ($($element:ty),*) => {$(
        impl Allocator<$element> for Pool {
            type AllocatedMemory = Block<$element>;

            fn alloc_cell(&mut self, len: usize) -> Block<$element> {
                Block(vec![<$element>::default(); len])
            }

            fn free_cell(&mut self, _: Block<$element>) {}
        }
    )*};
}

// A few KiB per meta-block, or used from quality 10 only.
unpooled!(
    u64,
    floatX,
    v8,
    s16,
    PDF,
    StaticCommand,
    HistogramLiteral,
    HistogramCommand,
    HistogramDistance,
    HistogramPair,
    ContextType,
    HuffmanTree,
    ZopfliNode
);

impl BrotliAlloc for Pool {}

impl<T, const LIMIT: usize> Default for Shelf<T, LIMIT> {
    fn default() -> Self {
        Self { blocks: Vec::new(), kept_bytes: 0 }
    }
}

impl<T> Default for Block<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SliceWrapper<T> for Block<T> {
    fn slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> SliceWrapperMut<T> for Block<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
