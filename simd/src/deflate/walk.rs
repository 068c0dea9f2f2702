//! From the chosen map to tokens.
//!
//! ```text
//! at = 0; while at < len { emit map[at]; at += its length }
//! ```
//!
//! Each step waits for the load of the step before. But two walks from different positions soon meet, and are the same
//! from there on: so four set out at once, each at the start of its quarter, and what one does beyond its quarter is only
//! done until it meets the next.

use super::search::PROBED;
use super::token::Token;
use crate::format::MAX_MATCH;
use crate::isa::Isa;
use crate::raw::Unchecked;

/// Makes each position a literal that has no match, or a shorter one than the next position.
#[inline(always)]
pub(crate) fn be_lazy(map: &mut [Token], bytes: &[u8]) {
    assert_eq!(map.len(), bytes.len());
    let Some(last) = map.len().checked_sub(1) else { return };
    // By index and without a branch, for this becomes a loop of vectors.
    for at in 0..last {
        let (this, next) = (map[at], map[at + 1]);
        let literal = (this.length() == 0) | (next.length() > this.length());
        map[at] = this.or_literal(bytes[at], literal);
    }
    if map[last].length() == 0 {
        map[last] = Token::literal(bytes[last]);
    }
}

const WALKS: usize = 4;

/// Writes the tokens that `map` leads to from its start to `tokens`; returns how many. Both, and the space for the four
/// walks, are equally long.
///
/// With `EXTEND`, a length of [`PROBED`] in the map means that or more of what `data` has from `start` on.
#[inline(always)]
pub(crate) fn walk<I: Isa, const EXTEND: bool>(
    map: &[Token],
    data: &[u8],
    start: usize,
    walked: &mut [Token],
    tokens: &mut [Token],
) -> usize {
    let len = map.len();
    let extended = |token: Token, at: usize| {
        if EXTEND && token.length() == PROBED {
            let known = start + at + PROBED;
            let end = (start + len).min(known - PROBED + MAX_MATCH);
            let more = I::equal_bytes(data, known, token.distance(), end);
            return Token::matched(PROBED + more, token.distance());
        }
        token
    };
    assert!(walked.len() == len && tokens.len() == len);
    let quarter = len / WALKS;
    let starts: [usize; WALKS] = std::array::from_fn(|walk| walk * quarter);
    let ends: [usize; WALKS] =
        std::array::from_fn(|walk| if walk + 1 < WALKS { starts[walk + 1] } else { len });
    let (mut at, mut to) = (starts, starts);
    macro_rules! step {
        ($walk:expr) => {
            // SAFETY: `at` is before the end of the map, and there are not more tokens than positions before it.
            unsafe {
                let token = extended(map.at(at[$walk]), at[$walk]);
                debug_assert!(token.length() > 0 && to[$walk] <= at[$walk]);
                walked.put(to[$walk], token);
                to[$walk] += 1;
                at[$walk] += token.length();
            }
        };
    }
    while at[0] < ends[0] && at[1] < ends[1] && at[2] < ends[2] && at[3] < ends[3] {
        step!(0);
        step!(1);
        step!(2);
        step!(3);
    }
    for walk in 0..WALKS {
        while at[walk] < ends[walk] {
            step!(walk);
        }
    }

    let mut count = 0;
    let mut reached = 0;
    for walk in 0..WALKS {
        let mut rest = &walked[starts[walk]..to[walk]];
        let mut there = starts[walk];
        while there != reached {
            if reached < there {
                tokens[count] = extended(map[reached], reached);
                reached += tokens[count].length();
                count += 1;
            } else if let Some((token, after)) = rest.split_first() {
                there += token.length();
                rest = after;
            } else {
                // They did not meet in this quarter.
                break;
            }
        }
        if there == reached {
            tokens[count..count + rest.len()].copy_from_slice(rest);
            count += rest.len();
            reached = at[walk];
        }
    }
    debug_assert_eq!(reached, len);
    count
}
