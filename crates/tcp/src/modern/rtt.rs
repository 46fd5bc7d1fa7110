//! Round-trip time and retransmission timeout.
//!
//! ## References
//! RFC 6298.
//! ## Differs from the document
//! Every ACK gives a sample, each with the full gains, as in today's systems. RFC 7323 appendix G would divide the gains by the samples per
//! round trip. The estimate would then lag behind a queue that slow start fills, and the timer would expire while ACKs still flow. With the
//! full gains the deviation vanishes between the samples of one round trip; `margin` compensates for that.

use ackclock_core::units::Duration;

use super::config::RtoBounds;

/// Gain of `srtt` (RFC 6298 §2.3).
const ALPHA: f64 = 1.0 / 8.0;
/// Gain of `rttvar` (RFC 6298 §2.3).
const BETA: f64 = 1.0 / 4.0;
/// Weight of `rttvar` in the timeout (RFC 6298 §2.3).
const K: f64 = 4.0;
/// First timeout for data after a lost SYN (RFC 6298 §5.7).
const AFTER_LOST_SYN: Duration = Duration::from_millis(3000);
/// Largest backoff exponent: with it a timeout exceeds every bound.
const MAX_BACKOFF: u32 = 32;

/// Round-trip estimator and timeout.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    /// Smoothed round-trip time and its mean deviation, in seconds.
    smoothed: Option<(f64, f64)>,
    min: Option<Duration>,
    latest: Option<Duration>,
    /// The timeout in force.
    timeout: Duration,
    /// The timeout before backoff and the upper bound.
    base: Duration,
    bounds: RtoBounds,
    /// Number of doublings.
    backoff: u32,
}

impl Rtt {
    /// An estimator without a measurement.
    pub(super) fn new(bounds: RtoBounds) -> Self {
        let mut rtt = Self { bounds, smoothed: None, latest: None, min: None, backoff: 0, timeout: Duration::ZERO, base: bounds.initial };
        rtt.double();
        rtt
    }

    /// Adds a round-trip time sample.
    pub(super) fn measure(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |least| least.min(rtt)));
        let sample = rtt.as_secs_f64();
        let (srtt, rttvar) = match self.smoothed {
            // RFC 6298 §2.2.
            None => (sample, sample / 2.0),
            // RFC 6298 §2.3: rttvar first, from the old srtt.
            Some((srtt, rttvar)) => (srtt + ALPHA * (sample - srtt), rttvar + BETA * ((srtt - sample).abs() - rttvar)),
        };
        self.smoothed = Some((srtt, rttvar));
        // RFC 6298 §2.3 and §2.4.
        self.base = Duration::from_secs_f64(srtt + (K * rttvar).max(self.bounds.margin.as_secs_f64())).max(self.bounds.min);
        self.double();
    }

    /// The current retransmission timeout.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// RFC 6298 §5.5 and §2.5: doubles the timeout once per expiry, up to the maximum.
    fn double(&mut self) {
        self.timeout = (self.base * (1_u64 << self.backoff) as f64).min(self.bounds.max);
    }

    /// RFC 6298 §5.5: doubles the timeout after it has expired.
    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.double();
    }

    /// Ends the backoff: new data was acknowledged.
    pub(super) fn end_backoff(&mut self) {
        if self.backoff > 0 {
            self.backoff = 0;
            self.double();
        }
    }

    /// RFC 6298 §5.7: the SYN was retransmitted and gave no round-trip sample.
    pub(super) fn restart_after_lost_syn(&mut self) {
        self.base = self.bounds.initial.max(AFTER_LOST_SYN);
        self.backoff = 0;
        self.double();
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|(srtt, _)| Duration::from_secs_f64(srtt))
    }

    /// Mean deviation of the round-trip time; `None` before the first sample.
    pub(super) fn deviation(&self) -> Option<Duration> {
        self.smoothed.map(|(_, deviation)| Duration::from_secs_f64(deviation))
    }

    /// Number of doublings of the timeout.
    pub(super) fn doublings(&self) -> u32 {
        self.backoff
    }

    /// The latest sample.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The minimum sample.
    pub(super) fn min(&self) -> Option<Duration> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Smoothed round-trip time and timeout in nanoseconds.
    fn nanos(rtt: &Rtt) -> (Option<u64>, u64) {
        (rtt.srtt().map(Duration::as_nanos), rtt.timeout().as_nanos())
    }

    fn rtt(margin: u64) -> Rtt {
        Rtt::new(RtoBounds { margin: millis(margin), ..Config::default().rto })
    }

    #[test]
    fn rfc_6298_arithmetic() {
        let mut rtt = rtt(1);
        assert_eq!(rtt.timeout(), millis(1000), "§2.1");
        rtt.measure(millis(100));
        // §2.2: srtt = 100, rttvar = 50, RTO = 100 + 4 · 50.
        assert_eq!(nanos(&rtt), (Some(100_000_000), 300_000_000));
        rtt.measure(millis(180));
        // §2.3: rttvar = 3/4 · 50 + 1/4 · 80 = 57.5; srtt = 7/8 · 100 + 1/8 · 180 = 110; RTO = 110 + 230.
        assert_eq!(nanos(&rtt), (Some(110_000_000), 340_000_000));
        assert_eq!((rtt.min(), rtt.latest()), (Some(millis(100)), Some(millis(180))));
    }

    #[test]
    fn bounds_and_margin() {
        let mut bounded = rtt(1);
        bounded.measure(millis(10));
        assert_eq!(nanos(&bounded).1, 200_000_000, "§2.4: 10 + 4 · 5 is below the minimum");
        let mut steady = rtt(200);
        for _ in 0..200 {
            steady.measure(millis(300));
        }
        assert_eq!(nanos(&steady).1, 500_000_000, "the deviation has vanished, the margin remains");
    }

    #[test]
    fn backoff_doubles_up_to_the_largest_timeout() {
        let mut rtt = rtt(1);
        rtt.measure(millis(100));
        let mut timeouts = Vec::new();
        for _ in 0..10 {
            timeouts.push(rtt.timeout().as_nanos() / 1_000_000);
            rtt.back_off();
        }
        assert_eq!(timeouts, [300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000]);
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(nanos(&rtt).1, 60_000_000_000);
        rtt.end_backoff();
        assert_eq!(nanos(&rtt).1, 300_000_000);
    }
}
