//! headers.
