//! When the sender's timers are due.

use ackclock_core::units::{Duration, Instant};

/// A timer of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Retransmission (RFC 6298 §5).
    Rto,
    /// Tail loss probe (RFC 8985 §7.2).
    Probe,
    /// Reordering (RFC 8985 §6.2).
    Reorder,
    /// Persist (RFC 9293 §3.8.6.1).
    Persist,
    /// The pacer lets the next segment go.
    Pace,
}

const COUNT: usize = 5;
/// Largest exponent of the persist timer's backoff; the bound of the timeout comes first.
const MAX_PERSIST_BACKOFF: u32 = 16;

/// When each of them is due.
#[derive(Debug)]
pub(super) struct Timers {
    /// By [`Timer`]; the end of time: it is not set.
    due: [Instant; COUNT],
    /// How often the persist timer has expired.
    persist_backoff: u32,
}

impl Default for Timers {
    fn default() -> Self {
        Self { due: [Instant::MAX; COUNT], persist_backoff: 0 }
    }
}

impl Timers {
    /// When the first is due; the end of time: none is set.
    pub(super) fn next(&self) -> Instant {
        self.due.iter().copied().fold(Instant::MAX, Instant::min)
    }

    /// When a timer is due; the end of time: it is not set.
    pub(super) fn due(&self, timer: Timer) -> Instant {
        self.due[timer as usize]
    }

    /// Whether a timer is set.
    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.due(timer) < Instant::MAX
    }

    /// Sets a timer.
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        self.due[timer as usize] = at;
    }

    /// A timer will not expire.
    pub(super) fn clear(&mut self, timer: Timer) {
        self.set(timer, Instant::MAX);
    }

    /// Whether a timer expires now; then it is set no longer.
    pub(super) fn expires(&mut self, timer: Timer, now: Instant) -> bool {
        let expires = self.due(timer) <= now;
        if expires {
            self.clear(timer);
        }
        expires
    }

    /// Everything sent has been acknowledged.
    pub(super) fn stop_waiting(&mut self) {
        self.clear(Timer::Rto);
        self.stop_probing();
    }

    /// Timers that have no place in recovery after a timeout.
    pub(super) fn stop_probing(&mut self) {
        self.clear(Timer::Probe);
        self.clear(Timer::Reorder);
    }

    /// The connection is over.
    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }

    /// Nothing has to be coaxed out of the peer.
    pub(super) fn end_persisting(&mut self) {
        self.clear(Timer::Persist);
        self.persist_backoff = 0;
    }

    /// Sets the persist timer to `timeout`, backed off as often as it has expired, but no more than `most`.
    pub(super) fn persist(&mut self, now: Instant, timeout: Duration, most: Duration) {
        let wait = (timeout * f64::from(1 << self.persist_backoff)).min(most);
        self.set(Timer::Persist, now + wait.max(Duration::from_millis(1)));
    }

    /// The persist timer has expired.
    pub(super) fn back_off_persisting(&mut self) {
        self.persist_backoff = (self.persist_backoff + 1).min(MAX_PERSIST_BACKOFF);
    }
}
