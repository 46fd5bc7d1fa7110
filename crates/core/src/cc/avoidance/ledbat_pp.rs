//! LEDBAT++: keeps the queuing delay at a target by round-trip times, and slows down at intervals to see the path without its own queue.
//! ## What it does
//! The queuing delay d is the smallest of the last four round-trip times minus the smallest of ten minutes.
//!
//! - Below `target` a round trip adds `GAIN` segments, 1/min(`gain_divisor`, ⌈2·`target`/base⌉): no more than Reno, and far less on short
//!   paths.
//! - Above it a round trip changes the window W by `GAIN` − `decrease`·W·(d/`target` − 1), by −W/2 at most. Reductions in proportion to the
//!   window make flows equal; LEDBAT's do not.
//! - Two round trips after the first slow start, and then again and again, the flow slows down: the window is two segments for two round
//!   trips, and slow start brings it back. Then all flows see the path without a queue, so that a latecomer does not take the queue of the
//!   others for the path's delay. The next slowdown follows after `interval` times as long as this one took.
//!
//! A loss halves the window.
//! ## References
//! Balasubramanian, Ertugay, Havey & Bagnulo, *LEDBAT++: congestion control for background traffic*, draft-irtf-iccrg-ledbat-plus-plus, §4;
//! RFC 6817 §2.4.2 for the delays.
//! ## Differs from the document
//! - The draft's full text could not be opened. Rules and constants are those that descriptions of it agree on.
//! - The slow start of the flow opens the window and ends a slowdown. The draft's is the part `ledbat_pp` of that axis.
//! - A slowdown begins and ends at an ACK at which the window may grow. One that meets a loss is over.
//! - The window does not change while the application limits the flow.
//! ## Parameters
//! `target`: 60 ms, `gain_divisor`: 16, `decrease`: 1 and `interval`: 9, from the draft; `interval = 0` turns slowdowns off. `base_history`: 10
//! minutes and `current_filter`: 4 samples, from RFC 6817.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::ledbat::{BASE_DELAY, BASE_HISTORY, CURRENT_FILTER, Delays, GAIN_DIVISOR, QUEUING_DELAY, TARGET, gain};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "ledbat_pp",
    summary: "LEDBAT++: keeps the queuing delay at a target, fair to latecomers by slowdowns",
    reference: "draft-irtf-iccrg-ledbat-plus-plus",
    params: &[
        TARGET,
        GAIN_DIVISOR,
        Param {
            name: "decrease",
            kind: Kind::Number { min: 0.0, max: 100.0 },
            default: Default::Number(1.0),
            doc: "share of the window cut per round trip and target by which the delay exceeds it (the draft: 1)",
        },
        Param {
            name: "interval",
            kind: Kind::Number { min: 0.0, max: 1e6 },
            default: Default::Number(9.0),
            doc: "time between slowdowns, in lengths of the last one; 0: no slowdowns (the draft: 9)",
        },
        BASE_HISTORY,
        CURRENT_FILTER,
    ],
    quantities: &[BASE_DELAY, QUEUING_DELAY],
    build: |params| {
        Ok(Box::new(LedbatPp {
            target: params.number("target"),
            divisor: params.number("gain_divisor"),
            decrease: params.number("decrease"),
            interval: params.number("interval"),
            delays: Delays::new(params),
            phase: Phase::First,
        }))
    },
};

/// Smallest window, and that of a slowdown.
const LEAST: Segments = 2.0;
/// Length of a slowdown without the way back, and time from the first slow start to the first one, in round trips.
const ROUND_TRIPS: f64 = 2.0;

/// Where the flow is between two slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// In its first slow start.
    First,
    /// A slowdown is due at this time.
    Until(Instant),
    /// Slowed down since the first time until the second.
    Slow(Instant, Instant),
    /// On the way back from the slowdown that began at this time.
    Back(Instant),
}

/// LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    /// In seconds.
    target: f64,
    divisor: f64,
    decrease: f64,
    interval: f64,
    delays: Delays,
    phase: Phase,
}

impl Avoidance for LedbatPp {
    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let Some(queuing) = self.delays.queuing() else { return window.cwnd };
        let gain = gain(self.target, self.divisor, self.delays.base()) / window.cwnd;
        let excess = queuing / self.target - 1.0;
        // What a round trip changes, as a share of the window.
        let share = if excess > 0.0 { (gain - self.decrease * excess).max(-0.5) } else { gain };
        (window.cwnd + ack.counted * share).max(LEAST)
    }

    fn steer(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        let slow_start = window.cwnd < window.ssthresh;
        let two = ack.srtt.map(|srtt| srtt * ROUND_TRIPS)?;
        match self.phase {
            Phase::First if !slow_start && self.interval > 0.0 => self.phase = Phase::Until(ack.now + two),
            Phase::Until(due) if due <= ack.now && !slow_start => {
                self.phase = Phase::Slow(ack.now, ack.now + two);
                return Some(Window { cwnd: LEAST.min(window.cwnd), ssthresh: window.cwnd });
            }
            Phase::Slow(since, until) => {
                if until > ack.now {
                    return Some(Window { cwnd: LEAST.min(window.cwnd), ..*window });
                }
                self.phase = Phase::Back(since);
            }
            Phase::Back(since) if !slow_start => {
                let length: Duration = ack.now.since(since);
                self.phase = Phase::Until(ack.now + length * self.interval);
            }
            _ => {}
        }
        None
    }

    fn lowers_threshold(&self) -> bool {
        true
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        Window::reduced_to((event.window / 2.0).max(LEAST).min(event.window))
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        if let Phase::Slow(since, _) = self.phase {
            self.phase = Phase::Back(since);
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.delays.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, window};
    use proptest::prelude::*;

    fn ack(at: u64, rtt: u64) -> Ack {
        let rtt = Some(Duration::from_millis(rtt));
        Ack { now: Instant::ZERO + Duration::from_millis(at), rtt, srtt: rtt, ..ACK }
    }

    fn part(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        build(&ENTRY, set).unwrap()
    }

    #[test]
    fn a_round_trip_adds_the_gain_and_cuts_in_proportion_to_the_window() {
        let mut part = part(&[("current_filter", Value::Number(1.0))]);
        let mut change = |rtt, cwnd| {
            part.observe(&ack(1, rtt), &window(cwnd));
            cwnd * (part.on_ack(&ack(1, rtt), &window(cwnd)) - cwnd)
        };
        // ⌈120/50⌉ = 3. At 60 ms of queue growth alone; at 75 ms a quarter of the window; at most half.
        for (rtt, per_round) in [(50, 1.0 / 3.0), (110, 1.0 / 3.0), (125, 1.0 / 3.0 - 5.0), (400, -10.0)] {
            assert_close(change(rtt, 20.0), per_round, 1e-9);
        }
        assert_eq!(part.on_ack(&ack(1, 400), &window(2.1)), 2.0);
    }

    #[test]
    fn it_slows_down_two_round_trips_after_slow_start_and_after_nine_lengths() {
        let mut part = part(&[]);
        let slow_start = Window { cwnd: 30.0, ssthresh: 50.0 };
        let avoidance = Window { cwnd: 60.0, ssthresh: 50.0 };
        let slow = Window { cwnd: 2.0, ssthresh: 60.0 };
        let mut at = |millis, window: Window| part.steer(&ack(millis, 100), &window);
        assert_eq!([at(0, slow_start), at(1000, avoidance), at(1199, avoidance)], [None; 3]);
        assert_eq!(at(1200, avoidance), Some(slow));
        assert_eq!(at(1300, Window { cwnd: 3.0, ..slow }), Some(slow), "slow start does not open it");
        assert_eq!([at(1400, slow), at(1700, Window { cwnd: 40.0, ..slow }), at(2000, Window { cwnd: 60.0, ..slow })], [None; 3]);
        // 800 ms long, so the next one begins 7.2 s after it.
        assert_eq!(at(9199, avoidance), None);
        assert_eq!(at(9200, avoidance), Some(slow));
    }

    #[test]
    fn a_loss_halves_and_ends_a_slowdown() {
        let mut part = part(&[]);
        let avoidance = Window { cwnd: 60.0, ssthresh: 50.0 };
        for millis in [1000, 1200] {
            part.steer(&ack(millis, 100), &avoidance);
        }
        let event = congestion(Cause::DupAck, 3.0);
        assert_eq!(part.respond(&event, &avoidance), Window { cwnd: 2.0, ssthresh: 2.0 });
        part.on_reduction(&event, &Window { cwnd: 2.0, ssthresh: 2.0 });
        assert_eq!(part.steer(&ack(1300, 100), &Window { cwnd: 2.0, ssthresh: 2.0 }), None);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 60.0), &avoidance).cwnd, 30.0);
    }

    proptest! {
        #[test]
        fn the_window_changes_by_a_share_of_reno_upwards_and_half_downwards(rtts in prop::collection::vec(1_u64..2000, 1..60)) {
            let (mut part, mut cwnd) = (part(&[]), 20.0);
            for (rtt, index) in rtts.into_iter().zip(1..) {
                part.observe(&ack(index, rtt), &window(cwnd));
                let after = part.on_ack(&ack(index, rtt), &window(cwnd));
                prop_assert!(after >= 2.0 && after <= cwnd + 1.0 / cwnd + 1e-12 && after >= cwnd - 0.5);
                cwnd = after;
            }
        }
    }
}
