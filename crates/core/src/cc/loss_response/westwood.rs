//! Westwood: after a loss, the window falls to the estimated bandwidth-delay product.
//! ## What it does
//! Estimates the connection's bandwidth from the rate of returning ACKs. At congestion `ssthresh` becomes the estimate times the smallest
//! round-trip time, in whole segments and at least two; `cwnd` becomes at most `ssthresh`. After a timeout the host restarts from one
//! segment.
//! ## References
//! Mascolo, Casetti, Gerla, Sanadidi & Wang, *TCP Westwood: bandwidth estimation for enhanced transport over wireless links*, 2001, §2 and
//! §3; Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control*, 2004, §2.
//! ## Differs from the document
//! - The estimator counts segments instead of bytes, and no segment twice. The paper's procedure counts a segment again after a partial ACK
//!   that covers fewer segments than the duplicate ACKs have reported.
//! - ACKs that arrive at the same instant form one sample. A sample after idle time starts at the last ACK.
//! - An ECN echo has the effect of duplicate ACKs; the papers do not mention ECN.
//! - The Westwood+ paper does not define the filter's initial value. Here the first sample is the first estimate; the original filter
//!   starts from zero.
//! - Hong, Wu & Ding (*An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013) list a different rule
//!   (`rule = "listing"`). At duplicate ACKs in avoidance `cwnd` becomes `ssthresh`, even if that raises it. The listing covers "cwnd >
//!   ssthresh" and "cwnd < ssthresh" but not equality, which holds after each such response. Taken literally, the window would then never
//!   change again. Here equality counts as avoidance.
//! ## Parameters
//! `filter`: `original`, a low-pass filter with varying coefficients and a sample per ACK, or `plus`, Westwood+ with a sample per round
//! trip. `tau`: 0.5 s and `m`: 2, from the 2001 paper, for the original filter. `pole`: 0.9, from the 2004 paper, for Westwood+. `rule`:
//! `at_most`, the rule of 2001.

use crate::cc::bandwidth::{BWE, BWE_AVG, BWE_MAX, Bandwidth, PARAMS_AND_RULE, Rule};
use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "westwood",
    summary: "TCP Westwood: the estimated bandwidth times the smallest round-trip time",
    reference: "Mascolo et al., TCP Westwood: bandwidth estimation for enhanced transport over wireless links, §3",
    params: &PARAMS_AND_RULE,
    quantities: &[BWE, BWE_AVG, BWE_MAX],
    build: |params| Ok(Box::new(Westwood { bandwidth: Bandwidth::new(params), rule: Rule::new(params) })),
};

/// TCP Westwood's response to congestion.
#[derive(Clone, Debug)]
pub struct Westwood {
    bandwidth: Bandwidth,
    rule: Rule,
}

impl LossResponse for Westwood {
    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.bandwidth.observe(ack);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, _own: &mut dyn Avoidance) -> Window {
        self.bandwidth.respond(event, window, self.rule)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.bandwidth.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion, own, window};
    use crate::units::{Duration, Instant};

    #[test]
    fn the_listing_sets_the_window_in_avoidance_and_only_there() {
        let respond = |rule: &str, cause: Cause, window: Window| {
            let settings = [("filter", Value::Word("plus".to_owned())), ("rule", Value::Word(rule.to_owned()))];
            let mut part = build(&ENTRY, &settings).unwrap();
            let rtt = Some(Duration::from_millis(50));
            for millis in 0..=50 {
                part.observe(&Ack { now: Instant::ZERO + Duration::from_millis(2 * millis), rtt, ..ACK }, &window);
            }
            // 500 segments per second in 30 ms: 15.
            let event = CongestionEvent { min_rtt: Some(Duration::from_millis(30)), ..congestion(cause, window.cwnd) };
            part.respond(&event, &window, &mut *own()).cwnd
        };
        let (avoidance, slow_start) = (Window { cwnd: 10.0, ssthresh: 8.0 }, Window { cwnd: 10.0, ssthresh: 40.0 });
        assert_eq!(["at_most", "listing"].map(|rule| respond(rule, Cause::DupAck, avoidance)), [10.0, 15.0]);
        assert_eq!(["at_most", "listing"].map(|rule| respond(rule, Cause::DupAck, slow_start)), [10.0, 10.0]);
        assert_eq!(respond("listing", Cause::DupAck, Window { cwnd: 20.0, ssthresh: 8.0 }), 15.0);
        assert_eq!(respond("listing", Cause::DupAck, Window { cwnd: 15.0, ssthresh: 15.0 }), 15.0, "equal is avoidance");
        assert_eq!(respond("listing", Cause::Timeout, avoidance), 10.0, "the listing covers duplicate ACKs only");
    }

    #[test]
    fn the_window_falls_to_the_estimated_bandwidth_delay_product() {
        let mut part = build(&ENTRY, &[("filter", Value::Word("plus".to_owned()))]).unwrap();
        let rtt = Some(Duration::from_millis(50));
        for millis in 0..=50 {
            part.observe(&Ack { now: Instant::ZERO + Duration::from_millis(2 * millis), rtt, ..ACK }, &window(40.0));
        }
        // 500 segments per second in 30 ms.
        let event = CongestionEvent { min_rtt: Some(Duration::from_millis(30)), ..congestion(Cause::DupAck, 40.0) };
        assert_eq!(part.respond(&event, &window(40.0), &mut *own()), Window { cwnd: 15.0, ssthresh: 15.0 });
        let mut seen = Vec::new();
        part.internals(&mut |name, value| seen.push((name, value)));
        assert_eq!(seen[0], ("bwe", 500.0));
        assert_eq!(seen.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["bwe", "bwe_avg", "bwe_max"]);
    }
}
