//! The root directory of a site, and opening what is beneath it.
//!
//! Beneath means: neither a `..` nor a symbolic link leads out, whatever changes on the disk meanwhile. Linux
//! 5.6 and later does it in one call (`openat2` with `RESOLVE_BENEATH`). Where that call is missing or
//! filtered (old kernels, seccomp profiles, user-mode emulation) the path is walked name by name; see
//! [`stepwise`](super::stepwise). Both give the same answers: links within the root work, absolute links are
//! refused even where they point back into it.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::error::{LookupError, Refusal, RootError};
use super::stepwise;

/// Files are opened to be read; opening a FIFO must not wait for a writer, nor a terminal become ours.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How often `openat2` is called anew because something was renamed while it resolved a `..`.
const RACE_RETRIES: usize = 16;

/// An open directory that files are served from.
#[derive(Debug)]
pub(super) struct Root {
    directory: OwnedFd,
    resolve: Resolve,
}

/// How names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolve {
    /// Beneath the root, by the kernel.
    Beneath,
    /// Beneath the root, name by name.
    Stepwise,
    /// Wherever symbolic links lead.
    Anywhere,
}

/// What a name turned out to be.
#[derive(Debug)]
pub(super) enum Opened {
    /// A regular file.
    File(OwnedFd, Stat),
    /// A directory.
    Directory(OwnedFd),
}

impl Root {
    /// Opens `path` and finds out how to resolve names beneath it.
    pub(super) fn open(path: &Path, follow_symlinks_out: bool) -> Result<Self, RootError> {
        if follow_symlinks_out {
            return Self::open_with(path, Resolve::Anywhere);
        }
        let root = Self::open_with(path, Resolve::Beneath)?;
        match openat2(&root.directory, Path::new(".")) {
            Err(Errno::NOSYS | Errno::PERM) => Self::open_with(path, Resolve::Stepwise),
            _ => Ok(root),
        }
    }

    /// Opens `path`; names beneath it are resolved as `resolve` says, whether or not the kernel can.
    pub(super) fn open_with(path: &Path, resolve: Resolve) -> Result<Self, RootError> {
        let open = || {
            let directory = fs::openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty())?;
            // Fails where the directory can be read but not entered.
            fs::statat(&directory, ".", fs::AtFlags::empty())?;
            Ok(directory)
        };
        let directory = open().map_err(|errno| RootError::new(path, errno))?;
        Ok(Self { directory, resolve })
    }

    /// Whether `path` leads to this very directory still; also where that cannot be found out.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let (Ok(here), Ok(there)) = (fs::fstat(&self.directory), fs::stat(path)) else { return true };
        (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    }

    /// Opens what `name`, relative to the root, names; an empty name is the root itself.
    pub(super) fn open_name(&self, name: &Path) -> Result<Opened, LookupError> {
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        let descriptor = match self.resolve {
            Resolve::Beneath => openat2(&self.directory, name)?,
            Resolve::Stepwise => stepwise::open(&self.directory, name)?,
            Resolve::Anywhere => fs::openat(&self.directory, name, READ, Mode::empty())?,
        };
        let stat = fs::fstat(&descriptor)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Opened::File(descriptor, stat)),
            FileType::Directory => Ok(Opened::Directory(descriptor)),
            _ => Err(LookupError::Forbidden(Refusal::NotRegular)),
        }
    }
}

fn openat2(root: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..RACE_RETRIES {
        result = fs::openat2(root, name, READ, Mode::empty(), resolve);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use super::super::error::RootErrorKind;
    use super::super::testing::as_nobody;
    use super::*;

    const BOTH: [Resolve; 2] = [Resolve::Beneath, Resolve::Stepwise];

    /// `www/` with files, folders and links; `www-secret/` and `secret` beside it.
    fn site() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let www = folder.path().join("www");
        fs::create_dir_all(www.join("a/b")).unwrap();
        fs::create_dir(folder.path().join("www-secret")).unwrap();
        fs::write(folder.path().join("www-secret/key"), "secret").unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(www.join("top"), "top").unwrap();
        fs::write(www.join("a/b/deep"), "deep").unwrap();
        (folder, www)
    }

    fn read(root: &Root, name: &str) -> Result<String, LookupError> {
        match root.open_name(Path::new(name))? {
            Opened::File(descriptor, _) => {
                let mut text = String::new();
                fs::File::from(descriptor).read_to_string(&mut text).unwrap();
                Ok(text)
            }
            Opened::Directory(_) => Ok("directory".into()),
        }
    }

    #[test]
    fn files_and_directories_beneath_are_opened() {
        let (_folder, www) = site();
        for resolve in BOTH {
            let root = Root::open_with(&www, resolve).unwrap();
            for (name, content) in
                [("top", "top"), ("a/b/deep", "deep"), ("a/b", "directory"), ("", "directory")]
            {
                assert_eq!(read(&root, name).as_deref(), Ok(content), "{resolve:?} {name}");
            }
            for name in ["absent", "absent/x", "top/x", "a/b/deep/x", "a/b/absent"] {
                assert_eq!(read(&root, name), Err(LookupError::Missing), "{resolve:?} {name}");
            }
        }
    }

    #[test]
    fn links_within_the_root_work_and_those_out_of_it_do_not() {
        let (folder, www) = site();
        let links = [
            ("to-file", "top", Ok("top")),
            ("to-folder", "a/b", Ok("directory")),
            ("with-slash", "a/", Ok("directory")),
            ("a/up", "../top", Ok("top")),
            ("a/b/up-and-down", "../../a/./b//deep", Ok("deep")),
            // The parent of what `to-folder` leads to is `a`, not the root.
            ("through-link", "to-folder/../b/deep", Ok("deep")),
            ("through-slash", "with-slash/../top", Ok("top")),
            ("chain", "to-file", Ok("top")),
            ("file-with-slash", "top/", Err(LookupError::Missing)),
            ("dangling", "absent", Err(LookupError::Missing)),
            ("out", "../secret", Err(LookupError::Forbidden(Refusal::Link))),
            ("out-and-back", "../www/top", Err(LookupError::Forbidden(Refusal::Link))),
            ("sibling", "../www-secret", Err(LookupError::Forbidden(Refusal::Link))),
            ("a/b/out", "../../../secret", Err(LookupError::Forbidden(Refusal::Link))),
            ("loop", "loop", Err(LookupError::Forbidden(Refusal::Link))),
            ("loop1", "loop2", Err(LookupError::Forbidden(Refusal::Link))),
            ("loop2", "loop1", Err(LookupError::Forbidden(Refusal::Link))),
            ("passwd", "/etc/passwd", Err(LookupError::Forbidden(Refusal::Link))),
        ];
        for (name, target, _) in links {
            symlink(target, www.join(name)).unwrap();
        }
        symlink(www.join("top"), www.join("absolute")).unwrap();
        for resolve in BOTH {
            let root = Root::open_with(&www, resolve).unwrap();
            for (name, _, answer) in links {
                assert_eq!(
                    read(&root, name).as_deref().map_err(|error| *error),
                    answer,
                    "{resolve:?} {name}"
                );
            }
            assert_eq!(read(&root, "to-folder/deep").as_deref(), Ok("deep"), "{resolve:?}");
            for name in ["absolute", "sibling/key", "passwd/x", "../secret", "a/../../secret", "/etc/passwd"]
            {
                assert_eq!(
                    read(&root, name),
                    Err(LookupError::Forbidden(Refusal::Link)),
                    "{resolve:?} {name}"
                );
            }
        }
        let anywhere = Root::open(&www, true).unwrap();
        assert_eq!(read(&anywhere, "out").as_deref(), Ok("secret"));
        assert_eq!(read(&anywhere, "absolute").as_deref(), Ok("top"));
        drop(folder);
    }

    #[test]
    fn special_files_are_refused_at_once() {
        let (_folder, www) = site();
        let directory = fs::File::open(&www).unwrap();
        rustix::fs::mkfifoat(&directory, "fifo", Mode::RUSR).unwrap();
        let _socket = UnixListener::bind(www.join("socket")).unwrap();
        for resolve in BOTH {
            let root = Root::open_with(&www, resolve).unwrap();
            for name in ["fifo", "socket"] {
                assert_eq!(
                    read(&root, name),
                    Err(LookupError::Forbidden(Refusal::NotRegular)),
                    "{resolve:?} {name}"
                );
            }
        }
        let devices = Root::open(Path::new("/dev"), false).unwrap();
        assert_eq!(read(&devices, "null"), Err(LookupError::Forbidden(Refusal::NotRegular)));
    }

    #[test]
    fn what_may_not_be_read_is_forbidden() {
        let (folder, www) = site();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        fs::set_permissions(www.join("top"), PermissionsExt::from_mode(0o000)).unwrap();
        fs::set_permissions(www.join("a"), PermissionsExt::from_mode(0o600)).unwrap();
        as_nobody(|| {
            for resolve in BOTH {
                let root = Root::open_with(&www, resolve).unwrap();
                for name in ["top", "a/b/deep"] {
                    assert_eq!(
                        read(&root, name),
                        Err(LookupError::Forbidden(Refusal::Permission)),
                        "{resolve:?} {name}"
                    );
                }
            }
        });
        fs::set_permissions(&www, PermissionsExt::from_mode(0o644)).unwrap();
        as_nobody(|| {
            assert!(matches!(Root::open(&www, false).unwrap_err().kind(), RootErrorKind::NotReadable));
        });
        fs::set_permissions(&www, PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn three_hundred_levels_are_reached() {
        let (_folder, www) = site();
        let deep = "d/".repeat(300);
        fs::create_dir_all(www.join(&deep)).unwrap();
        fs::write(www.join(&deep).join("file"), "bottom").unwrap();
        for resolve in BOTH {
            let root = Root::open_with(&www, resolve).unwrap();
            assert_eq!(read(&root, &format!("{deep}file")).as_deref(), Ok("bottom"), "{resolve:?}");
            assert_eq!(read(&root, &"n".repeat(256)), Err(LookupError::Missing), "{resolve:?}");
        }
    }

    #[test]
    fn a_root_that_cannot_be_served_says_why() {
        let (_folder, www) = site();
        let missing = Root::open(&www.join("absent"), false).unwrap_err();
        assert!(matches!(missing.kind(), RootErrorKind::Missing));
        assert!(missing.to_string().ends_with("/www/absent: there is no such directory"), "{missing}");
        let file = Root::open(&www.join("top"), false).unwrap_err();
        assert!(matches!(file.kind(), RootErrorKind::NotADirectory));
    }
}
