//! Limited slow start of ns-2.35: a floor under the growth of congestion avoidance.
//! ## What it does
//! The first `ssthresh` is at most `max_ssthresh`. Beyond `ssthresh` the window grows by at least 1/K segments per ACK with
//! `K = ⌊cwnd / (max_ssthresh/2)⌋`. A fast retransmit or an ECN echo switches this floor off until the retransmission timer next expires,
//! for whatever reason.
//! ## References
//! ns-2.35, `max_ssthresh_`, observed in its runs; RFC 3742 §2.
//! ## Differs from the document
//! From RFC 3742:
//! - The floor also applies beyond `ssthresh`, after slow start has ended.
//! - A fast retransmit switches the floor off.
//! - After a timeout, a window between `max_ssthresh`/2 and `max_ssthresh` grows by a whole segment per ACK although it exceeds `ssthresh`.
//!
//! From ns-2: nothing.
//! ## Parameters
//! `max_ssthresh`: 100 segments, as RFC 3742 §2 recommends.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::slow_start::limited::MAX_SSTHRESH;
use crate::entry::Entry;
use crate::events::{Ack, Cause, CongestionEvent};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "limited_ns2",
    summary: "ns-2's limited slow start: a floor under avoidance until a fast retransmit",
    reference: "ns-2.35 max_ssthresh_; RFC 3742",
    params: &[MAX_SSTHRESH],
    quantities: &[],
    build: |params| Ok(Box::new(LimitedNs2 { max_ssthresh: params.number("max_ssthresh"), active: true })),
};

/// ns-2's limited slow start.
#[derive(Clone, Debug)]
pub struct LimitedNs2 {
    max_ssthresh: Segments,
    /// Whether the latest sign of congestion, if any, was an expired timer.
    active: bool,
}

impl SlowStart for LimitedNs2 {
    fn initial_ssthresh(&self) -> Segments {
        self.max_ssthresh
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(ack.counted)
    }

    fn floor(&self, window: &Window) -> Segments {
        let round = libm::floor(window.cwnd / (0.5 * self.max_ssthresh));
        if self.active && round >= 1.0 { 1.0 / round } else { 0.0 }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _window: &Window) {
        self.active = event.cause == Cause::Timeout;
    }

    fn on_restart(&mut self) {
        self.active = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, congestion, window};

    #[test]
    fn measured_growth_with_a_threshold_of_fifty() {
        // ns-2.35 with max_ssthresh_ 50: +0.5 from 50, +0.333 from 75, and +1 from 25 after a timeout.
        let part = LimitedNs2 { max_ssthresh: 50.0, active: true };
        let floor = [24.0, 25.0, 50.0, 75.0].map(|cwnd| part.floor(&Window { cwnd, ssthresh: 2.0 }));
        assert_eq!(floor, [0.0, 1.0, 0.5, 1.0 / 3.0]);
    }

    #[test]
    fn a_fast_retransmit_or_an_echo_ends_the_floor_until_a_timeout() {
        let mut part = LimitedNs2 { max_ssthresh: 100.0, active: true };
        let mut floor_after = |cause| {
            part.on_congestion(&congestion(cause, 120.0), &window(120.0));
            part.floor(&window(120.0))
        };
        let floors = [Cause::Timeout, Cause::DupAck, Cause::Timeout, Cause::EcnCe].map(&mut floor_after);
        assert_eq!(floors, [0.5, 0.0, 0.5, 0.0]);
        part.on_restart();
        assert_eq!(part.floor(&window(120.0)), 0.5, "also after the timer expires for a mark or with nothing outstanding");
    }

    #[test]
    fn the_first_threshold_is_max_ssthresh() {
        let part = build(&ENTRY, &[("max_ssthresh", Value::Number(50.0))]).unwrap();
        assert_eq!(part.initial_ssthresh(), 50.0);
    }
}
