//! The content codings this server knows (RFC 9110 §8.4.1, RFC 7932, RFC 8878).

use http::HeaderValue;

/// A content coding other than identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    /// Zstandard, window at most 8 MiB (RFC 9659).
    Zstd,
    /// Brotli (RFC 7932).
    Brotli,
    /// Gzip (RFC 1952).
    Gzip,
    /// The zlib wrapper (RFC 1950), which HTTP calls `deflate`.
    Deflate,
}

impl Coding {
    /// Every coding, in the server's default order of preference.
    pub const ALL: [Self; 4] = [Self::Zstd, Self::Brotli, Self::Gzip, Self::Deflate];

    /// The coding of a token of `Accept-Encoding` or `Content-Encoding`, in any case; `x-gzip` is gzip.
    pub fn from_token(token: &str) -> Option<Self> {
        const TOKENS: [(&str, Coding); 5] = [
            ("gzip", Coding::Gzip),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
            ("deflate", Coding::Deflate),
            ("x-gzip", Coding::Gzip),
        ];
        TOKENS.iter().find(|(name, _)| name.eq_ignore_ascii_case(token)).map(|&(_, coding)| coding)
    }

    /// The token on the wire.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    /// The token as a value of `Content-Encoding`; costs no allocation.
    pub const fn header_value(self) -> HeaderValue {
        HeaderValue::from_static(self.token())
    }

    /// What the file name of a sidecar ends in, without the dot; `deflate` has none.
    pub const fn extension(self) -> Option<&'static str> {
        match self {
            Self::Zstd => Some("zst"),
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gz"),
            Self::Deflate => None,
        }
    }
}
