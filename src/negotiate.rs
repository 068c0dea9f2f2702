//! negotiate.
