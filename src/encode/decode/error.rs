//! What can be wrong with a coded body.

use std::error::Error;
use std::fmt;

use http::StatusCode;

use crate::encode::body::BoxError;

/// A coded body that cannot be decoded, or may not.
#[derive(Debug)]
pub struct DecodeError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    TooLarge { limit: u64 },
    Ratio { limit: u32 },
    Malformed(BoxError),
    Truncated,
    TrailingData,
    Body(BoxError),
}

impl DecodeError {
    pub(super) fn too_large(limit: u64) -> Self {
        Self { kind: Kind::TooLarge { limit } }
    }

    pub(super) fn ratio(limit: u32) -> Self {
        Self { kind: Kind::Ratio { limit } }
    }

    pub(super) fn malformed(cause: impl Into<BoxError>) -> Self {
        Self { kind: Kind::Malformed(cause.into()) }
    }

    pub(super) fn truncated() -> Self {
        Self { kind: Kind::Truncated }
    }

    pub(super) fn trailing_data() -> Self {
        Self { kind: Kind::TrailingData }
    }

    pub(super) fn body(cause: BoxError) -> Self {
        Self { kind: Kind::Body(cause) }
    }

    /// Whether the decoded body passes one of its [`Bounds`](super::Bounds).
    pub fn is_too_large(&self) -> bool {
        matches!(self.kind, Kind::TooLarge { .. } | Kind::Ratio { .. })
    }

    /// Whether the body is not what its coding asks for: damaged, cut short, or followed by something else.
    pub fn is_malformed(&self) -> bool {
        matches!(self.kind, Kind::Malformed(_) | Kind::Truncated | Kind::TrailingData)
    }

    /// What a server answers to a request with this body: 413 where it is too large, else 400.
    pub fn status(&self) -> StatusCode {
        if self.is_too_large() { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::TooLarge { limit } => write!(f, "the decoded body has more than {limit} bytes"),
            Kind::Ratio { limit } => {
                write!(f, "the decoded body has more than {limit} times the bytes of the coded one")
            }
            Kind::Malformed(cause) => write!(f, "the coded body is malformed: {cause}"),
            Kind::Truncated => f.write_str("the coded body ends early"),
            Kind::TrailingData => f.write_str("the coded body goes on after its end"),
            Kind::Body(_) => f.write_str("the coded body could not be read"),
        }
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            // The message of a malformed body has the cause in it already.
            Kind::Body(cause) => Some(&**cause),
            _ => None,
        }
    }
}
