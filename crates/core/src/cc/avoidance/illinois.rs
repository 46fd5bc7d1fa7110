//! Illinois: Reno whose growth falls, and whose cut rises, with the queuing delay.
//! ## What it does
//! Takes the mean round-trip time of each round. Its distance from the smallest one is the present queuing delay d, the distance of the
//! largest one the delay of a full queue, D. A round trip adds α segments, and a loss cuts the share β of the window:
//!
//! - α is `alpha_max` while d is at most D/100, and falls hyperbolically to `alpha_min` at d = D. Once d has been above D/100, it must be
//!   below for `theta` rounds before α returns to its maximum.
//! - β is `beta_min` up to d = D/10 and `beta_max` from d = 8/10 D, and linear between.
//!
//! Below `window_threshold` and after a timeout both are Reno's.
//! ## References
//! Liu, Başar & Srikant, *TCP-Illinois: a loss and delay-based congestion control algorithm for high-speed networks*, Performance
//! Evaluation 65, 2008, §3. The rules of Linux' `tcp_illinois`, for `variant = "linux"`.
//! ## Differs from the document
//! - The paper's text was not available. Constants and rules are those on which implementations agree; the paper's `window_threshold` is
//!   not confirmed.
//! - The paper does not mention ECN. A mark has the effect of a loss.
//!
//! `variant = "linux"` counts as Linux does: times in microseconds, at most 3.36 s, α in 1/128 and β in 1/64, rounded down. Growth counts the
//! segments that an ACK acknowledges cumulatively, also those reported before, but none of the ACK that ends slow start; each growth forgets the
//! rest. A timeout begins a round.
//! ## Parameters
//! `alpha_min`: 0.3, `alpha_max`: 10, `beta_min`: 1/8, `beta_max`: 1/2 and `theta`: 5, from the paper. `window_threshold`: 15 segments,
//! as in Linux. `variant`: document.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::BASE_RTT;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "illinois",
    summary: "Reno whose growth falls and whose cut rises with the queuing delay",
    reference: "Liu, Başar & Srikant, TCP-Illinois, Performance Evaluation 65, 2008",
    params: &[
        Param {
            name: "alpha_min",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Number(0.3),
            doc: "segments per round trip with a full queue (the paper: 0.3)",
        },
        Param {
            name: "alpha_max",
            kind: Kind::Number { min: 1.0, max: 1e3 },
            default: Default::Number(10.0),
            doc: "segments per round trip without a queue (the paper: 10)",
        },
        Param {
            name: "beta_min",
            kind: Kind::Number { min: 0.0, max: 0.5 },
            default: Default::Number(0.125),
            doc: "share of the window that a loss cuts while the queue is short (the paper: 1/8)",
        },
        Param {
            name: "beta_max",
            kind: Kind::Number { min: 0.5, max: 0.99 },
            default: Default::Number(0.5),
            doc: "share of the window that a loss cuts while the queue is long (the paper: 1/2)",
        },
        Param {
            name: "theta",
            kind: Kind::Integer { min: 1.0, max: 1000.0 },
            default: Default::Number(5.0),
            doc: "rounds without a queue before growth returns to its maximum (the paper: 5)",
        },
        Param {
            name: "window_threshold",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(15.0),
            doc: "window below which growth and cut are Reno's (Linux: 15)",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: real numbers; linux: whole numbers, as Linux counts",
        },
    ],
    quantities: &[
        quantity("increase", "segments", "growth per round trip"),
        quantity("decrease", "", "share of the window that a loss cuts"),
        BASE_RTT,
        quantity("max_rtt", "s", "largest round-trip time so far").on("time"),
    ],
    build: |params| Ok(Box::new(Illinois::new(params))),
};

/// Microseconds per second: the unit of all times here.
const MICROS: f64 = 1e6;
/// Reno's growth and cut.
const RENO: (f64, f64) = (1.0, 0.5);

/// The functions α and β of the queuing delay.
#[derive(Clone, Copy, Debug)]
struct Curves {
    alpha: [f64; 2],
    beta: [f64; 2],
    linux: bool,
}

impl Curves {
    /// A whole number of 1/`unit`, if Linux counts.
    fn rounded(&self, value: f64, unit: f64) -> f64 {
        if self.linux { libm::floor(value * unit) / unit } else { value }
    }

    /// The end of the delays at which growth is the largest: D/100.
    fn short(&self, full: f64) -> f64 {
        self.rounded(full / 100.0, 1.0)
    }

    /// Growth with the queuing delay `present` if a full queue has the delay `full`; above the short delays.
    fn alpha(&self, present: f64, full: f64) -> f64 {
        // Liu et al.: κ1/(κ2 + d), which is alpha_max at D/100 and alpha_min at D.
        let (short, [least, most]) = (self.short(full), self.alpha);
        let (full, present) = (full - short, present - short);
        let slowed = self.rounded(present * (most - least) / least, 1.0);
        self.rounded(full * most / (full + slowed), 128.0)
    }

    /// The share that a loss cuts.
    fn beta(&self, present: f64, full: f64) -> f64 {
        let [least, most] = self.beta;
        let (low, high) = (self.rounded(full / 10.0, 1.0), self.rounded(8.0 * full / 10.0, 1.0));
        if present <= low {
            least
        } else if present >= high {
            most
        } else {
            // Liu et al.: κ3 + κ4·d.
            self.rounded((least * high - most * low + (most - least) * present) / (high - low), 64.0)
        }
    }
}

/// Illinois.
#[derive(Clone, Debug)]
pub struct Illinois {
    curves: Curves,
    theta: u32,
    window_threshold: Segments,
    alpha: f64,
    beta: f64,
    /// Smallest and largest round-trip time, and sum and number of those of this round, in microseconds.
    least: f64,
    most: f64,
    sum: f64,
    count: u32,
    /// The round ends when an ACK exceeds this position.
    end: u64,
    /// Whether a queue was seen, and rounds without one since then.
    above: bool,
    below: u32,
    /// Acknowledged segments that have not yet made the window grow, as Linux counts, and those of the last ACK in avoidance.
    waiting: Segments,
    acked: Segments,
    /// The next position to send.
    next: u64,
}

impl Illinois {
    fn new(params: &Params) -> Self {
        let linux = params.word("variant") == "linux";
        let unrounded = Curves { alpha: [0.0; 2], beta: [0.0; 2], linux };
        let read = |names: [&str; 2], unit| names.map(|name| unrounded.rounded(params.number(name), unit));
        let curves = Curves { alpha: read(["alpha_min", "alpha_max"], 128.0), beta: read(["beta_min", "beta_max"], 64.0), linux };
        Self {
            curves,
            theta: params.number("theta") as u32,
            window_threshold: params.number("window_threshold"),
            alpha: curves.alpha[1],
            beta: RENO.1,
            least: f64::INFINITY,
            most: 0.0,
            sum: 0.0,
            count: 0,
            end: 0,
            above: false,
            below: 0,
            waiting: 0.0,
            acked: 0.0,
            next: 0,
        }
    }

    /// α after a round with the queuing delay `present`.
    fn growth(&mut self, present: f64, full: f64) -> f64 {
        if present > self.curves.short(full) {
            self.above = true;
            return self.curves.alpha(present, full);
        }
        if self.above {
            self.below += 1;
            if self.below < self.theta {
                return self.alpha;
            }
            (self.above, self.below) = (false, 0);
        }
        self.curves.alpha[1]
    }

    fn end_round(&mut self, window: &Window) {
        if window.cwnd < self.window_threshold {
            (self.alpha, self.beta) = RENO;
        } else if self.count > 0 {
            let mean = self.curves.rounded(self.sum / f64::from(self.count), 1.0);
            let (present, full) = (mean - self.least, self.most - self.least);
            self.alpha = self.growth(present, full);
            self.beta = self.curves.beta(present, full);
        }
    }

    fn begin_round(&mut self, end: u64) {
        (self.end, self.sum, self.count) = (end, 0.0, 0);
    }
}

impl Avoidance for Illinois {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.acked = if window.cwnd < window.ssthresh { 0.0 } else { f64::from(ack.acked) };
        self.next = ack.snd_nxt;
        if let Some(rtt) = ack.rtt {
            let rtt = self.curves.rounded(rtt.as_secs_f64() * MICROS, 1.0);
            // Linux: the largest time whose product with the largest α has 32 bits.
            let rtt = if self.curves.linux { rtt.min(libm::floor(4_294_967_295.0 / (128.0 * self.curves.alpha[1]))) } else { rtt };
            (self.least, self.most) = (self.least.min(rtt), self.most.max(rtt));
            (self.sum, self.count) = (self.sum + rtt, self.count + 1);
        }
        if ack.may_grow && ack.snd_una > self.end {
            self.end_round(window);
            self.begin_round(ack.snd_nxt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if !self.curves.linux {
            return window.cwnd + ack.counted * self.alpha / window.cwnd;
        }
        self.waiting += self.acked;
        let due = libm::floor(self.waiting * self.alpha);
        if due < window.cwnd {
            return window.cwnd;
        }
        self.waiting = 0.0;
        window.cwnd + libm::floor(due / window.cwnd)
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        Window::reduced_to(event.window - self.curves.rounded(event.window * self.beta, 1.0))
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        self.waiting = 0.0;
        if event.cause == Cause::Timeout {
            (self.alpha, self.beta) = RENO;
            (self.above, self.below) = (false, 0);
            self.begin_round(if self.curves.linux { self.next } else { self.end });
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.alpha);
        out("decrease", self.beta);
        if self.most > 0.0 {
            out("base_rtt", self.least / MICROS);
            out("max_rtt", self.most / MICROS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::Duration;
    use proptest::prelude::*;

    fn part(variant: &str) -> Box<dyn Avoidance> {
        build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap()
    }

    /// Rounds of one ACK each with these round-trip times in milliseconds, of a window of 100. Returns α and β.
    fn after(part: &mut dyn Avoidance, cwnd: Segments, millis: &[u64]) -> (f64, f64) {
        for (&millis, index) in millis.iter().zip(1..) {
            let ack = Ack { rtt: Some(Duration::from_millis(millis)), snd_una: index, snd_nxt: index, ..ACK };
            part.observe(&ack, &window(cwnd));
        }
        let quantity = |name| internal(|out| part.internals(out), name);
        (quantity("increase"), quantity("decrease"))
    }

    #[test]
    fn the_table_of_growth_and_cut_by_delay() {
        // A full queue of 100 ms above 50 ms; κ1/(κ2 + d) by hand.
        for (delay, alpha, beta) in [(10, 2.538, 0.125), (20, 1.388, 0.179), (50, 0.588, 0.339), (100, 0.3, 0.5)] {
            let (increase, decrease) = after(&mut *part("document"), 100.0, &[50, 150, 50 + delay]);
            assert_close(increase, alpha, 5e-4);
            assert_close(decrease, beta, 5e-4);
            // Linux rounds down to 1/128 and 1/64.
            let (increase, decrease) = after(&mut *part("linux"), 100.0, &[50, 150, 50 + delay]);
            assert!((alpha - 0.03..=alpha + 5e-4).contains(&increase), "{delay}: {increase}");
            assert!((beta - 1.0 / 64.0..=beta + 5e-4).contains(&decrease), "{delay}: {decrease}");
            assert_eq!((increase * 128.0 % 1.0, decrease * 64.0 % 1.0), (0.0, 0.0));
        }
    }

    #[test]
    fn the_largest_growth_returns_after_five_rounds_without_a_queue() {
        let mut part = part("document");
        assert_eq!(after(&mut *part, 100.0, &[50]).0, 10.0, "no queue was seen");
        let mut seen = Vec::new();
        for index in 2..10 {
            let millis = if index == 2 { 150 } else { 50 };
            part.observe(&Ack { rtt: Some(Duration::from_millis(millis)), snd_una: index, snd_nxt: index, ..ACK }, &window(100.0));
            seen.push(internal(|out| part.internals(out), "increase"));
        }
        for (alpha, expected) in seen.into_iter().zip([0.3, 0.3, 0.3, 0.3, 0.3, 10.0, 10.0, 10.0]) {
            assert_close(alpha, expected, 1e-12);
        }
    }

    #[test]
    fn small_windows_and_timeouts_are_renos() {
        assert_eq!(after(&mut *part("document"), 14.9, &[50, 150, 50]), RENO);
        let mut part = part("document");
        after(&mut *part, 100.0, &[50, 150, 60]);
        assert_close(part.respond(&congestion(Cause::DupAck, 100.0), &window(100.0)).cwnd, 87.5, 1e-9);
        part.on_reduction(&congestion(Cause::Timeout, 100.0), &window(1.0));
        assert_eq!(after(&mut *part, 100.0, &[]), RENO);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 100.0), &window(100.0)).cwnd, 50.0);
    }

    #[test]
    fn a_round_trip_adds_alpha_segments() {
        let grown = |variant: &str| {
            let (mut part, mut cwnd) = (part(variant), 100.0);
            for _ in 0..100 {
                part.observe(&ACK, &Window { cwnd, ssthresh: 2.0 });
                cwnd = part.on_ack(&ACK, &window(cwnd));
            }
            cwnd
        };
        assert!((109.0..=110.0).contains(&grown("document")), "{}", grown("document"));
        // Each ten acknowledged segments or a little more give one.
        assert_eq!(grown("linux"), 109.0);
    }

    proptest! {
        #[test]
        fn growth_and_cut_stay_within_their_bounds(rtts in prop::collection::vec(1_u64..2000, 1..60), linux in any::<bool>()) {
            let (alpha, beta) = after(&mut *part(if linux { "linux" } else { "document" }), 100.0, &rtts);
            prop_assert!((0.29..=10.0).contains(&alpha) && (0.125..=0.5).contains(&beta), "{} {}", alpha, beta);
        }
    }
}
