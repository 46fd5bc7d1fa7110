//! TCP Vegas' measurement: once per round trip, the number of the flow's segments in queues (its backlog).
//!
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.2; ns-2.35's Vegas, observed in its runs.

use crate::cc::contract::Window;
use crate::entry::{Quantity, quantity};
use crate::events::Ack;
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Instant, Segments};

/// Least backlog that Vegas aims for.
pub(crate) const ALPHA: Param = Param {
    name: "alpha",
    kind: Kind::Segments { min: 0.0, max: 1e9 },
    default: Default::Number(1.0),
    doc: "backlog below which the window grows (ns-2: 1)",
};

/// Selects ns-2's Vegas or the published one.
pub(crate) const RULE: Param = Param {
    name: "rule",
    kind: Kind::Word(&["ns2", "published"]),
    default: Default::Word("ns2"),
    doc: "variant: ns-2.35's Vegas, or that of Brakmo & Peterson 1995",
};

/// The backlog in traces.
pub(crate) const DIFF: Quantity = quantity("diff", "segments", "backlog: the flow's segments in queues").on("in queues");
/// The base round-trip time in traces.
pub(crate) const BASE_RTT: Quantity = quantity("base_rtt", "s", "round-trip time without queues, as far as known").on("time");
/// The last round's round-trip time in traces.
pub(crate) const ROUND_RTT: Quantity = quantity("round_rtt", "s", "mean round-trip time of the last round").on("time");

/// Smallest window that Vegas itself sets, and its threshold after slow start.
pub(crate) const MIN_WINDOW: Segments = 2.0;
/// Segments by which the window may exceed those outstanding and still grow (ns-2).
const UNUSED: Segments = 2.0;

/// Measures the backlog of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    /// Whether ns-2's rules apply.
    pub(crate) ns2: bool,
    /// Segments acknowledged so far.
    acked: u64,
    /// The segment whose ACK ends the round, counted like `acked`, and the start of the round.
    end: u64,
    start: Instant,
    /// Sum and number of the round-trip times of this round, in seconds.
    sum: f64,
    count: u32,
    /// Round-trip time without queues, in seconds; infinite while unknown.
    base_rtt: f64,
    /// Round-trip time in seconds and backlog in segments of the last round.
    rtt: f64,
    diff: Segments,
}

impl Backlog {
    /// A measurement without samples.
    pub(crate) fn new(params: &Params) -> Self {
        Self { ns2: params.word("rule") == "ns2", ..Self::published() }
    }

    /// A measurement without samples, by the published rule.
    pub(crate) fn published() -> Self {
        Self { ns2: false, acked: 0, end: 0, start: Instant::ZERO, sum: 0.0, count: 0, base_rtt: f64::INFINITY, rtt: 0.0, diff: 0.0 }
    }

    /// Observes an ACK. Returns the backlog if the ACK ends a round.
    pub(crate) fn observe(&mut self, ack: &Ack) -> Option<Segments> {
        if ack.acked == 0 || ack.handshake && !self.ns2 {
            return None;
        }
        self.acked += u64::from(ack.acked);
        if !self.ns2 {
            self.sample(ack);
        }
        let ended = self.acked > self.end;
        if ended {
            self.end_round(ack);
        }
        if self.ns2 {
            // The ACK that ends a round counts for the next round.
            self.sample(ack);
        }
        ended.then_some(self.diff)
    }

    fn sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs_f64();
            self.base_rtt = self.base_rtt.min(rtt);
            // The SYN's round-trip time is no sample of a round of data.
            if !ack.handshake {
                self.sum += rtt;
                self.count += 1;
            }
        }
    }

    fn end_round(&mut self, ack: &Ack) {
        self.rtt = if self.count > 0 { self.sum / f64::from(self.count) } else { ack.now.since(self.start).as_secs_f64() };
        let next = self.acked + u64::from(ack.flight_size);
        let sent = next - self.end.min(next);
        // ns-2: a round of one segment met no queue of the flow's own, so its round-trip time is the new base.
        let alone = self.ns2 && sent <= 1;
        if self.rtt < self.base_rtt || alone {
            self.base_rtt = self.rtt;
        }
        let waiting = waiting(f64::from(ack.flight_size) + 1.0, sent as f64, self.base_rtt, self.rtt);
        self.diff = if self.ns2 { libm::trunc(waiting + 0.5) } else { waiting };
        (self.end, self.start, self.sum, self.count) = (next, ack.now, 0.0, 0);
    }

    /// Rounds a backlog threshold down to whole segments if ns-2's rules apply.
    pub(crate) fn threshold(&self, segments: Segments) -> Segments {
        if self.ns2 { libm::trunc(segments) } else { segments }
    }

    /// Whether the flow uses enough of the window for it to grow.
    pub(crate) fn may_grow(&self, ack: &Ack, window: &Window) -> bool {
        !self.ns2 || window.cwnd <= f64::from(ack.flight_size) + 1.0 + UNUSED
    }

    /// The share of a window that is in queues, by the last round's time: 1 − baseRTT/RTT.
    pub(crate) fn queued_share(&self) -> f64 {
        if self.base_rtt > 0.0 && self.rtt > self.base_rtt { 1.0 - self.base_rtt / self.rtt } else { 0.0 }
    }

    /// The backlog of the last round.
    pub(crate) fn diff(&self) -> Segments {
        self.diff
    }

    /// Reports the quantities for traces.
    pub(crate) fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("diff", self.diff);
        out("base_rtt", if self.base_rtt.is_finite() { self.base_rtt } else { 0.0 });
        out("round_rtt", self.rtt);
    }
}

/// Brakmo & Peterson §3.2: (expected − actual)·baseRTT with expected = outstanding/baseRTT and actual = sent/RTT.
///
/// Halves are common: they occur at RTT = 2·baseRTT. This order of operations rounds them as ns-2 does.
fn waiting(outstanding: Segments, sent: Segments, base_rtt: f64, rtt: f64) -> Segments {
    if base_rtt > 0.0 && rtt > 0.0 { (outstanding / base_rtt - sent / rtt) * base_rtt } else { outstanding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close};
    use crate::units::Duration;

    fn backlog(rule: &str) -> Backlog {
        let mut params = Params::defaults(&[RULE]);
        params.set("rule", Value::Word(rule.to_owned()));
        Backlog::new(&params)
    }

    fn ack(millis: u64, flight_size: u32) -> Ack {
        Ack { now: Instant::from_nanos(1_000_000 * (1000 + millis)), flight_size, rtt: Some(Duration::from_millis(millis)), ..ACK }
    }

    #[test]
    fn a_quarter_more_round_trip_time_with_ten_segments_is_a_backlog_of_two() {
        for (rule, expected) in [("ns2", 2.0), ("published", 2.0)] {
            let mut backlog = backlog(rule);
            backlog.observe(&ack(100, 9));
            // A round of ten ACKs at 125 ms; the next ACK ends it: 10 − 10·100/125 = 2.
            for _ in 0..9 {
                assert_eq!(backlog.observe(&ack(125, 9)), None);
            }
            let ended = backlog.observe(&ack(125, 9)).unwrap();
            // With ns-2's rule the first ACK's 100 ms count for this round: (100 + 9·125)/10 = 122.5 ms and 1.84 segments, rounded to 2.
            assert_close(ended, expected, 1e-9);
        }
    }

    #[test]
    fn duplicate_acks_measure_nothing() {
        let mut backlog = backlog("ns2");
        assert_eq!(backlog.observe(&Ack { acked: 0, ..ack(50, 3) }), None);
        assert!(backlog.base_rtt.is_infinite());
    }

    #[test]
    fn a_round_of_one_segment_resets_the_base() {
        let mut backlog = backlog("ns2");
        for millis in [100, 100, 300, 300, 300] {
            backlog.observe(&ack(millis, 0));
        }
        assert_close(backlog.base_rtt, 0.3, 1e-12);
    }

    #[test]
    fn halves_are_rounded_as_in_ns2() {
        // Round-trip times from two ns-2 runs in which the backlog is 1 and 0.
        assert_eq!(libm::trunc(waiting(6.0, 6.0, 0.019_715_173_944_339_08, 0.026_286_898_592_452_108) + 0.5), 1.0);
        assert_eq!(libm::trunc(waiting(4.0, 7.0, 0.074_410_019_089_635_52, 0.148_820_038_179_271_03) + 0.5), 0.0);
    }

    #[test]
    fn the_syns_ack_sets_the_base_in_ns2_but_is_no_sample_of_the_first_round() {
        for (rule, base) in [("ns2", 0.05), ("published", f64::INFINITY)] {
            let mut backlog = backlog(rule);
            backlog.observe(&Ack { handshake: true, ..ack(50, 0) });
            assert_eq!((backlog.base_rtt.to_bits(), backlog.count), (f64::to_bits(base), 0), "{rule}");
        }
    }

    #[test]
    fn ns2_rounds_thresholds_down() {
        assert_eq!(["ns2", "published"].map(|rule| backlog(rule).threshold(1.5)), [1.0, 1.5]);
    }

    #[test]
    fn an_unused_window_does_not_grow_in_ns2() {
        let window = |cwnd| Window { cwnd, ssthresh: 2.0 };
        let (ns2, published) = (backlog("ns2"), backlog("published"));
        assert!(ns2.may_grow(&ack(100, 19), &window(22.0)));
        assert!(!ns2.may_grow(&ack(100, 19), &window(22.1)));
        assert!(published.may_grow(&ack(100, 19), &window(30.0)));
    }
}
