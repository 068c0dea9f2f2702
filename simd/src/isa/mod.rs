//! Instruction sets: one [`Kernels`] for each, best first.

use crate::checksum;
use std::fmt;
use std::sync::OnceLock;

/// The hot loops, compiled for one instruction set.
///
/// Only [`Kernels::detect`], [`Kernels::by_name`] and [`Kernels::all`] hand out a reference, and only to what this CPU
/// can run: holding one is the proof.
pub struct Kernels {
    name: &'static str,
    available: fn() -> bool,
    crc32: fn(u32, &[u8]) -> u32,
    adler32: fn(u32, &[u8]) -> u32,
}

/// Best first; the last one runs everywhere.
static LIST: &[Kernels] = &[Kernels {
    name: "scalar",
    available: || true,
    crc32: checksum::crc32::scalar,
    adler32: checksum::adler32::scalar,
}];

impl Kernels {
    /// The best for this CPU, or what `LANEFLATE_ISA` names.
    ///
    /// # Panics
    ///
    /// If `LANEFLATE_ISA` names an instruction set that is unknown or that this CPU lacks.
    pub fn detect() -> &'static Self {
        static CHOICE: OnceLock<&'static Kernels> = OnceLock::new();
        CHOICE.get_or_init(|| match std::env::var("LANEFLATE_ISA") {
            Ok(name) => Self::by_name(&name).unwrap_or_else(|| {
                let names: Vec<_> = Self::all().map(Self::name).collect();
                panic!("LANEFLATE_ISA={name}: this CPU has {}", names.join(", "));
            }),
            Err(_) => Self::all().next().expect("scalar runs everywhere"),
        })
    }

    /// The one called `name`, if this CPU can run it.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all().find(|kernels| kernels.name == name)
    }

    /// All that this CPU can run, best first.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        LIST.iter().filter(|kernels| (kernels.available)())
    }

    /// The instruction set: `scalar`, `avx2`, `avx512`, `neon`, `sve`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn crc32(&self, seed: u32, data: &[u8]) -> u32 {
        (self.crc32)(seed, data)
    }

    pub(crate) fn adler32(&self, seed: u32, data: &[u8]) -> u32 {
        (self.adler32)(seed, data)
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernels").field(&self.name).finish()
    }
}
