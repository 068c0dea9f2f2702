//! conditional.
