//! Idle encoders, kept by each thread for itself: a body finds tables that are allocated and warm, and takes no lock.
//!
//! nginx allocates and zeroes its state anew for each response, and at 9 KB spends most of its gzip time on that.

use std::cell::RefCell;
use std::io;
use std::ops::{Deref, DerefMut};

use super::{Coding, Effort, Encoder};

/// The most encoders that a thread keeps idle.
const MAX_IDLE: usize = 16;

/// The most memory of idle encoders that a thread keeps, in bytes.
const MAX_IDLE_BYTES: usize = 16 << 20;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { idle: Vec::new(), bytes: 0 }) };
}

/// An encoder from this thread's stock, or a new one, with an `effort` of [`Effort::of`]; as ready as
/// [`Encoder::new`] makes it.
///
/// # Errors
///
/// Only for want of memory.
pub fn take(coding: Coding, effort: impl Into<Effort>) -> io::Result<Pooled> {
    let effort = effort.into();
    let kind = Kind { coding, effort };
    let encoder = match POOL.with_borrow_mut(|pool| pool.take(kind)) {
        Some(encoder) => encoder,
        None => Box::new(Encoder::new(coding, effort)?),
    };
    Ok(Pooled { encoder: Some(encoder), kind })
}

/// An encoder on loan. Dropping it gives it to the stock of the thread where that happens.
#[derive(Debug)]
pub struct Pooled {
    // Empty only in `drop`.
    encoder: Option<Box<Encoder>>,
    kind: Kind,
}

impl Pooled {
    /// What the encoder codes.
    pub fn coding(&self) -> Coding {
        self.kind.coding
    }

    /// How hard it tries.
    pub fn effort(&self) -> Effort {
        self.kind.effort
    }
}

impl Deref for Pooled {
    type Target = Encoder;

    fn deref(&self) -> &Encoder {
        self.encoder.as_ref().expect("present until dropped")
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Encoder {
        self.encoder.as_mut().expect("present until dropped")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(mut encoder) = self.encoder.take() else { return };
        // Lets go of what a stream that was cut short holds.
        if encoder.begin(None).is_err() {
            return;
        }
        // A thread that is ending has no stock any more.
        let _ = POOL.try_with(|pool| pool.borrow_mut().give_back(self.kind, encoder));
    }
}

/// Encoders of one kind may stand in for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    coding: Coding,
    effort: Effort,
}

struct Idle {
    kind: Kind,
    encoder: Box<Encoder>,
    bytes: usize,
}

struct Pool {
    /// The one given back last is at the end: it is the warmest, and the first is the first to go.
    idle: Vec<Idle>,
    bytes: usize,
}

impl Pool {
    fn take(&mut self, kind: Kind) -> Option<Box<Encoder>> {
        let at = self.idle.iter().rposition(|idle| idle.kind == kind)?;
        let idle = self.idle.remove(at);
        self.bytes -= idle.bytes;
        Some(idle.encoder)
    }

    fn give_back(&mut self, kind: Kind, encoder: Box<Encoder>) {
        let bytes = encoder.idle_memory();
        if bytes > MAX_IDLE_BYTES {
            return;
        }
        while self.idle.len() == MAX_IDLE || self.bytes + bytes > MAX_IDLE_BYTES {
            self.bytes -= self.idle.remove(0).bytes;
        }
        self.bytes += bytes;
        self.idle.push(Idle { kind, encoder, bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Engine;

    fn stock() -> (usize, usize) {
        POOL.with_borrow(|pool| (pool.idle.len(), pool.bytes))
    }

    /// Runs on a thread of its own, whose stock is empty.
    fn on_fresh_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().expect("the test holds");
    }

    #[test]
    fn an_encoder_comes_back_to_the_same_kind() {
        on_fresh_thread(|| {
            let first = take(Coding::Gzip, 1).unwrap();
            let address = &raw const *first;
            drop(first);
            assert_eq!(stock().0, 1);
            let other_level = take(Coding::Gzip, 2).unwrap();
            assert!(!std::ptr::eq(&*other_level, address));
            let other_engine = take(Coding::Gzip, Effort { level: 1, engine: Engine::ZlibRs }).unwrap();
            assert!(!std::ptr::eq(&*other_engine, address));
            assert!(std::ptr::eq(&*take(Coding::Gzip, 1).unwrap(), address));
        });
    }

    #[test]
    fn the_stock_is_bounded() {
        on_fresh_thread(|| {
            let many: Vec<_> = (0..3 * MAX_IDLE).map(|i| take(Coding::ALL[i % 4], 5).unwrap()).collect();
            drop(many);
            let (count, bytes) = stock();
            assert!((1..=MAX_IDLE).contains(&count), "{count}");
            assert!(bytes <= MAX_IDLE_BYTES, "{bytes}");
        });
    }

    #[test]
    fn an_encoder_may_be_dropped_on_another_thread() {
        let mut taken_here = take(Coding::Zstd, 3).unwrap();
        taken_here.push(b"in the middle of a stream", &mut Vec::new(), crate::encode::Flush::None).unwrap();
        on_fresh_thread(|| {
            drop(taken_here);
            assert_eq!(stock().0, 1);
            let mut out = Vec::new();
            take(Coding::Zstd, 3).unwrap().encode_whole(b"a new body", &mut out).unwrap();
            assert_eq!(::zstd::decode_all(&out[..]).unwrap(), b"a new body");
        });
    }
}
