//! Configuration: validated, immutable [`Settings`], the only home of defaults.

mod settings;
mod units;

pub use settings::*;
pub use units::{parse_size, parse_time};
