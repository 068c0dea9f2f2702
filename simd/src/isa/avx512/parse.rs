//! The cheapest parse, sixteen segments at a time.

use super::{LANES, distance_slot, load, load16, lookup, parts, store, tokens};
use crate::deflate::cost::{self, Costs, Prices, RUN_UP, SEGMENTS};
use crate::deflate::search::RUN;
use crate::deflate::token::Token;
use crate::format::{MAX_MATCH, MIN_MATCH};
use core::arch::x86_64::*;

const _: () = assert!(RUN == SEGMENTS);

/// The slot of each match length, but for the longest.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn length_slot(length: __m512i) -> __m512i {
    // Four slots for each power of two. The first eight are their own, and so is the longest.
    let above = _mm512_sub_epi32(length, _mm512_set1_epi32(MIN_MATCH as i32));
    let power = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(above));
    let shift = _mm512_sub_epi32(power, _mm512_set1_epi32(2));
    let slot = _mm512_add_epi32(_mm512_slli_epi32::<2>(shift), _mm512_srlv_epi32(above, shift));
    let own = _mm512_cmplt_epu32_mask(above, _mm512_set1_epi32(4));
    let slot = _mm512_mask_mov_epi32(slot, own, above);
    let longest = _mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(MAX_MATCH as i32));
    _mm512_mask_mov_epi32(slot, longest, _mm512_set1_epi32(28))
}

/// What near and far matches cost, and the far ones less a byte.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn prices(near: __m512i, far: __m512i, costs: &Costs) -> [__m512i; 3] {
    let one = _mm512_set1_epi32(1);
    let never = _mm512_set1_epi32(cost::NEVER as i32);
    let (length, distance) = parts(near);
    // Up to PROBED bytes, each length has a slot of its own.
    let slot = _mm512_sub_epi32(length, _mm512_set1_epi32(MIN_MATCH as i32));
    let price =
        _mm512_add_epi32(lookup(&costs.length, slot), lookup(&costs.distance, distance_slot(distance)));
    let found = _mm512_test_epi32_mask(near, near);
    let close = _mm512_mask_mov_epi32(never, found, price);
    let (length, distance) = parts(far);
    let price = lookup(&costs.distance, distance_slot(distance));
    let found = _mm512_test_epi32_mask(far, far);
    let price = _mm512_mask_mov_epi32(never, found, price);
    let whole = lookup(&costs.length, length_slot(length));
    let short = lookup(&costs.length, length_slot(_mm512_sub_epi32(length, one)));
    [close, _mm512_add_epi32(whole, price), _mm512_add_epi32(short, price)]
}

#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
pub(super) fn price_run(near: &[Token; RUN], far: &[Token; RUN], costs: &Costs, prices_of: &mut Prices) {
    let [close, whole, short] = prices(tokens(near), tokens(far), costs);
    store(&mut prices_of.near, close);
    store(&mut prices_of.whole, whole);
    store(&mut prices_of.short, short);
}

/// Sixteen segments side by side, a lane each; the totals of all at one offset are a row.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512cd")]
#[inline]
pub(super) fn choose_segments(
    near: &[Token],
    far: &mut [Token],
    bytes: &[u8],
    stride: usize,
    costs: &Costs,
    totals: &mut [u32],
) {
    let padded = SEGMENTS * stride + RUN_UP;
    assert!(near.len() >= padded && far.len() >= padded && bytes.len() >= padded);
    assert!(totals.len() >= SEGMENTS * cost::total_count(stride) && padded <= 1 << 16);
    let (rows, _) = totals.as_chunks_mut::<SEGMENTS>();
    let len = stride + RUN_UP;
    for (index, row) in rows[1 + len..][..MAX_MATCH].iter_mut().enumerate() {
        row.fill(cost::beyond(index));
    }
    let literal_costs = LiteralCosts::new(costs);
    let lanes = _mm512_cvtepu16_epi32(load16(&LANES));
    let starts = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(stride as i32));
    let mut next = _mm512_set1_epi32(cost::beyond(0) as i32);
    // What each segment has in a row is put into columns, and back, sixteen rows at a time.
    for from in (0..len).step_by(RUN).rev() {
        let near = columns(near, stride, from);
        let mut choices = columns(far, stride, from);
        let mut words = _mm512_setzero_si512();
        for row in (0..RUN).rev() {
            let offset = from + row;
            if row % 4 == 3 {
                let at = _mm512_add_epi32(starts, _mm512_set1_epi32(offset as i32 - 3));
                // SAFETY: four bytes from there on are before the end of the padded bytes.
                words = unsafe { _mm512_i32gather_epi32::<1>(at, bytes.as_ptr().cast()) };
            }
            let byte = _mm512_srl_epi32(words, _mm_cvtsi32_si128(8 * (row % 4) as i32));
            let byte = _mm512_and_si512(byte, _mm512_set1_epi32(0xff));
            let (near, found) = (near[row], choices[row]);
            let [close, whole, short] = prices(near, found, costs);
            let base = rows[offset..].as_ptr();
            // SAFETY: a row for each length up to the longest follows.
            let after = |length, rows| unsafe {
                let index = _mm512_add_epi32(_mm512_slli_epi32::<4>(length), lanes);
                _mm512_i32gather_epi32::<4>(index, base.add(rows).cast())
            };
            let (near_length, length) = (_mm512_srli_epi32::<16>(near), _mm512_srli_epi32::<16>(found));
            let close = _mm512_add_epi32(close, after(near_length, 1));
            let whole = _mm512_add_epi32(whole, after(length, 1));
            let short = _mm512_add_epi32(short, after(length, 0));
            let shorter = _mm512_cmplt_epu32_mask(short, whole);
            let matched = _mm512_min_epu32(short, whole);
            let found = _mm512_mask_sub_epi32(found, shorter, found, _mm512_set1_epi32(1 << 16));
            let closer = _mm512_cmplt_epu32_mask(close, matched);
            let other = _mm512_mask_mov_epi32(found, closer, near);
            let matched = _mm512_min_epu32(close, matched);
            let literal = _mm512_add_epi32(next, literal_costs.of(byte));
            let cheaper = _mm512_cmplt_epu32_mask(matched, literal);
            let literal_token = _mm512_or_si512(byte, _mm512_set1_epi32(1 << 16));
            choices[row] = _mm512_mask_mov_epi32(literal_token, cheaper, other);
            next = _mm512_min_epu32(matched, literal);
            store(&mut rows[1 + offset], next);
        }
        if from < stride {
            for (segment, choices) in transposed(choices).into_iter().enumerate() {
                let place = &mut far[segment * stride + from..][..RUN];
                // SAFETY: the tokens are 64 bytes.
                unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), choices) };
            }
        }
    }
}

/// The tokens of all segments at sixteen offsets, those at one offset in one vector.
#[target_feature(enable = "avx512f")]
#[inline]
fn columns(map: &[Token], stride: usize, from: usize) -> [__m512i; RUN] {
    let mut rows = [_mm512_setzero_si512(); RUN];
    for (segment, row) in rows.iter_mut().enumerate() {
        let run = map[segment * stride + from..].first_chunk().expect("the maps are padded");
        *row = tokens(run);
    }
    transposed(rows)
}

/// Lane `i` of vector `j` becomes lane `j` of vector `i`.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed(rows: [__m512i; 16]) -> [__m512i; 16] {
    let mut pairs = rows;
    for (pair, rows) in pairs.as_chunks_mut::<2>().0.iter_mut().zip(rows.as_chunks::<2>().0) {
        *pair = [_mm512_unpacklo_epi32(rows[0], rows[1]), _mm512_unpackhi_epi32(rows[0], rows[1])];
    }
    let mut quads = pairs;
    for (quad, pair) in quads.as_chunks_mut::<4>().0.iter_mut().zip(pairs.as_chunks::<4>().0) {
        *quad = [
            _mm512_unpacklo_epi64(pair[0], pair[2]),
            _mm512_unpackhi_epi64(pair[0], pair[2]),
            _mm512_unpacklo_epi64(pair[1], pair[3]),
            _mm512_unpackhi_epi64(pair[1], pair[3]),
        ];
    }
    // Each quarter of a vector now has four lanes of one column.
    let mut columns = quads;
    for index in 0..4 {
        let [first, second, third, fourth] = [0, 4, 8, 12].map(|row| quads[row + index]);
        let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(first, second);
        let odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(first, second);
        let even_rest = _mm512_shuffle_i32x4::<0b10_00_10_00>(third, fourth);
        let odd_rest = _mm512_shuffle_i32x4::<0b11_01_11_01>(third, fourth);
        columns[index] = _mm512_shuffle_i32x4::<0b10_00_10_00>(even, even_rest);
        columns[4 + index] = _mm512_shuffle_i32x4::<0b10_00_10_00>(odd, odd_rest);
        columns[8 + index] = _mm512_shuffle_i32x4::<0b11_01_11_01>(even, even_rest);
        columns[12 + index] = _mm512_shuffle_i32x4::<0b11_01_11_01>(odd, odd_rest);
    }
    columns
}

/// The costs of all bytes, in four registers.
struct LiteralCosts([__m512i; 4]);

impl LiteralCosts {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(costs: &Costs) -> Self {
        let mut table = [[0; 64]; 4];
        for (cost, entry) in costs.literal.iter().zip(table.as_flattened_mut()) {
            debug_assert!(*cost <= 0xff);
            *entry = *cost as u8;
        }
        Self([load(&table[0]), load(&table[1]), load(&table[2]), load(&table[3])])
    }

    /// The cost of the byte in each 32-bit lane.
    #[target_feature(enable = "avx512f,avx512vbmi")]
    #[inline]
    fn of(&self, byte: __m512i) -> __m512i {
        let low = _mm512_permutex2var_epi8(self.0[0], byte, self.0[1]);
        let high = _mm512_permutex2var_epi8(self.0[2], byte, self.0[3]);
        let upper = _mm512_test_epi32_mask(byte, _mm512_set1_epi32(0x80));
        let cost = _mm512_mask_mov_epi32(low, upper, high);
        _mm512_and_si512(cost, _mm512_set1_epi32(0xff))
    }
}
