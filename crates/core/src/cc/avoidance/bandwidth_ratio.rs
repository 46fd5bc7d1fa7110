//! Westwood RB's avoidance: Reno's growth, faster or slower as the estimated bandwidth is above or below its mean.
//! ## What it does
//! Estimates the connection's bandwidth from the rate of returning ACKs, with its mean and maximum since the start. Each ACK adds
//! `(δ + 1)/cwnd` segments with the bandwidth ratio `δ = (bwe − bwe_avg)/(bwe_max − bwe_avg)`, from −1 over 0 at the mean to 1 at the
//! maximum. Growth is thus between zero and twice Reno's; the response to congestion is TCP Westwood's.
//! ## References
//! Hong, Wu & Ding, *An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013, equations 2–4; Mascolo et al.,
//! *TCP Westwood*, 2001, for the estimate and the response.
//! ## Differs from the document
//! - The formula gives δ below −1 if the mean is closer to the maximum than to the estimate. The paper states δ ∈ [−1, 1], so δ is clamped.
//! - While the mean equals the maximum, δ is undefined; here it is 0.
//! - Mean and maximum cover the estimates at all ACKs since the start, including duplicates; the paper does not define its index i.
//! - The paper's listing sets cwnd to ssthresh at duplicate ACKs in avoidance, even if that raises it (`rule = "listing"`); see the loss
//!   response `westwood`.
//! ## Parameters
//! The paper has no constant of its own here. `filter`: `original` or `plus`; `tau`: 0.5 s, `m`: 2, `pole`: 0.9, the parameters of the
//! estimate as in the loss response `westwood`. `rule`: `at_most`, the rule of Mascolo et al., as the paper's "keep TCPW algorithm
//! unchanged" is read.

use crate::cc::bandwidth::{BWE, BWE_AVG, BWE_MAX, Bandwidth, PARAMS_AND_RULE, Rule};
use crate::cc::contract::{Avoidance, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "bandwidth_ratio",
    summary: "Westwood RB: Reno's growth times 1 + δ, the bandwidth relative to its mean and maximum",
    reference: "Hong, Wu & Ding, An improved slow-start and congestion avoidance algorithm based on TCP Westwood, eq. 2–4",
    params: &PARAMS_AND_RULE,
    quantities: &[BWE, BWE_AVG, BWE_MAX, quantity("delta", "", "bandwidth ratio δ: 1 at the largest estimate, 0 at the mean")],
    build: |params| Ok(Box::new(BandwidthRatio { bandwidth: Bandwidth::new(params), rule: Rule::new(params) })),
};

/// Equal estimates, their mean and their maximum differ by less, relative to them.
const ROUNDING: f64 = 1e-12;

/// Westwood RB's avoidance.
#[derive(Clone, Debug)]
pub struct BandwidthRatio {
    bandwidth: Bandwidth,
    rule: Rule,
}

impl BandwidthRatio {
    /// The bandwidth ratio factor δ.
    fn delta(&self) -> f64 {
        let (mean, max) = (self.bandwidth.mean(), self.bandwidth.max());
        // Hong et al. eq. 2.
        if max - mean > ROUNDING * max { ((self.bandwidth.estimate() - mean) / (max - mean)).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

impl Avoidance for BandwidthRatio {
    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.bandwidth.observe(ack);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // Hong et al. eq. 4.
        window.cwnd + ack.counted * (self.delta() + 1.0) / window.cwnd
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        self.bandwidth.respond(event, window, self.rule)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.bandwidth.internals(out);
        out("delta", self.delta());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::{Duration, Instant};

    /// A part with Westwood+'s filter after samples of these rates, in segments per second, one per round trip of 1 s.
    fn after(samples: &[u32], pole: f64) -> Box<dyn Avoidance> {
        let filter = Value::Word("plus".to_owned());
        let mut part = build(&ENTRY, &[("filter", filter), ("pole", Value::Number(pole))]).unwrap();
        let rtt = Some(Duration::from_millis(1000));
        part.observe(&Ack { rtt, ..ACK }, &window(1.0));
        for (second, acked) in (1..).zip(samples) {
            let now = Instant::ZERO + Duration::from_millis(1000 * second);
            part.observe(&Ack { now, acked: *acked, rtt, ..ACK }, &window(1.0));
        }
        part
    }

    fn delta(part: &dyn Avoidance) -> f64 {
        internal(|out| part.internals(out), "delta")
    }

    #[test]
    fn the_ratio_by_hand() {
        // Without memory the estimates are the samples: 10, 40, 20, 30 with mean 25 and maximum 40.
        let mut part = after(&[10, 40, 20, 30], 0.0);
        assert_close(delta(&*part), 5.0 / 15.0, 1e-12);
        assert_close(part.on_ack(&ACK, &window(10.0)), 10.0 + (1.0 + 1.0 / 3.0) / 10.0, 1e-12);
        assert_close(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(10.0)), 10.0 + 2.0 * (4.0 / 3.0) / 10.0, 1e-12);
    }

    #[test]
    fn rounding_makes_no_ratio() {
        // Equal samples: estimates, their mean and their maximum differ in the last digits only.
        let mut part = build(&ENTRY, &[("filter", Value::Word("plus".to_owned()))]).unwrap();
        let rtt = Some(Duration::from_millis(30));
        for round in 0..500 {
            part.observe(&Ack { now: Instant::from_nanos(33_681_664 * round), acked: 3, rtt, ..ACK }, &window(1.0));
            assert_eq!(delta(&*part), 0.0, "round {round}");
        }
    }

    #[test]
    fn between_no_growth_and_twice_renos() {
        let mut fresh = build(&ENTRY, &[]).unwrap();
        assert_eq!((delta(&*fresh), fresh.on_ack(&ACK, &window(10.0))), (0.0, 10.1), "undefined ratio: Reno's growth");
        assert_eq!(delta(&*after(&[20, 20, 20], 0.0)), 0.0, "a constant rate equals its mean");
        let mut best = after(&[10, 20, 40], 0.0);
        assert_eq!((delta(&*best), best.on_ack(&ACK, &window(10.0))), (1.0, 10.2));
        // Mean 34, maximum 40: (10 − 34)/6 = −4.
        let mut worst = after(&[40, 40, 40, 40, 10], 0.0);
        assert_eq!((delta(&*worst), worst.on_ack(&ACK, &window(10.0))), (-1.0, 10.0));
    }

    #[test]
    fn the_response_to_congestion_is_westwoods() {
        let mut part = after(&[20], 0.9);
        let event = CongestionEvent { min_rtt: Some(Duration::from_millis(500)), ..congestion(Cause::DupAck, 30.0) };
        assert_eq!(part.respond(&event, &window(30.0)), Window { cwnd: 10.0, ssthresh: 10.0 });
    }
}
