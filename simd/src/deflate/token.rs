//! What a parse consists of.

use crate::format::{MAX_MATCH, MIN_MATCH, WINDOW};

/// A literal or a match, as `distance slot << 25 | length << 16 | distance`.
///
/// A *match map* has one of these for each position: the match that may begin there, its slot not yet set, or
/// [`Token::NONE`]. A *parse* has one for each symbol: a literal has length 0, its byte as distance, and
/// [`NO_DISTANCE`](crate::format::NO_DISTANCE) as slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Token(u32);

const SLOT_SHIFT: u32 = 25;
const _: () = assert!(MAX_MATCH >> (SLOT_SHIFT - 16) == 0 && WINDOW < 1 << 16);

impl Token {
    /// No match.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(crate) const fn matched(length: usize, distance: usize) -> Self {
        debug_assert!(length <= MAX_MATCH && distance <= WINDOW);
        Self((length as u32) << 16 | distance as u32)
    }

    #[inline(always)]
    pub(crate) const fn with_slot(slot: usize, length: usize, distance: usize) -> Self {
        debug_assert!(slot < 32 && (length == 0 || length >= MIN_MATCH));
        Self((slot as u32) << SLOT_SHIFT | Self::matched(length, distance).0)
    }

    /// The match at the same distance with one byte less. Of none, something that no one may take.
    #[inline(always)]
    pub(crate) const fn shortened(self) -> Self {
        Self(self.0.wrapping_sub(1 << 16))
    }

    /// The length of a match; 0 for none, or a literal.
    #[inline(always)]
    pub(crate) const fn length(self) -> usize {
        (self.0 >> 16 & ((1 << (SLOT_SHIFT - 16)) - 1)) as usize
    }

    /// The distance of a match, the byte of a literal.
    #[inline(always)]
    pub(crate) const fn distance(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    #[inline(always)]
    pub(crate) const fn slot(self) -> usize {
        (self.0 >> SLOT_SHIFT & 31) as usize
    }
}
