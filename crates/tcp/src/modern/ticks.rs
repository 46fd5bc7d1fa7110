//! The clock of a host's timers: timers expire at its ticks.
//!
//! A timer wheel has levels. A timer of n ticks expires at the tick after; from 64 ticks on at the next multiple of 8 ticks, from 512 ticks
//! on at the next multiple of 64, and so on.
//!
//! ## References
//! J. Corbet, *Reinventing the timer wheel*, LWN.net, 2015 (the wheel of Linux since 4.8); measured with Linux 6.18 at 250 ticks per second.

use ackclock_core::units::{Duration, Instant};

/// Levels of the wheel.
const LEVELS: u32 = 8;
/// Each level has 64 slots, and is 8 times coarser than the level below.
const SLOTS: u64 = 64;

/// Rounding error of times, in seconds.
const ROUNDING: f64 = 1e-9;

/// The clock of the timers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticks {
    /// Time between two ticks in seconds; zero: timers are exact.
    tick: f64,
    /// Ticks in a second.
    frequency: f64,
}

impl Ticks {
    /// A clock with a tick every `tick`; zero: timers are exact.
    pub(super) fn new(tick: Duration) -> Self {
        let tick = tick.as_secs_f64();
        Self { tick, frequency: if tick > 0.0 { 1.0 / tick } else { 0.0 } }
    }

    /// `delay` in ticks, rounded up.
    fn count(self, delay: Duration) -> u64 {
        let ticks = (delay.as_secs_f64() - ROUNDING) * self.frequency;
        if ticks < 0.0 { 0 } else { ticks as u64 + 1 }
    }

    /// `delay`, rounded up to whole ticks.
    pub(super) fn round_up(self, delay: Duration) -> Duration {
        if self.tick == 0.0 { delay } else { Duration::from_secs_f64(self.count(delay) as f64 * self.tick) }
    }

    /// When a timer expires that is set now to wait until `at`.
    pub(super) fn expiry_of(self, now: Instant, at: Instant) -> Instant {
        if self.tick == 0.0 { at } else { self.expiry(now, at.since(now)) }
    }

    /// When a timer expires that is set now for `delay`.
    pub(super) fn expiry(self, now: Instant, delay: Duration) -> Instant {
        if self.tick == 0.0 {
            return now + delay;
        }
        let ticks = self.count(delay);
        let due = ((now.as_secs_f64() + ROUNDING) * self.frequency) as u64 + ticks;
        let level = (0..LEVELS - 1).find(|level| ticks < SLOTS << (3 * level)).unwrap_or(LEVELS - 1);
        let step = 1_u64 << (3 * level);
        let slot = (due / step + 1) * step;
        Instant::ZERO + Duration::from_secs_f64(slot as f64 * self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: f64) -> Duration {
        Duration::from_secs_f64(millis / 1e3)
    }

    fn expiry(now: f64, delay: f64) -> u64 {
        let at = Ticks::new(millis(4.0)).expiry(Instant::ZERO + millis(now), millis(delay));
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
        // 64 to 511 ticks: multiples of 32 ms; from 512 on multiples of 256 ms.
        assert_eq!([expiry(0.0, 256.0), expiry(4.0, 300.0), expiry(30.0, 1000.0)], [288, 320, 1056]);
        assert_eq!([expiry(0.0, 2044.0), expiry(0.0, 2048.0)], [2048, 2304]);
    }

    #[test]
    fn delays_are_rounded_up() {
        let ticks = Ticks::new(millis(4.0));
        assert_eq!([0.0, 4.0, 4.1, 200.0].map(|delay| (ticks.round_up(millis(delay)).as_secs_f64() * 1e3).round() as u64), [0, 4, 8, 200]);
        assert_eq!(Ticks::default().round_up(millis(4.1)), millis(4.1));
    }

    #[test]
    fn without_ticks_timers_are_exact() {
        assert_eq!(Ticks::default().expiry(Instant::ZERO + millis(1.5), millis(0.25)), Instant::ZERO + millis(1.75));
    }
}
