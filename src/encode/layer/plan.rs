//! What to do with a response, from its head and the request's.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, StatusCode, response};
use http_body::Body;

use super::Options;
use crate::config::CodingSettings;
use crate::encode::Coding;
use crate::headers::{vary_by_accept_encoding, weaken_etag};
use crate::negotiate::Accepted;
use crate::policy::{Refusal, may_code};

/// What of the request matters for its response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    accepted: Accepted,
    pub(super) head_only: bool,
    connect: bool,
}

/// What to do with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// It is not for us.
    Pass,
    /// It stays as it is.
    Plain(Refusal),
    /// It is coded.
    Code {
        /// In this coding,
        coding: Coding,
        /// even if nothing is gained, for the client does not take plain bytes.
        plain_forbidden: bool,
    },
    /// The client takes none of the forms it could have.
    NotAcceptable,
}

impl Asked {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        Self {
            accepted: Accepted::parse(request.headers()),
            head_only: request.method() == Method::HEAD,
            connect: request.method() == Method::CONNECT,
        }
    }

    /// Decides, and sets those fields of the head that do not depend on how the body turns out.
    pub(super) fn plan(&self, parts: &mut response::Parts, body: &impl Body, options: &Options) -> Plan {
        if self.connect || parts.status.is_informational() {
            return Plan::Pass;
        }
        let settings = &options.settings;
        let varies = may_vary(parts, settings) && options.filter.as_ref().is_none_or(|filter| filter(parts));
        if !varies {
            let length = self.length(&parts.headers, body);
            return Plan::Plain(
                may_code(parts.status, &parts.headers, length, settings).err().unwrap_or(Refusal::Type),
            );
        }
        vary_by_accept_encoding(&mut parts.headers);

        let plain_forbidden = !self.accepted.identity_acceptable();
        let best = self.accepted.rank(&settings.offered).best();
        if parts.status == StatusCode::NOT_MODIFIED {
            // The 200 would have been coded on the fly, under a weak tag.
            if matches!(best, Some(Some(_))) {
                weaken_etag(&mut parts.headers);
            }
            return Plan::Plain(Refusal::Status);
        }
        let length = self.length(&parts.headers, body);
        match may_code(parts.status, &parts.headers, length, settings) {
            Err(Refusal::TooShort) if plain_forbidden => {}
            Err(refusal) => return Plan::Plain(refusal),
            Ok(()) => {}
        }
        match best {
            Some(Some(coding)) => Plan::Code { coding, plain_forbidden },
            Some(None) => Plan::Plain(Refusal::NotAsked),
            None if parts.status.is_success() => Plan::NotAcceptable,
            // What went wrong is better told in a form not asked for than not at all.
            None => Plan::Plain(Refusal::NotAsked),
        }
    }

    /// The length of the whole body, if it is known.
    fn length(&self, headers: &HeaderMap, body: &impl Body) -> Option<u64> {
        let stated = || headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
        match body.size_hint().exact() {
            // The service may have left out the body, and told its length.
            Some(0) if self.head_only => stated().or(Some(0)),
            Some(length) => Some(length),
            None => stated(),
        }
    }
}

/// Whether requests for the same resource may be answered in different codings.
fn may_vary(parts: &response::Parts, settings: &CodingSettings) -> bool {
    if matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::IM_USED) {
        return false;
    }
    match may_code(StatusCode::OK, &parts.headers, None, settings) {
        Ok(()) => true,
        Err(Refusal::Type) => {
            parts.status == StatusCode::NOT_MODIFIED && !parts.headers.contains_key(CONTENT_TYPE)
        }
        Err(_) => false,
    }
}
