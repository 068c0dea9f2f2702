//! Opening beneath a directory without `openat2`.
//!
//! The path is walked from the root, one `openat` with `O_NOFOLLOW` for each name, so no step leaves the
//! directory it starts from. A name that is a symbolic link is replaced by the link's text in the list of
//! names, and a `..` strikes out itself and the name before it, which the walk has just found to be a real
//! directory; then the walk starts anew at the root. Each restart pays the whole walk again, but two
//! descriptors are enough for any depth, and a directory that is moved away meanwhile is never followed out
//! of the root, as climbing by `openat("..")` would.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;

use super::root::READ;

/// Symbolic links followed in one path; Linux has the same number (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// A directory on the way: only its names are of interest, so it need not be readable.
const PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens `path` for reading, never leaving `root`; what would is [`Errno::XDEV`], as with `openat2`.
pub(super) fn open(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut names = split(path.as_os_str().as_bytes())?;
    let mut links = 0;
    loop {
        match walk(root, &names)? {
            Walk::Opened(descriptor) => return Ok(descriptor),
            Walk::Parent(at) => {
                let previous = at.checked_sub(1).ok_or(Errno::XDEV)?;
                names.drain(previous..=at);
            }
            Walk::Link(at, target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let mut target = split(target.as_bytes())?;
                if at + 1 < names.len() {
                    // More names follow, so it must be a directory anyway.
                    target.pop_if(|name| name == ".");
                }
                names.splice(at..=at, target);
            }
        }
    }
}

/// How far a walk got.
enum Walk {
    Opened(OwnedFd),
    /// The name at this place is `..`, those before it are real directories.
    Parent(usize),
    /// The name at this place is a symbolic link with this text, those before it are real directories.
    Link(usize, OsString),
}

fn walk(root: &OwnedFd, names: &[OsString]) -> Result<Walk, Errno> {
    let mut passed: Option<OwnedFd> = None;
    for (at, name) in names.iter().enumerate() {
        if name == ".." {
            return Ok(Walk::Parent(at));
        }
        let here = passed.as_ref().unwrap_or(root).as_fd();
        let is_last = at + 1 == names.len();
        let flags = if is_last { READ | OFlags::NOFOLLOW } else { PASS };
        match fs::openat(here, name, flags, Mode::empty()) {
            Ok(descriptor) if is_last => return Ok(Walk::Opened(descriptor)),
            Ok(descriptor) => passed = Some(descriptor),
            // With O_DIRECTORY a link is ENOTDIR, as anything else is that is no directory.
            Err(errno @ (Errno::LOOP | Errno::NOTDIR)) => {
                let target = read_link(here, name).ok_or(errno)?;
                return Ok(Walk::Link(at, target));
            }
            Err(errno) => return Err(errno),
        }
    }
    // Every name has been struck out by a `..`: the root itself.
    fs::openat(root, ".", READ, Mode::empty()).map(Walk::Opened)
}

fn read_link(here: BorrowedFd<'_>, name: &OsString) -> Option<OsString> {
    let target = fs::readlinkat(here, name, Vec::new()).ok()?;
    Some(OsString::from_vec(target.into_bytes()))
}

/// The names of a relative path. A final slash leaves a final `.`, so that what comes before must be a
/// directory.
fn split(path: &[u8]) -> Result<Vec<OsString>, Errno> {
    if path.starts_with(b"/") {
        return Err(Errno::XDEV);
    }
    let mut names: Vec<OsString> = path
        .split(|&byte| byte == b'/')
        .filter(|name| !matches!(*name, b"" | b"."))
        .map(|name| OsString::from_vec(name.to_vec()))
        .collect();
    if path.ends_with(b"/") || path.ends_with(b"/.") {
        names.push(".".into());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::super::error::LookupError;
    use super::super::root::{Opened, Resolve, Root};

    /// Which file or directory a name leads to, or why to none.
    fn outcome(root: &Root, name: &str) -> Result<(bool, u64), LookupError> {
        match root.open_name(name.as_ref())? {
            Opened::File(_, stat) => Ok((true, stat.st_ino)),
            Opened::Directory(descriptor) => Ok((false, rustix::fs::fstat(descriptor)?.st_ino)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// The kernel is the specification.
        #[test]
        fn any_web_of_links_is_resolved_as_openat2_does(
            links in prop::collection::vec(("(d/)?[lmn]", "/?((d|[lmn]|[.]|[.][.])/{1,2}){0,4}[df]?"), 1..8),
            names in prop::collection::vec("((d|[lmn]|[.][.])/){0,3}[dflmn]", 1..8),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let www = folder.path().join("www");
            fs::create_dir_all(www.join("d")).unwrap();
            for file in ["f", "d/f"] {
                fs::write(www.join(file), "").unwrap();
            }
            for (link, target) in &links {
                // A name that is taken, or a target that is empty, makes no link.
                _ = symlink(target, www.join(link));
            }
            let [kernel, walk] = [Resolve::Beneath, Resolve::Stepwise].map(|how| Root::open_with(&www, how).unwrap());
            for name in names.iter().chain(links.iter().map(|(link, _)| link)) {
                prop_assert_eq!(outcome(&kernel, name), outcome(&walk, name), "{} among {:?}", name, links);
            }
        }
    }
}
