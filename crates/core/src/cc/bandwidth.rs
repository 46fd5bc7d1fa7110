//! The bandwidth of a connection, estimated from the rate of returning ACKs as in TCP Westwood, and Westwood's response to congestion.
//!
//! ## References
//! Mascolo, Casetti, Gerla, Sanadidi & Wang, *TCP Westwood: bandwidth estimation for enhanced transport over wireless links*, 2001, §2.1
//! (samples), §2.2 (filter), §2.3 (counting of ACKs); Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and
//! Vegas TCP congestion control*, 2004, §2 (one sample per round trip).
//! ## Differs from the documents
//! - The estimator counts segments instead of bytes: all segments of a bulk transfer have one size.
//! - ACKs that arrive at the same time form one sample with the next later ACK, since a sample over no time has no rate.
//! - A sample that ends an idle time starts at the last ACK, not at the last null sample. Its rate therefore does not depend on the null
//!   samples.
//! - Duplicate ACKs report segments before a cumulative ACK covers them. The cumulative ACK subtracts the segments it covers, except one
//!   for itself, from the reported ones. The paper's procedure subtracts that one too if more segments were reported than covered. Each
//!   such partial ACK then makes a later ACK count a segment twice.

use crate::cc::contract::Window;
use crate::entry::{Quantity, quantity};
use crate::events::{Ack, Cause, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Duration, Instant, Segments};

/// Parameters of the estimate, listed before a part's own.
pub(crate) const PARAMS: [Param; 4] = [
    Param {
        name: "filter",
        kind: Kind::Word(&["original", "plus"]),
        default: Default::Word("original"),
        doc: "original: a sample per ACK, with the filter of 2001; plus: a sample per round trip, with Westwood+'s filter of 2004",
    },
    Param {
        name: "tau",
        kind: Kind::Duration { min: 1e-3, max: 1e3 },
        default: Default::Number(0.5),
        doc: "time constant of the original filter (Mascolo et al. §2.2: 0.5 s)",
    },
    Param {
        name: "m",
        kind: Kind::Number { min: 1.0, max: 1e3 },
        default: Default::Number(2.0),
        doc: "after tau/m without an ACK the original filter adds a null sample (Mascolo et al. §2.2: at least 2)",
    },
    Param {
        name: "pole",
        kind: Kind::Number { min: 0.0, max: 0.999_999 },
        default: Default::Number(0.9),
        doc: "weight of the old estimate in Westwood+'s filter (Grieco & Mascolo §2: 0.9)",
    },
];

/// Parameter of a part that responds to congestion with the estimate.
pub(crate) const RULE: Param = Param {
    name: "rule",
    kind: Kind::Word(&["at_most", "listing"]),
    default: Default::Word("at_most"),
    doc: "cwnd after duplicate ACKs: at most ssthresh (Mascolo et al. §3), or in avoidance ssthresh even if larger (Hong et al., listing)",
};

/// The estimate in traces.
pub(crate) const BWE: Quantity = quantity("bwe", "segments/s", "estimated bandwidth").on("bandwidth");
/// Its mean.
pub(crate) const BWE_AVG: Quantity = quantity("bwe_avg", "segments/s", "mean of the estimates at all ACKs so far").on("bandwidth");
/// Its maximum.
pub(crate) const BWE_MAX: Quantity = quantity("bwe_max", "segments/s", "largest estimate so far").on("bandwidth");

/// The rule for `cwnd` at duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// At most `ssthresh`.
    AtMost,
    /// In avoidance `ssthresh`, even if that is larger than `cwnd`.
    Listing,
}

impl Rule {
    /// Reads [`RULE`].
    pub(crate) fn new(params: &Params) -> Self {
        if params.word("rule") == "listing" { Self::Listing } else { Self::AtMost }
    }
}

/// [`PARAMS`] and [`RULE`].
pub(crate) const PARAMS_AND_RULE: [Param; 5] = {
    let [filter, tau, m, pole] = PARAMS;
    [filter, tau, m, pole, RULE]
};

/// Estimate of the bandwidth, in segments per second.
#[derive(Clone, Debug)]
pub(crate) struct Bandwidth {
    filter: Filter,
    /// End of the last sample.
    sampled: Option<Instant>,
    /// Segments acknowledged since then.
    acked: Segments,
    /// Segments reported by duplicate ACKs and not yet by a cumulative ACK.
    accounted: u32,
    estimate: f64,
    /// Sum, number and maximum of the estimates, one per ACK.
    sum: f64,
    count: u64,
    max: f64,
}

#[derive(Clone, Debug)]
enum Filter {
    Original {
        tau: f64,
        /// Time without an ACK after which a null sample is added.
        idle_limit: Duration,
        /// The last sample, and the time up to which the filter is current. Null samples move that time beyond the end of the last sample.
        last: f64,
        filtered: Instant,
    },
    Plus {
        pole: f64,
        /// Whether a sample has been taken.
        begun: bool,
    },
}

impl Bandwidth {
    /// Reads [`PARAMS`].
    pub(crate) fn new(params: &Params) -> Self {
        let filter = if params.word("filter") == "plus" {
            Filter::Plus { pole: params.number("pole"), begun: false }
        } else {
            let tau = params.number("tau");
            let idle_limit = Duration::from_secs_f64(tau / params.number("m"));
            Filter::Original { tau, idle_limit, last: 0.0, filtered: Instant::ZERO }
        };
        Self { filter, sampled: None, acked: 0.0, accounted: 0, estimate: 0.0, sum: 0.0, count: 0, max: 0.0 }
    }

    /// Observes an ACK, new or duplicate.
    pub(crate) fn observe(&mut self, ack: &Ack) {
        self.acked += f64::from(self.newly_arrived(ack.acked));
        let Some(sampled) = self.sampled else {
            // The first ACK starts the clock: the duration of its own segments' delivery is unknown.
            self.begin(ack.now);
            return;
        };
        let gap = ack.now.since(sampled);
        match &mut self.filter {
            Filter::Original { .. } if gap > Duration::ZERO => self.sample(ack.now, gap),
            // A host that counts nanoseconds may round the gap down; half a nanosecond more covers the rounding of this sum.
            Filter::Plus { pole, begun } if gap > Duration::ZERO && gap + Duration::NANOSECOND * 1.5 >= ack.rtt.unwrap_or(gap) => {
                // Grieco & Mascolo §2: a sample is the segments acknowledged in a round trip over its length. The first is the first
                // estimate.
                let sample = self.acked / gap.as_secs_f64();
                let pole = if std::mem::replace(begun, true) { *pole } else { 0.0 };
                self.estimate = pole * self.estimate + (1.0 - pole) * sample;
                self.restart(ack.now);
            }
            _ => {}
        }
        self.sum += self.estimate;
        self.count += 1;
        self.max = self.max.max(self.estimate);
    }

    /// Mascolo et al. §2.3: a duplicate ACK reports the arrival of one segment; the next cumulative ACK reports the others.
    fn newly_arrived(&mut self, acked: u32) -> u32 {
        if acked == 0 {
            self.accounted += 1;
            return 1;
        }
        // The arrival of one segment caused the cumulative ACK itself, even if duplicates reported all that it covers.
        let reported = self.accounted.min(acked - 1);
        self.accounted -= reported;
        acked - reported
    }

    fn begin(&mut self, now: Instant) {
        self.restart(now);
        if let Filter::Original { filtered, .. } = &mut self.filter {
            *filtered = now;
        }
    }

    fn restart(&mut self, now: Instant) {
        self.sampled = Some(now);
        self.acked = 0.0;
    }

    /// The original filter's sample: the segments acknowledged in `gap`, which ends now.
    fn sample(&mut self, now: Instant, gap: Duration) {
        self.add_null_samples(now);
        let sample = self.acked / gap.as_secs_f64();
        if let Filter::Original { tau, last, filtered, .. } = &mut self.filter {
            self.estimate = tustin(self.estimate, *tau, now.since(*filtered), sample + *last);
            (*last, *filtered) = (sample, now);
        }
        self.restart(now);
    }

    /// Adds the null samples before `now`. Mascolo et al. §2.2: one whenever tau/m passes without an ACK.
    fn add_null_samples(&mut self, now: Instant) {
        let (Filter::Original { tau, idle_limit, last, filtered }, Some(_)) = (&mut self.filter, self.sampled) else { return };
        // An idle period that ends exactly at `now`, to the nanosecond, adds no null sample.
        let idle_periods = (now.since(*filtered) - Duration::NANOSECOND * 0.5).as_secs_f64() / idle_limit.as_secs_f64();
        let nulls = libm::floor(idle_periods);
        if nulls > 0.0 {
            self.estimate = tustin(self.estimate, *tau, *idle_limit, *last);
            self.estimate *= libm::pow(weight(*tau, *idle_limit), nulls - 1.0);
            *last = 0.0;
            *filtered += *idle_limit * nulls;
        }
    }

    /// The estimate in segments per second; zero before the first sample.
    pub(crate) fn estimate(&self) -> f64 {
        self.estimate
    }

    /// The mean of the estimates at all ACKs so far.
    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// The largest estimate so far.
    pub(crate) fn max(&self) -> f64 {
        self.max
    }

    /// The segments that fill the path without a queue: the estimate times the smallest round-trip time; `None` while that is unknown.
    pub(crate) fn pipe(&self, min_rtt: Option<Duration>) -> Option<Segments> {
        min_rtt.map(|rtt| self.estimate * rtt.as_secs_f64())
    }

    /// Westwood's response to congestion. Mascolo et al. §3: `ssthresh` becomes the pipe, and `cwnd` at most that.
    pub(crate) fn respond(&mut self, event: &CongestionEvent, window: &Window, rule: Rule) -> Window {
        self.add_null_samples(event.now);
        let Window { ssthresh, .. } = Window::reduced_to(self.pipe(event.min_rtt).unwrap_or(0.0));
        // Hong et al.'s listing: in avoidance `cwnd=ssthresh`, without the condition that it has for slow start.
        let sets = rule == Rule::Listing && event.cause != Cause::Timeout && window.cwnd >= window.ssthresh;
        let cwnd = if sets { ssthresh } else { window.cwnd.min(event.window).min(ssthresh) };
        Window { cwnd, ssthresh }
    }

    /// Reports the estimate, its mean and its maximum, in segments per second.
    pub(crate) fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bwe", self.estimate);
        out("bwe_avg", self.mean());
        out("bwe_max", self.max);
    }
}

/// The filter of Mascolo et al. §2.2 (equation 3): a low-pass filter with the time constant `tau`, discretized by the bilinear transform.
/// `samples` is the sum of the last two samples.
fn tustin(estimate: f64, tau: f64, step: Duration, samples: f64) -> f64 {
    let weight = weight(tau, step);
    weight * estimate + (1.0 - weight) * samples / 2.0
}

/// The weight of the old estimate after `step`.
fn weight(tau: f64, step: Duration) -> f64 {
    (2.0 * tau - step.as_secs_f64()) / (2.0 * tau + step.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, congestion, window};
    use proptest::prelude::*;

    fn estimator(filter: &str) -> Bandwidth {
        let mut params = Params::defaults(&PARAMS);
        params.set("filter", Value::Word(filter.to_owned()));
        Bandwidth::new(&params)
    }

    fn ack(micros: u64, acked: u32) -> Ack {
        Ack { now: Instant::from_nanos(micros * 1000), acked, rtt: Some(Duration::from_millis(100)), ..ACK }
    }

    /// Sends ACKs of one segment each, every `step` microseconds, after `start` and up to and including `end`.
    fn stream(bandwidth: &mut Bandwidth, start: u64, end: u64, step: usize) {
        for micros in (start..=end).step_by(step).skip(1) {
            bandwidth.observe(&ack(micros, 1));
        }
    }

    fn begun(filter: &str) -> Bandwidth {
        let mut bandwidth = estimator(filter);
        bandwidth.observe(&ack(0, 1));
        bandwidth
    }

    #[test]
    fn the_first_steps_by_hand() {
        let mut bandwidth = begun("original");
        assert_eq!(bandwidth.estimate(), 0.0, "the first ACK gives no rate");
        // 10 ms: weight (1 − 0.01)/(1 + 0.01); this sample is 100 segments per second, the previous one 0.
        bandwidth.observe(&ack(10_000, 1));
        let first = (1.0 - 0.99 / 1.01) * 50.0;
        assert_close(bandwidth.estimate(), first, 1e-12);
        // 20 ms and two segments: again 100, after a sample of 100.
        bandwidth.observe(&ack(30_000, 2));
        let weight = 0.98 / 1.02;
        assert_close(bandwidth.estimate(), weight * first + (1.0 - weight) * 100.0, 1e-12);
        assert_close(bandwidth.mean(), f64::midpoint(first, bandwidth.estimate()), 1e-12);
        assert_eq!(bandwidth.max(), bandwidth.estimate());
    }

    #[test]
    fn the_estimate_converges_to_a_constant_rate_with_the_time_constant() {
        let mut bandwidth = begun("original");
        // After tau the step response is 1 − 1/e. The bilinear transform deviates by (step/tau)², the first sample by half a step.
        stream(&mut bandwidth, 0, 500_000, 1000);
        assert_close(bandwidth.estimate(), 1000.0 * (1.0 - (-1.0_f64).exp()), 1.0);
        stream(&mut bandwidth, 500_000, 10_000_000, 1000);
        assert_close(bandwidth.estimate(), 1000.0, 1e-4);
        let mut plus = begun("plus");
        stream(&mut plus, 0, 100_000, 1000);
        assert_close(plus.estimate(), 1000.0, 1e-9);
    }

    #[test]
    fn a_step_of_the_rate() {
        for (filter, after) in [
            // After 250 ms: e^(−1/2) of the difference remains.
            ("original", 500.0 + 500.0 * (-0.5_f64).exp()),
            // After two round trips: 0.9² of it.
            ("plus", 500.0 + 500.0 * 0.9_f64.powi(2)),
        ] {
            let mut bandwidth = begun(filter);
            stream(&mut bandwidth, 0, 10_000_000, 1000);
            stream(&mut bandwidth, 10_000_000, 10_250_000, 2000);
            assert_close(bandwidth.estimate(), after, 2.0);
            stream(&mut bandwidth, 10_250_000, 30_000_000, 2000);
            assert_close(bandwidth.estimate(), 500.0, 0.01);
            assert_close(bandwidth.max(), 1000.0, 0.01);
        }
    }

    #[test]
    fn jitter_averages_out() {
        for filter in ["original", "plus"] {
            let mut bandwidth = begun(filter);
            // Gaps of 0.5 ms and 1.5 ms alternate. The original's samples are 2000 and 667; each counts over its own gap and the next.
            for pair in 0..10_000 {
                bandwidth.observe(&ack(2000 * pair + 500, 1));
                bandwidth.observe(&ack(2000 * pair + 2000, 1));
            }
            let expected = if filter == "original" { f64::midpoint(2000.0, 2000.0 / 3.0) } else { 1000.0 };
            assert_close(bandwidth.estimate(), expected, 2.0);
        }
    }

    #[test]
    fn ack_compression_biases_the_original_but_not_plus() {
        // 10 ACKs within 100 µs and one at 10 ms: 1100 segments per second on average.
        let rate = |filter: &str| {
            let mut bandwidth = begun(filter);
            for burst in 0..1000 {
                stream(&mut bandwidth, 10_000 * burst, 10_000 * burst + 100, 10);
                bandwidth.observe(&ack(10_000 * (burst + 1), 1));
            }
            bandwidth.estimate()
        };
        assert_close(rate("plus"), 1100.0, 1.0);
        // The gap of 9.9 ms averages its own sample of 101 with the preceding compressed one of 100 000.
        assert!(rate("original") > 40_000.0, "{}", rate("original"));
    }

    #[test]
    fn acks_at_the_same_time_join_the_next_sample() {
        let mut apart = begun("original");
        let mut together = begun("original");
        apart.observe(&ack(1000, 3));
        together.observe(&ack(0, 1));
        together.observe(&ack(0, 1));
        assert_eq!(together.estimate(), 0.0);
        together.observe(&ack(1000, 1));
        assert_eq!(together.estimate(), apart.estimate());
    }

    #[test]
    fn null_samples_decay_the_estimate_in_idle_time() {
        let converged = || {
            let mut bandwidth = begun("original");
            stream(&mut bandwidth, 0, 10_000_000, 1000);
            bandwidth
        };
        // tau/m = 250 ms: weight (1 − 0.25)/(1 + 0.25) = 0.6. The first null sample still averages with the sample before it.
        let mut bandwidth = converged();
        bandwidth.add_null_samples(Instant::from_nanos(10_250_000_000));
        assert_close(bandwidth.estimate(), 1000.0, 1e-3);
        bandwidth.add_null_samples(Instant::from_nanos(10_250_000_001));
        assert_close(bandwidth.estimate(), 600.0 + 0.4 * 500.0, 1e-3);
        bandwidth.add_null_samples(Instant::from_nanos(11_000_000_000));
        assert_close(bandwidth.estimate(), 800.0 * 0.36, 1e-3);
        // One step gives the same result; then 1 segment arrives in 1.1 s.
        let mut later = converged();
        later.observe(&ack(11_100_000, 1));
        bandwidth.observe(&ack(11_100_000, 1));
        assert_close(bandwidth.estimate(), later.estimate(), 1e-12);
        let weight = 0.9 / 1.1;
        assert_close(bandwidth.estimate(), weight * 800.0 * 0.6_f64.powi(3) + (1.0 - weight) / 2.0 / 1.1, 1e-3);
    }

    #[test]
    fn a_timeout_takes_account_of_idle_time() {
        let mut bandwidth = begun("original");
        stream(&mut bandwidth, 0, 10_000_000, 1000);
        let event = CongestionEvent {
            now: Instant::from_nanos(11_000_000_000),
            min_rtt: Some(Duration::from_millis(100)),
            ..congestion(Cause::Timeout, 90.0)
        };
        // 800 · 0.6² of 1000 segments per second, times 100 ms.
        assert_eq!(bandwidth.respond(&event, &window(90.0), Rule::AtMost).ssthresh, 28.0);
    }

    #[test]
    fn duplicate_acks_count_one_segment_and_the_cumulative_ack_the_rest() {
        let mut bandwidth = estimator("original");
        let counted = [0, 0, 0, 6].map(|acked| bandwidth.newly_arrived(acked));
        assert_eq!(counted, [1, 1, 1, 3], "six segments in all");
        // More duplicates than the partial ACK covers: the ACK counts for itself, and the surplus is subtracted later.
        let counted = [0, 0, 0, 0, 2, 5].map(|acked| bandwidth.newly_arrived(acked));
        assert_eq!(counted, [1, 1, 1, 1, 1, 2]);
        assert_eq!([1, 1].map(|acked| bandwidth.newly_arrived(acked)), [1, 1], "no surplus remains");
    }

    #[test]
    fn westwoods_response() {
        let mut bandwidth = begun("plus");
        stream(&mut bandwidth, 0, 1_000_000, 1000);
        // One nanosecond more, so that rounding does not cost a segment.
        let event =
            |cause, rtt| CongestionEvent { min_rtt: Some(Duration::from_millis(rtt) + Duration::NANOSECOND), ..congestion(cause, 50.0) };
        assert_eq!(bandwidth.respond(&event(Cause::DupAck, 20), &window(50.0), Rule::AtMost), Window { cwnd: 20.0, ssthresh: 20.0 });
        assert_eq!(bandwidth.respond(&event(Cause::DupAck, 80), &window(50.0), Rule::AtMost), Window { cwnd: 50.0, ssthresh: 80.0 });
        let limited = CongestionEvent { window: 15.0, ..event(Cause::DupAck, 20) };
        assert_eq!(
            bandwidth.respond(&limited, &window(50.0), Rule::AtMost),
            Window { cwnd: 15.0, ssthresh: 20.0 },
            "the receiver's window applies"
        );
        assert_eq!(bandwidth.respond(&event(Cause::Timeout, 1), &window(50.0), Rule::AtMost).ssthresh, 2.0);
        assert_eq!(
            bandwidth.respond(&congestion(Cause::DupAck, 50.0), &window(50.0), Rule::AtMost).ssthresh,
            2.0,
            "no round-trip time yet"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_segment_counts_twice(acks in prop::collection::vec(0..6_u32, 1..200)) {
            let mut bandwidth = estimator("original");
            let (mut arrived, mut covered) = (0, 0);
            for acked in acks {
                arrived += bandwidth.newly_arrived(acked);
                covered += acked;
                prop_assert!(bandwidth.accounted + covered >= arrived || acked == 0 || bandwidth.accounted > 0);
            }
            // Arrived segments are those covered, plus those reported by duplicates beyond them.
            prop_assert_eq!(arrived, covered + bandwidth.accounted);
        }

        #[test]
        fn the_estimate_is_finite_and_not_negative(
            filter in prop_oneof![Just("original"), Just("plus")],
            acks in prop::collection::vec((0..3_000_000_u64, 0..5_u32), 1..100),
        ) {
            let (mut bandwidth, mut now) = (estimator(filter), 0);
            for (gap, acked) in acks {
                now += gap;
                bandwidth.observe(&ack(now, acked));
                prop_assert!(bandwidth.estimate().is_finite() && bandwidth.estimate() >= 0.0);
                prop_assert!(bandwidth.estimate() <= bandwidth.max() && bandwidth.mean() <= bandwidth.max() * (1.0 + 1e-12));
            }
        }
    }
}
