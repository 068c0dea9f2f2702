//! The allocator that the codec is given: blocks go back on a shelf and are taken again by the next stream.

use brotli::enc::cluster::HistogramPair;
use brotli::enc::command::Command;
use brotli::enc::entropy_encode::HuffmanTree;
use brotli::enc::histogram::{ContextType, HistogramCommand, HistogramDistance, HistogramLiteral};
use brotli::enc::{
    Allocator, BrotliAlloc, PDF, SliceWrapper, SliceWrapperMut, StaticCommand, ZopfliNode, floatX, s16, v8,
};

/// The most that a pool keeps, in bytes: a stream at quality 5 or 6 over 1 MiB long (table of 2 MiB) finds all but its window.
pub(super) const KEPT_BYTES: usize = 4 << 20;

/// Smaller blocks are left to malloc, which keeps them at hand itself.
const MIN_BLOCK_BYTES: usize = 4 << 10;

/// A run of elements lent to the codec.
pub(super) struct Block<T>(Vec<T>);

/// Memory for one encoder.
#[derive(Default)]
pub(super) struct Pool {
    bytes: Shelf<u8>,
    counts: Shelf<u16>,
    fast_tables: Shelf<i32>,
    tables: Shelf<u32>,
    commands: Shelf<Command>,
    kept_bytes: usize,
    dirty_tables: bool,
}

impl Pool {
    /// With `dirty_tables` the `u32` blocks, which are hash tables, keep their old content.
    pub(super) fn new(dirty_tables: bool) -> Self {
        Self { dirty_tables, ..Self::default() }
    }

    /// What is on the shelves, in bytes.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }
}

/// Blocks of one type that wait for their next use.
struct Shelf<T>(Vec<Vec<T>>);

impl<T: Clone + Default> Shelf<T> {
    /// Takes the smallest block that holds `len` elements, with the content it had.
    fn take(&mut self, len: usize, kept_bytes: &mut usize) -> Option<Vec<T>> {
        let (at, _) = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, b)| b.capacity() >= len)
            .min_by_key(|(_, b)| b.capacity())?;
        let block = self.0.swap_remove(at);
        *kept_bytes -= byte_size(&block);
        Some(block)
    }

    fn put(&mut self, block: Vec<T>, kept_bytes: &mut usize) {
        let size = byte_size(&block);
        if size >= MIN_BLOCK_BYTES && *kept_bytes + size <= KEPT_BYTES {
            *kept_bytes += size;
            self.0.push(block);
        }
    }
}

fn byte_size<T>(block: &Vec<T>) -> usize {
    block.capacity() * size_of::<T>()
}

fn lend<T: Clone + Default>(
    shelf: &mut Shelf<T>,
    kept_bytes: &mut usize,
    len: usize,
    dirty: bool,
) -> Block<T> {
    if len * size_of::<T>() < MIN_BLOCK_BYTES {
        return Block(vec![T::default(); len]);
    }
    // A fresh vec of zeroes costs no zeroing: it is calloc, and a large one comes as untouched pages.
    let Some(mut block) = shelf.take(len, kept_bytes) else { return Block(vec![T::default(); len]) };
    if !dirty {
        block.clear();
    }
    block.resize(len, T::default());
    Block(block)
}

macro_rules! pooled {
    ($($element:ty: $shelf:ident, dirty $dirty:expr;)*) => {$(
        impl Allocator<$element> for Pool {
            type AllocatedMemory = Block<$element>;

            fn alloc_cell(&mut self, len: usize) -> Block<$element> {
                let dirty: fn(&Pool) -> bool = $dirty;
                let dirty = dirty(self);
                lend(&mut self.$shelf, &mut self.kept_bytes, len, dirty)
            }

            fn free_cell(&mut self, block: Block<$element>) {
                self.$shelf.put(block.0, &mut self.kept_bytes);
            }
        }
    )*};
}

// Commands are written before they are read, always.
pooled! {
    u8: bytes, dirty |_| false;
    u16: counts, dirty |_| false;
    i32: fast_tables, dirty |_| false;
    u32: tables, dirty |pool| pool.dirty_tables;
    Command: commands, dirty |_| true;
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

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Vec::new())
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
