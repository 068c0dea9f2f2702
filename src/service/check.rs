//! What must hold of a request before its path is looked at.

use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderMap, Method, Request, StatusCode, Version};

/// How to go on with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Look its path up.
    Serve,
    /// Say what methods there are.
    Options,
    /// Answer with this error.
    Fail(StatusCode),
}

/// Checks method, `Host` and the length of the body, which may be `body_bytes` at most.
pub(super) fn check<B>(request: &Request<B>, body_bytes: u64) -> Check {
    if !has_fair_host(request) {
        return Check::Fail(StatusCode::BAD_REQUEST);
    }
    // A target without a path is the authority form, which is for CONNECT, or one that nothing defines (RFC 9112 §3.2).
    if request.uri().path().is_empty() && request.method() != Method::CONNECT {
        return Check::Fail(StatusCode::BAD_REQUEST);
    }
    if announced(request.headers()).is_some_and(|length| length > body_bytes) {
        return Check::Fail(StatusCode::PAYLOAD_TOO_LARGE);
    }
    match *request.method() {
        Method::GET | Method::HEAD => Check::Serve,
        Method::OPTIONS => Check::Options,
        Method::POST | Method::PUT | Method::DELETE | Method::PATCH | Method::TRACE | Method::CONNECT => {
            Check::Fail(StatusCode::METHOD_NOT_ALLOWED)
        }
        _ => Check::Fail(StatusCode::NOT_IMPLEMENTED),
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// HTTP/1.1 demands exactly one `Host` (RFC 9112 §3.2); HTTP/2 has `:authority`, HTTP/1.0 may have neither.
fn has_fair_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (None, _) => return request.version() != Version::HTTP_11,
        (Some(_), Some(_)) => return false,
    };
    host.as_bytes().iter().all(|&byte| HOST_BYTES[usize::from(byte)])
}

/// The bytes that names, addresses and ports consist of. A host with another was meant to confuse somebody.
const HOST_BYTES: [bool; 256] = {
    let mut fair = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        fair[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':')
            || matches!(
                byte as u8,
                b'[' | b']' | b'%' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b';' | b'='
            );
        byte += 1;
    }
    fair
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check_of(request: http::request::Builder) -> Check {
        check(&request.body(()).unwrap(), 100)
    }

    fn get() -> http::request::Builder {
        Request::get("/").header(HOST, "a")
    }

    #[test]
    fn methods_are_known_or_not() {
        assert_eq!(check_of(get()), Check::Serve);
        assert_eq!(check_of(get().method("HEAD")), Check::Serve);
        assert_eq!(check_of(get().method("OPTIONS")), Check::Options);
        assert_eq!(check_of(get().method("POST")), Check::Fail(StatusCode::METHOD_NOT_ALLOWED));
        assert_eq!(check_of(get().method("BREW")), Check::Fail(StatusCode::NOT_IMPLEMENTED));
        assert_eq!(
            check_of(get().method("get")),
            Check::Fail(StatusCode::NOT_IMPLEMENTED),
            "methods have case"
        );
    }

    #[test]
    fn one_host_is_due() {
        let bad = Check::Fail(StatusCode::BAD_REQUEST);
        assert_eq!(check_of(Request::get("/")), bad);
        assert_eq!(check_of(Request::get("/").version(Version::HTTP_10)), Check::Serve);
        assert_eq!(check_of(Request::get("/").version(Version::HTTP_2)), Check::Serve);
        assert_eq!(check_of(get().header(HOST, "b")), bad);
        for host in ["a b", "a/b", "user@a", "a,b", "ä"] {
            let header = http::HeaderValue::from_bytes(host.as_bytes()).unwrap();
            assert_eq!(check_of(Request::get("/").header(HOST, header)), bad, "{host}");
        }
        for host in ["", "a:80", "[::1]:80", "a_b.example"] {
            assert_eq!(check_of(Request::get("/").header(HOST, host)), Check::Serve, "{host}");
        }
    }

    #[test]
    fn long_bodies_are_refused_before_they_come() {
        assert_eq!(check_of(get().header(CONTENT_LENGTH, "100")), Check::Serve);
        assert_eq!(check_of(get().header(CONTENT_LENGTH, "101")), Check::Fail(StatusCode::PAYLOAD_TOO_LARGE));
    }
}
