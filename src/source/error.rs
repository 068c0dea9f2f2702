//! Why a path gives no resource, and why a root cannot be served.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use http::StatusCode;
use rustix::io::Errno;

use super::path::PathError;

/// Why a look-up found nothing to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// The path itself is at fault.
    Path(PathError),
    /// Nothing has that name.
    Missing,
    /// Something has that name but is not served.
    Forbidden(Refusal),
    /// No descriptor is left, in the process or in the system.
    Exhausted,
    /// The operating system failed; holds its error number.
    Os(i32),
}

/// Why something that exists is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file or a directory on the way to it may not be read.
    Permission,
    /// A symbolic link leads out of the root, or to itself.
    Link,
    /// Neither a file nor a directory: a FIFO, a socket, a device.
    NotRegular,
    /// A directory without an index file, and listings are off.
    NoIndex,
}

impl LookupError {
    /// The status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Path(error) => error.status(),
            Self::Missing => StatusCode::NOT_FOUND,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Exhausted => StatusCode::SERVICE_UNAVAILABLE,
            Self::Os(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Whether the fallback file may answer instead.
    pub(super) fn names_nothing(self) -> bool {
        matches!(self, Self::Missing | Self::Forbidden(Refusal::NoIndex))
    }

    /// Whether the answer would be the same a moment later.
    pub(super) fn is_lasting(self) -> bool {
        matches!(self, Self::Missing | Self::Forbidden(_))
    }
}

impl From<PathError> for LookupError {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl From<Errno> for LookupError {
    fn from(errno: Errno) -> Self {
        match errno {
            // The last two: file systems that do not take every byte in a name.
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ => Self::Missing,
            Errno::ACCESS | Errno::PERM => Self::Forbidden(Refusal::Permission),
            Errno::XDEV | Errno::LOOP => Self::Forbidden(Refusal::Link),
            // A socket, or a device that has no driver.
            Errno::NXIO | Errno::NODEV => Self::Forbidden(Refusal::NotRegular),
            Errno::MFILE | Errno::NFILE => Self::Exhausted,
            other => Self::Os(other.raw_os_error()),
        }
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => error.fmt(f),
            Self::Missing => f.write_str("no such file"),
            Self::Forbidden(Refusal::Permission) => f.write_str("permission denied"),
            Self::Forbidden(Refusal::Link) => {
                f.write_str("a symbolic link leads out of the root or to itself")
            }
            Self::Forbidden(Refusal::NotRegular) => f.write_str("neither a file nor a directory"),
            Self::Forbidden(Refusal::NoIndex) => f.write_str("a directory without an index file"),
            Self::Exhausted => f.write_str("too many open files"),
            Self::Os(number) => io::Error::from_raw_os_error(*number).fmt(f),
        }
    }
}

impl std::error::Error for LookupError {}

/// Why a folder cannot be the root of a site; its `Display` is a sentence for the person at the command line.
#[derive(Debug)]
pub struct RootError {
    root: PathBuf,
    kind: RootErrorKind,
}

/// What is wrong with the folder.
#[derive(Debug)]
#[non_exhaustive]
pub enum RootErrorKind {
    /// It does not exist.
    Missing,
    /// It is something else than a directory.
    NotADirectory,
    /// It may not be read or entered.
    NotReadable,
    /// Anything else.
    Other(io::Error),
}

impl RootError {
    pub(super) fn new(root: &Path, errno: Errno) -> Self {
        let kind = match errno {
            Errno::NOENT => RootErrorKind::Missing,
            Errno::NOTDIR => RootErrorKind::NotADirectory,
            Errno::ACCESS | Errno::PERM => RootErrorKind::NotReadable,
            other => RootErrorKind::Other(other.into()),
        };
        Self { root: root.to_owned(), kind }
    }

    /// What is wrong.
    pub fn kind(&self) -> &RootErrorKind {
        &self.kind
    }
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot serve {}: ", self.root.display())?;
        match &self.kind {
            RootErrorKind::Missing => f.write_str("there is no such directory"),
            RootErrorKind::NotADirectory => f.write_str("it is not a directory"),
            RootErrorKind::NotReadable => f.write_str("permission to read it is denied"),
            RootErrorKind::Other(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RootError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            RootErrorKind::Other(error) => Some(error),
            _ => None,
        }
    }
}
