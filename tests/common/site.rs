//! A root folder with known content.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// A temporary folder that holds the root of a site, `www`, and may hold things beside it.
///
/// Files get a modification time in 2020, so that their tags are strong: what changed within the last second is
/// only weakly known.
pub(crate) struct Site {
    folder: TempDir,
}

/// Modification time of every file, in seconds since the epoch: Wed, 01 Jan 2020 00:00:00 GMT.
const MODIFIED: u64 = 1_577_836_800;

impl Site {
    /// The modification time of every file as HTTP writes it.
    pub(crate) const LAST_MODIFIED: &str = "Wed, 01 Jan 2020 00:00:00 GMT";

    /// An empty root.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("www")).expect("the root");
        Self { folder }
    }

    /// Adds a file, making the folders above it.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    /// The root.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("www")
    }

    /// The folder that holds the root.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Path of a file beneath the root.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file in place.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders");
        fs::write(&path, content).expect("write");
        self.age(name, Duration::ZERO);
        path
    }

    /// Makes a file of `len` zero bytes that takes no room on the disk.
    pub(crate) fn sparse(&self, name: &str, len: u64) {
        let file = File::create(self.path(name)).expect("create");
        file.set_len(len).expect("set the length");
        self.age(name, Duration::ZERO);
    }

    /// Puts a new file in the place of an old one, as `mv` does.
    pub(crate) fn replace(&self, name: &str, content: impl AsRef<[u8]>) {
        let draft = self.path(".draft");
        fs::write(&draft, content).expect("write");
        fs::rename(draft, self.path(name)).expect("rename");
    }

    /// Sets a file's modification time to `later` after every other's.
    pub(crate) fn age(&self, name: &str, later: Duration) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED) + later;
        let file = File::options().write(true).open(self.path(name)).expect("open");
        file.set_modified(time).expect("set the time");
    }

    /// Sets a file's modification time to the present.
    pub(crate) fn touch(&self, name: &str) {
        let file = File::options().write(true).open(self.path(name)).expect("open");
        file.set_modified(SystemTime::now()).expect("set the time");
    }
}

/// `len` bytes of prose that compresses as prose does.
pub(crate) fn text(len: usize) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "the", "server", "sends", "each", "page", "in", "a", "coding", "that", "its", "client", "accepts",
        "or", "plain", "bytes", "instead",
    ];
    let mut out = Vec::with_capacity(len + 16);
    let mut state = Xorshift(7);
    while out.len() < len {
        out.extend_from_slice(WORDS[(state.next() % 16) as usize].as_bytes());
        out.push(if state.next().is_multiple_of(12) { b'\n' } else { b' ' });
    }
    out.truncate(len);
    out
}

/// `len` bytes that nothing compresses, each position different from its neighbours.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = Xorshift(99);
    let mut out: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| state.next().to_le_bytes()).collect();
    out.truncate(len);
    out
}

/// Marsaglia's xorshift64.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
