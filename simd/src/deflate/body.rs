//! A body, chunk by chunk and block by block.
//!
//! ```text
//! chunk of bytes -> match map (search) -> cheapest parse (cost) -> tokens (walk) -> block (split, block, emit)
//! ```

use super::bits::BitWriter;
use super::block;
use super::chain::Chains;
use super::cost::{self, Costs};
use super::histogram::{Construction, Histogram};
use super::search::{MAX_CHUNK, Search};
use super::split;
use super::token::Token;
use super::walk;
use crate::Kernels;
use crate::format::WINDOW;
use crate::isa::Isa;
use crate::level::{Parse, Plan};

/// The sizes that a body is cut into.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Bytes that are parsed at once; all blocks but the last have at least as many.
    pub(crate) chunk: usize,
    /// Most bytes of a block.
    pub(crate) block: usize,
    /// Tokens with which a block is full.
    pub(crate) tokens: usize,
}

/// For a body that is whole in memory.
pub(crate) const WHOLE: Sizes = Sizes { chunk: MAX_CHUNK, block: 3 * MAX_CHUNK, tokens: 16384 };

/// For a stream: less memory, and a block of no more than the window.
pub(crate) const STREAM: Sizes = Sizes { chunk: 6144, block: WINDOW, tokens: 8192 };

/// The state of one DEFLATE stream.
pub(crate) struct Body {
    plan: &'static Plan,
    sizes: Sizes,
    search: Search,
    /// Where in the data the scale of the search begins.
    base: usize,
    /// Where in the data the block begins that the tokens belong to.
    block: usize,
    /// Where in the data the next chunk begins.
    next: usize,
    tokens: Vec<Token>,
    histogram: Histogram,
    scratch: Scratch,
}

/// What only lives while a chunk is parsed.
#[derive(Default)]
struct Scratch {
    /// The match maps and what is chosen from them, and the walks through it.
    maps: [Vec<Token>; MAPS],
    totals: Vec<u32>,
    /// The chunk, padded.
    bytes: Vec<u8>,
}

const MAPS: usize = 4;

impl Body {
    pub(crate) fn new(plan: &'static Plan, sizes: Sizes) -> Self {
        Self {
            plan,
            sizes,
            search: Search::new(plan.keys),
            base: 0,
            block: 0,
            next: 0,
            tokens: Vec::new(),
            histogram: Histogram::EMPTY,
            scratch: Scratch::default(),
        }
    }

    /// Makes `history`, at most a window, what matches of the stream to come may refer to. Its bytes are in front of all
    /// data until they are slid out.
    pub(crate) fn prime(&mut self, history: &[u8], kernels: &Kernels) {
        let mut nothing = Vec::new();
        let mut writer = BitWriter::new(&mut nothing, (0, 0));
        while self.next < history.len() {
            // A chunk as any other, but what it makes is dropped.
            let end = history.len().min(self.next + self.sizes.chunk);
            self.chunk(history, end, kernels, &mut writer);
            self.tokens.clear();
            self.histogram = Histogram::EMPTY;
            self.block = self.next;
        }
    }

    /// Compresses all of `data` from `next` on, which ends the stream.
    pub(crate) fn whole(&mut self, data: &[u8], kernels: &Kernels, writer: &mut BitWriter) {
        self.sizes = WHOLE;
        while self.next < data.len() {
            let end = data.len().min(self.next + self.sizes.chunk);
            self.chunk(data, end, kernels, writer);
        }
        self.end_block(data, true, kernels, writer);
        self.restart(data.len());
    }

    /// Compresses `data[next..end]`, at most a chunk; may leave tokens for a block to come.
    pub(crate) fn chunk(&mut self, data: &[u8], end: usize, kernels: &Kernels, writer: &mut BitWriter) {
        debug_assert!(end - self.next <= self.sizes.chunk);
        if end - self.block > self.sizes.block || self.tokens.len() > self.sizes.tokens {
            self.end_block(data, false, kernels, writer);
        }
        let start = self.next;
        self.next = end;
        if self.plan.parse == Parse::Stored {
            return;
        }
        let from = start.saturating_sub(WINDOW);
        self.search.advance(from - self.base);
        self.base = from;

        let before = self.tokens.len();
        self.tokens.resize(before + end - start, Token::NONE);
        let mut histogram = Histogram::EMPTY;
        let added = kernels.parse(
            Chunk {
                plan: self.plan,
                search: &mut self.search,
                scratch: &mut self.scratch,
                tokens: &mut self.tokens[before..],
                histogram: &mut histogram,
            },
            &data[from..],
            start - from,
        );
        self.tokens.truncate(before + added);
        if before > 0 && split::pays(&self.histogram, &histogram) {
            let bytes = &data[self.block..start];
            block::write(
                writer,
                kernels,
                &self.tokens[..before],
                &self.histogram,
                self.construction(),
                bytes,
                false,
            );
            self.tokens.drain(..before);
            self.block = start;
            self.histogram = histogram;
        } else {
            self.histogram.add(&histogram);
        }
    }

    /// Writes the block under way, if there is one or it is the last.
    pub(crate) fn end_block(&mut self, data: &[u8], last: bool, kernels: &Kernels, writer: &mut BitWriter) {
        let bytes = &data[self.block..self.next];
        if self.plan.parse == Parse::Stored && !bytes.is_empty() {
            block::write_stored(writer, bytes, last);
        } else if last || !bytes.is_empty() {
            block::write(writer, kernels, &self.tokens, &self.histogram, self.construction(), bytes, last);
        }
        self.tokens.clear();
        self.histogram = Histogram::EMPTY;
        self.block = self.next;
    }

    /// Where speed counts most, the code need not be the best.
    fn construction(&self) -> Construction {
        match self.plan.parse {
            Parse::Lazy | Parse::Cheapest { passes: 1 } => Construction::Shannon,
            _ => Construction::Huffman,
        }
    }

    /// The first `count` bytes leave the data.
    pub(crate) fn slide(&mut self, count: usize) {
        debug_assert!(count <= self.block);
        self.search.advance(count.saturating_sub(self.base));
        self.base = self.base.saturating_sub(count);
        self.block -= count;
        self.next -= count;
    }

    /// Nothing of the data, which has `len` bytes, is used any more; the next chunk begins a new stream.
    pub(crate) fn restart(&mut self, len: usize) {
        self.search.advance(len - self.base);
        (self.base, self.block, self.next) = (0, 0, 0);
        self.tokens.clear();
        self.histogram = Histogram::EMPTY;
    }

    /// How the body is cut, for who feeds [`Body::chunk`].
    pub(crate) fn set_sizes(&mut self, sizes: Sizes) {
        self.sizes = sizes;
    }
}

/// What the parse of a chunk works with.
pub(crate) struct Chunk<'a> {
    plan: &'static Plan,
    search: &'a mut Search,
    scratch: &'a mut Scratch,
    /// As many as the chunk has bytes.
    tokens: &'a mut [Token],
    histogram: &'a mut Histogram,
}

/// Parses the bytes of `data` from `start` on, as many as there is room for tokens; returns how many tokens that makes.
#[inline(always)]
pub(crate) fn parse<I: Isa>(chunk: Chunk, data: &[u8], start: usize) -> usize {
    let Chunk { plan, search, scratch, tokens, histogram } = chunk;
    let count = match plan.parse {
        Parse::Stored => return 0,
        Parse::Lazy => parse_lazy::<I>(search, scratch, data, start, tokens),
        Parse::Cheapest { passes } => parse_cheapest::<I>(passes, search, scratch, data, start, tokens),
        Parse::Optimal { effort, passes } => {
            search.fill_chains(effort, data, start, tokens.len());
            parse_optimal::<I>(passes, &search.chains, scratch, data, start, tokens)
        }
    };
    histogram.count::<I>(&tokens[..count]);
    count
}

#[inline(always)]
fn parse_lazy<I: Isa>(
    search: &mut Search,
    scratch: &mut Scratch,
    data: &[u8],
    start: usize,
    tokens: &mut [Token],
) -> usize {
    let len = tokens.len();
    let [map, walked] = scratch.maps::<2>(len);
    // Only what is taken need have its true length.
    search.fill::<I, false>(&mut [], map, data, start);
    walk::be_lazy(map, &data[start..start + len]);
    walk::walk::<I, true>(map, data, start, walked, tokens)
}

#[inline(always)]
fn parse_cheapest<I: Isa>(
    passes: usize,
    search: &mut Search,
    scratch: &mut Scratch,
    data: &[u8],
    start: usize,
    tokens: &mut [Token],
) -> usize {
    let len = tokens.len();
    let mut bytes = std::mem::take(&mut scratch.bytes);
    let mut totals = std::mem::take(&mut scratch.totals);
    bytes.clear();
    bytes.extend_from_slice(&data[start..start + len]);
    bytes.resize(cost::padded(len), 0);
    let [far, near, walked, chosen] = scratch.maps::<4>(bytes.len());
    let walked = &mut walked[..len];
    search.fill::<I, true>(&mut near[..len], &mut far[..len], data, start);
    near[len..].fill(Token::NONE);
    far[len..].fill(Token::NONE);
    let mut costs = Costs::typical();
    for _ in 1..passes {
        chosen.copy_from_slice(far);
        cost::choose::<I>(near, chosen, &bytes, len, &costs, &mut totals);
        let count = walk::walk::<I, false>(&chosen[..len], data, start, walked, tokens);
        costs = Costs::after::<I>(&tokens[..count]);
    }
    cost::choose::<I>(near, far, &bytes, len, &costs, &mut totals);
    (scratch.bytes, scratch.totals) = (bytes, totals);
    let [far, _, walked] = scratch.maps::<3>(len);
    walk::walk::<I, false>(far, data, start, walked, tokens)
}

#[inline(always)]
fn parse_optimal<I: Isa>(
    passes: usize,
    chains: &Chains,
    scratch: &mut Scratch,
    data: &[u8],
    start: usize,
    tokens: &mut [Token],
) -> usize {
    let len = tokens.len();
    let bytes = &data[start..start + len];
    let mut totals = std::mem::take(&mut scratch.totals);
    let [map, walked] = scratch.maps::<2>(len);
    let mut costs = Costs::typical();
    let mut count = 0;
    for pass in 0..passes {
        if pass > 0 {
            costs = Costs::after::<I>(&tokens[..count]);
        }
        cost::choose_any(chains, map, bytes, &costs, &mut totals);
        count = walk::walk::<I, false>(map, data, start, walked, tokens);
    }
    scratch.totals = totals;
    count
}

impl Scratch {
    /// As many maps as asked for, of so many positions; what is in them is from before.
    #[inline(always)]
    fn maps<const COUNT: usize>(&mut self, len: usize) -> [&mut [Token]; COUNT] {
        const { assert!(COUNT <= MAPS) };
        let mut maps = self.maps.iter_mut();
        std::array::from_fn(|_| {
            let map = maps.next().expect("there are MAPS of them");
            map.resize(map.len().max(len), Token::NONE);
            &mut map[..len]
        })
    }
}
