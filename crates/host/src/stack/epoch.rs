//! Times of a stack that counts with the standard library's clock.

use std::time::{Duration, Instant as StdInstant};

use ackclock_core::units::Instant;

/// The point of the standard library's clock that is [`Instant::ZERO`]. The clock's points cannot be made from numbers, so that all others are
/// differences from this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(pub StdInstant);

impl Epoch {
    /// The time `at` on the clock; the start of the run if it is earlier.
    #[inline]
    pub fn instant(self, at: StdInstant) -> Instant {
        Instant::from_nanos(u64::try_from(at.saturating_duration_since(self.0).as_nanos()).unwrap_or(u64::MAX))
    }

    /// The point of the clock at `at`, rounded up to the nanosecond: a timer that is set for it never expires before `at`. `None`: never.
    pub fn deadline(self, at: Instant) -> Option<StdInstant> {
        if at == Instant::MAX {
            return None;
        }
        let mut due = self.0.checked_add(Duration::from_nanos(at.as_nanos()))?;
        while self.instant(due) < at {
            due += Duration::from_nanos(1);
        }
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::units::Duration as Span;
    use proptest::prelude::*;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the clock has no other points")]
    fn now() -> Epoch {
        Epoch(StdInstant::now())
    }

    #[test]
    fn never_is_no_deadline() {
        assert_eq!(now().deadline(Instant::MAX), None);
    }

    /// A point of the clock, as a deadline at its time in seconds, which is a double.
    fn again(nanos: u64) {
        let epoch = now();
        let at = epoch.0 + Duration::from_nanos(nanos);
        assert_eq!(epoch.deadline(epoch.instant(at)), Some(at), "{nanos}");
    }

    #[test]
    fn two_weeks_stay_whole_nanoseconds() {
        // The double nearest to the first is 0.09 ns later, so that its exact value rounds up to the next nanosecond.
        for nanos in [1_242_159_148_193_431, 0, 1, (1 << 52) - 1] {
            again(nanos);
        }
    }

    proptest! {
        #[test]
        fn a_deadline_is_the_first_nanosecond_at_or_after_its_time(seconds in 0.0..1e6_f64) {
            let epoch = now();
            let at = Instant::ZERO + Span::from_secs_f64(seconds);
            let due = epoch.deadline(at).unwrap();
            prop_assert!(epoch.instant(due) >= at);
            prop_assert!(due == epoch.0 || due.checked_sub(Duration::from_nanos(2)).is_some_and(|early| epoch.instant(early) < at));
        }

        #[test]
        fn whole_nanoseconds_stay(nanos in 0..1_u64 << 52) {
            again(nanos);
        }
    }
}
