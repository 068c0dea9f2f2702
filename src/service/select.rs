//! Which representation of a file answers a request.
//!
//! The client's qualities decide; between equals the server's order does, but a sidecar that lies ready comes before what would
//! have to be coded. A client that names the tag of a representation it has and still accepts is compared with that one.

use http::HeaderMap;

use super::prepared::{File, Prepared};
use crate::conditional;
use crate::encode::Coding;
use crate::negotiate::Accepted;
use crate::policy::Refusal;

/// A representation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    /// The original; with why no coding was applied.
    Plain(Refusal),
    /// A sidecar as it is on disk.
    Sidecar(Coding),
    /// A sidecar, decoded for a client that accepts no coding of the file; there is no original.
    Decoded(Coding),
    /// The original, coded here.
    Coded(Coding),
}

/// The client accepts no representation of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAcceptable;

/// Selects the representation for a request with `headers`; `offered` are the codings in the server's order.
pub(super) fn select(
    file: &File,
    prepared: &Prepared,
    offered: &[Coding],
    headers: &HeaderMap,
) -> Result<Selected, NotAcceptable> {
    if !prepared.varies {
        // What is never coded is sent as it is, also to a client that forbids that: a 406 would help nobody.
        return Ok(Selected::Plain(prepared.codable.err().unwrap_or(Refusal::Off)));
    }
    let accepted = Accepted::parse(headers);
    let choice = Choice { file, prepared, accepted };
    let ranked = accepted.rank(offered);
    let mut available = ranked.iter().filter_map(|item| Some((item, choice.find(item)?)));
    if conditional::is_conditional(headers) {
        let known = available.clone().map(|(_, selected)| (selected, &prepared.face(selected).tag));
        if let Some(known) = conditional::known(headers, known) {
            return Ok(known);
        }
    }
    let (best, selected) = available.next().ok_or(NotAcceptable)?;
    if matches!(selected, Selected::Sidecar(_)) {
        return Ok(selected);
    }
    let quality = accepted.quality(best);
    let ready = available
        .take_while(|&(item, _)| accepted.quality(item) == quality)
        .find(|(_, selected)| matches!(selected, Selected::Sidecar(_)));
    Ok(ready.map_or(selected, |(_, sidecar)| sidecar))
}

struct Choice<'f> {
    file: &'f File,
    prepared: &'f Prepared,
    accepted: Accepted,
}

impl<'f> Choice<'f> {
    /// How the file can be had in a coding, or plain (`None`).
    fn find(&self, item: Option<Coding>) -> Option<Selected> {
        let Some(coding) = item else {
            return Some(match &self.file.identity {
                Some(_) => Selected::Plain(self.prepared.codable.err().unwrap_or(Refusal::NotAsked)),
                None => Selected::Decoded(self.any_sidecar()?),
            });
        };
        if self.prepared.sidecar(coding).is_some() {
            return Some(Selected::Sidecar(coding));
        }
        self.prepared.coded(coding)?;
        // What is too short to be worth it is coded all the same for a client that forbids the plain bytes.
        let may = match self.prepared.codable {
            Ok(()) => true,
            Err(Refusal::TooShort) => !self.accepted.identity_acceptable(),
            Err(_) => false,
        };
        may.then_some(Selected::Coded(coding))
    }

    /// The sidecar that is quickest to decode.
    fn any_sidecar(&self) -> Option<Coding> {
        [Coding::Zstd, Coding::Gzip, Coding::Brotli]
            .into_iter()
            .find(|&coding| self.prepared.sidecar(coding).is_some())
    }
}
