//! Vegas' slow start: doubles the window every other round trip and ends when a backlog appears.
//! ## What it does
//! Grows by one segment per ACK in every other round trip and pauses in between, so that growth shows in the round-trip time. At the start
//! of each growing round it estimates the backlog, the flow's segments in queues. With a backlog above `gamma`, slow start ends.
//!
//! The backlog is the expected minus the actual throughput, times the round-trip time without queues.
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.3; ns-2.35's Vegas, observed in its runs.
//! ## Differs from the document
//! With `rule = "ns2"` it follows ns-2.35 in points that the publication leaves open:
//!
//! - The backlog is rounded to whole segments before the comparison, and `gamma` is rounded down to whole segments.
//! - At the end of slow start the window loses an eighth, and the threshold becomes 2.
//! - The ACK that ends a round counts for the next round. The SYN's ACK sets the round-trip time without queues but is no sample of a
//!   round.
//! - A round of one segment resets the round-trip time without queues.
//! - A window does not grow if it exceeds the outstanding segments by more than 2.
//! - After a timeout the avoidance's growth continues until the round ends.
//! - Avoidance keeps the alternation of growing and pausing rounds; a lost SYN uses up the first growing round.
//!
//! With `rule = "published"` none of these points applies: at the end of slow start the window stays and becomes the threshold.
//! ## Parameters
//! `gamma`: 1 segment, ns-2's default and the publication's "one router buffer". `alpha`: 1 segment, as in the avoidance `vegas`; it only
//! affects the growth that continues after a timeout. `rule`: "ns2" or "published".

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::vegas::{ALPHA, Backlog, MIN_WINDOW, RULE};
use crate::entry::{Entry, quantity};
use crate::events::Ack;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "vegas",
    summary: "doubles the window every other round trip, ends when a backlog appears",
    reference: "Brakmo & Peterson 1995, §3.3; ns-2.35's Vegas",
    params: &[
        Param {
            name: "gamma",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(1.0),
            doc: "backlog above which slow start ends (ns-2: 1)",
        },
        ALPHA,
        RULE,
    ],
    quantities: &[
        quantity("slow_start_diff", "segments", "backlog as measured by slow start: the flow's segments in queues").on("in queues")
    ],
    build: |params| {
        let backlog = Backlog::new(params);
        Ok(Box::new(Vegas {
            gamma: backlog.threshold(params.number("gamma")),
            alpha: backlog.threshold(params.number("alpha")),
            backlog,
            grows: false,
            exits: false,
            increment: 0.0,
        }))
    },
};

/// Share of the window that the end of slow start removes.
const EXIT_CUT: Segments = 1.0 / 8.0;

/// Vegas' slow start.
#[derive(Clone, Debug)]
pub struct Vegas {
    backlog: Backlog,
    gamma: Segments,
    alpha: Segments,
    /// Whether the last round of slow start was a growing one; the first round is.
    grows: bool,
    /// Whether this round's backlog ends slow start.
    exits: bool,
    /// Growth per ACK in this round.
    increment: Segments,
}

impl SlowStart for Vegas {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        let slow_start = window.cwnd < window.ssthresh;
        match self.backlog.observe(ack) {
            Some(diff) if slow_start => {
                self.grows = !self.grows && !ack.handshake;
                self.exits = self.grows && diff > self.gamma;
                self.increment = if self.grows && !self.exits { 1.0 } else { 0.0 };
            }
            Some(diff) => {
                // After a lost SYN the connection starts in avoidance, and the SYN's ACK uses up the first growing round.
                self.grows |= ack.handshake;
                self.increment = if self.backlog.ns2 && diff < self.alpha { 1.0 / window.cwnd } else { 0.0 };
            }
            // Growth stops at the threshold.
            None if !slow_start && self.increment >= 1.0 => self.increment = 0.0,
            None => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if std::mem::take(&mut self.exits) {
            return if self.backlog.ns2 {
                let cwnd = (window.cwnd - window.cwnd * EXIT_CUT).max(MIN_WINDOW);
                Step::Leave(Window { cwnd, ssthresh: MIN_WINDOW })
            } else {
                Step::Exit { ssthresh: window.cwnd }
            };
        }
        let grows = self.backlog.may_grow(ack, window);
        Step::Grow(if grows { ack.counted * self.increment } else { 0.0 })
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("slow_start_diff", self.backlog.diff());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, window};
    use crate::units::{Duration, Instant};

    /// An ACK at `now` milliseconds with a round-trip time of `rtt` milliseconds.
    fn ack(now: u64, rtt: u64, flight_size: u32) -> Ack {
        Ack { now: Instant::from_nanos(1_000_000 * now), rtt: Some(Duration::from_millis(rtt)), flight_size, ..ACK }
    }

    #[test]
    fn grows_in_every_other_round() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let mut steps = Vec::new();
        for round in 1..5 {
            let ack = ack(100 * round, 100, 0);
            part.observe(&ack, &window(2.0));
            steps.push(part.on_ack(&ack, &window(2.0)));
        }
        assert_eq!(steps, [Step::Grow(1.0), Step::Grow(0.0), Step::Grow(1.0), Step::Grow(0.0)]);
    }

    #[test]
    fn the_syns_ack_uses_up_a_growing_round_in_avoidance_only() {
        // In slow start the first round of data grows. In avoidance, after a lost SYN, the next slow start pauses first.
        for (cwnd, grown) in [(1.0, [1.0, 0.0]), (2.0, [0.0, 1.0])] {
            let mut part = build(&ENTRY, &[]).unwrap();
            let syn = Ack { handshake: true, ..ack(100, 100, 0) };
            part.observe(&syn, &Window { cwnd, ssthresh: 2.0 });
            let steps = [200, 300].map(|now| {
                part.observe(&ack(now, 100, 0), &window(2.0));
                part.on_ack(&ack(now, 100, 0), &window(2.0))
            });
            assert_eq!(steps, grown.map(Step::Grow), "{cwnd}");
        }
    }

    #[test]
    fn exits_with_seven_eighths_of_the_window_when_a_backlog_appears() {
        for (rule, left) in [("ns2", Step::Leave(Window { cwnd: 14.0, ssthresh: 2.0 })), ("published", Step::Exit { ssthresh: 16.0 })] {
            let mut part = build(&ENTRY, &[("rule", Value::Word(rule.to_owned()))]).unwrap();
            // Rounds of 16 segments; the second and third have twice the round-trip time: a backlog of 8.
            let mut last = Step::Grow(0.0);
            for index in 0..50_u64 {
                let ack = ack(100 + index, if index == 0 { 100 } else { 200 }, 15);
                part.observe(&ack, &window(16.0));
                last = part.on_ack(&ack, &window(16.0));
                if !matches!(last, Step::Grow(_)) {
                    break;
                }
            }
            assert_eq!(last, left, "{rule}");
        }
    }
}
