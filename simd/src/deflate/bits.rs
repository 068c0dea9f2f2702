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

    /// Makes room for `size` bits.
    #[inline(always)]
    pub(crate) fn room(&mut self, size: usize) -> Room<'_> {
        self.flush();
        self.out.reserve(size / 8 + 1 + SLACK);
        let spare = self.out.spare_capacity_mut();
        let (base, len) = (spare.as_mut_ptr().cast(), spare.len());
        Room { out: self.out, base, len, at: 0, bits: &mut self.bits, count: &mut self.count }
    }
}

/// Most bits that [`Room::put`] takes at once: its 64 bits hold up to 7 already.
pub(crate) const MAX_PUT: u32 = 56;

const _: () = assert!(7 + MAX_PUT < 64);

/// Bytes that are stored beyond what is written.
const SLACK: usize = 8;

/// Where bits go that are known to fit.
pub(crate) struct Room<'a> {
    out: &'a mut Vec<u8>,
    base: *mut u8,
    len: usize,
    at: usize,
    bits: &'a mut u64,
    count: &'a mut u32,
}

impl Room<'_> {
    /// Appends each of `values`, with how many bits it has.
    ///
    /// # Safety
    ///
    /// No more bits than there was made room for, in all.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, values: impl Iterator<Item = (u64, u32)>) {
        let (mut bits, mut count, mut at) = (*self.bits, *self.count, self.at);
        for (value, length) in values {
            debug_assert!(length <= MAX_PUT && value >> length == 0);
            bits |= value << count;
            count += length;
            debug_assert!(at + SLACK <= self.len);
            // SAFETY: `at` is at most the whole bytes among the bits that room was made for and the up to 7 before them, and
            // SLACK was reserved beyond.
            unsafe { self.base.add(at).cast::<[u8; 8]>().write(bits.to_le_bytes()) };
            at += (count >> 3) as usize;
            bits >>= count & !7;
            count &= 7;
        }
        (*self.bits, *self.count, self.at) = (bits, count, at);
    }
}

impl Drop for Room<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: all bytes before `at` were written.
        unsafe { self.out.set_len(self.out.len() + self.at) };
    }
}
