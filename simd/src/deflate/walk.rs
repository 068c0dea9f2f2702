//! From the match map to tokens.

use super::block::Histogram;
use super::search::{PROBED, equal_bytes};
use super::token::Token;
use crate::format::{DISTANCE_SLOT, MAX_MATCH, NO_DISTANCE, distance_index};
use core::hint::select_unpredictable;

/// Drops each match that is shorter than the one at the next position.
#[inline(always)]
pub(crate) fn be_lazy(map: &mut [Token]) {
    for at in 1..map.len() {
        let (this, next) = (map[at - 1], map[at]);
        map[at - 1] = if next.length() > this.length() { Token::NONE } else { this };
    }
}

/// Takes what the map says at the first position, then at the position after that, and so on; returns how many tokens
/// that makes. They replace the map from its start, and are counted.
///
/// With `extend`, a length of [`PROBED`] in the map means that or more.
#[inline(always)]
pub(crate) fn walk(
    map: &mut [Token],
    data: &[u8],
    start: usize,
    extend: bool,
    histogram: &mut Histogram,
) -> usize {
    let end = start + map.len();
    let bytes = &data[start..end];
    let map = &mut map[..bytes.len()];
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let found = map[at];
        let (mut length, distance) = (found.length(), found.distance());
        if extend && length == PROBED {
            let here = start + at + PROBED;
            let longest = end.min(here - PROBED + MAX_MATCH);
            length += equal_bytes(&data[here - distance..], &data[here..longest]);
        }
        // No branch between literal and match: no predictor could learn it.
        let byte = usize::from(bytes[at]);
        let literal = length == 0;
        let slot = usize::from(DISTANCE_SLOT[distance_index(distance)]);
        let slot = select_unpredictable(literal, NO_DISTANCE, slot);
        let index = select_unpredictable(literal, byte, 256 + length);
        let distance = select_unpredictable(literal, byte, distance);
        histogram.litlen[index] += 1;
        histogram.distance[slot % 32] += 1;
        map[count] = Token::with_slot(slot, length, distance);
        count += 1;
        at += select_unpredictable(literal, 1, length);
    }
    count
}
