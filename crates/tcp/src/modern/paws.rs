//! The timestamp clock, and protection against wrapped sequence numbers.
//!
//! ## References
//! RFC 7323 §4.3 (which timestamp is echoed), §5 (PAWS), §5.4 (timestamp clock: a tick of 1 ms).

use ackclock_core::units::{Duration, Instant, NANOS_PER_SEC};

use super::settings::Config;

/// A tick of the timestamp clock.
const TICK: Duration = Duration::from_nanos(TICK_NANOS);
const TICK_NANOS: u64 = 1_000_000;
/// Above this age the stored timestamp is invalid (RFC 7323 §5.5).
const OUTDATED: Duration = Duration::from_millis(24 * 86_400 * 1000);

/// The clock of this end's timestamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// The value at the latest tick of the timers before the start of the run.
    initial: u32,
    /// Nanoseconds from that tick to the start, and a half to round.
    phase: f64,
}

impl Stamps {
    /// The clock of a host with these settings.
    pub(super) fn of(config: &Config) -> Self {
        Self { initial: config.initial_timestamp, phase: config.timer_phase.as_nanos() as f64 + 0.5 }
    }

    /// The value at a time.
    pub(super) fn at(self, now: Instant) -> u32 {
        // Rounds to the nanosecond, so that a decimal time does not fall into the previous tick. A time is never negative; the signed
        // conversion takes one instruction.
        let nanos = (now.as_secs_f64() * NANOS_PER_SEC as f64 + self.phase) as i64;
        self.initial.wrapping_add((nanos.cast_unsigned() / TICK_NANOS) as u32)
    }

    /// The time since the clock had the value `echo`, at least one tick; `None`: `echo` lies in the future.
    pub(super) fn since(self, now: Instant, echo: u32) -> Option<Duration> {
        let ticks = self.at(now).wrapping_sub(echo).cast_signed();
        (ticks >= 0).then(|| TICK * f64::from(ticks.max(1)))
    }
}

/// A difference of two timestamps.
pub(super) fn span(ticks: u32) -> Duration {
    TICK * f64::from(ticks)
}

/// The peer's timestamps.
#[derive(Debug, Default)]
pub(super) struct PeerClock {
    /// `TS.Recent`, and when it was stored.
    recent: Option<(u32, Instant)>,
}

impl PeerClock {
    /// The timestamp to echo.
    pub(super) fn recent(&self) -> u32 {
        self.recent.map_or(0, |(value, _)| value)
    }

    /// Whether `value` is later than the timestamp to echo.
    pub(super) fn is_after(&self, value: u32) -> bool {
        self.recent.is_some_and(|(recent, _)| is_before(recent, value))
    }

    /// RFC 7323 §5.3 rule R1: whether a segment with this timestamp can be new. `slack`: ticks by which it may be too old all the same.
    pub(super) fn accepts(&self, now: Instant, value: u32, slack: u32) -> bool {
        self.recent.is_none_or(|(recent, noted)| !is_before(value.wrapping_add(slack), recent) || now.since(noted) > OUTDATED)
    }

    /// RFC 7323 §4.3 rule 2: stores the timestamp of an acceptable segment that begins at or below the last ACK sent.
    pub(super) fn note(&mut self, now: Instant, value: u32, covers_last_ack: bool) {
        if covers_last_ack && self.accepts(now, value, 0) {
            self.recent = Some((value, now));
        }
    }
}

fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn rfc_7323_section_5_3() {
        let mut clock = PeerClock::default();
        assert!(clock.accepts(at(0), 7, 0));
        clock.note(at(0), 100, true);
        assert!(!clock.accepts(at(1), 99, 0), "R1: older than TS.Recent");
        assert!(clock.accepts(at(0), 99, 1) && !clock.accepts(at(0), 98, 1));
        assert!(clock.accepts(at(1), 100, 0) && clock.accepts(at(1), 101, 0));
        clock.note(at(1), 200, false);
        assert_eq!(clock.recent(), 100, "§4.3: a segment beyond the last ACK is not echoed");
        clock.note(at(1), 200, true);
        assert_eq!(clock.recent(), 200);
        // §5.2: the clock wraps.
        clock.note(at(2), u32::MAX / 2, true);
        clock.note(at(3), u32::MAX - 5, true);
        assert!(clock.accepts(at(4), 3, 0) && !clock.accepts(at(4), u32::MAX - 6, 0));
        // §5.5: after 24 days no timestamp is too old.
        assert!(clock.accepts(at(4 + 25 * 86_400), 7_000_000, 0));
    }

    #[test]
    fn the_clock_ticks_in_milliseconds() {
        let config = Config { initial_timestamp: u32::MAX - 1, ..Config::default() };
        let stamps = Stamps::of(&config);
        assert_eq!([0, 1].map(|second| stamps.at(at(second))), [u32::MAX - 1, 998]);
        assert_eq!(stamps.since(at(1), 990), Some(Duration::from_millis(8)));
        assert_eq!(stamps.since(at(1), 998), Some(TICK), "less than a tick counts as one");
        assert_eq!(stamps.since(at(1), 1000), None);
        let late = Stamps::of(&Config { timer_phase: Duration::from_nanos(2_600_000), ..config });
        let millis = |millis: f64| late.at(Instant::ZERO + Duration::from_secs_f64(millis / 1e3));
        assert_eq!([0.0, 0.3, 0.4].map(millis), [0, 0, 1], "its ticks are those of the timers");
    }
}
