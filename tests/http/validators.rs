//! Entity tags, dates and preconditions (RFC 9110 §8.8.3, §13).

use std::time::Duration;

use crate::common::{Server, Site, text};

const BEFORE: &str = "Tue, 31 Dec 2019 23:59:59 GMT";
const AFTER: &str = "Wed, 01 Jan 2020 00:00:01 GMT";

fn serve(flags: &[&str]) -> (Site, Server) {
    let site = Site::new().with("page.html", text(5000)).with("other.html", text(5001));
    let server = Server::start(&site, flags);
    (site, server)
}

fn tag(server: &Server, fields: &[&str]) -> String {
    server.get("/page.html", fields).rule("a file has a tag").field("etag").to_owned()
}

#[test]
fn a_file_has_a_strong_tag_and_a_date() {
    let (_site, server) = serve(&[]);
    let reply = server.get("/page.html", &[]).rule("a file has a strong tag and its date");
    reply.status(200).has("last-modified", Site::LAST_MODIFIED);
    reply.that(reply.field("etag").starts_with('"'), "the tag is not strong");
    let other = server.get("/other.html", &[]).rule("other size, other tag");
    other.that(other.field("etag") != reply.field("etag"), "the tags are equal");
}

#[test]
fn tags_tell_changes_within_one_second() {
    let (site, server) = serve(&["--cache-validity", "0"]);
    let first = tag(&server, &[]);
    site.age("page.html", Duration::from_millis(250));
    let reply = server.get("/page.html", &[]).rule("tags come from nanoseconds and size");
    reply.that(reply.field("etag") != first, "the tag is the old one");
    reply.has("last-modified", Site::LAST_MODIFIED);
}

#[test]
fn a_file_changed_within_the_last_second_has_a_weak_tag() {
    let (site, server) = serve(&[]);
    site.write("fresh.html", text(5000));
    site.touch("fresh.html");
    let reply = server.get("/fresh.html", &[]).rule("a file changed within the last second has a weak tag");
    reply.that(reply.field("etag").starts_with("W/\""), "the tag is strong");
}

#[test]
fn codings_never_share_a_strong_tag() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (_site, server) = serve(flags);
        let all: Vec<String> = ["identity", "gzip", "br", "zstd"]
            .map(|coding| tag(&server, &[&format!("Accept-Encoding: {coding}")]))
            .into();
        let strong: Vec<&String> = all.iter().filter(|tag| tag.starts_with('"')).collect();
        let mut distinct = strong.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), strong.len(), "identity and coded bodies share a strong tag: {all:?}");
        assert!(all[0].starts_with('"'), "identity has a strong tag: {all:?}");
    }
}

#[test]
fn a_coded_body_has_a_strong_tag_only_where_its_bytes_are_stable() {
    let (_site, stored) = serve(&[]);
    let kept = tag(&stored, &["Accept-Encoding: gzip"]);
    assert!(kept.starts_with('"'), "a stored variant has a strong tag of its own, not {kept}");
    let (_site, anew) = serve(&["--compress-store", "off"]);
    let made = tag(&anew, &["Accept-Encoding: gzip"]);
    assert!(made.starts_with("W/\""), "coded anew each time the tag is weakened, not {made}");
}

#[test]
fn a_tag_revalidates_the_coding_it_was_given_for() {
    for flags in [&[][..], &["--compress-store", "off"]] {
        let (_site, server) = serve(flags);
        for coding in ["identity", "gzip", "br", "zstd"] {
            let accept = format!("Accept-Encoding: {coding}");
            let tag = tag(&server, &[&accept]);
            let reply = server.get("/page.html", &[&accept, &format!("If-None-Match: {tag}")]);
            let reply = reply.rule("a tag given for one coding revalidates that coding");
            reply.status(304).has("etag", &tag).lacks("content-encoding").lacks("content-length").varies();
        }
    }
}

#[test]
fn a_stored_variant_s_tag_does_not_revalidate_another_coding() {
    let (_site, server) = serve(&[]);
    let gzip = tag(&server, &["Accept-Encoding: gzip"]);
    let reply = server.get("/page.html", &["Accept-Encoding: br", &format!("If-None-Match: {gzip}")]);
    reply.rule("the tag of gzip says nothing of br").status(200).coded("br").decodes_to(text(5000));
}

#[test]
fn if_none_match_compares_weakly_and_knows_lists() {
    let (_site, server) = serve(&[]);
    let tag = tag(&server, &[]);
    let cases: [(Vec<String>, u16, &str); 9] = [
        (vec![format!("If-None-Match: {tag}")], 304, "the same tag"),
        (vec![format!("If-None-Match: W/{tag}")], 304, "weak comparison"),
        (vec![format!("If-None-Match: \"x\", {tag}")], 304, "a list"),
        (vec![format!("If-None-Match: \"a,b\" ,\t, {tag}")], 304, "a comma within a tag, an empty member"),
        (
            vec!["If-None-Match: \"x\"".into(), format!("If-None-Match: {tag}")],
            304,
            "several lines are one list",
        ),
        (vec!["If-None-Match: *".into()], 304, "* matches what exists"),
        (vec!["If-None-Match: \"x\"".into()], 200, "another tag"),
        (vec![format!("If-None-Match: {}", tag.trim_matches('"'))], 200, "no tag without its quotes"),
        (vec![format!("If-None-Match: \"{}", tag)], 200, "a malformed list matches nothing"),
    ];
    for (fields, status, rule) in &cases {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        server.get("/page.html", &fields).rule(rule).status(*status);
    }
    server.get("/nowhere", &["If-None-Match: *"]).rule("what does not exist is 404").status(404);
}

#[test]
fn dates_compare_in_whole_seconds() {
    let (site, server) = serve(&["--cache-validity", "0"]);
    site.age("page.html", Duration::from_millis(900));
    let since = |date: &str| format!("If-Modified-Since: {date}");
    let cases: [(&str, u16, &str); 7] = [
        (Site::LAST_MODIFIED, 304, "the same second"),
        (AFTER, 304, "later"),
        (BEFORE, 200, "earlier"),
        ("Wednesday, 01-Jan-20 00:00:00 GMT", 304, "the form of RFC 850"),
        ("Wed Jan  1 00:00:00 2020", 304, "the form of asctime"),
        ("yesterday", 200, "an invalid date is ignored"),
        ("2020-01-01T00:00:00Z", 200, "another form of date is ignored"),
    ];
    for (date, status, rule) in cases {
        server.get("/page.html", &[&since(date)]).rule(rule).status(status);
        server.ask("HEAD", "/page.html", &[&since(date)]).rule(rule).status(status);
    }
}

#[test]
fn if_none_match_beats_if_modified_since() {
    let (_site, server) = serve(&[]);
    let tag = tag(&server, &[]);
    let fields = ["If-None-Match: \"x\"", &format!("If-Modified-Since: {AFTER}")];
    server.get("/page.html", &fields).rule("a tag that does not match: the date is not asked").status(200);
    let fields = [&*format!("If-None-Match: {tag}"), &format!("If-Modified-Since: {BEFORE}")];
    server.get("/page.html", &fields).rule("a tag that matches: the date is not asked").status(304);
}

#[test]
fn if_match_compares_strongly() {
    let (_site, server) = serve(&[]);
    let tag = tag(&server, &[]);
    let cases: [(String, u16, &str); 5] = [
        (format!("If-Match: {tag}"), 200, "the same tag"),
        ("If-Match: *".into(), 200, "* matches what exists"),
        (format!("If-Match: \"x\", {tag}"), 200, "a list"),
        (format!("If-Match: W/{tag}"), 412, "a weak tag never matches"),
        ("If-Match: \"x\"".into(), 412, "another tag"),
    ];
    for (field, status, rule) in &cases {
        server.get("/page.html", &[field]).rule(rule).status(*status);
    }
}

#[test]
fn preconditions_are_asked_in_order() {
    let (_site, server) = serve(&[]);
    let tag = tag(&server, &[]);
    let (matches, differs) = (format!("If-Match: {tag}"), "If-Match: \"x\"");
    let none = format!("If-None-Match: {tag}");
    let unmodified = |date: &str| format!("If-Unmodified-Since: {date}");
    let same = unmodified(Site::LAST_MODIFIED);
    let old = unmodified(BEFORE);
    let cases: [(&[&str], u16, &str); 7] = [
        (&[&same], 200, "If-Unmodified-Since: the same second"),
        (&[&old], 412, "If-Unmodified-Since: modified after it"),
        (&["If-Unmodified-Since: soon"], 200, "an invalid date is ignored"),
        (&[&matches, &old], 200, "If-Match there: If-Unmodified-Since is not asked"),
        (&[differs, &none], 412, "If-Match comes first"),
        (&[&old, &none], 412, "If-Unmodified-Since comes before If-None-Match"),
        (&[&matches, &none], 304, "If-Match holds: If-None-Match decides"),
    ];
    for (fields, status, rule) in cases {
        server.get("/page.html", fields).rule(&format!("§13.2.2: {rule}")).status(status);
    }
}

#[test]
fn a_304_repeats_what_the_200_had() {
    let (_site, server) = serve(&["--cache-control", "max-age=60"]);
    for coding in ["identity", "gzip"] {
        let accept = format!("Accept-Encoding: {coding}");
        let full = server.get("/page.html", &[&accept]).rule("files get the Cache-Control that is set");
        full.has("cache-control", "max-age=60");
        let mut conn = server.connect();
        let reply =
            conn.ask("GET", "/page.html", &[&accept, &format!("If-None-Match: {}", full.field("etag"))]);
        let reply = reply.rule("a 304 repeats ETag, Vary, Cache-Control and Date, and has no content");
        reply.status(304).has("etag", full.field("etag")).has("vary", full.field("vary"));
        reply.has("cache-control", "max-age=60").lacks("content-encoding").lacks("content-length");
        reply.lacks("transfer-encoding").field("date");
        let next = conn.ask("GET", "/page.html", &[]);
        next.rule("nothing is on the wire after the head of a 304").status(200).body(text(5000));
    }
}
