//! The bit reader.

/// Takes bits from input that may end anywhere.
///
/// Bits stay over from one piece of input to the next only if a symbol was cut in two, so that all belong to the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bits {
    /// The next bits, lowest first; those above `count` are 0, or what the input has there.
    pub(crate) buffer: u64,
    pub(crate) count: u32,
}

/// A piece of input and how far it is taken.
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) taken: usize,
}

/// There is not enough input.
pub(crate) struct Starved;

impl Bits {
    /// Takes bytes while they fit, or while there are some.
    pub(crate) fn refill(&mut self, input: &mut Input) {
        self.buffer &= (1 << self.count) - 1;
        if let Some(word) = input.bytes[input.taken..].first_chunk() {
            self.buffer |= u64::from_le_bytes(*word) << self.count;
            input.taken += (63 - self.count as usize) / 8;
            self.count |= 56;
            return;
        }
        while self.count <= 55 {
            let Some(&byte) = input.bytes.get(input.taken) else {
                return;
            };
            self.buffer |= u64::from(byte) << self.count;
            self.count += 8;
            input.taken += 1;
        }
    }

    /// The next `count` bits, at most 32, which are taken.
    pub(crate) fn take(&mut self, count: u32, input: &mut Input) -> Result<u32, Starved> {
        debug_assert!(count <= 32);
        if self.count < count {
            self.refill(input);
            if self.count < count {
                return Err(Starved);
            }
        }
        let value = self.buffer & ((1 << count) - 1);
        self.skip(count);
        Ok(value as u32)
    }

    #[inline(always)]
    pub(crate) fn skip(&mut self, count: u32) {
        debug_assert!(count <= self.count);
        self.buffer >>= count;
        self.count -= count;
    }

    /// Drops the rest of a byte.
    pub(crate) fn align(&mut self) {
        self.skip(self.count % 8);
    }

    /// Gives whole bytes back to the input that they came from.
    pub(crate) fn give_back(&mut self, input: &mut Input) {
        let bytes = (self.count as usize / 8).min(input.taken);
        input.taken -= bytes;
        self.count -= 8 * bytes as u32;
        self.buffer &= (1 << self.count) - 1;
    }
}
