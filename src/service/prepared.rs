//! What is made of a file once, and used for every response from it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, SERVER,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::reply::NAME;
use super::select::Selected;
use crate::conditional::EntityTag;
use crate::config::{CodingSettings, Site};
use crate::date::HttpDate;
use crate::encode::variants::{Handle, Key, Store, Variant};
use crate::encode::{Coding, Effort};
use crate::headers::vary_by_accept_encoding;
use crate::mime;
use crate::policy::{Refusal, may_code};
use crate::source::{Representation, Resource};

/// A file as it is served, with what was prepared of it.
pub(super) type File = Resource<Prepared>;

/// What is prepared of one file.
#[derive(Debug)]
pub(super) struct Prepared {
    /// `Content-Type` of the file.
    pub(super) content_type: HeaderValue,
    /// Whether any coding could be sent, so that the responses depend on `Accept-Encoding`.
    pub(super) varies: bool,
    /// Whether the original may be coded here; if not, why.
    pub(super) codable: Result<(), Refusal>,
    /// Time of the last change, in whole seconds.
    pub(super) modified: Option<HttpDate>,
    /// The original.
    pub(super) plain: Face,
    /// Each sidecar, by coding.
    sidecars: [Option<Face>; Coding::ALL.len()],
    /// What the original is coded to, by coding; `None` where it may not be coded.
    coded: [Option<Coded>; Coding::ALL.len()],
}

/// What every response with one representation says of it.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub(super) tag: EntityTag,
    /// All fields but `Content-Length`.
    pub(super) headers: HeaderMap,
}

/// The original in a coding that is made here.
#[derive(Debug)]
pub(super) struct Coded {
    /// Of the whole response with the tag that stands for stable bytes, or of a stream that is coded anew each time.
    pub(super) face: Face,
    /// The name of the bytes in the store; `None` where they are not kept there.
    pub(super) key: Option<Key>,
    pub(super) effort: Effort,
    /// The way to them. Never contended: a thread prepares files for itself.
    handle: Mutex<Option<Handle>>,
}

impl Prepared {
    pub(super) fn new(file: &File, site: &Site, coding: &CodingSettings, store: Option<&Store>) -> Self {
        let content_type = mime::content_type(&file.name, site.charset.as_deref());
        let mut common = HeaderMap::with_capacity(12);
        common.insert(CONTENT_TYPE, content_type.clone());
        common.insert(SERVER, NAME);
        if let Some(cache_control) = &site.cache_control {
            common.insert(CACHE_CONTROL, cache_control.clone());
        }
        // `.svgz` and its like are coded by nature, whatever the client accepts.
        if let Some(inherent) = mime::inherent_coding(&file.name) {
            common.insert(CONTENT_ENCODING, inherent.header_value());
        }
        let length = file.identity.as_ref().map(Representation::len);
        let codable = may_code(StatusCode::OK, &common, length, coding).and(match file.identity {
            Some(_) => Ok(()),
            None => Err(Refusal::AlreadyCoded),
        });
        let offered = |&wanted: &Coding| coding.offered.contains(&wanted);
        let has_sidecar =
            Coding::ALL.iter().filter(|one| offered(one)).any(|&one| file.sidecar(one).is_some());
        let varies = has_sidecar || matches!(codable, Ok(()) | Err(Refusal::TooShort));
        if varies {
            vary_by_accept_encoding(&mut common);
        }
        let main = file.identity.as_ref().or_else(|| Coding::ALL.iter().find_map(|&one| file.sidecar(one)));
        let modified = main.and_then(|main| HttpDate::new(main.modified()));
        if let Some(modified) = modified {
            common.insert(LAST_MODIFIED, modified.header_value());
        }
        let plain = match &file.identity {
            Some(identity) => Face::new(&common, tag(identity, None), None, true),
            // Made of a sidecar as it goes out, so its tag is weak and ranges of it cannot be had.
            None => match main {
                Some(main) => Face::new(&common, tag(main, None).into_weak(), None, false),
                None => Face::new(&common, EntityTag::of_file(UNIX_EPOCH, 0, None).into_weak(), None, false),
            },
        };
        let sidecars = Coding::ALL.map(|one| {
            let sidecar = file.sidecar(one).filter(|_| offered(&one))?;
            Some(Face::new(&common, tag(sidecar, Some(one)), Some(one), true))
        });
        let coded = Coding::ALL.map(|one| {
            let identity = file.identity.as_ref().filter(|_| offered(&one))?;
            matches!(codable, Ok(()) | Err(Refusal::TooShort))
                .then(|| Coded::new(identity, &plain, &common, one, coding, store))
        });
        Self { content_type, varies, codable, modified, plain, sidecars, coded }
    }

    /// What a response with the selected representation says of it.
    pub(super) fn face(&self, selected: Selected) -> &Face {
        let face = match selected {
            Selected::Plain(_) | Selected::Decoded(_) => None,
            Selected::Sidecar(coding) => self.sidecar(coding),
            Selected::Coded(coding) => self.coded(coding).map(|coded| &coded.face),
        };
        face.unwrap_or(&self.plain)
    }

    pub(super) fn sidecar(&self, coding: Coding) -> Option<&Face> {
        self.sidecars[coding as usize].as_ref()
    }

    pub(super) fn coded(&self, coding: Coding) -> Option<&Coded> {
        self.coded[coding as usize].as_ref()
    }
}

impl Face {
    fn new(common: &HeaderMap, tag: EntityTag, coding: Option<Coding>, ranges: bool) -> Self {
        let mut headers = common.clone();
        headers.insert(ETAG, tag.header_value());
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, coding.header_value());
        }
        if ranges {
            headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        }
        Self { tag, headers }
    }

    /// The same for bytes that may come out otherwise the next time.
    fn into_weak(mut self) -> Self {
        self.tag = self.tag.into_weak();
        self.headers.insert(ETAG, self.tag.header_value());
        self.headers.remove(ACCEPT_RANGES);
        self
    }
}

impl Coded {
    fn new(
        identity: &Representation,
        plain: &Face,
        common: &HeaderMap,
        coding: Coding,
        settings: &CodingSettings,
        store: Option<&Store>,
    ) -> Self {
        let effort = Effort::of(settings, coding);
        // Two states of a file that just changed cannot be told apart, so its coded form is not kept.
        let stored = !identity.racy && store.is_some_and(|store| store.admits(identity.len()));
        let tag = plain.tag.coded(coding, effort);
        let face = if stored {
            Face::new(common, tag, Some(coding), true)
        } else {
            Face::new(common, tag.into_weak(), Some(coding), false)
        };
        Self { face, key: stored.then(|| key(identity, coding, effort)), effort, handle: Mutex::default() }
    }

    /// What a response says that is coded for itself, even if the store keeps such bytes.
    pub(super) fn anew(&self) -> Face {
        self.face.clone().into_weak()
    }

    /// The bytes, if the store has them still and this thread has met them before.
    pub(super) fn met(&self, store: &Store) -> Option<Arc<Variant>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(store)
    }

    /// Remembers the way to what the store gave.
    pub(super) fn remember(&self, key: Key, variant: &Arc<Variant>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(Handle::new(key, variant));
    }
}

fn tag(representation: &Representation, coding: Option<Coding>) -> EntityTag {
    let tag = EntityTag::of_file(representation.modified(), representation.len(), coding);
    if representation.racy { tag.into_weak() } else { tag }
}

fn key(identity: &Representation, coding: Coding, effort: Effort) -> Key {
    Key { stamp: identity.stamp, coding, effort }
}
