//! LEDBAT++'s slow start: slower on short paths, and over before the queuing delay reaches the target.
//! ## What it does
//! Each ACK adds `GAIN` segments, the share of Reno's growth that LEDBAT++ has in avoidance: 1/min(`gain_divisor`, ⌈2·`target`/base⌉) with the
//! smallest round-trip time. The first slow start of a connection ends when the queuing delay exceeds `exit` of `target`; later ones, after
//! a slowdown or a timeout, end at the threshold.
//!
//! It belongs to the avoidance `ledbat_pp`, with an initial window of two segments.
//! ## References
//! Balasubramanian, Ertugay, Havey & Bagnulo, *LEDBAT++: congestion control for background traffic*, draft-irtf-iccrg-ledbat-plus-plus, §4.1
//! and §4.2; RFC 6817 §2.4.2 for the delays.
//! ## Differs from the document
//! - The draft's full text could not be opened. Rules and constants are those that descriptions of it agree on; that only the first slow
//!   start ends by delay is not confirmed.
//! - `initial_window` is the flow's, where the draft has two segments.
//! ## Parameters
//! `target`: 60 ms, `exit`: 3/4 and `gain_divisor`: 16, from the draft. `base_history`: 10 minutes and `current_filter`: 4 samples, from RFC
//! 6817.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::ledbat::{BASE_DELAY, BASE_HISTORY, CURRENT_FILTER, Delays, GAIN_DIVISOR, QUEUING_DELAY, TARGET, gain};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "ledbat_pp",
    summary: "slower on short paths; ends before the queuing delay reaches LEDBAT++'s target",
    reference: "draft-irtf-iccrg-ledbat-plus-plus §4.1",
    params: &[
        TARGET,
        Param {
            name: "exit",
            kind: Kind::Number { min: 0.01, max: 100.0 },
            default: Default::Number(0.75),
            doc: "share of the target at which the first slow start ends (the draft: 3/4)",
        },
        GAIN_DIVISOR,
        BASE_HISTORY,
        CURRENT_FILTER,
    ],
    quantities: &[BASE_DELAY, QUEUING_DELAY],
    build: |params| {
        Ok(Box::new(LedbatPp {
            target: params.number("target"),
            exit: params.number("exit"),
            divisor: params.number("gain_divisor"),
            delays: Delays::new(params),
            first: true,
        }))
    },
};

/// LEDBAT++'s slow start.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    /// In seconds.
    target: f64,
    exit: f64,
    divisor: f64,
    delays: Delays,
    /// Whether this is the connection's first slow start.
    first: bool,
}

impl SlowStart for LedbatPp {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
        self.first &= window.cwnd < window.ssthresh;
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if self.first && self.delays.queuing().is_some_and(|queuing| queuing > self.exit * self.target) {
            self.first = false;
            return Step::Exit { ssthresh: window.cwnd };
        }
        Step::Grow(ack.counted * gain(self.target, self.divisor, self.delays.base()))
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.first = false;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.delays.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::testing::{ACK, build, congestion, window};
    use crate::units::{Duration, Instant};

    fn step(part: &mut dyn SlowStart, millis: u64) -> Step {
        let ack = Ack { now: Instant::ZERO, rtt: Some(Duration::from_millis(millis)), ..ACK };
        part.observe(&ack, &window(10.0));
        part.on_ack(&ack, &window(10.0))
    }

    #[test]
    fn it_grows_by_the_gain_and_ends_at_three_quarters_of_the_target() {
        let mut part = build(&ENTRY, &[]).unwrap();
        // ⌈120/40⌉ = 3; the delay is the least of four.
        assert_eq!([40, 86, 86, 86].map(|millis| step(&mut *part, millis)), [Step::Grow(1.0 / 3.0); 4]);
        assert_eq!(step(&mut *part, 84), Step::Grow(1.0 / 3.0));
        assert_eq!([86, 86, 86].map(|millis| step(&mut *part, millis)), [Step::Grow(1.0 / 3.0); 3]);
        assert_eq!(step(&mut *part, 86), Step::Exit { ssthresh: 10.0 });
    }

    #[test]
    fn later_slow_starts_end_at_the_threshold() {
        let mut part = build(&ENTRY, &[]).unwrap();
        step(&mut *part, 200);
        part.on_congestion(&congestion(Cause::DupAck, 10.0), &window(10.0));
        assert_eq!([900; 6].map(|millis| step(&mut *part, millis)), [Step::Grow(1.0); 6]);
    }
}
