use http::HeaderValue;

use super::Outcome::{NotModified, PreconditionFailed, Proceed};
use super::*;

const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

fn tag(text: &'static str) -> EntityTag {
    EntityTag::parse(&HeaderValue::from_static(text)).expect(text)
}

fn request(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name.clone(), HeaderValue::from_static(value));
    }
    headers
}

fn outcome_of(method: Method, current: &'static str, fields: &[(HeaderName, &'static str)]) -> Outcome {
    let current = tag(current);
    let validators = Validators { tag: Some(&current), modified: HttpDate::parse(MODIFIED.as_bytes()) };
    evaluate(&method, &request(fields), validators)
}

#[track_caller]
fn check(current: &'static str, fields: &[(HeaderName, &'static str)], expected: Outcome) {
    assert_eq!(outcome_of(Method::GET, current, fields), expected, "GET {fields:?}");
    assert_eq!(outcome_of(Method::HEAD, current, fields), expected, "HEAD {fields:?}");
}

#[test]
fn an_unconditional_request_proceeds() {
    check("\"a\"", &[(http::header::HOST, "a")], Proceed);
    assert!(!is_conditional(&request(&[(http::header::RANGE, "bytes=0-0")])));
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE] {
        assert!(is_conditional(&request(&[(name, "")])));
    }
}

#[test]
fn if_none_match_compares_weakly() {
    check("\"a\"", &[(IF_NONE_MATCH, "\"a\"")], NotModified);
    check("\"a\"", &[(IF_NONE_MATCH, "W/\"a\"")], NotModified);
    check("W/\"a\"", &[(IF_NONE_MATCH, "\"a\"")], NotModified);
    check("\"a\"", &[(IF_NONE_MATCH, "\"b\"")], Proceed);
    check("\"a\"", &[(IF_NONE_MATCH, "\"A\"")], Proceed);
}

#[test]
fn if_none_match_takes_lists_over_several_lines() {
    check("\"c\"", &[(IF_NONE_MATCH, "\"a\" , ,W/\"b\",\t\"c\"")], NotModified);
    check("\"c\"", &[(IF_NONE_MATCH, "\"a\""), (IF_NONE_MATCH, "\"c\"")], NotModified);
    check("\"a,c\"", &[(IF_NONE_MATCH, "\"b\", \"a,c\"")], NotModified);
    check("\"c\"", &[(IF_NONE_MATCH, "\"a,\"c\"")], Proceed);
}

#[test]
fn if_none_match_takes_the_star() {
    check("\"a\"", &[(IF_NONE_MATCH, "*")], NotModified);
    check("\"a\"", &[(IF_NONE_MATCH, " * ")], NotModified);
    check("\"*\"", &[(IF_NONE_MATCH, "\"b\"")], Proceed);
    assert_eq!(
        evaluate(&Method::GET, &request(&[(IF_NONE_MATCH, "*")]), Validators::default()),
        NotModified,
        "a representation without a tag exists all the same"
    );
}

#[test]
fn if_none_match_fails_other_methods_than_get_and_head() {
    assert_eq!(outcome_of(Method::POST, "\"a\"", &[(IF_NONE_MATCH, "\"a\"")]), PreconditionFailed);
    assert_eq!(outcome_of(Method::PUT, "\"a\"", &[(IF_NONE_MATCH, "*")]), PreconditionFailed);
    assert_eq!(outcome_of(Method::PUT, "\"a\"", &[(IF_NONE_MATCH, "\"b\"")]), Proceed);
}

#[test]
fn if_none_match_beats_if_modified_since() {
    check("\"a\"", &[(IF_NONE_MATCH, "\"b\""), (IF_MODIFIED_SINCE, AFTER)], Proceed);
    check("\"a\"", &[(IF_NONE_MATCH, "\"a\""), (IF_MODIFIED_SINCE, BEFORE)], NotModified);
    check("\"a\"", &[(IF_NONE_MATCH, "rubbish"), (IF_MODIFIED_SINCE, AFTER)], Proceed);
}

#[test]
fn malformed_tags_match_nothing() {
    for list in ["", "a", "\"a", "w/\"a\"", "b \"a\"", "\"b\" \"a\"", "\"a\"x", "*, \"b\""] {
        check("\"a\"", &[(IF_NONE_MATCH, list)], Proceed);
        check("\"a\"", &[(IF_MATCH, list)], PreconditionFailed);
    }
}

#[test]
fn if_modified_since_compares_whole_seconds() {
    check("\"a\"", &[(IF_MODIFIED_SINCE, BEFORE)], Proceed);
    check("\"a\"", &[(IF_MODIFIED_SINCE, MODIFIED)], NotModified);
    check("\"a\"", &[(IF_MODIFIED_SINCE, AFTER)], NotModified);
}

#[test]
fn if_modified_since_is_ignored_where_it_says_nothing() {
    check("\"a\"", &[(IF_MODIFIED_SINCE, "tomorrow")], Proceed);
    check("\"a\"", &[(IF_MODIFIED_SINCE, AFTER), (IF_MODIFIED_SINCE, AFTER)], Proceed);
    assert_eq!(outcome_of(Method::POST, "\"a\"", &[(IF_MODIFIED_SINCE, AFTER)]), Proceed);
    assert_eq!(
        evaluate(&Method::GET, &request(&[(IF_MODIFIED_SINCE, AFTER)]), Validators::default()),
        Proceed
    );
}

#[test]
fn if_match_compares_strongly() {
    check("\"a\"", &[(IF_MATCH, "\"b\", \"a\"")], Proceed);
    check("\"a\"", &[(IF_MATCH, "\"b\"")], PreconditionFailed);
    check("\"a\"", &[(IF_MATCH, "W/\"a\"")], PreconditionFailed);
    check("W/\"a\"", &[(IF_MATCH, "\"a\"")], PreconditionFailed);
    check("W/\"a\"", &[(IF_MATCH, "W/\"a\"")], PreconditionFailed);
    check("W/\"a\"", &[(IF_MATCH, "*")], Proceed);
    assert_eq!(outcome_of(Method::PUT, "\"a\"", &[(IF_MATCH, "\"b\"")]), PreconditionFailed);
}

#[test]
fn if_match_beats_if_unmodified_since() {
    check("\"a\"", &[(IF_MATCH, "\"a\""), (IF_UNMODIFIED_SINCE, BEFORE)], Proceed);
    check("\"a\"", &[(IF_MATCH, "\"b\""), (IF_UNMODIFIED_SINCE, AFTER)], PreconditionFailed);
}

#[test]
fn if_unmodified_since_compares_whole_seconds() {
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, BEFORE)], PreconditionFailed);
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, MODIFIED)], Proceed);
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, AFTER)], Proceed);
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, "yesterday")], Proceed);
    assert_eq!(outcome_of(Method::PUT, "\"a\"", &[(IF_UNMODIFIED_SINCE, BEFORE)]), PreconditionFailed);
    assert_eq!(
        evaluate(&Method::GET, &request(&[(IF_UNMODIFIED_SINCE, BEFORE)]), Validators::default()),
        Proceed
    );
}

#[test]
fn a_request_that_passes_the_first_pair_goes_on_to_the_second() {
    check("\"a\"", &[(IF_MATCH, "\"a\""), (IF_NONE_MATCH, "\"a\"")], NotModified);
    check("\"a\"", &[(IF_MATCH, "\"b\""), (IF_NONE_MATCH, "\"a\"")], PreconditionFailed);
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, AFTER), (IF_MODIFIED_SINCE, AFTER)], NotModified);
    check("\"a\"", &[(IF_UNMODIFIED_SINCE, BEFORE), (IF_MODIFIED_SINCE, AFTER)], PreconditionFailed);
}

#[test]
fn a_tag_given_with_one_coding_selects_that_coding() {
    let (brotli, gzip, identity) = (tag("\"a-br\""), tag("W/\"a-gz\""), tag("\"a\""));
    let ranked = || [("br", &brotli), ("gzip", &gzip), ("identity", &identity)];
    let chosen = |fields: &[_]| known(&request(fields), ranked());
    assert_eq!(chosen(&[(IF_NONE_MATCH, "\"a-gz\"")]), Some("gzip"));
    assert_eq!(chosen(&[(IF_NONE_MATCH, "\"a\", \"a-gz\"")]), Some("gzip"), "the best of those named");
    assert_eq!(chosen(&[(IF_NONE_MATCH, "\"a\""), (IF_NONE_MATCH, "\"a-br\"")]), Some("br"));
    assert_eq!(chosen(&[(IF_MATCH, "\"a\"")]), Some("identity"));
    assert_eq!(chosen(&[(IF_RANGE, "\"a-gz\"")]), Some("gzip"));
}

#[test]
fn where_no_tag_is_known_negotiation_decides() {
    let (brotli, identity) = (tag("\"a-br\""), tag("\"a\""));
    let chosen = |fields: &[_]| known(&request(fields), [("br", &brotli), ("identity", &identity)]);
    assert_eq!(chosen(&[]), None);
    assert_eq!(chosen(&[(IF_NONE_MATCH, "*")]), None);
    assert_eq!(chosen(&[(IF_NONE_MATCH, "\"b\", \"a-gz\"")]), None);
    assert_eq!(chosen(&[(IF_RANGE, MODIFIED), (IF_MODIFIED_SINCE, MODIFIED)]), None);
}

#[track_caller]
fn check_if_range(current: &'static str, lines: &[&'static str], expected: bool) {
    let fields: Vec<_> = lines.iter().map(|line| (IF_RANGE, *line)).collect();
    let current = tag(current);
    let validators = Validators { tag: Some(&current), modified: HttpDate::parse(MODIFIED.as_bytes()) };
    assert_eq!(if_range(&request(&fields), validators), expected, "{lines:?}");
}

#[test]
fn without_if_range_a_range_may_be_taken() {
    check_if_range("W/\"a\"", &[], true);
    assert!(if_range(&HeaderMap::new(), Validators::default()));
}

#[test]
fn if_range_takes_one_strong_tag() {
    check_if_range("\"a\"", &["\"a\""], true);
    check_if_range("\"a\"", &["\"b\""], false);
    check_if_range("\"a\"", &["W/\"a\""], false);
    check_if_range("W/\"a\"", &["\"a\""], false);
    check_if_range("W/\"a\"", &["W/\"a\""], false);
    check_if_range("\"a\"", &["\"a\", \"b\""], false);
    check_if_range("\"a\"", &["\"a\"", "\"a\""], false);
    check_if_range("\"a\"", &["*"], false);
    check_if_range("\"a\"", &[""], false);
}

#[test]
fn if_range_takes_the_exact_date_of_a_settled_change() {
    check_if_range("\"a\"", &[MODIFIED], true);
    check_if_range("\"a\"", &[BEFORE], false);
    check_if_range("\"a\"", &[AFTER], false);
    check_if_range("W/\"a\"", &[MODIFIED], false);
    check_if_range("\"a\"", &["rubbish"], false);
}

#[test]
fn if_range_without_a_date_to_compare_with_fails() {
    let (current, headers) = (tag("\"a-gz\""), request(&[(IF_RANGE, MODIFIED)]));
    assert!(!if_range(&headers, Validators { tag: Some(&current), modified: None }));
    assert!(!if_range(&headers, Validators { tag: None, modified: HttpDate::parse(MODIFIED.as_bytes()) }));
    assert!(!if_range(
        &request(&[(IF_RANGE, "rubbish")]),
        Validators { tag: Some(&current), modified: None }
    ));
}
