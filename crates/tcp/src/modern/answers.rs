//! Answers to segments that are not acceptable.
//!
//! RFC 9293 §3.10.7.4 and RFC 7323 §5.3 answer each with an ACK. Two ends that take each other's reordered ACKs for old ones would then
//! acknowledge them for ever, so that a segment without data gets no answer, or, with Linux's rule, at most one in [`INTERVAL`].
//!
//! ## References
//! Linux Documentation/networking/ip-sysctl, `tcp_invalid_ratelimit`; measured with Linux 7.2 on paths that reorder ACKs.

use ackclock_core::units::{Duration, Instant};

use super::ticks::Ticks;

/// Shortest time between two answers to segments without data, by the clock of the timers.
const INTERVAL: Duration = Duration::from_nanos(500_000_000);
/// Ticks of the fastest timestamp clock of a peer in a second (RFC 7323 §5.4: 1 ms, and Linux allows for a fifth more).
const FASTEST_CLOCK: f64 = 1200.0;

/// The answers to segments without data that are not acceptable.
#[derive(Debug)]
pub(super) enum Answers {
    /// Old timestamps get none.
    Never,
    /// One in [`INTERVAL`] by this clock; the time of the last.
    Limited(Ticks, Option<Instant>),
}

impl Answers {
    pub(super) fn new(limited: bool, ticks: Ticks) -> Self {
        if limited { Self::Limited(ticks, None) } else { Self::Never }
    }

    /// Whether an empty segment with an old timestamp is answered, and whether it may count if it repeats the last ACK.
    pub(super) fn is_limited(&self) -> bool {
        matches!(self, Self::Limited(..))
    }

    /// The connection has ended, and what answers later segments knows nothing of earlier answers.
    pub(super) fn restart(&mut self) {
        if let Self::Limited(_, last) = self {
            *last = None;
        }
    }

    /// Ticks by which a timestamp may be too old and still be that of a new segment.
    pub(super) fn slack(&self) -> u32 {
        u32::from(self.is_limited())
    }

    /// Whether an empty segment that is not acceptable gets an answer now.
    pub(super) fn allow(&mut self, now: Instant) -> bool {
        let Self::Limited(ticks, last) = self else { return true };
        if last.is_some_and(|last| ticks.between(last, now) < INTERVAL) {
            return false;
        }
        *last = Some(now);
        true
    }
}

/// Whether a timestamp that lies `ticks` behind the latest one may belong to an ACK that was overtaken within a retransmission `timeout`.
pub(super) fn is_overtaken(ticks: i32, timeout: Duration) -> bool {
    f64::from(ticks) <= timeout.as_secs_f64() * FASTEST_CLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_in_half_a_second() {
        let at = |millis: u64| Instant::from_nanos(1_000_000 * millis);
        let exact = Ticks::new(Duration::ZERO, Duration::ZERO);
        let mut answers = Answers::new(true, exact);
        assert_eq!([0, 1, 499, 500, 501, 1000].map(|millis| answers.allow(at(millis))), [true, false, false, true, false, true]);
        assert!(!Answers::new(false, exact).is_limited());
        // Linux 7.2: an answer at 1758.9 ms, and the next at 2256.8 ms, 125 ticks of 4 ms later.
        let mut answers = Answers::new(true, Ticks::new(Duration::from_millis(4), Duration::ZERO));
        assert_eq!([1759, 2255, 2256].map(|millis| answers.allow(at(millis))), [true, false, true]);
    }

    #[test]
    fn a_timestamp_is_too_old_after_a_timeout() {
        assert!(is_overtaken(240, Duration::from_millis(200)));
        assert!(!is_overtaken(241, Duration::from_millis(200)));
    }
}
