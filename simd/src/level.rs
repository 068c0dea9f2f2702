//! Levels: one number for how much time a smaller result is worth.

use crate::deflate::chain::Effort;

/// How hard the encoder tries: 0 stores, 1 is the fastest, 12 the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// Level 1, for the hot path.
    pub const FASTEST: Self = Self(1);
    /// Level 4, the smallest of those that are quick.
    pub const DEFAULT: Self = Self(4);
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

/// How a parse is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parse {
    /// None: the bytes as they are.
    Stored,
    /// The nearest match of the longest key, unless a longer one begins at the next position.
    Lazy,
    /// The cheapest that these matches allow, by what symbols cost in typical text; after the first pass, by what they cost
    /// in the pass before.
    Cheapest { passes: usize },
    /// The same of all lengths of all matches that the chains find.
    Optimal { effort: Effort, passes: usize },
}

impl Level {
    pub(crate) fn plan(self) -> &'static Plan {
        &PLANS[usize::from(self.0)]
    }
}

const fn lazy(keys: usize) -> Plan {
    Plan { keys, parse: Parse::Lazy }
}

const fn cheapest(keys: usize, passes: usize) -> Plan {
    Plan { keys, parse: Parse::Cheapest { passes } }
}

const fn optimal(depth: usize, nice: usize, passes: usize) -> Plan {
    let effort = Effort { depth, nice };
    Plan { keys: 0, parse: Parse::Optimal { effort, passes } }
}

static PLANS: [Plan; 13] = [
    Plan { keys: 0, parse: Parse::Stored },
    // One key and no cost pass: for what is coded anew for each response.
    lazy(1),
    lazy(2),
    // The cost pass takes about as long as one more key, and gains as much.
    cheapest(2, 1),
    cheapest(3, 1),
    cheapest(3, 2),
    // From here on every position is searched, which takes three times as long before it finds anything.
    optimal(6, 20, 1),
    optimal(12, 32, 1),
    optimal(20, 40, 1),
    optimal(16, 48, 2),
    optimal(40, 128, 2),
    optimal(60, 160, 4),
    optimal(300, 258, 8),
];
