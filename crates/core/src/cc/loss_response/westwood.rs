//! Westwood: after a loss, the window that fills the path at the rate at which ACKs return.
//! ## What it does
//! Estimates the connection's bandwidth from the rate of ACKs. At congestion `ssthresh` becomes that bandwidth times the smallest round-trip
//! time, in whole segments and at least two, and `cwnd` at most that. After a timeout the host starts over from one segment.
//! ## References
//! Mascolo, Casetti, Gerla, Sanadidi & Wang, *TCP Westwood: bandwidth estimation for enhanced transport over wireless links*, 2001, §2 and §3;
//! Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control*, 2004, §2.
//! ## Differs from the document
//! Segments are counted, not bytes, and none twice: the paper's procedure counts one again after each partial ACK that covers less than
//! duplicates told of. ACKs that arrive at one instant make one sample. A sample after idle time counts from the last ACK.
//! An ECN echo is answered like duplicate ACKs; the papers do not know ECN. Westwood+ does not say how its filter starts: here its first
//! sample is its first estimate, while the original's starts from zero.
//!
//! The listing of Hong, Wu & Ding (*An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013) sets cwnd to
//! ssthresh at duplicate ACKs in avoidance, also upwards: `rule = "listing"`. It says "cwnd > ssthresh" and "cwnd < ssthresh" and nothing of
//! their being equal, as they are after every such cut; to the letter the window would then stand still for ever. Equal is avoidance here.
//! ## Parameters
//! `filter`: `original`, a sample per ACK with a low pass of varying coefficients, or `plus`, Westwood+: a sample per round trip. `tau`: 0.5 s
//! and `m`: 2, the paper's, for the original filter. `pole`: 0.9, the paper's, for Westwood+. `rule`:
//! `at_most`, that of 2001.

use crate::cc::bandwidth::{BWE, BWE_AVG, BWE_MAX, Bandwidth, PARAMS_AND_RULE, Rule};
use crate::cc::contract::{LossResponse, Window};
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

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
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
    use crate::testing::{ACK, build, congestion, window};
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
            // 500 segments a second in 30 ms: 15.
            let event = CongestionEvent { min_rtt: Some(Duration::from_millis(30)), ..congestion(cause, window.cwnd) };
            part.respond(&event, &window).cwnd
        };
        let (avoidance, slow_start) = (Window { cwnd: 10.0, ssthresh: 8.0 }, Window { cwnd: 10.0, ssthresh: 40.0 });
        assert_eq!(["at_most", "listing"].map(|rule| respond(rule, Cause::DupAck, avoidance)), [10.0, 15.0]);
        assert_eq!(["at_most", "listing"].map(|rule| respond(rule, Cause::DupAck, slow_start)), [10.0, 10.0]);
        assert_eq!(respond("listing", Cause::DupAck, Window { cwnd: 20.0, ssthresh: 8.0 }), 15.0);
        assert_eq!(respond("listing", Cause::DupAck, Window { cwnd: 15.0, ssthresh: 15.0 }), 15.0, "equal is avoidance");
        assert_eq!(respond("listing", Cause::Timeout, avoidance), 10.0, "the listing is about duplicate ACKs");
    }

    #[test]
    fn the_window_falls_to_what_the_acks_carry() {
        let mut part = build(&ENTRY, &[("filter", Value::Word("plus".to_owned()))]).unwrap();
        let rtt = Some(Duration::from_millis(50));
        for millis in 0..=50 {
            part.observe(&Ack { now: Instant::ZERO + Duration::from_millis(2 * millis), rtt, ..ACK }, &window(40.0));
        }
        // 500 segments a second in 30 ms.
        let event = CongestionEvent { min_rtt: Some(Duration::from_millis(30)), ..congestion(Cause::DupAck, 40.0) };
        assert_eq!(part.respond(&event, &window(40.0)), Window { cwnd: 15.0, ssthresh: 15.0 });
        let mut seen = Vec::new();
        part.internals(&mut |name, value| seen.push((name, value)));
        assert_eq!(seen[0], ("bwe", 500.0));
        assert_eq!(seen.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["bwe", "bwe_avg", "bwe_max"]);
    }
}
