//! The bodies that benchmarks code.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The bodies of 9 KB that come with this package.
pub fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/9k")
}

/// All files in `folder` and the folders in it, by order of their paths.
///
/// # Errors
///
/// What the file system says, and [`io::ErrorKind::NotFound`] if there is no file that holds anything.
pub fn read(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    let mut bodies = paths.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?;
    bodies.retain(|body| !body.is_empty());
    if bodies.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no file that holds anything"));
    }
    Ok(bodies)
}
