//! What fuzz targets see of a path, which is private otherwise.

use std::path::PathBuf;

use super::path::{PathError, SafePath};

/// A path of a request that may be looked up.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Relative to the root; empty for the root itself.
    pub name: PathBuf,
    /// Whether it can only name a directory.
    pub directory: bool,
    /// Its one spelling.
    pub uri: String,
}

/// Decodes and normalises the path of a URI.
///
/// # Errors
///
/// Why it is not looked up.
pub fn safe_path(uri_path: &str, dotfiles: bool) -> Result<Named, PathError> {
    let path = SafePath::parse(uri_path, dotfiles)?;
    Ok(Named { name: path.name().to_owned(), directory: path.is_directory(), uri: path.to_uri() })
}
