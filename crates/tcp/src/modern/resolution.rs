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
        // A time is never negative; the signed conversion takes fewer instructions than rounding.
        let micros = |time: Instant| (time.as_secs_f64() * 1e6 + 0.5) as i64;
        match self {
            Self::Exact => later.since(earlier),
            Self::Microsecond => Duration::from_nanos(1000 * (micros(later) - micros(earlier)).max(0).cast_unsigned()),
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
        let nanos = |resolution: Resolution, [one, other]: [u64; 2]| {
            resolution.between(Instant::from_nanos(one), Instant::from_nanos(other)).as_nanos()
        };
        assert_eq!(nanos(Resolution::Exact, [1600, 4400]), 2800);
        assert_eq!([[1600, 4400], [1400, 4600]].map(|times| nanos(Resolution::Microsecond, times)), [2000, 4000]);
        let stored = |nanos: u64| Resolution::Microsecond.store(Duration::from_nanos(nanos) * 0.25).as_nanos();
        assert_eq!([24_003_000, 24_004_000].map(stored), [6_000_000, 6_001_000]);
    }
}
