//! What a look-up finds.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use http::HeaderValue;

use super::file::Stamp;
use crate::encode::Coding;

/// What a path names. A clone is one reference counted up.
#[derive(Debug)]
pub enum Found<P = ()> {
    /// A file.
    File(Arc<Resource<P>>),
    /// A directory asked for without its final slash; the value is the path for `Location`, to which the
    /// query of the request is to be appended. It never begins with two slashes.
    Redirect(HeaderValue),
    /// The listing of a directory, as HTML in UTF-8.
    Listing(Bytes),
}

/// A file with its precompressed forms.
///
/// `P` is what the caller makes of it once and wants to find again with every further request: header values,
/// handles to coded variants. It lives as long as the file stays as it is and is remembered.
#[derive(Debug)]
pub struct Resource<P = ()> {
    /// The name of the original relative to the root, also where only sidecars exist; its ending tells the
    /// type.
    pub name: PathBuf,
    /// The original; `None` where only sidecars exist.
    pub identity: Option<Representation>,
    /// Room for the caller.
    pub prepared: OnceLock<P>,
    sidecars: [Option<Representation>; SIDECARS.len()],
}

/// The codings that have sidecars.
pub(super) const SIDECARS: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

/// The bytes of one coding of a resource.
#[derive(Clone, Debug)]
pub struct Representation {
    /// Length, times and identity of the file when it was opened.
    pub stamp: Stamp,
    /// Whether it had changed within the second before it was opened: its tag is weak (RFC 9110 §8.8.1).
    pub racy: bool,
    /// Where the bytes are.
    pub data: Data,
}

/// Where the bytes of a representation are.
#[derive(Clone, Debug)]
pub enum Data {
    /// All of them in memory.
    Memory(Bytes),
    /// In an open file; its body is a [`FileBody`](super::FileBody).
    Disk(Arc<File>),
}

impl<P> Resource<P> {
    pub(super) fn new(
        name: &Path,
        identity: Option<Representation>,
        sidecars: [Option<Representation>; SIDECARS.len()],
    ) -> Self {
        Self { name: name.to_owned(), identity, sidecars, prepared: OnceLock::new() }
    }

    /// The precompressed form in `coding`, if there is one that may be used.
    pub fn sidecar(&self, coding: Coding) -> Option<&Representation> {
        let at = SIDECARS.iter().position(|&other| other == coding)?;
        self.sidecars[at].as_ref()
    }

    pub(super) fn representations(&self) -> impl Iterator<Item = &Representation> {
        self.identity.iter().chain(self.sidecars.iter().flatten())
    }

    /// Whether this is what was found before, so that `prepared` holds still.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let same = |one: &Option<Representation>, two: &Option<Representation>| match (one, two) {
            (Some(one), Some(two)) => one.is_same_as(two),
            (None, None) => true,
            _ => false,
        };
        self.name == other.name
            && same(&self.identity, &other.identity)
            && self.sidecars.iter().zip(&other.sidecars).all(|(one, two)| same(one, two))
    }
}

impl Representation {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.stamp.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.stamp.len == 0
    }

    /// Time of the last change; never before 1970.
    pub fn modified(&self) -> SystemTime {
        self.stamp.modified()
    }

    /// All bytes, where they are in memory.
    pub fn content(&self) -> Option<&Bytes> {
        match &self.data {
            Data::Memory(content) => Some(content),
            Data::Disk(_) => None,
        }
    }

    fn is_same_as(&self, other: &Self) -> bool {
        self.stamp == other.stamp
            && self.racy == other.racy
            && match (&self.data, &other.data) {
                (Data::Memory(one), Data::Memory(two)) => one.as_ptr() == two.as_ptr(),
                (Data::Disk(_), Data::Disk(_)) => true,
                _ => false,
            }
    }
}

impl<P> Clone for Found<P> {
    fn clone(&self) -> Self {
        match self {
            Self::File(resource) => Self::File(Arc::clone(resource)),
            Self::Redirect(location) => Self::Redirect(location.clone()),
            Self::Listing(html) => Self::Listing(html.clone()),
        }
    }
}
