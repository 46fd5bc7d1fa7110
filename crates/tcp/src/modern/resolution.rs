//! The resolution of the clock by which a sender measures ages of segments.

use ackclock_core::units::{Duration, Instant};

/// How finely times are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Times are exact.
    Exact,
    /// Times are rounded to whole microseconds, and durations are rounded down.
    Microsecond,
}

impl Resolution {
    /// The time from `earlier` to `later`.
    pub(super) fn between(self, earlier: Instant, later: Instant) -> Duration {
        let micros = |time: Instant| (time.as_secs_f64() * 1e6).round() as u64;
        match self {
            Self::Exact => later.since(earlier),
            Self::Microsecond => Duration::from_nanos(1000 * micros(later).saturating_sub(micros(earlier))),
        }
    }

    /// A computed duration as it is stored.
    pub(super) fn store(self, duration: Duration) -> Duration {
        match self {
            Self::Exact => duration,
            // What is computed from whole microseconds has a rounding error.
            Self::Microsecond => Duration::from_nanos(1000 * (duration.as_secs_f64() * 1e6 + 1e-3) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_difference_of_whole_microseconds() {
        let at = Instant::from_nanos;
        assert_eq!(Resolution::Exact.between(at(1600), at(4400)), Duration::from_nanos(2800));
        assert_eq!(Resolution::Microsecond.between(at(1600), at(4400)), Duration::from_nanos(2000));
        assert_eq!(Resolution::Microsecond.between(at(1400), at(4600)), Duration::from_nanos(4000));
        let stored = [24_003_000.0, 24_004_000.0].map(|nanos: f64| Resolution::Microsecond.store(Duration::from_secs_f64(nanos / 4e9)));
        assert_eq!(stored, [6_000_000, 6_001_000].map(Duration::from_nanos));
    }
}
