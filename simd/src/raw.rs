//! The unchecked loads of the hot loops.

/// Eight bytes from `data[at..]`.
///
/// # Safety
///
/// `at + 8 <= data.len()`.
#[inline(always)]
pub(crate) unsafe fn load64(data: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= data.len());
    // SAFETY: in bounds, as the caller vouches; a byte array has no alignment.
    u64::from_le_bytes(unsafe { data.as_ptr().add(at).cast::<[u8; 8]>().read() })
}

/// Four bytes from `data[at..]`.
///
/// # Safety
///
/// `at + 4 <= data.len()`.
#[inline(always)]
pub(crate) unsafe fn load32(data: &[u8], at: usize) -> u32 {
    debug_assert!(at + 4 <= data.len());
    // SAFETY: in bounds, as the caller vouches; a byte array has no alignment.
    u32::from_le_bytes(unsafe { data.as_ptr().add(at).cast::<[u8; 4]>().read() })
}

/// Elements without a check in release builds.
pub(crate) trait Unchecked<T> {
    /// The element at `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    unsafe fn at(&self, index: usize) -> T;

    /// Sets the element at `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    unsafe fn put(&mut self, index: usize, value: T);
}

impl<T: Copy> Unchecked<T> for [T] {
    #[inline(always)]
    unsafe fn at(&self, index: usize) -> T {
        debug_assert!(index < self.len());
        // SAFETY: as the caller vouches.
        unsafe { *self.get_unchecked(index) }
    }

    #[inline(always)]
    unsafe fn put(&mut self, index: usize, value: T) {
        debug_assert!(index < self.len());
        // SAFETY: as the caller vouches.
        unsafe { *self.get_unchecked_mut(index) = value };
    }
}
