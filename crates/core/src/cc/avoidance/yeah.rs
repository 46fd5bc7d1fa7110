//! `YeAH`: fast while the queue is short, Reno while it is long, and drains its own queue.
//! ## What it does
//! Estimates, once per round trip, the flow's segments in queues: Q = W·(rtt − base)/rtt with the smallest round-trip time of the round.
//!
//! - While Q is at most `alpha` and the queuing delay at most base/`phi`, the flow is fast: it grows as Scalable TCP does, by one segment
//!   for 100 acknowledged ones, or for a window of them if that is smaller.
//! - Otherwise it grows as Reno does. If Q exceeds `alpha`, the window falls by Q/`gamma`, by `epsilon` of itself at most, but not below the
//!   window that Reno is thought to have, and slow start ends.
//! - A loss cuts Q, at least `delta` and at most half of the window. After `rho` round trips as Reno others share the queue, and a loss
//!   halves the window.
//!
//! Reno's window is half of the flow's when the queue first becomes long, and grows by one in each further round trip as Reno. More than
//! `zeta` fast round trips forget it, and a loss halves it.
//! ## References
//! Baiocchi, Castellani & Vacirca, *YeAH-TCP: Yet Another Highspeed TCP*, `PFLDnet` 2007, §3. The rules of Linux' `tcp_yeah`, for
//! `variant = "linux"`.
//! ## Differs from the document
//! - The paper's text was not available. Constants and rules are those on which implementations agree.
//! - A round trip with fewer than three samples decides nothing.
//! - The paper does not mention ECN. A mark has the effect of a loss.
//!
//! `variant = "linux"` counts as Linux does: whole segments, and times in microseconds plus one. A transmission with nothing in flight forgets all
//! round-trip times, and the end of a recovery or of a hole those of the round.
//! ## Parameters
//! `alpha`: 80 segments, `phi`: 8, `gamma`: 1, `epsilon`: 1/2, `delta`: 1/8, `rho`: 16 and `zeta`: 50, from the paper. `variant`: document.

use super::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::BASE_RTT;
use crate::cc::vegas_linux::{MICROS, Rounds};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "yeah",
    summary: "Scalable TCP while the queue is short, Reno while it is long, and drains its own queue",
    reference: "Baiocchi, Castellani & Vacirca, YeAH-TCP, PFLDnet 2007",
    params: &[
        Param {
            name: "alpha",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(80.0),
            doc: "most of the flow's segments in queues (the paper: 80)",
        },
        Param {
            name: "phi",
            kind: Kind::Number { min: 0.01, max: 1e6 },
            default: Default::Number(8.0),
            doc: "the queuing delay is short up to this part of the base round-trip time (the paper: 8)",
        },
        Param {
            name: "gamma",
            kind: Kind::Number { min: 1.0, max: 1e6 },
            default: Default::Number(1.0),
            doc: "part of its queue that the flow drains in a round trip (the paper: 1)",
        },
        Param {
            name: "epsilon",
            kind: Kind::Number { min: 0.0, max: 0.99 },
            default: Default::Number(0.5),
            doc: "largest share of the window that it drains (the paper: 1/2)",
        },
        Param {
            name: "delta",
            kind: Kind::Number { min: 0.0, max: 0.5 },
            default: Default::Number(0.125),
            doc: "smallest share of the window that a loss cuts (the paper: 1/8)",
        },
        Param {
            name: "rho",
            kind: Kind::Integer { min: 0.0, max: 1e6 },
            default: Default::Number(16.0),
            doc: "round trips as Reno after which a loss halves the window (the paper: 16)",
        },
        Param {
            name: "zeta",
            kind: Kind::Integer { min: 0.0, max: 1e6 },
            default: Default::Number(50.0),
            doc: "fast round trips that forget Reno's window (the paper: 50)",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: real numbers; linux: whole numbers, as Linux counts",
        },
    ],
    quantities: &[
        BASE_RTT,
        quantity("N", "segments", "backlog: the flow's segments in queues").on("in queues"),
        quantity("reno_window", "segments", "window that Reno is thought to have").on("window"),
    ],
    build: |params| {
        Ok(Box::new(Yeah {
            alpha: params.number("alpha"),
            phi: params.number("phi"),
            gamma: params.number("gamma"),
            epsilon: params.number("epsilon"),
            delta: params.number("delta"),
            rho: params.number("rho"),
            zeta: params.number("zeta"),
            linux: params.word("variant") == "linux",
            rounds: Rounds::new(params.word("variant") == "linux"),
            queue: 0.0,
            reno_rounds: 0.0,
            fast_rounds: 0.0,
            reno_window: LEAST,
            count: Count::default(),
        }))
    },
};

/// Smallest window of Reno, and smallest cut of a halved one.
const LEAST: Segments = 2.0;
/// Acknowledged segments per further segment in Scalable TCP.
const SCALABLE: Segments = 100.0;

/// `YeAH`.
#[derive(Clone, Debug)]
pub struct Yeah {
    alpha: Segments,
    phi: f64,
    gamma: f64,
    epsilon: f64,
    delta: f64,
    rho: f64,
    zeta: f64,
    linux: bool,
    rounds: Rounds,
    /// The flow's segments in queues in the last round.
    queue: Segments,
    /// Round trips as Reno since the last fast one, and fast ones since Reno's window was forgotten.
    reno_rounds: f64,
    fast_rounds: f64,
    reno_window: Segments,
    count: Count,
}

impl Yeah {
    fn rounded(&self, value: f64) -> f64 {
        if self.linux { libm::floor(value) } else { value }
    }

    /// Decides after a round; returns the window if it falls.
    fn end_round(&mut self, cwnd: Segments) -> Option<Segments> {
        let Rounds { base, least, .. } = self.rounds;
        let queuing = least - base;
        self.queue = self.rounded(cwnd * queuing / least);
        if self.queue <= self.alpha && queuing <= self.rounded(base / self.phi) {
            self.fast_rounds += 1.0;
            if self.fast_rounds > self.zeta {
                (self.reno_window, self.fast_rounds) = (LEAST, 0.0);
            }
            self.reno_rounds = 0.0;
            return None;
        }
        let mut cwnd = cwnd;
        let drains = self.queue > self.alpha && cwnd > self.reno_window;
        if drains {
            let by = self.rounded(self.queue / self.gamma).min(self.rounded(self.epsilon * cwnd));
            cwnd = (cwnd - by).max(self.reno_window);
        }
        // The first long queue sets Reno's window to half of the flow's.
        self.reno_window = if self.reno_window <= LEAST { self.rounded(cwnd / 2.0).max(LEAST) } else { self.reno_window + 1.0 };
        self.reno_rounds += 1.0;
        drains.then_some(cwnd)
    }
}

impl Avoidance for Yeah {
    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.rounds.observe(ack);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let per_segment = if self.reno_rounds > 0.0 { window.cwnd } else { window.cwnd.min(SCALABLE) };
        if self.linux { window.cwnd + self.count.add(ack.counted, per_segment) } else { window.cwnd + ack.counted / per_segment }
    }

    fn steer(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        if !self.rounds.ends(ack) {
            return None;
        }
        let fallen = if self.rounds.decides() { self.end_round(window.cwnd) } else { None };
        self.rounds.begin(ack.snd_nxt);
        fallen.map(|cwnd| Window { cwnd, ssthresh: cwnd })
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let half = self.rounded(event.window / 2.0).max(LEAST);
        let cut = if self.reno_rounds < self.rho { self.queue.min(half).max(self.rounded(event.window * self.delta)) } else { half };
        Window::reduced_to((event.window - cut).max(LEAST).min(event.window))
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.fast_rounds = 0.0;
        self.reno_window = self.rounded(self.reno_window / 2.0).max(LEAST);
        self.count = Count::default();
        self.rounds.on_reduction();
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        self.rounds.on_recovery_end();
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        self.rounds.on_spurious();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.rounds.on_sent(sent);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if self.rounds.base.is_finite() {
            out("base_rtt", self.rounds.base / MICROS);
        }
        out("N", self.queue);
        out("reno_window", self.reno_window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Cause, Totals};
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::Duration;
    use proptest::prelude::*;

    fn part(variant: &str) -> Box<dyn Avoidance> {
        build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap()
    }

    /// A round of four ACKs with this round-trip time. Returns the window to which it falls, if it does.
    fn round(part: &mut dyn Avoidance, number: u64, millis: u64, cwnd: Segments) -> Option<Window> {
        let mut fallen = None;
        for index in 1..=4 {
            let (snd_una, snd_nxt) = (4 * (number - 1) + index, 4 * number);
            let total = Totals::new(snd_nxt, snd_una, 0);
            let ack = Ack { rtt: Some(Duration::from_millis(millis)), snd_una, snd_nxt, total, ..ACK };
            // The first ACK of a round ends the one before, in which there were no samples at first.
            part.observe(&ack, &window(cwnd));
            fallen = fallen.or(part.steer(&ack, &window(cwnd)));
        }
        fallen
    }

    fn renos(part: &dyn Avoidance) -> Segments {
        internal(|out| part.internals(out), "reno_window")
    }

    #[test]
    fn it_is_scalable_with_a_short_queue_and_reno_with_a_long_one() {
        let mut part = part("document");
        assert_close(part.on_ack(&ACK, &window(1000.0)), 1000.01, 1e-12);
        assert_close(part.on_ack(&ACK, &window(50.0)), 50.02, 1e-12);
        // 100 ms without a queue; then 120 ms exceed an eighth more, without 80 segments in queues.
        assert_eq!([100, 100, 120].map(|millis| round(&mut *part, millis / 20 - 4, millis, 200.0)), [None; 3]);
        assert_eq!(round(&mut *part, 9, 120, 200.0), None);
        assert_close(part.on_ack(&ACK, &window(200.0)), 200.005, 1e-12);
        assert_close(internal(|out| part.internals(out), "N"), 200.0 / 6.0, 1e-9);
    }

    #[test]
    fn it_drains_its_queue_but_not_below_renos_window() {
        for variant in ["document", "linux"] {
            let mut part = part(variant);
            round(&mut *part, 1, 100, 1000.0);
            round(&mut *part, 2, 100, 1000.0);
            round(&mut *part, 3, 125, 1000.0);
            // Q = 1000·25/125 = 200 segments.
            let fallen = round(&mut *part, 4, 125, 1000.0).unwrap();
            assert!((799.0..=801.0).contains(&fallen.cwnd) && fallen.ssthresh == fallen.cwnd, "{variant}: {fallen:?}");
            assert_close(renos(&*part), 400.0, 1.0);
            // The largest drain is half of the window; Reno's window has grown by one.
            round(&mut *part, 5, 1000, 800.0);
            assert_close(round(&mut *part, 6, 1000, 800.0).unwrap().cwnd, 402.0, 1.0);
            assert_close(renos(&*part), 403.0, 1.0);
        }
    }

    #[test]
    fn a_loss_cuts_the_queue_unless_others_share_it() {
        let mut part = part("document");
        let cut = |part: &mut dyn Avoidance, cwnd| cwnd - part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd;
        assert_close(cut(&mut *part, 800.0), 100.0, 1e-9);
        round(&mut *part, 1, 100, 1000.0);
        for number in 2..5 {
            round(&mut *part, number, 125, 1000.0);
        }
        assert_close(cut(&mut *part, 1000.0), 200.0, 1e-9);
        assert_close(cut(&mut *part, 300.0), 150.0, 1e-9);
        for number in 5..25 {
            round(&mut *part, number, 125, 1000.0);
        }
        assert_close(cut(&mut *part, 1000.0), 500.0, 1e-9);
    }

    #[test]
    fn losses_and_fast_rounds_reduce_renos_window() {
        let mut part = part("document");
        round(&mut *part, 1, 100, 1000.0);
        round(&mut *part, 2, 200, 1000.0);
        round(&mut *part, 3, 200, 1000.0);
        assert_eq!(renos(&*part), 250.0, "half of the 500 that are left");
        part.on_reduction(&congestion(Cause::DupAck, 1000.0), &window(800.0));
        assert_eq!(renos(&*part), 125.0);
        round(&mut *part, 4, 100, 1000.0);
        // The first ACK of round 4 belongs to the round before, and 51 are more than 50.
        for number in 5..55 {
            assert_eq!(renos(&*part), 125.0, "round {number}");
            round(&mut *part, number, 100, 1000.0);
        }
        assert_eq!(renos(&*part), LEAST);
    }

    proptest! {
        #[test]
        fn a_drain_and_a_cut_leave_at_least_half(rtts in prop::collection::vec(1_u64..2000, 1..40), cwnd in 2.0_f64..5000.0, linux in any::<bool>()) {
            let mut part = part(if linux { "linux" } else { "document" });
            let cwnd = libm::floor(cwnd);
            for (millis, number) in rtts.into_iter().zip(1..) {
                let fallen = round(&mut *part, number, millis, cwnd);
                prop_assert!(fallen.is_none_or(|window| window.cwnd >= cwnd / 2.0 - 1.0 && window.cwnd <= cwnd));
                let after = part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd;
                prop_assert!((cwnd / 2.0 - 1.0..=cwnd * 0.875 + 1.0).contains(&after) || after == 2.0, "{cwnd}: {after}");
            }
        }
    }
}
