//! The fuzzer's bytes as choices.

use laneflate_simd::{Format, Level};

/// Longest bodies that are built. The last is two windows and more, so that the encoder slides and the decoder wraps; most
/// are short, so that there are many.
const LONGEST: [usize; 4] = [1 << 9, 1 << 11, 1 << 13, 3 << 15];

/// Reads the fuzzer's bytes as choices, from the first on. Where they end, every choice is 0.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// That many bytes, or what is left.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }

    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::from(self.byte()) % items.len()]
    }

    pub fn level(&mut self) -> Level {
        Level::new(self.byte() % 13).expect("in range")
    }

    pub fn format(&mut self) -> Format {
        self.one_of(&[Format::Raw, Format::Zlib, Format::Gzip])
    }

    /// From 0 to 480 KiB; half of the choices are below 2 KiB.
    pub fn size(&mut self) -> usize {
        size(self.byte())
    }

    /// Sizes for [`Sizes`]: one byte says how many.
    pub fn sizes(&mut self) -> Sizes<'a> {
        let count = 1 + usize::from(self.byte() % 16);
        Sizes::new(self.bytes(count))
    }

    /// Builds a body from all bytes that are left: literals, copies of what came before, runs and noise.
    pub fn body(&mut self) -> Vec<u8> {
        let longest = self.one_of(&LONGEST);
        let mut body = Vec::new();
        while !self.0.is_empty() && body.len() < longest {
            let room = longest - body.len();
            match self.byte() % 4 {
                0 => {
                    let count = usize::from(self.byte());
                    body.extend_from_slice(self.bytes(count));
                }
                1 => {
                    let distance = 1 + self.size();
                    for _ in 0..self.size().min(room) {
                        let at = body.len().checked_sub(distance).unwrap_or(body.len() / 2);
                        body.push(body.get(at).copied().unwrap_or(b'-'));
                    }
                }
                2 => {
                    let (byte, count) = (self.byte(), self.size().min(room));
                    body.extend(std::iter::repeat_n(byte, count));
                }
                _ => {
                    let mut state = u32::from(self.byte()) + 1;
                    let symbols = u32::from(self.byte()) + 1;
                    body.extend((0..self.size().min(room)).map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        ((state >> 16) % symbols) as u8
                    }));
                }
            }
        }
        body
    }
}

/// Sizes of pieces, over and over. At most each third is 0, so that a stream gets on that takes input and output in turn.
pub struct Sizes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Sizes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next size.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> usize {
        let byte = self.bytes.get(self.at % self.bytes.len().max(1)).copied().unwrap_or(0);
        self.at += 1;
        size(byte).max(usize::from(self.at % 3 != 0))
    }
}

fn size(byte: u8) -> usize {
    usize::from(byte % 16) << (byte / 16)
}
