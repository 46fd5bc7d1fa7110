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
use super::ticks::Ticks;

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
    /// The clock of the timers, to whose ticks the timeout is rounded up.
    ticks: Ticks,
    /// The deviation in force, if it changes once a round trip.
    held: Option<Held>,
}

/// Estimates in whole microseconds, and a deviation of the timeout that changes with the round trips: the largest of a round trip counts at
/// once, and decays by a quarter of the difference in each round trip (Sarolahti and Kuznetsov, *Congestion Control in Linux TCP*,
/// USENIX 2002, §3.3).
#[derive(Clone, Debug)]
struct Held {
    /// Smoothed round-trip time in eighths of a microsecond.
    srtt: i64,
    /// Four deviations, as in the timeout, in microseconds; so are the following ones.
    deviation: i64,
    /// What counts.
    variance: i64,
    /// The largest in the present round trip.
    largest: i64,
    /// The smallest that counts.
    least: i64,
    /// The round trip ends when all data below this position is acknowledged.
    end: u64,
}

impl Held {
    fn new(margin: Duration) -> Self {
        let least = micros(margin);
        Self { srtt: 0, deviation: 0, variance: least, largest: least, least, end: 0 }
    }

    /// Adds a sample; returns `srtt` with its deviation, and the timeout, in seconds.
    fn measure(&mut self, is_first: bool, sample: Duration, (una, nxt): (u64, u64)) -> ((f64, f64), f64) {
        let sample = micros(sample).max(1);
        if is_first {
            (self.srtt, self.deviation) = (8 * sample, 2 * sample);
            self.variance = self.deviation.max(self.least);
            (self.largest, self.end) = (self.variance, nxt);
        } else {
            let error = sample - (self.srtt >> 3);
            self.srtt += error;
            let excess = error.abs() - (self.deviation >> 2);
            // A falling round-trip time hardly raises the deviation.
            self.deviation += if error < 0 && excess > 0 { excess >> 3 } else { excess };
            self.largest = self.largest.max(self.deviation);
            self.variance = self.variance.max(self.largest);
            if una > self.end {
                self.variance -= (self.variance - self.largest) >> 2;
                (self.largest, self.end) = (self.least, nxt);
            }
        }
        let seconds = |eighths: i64| eighths as f64 / 8e6;
        ((seconds(self.srtt), seconds(2 * self.deviation)), seconds(8 * ((self.srtt >> 3) + self.variance)))
    }
}

/// Whole microseconds.
fn micros(duration: Duration) -> i64 {
    (duration.as_secs_f64() * 1e6 + 0.5) as i64
}

impl Rtt {
    /// An estimator without a measurement.
    pub(super) fn new(bounds: RtoBounds, ticks: Ticks) -> Self {
        let (timeout, base) = (Duration::ZERO, bounds.initial);
        let held = bounds.per_round.then(|| Held::new(bounds.margin));
        let mut rtt = Self { bounds, smoothed: None, latest: None, min: None, backoff: 0, timeout, base, ticks, held };
        rtt.double();
        rtt
    }

    /// Adds a round-trip time sample that belongs to no round trip.
    #[cfg(test)]
    pub(super) fn measure(&mut self, rtt: Duration) {
        self.measure_at(rtt, (0, 0));
    }

    /// Adds a round-trip time sample. `una`, `nxt`: first unacknowledged and next new position.
    pub(super) fn measure_at(&mut self, rtt: Duration, (una, nxt): (u64, u64)) {
        let rtt = if self.held.is_some() { Duration::from_nanos(1000 * micros(rtt).cast_unsigned()) } else { rtt };
        self.latest = Some(rtt);
        self.note_min(rtt);
        if let Some(held) = &mut self.held {
            let (smoothed, timeout) = held.measure(self.smoothed.is_none(), rtt, (una, nxt));
            self.smoothed = Some(smoothed);
            self.base = self.ticks.round_up(Duration::from_secs_f64(timeout)).max(self.bounds.min);
            return self.double();
        }
        let sample = rtt.as_secs_f64();
        let (srtt, rttvar) = match self.smoothed {
            // RFC 6298 §2.2.
            None => (sample, sample / 2.0),
            // RFC 6298 §2.3: rttvar first, from the old srtt.
            Some((srtt, rttvar)) => (srtt + ALPHA * (sample - srtt), rttvar + BETA * ((srtt - sample).abs() - rttvar)),
        };
        self.smoothed = Some((srtt, rttvar));
        // RFC 6298 §2.3 and §2.4.
        let timeout = Duration::from_secs_f64(srtt + (K * rttvar).max(self.bounds.margin.as_secs_f64()));
        self.base = self.ticks.round_up(timeout).max(self.bounds.min);
        self.double();
    }

    /// A time that counts for the minimum only.
    pub(super) fn note_min(&mut self, rtt: Duration) {
        self.min = Some(self.min.map_or(rtt, |least| least.min(rtt)));
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
    use super::super::settings::Config;
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Smoothed round-trip time and timeout in nanoseconds.
    fn nanos(rtt: &Rtt) -> (Option<u64>, u64) {
        (rtt.srtt().map(Duration::as_nanos), rtt.timeout().as_nanos())
    }

    fn rtt(margin: u64) -> Rtt {
        Rtt::new(RtoBounds { margin: millis(margin), ..Config::default().rto }, Ticks::default())
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
    fn the_deviation_in_force_decays_once_a_round_trip() {
        let bounds = RtoBounds { margin: millis(200), per_round: true, ..Config::default().rto };
        let mut rtt = Rtt::new(bounds, Ticks::default());
        rtt.measure_at(millis(300), (1, 1));
        assert_eq!(nanos(&rtt).1, 900_000_000, "twice the first sample");
        for una in 2..=20 {
            rtt.measure_at(millis(300), (una, 21));
        }
        assert_eq!(nanos(&rtt).1, 900_000_000, "the first deviation still counts");
        rtt.measure_at(millis(300), (22, 41));
        // The largest deviation since the second sample was 4 · 84.375 = 337.5 ms: 600 − (600 − 337.5) / 4.
        assert_eq!(nanos(&rtt).1, 834_375_000);
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
