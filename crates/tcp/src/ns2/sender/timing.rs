//! Round-trip times, the retransmission timer, and the segment that is timed.

use ackclock_core::units::{Duration, Instant};

use super::rto::{Rto, RtoConfig};

/// The segment that measures the round-trip time.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u32,
    sent: Instant,
}

/// The sender's clock.
#[derive(Debug)]
pub(super) struct Timing {
    rto: Rto,
    deadline: Option<Instant>,
    timed: Option<Timed>,
    latest: Option<Duration>,
    least: Option<Duration>,
}

impl Timing {
    /// A clock whose first deadline is the start of the flow.
    pub(super) fn new(config: RtoConfig, start: Instant) -> Self {
        Self { rto: Rto::new(config), deadline: Some(start), timed: None, latest: None, least: None }
    }

    /// Notes the round-trip time of a segment.
    pub(super) fn note(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// The latest round-trip time.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The smallest round-trip time.
    pub(super) fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Smoothed round-trip time.
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.rto.srtt()
    }

    /// The retransmission timeout.
    pub(super) fn timeout(&self) -> Duration {
        self.rto.timeout()
    }

    /// When the retransmission timer expires.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the retransmission timer has expired.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Restarts the retransmission timer.
    pub(super) fn restart(&mut self, now: Instant) {
        self.deadline = Some(now + self.rto.timeout());
    }

    /// Restarts the timer for a retransmission and stops the measurement (Karn).
    pub(super) fn reset(&mut self, now: Instant) {
        self.forget();
        self.restart(now);
    }

    /// Stops the retransmission timer.
    pub(super) fn stop(&mut self) {
        self.deadline = None;
    }

    /// Times segment `seq`, which is sent now, unless another is being timed.
    pub(super) fn time(&mut self, now: Instant, seq: u32) {
        self.timed.get_or_insert(Timed { seq, sent: now });
    }

    /// Stops the measurement.
    pub(super) fn forget(&mut self) {
        self.timed = None;
    }

    /// Ends the measurement, if an ACK of all segments below `seq` covers the timed segment; returns when that segment was sent.
    pub(super) fn end_measurement(&mut self, seq: u32) -> Option<Instant> {
        self.timed.take_if(|timed| seq > timed.seq).map(|timed| timed.sent)
    }

    /// Adds the round-trip time of a segment that was sent at `sent`.
    pub(super) fn measure(&mut self, sent: Instant, now: Instant) {
        self.rto.measure(sent, now);
    }

    /// Doubles the timeout.
    pub(super) fn back_off(&mut self) {
        self.rto.back_off();
    }

    /// Ends the backoff.
    pub(super) fn end_backoff(&mut self) {
        self.rto.end_backoff();
    }
}
