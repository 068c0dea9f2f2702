//! What a parse consists of.

use crate::format::{MAX_MATCH, WINDOW};

/// A literal or a match, as `length << 16 | distance`; a literal has length 1 and its byte as distance.
///
/// A *match map* has one of these for each position: the match that may begin there, or [`Token::NONE`]; once a parse is
/// chosen, a literal instead of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Token(u32);

const _: () = assert!(MAX_MATCH < 1 << 16 && WINDOW < 1 << 16);

impl Token {
    /// No match.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(crate) const fn matched(length: usize, distance: usize) -> Self {
        debug_assert!(length <= MAX_MATCH && distance <= WINDOW);
        Self((length as u32) << 16 | distance as u32)
    }

    #[inline(always)]
    pub(crate) const fn literal(byte: u8) -> Self {
        Self(1 << 16 | byte as u32)
    }

    /// The token, or if `literal` is true that one.
    #[inline(always)]
    pub(crate) const fn or_literal(self, byte: u8, literal: bool) -> Self {
        let mask = (literal as u32).wrapping_neg();
        Self(self.0 & !mask | Self::literal(byte).0 & mask)
    }

    /// The match at the same distance with one byte less. Of none, something that no one may take.
    #[inline(always)]
    pub(crate) const fn shortened(self) -> Self {
        Self(self.0.wrapping_sub(1 << 16))
    }

    #[inline(always)]
    pub(crate) const fn is_literal(self) -> bool {
        self.length() == 1
    }

    /// Bytes that it stands for; 0 for none.
    #[inline(always)]
    pub(crate) const fn length(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// The distance of a match, the byte of a literal.
    #[inline(always)]
    pub(crate) const fn distance(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}
