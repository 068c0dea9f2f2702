//! Levels in the words of flate2.

use crate::Level;

/// A level, with the constructors that flate2 has. Each adapter takes a [`Level`] as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression(Level);

impl Compression {
    /// The level `level`; those above 12 are 12.
    pub const fn new(level: u32) -> Self {
        let number = if level < 12 { level as u8 } else { 12 };
        match Level::new(number) {
            Some(level) => Self(level),
            None => Self(Level::BEST),
        }
    }

    /// Level 0.
    pub const fn none() -> Self {
        Self::new(0)
    }

    /// [`Level::FASTEST`].
    pub const fn fast() -> Self {
        Self(Level::FASTEST)
    }

    /// Level 9, as in flate2, whose scale ends there. [`Level::BEST`] is smaller, and takes much longer.
    pub const fn best() -> Self {
        Self::new(9)
    }

    /// The level as a number.
    pub const fn level(&self) -> u32 {
        self.0.number() as u32
    }
}

impl From<Compression> for Level {
    fn from(compression: Compression) -> Self {
        compression.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_level() {
        for number in [0, 1, 6, 9, 11, 12] {
            assert_eq!(Compression::new(number).level(), number);
        }
        assert_eq!(Compression::new(13).level(), 12);
        assert_eq!(Compression::new(u32::MAX).level(), 12);
        assert_eq!(Level::from(Compression::default()), Level::DEFAULT);
        assert_eq!((Compression::none().level(), Compression::fast().level()), (0, 1));
    }
}
