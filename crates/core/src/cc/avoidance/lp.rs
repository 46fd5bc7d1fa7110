//! TCP-LP: Reno that yields as soon as the one-way delay rises.
//! ## What it does
//! Smooths the one-way delay of the data and compares it with the smallest and the largest so far. Above `threshold` of the way from one to
//! the other, other flows seem to need the path: the window is halved, and a phase of inference of `inference` round trips begins, in which
//! the window does not grow. If it happens again in this phase, the window becomes one segment. Growth and the response to losses are
//! Reno's. Slow start is as ever: the loss that ends it shows the largest delay.
//! ## References
//! Kuzmanovic & Knightly, *TCP-LP: a distributed algorithm for low priority data transfer*, INFOCOM 2003, §III. The rules of Linux'
//! `tcp_lp`, for `variant = "linux"`.
//! ## Differs from the document
//! - The paper's text was not available. Constants and rules are those on which the literature about it agrees.
//! - Data that was sent before the window was halved shows nothing about the effect, so it does not count as "again"; how the paper treats
//!   it is not known.
//! - Without one-way delays (no timestamps), round-trip times take their place, so that queues for ACKs count too.
//! - A cut takes the threshold along, so that the window grows from it as in avoidance.
//! - A receiver that delays the ACK of a single segment adds to the delay. While the window is one segment, delays therefore do not count.
//!   A receiver that delays ACKs by more than the path's queue still keeps the flow at one or two segments after its first yield.
//! - The part acts when the window may grow, so not in loss recovery.
//!
//! `variant = "linux"` has the rules of Linux' `tcp_lp`, from knowledge of them and confirmed by Linux 6.12 in virtual time:
//!
//! - The delay is the receiver's timestamp minus its echo, in milliseconds and with 32 bits; the smoothed one is kept in eighths. Timestamps begin
//!   at a random number (`clock_start`). From 2²⁹ ms on, which is seven of eight connections, the smoothed delay loses bits and is below all others:
//!   the flow is mostly Reno.
//! - The rate of the receiver's clock is estimated, and 1000 Hz are divided by it. While arrivals are farther apart than transmissions it seems to be
//!   above 1000 Hz, and the quotient is zero. Here the echo of a duplicate, and the timestamp at a retransmission, follow from the ACK before.
//! - It acts in slow start as well, keeps the threshold, and an ACK that cuts still makes the window grow. Each ACK counts as "again".
//! - A delay that equals the limit counts as above it, so that the first one of all cuts; this is inferred from the kernel's windows.
//! - After a cut the smallest delay becomes the smoothed one, and the largest its double. The largest delay follows one maximum behind.
//! ## Parameters
//! `threshold`: 15 %, `weight` of a new delay: 1/8, and `inference`: 3 round trips, from the paper; Linux has the same.
//! `clock_start`: random, as in Linux. `variant`: document.

mod linux;

use super::reno::Reno;
use crate::cc::contract::{Avoidance, Wants, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "lp",
    summary: "TCP-LP: Reno that yields to others as soon as the one-way delay rises",
    reference: "Kuzmanovic & Knightly, TCP-LP, INFOCOM 2003",
    params: &[
        Param {
            name: "threshold",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.15),
            doc: "place between smallest and largest delay above which the path counts as needed by others (the paper: 15 %)",
        },
        Param {
            name: "weight",
            kind: Kind::Number { min: 0.001, max: 1.0 },
            default: Default::Number(0.125),
            doc: "weight of a new delay in the smoothed one (the paper: 1/8)",
        },
        Param {
            name: "inference",
            kind: Kind::Number { min: 0.0, max: 1e3 },
            default: Default::Number(3.0),
            doc: "round trips without growth after a cut (the paper: 3)",
        },
        Param {
            name: "clock_start",
            kind: Kind::Integer { min: 0.0, max: 4_294_967_295.0 },
            default: Default::Auto,
            doc: "what the receiver's clock is ahead in milliseconds, for the rules of Linux; auto: a random number",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: the paper's rules; linux: those of Linux",
        },
    ],
    quantities: &[
        quantity("delay", "s", "smoothed one-way delay").on("delay"),
        quantity("delay_limit", "s", "delay above which the path counts as needed by others").on("delay"),
    ],
    build: |params| {
        if params.word("variant") == "linux" {
            return Ok(Box::new(linux::Lp::new(params.number_or_auto("clock_start").map(|start| start as u32))));
        }
        Ok(Box::new(Lp {
            threshold: params.number("threshold"),
            weight: params.number("weight"),
            inference: params.number("inference"),
            growth: Reno::default(),
            one_way: false,
            delays: None,
            rtt: Duration::ZERO,
            cut_at: None,
            sent_before: 0,
            before: 0.0,
            action: Action::Grow,
        }))
    },
};

/// Delays in seconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    smoothed: f64,
    least: f64,
    most: f64,
}

/// What an ACK asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Grow,
    Hold,
    CutTo(Segments),
}

/// TCP-LP.
#[derive(Clone, Debug)]
pub struct Lp {
    threshold: f64,
    weight: f64,
    inference: f64,
    growth: Reno,
    /// Whether delays are one-way.
    one_way: bool,
    delays: Option<Delays>,
    rtt: Duration,
    /// The last cut, and the position up to which data was sent before it.
    cut_at: Option<Instant>,
    sent_before: u64,
    /// The window before the ACK.
    before: Segments,
    action: Action,
}

impl Lp {
    /// The delay that an ACK shows, in seconds. The first one-way delay replaces all round-trip times.
    fn sample(&mut self, ack: &Ack) -> Option<f64> {
        if ack.one_way_delay.is_some() && !std::mem::replace(&mut self.one_way, true) {
            self.delays = None;
        }
        Some(if self.one_way { ack.one_way_delay } else { ack.rtt }?.as_secs_f64())
    }

    fn add(&mut self, delay: f64) {
        let Some(known) = &mut self.delays else {
            self.delays = Some(Delays { smoothed: delay, least: delay, most: delay });
            return;
        };
        (known.least, known.most) = (known.least.min(delay), known.most.max(delay));
        known.smoothed += self.weight * (delay - known.smoothed);
    }

    /// The delay above which others seem to need the path.
    fn limit(&self) -> Option<f64> {
        self.delays.map(|known| known.least + self.threshold * (known.most - known.least))
    }

    /// Whether others seem to need the path.
    fn is_needed(&self) -> bool {
        self.delays.zip(self.limit()).is_some_and(|(known, limit)| known.smoothed > limit)
    }

    fn infers(&self, now: Instant) -> bool {
        self.cut_at.is_some_and(|at| now.since(at) < self.rtt * self.inference)
    }
}

impl Avoidance for Lp {
    fn on_established(&mut self, event: &Established) {
        self.growth.on_established(event);
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|it| it.one_way_delay = true)
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.before = window.cwnd;
        if let Some(delay) = self.sample(ack) {
            self.add(delay);
        }
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        let infers = self.infers(ack.now);
        let tells = window.cwnd >= window.ssthresh && (!infers || ack.snd_una > self.sent_before);
        if !(ack.may_grow && tells && self.is_needed()) {
            self.action = if infers { Action::Hold } else { Action::Grow };
            return;
        }
        self.action = Action::CutTo(if infers { 1.0 } else { (window.cwnd / 2.0).max(1.0) });
        (self.cut_at, self.sent_before) = (Some(ack.now), ack.snd_nxt);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if self.action == Action::Grow { self.growth.on_ack(ack, window) } else { window.cwnd }
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        match self.action {
            Action::Grow => None,
            Action::Hold => Some(Window { cwnd: self.before.min(window.cwnd), ..*window }),
            Action::CutTo(cwnd) => Some(Window { cwnd, ssthresh: cwnd.max(2.0) }),
        }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, window: &Window) {
        self.growth.on_reduction(event, window);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let (Some(known), Some(limit)) = (self.delays, self.limit()) {
            out("delay", known.smoothed);
            out("delay_limit", limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use proptest::prelude::*;

    fn part(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        build(&ENTRY, set).unwrap()
    }

    /// An ACK at this time with this one-way delay, both in milliseconds, of data up to that time; data up to 100 ms later has been sent.
    fn ack(at: u64, delay: u64) -> Ack {
        let (now, rtt) = (Instant::ZERO + Duration::from_millis(at), Some(Duration::from_millis(100)));
        Ack { now, rtt, one_way_delay: Some(Duration::from_millis(delay)), snd_una: at, snd_nxt: at + 100, ..ACK }
    }

    /// The window after an ACK.
    fn next(part: &mut dyn Avoidance, ack: &Ack, cwnd: Segments) -> Segments {
        let before = Window { cwnd, ssthresh: 2.0 };
        part.observe(ack, &before);
        let grown = Window { cwnd: part.on_ack(ack, &before), ..before };
        part.steer(ack, &grown).map_or(grown.cwnd, |window| window.cwnd)
    }

    #[test]
    fn the_limit_is_fifteen_percent_above_the_smallest_delay() {
        let mut part = part(&[("weight", Value::Number(1.0))]);
        assert!(part.wants().one_way_delay);
        assert_eq!(next(&mut *part, &ack(0, 100), 10.0), 10.1);
        // The first rise is the largest delay itself.
        assert_eq!(next(&mut *part, &ack(1, 200), 10.0), 5.0);
        assert_close(internal(|out| part.internals(out), "delay_limit"), 0.115, 1e-12);
        assert_eq!(next(&mut *part, &ack(1000, 115), 10.0), 10.1, "not above it");
        assert_eq!(next(&mut *part, &ack(1001, 116), 10.0), 5.0);
    }

    #[test]
    fn a_second_rise_within_three_round_trips_leaves_one_segment() {
        let mut part = part(&[("weight", Value::Number(1.0))]);
        next(&mut *part, &ack(0, 100), 40.0);
        assert_eq!(next(&mut *part, &ack(1, 200), 40.0), 20.0);
        assert_eq!(next(&mut *part, &ack(100, 200), 20.0), 20.0, "sent before the cut");
        assert_eq!(next(&mut *part, &ack(102, 100), 20.0), 20.0, "no growth");
        assert_eq!(next(&mut *part, &ack(103, 200), 20.0), 1.0);
        assert_eq!(next(&mut *part, &ack(402, 100), 1.0), 1.0, "the inference began anew");
        assert_eq!(next(&mut *part, &ack(404, 100), 1.0), 2.0);
    }

    #[test]
    fn slow_start_is_left_alone() {
        let mut part = part(&[("weight", Value::Number(1.0))]);
        for (at, delay) in [(0, 100), (1, 100), (2, 200)] {
            part.observe(&ack(at, delay), &window(10.0));
        }
        assert_eq!(part.steer(&ack(2, 200), &window(11.0)), None);
    }

    #[test]
    fn losses_halve_and_recovery_changes_nothing() {
        let mut part = part(&[]);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 30.0), &window(30.0)).cwnd, 15.0);
        part.observe(&Ack { may_grow: false, ..ack(0, 100) }, &window(30.0));
        part.observe(&Ack { may_grow: false, ..ack(1, 900) }, &window(30.0));
        assert_eq!(part.steer(&ack(1, 900), &window(30.0)), None);
    }

    proptest! {
        #[test]
        fn it_never_grows_faster_than_reno_nor_below_one(delays in prop::collection::vec(1_u64..500, 1..200)) {
            let mut part = part(&[]);
            let mut cwnd = 20.0;
            for (delay, index) in delays.into_iter().zip(0..) {
                let after = next(&mut *part, &ack(7 * index, delay), cwnd);
                prop_assert!(after >= 1.0 && after <= cwnd + 1.0 / cwnd);
                cwnd = after;
            }
        }
    }
}
