//! The root of a site whose path may lead elsewhere tomorrow: `current -> releases/42` is how many sites are
//! deployed.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thread_local::ThreadLocal;

use super::error::RootError;
use super::root::Root;

/// A root that is opened anew once its path leads to another directory.
#[derive(Debug)]
pub(super) struct LiveRoot {
    path: PathBuf,
    follow_symlinks_out: bool,
    validity: Duration,
    first: Arc<Root>,
    checked: ThreadLocal<RefCell<Checked>>,
}

/// What one thread knows.
#[derive(Debug)]
struct Checked {
    root: Arc<Root>,
    at: Instant,
}

impl LiveRoot {
    /// Opens `path`, which is looked at anew every `validity`.
    pub(super) fn open(
        path: PathBuf,
        follow_symlinks_out: bool,
        validity: Duration,
    ) -> Result<Self, RootError> {
        let first = Arc::new(Root::open(&path, follow_symlinks_out)?);
        Ok(Self { path, follow_symlinks_out, validity, first, checked: ThreadLocal::new() })
    }

    /// The directory that the path leads to. While it leads nowhere, the one it led to last.
    pub(super) fn current(&self, now: Instant) -> Arc<Root> {
        let start = || RefCell::new(Checked { root: Arc::clone(&self.first), at: now });
        let mut checked = self.checked.get_or(start).borrow_mut();
        if now.saturating_duration_since(checked.at) >= self.validity {
            checked.at = now;
            if !checked.root.is_at(&self.path)
                && let Ok(root) = Root::open(&self.path, self.follow_symlinks_out)
            {
                checked.root = Arc::new(root);
            }
        }
        Arc::clone(&checked.root)
    }
}
