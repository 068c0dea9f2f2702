//! The look-up, from the path of a request to what it names.
//!
//! 1. The path as it came is looked for in the cache: a hit ends here, having neither decoded nor allocated
//!    anything.
//! 2. Else it is decoded to a name beneath the root, and that is written in its one spelling.
//! 3. If that is another than came, it is looked for as well; only this spelling is ever remembered.
//! 4. Else the disk is asked. What is found unchanged there is the same `Arc` as before, with all that was
//!    prepared.

use std::fmt;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use http::HeaderValue;
use rustix::fs::{Stat, fstat};
use rustix::io::Errno;

use super::cache::Cache;
use super::error::{LookupError, Refusal, RootError};
use super::file::{Stamp, read_resident};
use super::listing;
use super::live_root::LiveRoot;
use super::path::{SafePath, encode};
use super::resource::{Data, Found, Representation, Resource, SIDECARS};
use super::root::{Opened, Root};
use super::sidecar::SidecarRules;
use crate::config::{CodingSettings, FileCache, Site};
use crate::encode::Coding;

/// The files of a site. One value is shared by all workers; each thread remembers for itself.
///
/// `P` is what the caller attaches to each [`Resource`].
pub struct Files<P: Send + Sync = ()> {
    root: LiveRoot,
    index: Vec<String>,
    listing: bool,
    dotfiles: bool,
    fallback: Option<String>,
    sidecars: SidecarRules,
    cache: Cache<P>,
}

impl<P: Send + Sync> Files<P> {
    /// Opens the root of `site`. The bounds of `cache` are divided among `workers` threads. Sidecars are looked for in the
    /// codings that `coding` offers.
    pub fn new(
        site: &Site,
        cache: &FileCache,
        coding: &CodingSettings,
        workers: usize,
    ) -> Result<Self, RootError> {
        Ok(Self {
            root: LiveRoot::open(site.root.clone(), site.follow_symlinks_out, cache.validity)?,
            index: site.index.clone(),
            listing: site.listing,
            dotfiles: site.dotfiles,
            fallback: site.fallback.as_deref().map(uri_path),
            sidecars: SidecarRules::new(coding),
            cache: Cache::new(cache, workers),
        })
    }

    /// What `uri_path` names, or the fallback file where it names nothing. `uri_path` is as `http::Uri::path`
    /// has it.
    ///
    /// A path that is not remembered costs system calls and at most [`FileCache::content_max_file`] bytes of
    /// reading. Of content that the page cache lacks, it waits for the first bytes of sidecars only, and for
    /// short files on file systems that cannot say whether a read would wait. `now` may be some milliseconds
    /// old.
    pub fn lookup(&self, uri_path: &str, now: Instant) -> Result<Found<P>, LookupError> {
        let error = match self.lookup_exact(uri_path, now) {
            Err(error) if error.names_nothing() => error,
            answer => return answer,
        };
        let fallback = self.fallback.as_deref().ok_or(error)?;
        match self.lookup_exact(fallback, now) {
            Ok(found @ Found::File(_)) => Ok(found),
            _ => Err(error),
        }
    }

    /// What `uri_path` names, without the fallback file; for error pages, whose paths [`uri_path`] makes.
    pub fn lookup_exact(&self, uri_path: &str, now: Instant) -> Result<Found<P>, LookupError> {
        match self.cache.fresh(uri_path, now) {
            Some(answer) => answer,
            None => self.lookup_parsed(uri_path, now),
        }
    }

    #[cold]
    fn lookup_parsed(&self, uri_path: &str, now: Instant) -> Result<Found<P>, LookupError> {
        let path = SafePath::parse(uri_path, self.dotfiles)?;
        let spelling = path.to_uri();
        if spelling != uri_path
            && let Some(answer) = self.cache.fresh(&spelling, now)
        {
            return answer;
        }
        let last = self.cache.last(&spelling);
        let disk = Disk { files: self, root: &self.root.current(now), opened: SystemTime::now() };
        let mut answer = disk.find(&path, last.as_ref());
        if matches!(answer, Err(LookupError::Exhausted)) {
            self.cache.release_descriptors();
            answer = disk.find(&path, last.as_ref());
        }
        match (answer, last) {
            // Better what was there a moment ago than an error.
            (Err(LookupError::Exhausted), Some(last)) => Ok(last),
            (answer, _) => {
                self.cache.insert(spelling, &answer, now);
                answer
            }
        }
    }
}

/// The path of a request for a file that is given relative to the root, as settings do.
pub fn uri_path(name: &str) -> String {
    format!("/{}", encode(name.trim_start_matches('/').as_bytes()))
}

/// One look at the disk.
struct Disk<'a, P: Send + Sync> {
    files: &'a Files<P>,
    root: &'a Root,
    /// When it began: whether a file is racy is judged by the earliest time at which it can have been opened.
    opened: SystemTime,
}

impl<P: Send + Sync> Disk<'_, P> {
    fn find(&self, path: &SafePath, last: Option<&Found<P>>) -> Result<Found<P>, LookupError> {
        let last = match last {
            Some(Found::File(resource)) => Some(resource),
            _ => None,
        };
        if path.is_directory() {
            return self.find_in_directory(path, last);
        }
        match self.find_file(path.name(), last)? {
            Some(resource) => Ok(Found::File(resource)),
            None => redirect(path),
        }
    }

    fn find_in_directory(
        &self,
        path: &SafePath,
        last: Option<&Arc<Resource<P>>>,
    ) -> Result<Found<P>, LookupError> {
        for index in &self.files.index {
            match self.find_file(&path.name().join(index), last) {
                Ok(Some(resource)) => return Ok(Found::File(resource)),
                Ok(None) | Err(LookupError::Missing) => {}
                Err(error) => return Err(error),
            }
        }
        match self.root.open_name(path.name())? {
            Opened::File(..) => Err(LookupError::Missing),
            Opened::Directory(directory) if self.files.listing => {
                listing::render(self.root, &directory, path, self.files.dotfiles).map(Found::Listing)
            }
            Opened::Directory(_) => Err(LookupError::Forbidden(Refusal::NoIndex)),
        }
    }

    /// The file of that name with its sidecars; `None` where it is a directory.
    fn find_file(
        &self,
        name: &Path,
        last: Option<&Arc<Resource<P>>>,
    ) -> Result<Option<Arc<Resource<P>>>, LookupError> {
        let last = last.filter(|last| last.name == name);
        let identity = match self.root.open_name(name) {
            Ok(Opened::File(descriptor, stat)) => {
                Some(self.load(descriptor, &stat, last.and_then(|last| last.identity.as_ref()))?)
            }
            Ok(Opened::Directory(_)) => return Ok(None),
            Err(LookupError::Missing) => None,
            Err(error) => return Err(error),
        };
        let mut sidecars = [None, None, None];
        for (slot, coding) in sidecars.iter_mut().zip(SIDECARS) {
            let original = identity.as_ref().map(|identity| &identity.stamp);
            *slot = self.find_sidecar(name, coding, original, last.and_then(|last| last.sidecar(coding)))?;
        }
        if identity.is_none() && sidecars.iter().all(Option::is_none) {
            return Err(LookupError::Missing);
        }
        let resource = Resource::new(name, identity, sidecars);
        match last {
            Some(last) if resource.is_same_as(last) => Ok(Some(Arc::clone(last))),
            _ => Ok(Some(Arc::new(resource))),
        }
    }

    /// A sidecar that cannot be opened is one that is not there, unless the descriptors have run out.
    fn find_sidecar(
        &self,
        name: &Path,
        coding: Coding,
        original: Option<&Stamp>,
        last: Option<&Representation>,
    ) -> Result<Option<Representation>, LookupError> {
        let Some(name) = self.files.sidecars.name(name, coding) else { return Ok(None) };
        match self.root.open_name(&name) {
            Ok(Opened::File(descriptor, stat)) => {
                let sidecar = self.load(descriptor, &stat, last)?;
                Ok(self.files.sidecars.accept(&name, coding, &sidecar, original).then_some(sidecar))
            }
            Err(LookupError::Exhausted) => Err(LookupError::Exhausted),
            Ok(Opened::Directory(_)) | Err(_) => Ok(None),
        }
    }

    /// Reads the content where it is to be kept. What has not changed since `last` is taken from there.
    fn load(
        &self,
        descriptor: OwnedFd,
        stat: &Stat,
        last: Option<&Representation>,
    ) -> Result<Representation, LookupError> {
        let stamp = Stamp::new(stat);
        let last = last.filter(|last| last.stamp == stamp && !last.racy);
        if let Some(last @ Representation { data: Data::Memory(_), .. }) = last {
            return Ok(last.clone());
        }
        let file = File::from(descriptor);
        if stamp.len <= self.files.cache.content_max_file()
            && let Some(content) = read_resident(&file, stamp.len as usize).map_err(from_io)?
        {
            // A change while it was read gives bytes that belong to neither stamp.
            let racy = stamp.is_racy(self.opened) || Stamp::new(&fstat(&file)?) != stamp;
            return Ok(Representation { stamp, racy, data: Data::Memory(content) });
        }
        Ok(last.cloned().unwrap_or_else(|| Representation {
            stamp,
            racy: stamp.is_racy(self.opened),
            data: Data::Disk(Arc::new(file)),
        }))
    }
}

/// A directory without its slash. The path has no empty segment, so what is sent never names a host.
fn redirect<P>(path: &SafePath) -> Result<Found<P>, LookupError> {
    let location = format!("{}/", path.to_uri());
    HeaderValue::try_from(location).map(Found::Redirect).map_err(|_| LookupError::Missing)
}

fn from_io(error: std::io::Error) -> LookupError {
    Errno::from_io_error(&error).map_or(LookupError::Os(0), LookupError::from)
}

impl<P: Send + Sync> fmt::Debug for Files<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("root", &self.root).finish_non_exhaustive()
    }
}
