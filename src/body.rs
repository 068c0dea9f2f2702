//! body.
