//! Each step of each instruction set against its spec.

use super::*;
use crate::deflate::cost::NEVER;
use crate::deflate::histogram::Histogram;
use crate::deflate::search::{MAX_KEYS, PROBED, READ, STRIP};
use crate::format::{MAX_MATCH, MIN_MATCH, WINDOW};

macro_rules! suite {
    ($name:ident, $isa:ty, $available:expr) => {
        mod $name {
            fn available() -> bool {
                if !$available {
                    println!("skipped: {}, which this CPU lacks", stringify!($name));
                }
                $available
            }

            #[test]
            fn hashes() {
                if available() {
                    super::hashes::<$isa, 1>(4);
                    super::hashes::<$isa, 2>(7);
                    super::hashes::<$isa, 3>(12);
                }
            }

            #[test]
            fn probes() {
                if available() {
                    super::probes::<$isa>();
                }
            }

            #[test]
            fn equal_bytes() {
                if available() {
                    super::equal_bytes::<$isa>();
                }
            }

            #[test]
            fn prices() {
                if available() {
                    super::prices::<$isa>();
                }
            }

            #[test]
            fn symbols() {
                if available() {
                    super::symbols::<$isa>();
                }
            }
        }
    };
}

suite!(scalar, crate::isa::Scalar, true);
#[cfg(target_arch = "x86_64")]
suite!(avx2, crate::isa::avx2::Avx2, crate::isa::avx2::available());
#[cfg(target_arch = "x86_64")]
suite!(avx512, crate::isa::avx512::Avx512, crate::isa::avx512::available());
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
suite!(neon, crate::isa::neon::Neon, crate::isa::neon::available());
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
suite!(sve, crate::isa::sve::Sve, crate::isa::sve::available());

/// Numbers below a limit, the same ones in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Bytes of which some are repeated.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let count = self.below(40).min(len - bytes.len());
            if bytes.len() > 1 && self.below(3) > 0 {
                let distance = 1 + self.below(bytes.len().min(300) - 1);
                for _ in 0..count {
                    bytes.push(bytes[bytes.len() - distance]);
                }
            } else {
                bytes.extend((0..count).map(|_| self.below(4) as u8));
            }
        }
        bytes
    }

    /// Literals, or none instead, and matches of `least` to `most` bytes.
    fn tokens(&mut self, least: usize, most: usize, literals: bool) -> [Token; RUN] {
        std::array::from_fn(|_| match self.below(3) {
            0 if literals => Token::literal(self.below(256) as u8),
            0 => Token::NONE,
            _ => {
                let length = least + (self.below(most - least + 1) >> self.below(8));
                Token::matched(length, 1 + (self.below(WINDOW) >> self.below(15)))
            }
        })
    }
}

fn hashes<I: Isa, const WORDS: usize>(bytes: usize) {
    let mut random = Random(1);
    for bits in 8..=16 {
        let hash = Hash::new(bytes, bits);
        let data: Vec<u8> = (0..200).map(|_| random.below(256) as u8).collect();
        for at in 0..=data.len() - RUN - READ {
            let (mut expected, mut hashes) = ([0; RUN], [0; RUN]);
            // SAFETY: as many bytes follow `at`.
            unsafe {
                Scalar::hash_run::<WORDS>(&hash, &data, at, &mut expected);
                I::hash_run::<WORDS>(&hash, &data, at, &mut hashes);
            }
            assert_eq!(hashes, expected, "{bits} bits, at {at}");
        }
    }
}

fn probes<I: Isa>() {
    let mut random = Random(2);
    for round in 0..600 {
        // At the start of the data, and around a full window; the last run ends as early as it may.
        let at = if round % 2 == 0 { random.below(40) } else { WINDOW - 20 + random.below(40) };
        let data = random.bytes(at + RUN + READ);
        let bias = 1 + random.below(60_000);
        let mut all = vec![[0u16; STRIP]; 1 + random.below(MAX_KEYS)];
        let from = random.below(STRIP - RUN + 1);
        for key in &mut all {
            for (lane, link) in key[from..from + RUN].iter_mut().enumerate() {
                // Some are too far, or before the data, or anything.
                let distance = match random.below(4) {
                    0 => random.below(1 << 16),
                    1 => WINDOW - 1 + random.below(3),
                    2 => 1 + random.below(at + 20),
                    _ => 1 + random.below(300),
                };
                // No link is to the position itself.
                *link = (at + lane + bias).wrapping_sub(distance.max(1)) as u16;
            }
        }
        let links = Links::new(&all, from);
        for least in [MIN_MATCH, MIN_MATCH + 1, PROBED] {
            let (mut expected, mut run) = ([Token::NONE; RUN], [Token::NONE; RUN]);
            // SAFETY: as many bytes follow `at`.
            let (deep, expected_deep) = unsafe {
                (
                    I::probe_run(&mut run, links, &data, at, bias, least),
                    Scalar::probe_run(&mut expected, links, &data, at, bias, least),
                )
            };
            assert_eq!((run, deep), (expected, expected_deep), "at {at}, {least}, {} keys", all.len());
        }
    }
}

fn equal_bytes<I: Isa>() {
    for len in 1..=150 {
        for distance in [1, 2, 7, 16, 31, 64, 100] {
            for differs in (0..=len).step_by(if len < 40 { 1 } else { 13 }) {
                // The data ends with what is compared, or some bytes later.
                for beyond in [0, 1, 40] {
                    let mut data: Vec<u8> =
                        (0..distance + len + beyond).map(|at| (at % distance) as u8).collect();
                    if let Some(byte) = data.get_mut(distance + differs) {
                        *byte ^= 0x80;
                    }
                    let equal = I::equal_bytes(&data, distance, distance, distance + len);
                    assert_eq!(equal, differs, "{len}, {distance}, {beyond}");
                    assert_eq!(Scalar::equal_bytes(&data, distance, distance, distance + len), equal);
                }
            }
        }
        let data = vec![0; len];
        assert_eq!(I::equal_bytes(&data, len, 1, len), 0);
    }
}

fn prices<I: Isa>() {
    let mut random = Random(3);
    let costs = Costs {
        literal: [0; 256],
        length: std::array::from_fn(|_| random.below(400) as u32),
        distance: std::array::from_fn(|_| random.below(600) as u32),
    };
    let empty = || Prices { near: [0; RUN], whole: [0; RUN], short: [0; RUN] };
    for _ in 0..5000 {
        let (near, far) =
            (random.tokens(MIN_MATCH, PROBED, false), random.tokens(MIN_MATCH + 1, MAX_MATCH, false));
        let (mut expected, mut prices) = (empty(), empty());
        Scalar::price_run(&near, &far, &costs, &mut expected);
        I::price_run(&near, &far, &costs, &mut prices);
        let any = |price: u32| price.min(NEVER);
        assert_eq!(prices.near.map(any), expected.near.map(any), "{near:?}");
        assert_eq!(prices.whole.map(any), expected.whole.map(any), "{far:?}");
        assert_eq!(prices.short.map(any), expected.short.map(any), "{far:?}");
    }
}

fn symbols<I: Isa>() {
    let mut random = Random(4);
    for _ in 0..1000 {
        let tokens: Vec<Token> = (0..20).flat_map(|_| random.tokens(MIN_MATCH, MAX_MATCH, true)).collect();
        let (mut expected, mut counted) = (Histogram::EMPTY, Histogram::EMPTY);
        expected.count::<Scalar>(&tokens);
        counted.count::<I>(&tokens);
        assert_eq!(counted.litlen, expected.litlen);
        assert_eq!(counted.distances(), expected.distances());
    }
}
