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
//! `variant = "linux"` acts in slow start as well, keeps the threshold, and counts delays in milliseconds. After each cut the smallest delay
//! becomes the smoothed one, and the largest its double; every later ACK counts as "again". The largest delay follows one maximum behind, so
//! that a single outlier does not count. Linux also estimates the rate of the receiver's clock; here it has milliseconds. These rules are not
//! what Linux 6.12 shows: on the one path compared in virtual time, its `lp` delivered and lost exactly what Reno did. Presumably the random
//! start of timestamps exceeds its numbers.
//! ## Parameters
//! `threshold`: 15 %, `weight` of a new delay: 1/8, and `inference`: 3 round trips, from the paper. `variant`: document.

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
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: smallest and largest delay of the connection; linux: those since the last cut, in milliseconds",
        },
    ],
    quantities: &[
        quantity("delay", "s", "smoothed one-way delay").on("delay"),
        quantity("delay_limit", "s", "delay above which the path counts as needed by others").on("delay"),
    ],
    build: |params| {
        Ok(Box::new(Lp {
            threshold: params.number("threshold"),
            weight: params.number("weight"),
            inference: params.number("inference"),
            linux: params.word("variant") == "linux",
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
    /// The largest delay of all, which Linux takes over when there is a larger one.
    reserve: f64,
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
    linux: bool,
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
        let delay = if self.one_way { ack.one_way_delay } else { ack.rtt }?.as_secs_f64();
        Some(if self.linux { libm::round(1e3 * delay) / 1e3 } else { delay })
    }

    fn add(&mut self, delay: f64) {
        let Some(known) = &mut self.delays else {
            self.delays = Some(Delays { smoothed: delay, least: delay, most: delay, reserve: delay });
            return;
        };
        known.least = known.least.min(delay);
        if !self.linux {
            known.most = known.most.max(delay);
        } else if delay > known.reserve {
            (known.most, known.reserve) = (known.reserve, delay);
        } else {
            known.most = known.most.max(delay);
        }
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
        let tells = self.linux || window.cwnd >= window.ssthresh && (!infers || ack.snd_una > self.sent_before);
        if !(ack.may_grow && tells && self.is_needed()) {
            self.action = if infers { Action::Hold } else { Action::Grow };
            return;
        }
        self.action = Action::CutTo(if infers { 1.0 } else { (window.cwnd / 2.0).max(1.0) });
        (self.cut_at, self.sent_before) = (Some(ack.now), ack.snd_nxt);
        if let (true, Some(known)) = (self.linux, &mut self.delays) {
            let most = 2.0 * known.smoothed;
            *known = Delays { smoothed: known.smoothed, least: known.smoothed, most, reserve: most };
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if self.action == Action::Grow { self.growth.on_ack(ack, window) } else { window.cwnd }
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        match self.action {
            Action::Grow => None,
            Action::Hold => Some(Window { cwnd: self.before.min(window.cwnd), ..*window }),
            Action::CutTo(cwnd) => Some(Window { cwnd, ssthresh: if self.linux { window.ssthresh } else { cwnd.max(2.0) } }),
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

    fn linux() -> Box<dyn Avoidance> {
        part(&[("variant", Value::Word("linux".to_owned()))])
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
    fn linux_forgets_the_extremes_at_a_cut() {
        let mut part = linux();
        next(&mut *part, &ack(0, 100), 40.0);
        next(&mut *part, &ack(1, 100), 40.0);
        // The smoothed delay is 112.5 ms; the largest delay is that before the outlier.
        assert_eq!(next(&mut *part, &ack(2, 200), 40.0), 20.0);
        assert_close(internal(|out| part.internals(out), "delay_limit"), 1.15 * 0.1125, 1e-12);
        assert_eq!(next(&mut *part, &ack(3, 113), 20.0), 20.0);
        // The smoothed delays are 128.5 and 142.4 ms, and the limits 129.4 and 131.6 ms.
        assert_eq!(next(&mut *part, &ack(4, 240), 20.0), 20.0);
        assert_eq!(next(&mut *part, &ack(5, 240), 20.0), 1.0);
    }

    #[test]
    fn the_paper_leaves_slow_start_alone_and_linux_does_not() {
        for (mut part, expected) in [(part(&[("weight", Value::Number(1.0))]), None), (linux(), Some(window(5.0)))] {
            for (at, delay) in [(0, 100), (1, 100), (2, 200)] {
                part.observe(&ack(at, delay), &window(10.0));
            }
            assert_eq!(part.steer(&ack(2, 200), &window(11.0)), expected);
        }
    }

    #[test]
    fn losses_halve_and_recovery_changes_nothing() {
        let mut part = linux();
        assert_eq!(part.respond(&congestion(Cause::DupAck, 30.0), &window(30.0)).cwnd, 15.0);
        part.observe(&Ack { may_grow: false, ..ack(0, 100) }, &window(30.0));
        part.observe(&Ack { may_grow: false, ..ack(1, 900) }, &window(30.0));
        assert_eq!(part.steer(&ack(1, 900), &window(30.0)), None);
    }

    proptest! {
        #[test]
        fn it_never_grows_faster_than_reno_nor_below_one(delays in prop::collection::vec(1_u64..500, 1..200), linux_variant in any::<bool>()) {
            let mut part = if linux_variant { linux() } else { part(&[]) };
            let mut cwnd = 20.0;
            for (delay, index) in delays.into_iter().zip(0..) {
                let after = next(&mut *part, &ack(7 * index, delay), cwnd);
                prop_assert!(after >= 1.0 && after <= cwnd + 1.0 / cwnd);
                cwnd = after;
            }
        }
    }
}
