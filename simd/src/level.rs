//! Levels: one number for how much time a smaller result is worth.

/// How hard the encoder tries: 0 stores, 1 is the fastest, 12 the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// Level 1, for the hot path.
    pub const FASTEST: Self = Self(1);
    /// Level 6, small for its cost.
    pub const DEFAULT: Self = Self(6);
    /// Level 12, for what is compressed once and sent often.
    pub const BEST: Self = Self(12);

    /// The level `n`, if it is one of 0 to 12.
    pub const fn new(n: u8) -> Option<Self> {
        if n <= 12 { Some(Self(n)) } else { None }
    }

    /// The level as a number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::DEFAULT
    }
}
