//! Where bytes come from: paths to files beneath the root, remembered by each worker.
//!
//! ```text
//!  /a/%62.html -> cache ─hit──────────────────────────────────────────> Found
//!                   └─miss─ path ─ root (openat2) ─ file ─ sidecars ──> Found, remembered
//! ```

mod cache;
mod coded_head;
mod error;
mod file;
mod files;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod listing;
mod live_root;
mod path;
mod resource;
mod root;
mod sidecar;
mod stepwise;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use error::{LookupError, Refusal, RootError, RootErrorKind};
pub use file::{CHUNK, FileBody, Stamp};
pub use files::{Files, uri_path};
pub use path::PathError;
pub use resource::{Data, Found, Representation, Resource};
