//! range.
