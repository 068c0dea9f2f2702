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

/// What a level does.
pub(crate) struct Plan {
    /// Keys of different length that find matches, at most [`MAX_KEYS`](crate::deflate::search::MAX_KEYS).
    pub(crate) keys: usize,
    pub(crate) parse: Parse,
}

/// How a parse is chosen from the matches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parse {
    /// None: the bytes as they are.
    Stored,
    /// A match, unless a longer one begins at the next position.
    Lazy,
    /// The cheapest under guessed costs, and again under the costs that follow from that.
    Cheapest { passes: usize },
}

impl Level {
    pub(crate) fn plan(self) -> &'static Plan {
        &PLANS[usize::from(self.0)]
    }
}

static PLANS: [Plan; 13] = [
    Plan { keys: 0, parse: Parse::Stored },
    Plan { keys: 1, parse: Parse::Lazy },
    Plan { keys: 2, parse: Parse::Lazy },
    Plan { keys: 1, parse: Parse::Cheapest { passes: 1 } },
    Plan { keys: 2, parse: Parse::Cheapest { passes: 1 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 1 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 2 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 3 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 4 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 4 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 4 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 4 } },
    Plan { keys: 3, parse: Parse::Cheapest { passes: 4 } },
];
