//! The built-in pages of error statuses, for sites that bring none of their own.

use bytes::Bytes;
use http::StatusCode;

/// `Content-Type` of every page.
pub const CONTENT_TYPE: &str = "text/html; charset=utf-8";

macro_rules! page {
    ($title:expr) => {
        concat!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
            $title,
            "</title>\n<style>:root{color-scheme:light dark}",
            "body{font:1.25rem system-ui,sans-serif;display:grid;place-items:center;min-height:90vh}",
            "h1{font-weight:300}</style>\n<h1>",
            $title,
            "</h1>\n</html>\n"
        )
    };
}

macro_rules! pages {
    ($($code:literal $reason:literal)*) => {
        /// The page of a status; costs no allocation. Empty for a status that is no error.
        pub fn page(status: StatusCode) -> Bytes {
            Bytes::from_static(match status.as_u16() {
                $($code => page!(concat!($code, " ", $reason)).as_bytes(),)*
                400..=499 => page!("Client Error").as_bytes(),
                500.. => page!("Server Error").as_bytes(),
                _ => b"",
            })
        }
    };
}

pages! {
    300 "Multiple Choices"
    301 "Moved Permanently"
    302 "Found"
    303 "See Other"
    307 "Temporary Redirect"
    308 "Permanent Redirect"
    400 "Bad Request"
    401 "Unauthorized"
    402 "Payment Required"
    403 "Forbidden"
    404 "Not Found"
    405 "Method Not Allowed"
    406 "Not Acceptable"
    408 "Request Timeout"
    409 "Conflict"
    410 "Gone"
    411 "Length Required"
    412 "Precondition Failed"
    413 "Content Too Large"
    414 "URI Too Long"
    415 "Unsupported Media Type"
    416 "Range Not Satisfiable"
    417 "Expectation Failed"
    421 "Misdirected Request"
    422 "Unprocessable Content"
    426 "Upgrade Required"
    428 "Precondition Required"
    429 "Too Many Requests"
    431 "Request Header Fields Too Large"
    500 "Internal Server Error"
    501 "Not Implemented"
    502 "Bad Gateway"
    503 "Service Unavailable"
    504 "Gateway Timeout"
    505 "HTTP Version Not Supported"
    507 "Insufficient Storage"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: u16) -> String {
        String::from_utf8(page(StatusCode::from_u16(code).unwrap()).to_vec()).unwrap()
    }

    #[test]
    fn a_page_names_its_status() {
        let page = text(404);
        assert!(page.contains("<title>404 Not Found</title>"), "{page}");
        assert!(page.contains("<h1>404 Not Found</h1>"), "{page}");
    }

    #[test]
    fn every_error_has_a_page_and_a_success_has_none() {
        for code in 400..=999 {
            let page = text(code);
            assert!(page.starts_with("<!doctype html>\n") && page.ends_with("</html>\n"), "{code}");
            assert!(page.len() < 512, "{code}");
        }
        for code in [100, 101, 200, 204, 206, 304] {
            assert_eq!(text(code), "", "{code}");
        }
        assert!(text(301).contains("301 Moved Permanently"));
    }

    #[test]
    fn reasons_are_those_of_the_registry() {
        for code in 300..=599 {
            let (page, status) = (text(code), StatusCode::from_u16(code).unwrap());
            let registered = status.canonical_reason().unwrap_or_default();
            // Renamed by RFC 9110 §15.5; the `http` crate keeps the older names.
            let reason = match code {
                413 => "Content Too Large",
                422 => "Unprocessable Content",
                _ => registered,
            };
            let generic = page.contains("<h1>Client Error") || page.contains("<h1>Server Error");
            assert!(
                page.is_empty() || generic || page.contains(&format!("<h1>{code} {reason}</h1>")),
                "{code}"
            );
        }
    }

    #[test]
    fn a_page_without_a_name_of_its_own_is_told_by_its_class() {
        assert!(text(418).contains("<h1>Client Error</h1>"));
        assert!(text(599).contains("<h1>Server Error</h1>"));
    }
}
