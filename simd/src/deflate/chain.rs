//! All worthwhile matches of each position, by hash chains: for the levels that look at more than one.
//!
//! ```text
//! for each position: follow the chain of positions with the same hash of four bytes, nearest first;
//!                    keep each match that is longer than all before
//! ```
//!
//! So for each length, the nearest match that has it is found, as far as the chain is followed. A table of three bytes, without
//! a chain, adds the nearest match of that length. In the middle of a match that is long enough nothing is looked for.

use super::search::{MAX_CHUNK, equal_bytes};
use super::token::Token;
use crate::format::{MAX_MATCH, MIN_MATCH, WINDOW};
use crate::raw::load32;

const BITS: u32 = 15;
const SHORT_BITS: u32 = 13;

/// Positions on the scale of the tables, which is moved down when it is used up; 0 is none.
const SCALE: usize = 1 << 16;
const _: () = assert!(WINDOW + MAX_CHUNK < SCALE);

/// Most matches that are kept for a position.
const MOST: usize = 16;

/// Bytes that must follow a position for it to be looked up.
const READ: usize = 8;

/// How far to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Positions of a chain that are compared.
    pub(crate) depth: usize,
    /// A match of this length ends the search.
    pub(crate) nice: usize,
}

/// Chains, and the matches of a chunk.
pub(crate) struct Chains {
    heads: Vec<u16>,
    short_heads: Vec<u16>,
    /// For each position on the scale the last one before with the same hash.
    links: Vec<u16>,
    /// The matches of all positions of the chunk, those of each by increasing length.
    matches: Vec<Token>,
    /// Where the matches of each position begin, and one more.
    starts: Vec<u32>,
}

impl Chains {
    /// Takes its memory with the first chunk.
    pub(crate) const fn new() -> Self {
        Self {
            heads: Vec::new(),
            short_heads: Vec::new(),
            links: Vec::new(),
            matches: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// The matches of the position, counted from the start of the chunk.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> &[Token] {
        &self.matches[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Moves all positions on the scale down.
    pub(crate) fn rebase(&mut self, down: u16) {
        for entry in self.heads.iter_mut().chain(&mut self.short_heads) {
            *entry = entry.saturating_sub(down);
        }
        if !self.links.is_empty() {
            self.links.copy_within(usize::from(down).., 0);
        }
        for link in &mut self.links {
            *link = link.saturating_sub(down);
        }
    }

    /// Finds the matches of `data[start..end]`, where index 0 of the data stands at `bias` on the scale.
    #[inline(always)]
    pub(crate) fn fill(&mut self, effort: Effort, data: &[u8], start: usize, end: usize, bias: usize) {
        self.heads.resize(1 << BITS, 0);
        self.short_heads.resize(1 << SHORT_BITS, 0);
        self.links.resize(SCALE, 0);
        self.matches.clear();
        self.starts.clear();
        // Up to here nothing is looked for: it is inside of a match that is long enough.
        let mut covered = start;
        for at in start..end {
            self.starts.push(self.matches.len() as u32);
            if at + READ > data.len() {
                continue;
            }
            // SAFETY: as just checked.
            let word = unsafe { load32(data, at) };
            let here = (at + bias) as u16;
            let head = &mut self.heads[(word.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize];
            let candidate = std::mem::replace(head, here);
            self.links[usize::from(here)] = candidate;
            let hash = (word << 8).wrapping_mul(0x9e37_79b1) >> (32 - SHORT_BITS);
            let short = std::mem::replace(&mut self.short_heads[hash as usize], here);
            if at >= covered {
                let longest = self.find(effort, data, at, end.min(at + MAX_MATCH), here, candidate, short);
                if longest >= effort.nice {
                    covered = at + longest;
                }
            }
        }
        self.starts.push(self.matches.len() as u32);
    }

    /// Appends the matches of a position; returns the length of the longest.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one loop, apart for reading")]
    fn find(
        &mut self,
        effort: Effort,
        data: &[u8],
        at: usize,
        end: usize,
        here: u16,
        mut candidate: u16,
        short: u16,
    ) -> usize {
        let reach = at.min(WINDOW);
        let longest = end - at;
        let first = self.matches.len();
        let mut best = MIN_MATCH;
        if longest <= MIN_MATCH {
            return 0;
        }
        let distance = usize::from(here.wrapping_sub(short));
        if short != 0 && distance <= reach && data[at - distance..][..3] == data[at..][..3] {
            self.matches.push(Token::matched(MIN_MATCH, distance));
        }
        for _ in 0..effort.depth {
            let distance = usize::from(here.wrapping_sub(candidate));
            if candidate == 0 || distance > reach || best >= longest {
                break;
            }
            candidate = self.links[usize::from(candidate)];
            let other = at - distance;
            // What would make it longer first, for that differs most often.
            // SAFETY: `best` is at least 3, and `at + best < end`; `other` is before `at`; four bytes follow `at`.
            let differs = unsafe {
                load32(data, other + best - 3) != load32(data, at + best - 3)
                    || load32(data, other) != load32(data, at)
            };
            if differs {
                continue;
            }
            let length = equal_bytes(data, at, distance, end);
            if length <= best {
                continue;
            }
            best = length;
            if self.matches.len() - first == MOST {
                self.matches.pop();
            }
            self.matches.push(Token::matched(length, distance));
            if length >= effort.nice {
                break;
            }
        }
        best
    }
}
