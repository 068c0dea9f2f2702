//! The bit writer.

/// Appends bits to a vector, least significant first (RFC 1951, section 3.1.1).
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    bits: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Continues after the bits that [`BitWriter::suspend`] gave back.
    pub(crate) fn new(out: &'a mut Vec<u8>, (bits, count): (u8, u8)) -> Self {
        debug_assert!(count < 8 && bits >> count == 0);
        Self { out, bits: bits.into(), count: count.into() }
    }

    /// Appends the `count` lowest bits of `value`; no bit above may be set.
    #[inline]
    pub(crate) fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && u64::from(value) >> count == 0);
        self.bits |= u64::from(value) << self.count;
        self.count += count;
        if self.count >= 32 {
            self.out.extend_from_slice(&(self.bits as u32).to_le_bytes());
            self.bits >>= 32;
            self.count -= 32;
        }
    }

    /// Appends the bytes that are complete.
    fn flush(&mut self) {
        while self.count >= 8 {
            self.out.push(self.bits as u8);
            self.bits >>= 8;
            self.count -= 8;
        }
    }

    /// Fills the last byte with zeros.
    pub(crate) fn align(&mut self) {
        self.flush();
        if self.count > 0 {
            self.out.push(self.bits as u8);
            (self.bits, self.count) = (0, 0);
        }
    }

    /// Appends whole bytes; only after [`BitWriter::align`].
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.out.extend_from_slice(bytes);
    }

    /// The bits of the last, unfinished byte: their values and how many there are.
    pub(crate) fn suspend(mut self) -> (u8, u8) {
        self.flush();
        (self.bits as u8, self.count as u8)
    }

    /// The vector and the unfinished byte, for the loop that emits symbols.
    pub(crate) fn parts(&mut self) -> (&mut Vec<u8>, &mut u64, &mut u32) {
        self.flush();
        (self.out, &mut self.bits, &mut self.count)
    }
}
