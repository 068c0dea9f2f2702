//! How hard an encoder tries, and whose it is.

use super::{Coding, Levels};
use crate::config::CodingSettings;

/// The codec that makes gzip and deflate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// [`laneflate_simd`].
    #[default]
    Laneflate,
    /// zlib-rs, by way of flate2.
    ZlibRs,
}

/// The level of a coding and the codec that goes by it. Bodies coded with the same effort are the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effort {
    /// The level, on the scale of the coding and engine.
    pub level: i32,
    /// The codec of gzip and deflate; the default for the other codings, which have one each.
    pub engine: Engine,
}

impl Engine {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Laneflate => "laneflate",
            Self::ZlibRs => "zlib-rs",
        }
    }

    /// The best and slowest level.
    pub const fn max_level(self) -> u8 {
        match self {
            Self::Laneflate => laneflate_simd::Level::BEST.number(),
            Self::ZlibRs => 9,
        }
    }
}

impl Effort {
    /// What the settings ask of `coding`. A level out of range counts as the nearest inside.
    pub fn of(settings: &CodingSettings, coding: Coding) -> Self {
        let level = Levels::from(settings).level(coding);
        match coding {
            Coding::Gzip | Coding::Deflate => {
                let engine = settings.gzip_engine;
                Self { level: level.min(i32::from(engine.max_level())), engine }
            }
            Coding::Brotli | Coding::Zstd => Self::from(level),
        }
    }
}

impl From<i32> for Effort {
    /// This level of the default engine.
    fn from(level: i32) -> Self {
        Self { level, engine: Engine::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gzip_and_deflate_have_a_choice() {
        let settings =
            CodingSettings { gzip_engine: Engine::ZlibRs, gzip_level: 12, ..CodingSettings::default() };
        for coding in [Coding::Gzip, Coding::Deflate] {
            assert_eq!(Effort::of(&settings, coding), Effort { level: 9, engine: Engine::ZlibRs });
        }
        assert_eq!(Effort::of(&settings, Coding::Brotli), Effort::from(i32::from(settings.brotli_quality)));
        assert_eq!(Effort::of(&settings, Coding::Zstd), Effort::from(settings.zstd_level));
    }
}
