//! From the selected representation of a file to a response with its bytes.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, RANGE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::prepared::{Coded, Face, File, Prepared};
use super::reply::{Answer, Notes, Ranged, Reply, Unsatisfiable, Wait, cut};
use super::select::Selected;
use super::{Ask, Inner};
use crate::body::Body;
use crate::conditional::Validators;
use crate::date::HttpDate;
use crate::encode::body::Encoded;
use crate::encode::decode::{Bounds, Decoded};
use crate::encode::variants::Variant;
use crate::encode::{Coding, Effort, encode_whole, is_quick, pool};
use crate::headers::vary_by_accept_encoding;
use crate::negotiate::Accepted;
use crate::policy::{Refusal, may_code};
use crate::source::{Data, Representation, Stamp};

impl Inner {
    /// The response with a representation of `file`.
    pub(super) fn represent(
        &self,
        ask: &Ask<'_>,
        file: &Arc<File>,
        prepared: &Prepared,
        selected: Selected,
    ) -> Answer {
        let reply = match selected {
            Selected::Plain(why) => self.plain(ask, file, prepared, why),
            Selected::Sidecar(coding) => self.sidecar(ask, file, prepared, coding),
            Selected::Decoded(coding) => Ok(self.decoded(file, prepared, coding)),
            Selected::Coded(coding) => match self.coded(ask, file, prepared, coding) {
                Ok(Answer::Done(reply)) => Ok(reply),
                Ok(store) => return store,
                Err(unsatisfiable) => Err(unsatisfiable),
            },
        };
        Answer::Done(reply.unwrap_or_else(|unsatisfiable| self.unsatisfiable(ask, unsatisfiable)))
    }

    /// The response with a file that the store has yet to code.
    pub(super) async fn coded_by_store(&self, ask: &Ask<'_>, wait: Wait) -> Reply {
        let Wait { file, coding } = wait;
        let prepared = self.prepared(&file);
        let reply = match self.store_variant(&file, prepared, coding).await {
            Some(variant) => self.variant(ask, &file, prepared, coding, &variant),
            // It could not be read to its end. Whoever streams it meets the same error, and cuts the response.
            None => Ok(self.coded_anew(ask, &file, prepared, coding)),
        };
        reply.unwrap_or_else(|unsatisfiable| self.unsatisfiable(ask, unsatisfiable))
    }

    fn plain(
        &self,
        ask: &Ask<'_>,
        file: &File,
        prepared: &Prepared,
        why: Refusal,
    ) -> Result<Reply, Unsatisfiable> {
        let Some(identity) = &file.identity else { return Ok(Reply::empty(StatusCode::NOT_FOUND)) };
        let face = &prepared.plain;
        let notes = Notes { refusal: Some(why), ..Notes::default() };
        // A date stands for the original only: its codings share the date, and not the bytes.
        ranged(face, identity, prepared.modified, notes).reply(ask)
    }

    fn sidecar(
        &self,
        ask: &Ask<'_>,
        file: &File,
        prepared: &Prepared,
        coding: Coding,
    ) -> Result<Reply, Unsatisfiable> {
        let (Some(sidecar), Some(face)) = (file.sidecar(coding), prepared.sidecar(coding)) else {
            return self.plain(ask, file, prepared, Refusal::Off);
        };
        ranged(face, sidecar, None, coded_notes(file, coding)).reply(ask)
    }

    fn decoded(&self, file: &File, prepared: &Prepared, coding: Coding) -> Reply {
        let Some(sidecar) = file.sidecar(coding) else { return Reply::empty(StatusCode::NOT_FOUND) };
        let coded = cut(&sidecar.data, 0, sidecar.len());
        match Decoded::new(coded, coding, Bounds::NONE) {
            Ok(body) => {
                let notes = Notes { refusal: Some(Refusal::NotAsked), ..Notes::default() };
                Reply::whole(&prepared.plain, Body::Decoded(Box::new(body)), notes)
            }
            Err(error) => coder_failed(coding, &error),
        }
    }

    fn coded(
        &self,
        ask: &Ask<'_>,
        file: &Arc<File>,
        prepared: &Prepared,
        coding: Coding,
    ) -> Result<Answer, Unsatisfiable> {
        let (Some(store), Some(coded)) = (&self.store, prepared.coded(coding)) else {
            return self.coded_or_range(ask, file, prepared, coding).map(Answer::Done);
        };
        if coded.key.is_none() {
            return self.coded_or_range(ask, file, prepared, coding).map(Answer::Done);
        }
        match coded.met(store) {
            Some(variant) => self.variant(ask, file, prepared, coding, &variant).map(Answer::Done),
            None => Ok(Answer::Store(Wait { file: Arc::clone(file), coding })),
        }
    }

    /// The file coded for this response alone, or a range of the plain file: what is coded on the fly has no ranges.
    fn coded_or_range(
        &self,
        ask: &Ask<'_>,
        file: &File,
        prepared: &Prepared,
        coding: Coding,
    ) -> Result<Reply, Unsatisfiable> {
        if *ask.method == Method::GET
            && ask.headers.contains_key(RANGE)
            && Accepted::parse(ask.headers).identity_acceptable()
        {
            return self.plain(ask, file, prepared, Refusal::Range);
        }
        Ok(self.coded_anew(ask, file, prepared, coding))
    }

    fn coded_anew(&self, ask: &Ask<'_>, file: &File, prepared: &Prepared, coding: Coding) -> Reply {
        let (Some(identity), Some(coded)) = (&file.identity, prepared.coded(coding)) else {
            return Reply::empty(StatusCode::NOT_FOUND);
        };
        let face = coded.anew();
        let plain = cut(&identity.data, 0, identity.len());
        let takes_plain = Accepted::parse(ask.headers).identity_acceptable();
        match encode(plain, coding, coded.effort) {
            Ok(body) if takes_plain && is_no_gain(&body, identity) => {
                let notes = Notes { refusal: Some(Refusal::NoGain), ..Notes::default() };
                Reply::whole(&prepared.plain, cut(&identity.data, 0, identity.len()), notes)
            }
            Ok(body) => Reply::whole(&face, body, coded_notes(file, coding)),
            Err(error) => coder_failed(coding, &error),
        }
    }

    async fn store_variant(&self, file: &File, prepared: &Prepared, coding: Coding) -> Option<Arc<Variant>> {
        let (store, coded) = (self.store.as_ref()?, prepared.coded(coding)?);
        let (key, data) = (coded.key?, file.identity.as_ref()?.data.clone());
        let read = move || match data {
            Data::Memory(bytes) => Ok(bytes),
            Data::Disk(file) => {
                let mut bytes = vec![0; key.stamp.len as usize];
                file.read_exact_at(&mut bytes, 0)?;
                // A file that is written to meanwhile gives neither its old nor its new content.
                if Stamp::of(&file)? != key.stamp {
                    return Err(io::Error::other("the file changed while it was read"));
                }
                Ok(bytes.into())
            }
        };
        match store.get_or_encode(key, read).await {
            Ok(variant) => {
                coded.remember(key, &variant);
                Some(variant)
            }
            Err(error) => {
                tracing::warn!(%error, file = %file.name.display(), "a file could not be coded");
                None
            }
        }
    }

    /// What the store has of the file, or the plain file where coding did not make it shorter.
    fn variant(
        &self,
        ask: &Ask<'_>,
        file: &File,
        prepared: &Prepared,
        coding: Coding,
        variant: &Variant,
    ) -> Result<Reply, Unsatisfiable> {
        let bytes = match variant.bytes() {
            Ok(bytes) => bytes,
            Err(why) if Accepted::parse(ask.headers).identity_acceptable() => {
                return self.plain(ask, file, prepared, why);
            }
            Err(_) => return Ok(self.coded_anew(ask, file, prepared, coding)),
        };
        let Some(Coded { face, .. }) = prepared.coded(coding) else {
            return self.plain(ask, file, prepared, Refusal::Off);
        };
        Ranged {
            face,
            data: Data::Memory(bytes.clone()),
            length: bytes.len() as u64,
            validators: Validators { tag: Some(&face.tag), modified: None },
            notes: coded_notes(file, coding),
        }
        .reply(ask)
    }

    fn unsatisfiable(&self, ask: &Ask<'_>, Unsatisfiable(content_range): Unsatisfiable) -> Reply {
        let mut reply = self.fail(ask, StatusCode::RANGE_NOT_SATISFIABLE);
        reply.response.headers_mut().insert(CONTENT_RANGE, content_range);
        reply
    }

    /// A text made for this response, coded as the client asks for.
    pub(super) fn text(
        &self,
        ask: &Ask<'_>,
        status: StatusCode,
        content_type: &'static str,
        text: Bytes,
    ) -> Reply {
        self.content(ask, status, HeaderValue::from_static(content_type), text.into())
    }

    /// Content without a name of its own, and so without validators; coded as the client asks for.
    pub(super) fn content(
        &self,
        ask: &Ask<'_>,
        status: StatusCode,
        content_type: HeaderValue,
        content: Body,
    ) -> Reply {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, content_type);
        let length = http_body::Body::size_hint(&content).exact();
        if let Err(why) = may_code(status, &headers, length, &self.coding) {
            return Reply::new(status, headers, content, Notes { refusal: Some(why), ..Notes::default() });
        }
        vary_by_accept_encoding(&mut headers);
        let best = Accepted::parse(ask.headers).rank(&self.coding.offered).best();
        let Some(Some(coding)) = best else {
            return Reply::new(
                status,
                headers,
                content,
                Notes { refusal: Some(Refusal::NotAsked), ..Notes::default() },
            );
        };
        match encode(content, coding, Effort::of(&self.coding, coding)) {
            Ok(body) => {
                headers.insert(CONTENT_ENCODING, coding.header_value());
                Reply::new(
                    status,
                    headers,
                    body,
                    Notes { coding: Some(coding), length_before: length, refusal: None },
                )
            }
            Err(error) => coder_failed(coding, &error),
        }
    }
}

fn ranged<'a>(
    face: &'a Face,
    representation: &Representation,
    modified: Option<HttpDate>,
    notes: Notes,
) -> Ranged<'a> {
    Ranged {
        face,
        data: representation.data.clone(),
        length: representation.len(),
        validators: Validators { tag: Some(&face.tag), modified },
        notes,
    }
}

fn coded_notes(file: &File, coding: Coding) -> Notes {
    Notes {
        coding: Some(coding),
        length_before: file.identity.as_ref().map(Representation::len),
        refusal: None,
    }
}

/// Bytes in memory are coded in place, so that their length is known; others as they are read.
fn encode(plain: Body, coding: Coding, effort: Effort) -> io::Result<Body> {
    if let Body::Bytes(bytes) = &plain
        && is_quick(coding, effort, bytes.len())
    {
        return encode_whole(coding, effort, bytes).map(Body::from);
    }
    let length = http_body::Body::size_hint(&plain).exact();
    let mut encoder = pool::take(coding, effort)?;
    encoder.begin(length)?;
    Ok(Body::Coded(Box::new(Encoded::new(plain, encoder))))
}

fn coder_failed(coding: Coding, error: &io::Error) -> Reply {
    tracing::error!(%error, coding = coding.token(), "a coder failed");
    Reply::empty(StatusCode::INTERNAL_SERVER_ERROR)
}

fn is_no_gain(body: &Body, identity: &Representation) -> bool {
    matches!(body, Body::Bytes(coded) if coded.len() as u64 >= identity.len())
}
