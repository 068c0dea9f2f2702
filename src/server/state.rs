//! What is known of one connection, shared by its I/O, its service and the worker's watch over time.
//!
//! Nothing here is contended: a connection lives on one worker. The atomics are there because hyper's futures must be
//! `Send`; loaded and stored with relaxed order they cost what plain fields cost.

use std::collections::VecDeque;
use std::fs::File;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::config::Limits;

/// How long a connection idles before it is folded.
const FOLD_AFTER: Duration = Duration::from_secs(1);

/// How long the end of an idle connection may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What the watch decided about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub(crate) enum Verdict {
    /// Goes on.
    None = 0,
    /// Idles, and gives back what memory it can.
    Fold = 1,
    /// Ends behind the next response.
    Finish = 2,
    /// Ends when what is in flight is answered.
    Drain = 3,
    /// Ends now; a client that owes a request head is told so (408).
    LateHead = 4,
    /// Ends now; what was promised is broken off.
    Cut = 5,
}

/// A piece of a file that takes the place of bytes in the output of a connection.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    pub(crate) left: u64,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct ConnState {
    pub(crate) peer: SocketAddr,
    epoch: Instant,
    /// Microseconds since `epoch` of the last event that the limits measure from.
    since: AtomicU64,
    in_flight: AtomicU32,
    /// Requests whose file is being coded, which takes its time and is nobody's delay.
    coding: AtomicU32,
    served: AtomicU64,
    mid_head: AtomicBool,
    write_blocked: AtomicBool,
    broken: AtomicBool,
    verdict: AtomicU8,
    waker: OnceLock<Waker>,
    spans: Mutex<VecDeque<Span>>,
}

impl ConnState {
    pub(crate) fn new(peer: SocketAddr, now: Instant) -> Self {
        Self {
            peer,
            epoch: now,
            since: AtomicU64::new(0),
            in_flight: AtomicU32::new(0),
            coding: AtomicU32::new(0),
            served: AtomicU64::new(0),
            mid_head: AtomicBool::new(false),
            write_blocked: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            verdict: AtomicU8::new(0),
            waker: OnceLock::new(),
            spans: Mutex::default(),
        }
    }

    /// When the last event was, which is now for a request that has just been read.
    pub(crate) fn last_event(&self) -> Instant {
        self.epoch + Duration::from_micros(self.since.load(Relaxed))
    }

    /// Bytes were received; `mid_head` tells whether they end inside a request head.
    pub(crate) fn received(&self, mid_head: bool) {
        // The time of a head runs from its first byte, so further bytes of it do not count as progress.
        let goes_on = self.mid_head.load(Relaxed) && mid_head;
        self.mid_head.store(mid_head, Relaxed);
        if !goes_on {
            self.touch();
        }
    }

    /// In HTTP/2, a request came or a body gave bytes to send. In HTTP/1 the socket tells of itself.
    pub(crate) fn progressed(&self) {
        self.touch();
    }

    /// Notes whether the socket takes no more output.
    pub(crate) fn set_write_blocked(&self, blocked: bool) {
        if self.write_blocked.load(Relaxed) != blocked {
            self.write_blocked.store(blocked, Relaxed);
            self.touch();
        }
    }

    /// A request reached the service; the number of requests so far, this one included.
    pub(crate) fn begin_request(&self) -> u64 {
        self.in_flight.store(self.in_flight.load(Relaxed) + 1, Relaxed);
        let number = self.served.load(Relaxed) + 1;
        self.served.store(number, Relaxed);
        number
    }

    /// A request waits for its file to be coded.
    pub(crate) fn begin_coding(&self) {
        self.coding.store(self.coding.load(Relaxed) + 1, Relaxed);
    }

    /// The file is coded, or the request was given up.
    pub(crate) fn end_coding(&self) {
        self.coding.store(self.coding.load(Relaxed) - 1, Relaxed);
        self.touch();
    }

    /// A response was handed over whole, or given up.
    pub(crate) fn end_request(&self, http1: bool) {
        self.in_flight.store(self.in_flight.load(Relaxed) - 1, Relaxed);
        if !http1 {
            self.touch();
        }
    }

    /// Whether a request was ever received.
    pub(crate) fn has_served(&self) -> bool {
        self.served.load(Relaxed) > 0
    }

    /// A response could not be completed, so the connection must not end as if it were.
    pub(crate) fn set_broken(&self) {
        self.broken.store(true, Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Relaxed)
    }

    /// Whether no request is being received or answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.load(Relaxed) == 0 && !self.mid_head.load(Relaxed) && !self.write_blocked.load(Relaxed)
    }

    /// What `limits` say of this connection at `now`.
    pub(crate) fn judge(&self, now: Instant, limits: &Limits) -> Verdict {
        let waited = now.saturating_duration_since(self.last_event());
        let late = |limit: Duration, verdict| if waited >= limit { verdict } else { Verdict::None };
        if self.coding.load(Relaxed) > 0 {
            Verdict::None
        } else if self.write_blocked.load(Relaxed) || self.in_flight.load(Relaxed) > 0 {
            late(limits.stall_timeout, Verdict::Cut)
        } else if self.mid_head.load(Relaxed) {
            late(limits.head_timeout, Verdict::LateHead)
        } else if self.served.load(Relaxed) == 0 {
            late(limits.head_timeout, Verdict::Cut)
        } else if waited >= limits.keepalive_timeout {
            // HTTP/2 says goodbye first; a client that does not answer that is not waited for.
            if waited >= limits.keepalive_timeout + GOODBYE { Verdict::Cut } else { Verdict::Drain }
        } else {
            late(FOLD_AFTER, Verdict::Fold)
        }
    }

    /// Takes the verdict to fold back, as it was obeyed or came too late; a graver one stays.
    pub(crate) fn revoke_fold(&self) {
        let _ = self.verdict.compare_exchange(Verdict::Fold as u8, Verdict::None as u8, Relaxed, Relaxed);
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match self.verdict.load(Relaxed) {
            0 => Verdict::None,
            1 => Verdict::Fold,
            2 => Verdict::Finish,
            3 => Verdict::Drain,
            4 => Verdict::LateHead,
            _ => Verdict::Cut,
        }
    }

    /// Passes a verdict on to the connection's task; a graver one replaces it.
    pub(crate) fn pronounce(&self, verdict: Verdict) {
        if self.verdict.fetch_max(verdict as u8, Relaxed) < verdict as u8
            && let Some(waker) = self.waker.get()
        {
            waker.wake_by_ref();
        }
    }

    /// The task that verdicts wake. A tokio task keeps one waker for its life.
    pub(crate) fn listen_for_verdicts(&self, waker: &Waker) {
        self.waker.get_or_init(|| waker.clone());
    }

    /// Queues a span that the output will reach after all spans queued before.
    pub(crate) fn push_span(&self, span: Span) {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push_back(span);
    }

    /// Works on the first span not yet sent whole; it is done with when nothing of it is left.
    pub(crate) fn with_span<T>(&self, work: impl FnOnce(&mut Span) -> T) -> Option<T> {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(spans.front_mut()?);
        if spans.front().is_some_and(|span| span.left == 0) {
            spans.pop_front();
        }
        Some(result)
    }

    fn touch(&self) {
        self.since.store(self.epoch.elapsed().as_micros() as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        head_timeout: Duration::from_secs(10),
        keepalive_timeout: Duration::from_secs(60),
        stall_timeout: Duration::from_secs(30),
        head_bytes: 0,
        head_fields: 0,
        body_bytes: 0,
        keepalive_requests: 0,
        connections: 0,
        connections_per_address: None,
        h2_streams: 0,
        h2_pending_resets: 0,
    };

    /// What is decided `seconds` after the last event.
    #[track_caller]
    fn decides(state: &ConnState, seconds: u64, verdict: Verdict) {
        let now = state.last_event() + Duration::from_secs(seconds);
        assert_eq!(state.judge(now, &LIMITS), verdict, "after {seconds} s");
    }

    fn fresh() -> ConnState {
        ConnState::new(SocketAddr::from(([127, 0, 0, 1], 1)), Instant::now())
    }

    #[test]
    fn a_client_that_says_nothing_is_cut() {
        let state = fresh();
        decides(&state, 9, Verdict::None);
        decides(&state, 10, Verdict::Cut);
    }

    #[test]
    fn a_head_has_its_time_from_its_first_byte() {
        let state = fresh();
        state.received(true);
        let first = state.last_event();
        state.received(true);
        assert_eq!(state.last_event(), first, "more of a head is no progress");
        decides(&state, 9, Verdict::None);
        decides(&state, 10, Verdict::LateHead);
    }

    #[test]
    fn an_idle_connection_is_folded_then_ended() {
        let state = fresh();
        state.begin_request();
        state.end_request(true);
        assert!(state.is_idle());
        decides(&state, 0, Verdict::None);
        decides(&state, 1, Verdict::Fold);
        decides(&state, 60, Verdict::Drain);
        decides(&state, 61, Verdict::Cut);
    }

    #[test]
    fn a_response_that_does_not_move_is_cut_unless_its_file_is_being_coded() {
        let state = fresh();
        state.begin_request();
        decides(&state, 29, Verdict::None);
        decides(&state, 30, Verdict::Cut);
        state.begin_coding();
        decides(&state, 300, Verdict::None);
        state.end_coding();
        decides(&state, 30, Verdict::Cut);
        state.end_request(true);
        state.set_write_blocked(true);
        decides(&state, 30, Verdict::Cut);
        assert!(!state.is_idle(), "what is written is not yet sent");
    }

    #[test]
    fn a_graver_verdict_stays() {
        let state = fresh();
        state.pronounce(Verdict::Fold);
        state.pronounce(Verdict::Drain);
        state.revoke_fold();
        assert_eq!(state.verdict(), Verdict::Drain);
        state.pronounce(Verdict::Fold);
        assert_eq!(state.verdict(), Verdict::Drain);
        state.pronounce(Verdict::Cut);
        assert_eq!(state.verdict(), Verdict::Cut);
    }
}
