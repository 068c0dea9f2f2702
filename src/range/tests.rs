use super::RangeSet::{Ignore, Many, One, Unsatisfiable};
use super::*;

#[track_caller]
fn check(value: &str, len: u64, expected: RangeSet) {
    assert_eq!(parse(value.as_bytes(), len), expected, "{value:?} of {len}");
}

#[test]
fn from_to() {
    check("bytes=0-0", 10, One(0..1));
    check("bytes=2-5", 10, One(2..6));
    check("bytes=0-9", 10, One(0..10));
    check("bytes=9-9", 10, One(9..10));
}

#[test]
fn open_end() {
    check("bytes=0-", 10, One(0..10));
    check("bytes=9-", 10, One(9..10));
}

#[test]
fn suffix() {
    check("bytes=-1", 10, One(9..10));
    check("bytes=-10", 10, One(0..10));
    check("bytes=-11", 10, One(0..10));
    check("bytes=-0", 10, Unsatisfiable);
}

#[test]
fn beyond_the_end() {
    check("bytes=5-10", 10, One(5..10));
    check("bytes=5-999", 10, One(5..10));
    check("bytes=10-", 10, Unsatisfiable);
    check("bytes=10-20", 10, Unsatisfiable);
}

#[test]
fn huge_numbers() {
    let huge = "9".repeat(100);
    check("bytes=0-18446744073709551615", 10, One(0..10));
    check("bytes=0-18446744073709551616", 10, One(0..10));
    check(&format!("bytes=1-{huge}"), 10, One(1..10));
    check(&format!("bytes={huge}-"), 10, Unsatisfiable);
    check(&format!("bytes={huge}-{huge}"), 10, Unsatisfiable);
    check(&format!("bytes=-{huge}"), 10, One(0..10));
    check("bytes=18446744073709551614-18446744073709551615", u64::MAX, One(u64::MAX - 1..u64::MAX));
    check("bytes=00000000000000000000000000000001-1", 10, One(1..2));
}

#[test]
fn nothing_of_an_empty_representation() {
    check("bytes=0-0", 0, Unsatisfiable);
    check("bytes=0-", 0, Unsatisfiable);
    check("bytes=-0", 0, Unsatisfiable);
    check("bytes=-5", 0, Ignore);
}

#[test]
fn syntax_errors_void_the_set() {
    for value in [
        "",
        "bytes",
        "bytes=",
        "bytes= ",
        "bytes=,",
        "bytes=-",
        "bytes=a-b",
        "bytes=1",
        "bytes=0 - 1",
        "bytes=0- 1",
        "bytes=--1",
        "bytes=1--2",
        "bytes=+1-2",
        "bytes=5-4",
        "bytes=0-1,x",
        "bytes=0-1,5-4",
        "bytes=0x0-1",
        "bytes =0-1",
        "bytes:0-1",
        "=0-1",
        "bytes=0-1;2-3",
    ] {
        check(value, 10, Ignore);
    }
    assert_eq!(parse(b"bytes=0-\xff", 10), Ignore);
}

#[test]
fn the_unit_is_bytes_in_any_case() {
    check("BYTES=0-0", 10, One(0..1));
    check("Bytes=0-0", 10, One(0..1));
    check("items=0-0", 10, Ignore);
    check("none", 10, Ignore);
}

#[test]
fn several_ranges_keep_their_order() {
    check("bytes=0-0,-1", 10, Many(vec![0..1, 9..10]));
    check("bytes=8-9 , ,\t0-1,", 10, Many(vec![8..10, 0..2]));
    check("bytes=0-1,2-3", 10, Many(vec![0..2, 2..4]));
}

#[test]
fn those_that_cannot_be_satisfied_are_left_out() {
    check("bytes=0-0,10-", 10, One(0..1));
    check("bytes=10-,0-0,-0,5-5", 10, Many(vec![0..1, 5..6]));
    check("bytes=10-,20-", 10, Unsatisfiable);
}

#[test]
fn overlapping_ranges_are_united() {
    check("bytes=0-5,3-7", 10, One(0..8));
    check("bytes=0-,0-,0-", 10, One(0..10));
    check("bytes=8-9,0-1,1-2", 10, Many(vec![8..10, 0..3]));
    check("bytes=0-2,6-8,4-4,2-6", 10, One(0..9));
}

#[test]
fn a_range_that_joins_others_takes_the_place_of_the_first() {
    check("bytes=6-8,0-2,2-6,9-9", 10, Many(vec![0..9, 9..10]));
    check("bytes=20-21,6-8,0-2,2-6", 30, Many(vec![20..22, 0..9]));
}

#[test]
fn too_many_ranges_get_the_whole() {
    let list = |count: u64| {
        let specs: Vec<_> = (0..count).map(|n| format!("{0}-{0}", n * 2)).collect();
        format!("bytes={}", specs.join(","))
    };
    let most: Vec<_> = (0..64).map(|n| n * 2..n * 2 + 1).collect();
    check(&list(64), 1000, Many(most));
    check(&list(65), 1000, Ignore);
    check(&format!("bytes={}", "0-,".repeat(65)), 1000, Ignore);
}

#[test]
fn range_is_for_get_and_of_one_line() {
    let mut headers = HeaderMap::new();
    assert_eq!(requested(&Method::GET, &headers, 10), Ignore);
    headers.append(RANGE, HeaderValue::from_static("bytes=0-0"));
    assert_eq!(requested(&Method::GET, &headers, 10), One(0..1));
    assert_eq!(requested(&Method::HEAD, &headers, 10), Ignore);
    assert_eq!(requested(&Method::POST, &headers, 10), Ignore);
    headers.append(RANGE, HeaderValue::from_static("bytes=5-5"));
    assert_eq!(requested(&Method::GET, &headers, 10), Ignore);
}

#[test]
fn content_range_names_the_last_byte() {
    assert_eq!(content_range(&(0..1), 10), "bytes 0-0/10");
    assert_eq!(content_range(&(5..10), 10), "bytes 5-9/10");
    assert_eq!(content_range_unsatisfied(0), "bytes */0");
    assert_eq!(
        content_range(&(u64::MAX - 1..u64::MAX), u64::MAX),
        "bytes 18446744073709551614-18446744073709551614/18446744073709551615"
    );
}
