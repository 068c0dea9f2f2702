//! Levels: one number for how much time a smaller result is worth.

use crate::deflate::chain::Effort;
use crate::deflate::search::Keys;

/// How hard the encoder tries: 0 stores, 1 is the fastest, 12 the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// Level 1, for the hot path.
    pub const FASTEST: Self = Self(1);
    /// Level 5, the smallest for its time.
    pub const DEFAULT: Self = Self(5);
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
    /// What the search finds matches by; none for chains.
    pub(crate) keys: Keys,
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

const NO_KEYS: Keys = Keys { bytes: &[], bits: 0 };

const fn lazy(bytes: &'static [usize], bits: u32) -> Plan {
    Plan { keys: Keys { bytes, bits }, parse: Parse::Lazy }
}

const fn cheapest(bytes: &'static [usize], bits: u32, passes: usize) -> Plan {
    Plan { keys: Keys { bytes, bits }, parse: Parse::Cheapest { passes } }
}

const fn optimal(depth: usize, nice: usize, passes: usize) -> Plan {
    let effort = Effort { depth, nice };
    Plan { keys: NO_KEYS, parse: Parse::Optimal { effort, passes } }
}

static PLANS: [Plan; 13] = [
    Plan { keys: NO_KEYS, parse: Parse::Stored },
    // Without a cost pass: for what is coded anew for each response. Each key more is a third more time.
    lazy(&[4], 13),
    lazy(&[4, 9], 13),
    lazy(&[4, 7, 12], 13),
    lazy(&[4, 6, 9, 12], 14),
    // The cost pass, and true lengths of all matches, take as long as three keys.
    cheapest(&[3, 6, 11], 15, 1),
    cheapest(&[3, 4, 7, 12], 15, 1),
    cheapest(&[3, 4, 6, 9, 12], 15, 1),
    cheapest(&[3, 4, 6, 9, 12], 15, 2),
    // From here on every position is searched, which takes six times as long.
    optimal(40, 128, 2),
    optimal(60, 160, 3),
    optimal(120, 200, 5),
    optimal(300, 258, 8),
];
