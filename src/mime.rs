//! mime.
