//! Where matches may be: the match maps of a chunk.
//!
//! For each position of the chunk, and for each *key* (its next 3 to 12 bytes, by level):
//!
//! ```text
//! link:   the last position with the same hash of the key; remember this position
//! probe:  compare eight bytes at each; of the candidates with the most equal bytes take the longest key's
//! extend: where all eight are equal, find the true length
//! ```
//!
//! A level with a cost pass has a *near* map of what its first key finds, of three bytes, and a *far* map of what the
//! others find: the choice between a short match that is near and a longer one that is far is what that pass is for.
//!
//! Each step is a loop of its own over the chunk, so that none has a branch that depends on the data: unlike a search
//! that decides at each position whether to look further, all run at the speed of the loads. The price is to look at
//! positions inside of matches, which a greedy search would skip.
//!
//! 1. Long keys find what a chain of the short key would find after many steps: the nearest match of *at least* so many
//!    bytes.
//! 2. The tables are never cleared between bodies: an entry is a position on a scale that goes on from body to body, and
//!    is rejected when its distance is greater than the position. They hold 16 bits; when the scale is used up, all
//!    entries are moved down with saturation.
//! 3. Inside of a match, the positions that follow mostly have the same distance: their length is one less, known without
//!    a comparison.

use super::chain::{Chains, Effort};
use super::token::Token;
use crate::format::{MAX_MATCH, MIN_MATCH, WINDOW};
use crate::isa::Isa;
use crate::raw::{Unchecked, load64};
use core::hint::select_unpredictable;

/// Positions that are parsed at a time, at most.
pub(crate) const MAX_CHUNK: usize = 16384;

/// Positions for which the links are made before they are used: few, to have them at hand.
pub(crate) const STRIP: usize = 2048;

/// Most keys that a level may use.
pub(crate) const MAX_KEYS: usize = 6;

/// Bytes of the longest key.
const LONGEST_KEY: usize = 12;

/// Bytes that must follow a position for it to be looked up: a probe compares eight.
pub(crate) const PROBED: usize = 8;

/// Positions that a step of an instruction set takes at once.
pub(crate) const RUN: usize = 16;

/// Bytes after a run that its steps may read.
pub(crate) const READ: usize = 16;

// The last position of a chunk, after a full window, on a scale that has just been moved down.
const _: () = assert!(WINDOW + MAX_CHUNK < 1 << 16);

/// What a level looks for.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    /// The bytes of each key, shortest first.
    pub(crate) bytes: &'static [usize],
    /// Each table has this power of two of entries.
    pub(crate) bits: u32,
}

/// Hash tables, and the links of one strip.
pub(crate) struct Search {
    keys: Vec<Key>,
    /// One for each key.
    links: Vec<[u16; STRIP]>,
    /// The position of the data's first byte on the scale of the tables; at least 1, for 0 is an empty entry.
    bias: usize,
    pub(crate) chains: Chains,
}

/// A hash table by the next bytes of a position.
struct Key {
    hash: Hash,
    bytes: usize,
    heads: Box<[u16]>,
}

impl Search {
    pub(crate) fn new(keys: Keys) -> Self {
        debug_assert!(keys.bytes.len() <= MAX_KEYS);
        let key = |&bytes| Key {
            hash: Hash::new(bytes, keys.bits),
            bytes,
            heads: vec![0; 1 << keys.bits].into_boxed_slice(),
        };
        Self {
            keys: keys.bytes.iter().map(key).collect(),
            links: vec![[0; STRIP]; keys.bytes.len()],
            bias: 1,
            chains: Chains::new(),
        }
    }

    /// The data begins `shift` bytes later from now on, which are out of reach.
    pub(crate) fn advance(&mut self, shift: usize) {
        self.bias += shift;
    }

    /// Fills `far` for the positions from `start` on with the longest match that any key finds, and `near`, if it is not
    /// empty, with what the first key finds, up to [`PROBED`] bytes. What comes before `start` may be matched.
    ///
    /// With `EXTEND`, lengths in `far` are true up to the end of the map; without, [`PROBED`] means that or more.
    #[inline(always)]
    pub(crate) fn fill<I: Isa, const EXTEND: bool>(
        &mut self,
        near: &mut [Token],
        far: &mut [Token],
        data: &[u8],
        start: usize,
    ) {
        let end = start + far.len();
        debug_assert!(start <= WINDOW && far.len() <= MAX_CHUNK && end <= data.len());
        self.make_room(end);
        let mut near = near.chunks_mut(STRIP);
        let mut reach = Reach::default();
        let mut at = start;
        for far in far.chunks_mut(STRIP) {
            let len = far.len();
            for (key, links) in self.keys.iter_mut().zip(&mut self.links) {
                match key.bytes {
                    ..=4 => link::<I, 1>(key, &mut links[..len], data, at, self.bias),
                    5..=8 => link::<I, 2>(key, &mut links[..len], data, at, self.bias),
                    _ => link::<I, 3>(key, &mut links[..len], data, at, self.bias),
                }
            }
            let mut links = self.links.as_slice();
            if let Some(near) = near.next() {
                probe::<I, false>(near, &links[..1], data, at, end, self.bias, &mut reach, MIN_MATCH);
                links = &links[1..];
            }
            probe::<I, EXTEND>(far, links, data, at, end, self.bias, &mut reach, MIN_MATCH + 1);
            at += len;
        }
    }

    /// Fills the chains' matches for the `len` positions from `start` on.
    #[inline(always)]
    pub(crate) fn fill_chains(&mut self, effort: Effort, data: &[u8], start: usize, len: usize) {
        self.make_room(start + len);
        self.chains.fill(effort, data, start, start + len, self.bias);
    }

    /// Moves the scale down if the position `end` would not fit it.
    fn make_room(&mut self, end: usize) {
        if self.bias + end <= 1 << 16 {
            return;
        }
        let down = u16::try_from(self.bias - 1).unwrap_or(u16::MAX);
        for key in &mut self.keys {
            for entry in key.heads.iter_mut() {
                *entry = entry.saturating_sub(down);
            }
        }
        self.chains.rebase(down);
        self.bias = 1;
    }
}

/// Sets `links` to where each position's key was last, on the scale of the tables. `WORDS` is how many words of four
/// bytes the key begins or fills.
#[inline(always)]
fn link<I: Isa, const WORDS: usize>(
    key: &mut Key,
    links: &mut [u16],
    data: &[u8],
    start: usize,
    bias: usize,
) {
    // First the hashes, in the place of the links.
    let readable = (data.len() + 1).saturating_sub(start + PROBED.max(4 * WORDS));
    let (links, beyond) = links.split_at_mut(readable.min(links.len()));
    beyond.fill(0);
    let (runs, _) = links.as_chunks_mut::<RUN>();
    let mut done = 0;
    for run in runs {
        if start + done + RUN + READ > data.len() {
            break;
        }
        // SAFETY: as just checked.
        unsafe { I::hash_run::<WORDS>(&key.hash, data, start + done, run) };
        done += RUN;
    }
    for (link, at) in links[done..].iter_mut().zip(start + done..) {
        // SAFETY: `at` is among the readable.
        *link = unsafe { key.hash.at::<WORDS>(data, at) };
    }
    // Then the links, four by four: stores of two bytes each would take as long as all the rest.
    let mut here = (start + bias) as u16;
    let heads = &mut *key.heads;
    let mut swap = |hash: u64| {
        // SAFETY: a hash has as many bits as the table has entries.
        let last = unsafe { heads.at(usize::from(hash as u16)) };
        // SAFETY: as above.
        unsafe { heads.put(usize::from(hash as u16), here) };
        here = here.wrapping_add(1);
        u64::from(last)
    };
    let (quads, rest) = links.as_chunks_mut::<4>();
    for quad in quads {
        let hashes = join(*quad);
        let (first, second) = (swap(hashes), swap(hashes >> 16));
        let (third, fourth) = (swap(hashes >> 32), swap(hashes >> 48));
        *quad = apart(first | second << 16 | third << 32 | fourth << 48);
    }
    for link in rest {
        *link = swap(u64::from(*link)) as u16;
    }
}

/// Four values as one word, the first one lowest.
#[inline(always)]
fn join(values: [u16; 4]) -> u64 {
    // SAFETY: any bytes are a word.
    u64::from_le(unsafe { std::mem::transmute::<[u16; 4], u64>(values.map(u16::to_le)) })
}

#[inline(always)]
fn apart(word: u64) -> [u16; 4] {
    // SAFETY: any bytes are four values.
    unsafe { std::mem::transmute::<u64, [u16; 4]>(word.to_le()) }.map(u16::from_le)
}

/// Sets `map` to the best match at each position, of at least `least` bytes.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one loop, apart for reading")]
fn probe<I: Isa, const EXTEND: bool>(
    map: &mut [Token],
    links: &[[u16; STRIP]],
    data: &[u8],
    start: usize,
    end: usize,
    bias: usize,
    reach: &mut Reach,
    least: usize,
) {
    let (runs, _) = map.as_chunks_mut::<RUN>();
    let mut at = start;
    for (index, run) in runs.iter_mut().enumerate() {
        if at + RUN + PROBED > end || at + RUN + READ > data.len() {
            break;
        }
        let links = Links { all: links, from: RUN * index };
        // SAFETY: as just checked.
        let deep = unsafe { I::probe_run(run, links, data, at, bias, least) };
        if EXTEND {
            // SAFETY: as just checked.
            unsafe { I::extend_run(run, deep, data, at, end, reach) };
        }
        at += RUN;
    }
    for (index, slot) in map.iter_mut().enumerate().skip(at - start) {
        *slot = Token::NONE;
        let at = start + index;
        if at + PROBED > data.len() || at + least > end {
            continue;
        }
        let links = Links { all: links, from: index };
        // SAFETY: eight bytes follow.
        let found = unsafe { probe_one(links, 0, data, at, bias, least) };
        let mut length = found.length().min(end - at);
        if EXTEND && length == PROBED {
            length = reach.length::<I>(data, at, end, found.distance());
        }
        if length >= least {
            *slot = Token::matched(length, found.distance());
        }
    }
}

/// The links of some positions, by key.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    all: &'a [[u16; STRIP]],
    from: usize,
}

#[cfg(test)]
impl<'a> Links<'a> {
    pub(crate) fn new(all: &'a [[u16; STRIP]], from: usize) -> Self {
        Self { all, from }
    }
}

impl Links<'_> {
    /// Those of a run, for each key.
    #[inline(always)]
    pub(crate) fn runs(&self) -> impl Iterator<Item = &[u16; RUN]> {
        self.all.iter().map(|links| links[self.from..].first_chunk().expect("a strip is some runs"))
    }

    /// Those of the first key's run, and how many keys there are; those of the next key are [`STRIP`] further.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline(always)]
    pub(crate) fn base(&self) -> (*const u16, usize) {
        debug_assert!(self.from + RUN <= STRIP);
        (self.all.as_ptr().cast::<u16>().wrapping_add(self.from), self.all.len())
    }
}

/// The best match at `at`, its length at most [`PROBED`], by the links of each key.
///
/// # Safety
///
/// `at + PROBED <= data.len()`.
#[inline(always)]
pub(crate) unsafe fn probe_one(
    links: Links,
    lane: usize,
    data: &[u8],
    at: usize,
    bias: usize,
    least: usize,
) -> Token {
    // SAFETY: as the caller vouches.
    let own = unsafe { load64(data, at) };
    let (mut most, mut best) = (0, 0);
    for key in links.all {
        let link = key[(links.from + lane) % STRIP];
        let distance = usize::from(((at + bias) as u16).wrapping_sub(link));
        // No branch here: whether there is a match, and which is best, no predictor could learn.
        let valid = distance <= at.min(WINDOW);
        let distance = select_unpredictable(valid, distance, 0);
        // SAFETY: not before the data, and not after `at`.
        let other = unsafe { load64(data, at - distance) };
        let equal = ((own ^ other).trailing_zeros() >> 3) as usize;
        let equal = select_unpredictable(valid, equal, 0);
        let better = equal >= most;
        most = select_unpredictable(better, equal, most);
        best = select_unpredictable(better, distance, best);
    }
    select_unpredictable(most >= least, Token::matched(most, best), Token::NONE)
}

/// The match that was extended last: `data[..until]` equals what is `distance` before.
#[derive(Default)]
pub(crate) struct Reach {
    pub(crate) distance: usize,
    pub(crate) until: usize,
}

impl Reach {
    /// The length of the match at `at`, of which [`PROBED`] bytes are known to be equal.
    #[inline(always)]
    fn length<I: Isa>(&mut self, data: &[u8], at: usize, end: usize, distance: usize) -> usize {
        if distance != self.distance || at >= self.until {
            self.distance = distance;
            let known = at + PROBED;
            self.until = known + I::equal_bytes(data, known, distance, end);
        }
        (self.until - at).min(MAX_MATCH)
    }
}

/// Finds the true lengths, up to `end`, of the matches that `deep` has a bit for. The spec of [`Isa::extend_run`].
#[inline(always)]
pub(crate) fn extend_run<I: Isa>(
    run: &mut [Token; RUN],
    deep: u32,
    data: &[u8],
    at: usize,
    end: usize,
    reach: &mut Reach,
) {
    let mut rest = deep;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let slot = &mut run[lane % RUN];
        let distance = slot.distance();
        *slot = Token::matched(reach.length::<I>(data, at + lane, end, distance), distance);
    }
}

/// How many bytes of `data[at..end]` are equal to what is `distance` before. The spec of [`Isa::equal_bytes`].
#[inline(always)]
pub(crate) fn equal_bytes(data: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let (one, two) = (&data[at - distance..end - distance], &data[at..end]);
    let (one_words, one_rest) = one.as_chunks::<8>();
    let (two_words, two_rest) = two.as_chunks::<8>();
    for (index, (one, two)) in one_words.iter().zip(two_words).enumerate() {
        let unequal = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*two);
        if unequal != 0 {
            return 8 * index + (unequal.trailing_zeros() >> 3) as usize;
        }
    }
    let rest = one_rest.iter().zip(two_rest);
    8 * one_words.len() + rest.take_while(|(one, two)| one == two).count()
}

/// The hash of a key: a sum of products of its 32-bit words.
pub(crate) struct Hash {
    /// The bytes of each word that are part of the key.
    pub(crate) masks: [u32; MAX_WORDS],
    /// How far down the wanted bits are.
    pub(crate) shift: u32,
}

const MAX_WORDS: usize = LONGEST_KEY / 4;

pub(crate) const FACTORS: [u32; MAX_WORDS] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

impl Hash {
    pub(crate) fn new(bytes: usize, bits: u32) -> Self {
        debug_assert!((1..=LONGEST_KEY).contains(&bytes) && bits <= 16);
        let masks = std::array::from_fn(|word| match bytes.saturating_sub(4 * word) {
            0 => 0,
            1 => 0xff,
            2 => 0xffff,
            3 => 0xff_ffff,
            _ => u32::MAX,
        });
        Self { masks, shift: 32 - bits }
    }

    /// The hash of the bytes at `at`, of which `WORDS` words are looked at.
    ///
    /// # Safety
    ///
    /// `at + max(PROBED, 4 * WORDS) <= data.len()`.
    #[inline(always)]
    pub(crate) unsafe fn at<const WORDS: usize>(&self, data: &[u8], at: usize) -> u16 {
        // SAFETY: as the caller vouches.
        let first = unsafe { load64(data, at) };
        let mut sum = (first as u32 & self.masks[0]).wrapping_mul(FACTORS[0]);
        if WORDS > 1 {
            sum = sum.wrapping_add(((first >> 32) as u32 & self.masks[1]).wrapping_mul(FACTORS[1]));
        }
        if WORDS > 2 {
            // SAFETY: as the caller vouches.
            let last = (unsafe { load64(data, at + 4) } >> 32) as u32;
            sum = sum.wrapping_add((last & self.masks[2]).wrapping_mul(FACTORS[2]));
        }
        (sum >> self.shift) as u16
    }
}
