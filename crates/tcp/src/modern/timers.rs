//! The sender's timers.

use ackclock_core::units::{Duration, Instant};

use super::ticks::{LastExpiry, Ticks};

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
    /// Release of the next segment by the pacer.
    Pace,
}

const COUNT: usize = 5;
/// Largest exponent of the persist timer's backoff; the maximum timeout takes effect earlier.
const MAX_PERSIST_BACKOFF: u32 = 16;

/// The deadline of each timer.
#[derive(Debug)]
pub(super) struct Timers {
    /// Indexed by [`Timer`]; `Instant::MAX`: not set.
    due: [Instant; COUNT],
    /// When the retransmission timer would expire without ticks.
    rto: Instant,
    ticks: Ticks,
    /// The last expiries of the retransmission timer and of the probe timer.
    last: [LastExpiry; 2],
    /// Number of expiries of the persist timer.
    persist_backoff: u32,
}

impl Timers {
    /// Timers that expire at `ticks`, except that of the pacer; none is set.
    pub(super) fn new(ticks: Ticks) -> Self {
        Self { due: [Instant::MAX; COUNT], rto: Instant::MAX, ticks, last: Default::default(), persist_backoff: 0 }
    }

    /// The earliest deadline; `Instant::MAX`: no timer is set.
    pub(super) fn next(&self) -> Instant {
        self.due.iter().copied().fold(Instant::MAX, Instant::min)
    }

    /// Window probes without an answer.
    pub(super) fn probes(&self) -> u32 {
        self.persist_backoff
    }

    /// The deadline of a timer; `Instant::MAX`: not set.
    pub(super) fn due(&self, timer: Timer) -> Instant {
        self.due[timer as usize]
    }

    /// Whether a timer is set.
    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.due(timer) < Instant::MAX
    }

    /// Sets a timer to an exact time.
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        self.due[timer as usize] = at;
    }

    /// Starts a timer.
    pub(super) fn start(&mut self, timer: Timer, now: Instant, delay: Duration) {
        self.set(timer, self.ticks.expiry(now, delay));
    }

    /// Starts the retransmission timer.
    pub(super) fn start_rto(&mut self, now: Instant, timeout: Duration) {
        self.rto = now + timeout;
        let due = self.last[0].expiry(self.ticks, now, timeout);
        self.set(Timer::Rto, due);
    }

    /// Starts a timer that waits until `at`.
    pub(super) fn start_until(&mut self, timer: Timer, now: Instant, at: Instant) {
        self.set(timer, self.ticks.expiry_of(now, at));
    }

    /// Starts the probe timer, which does not expire after the retransmission timer, nor after `most`.
    pub(super) fn start_probe(&mut self, now: Instant, timeout: Duration, most: Instant) {
        let most = if self.is_set(Timer::Rto) { self.rto.min(most) } else { most };
        let at = (now + timeout).min(most);
        // An exact timer does not expire while it is set.
        let due =
            if self.ticks.are_exact() { at.max(now + Duration::NANOSECOND) } else { self.last[1].expiry(self.ticks, now, at.since(now)) };
        self.set(Timer::Probe, due);
    }

    /// How many times `delay` has passed from `since` to `now` by the clock of the timers, and more.
    pub(super) fn periods(&self, since: Instant, now: Instant, delay: Duration) -> u32 {
        let passed = self.ticks.between(since, now).as_nanos();
        (passed.saturating_sub(1) / delay.as_nanos().max(1)).min(u64::from(u32::MAX)) as u32
    }

    /// Stops a timer.
    pub(super) fn clear(&mut self, timer: Timer) {
        self.set(timer, Instant::MAX);
    }

    /// Clears a timer if it is due; returns whether it was.
    pub(super) fn expires(&mut self, timer: Timer, now: Instant) -> bool {
        let expires = self.due(timer) <= now;
        if expires {
            self.clear(timer);
        }
        expires
    }

    /// Stops the timers that wait for ACKs: all sent data is acknowledged.
    pub(super) fn stop_waiting(&mut self) {
        self.clear(Timer::Rto);
        self.stop_probing();
    }

    /// Stops the timers that do not run in recovery after a timeout.
    pub(super) fn stop_probing(&mut self) {
        self.clear(Timer::Probe);
        self.clear(Timer::Reorder);
    }

    /// Stops all timers at the end of the connection.
    pub(super) fn stop(&mut self) {
        *self = Self::new(self.ticks);
    }

    /// Stops the persist timer and resets its backoff.
    pub(super) fn end_persisting(&mut self) {
        self.clear(Timer::Persist);
        self.persist_backoff = 0;
    }

    /// Sets the persist timer to `timeout`, doubled once per expiry, but at most `most`.
    pub(super) fn persist(&mut self, now: Instant, timeout: Duration, most: Duration) {
        let wait = (timeout * f64::from(1 << self.persist_backoff)).min(most);
        self.start(Timer::Persist, now, wait.max(Duration::from_millis(1)));
    }

    /// Doubles the persist timeout after an expiry.
    pub(super) fn back_off_persisting(&mut self) {
        self.persist_backoff = (self.persist_backoff + 1).min(MAX_PERSIST_BACKOFF);
    }
}
