//! Buffers between pages that must not be touched: a read or write one byte outside faults.

use std::ops::{Deref, DerefMut};
use std::{ptr, slice};

/// Bytes with a page without access before the first page of theirs, and one after their last byte, or the other way
/// round.
pub(crate) struct Guarded {
    map: *mut u8,
    mapped: usize,
    start: usize,
    len: usize,
}

/// Which end of the bytes touches the page without access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    Start,
    End,
}

pub(crate) const EDGES: [Edge; 2] = [Edge::Start, Edge::End];

impl Guarded {
    /// Zeros.
    pub(crate) fn new(len: usize, edge: Edge) -> Self {
        // SAFETY: no memory is involved.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let inner = len.next_multiple_of(page);
        let mapped = inner + 2 * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, of which the inner pages become accessible.
        let map = unsafe {
            let map = libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let inside = map.byte_add(page);
            assert!(inner == 0 || libc::mprotect(inside, inner, libc::PROT_READ | libc::PROT_WRITE) == 0);
            map.cast()
        };
        let start = match edge {
            Edge::Start => page,
            Edge::End => page + inner - len,
        };
        Self { map, mapped, start, len }
    }

    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8], edge: Edge) -> Self {
        let mut guarded = Self::new(bytes.len(), edge);
        guarded.copy_from_slice(bytes);
        guarded
    }
}

impl Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped and initialized as long as `self` lives.
        unsafe { slice::from_raw_parts(self.map.add(self.start), self.len) }
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped and initialized as long as `self` lives, which is borrowed.
        unsafe { slice::from_raw_parts_mut(self.map.add(self.start), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is of this buffer alone.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}
