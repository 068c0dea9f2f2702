//! Conditional requests (RFC 9110 §13): 304, 412, and the choice among representations that a client already knows.
//!
//! A file may have several representations: identity, and one for each coding. The service first asks [`known`] whether
//! the request names the tag of one that it also accepts, else takes the one that negotiation puts first; that is the
//! *selected representation*, against which [`evaluate`] and [`if_range`] hold the preconditions. So a tag that was
//! given out with one coding revalidates that coding, whatever the server would code in by now, and a 304 always
//! carries the tag of the representation that the client is told to reuse.

mod tag;

use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};
use http::{HeaderMap, HeaderName, Method};

use crate::date::HttpDate;

pub use tag::EntityTag;
use tag::Tag;

/// What the selected representation can be compared by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Validators<'a> {
    /// Its entity tag.
    pub tag: Option<&'a EntityTag>,
    /// The second of its last change.
    pub modified: Option<HttpDate>,
}

/// How to go on with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As if it were unconditional.
    Proceed,
    /// With 304 (Not Modified).
    NotModified,
    /// With 412 (Precondition Failed).
    PreconditionFailed,
}

/// Whether the request has any conditional field, `If-Range` included; most have none and need nothing of this module.
pub fn is_conditional(headers: &HeaderMap) -> bool {
    [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_RANGE, IF_MATCH, IF_UNMODIFIED_SINCE]
        .iter()
        .any(|name| headers.contains_key(name))
}

/// The first of the acceptable representations, best first, whose tag the request names.
///
/// Tags are compared weakly; whether a strong comparison is due is for [`evaluate`] and [`if_range`] to say.
pub fn known<'t, R>(
    headers: &HeaderMap,
    acceptable: impl IntoIterator<Item = (R, &'t EntityTag)>,
) -> Option<R> {
    const NAMING: [HeaderName; 3] = [IF_NONE_MATCH, IF_MATCH, IF_RANGE];
    if !NAMING.iter().any(|name| headers.contains_key(name)) {
        return None;
    }
    let is_named = |tag: Tag<'_>| NAMING.iter().any(|name| listed(headers, name, |one| one.weak_eq(tag)));
    acceptable.into_iter().find(|(_, tag)| is_named(tag.as_tag())).map(|(representation, _)| representation)
}

/// Holds the preconditions, in the order of RFC 9110 §13.2.2, against a selected representation that exists.
pub fn evaluate(method: &Method, headers: &HeaderMap, validators: Validators<'_>) -> Outcome {
    if !is_conditional(headers) {
        return Outcome::Proceed;
    }
    let reads = matches!(*method, Method::GET | Method::HEAD);

    if headers.contains_key(IF_MATCH) {
        if !matches(headers, &IF_MATCH, validators.tag, |a, b| a.strong_eq(b)) {
            return Outcome::PreconditionFailed;
        }
    } else if modified_after(headers, &IF_UNMODIFIED_SINCE, validators.modified) == Some(true) {
        return Outcome::PreconditionFailed;
    }

    if headers.contains_key(IF_NONE_MATCH) {
        return match matches(headers, &IF_NONE_MATCH, validators.tag, |a, b| a.weak_eq(b)) {
            false => Outcome::Proceed,
            true if reads => Outcome::NotModified,
            true => Outcome::PreconditionFailed,
        };
    }
    if reads && modified_after(headers, &IF_MODIFIED_SINCE, validators.modified) == Some(false) {
        return Outcome::NotModified;
    }
    Outcome::Proceed
}

/// Whether a range may be taken of the selected representation (RFC 9110 §13.1.5); true where there is no `If-Range`.
///
/// A date stands for one representation only and for a change that has settled. So it counts neither while the tag is
/// weak nor without a tag; for a coded representation the caller passes no `modified`, since all codings share it.
pub fn if_range(headers: &HeaderMap, validators: Validators<'_>) -> bool {
    let mut lines = headers.get_all(IF_RANGE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return !headers.contains_key(IF_RANGE);
    };
    let Some(current) = validators.tag else { return false };
    let value = line.as_bytes().trim_ascii();
    match Tag::take(value) {
        Some((tag, rest)) => rest.is_empty() && tag.strong_eq(current.as_tag()),
        None => {
            let date = HttpDate::parse(value);
            !current.is_weak() && date.is_some() && date == validators.modified
        }
    }
}

/// Whether the list of tags holds the current one, or is `*`, which any current representation matches.
fn matches(
    headers: &HeaderMap,
    name: &HeaderName,
    current: Option<&EntityTag>,
    equal: fn(Tag<'_>, Tag<'_>) -> bool,
) -> bool {
    headers.get_all(name).iter().any(|line| line.as_bytes().trim_ascii() == b"*")
        || current.is_some_and(|current| listed(headers, name, |tag| equal(tag, current.as_tag())))
}

/// Whether any tag in the lines of a field is the one looked for. What is not a tag ends its line.
fn listed(headers: &HeaderMap, name: &HeaderName, is_it: impl Fn(Tag<'_>) -> bool) -> bool {
    headers.get_all(name).iter().any(|line| {
        let mut rest = line.as_bytes();
        loop {
            rest = rest.trim_ascii_start();
            while let [b',', after @ ..] = rest {
                rest = after.trim_ascii_start();
            }
            let Some((tag, after)) = Tag::take(rest) else { return false };
            rest = after.trim_ascii_start();
            if !matches!(rest, [] | [b',', ..]) {
                return false;
            }
            if is_it(tag) {
                return true;
            }
        }
    })
}

/// Whether the representation changed after the date in the field; `None` where either is not known, and the field is
/// to be ignored: it is absent, given twice, or no date.
fn modified_after(headers: &HeaderMap, name: &HeaderName, modified: Option<HttpDate>) -> Option<bool> {
    let mut lines = headers.get_all(name).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    Some(modified? > HttpDate::parse(line.as_bytes())?)
}

#[cfg(test)]
mod tests;
