//! The retransmission timeout of a coarse clock, as in 4.3BSD and ns-2: integer ticks, scaled estimators, exponential backoff.
//!
//! ## References
//! RFC 6298; Jacobson, *Congestion avoidance and control*, 1988, appendix A; ns-2.35, inferred from its runs.

use ackclock_core::units::{Duration, Instant};

/// `srtt` counts eighths of a tick.
const SRTT_BITS: u32 = 3;
/// `rttvar` counts quarters of a tick.
const RTTVAR_BITS: u32 = 2;
/// Upper limit of a measured round-trip time, in ticks: no run reaches it, and its multiples do not overflow.
const MAX_TICKS: i64 = 1 << 48;
/// Above this backoff factor the round-trip estimate counts as wrong and is reset.
const FORGET_BACKOFF: u64 = 8;
/// Below this backoff factor every timeout doubles the factor, even if the timeout has reached its maximum.
const FREE_BACKOFF: u64 = 64;

/// Clock and bounds of the retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtoConfig {
    /// Tick of the clock.
    pub(super) granularity: Duration,
    /// Phase of the clock.
    pub(super) phase: Duration,
    /// Smallest timeout, before backoff.
    pub(super) min: Duration,
    /// Timeout before the first measurement.
    pub(super) initial: Duration,
    /// Largest timeout.
    pub(super) max: Duration,
}

/// Round-trip estimator and timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rto {
    config: RtoConfig,
    /// Smoothed round-trip time in ticks, scaled; zero: no sample yet.
    srtt: i64,
    /// Mean deviation of the round-trip time in ticks, scaled.
    rttvar: i64,
    /// The timeout without backoff and bounds.
    current: Duration,
    backoff: u64,
}

impl Rto {
    /// An estimator without a measurement.
    pub(super) fn new(config: RtoConfig) -> Self {
        Self { config, srtt: 0, rttvar: 12, current: config.initial, backoff: 1 }
    }

    /// Adds the round-trip time of a segment sent at `sent` and acknowledged at `now`.
    pub(super) fn measure(&mut self, sent: Instant, now: Instant) {
        let (tick, elapsed) = (self.config.granularity.as_secs_f64(), now.since(sent).as_secs_f64());
        // The order of operations is ns-2's, which knows the elapsed time but not the sending time.
        let offset = ((now.as_secs_f64() - elapsed) + self.config.phase.as_secs_f64()) % tick;
        let ticks = (((elapsed + offset) / tick) as i64).clamp(1, MAX_TICKS);
        if self.srtt == 0 {
            self.srtt = ticks << SRTT_BITS;
            self.rttvar = ticks << (RTTVAR_BITS - 1);
        } else {
            let delta = ticks - (self.srtt >> SRTT_BITS);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> RTTVAR_BITS)).max(1);
        }
        // RFC 6298 §2.3: srtt + 4·rttvar, both in eighths of a tick.
        let scaled = (self.rttvar << (2 + SRTT_BITS - RTTVAR_BITS)) + self.srtt;
        self.current = self.config.granularity * (scaled >> SRTT_BITS) as f64;
    }

    /// The current timeout.
    pub(super) fn timeout(&self) -> Duration {
        let bounded = (self.current.max(self.config.min) * self.backoff as f64).min(self.config.max);
        bounded.max(self.config.granularity * 2.0)
    }

    /// Doubles the timeout after it has expired.
    pub(super) fn back_off(&mut self) {
        if self.backoff < FREE_BACKOFF || self.timeout() < self.config.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > FORGET_BACKOFF {
            self.rttvar += self.srtt >> SRTT_BITS;
            self.srtt = 0;
        }
    }

    /// Ends the backoff.
    pub(super) fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub(super) fn srtt(&self) -> Option<Duration> {
        (self.srtt > 0).then(|| self.config.granularity * (self.srtt as f64 / f64::from(1 << SRTT_BITS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> RtoConfig {
        RtoConfig {
            granularity: Duration::from_millis(10),
            phase: Duration::ZERO,
            min: Duration::from_millis(200),
            initial: Duration::from_millis(3000),
            max: Duration::from_millis(60_000),
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn the_first_timeout_is_three_times_the_first_sample() {
        let mut rto = Rto::new(config());
        assert_eq!(rto.timeout(), Duration::from_millis(3000));
        rto.measure(at(0), at(100));
        // 10 ticks: srtt = 80/8, rttvar = 20/4, timeout = (20·8 + 80)/8 = 30 ticks.
        assert_eq!(rto.timeout(), Duration::from_millis(300));
        assert_eq!(rto.srtt(), Some(Duration::from_millis(100)));
    }

    #[test]
    fn the_phase_moves_a_measurement_across_a_tick() {
        let mut early = Rto::new(config());
        early.measure(at(1), at(69));
        let mut late = Rto::new(RtoConfig { phase: Duration::from_millis(5), ..config() });
        late.measure(at(1), at(69));
        // From 1 ms to 69 ms the clock ticks 6 times; with a phase of 5 ms it ticks 7 times.
        assert_eq!(early.srtt(), Some(Duration::from_millis(60)));
        assert_eq!(late.srtt(), Some(Duration::from_millis(70)));
    }

    #[test]
    fn backoff_doubles_up_to_the_largest_timeout() {
        let mut rto = Rto::new(config());
        rto.measure(at(0), at(50));
        let mut timeouts = Vec::new();
        for _ in 0..10 {
            timeouts.push(rto.timeout().as_nanos() / 1_000_000);
            rto.back_off();
        }
        assert_eq!(timeouts, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000]);
    }

    #[test]
    fn a_long_backoff_resets_the_estimate() {
        let mut rto = Rto::new(config());
        rto.measure(at(0), at(100));
        for _ in 0..3 {
            rto.back_off();
        }
        assert!(rto.srtt().is_some());
        rto.back_off();
        assert_eq!(rto.srtt(), None);
    }
}
