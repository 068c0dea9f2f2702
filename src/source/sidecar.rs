//! Precompressed files beside an original: `page.html.zst`, `page.html.br`, `page.html.gz`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::coded_head;
use super::file::Stamp;
use super::resource::Representation;
use crate::config::{CodingSettings, Sidecars};
use crate::encode::Coding;

/// Sidecars whose refusal is remembered as logged; beyond it some are logged again.
const LOGGED_MAX: usize = 1024;

/// Decides about sidecars, and logs each refusal once.
#[derive(Debug)]
pub(super) struct SidecarRules {
    sidecars: Sidecars,
    offered: Vec<Coding>,
    logged: Mutex<HashSet<PathBuf>>,
}

impl SidecarRules {
    pub(super) fn new(coding: &CodingSettings) -> Self {
        Self { sidecars: coding.sidecars, offered: coding.offered.clone(), logged: Mutex::default() }
    }

    /// The name of the sidecar of `original` in `coding`, if one is to be looked for.
    pub(super) fn name(&self, original: &Path, coding: Coding) -> Option<PathBuf> {
        if self.sidecars == Sidecars::Off || !self.offered.contains(&coding) || is_coded(original) {
            return None;
        }
        let mut name = OsString::from(original);
        name.push(".");
        name.push(coding.extension()?);
        Some(name.into())
    }

    /// Whether the sidecar may stand for the original, whose stamp is `None` where there is none.
    pub(super) fn accept(
        &self,
        name: &Path,
        coding: Coding,
        sidecar: &Representation,
        original: Option<&Stamp>,
    ) -> bool {
        let is_stale = original.is_some_and(|original| sidecar.modified() < original.modified());
        if is_stale && self.sidecars == Sidecars::Fresh {
            self.log(name, &"it is older than its original");
            return false;
        }
        match coded_head::check(coding, &sidecar.data, sidecar.len()) {
            Ok(()) => true,
            Err(flaw) => {
                self.log(name, &flaw);
                false
            }
        }
    }

    fn log(&self, name: &Path, reason: &dyn fmt::Display) {
        if self.is_first(name) {
            tracing::warn!("the sidecar {} is not used: {reason}", name.display());
        }
    }

    fn is_first(&self, name: &Path) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.contains(name) {
            return false;
        }
        if logged.len() == LOGGED_MAX {
            logged.clear();
        }
        logged.insert(name.to_owned())
    }
}

/// Whether a name ends as sidecars do: `page.html.gz` has no sidecars itself.
fn is_coded(name: &Path) -> bool {
    let Some(extension) = name.extension() else { return false };
    Coding::ALL
        .iter()
        .filter_map(|coding| coding.extension())
        .any(|coded| extension.as_bytes() == coded.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(sidecars: Sidecars, offered: &[Coding]) -> SidecarRules {
        SidecarRules::new(&CodingSettings {
            sidecars,
            offered: offered.to_vec(),
            ..CodingSettings::default()
        })
    }

    #[test]
    fn names_are_formed_by_appending() {
        let rules = rules(Sidecars::Fresh, &Coding::ALL);
        let name = |original: &str, coding| rules.name(Path::new(original), coding);
        assert_eq!(name("a/page.html", Coding::Zstd), Some("a/page.html.zst".into()));
        assert_eq!(name("LICENSE", Coding::Brotli), Some("LICENSE.br".into()));
        assert_eq!(name("page.html", Coding::Gzip), Some("page.html.gz".into()));
        assert_eq!(name("page.html", Coding::Deflate), None);
        assert_eq!(name("x.tar.gz", Coding::Brotli), None);
    }

    #[test]
    fn nothing_is_looked_for_in_a_coding_that_is_not_offered_nor_where_all_is_off() {
        let page = Path::new("page.html");
        let gzip = rules(Sidecars::Fresh, &[Coding::Gzip]);
        assert!(gzip.name(page, Coding::Gzip).is_some());
        assert_eq!(gzip.name(page, Coding::Brotli), None);
        assert_eq!(rules(Sidecars::Off, &Coding::ALL).name(page, Coding::Gzip), None);
    }

    #[test]
    fn a_refusal_is_logged_once_in_bounded_memory() {
        let rules = rules(Sidecars::Fresh, &Coding::ALL);
        for number in 0..LOGGED_MAX {
            let name = PathBuf::from(number.to_string());
            assert!(rules.is_first(&name));
            assert!(!rules.is_first(&name));
        }
        assert!(rules.is_first(Path::new("one more")));
        assert_eq!(rules.logged.lock().unwrap().len(), 1);
    }
}
