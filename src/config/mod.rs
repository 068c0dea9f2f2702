//! Configuration: validated, immutable [`Settings`], the only home of defaults.

mod settings;

pub use settings::*;
