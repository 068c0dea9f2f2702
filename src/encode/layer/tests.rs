//! Responses through the layer, head and body.

use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::task::Waker;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tower::ServiceExt;

use super::*;
use crate::encode::testing::{Output, Script, Step, decode, noise, read, text};
use crate::policy::Refusal;

/// A response as a service gives it, and the request it answers.
struct Case {
    layer: CompressLayer,
    method: Method,
    accept: Option<&'static str>,
    response: Response<Script>,
}

impl Case {
    /// A page, with its length told, to a client that takes gzip.
    fn page(body: &[u8]) -> Self {
        let mut response = Response::new(Script::pieces(body, body.len().max(1)).exact());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response.headers_mut().insert(CONTENT_LENGTH, body.len().into());
        Self { layer: CompressLayer::new(), method: Method::GET, accept: Some("gzip"), response }
    }

    /// A page that comes in steps, with nothing told of its length.
    fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        let mut case = Self::page(b"");
        case.response.headers_mut().remove(CONTENT_LENGTH);
        *case.response.body_mut() = Script::new(steps);
        case
    }

    fn accept(mut self, accept: &'static str) -> Self {
        self.accept = Some(accept);
        self
    }

    fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    fn status(mut self, status: u16) -> Self {
        *self.response.status_mut() = StatusCode::from_u16(status).unwrap();
        self
    }

    fn header(mut self, name: http::HeaderName, value: &'static str) -> Self {
        self.response.headers_mut().insert(name, HeaderValue::from_static(value));
        self
    }

    fn layer(mut self, change: impl FnOnce(CompressLayer) -> CompressLayer) -> Self {
        self.layer = change(self.layer);
        self
    }

    fn respond(self) -> Answer {
        let mut request = Request::new(());
        *request.method_mut() = self.method;
        if let Some(accept) = self.accept {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
        }
        let mut response = Some(self.response);
        let service =
            tower::service_fn(move |_| ready(Ok::<_, Infallible>(response.take().expect("called once"))));
        let mut future = pin!(self.layer.layer(service).oneshot(request));
        let mut cx = Context::from_waker(Waker::noop());
        let mut pauses = 0;
        let response = loop {
            match future.as_mut().poll(&mut cx) {
                Poll::Ready(response) => break response.unwrap(),
                Poll::Pending => pauses += 1,
            }
            assert!(pauses < 100, "the head is withheld");
        };
        let (parts, body) = response.into_parts();
        let exact = body.size_hint().exact();
        Answer { parts, exact, output: read(body) }
    }
}

struct Answer {
    parts: response::Parts,
    /// The length of the body, where it was known when the head went out.
    exact: Option<u64>,
    output: Output<BoxError>,
}

impl Answer {
    fn header(&self, name: http::HeaderName) -> Option<&str> {
        self.parts.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn refusal(&self) -> Option<Refusal> {
        self.parts.extensions.get().copied()
    }

    #[track_caller]
    fn assert_coded(&self, coding: Coding, plain: &[u8]) {
        assert_eq!(self.header(CONTENT_ENCODING), Some(coding.token()));
        assert_eq!(self.header(CONTENT_LENGTH), None);
        assert_eq!(self.header(VARY), Some("Accept-Encoding"));
        assert_eq!(self.refusal(), None);
        assert!(decode(coding, &self.output.data).unwrap() == plain);
    }

    #[track_caller]
    fn assert_plain(&self, refusal: Refusal, plain: &[u8]) {
        assert_eq!(self.header(CONTENT_ENCODING), None);
        assert_eq!(self.refusal(), Some(refusal));
        assert!(self.output.data == plain);
    }
}

fn data(bytes: impl Into<Bytes>) -> Step {
    Step::Data(bytes.into())
}

#[test]
fn a_small_page_is_coded_whole_and_has_a_length() {
    let page = text(9000);
    for coding in Coding::ALL {
        let answer =
            Case::page(&page).layer(|layer| layer.codings(Coding::ALL)).accept(coding.token()).respond();
        answer.assert_coded(coding, &page);
        assert_eq!(answer.exact, Some(answer.output.data.len() as u64));
        assert_eq!(answer.output.frames.len(), 1);
    }
}

#[test]
fn a_long_page_is_coded_as_a_stream() {
    let page = text(500_000);
    for coding in Coding::ALL {
        let answer =
            Case::page(&page).layer(|layer| layer.codings(Coding::ALL)).accept(coding.token()).respond();
        answer.assert_coded(coding, &page);
        assert_eq!(answer.exact, None);
    }
}

#[test]
fn the_order_of_the_codings_decides_between_equals() {
    let page = text(9000);
    let all = "gzip, deflate, br, zstd";
    Case::page(&page).accept(all).respond().assert_coded(Coding::Zstd, &page);
    let ours = |layer: CompressLayer| layer.codings([Coding::Brotli, Coding::Gzip]);
    Case::page(&page).accept(all).layer(ours).respond().assert_coded(Coding::Brotli, &page);
    Case::page(&page).accept("gzip, br;q=0.9").layer(ours).respond().assert_coded(Coding::Gzip, &page);
    Case::page(&page).accept("zstd").layer(ours).respond().assert_plain(Refusal::NotAsked, &page);
}

#[test]
fn a_plain_page_keeps_its_length_and_varies() {
    let page = text(9000);
    for accept in ["", "identity", "gzip;q=0", "gzip;q=0.5, identity", "snappy"] {
        let answer = Case::page(&page).header(ETAG, "\"a\"").accept(accept).respond();
        answer.assert_plain(Refusal::NotAsked, &page);
        assert_eq!(answer.header(CONTENT_LENGTH), Some("9000"));
        assert_eq!(answer.header(VARY), Some("Accept-Encoding"));
        assert_eq!(answer.header(ETAG), Some("\"a\""));
    }
}

#[test]
fn what_is_true_of_the_plain_bytes_only_goes() {
    let answer = Case::page(&text(9000))
        .header(ETAG, "\"a\"")
        .header(ACCEPT_RANGES, "bytes")
        .header(http::HeaderName::from_static("content-digest"), "sha-256=:AA==:")
        .header(VARY, "Origin")
        .respond();
    assert_eq!(answer.header(ETAG), Some("W/\"a\""));
    assert_eq!(answer.header(ACCEPT_RANGES), None);
    assert_eq!(answer.header(http::HeaderName::from_static("content-digest")), None);
    assert_eq!(answer.header(VARY), Some("Origin, Accept-Encoding"));
}

#[test]
fn what_is_never_coded_does_not_vary() {
    let page = text(9000);
    for (case, refusal) in [
        (Case::page(&page).header(CONTENT_TYPE, "image/png"), Refusal::Type),
        (Case::page(&page).header(CACHE_CONTROL, "no-transform"), Refusal::NoTransform),
        (Case::page(&page).layer(|layer| layer.codings([])), Refusal::Off),
        (Case::page(&page).layer(|layer| layer.filter(|parts| parts.status != 200)), Refusal::Type),
    ] {
        let answer = case.respond();
        answer.assert_plain(refusal, &page);
        assert_eq!(answer.header(VARY), None);
        assert_eq!(answer.header(CONTENT_LENGTH), Some("9000"));
    }
}

#[test]
fn no_transform_may_be_overruled() {
    let page = text(9000);
    let case = Case::page(&page)
        .header(CACHE_CONTROL, "no-transform")
        .layer(|layer| layer.honour_no_transform(false));
    case.respond().assert_coded(Coding::Gzip, &page);
}

#[test]
fn what_is_coded_already_passes_through() {
    let page = text(9000);
    let answer = Case::page(&page).header(CONTENT_ENCODING, "br").header(ETAG, "\"a\"").respond();
    assert_eq!(answer.header(CONTENT_ENCODING), Some("br"));
    assert_eq!(answer.header(ETAG), Some("\"a\""));
    assert_eq!(answer.refusal(), Some(Refusal::AlreadyCoded));
    assert!(answer.output.data == page);
}

#[test]
fn a_part_is_not_coded_and_varies() {
    let answer = Case::page(&text(9000)).status(206).header(ETAG, "\"a\"").respond();
    answer.assert_plain(Refusal::Range, &text(9000));
    assert_eq!(answer.header(VARY), Some("Accept-Encoding"));
    assert_eq!(answer.header(ETAG), Some("\"a\""));
}

#[test]
fn a_304_says_what_the_200_would_have() {
    for typed in [true, false] {
        let mut case = Case::page(b"").status(304).header(ETAG, "\"a\"");
        case.response.headers_mut().remove(CONTENT_LENGTH);
        if !typed {
            case.response.headers_mut().remove(CONTENT_TYPE);
        }
        let answer = case.respond();
        assert_eq!(answer.header(CONTENT_ENCODING), None);
        assert_eq!(answer.header(VARY), Some("Accept-Encoding"));
        assert_eq!(answer.header(ETAG), Some("W/\"a\""));
        assert!(answer.output.data.is_empty());
    }
    let plain = Case::page(b"").status(304).header(ETAG, "\"a\"").accept("identity").respond();
    assert_eq!(plain.header(ETAG), Some("\"a\""));
    let image = Case::page(b"").status(304).header(CONTENT_TYPE, "image/png").header(ETAG, "\"a\"").respond();
    assert_eq!((image.header(VARY), image.header(ETAG)), (None, Some("\"a\"")));
}

#[test]
fn other_responses_without_content_are_left_alone() {
    for case in [
        Case::page(b"").status(204),
        Case::page(b"").status(101),
        Case::page(&text(9000)).method(Method::CONNECT),
    ] {
        let before = case.response.headers().clone();
        assert_eq!(case.respond().parts.headers, before);
    }
}

#[test]
fn errors_are_coded_too() {
    let page = text(9000);
    for status in [201, 403, 404, 410, 500] {
        Case::page(&page).status(status).respond().assert_coded(Coding::Gzip, &page);
    }
}

#[test]
fn head_answers_what_get_would() {
    let cases: [fn() -> Case; 7] = [
        || Case::page(&text(9000)).header(ETAG, "\"a\""),
        || Case::page(&text(500_000)),
        || Case::page(&text(9000)).accept("identity"),
        || Case::page(&text(10)),
        || Case::page(&noise(1000)),
        || Case::stream([data(text(100)), data(text(50))]),
        || Case::stream([data(text(100)), Step::Idle, data(text(9000))]),
    ];
    for case in cases {
        let get = case().respond();
        let head = case().method(Method::HEAD).respond();
        let mut headers = head.parts.headers.clone();
        if let Some(length) = headers.remove(CONTENT_LENGTH) {
            let sent = get.output.data.len().to_string();
            assert_eq!(length.to_str().unwrap(), sent);
        }
        let mut expected = get.parts.headers.clone();
        expected.remove(CONTENT_LENGTH);
        assert_eq!(headers, expected);
        assert_eq!(head.refusal(), get.refusal());
    }
}

#[test]
fn head_of_a_service_that_leaves_out_the_body() {
    let answer =
        Case::page(b"").method(Method::HEAD).header(CONTENT_LENGTH, "9000").header(ETAG, "\"a\"").respond();
    assert_eq!(answer.header(CONTENT_ENCODING), Some("gzip"));
    assert_eq!(answer.header(CONTENT_LENGTH), None);
    assert_eq!(answer.header(ETAG), Some("W/\"a\""));
    assert!(answer.output.data.is_empty());
    Case::page(b"")
        .method(Method::HEAD)
        .header(CONTENT_LENGTH, "9")
        .respond()
        .assert_plain(Refusal::TooShort, b"");
    Case::page(b"").method(Method::HEAD).respond().assert_plain(Refusal::Empty, b"");
}

#[test]
fn the_minimum_holds_whether_the_length_is_told_or_not() {
    for (len, coded) in [(0, false), (255, false), (256, true)] {
        let page = text(len);
        let pieces = Script::pieces(&page, 10);
        let mut unknown = Case::stream([]);
        *unknown.response.body_mut() = pieces;
        for case in [Case::page(&page), unknown] {
            let answer = case.respond();
            if coded {
                answer.assert_coded(Coding::Gzip, &page);
            } else {
                answer.assert_plain(if len == 0 { Refusal::Empty } else { Refusal::TooShort }, &page);
                assert_eq!(answer.exact, Some(len as u64));
            }
        }
    }
    let shorter = Case::page(&text(100)).layer(|layer| layer.min_length(100));
    shorter.respond().assert_coded(Coding::Gzip, &text(100));
}

#[test]
fn a_source_that_comes_back_at_once_is_waited_for_and_one_that_idles_is_not() {
    let soon = Case::stream([data("short"), Step::Idle, data(" enough")]).respond();
    soon.assert_plain(Refusal::TooShort, b"short enough");
    let idle = (0..=10).map(|_| Step::Idle);
    Case::stream([data("event")].into_iter().chain(idle)).respond().assert_coded(Coding::Gzip, b"event");
}

#[test]
fn what_gets_no_shorter_stays_plain() {
    let noise = noise(9000);
    let answer = Case::page(&noise).header(ETAG, "\"a\"").respond();
    answer.assert_plain(Refusal::NoGain, &noise);
    assert_eq!(answer.header(CONTENT_LENGTH), Some("9000"));
    assert_eq!(answer.header(ETAG), Some("\"a\""));
}

#[test]
fn who_forbids_plain_bytes_gets_none() {
    for body in [text(10), noise(9000)] {
        let answer = Case::page(&body).accept("gzip, identity;q=0").respond();
        answer.assert_coded(Coding::Gzip, &body);
    }
}

#[test]
fn nothing_acceptable_is_a_406_unless_something_went_wrong_already() {
    let page = text(9000);
    for accept in ["identity;q=0", "*;q=0", "compress, *;q=0"] {
        let answer = Case::page(&page).accept(accept).respond();
        assert_eq!(answer.parts.status, StatusCode::NOT_ACCEPTABLE);
        assert_eq!(answer.header(VARY), Some("Accept-Encoding"));
        assert!(answer.output.data.is_empty());
        let error = Case::page(&page).accept(accept).status(404).respond();
        assert_eq!(error.parts.status, StatusCode::NOT_FOUND);
        error.assert_plain(Refusal::NotAsked, &page);
        let image = Case::page(&page).accept(accept).header(CONTENT_TYPE, "image/png").respond();
        image.assert_plain(Refusal::Type, &page);
    }
}

#[test]
fn trailers_pass_coded_or_not() {
    let trailers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("\"after\""))]);
    for (len, accept) in [(9000, "gzip"), (500_000, "gzip"), (9000, ""), (10, "gzip")] {
        let steps = [data(text(len)), Step::Idle, Step::Trailers(trailers.clone())];
        let answer = Case::stream(steps).accept(accept).respond();
        assert_eq!(answer.output.trailers.as_ref(), Some(&trailers), "{len} bytes for {accept:?}");
        // With a length, HTTP/1.1 could not carry them.
        assert_eq!(answer.exact, None);
    }
}

#[test]
fn an_error_of_the_source_breaks_the_response() {
    for steps in
        [vec![Step::Fail], vec![data(text(100)), Step::Fail], vec![data(text(9000)), Step::Idle, Step::Fail]]
    {
        for accept in ["gzip", "identity"] {
            let answer = Case::stream(steps.clone()).accept(accept).respond();
            assert_eq!(answer.output.error.unwrap().to_string(), "the source broke off");
            assert_eq!(answer.exact, None);
        }
    }
}

#[tokio::test]
async fn slow_levels_are_coded_away_from_the_worker() {
    let page = text(9000);
    let layer = CompressLayer::new().levels(Levels { zstd: 19, ..Levels::default() }).codings([Coding::Zstd]);
    let service = layer.layer(tower::service_fn(|_| {
        let mut response = Response::new(Script::pieces(&text(9000), 9000).exact());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        ready(Ok::<_, Infallible>(response))
    }));
    let request = Request::builder().header(ACCEPT_ENCODING, "zstd").body(()).unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert_eq!(response.headers()[CONTENT_ENCODING], "zstd");
    let coded = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    assert!(decode(Coding::Zstd, &coded).unwrap() == page);
}
