//! The clock of a host's timers: timers expire at its ticks.
//!
//! A timer wheel has levels. A timer of n ticks expires at the tick after; from 63 ticks on at the next multiple of 8 ticks, from 504 ticks
//! on at the next multiple of 64, and so on. A timer that is set at a tick, as by another that expires, counts from the tick after.
//!
//! ## References
//! J. Corbet, *Reinventing the timer wheel*, LWN.net, 2015 (the wheel of Linux since 4.8); measured with Linux 6.18 at 250 ticks per second
//! (the numbers of the tests below).

use ackclock_core::units::{Duration, Instant};

/// Levels of the wheel.
const LEVELS: u32 = 8;
/// Each level has this many slots beside the present one, and is 8 times coarser than the level below.
const SLOTS: u64 = 63;

/// Rounding error of times, in seconds.
const ROUNDING: f64 = 1e-9;

/// The clock of the timers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticks {
    /// Time between two ticks in seconds; zero: timers are exact.
    tick: f64,
    /// Ticks in a second.
    frequency: f64,
    /// Time from the latest tick to the start of the run, in seconds.
    phase: f64,
}

impl Ticks {
    /// A clock with a tick every `tick`, the first one `phase` before the start of the run; a tick of zero: timers are exact.
    pub(super) fn new(tick: Duration, phase: Duration) -> Self {
        let (tick, phase) = (tick.as_secs_f64(), phase.as_secs_f64());
        Self { tick, frequency: if tick > 0.0 { 1.0 / tick } else { 0.0 }, phase }
    }

    /// `delay` in ticks, rounded up.
    fn count(self, delay: Duration) -> u64 {
        let ticks = self.before(delay);
        // The signed conversion takes fewer instructions.
        if ticks < 0.0 { 0 } else { (ticks as i64 + 1).cast_unsigned() }
    }

    /// `delay` in ticks: its count is one more than the whole ticks.
    fn before(self, delay: Duration) -> f64 {
        (delay.as_secs_f64() - ROUNDING) * self.frequency
    }

    /// The tick of `now`, with its fraction.
    fn at(self, now: Instant) -> f64 {
        (now.as_secs_f64() + (self.phase + ROUNDING)) * self.frequency
    }

    /// Whether a tick is now.
    fn is_tick(self, now: Instant) -> bool {
        let at = self.at(now);
        at - at.floor() < 3.0 * ROUNDING * self.frequency
    }

    /// `delay`, rounded up to whole ticks.
    pub(super) fn round_up(self, delay: Duration) -> Duration {
        if self.tick == 0.0 { delay } else { Duration::from_secs_f64(self.count(delay) as f64 * self.tick) }
    }

    /// The time from `since` to `now`, as this clock shows it.
    pub(super) fn between(self, since: Instant, now: Instant) -> Duration {
        if self.tick == 0.0 {
            return now.since(since);
        }
        let count = self.at(now) as i64 - self.at(since) as i64;
        Duration::from_secs_f64(count as f64 * self.tick)
    }

    /// Whether timers are exact.
    pub(super) fn are_exact(self) -> bool {
        self.tick == 0.0
    }

    /// When a timer expires that is set now to wait until `at`.
    pub(super) fn expiry_of(self, now: Instant, at: Instant) -> Instant {
        if self.are_exact() { at } else { self.expiry(now, at.since(now)) }
    }

    /// When a timer expires that is set now for `delay`.
    pub(super) fn expiry(self, now: Instant, delay: Duration) -> Instant {
        if self.tick == 0.0 {
            return now + delay;
        }
        let ticks = self.count(delay);
        let due = (self.at(now) as i64).cast_unsigned() + ticks;
        let distance = ticks - u64::from(ticks > 0 && self.is_tick(now));
        let level = (0..LEVELS - 1).find(|level| distance < SLOTS << (3 * level)).unwrap_or(LEVELS - 1);
        let slot = ((due >> (3 * level)) + 1) << (3 * level);
        Instant::ZERO + Duration::from_secs_f64(slot.cast_signed() as f64 * self.tick - self.phase)
    }
}

/// The last expiry of a timer that almost every packet starts anew: within a tick, and for a delay of as many ticks, it is the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastExpiry {
    /// The tick after the timer's start. Time does not run backwards.
    until: f64,
    /// Whole ticks in its delay.
    delay: f64,
    /// When it expires.
    at: Instant,
}

impl Default for LastExpiry {
    fn default() -> Self {
        Self { until: 0.0, delay: 0.0, at: Instant::MAX }
    }
}

impl LastExpiry {
    /// As [`Ticks::expiry`].
    pub(super) fn expiry(&mut self, ticks: Ticks, now: Instant, delay: Duration) -> Instant {
        if ticks.tick == 0.0 {
            return now + delay;
        }
        let (started, whole) = (ticks.at(now), ticks.before(delay));
        if started < self.until && whole >= self.delay && whole < self.delay + 1.0 {
            return self.at;
        }
        let at = ticks.expiry(now, delay);
        // A timer set at a tick is not like those set after it.
        let until = if ticks.is_tick(now) { 0.0 } else { (started as i64 + 1) as f64 };
        // A delay of less than a nanosecond is negative here, and counts as none.
        *self = Self { until, delay: if whole < 0.0 { f64::INFINITY } else { whole as i64 as f64 }, at };
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: f64) -> Duration {
        Duration::from_secs_f64(millis / 1e3)
    }

    fn expiry(now: f64, delay: f64) -> u64 {
        let at = Ticks::new(millis(4.0), Duration::ZERO).expiry(Instant::ZERO + millis(now), millis(delay));
        (at.as_secs_f64() * 1e3).round() as u64
    }

    #[test]
    fn timers_expire_at_the_tick_after() {
        // Linux 6.18: a timer of n ticks set in tick k expires at tick k + n + 1.
        assert_eq!([expiry(0.0, 4.0), expiry(3.9, 4.0), expiry(4.0, 4.0), expiry(5.0, 9.1)], [8, 8, 12, 20]);
        assert_eq!(expiry(0.0, 252.0), 256);
    }

    #[test]
    fn long_timers_expire_at_coarser_ticks() {
        // 63 to 503 ticks: multiples of 32 ms; from 504 on multiples of 256 ms.
        assert_eq!([expiry(0.0, 256.0), expiry(4.0, 300.0), expiry(30.0, 1000.0)], [288, 320, 1056]);
        assert_eq!([expiry(0.0, 252.0), expiry(1.0, 252.0), expiry(1.0, 248.0)], [256, 256, 252], "set at a tick, and after it");
        assert_eq!([expiry(5.0, 252.0), expiry(8.0, 252.0)], [288, 264]);
        assert_eq!([expiry(0.0, 2044.0), expiry(0.0, 2048.0)], [2048, 2304]);
    }

    #[test]
    fn delays_are_rounded_up() {
        let ticks = Ticks::new(millis(4.0), Duration::ZERO);
        assert_eq!([0.0, 4.0, 4.1, 200.0].map(|delay| (ticks.round_up(millis(delay)).as_secs_f64() * 1e3).round() as u64), [0, 4, 8, 200]);
        assert_eq!(Ticks::default().round_up(millis(4.1)), millis(4.1));
    }

    #[test]
    fn the_last_expiry_holds_within_a_tick() {
        let (ticks, mut last) = (Ticks::new(millis(4.0), millis(1.7)), LastExpiry::default());
        for now in 0..60 {
            for delay in (0..9).chain(250..260) {
                let (now, delay) = (Instant::ZERO + millis(f64::from(now) * 0.5), millis(f64::from(delay) * 0.9));
                assert_eq!(last.expiry(ticks, now, delay), ticks.expiry(now, delay));
                assert_eq!(last.expiry(ticks, now, delay), ticks.expiry(now, delay), "again");
            }
        }
    }

    #[test]
    fn a_phase_moves_all_ticks() {
        let ticks = Ticks::new(millis(4.0), millis(3.0));
        let expiry = |now, delay| (ticks.expiry(Instant::ZERO + millis(now), millis(delay)).as_secs_f64() * 1e6).round() as u64;
        assert_eq!([expiry(0.0, 4.0), expiry(1.5, 4.0), expiry(0.0, 256.0)], [5000, 9000, 285_000]);
    }

    #[test]
    fn without_ticks_timers_are_exact() {
        assert_eq!(Ticks::default().expiry(Instant::ZERO + millis(1.5), millis(0.25)), Instant::ZERO + millis(1.75));
    }
}
