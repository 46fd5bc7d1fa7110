//! Compound TCP: Reno's window plus a window that grows fast while queues are empty.
//! ## What it does
//! The window is the sum of two: Reno's, which grows by one segment per round trip, and the delay window. Once per round trip the flow's
//! segments in queues are estimated as in Vegas, diff = W·(1 − base/rtt).
//!
//! - While diff is below γ, and from `low_window` on, the delay window grows by `alpha`·W^`k` − 1, so that both together grow by `alpha`·W^`k`.
//! - From γ on it shrinks by `zeta`·diff, to zero at most. The window is then Reno's, the lower bound.
//! - A loss leaves 1 − `beta` of the window, and Reno's half of its own; the delay window is the rest. A timeout leaves no delay window.
//!
//! With `tuning` γ begins at `gamma` and follows what Reno alone would have in queues: at each loss, 3/4 of its window times 1 − base/rtt enters
//! by `weight`, within `gamma_min` and `gamma`. A flow on a path with a small buffer or many flows thus learns to stop before the buffer is full.
//! ## References
//! Sridharan, Tan, Bansal & Thaler, *Compound TCP: a new TCP congestion control for high-speed and long distance networks*,
//! draft-sridharan-tcpm-ctcp-02, 2008; Tan, Song, Zhang & Sridharan, *A Compound TCP approach for high-speed and long distance networks*,
//! INFOCOM 2006.
//! ## Differs from the document
//! - Only the draft's beginning could be opened. Rules and constants are those on which the literature about it agrees; `low_window`, for
//!   which 38 and 41 segments are stated, and the details of the tuning are not confirmed. `weight` is this laboratory's.
//! - The round-trip time is the mean of a round; its smallest is that of the connection.
//! - If the delay window shrinks the whole below `ssthresh`, the threshold falls with it, so that slow start does not resume.
//! - The draft does not mention ECN. A mark has the effect of a loss.
//! ## Parameters
//! `alpha`: 1/8, `beta`: 1/2, `k`: 3/4, `gamma`: 30 segments and `zeta`: 1, from the draft. `low_window`: 38 segments. `tuning`: true,
//! `gamma_min`: 5 segments and `weight`: 1/4.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::{BASE_RTT, Backlog, DIFF, ROUND_RTT};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "compound",
    summary: "Compound TCP: Reno's window plus one that grows fast while queues are empty",
    reference: "draft-sridharan-tcpm-ctcp-02",
    params: &[
        Param {
            name: "alpha",
            kind: Kind::Number { min: 0.001, max: 10.0 },
            default: Default::Number(0.125),
            doc: "factor of the growth without queues (the draft: 1/8)",
        },
        Param {
            name: "beta",
            kind: Kind::Number { min: 0.0, max: 0.5 },
            default: Default::Number(0.5),
            doc: "share of the window that a loss cuts (the draft: 1/2)",
        },
        Param {
            name: "k",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.75),
            doc: "power of the window in the growth without queues (the draft: 3/4)",
        },
        Param {
            name: "gamma",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(30.0),
            doc: "the flow's segments in queues from which the delay window shrinks; the most if it is tuned (the draft: 30)",
        },
        Param {
            name: "zeta",
            kind: Kind::Number { min: 0.0, max: 1e3 },
            default: Default::Number(1.0),
            doc: "how much the delay window shrinks for each of them (the draft: 1)",
        },
        Param {
            name: "low_window",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(38.0),
            doc: "window from which the delay window grows (38: that of HighSpeed TCP)",
        },
        Param {
            name: "tuning",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether gamma follows Reno's own segments in queues",
        },
        Param {
            name: "gamma_min",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(5.0),
            doc: "least gamma if it is tuned; at most gamma (5)",
        },
        Param {
            name: "weight",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.25),
            doc: "weight of the latest loss in gamma if it is tuned",
        },
    ],
    quantities: &[
        DIFF,
        BASE_RTT,
        ROUND_RTT,
        quantity("dwnd", "segments", "delay window: the part of the window beyond Reno's").on("window"),
        quantity("gamma", "segments", "segments in queues from which the delay window shrinks").on("in queues"),
    ],
    build,
};

fn build(params: &Params) -> Result<Box<dyn Avoidance>, String> {
    let number = |name| params.number(name);
    let (gamma, least) = (number("gamma"), number("gamma_min"));
    let tuning = params.flag("tuning");
    if tuning && least > gamma {
        return Err(format!("gamma_min is {least} segments but gamma is {gamma}: gamma_min must not be above gamma"));
    }
    Ok(Box::new(Compound {
        alpha: number("alpha"),
        beta: number("beta"),
        k: number("k"),
        zeta: number("zeta"),
        low_window: number("low_window"),
        tuning: tuning.then_some(Tuning { least, most: gamma, weight: number("weight") }),
        gamma,
        backlog: Backlog::published(),
        queue: None,
        dwnd: 0.0,
        before: 0.0,
    }))
}

/// Reno's share of the window in queues that γ aims at (INFOCOM 2006).
const AIM: f64 = 0.75;

/// How γ follows the path.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    least: Segments,
    most: Segments,
    weight: f64,
}

/// Compound TCP.
#[derive(Clone, Debug)]
pub struct Compound {
    alpha: f64,
    beta: f64,
    k: f64,
    zeta: f64,
    low_window: Segments,
    tuning: Option<Tuning>,
    gamma: Segments,
    backlog: Backlog,
    /// The share of the window in queues, after a round that has not yet changed the delay window.
    queue: Option<f64>,
    /// The delay window, and what it was before the last reduction.
    dwnd: Segments,
    before: Segments,
}

impl Compound {
    /// The delay window after a round with the share `queue` of the window `win` in queues.
    fn after_round(&self, dwnd: Segments, win: Segments, queue: f64) -> Segments {
        let diff = win * queue;
        if diff >= self.gamma {
            (dwnd - self.zeta * diff).max(0.0)
        } else if win >= self.low_window {
            dwnd + (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            dwnd
        }
    }

    /// Reno's part of the window.
    fn reno(&self, win: Segments) -> Segments {
        (win - self.dwnd).max(1.0)
    }
}

impl Avoidance for Compound {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if self.backlog.observe(ack).is_some() && window.cwnd >= window.ssthresh {
            self.queue = Some(self.backlog.queued_share());
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let reno = self.reno(window.cwnd);
        let mut dwnd = window.cwnd - reno;
        if let Some(queue) = self.queue.take() {
            dwnd = self.after_round(dwnd, window.cwnd, queue);
        }
        self.dwnd = dwnd;
        reno + ack.counted / window.cwnd + dwnd
    }

    fn lowers_threshold(&self) -> bool {
        true
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let half = self.reno(event.window) / 2.0;
        Window::reduced_to(half.max(event.window * (1.0 - self.beta)))
    }

    fn on_reduction(&mut self, event: &CongestionEvent, window: &Window) {
        let reno = self.reno(event.window);
        if let (Some(tuning), Cause::DupAck) = (self.tuning, event.cause) {
            let aim = AIM * reno * self.backlog.queued_share();
            self.gamma = (self.gamma + tuning.weight * (aim - self.gamma)).clamp(tuning.least, tuning.most);
        }
        (self.before, self.queue) = (self.dwnd, None);
        self.dwnd = (window.cwnd - reno / 2.0).max(0.0);
    }

    fn on_restart(&mut self) {
        self.dwnd = 0.0;
    }

    fn on_spurious(&mut self, _window: &Window) {
        self.dwnd = self.before;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.backlog.internals(out);
        out("dwnd", self.dwnd);
        out("gamma", self.gamma);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::{Duration, Instant};
    use proptest::prelude::*;

    fn part(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        build(&ENTRY, set).unwrap()
    }

    fn quantity(part: &dyn Avoidance, name: &str) -> f64 {
        internal(|out| part.internals(out), name)
    }

    /// The window after as many ACKs as it has segments at first, each with this round-trip time.
    fn round(part: &mut dyn Avoidance, cwnd: &mut Segments, millis: u64) {
        for _ in 0..*cwnd as u32 {
            let rtt = Some(Duration::from_millis(millis));
            let ack = Ack { now: Instant::ZERO, rtt, flight_size: *cwnd as u32 - 1, ..ACK };
            let window = Window { cwnd: *cwnd, ssthresh: 2.0 };
            part.observe(&ack, &window);
            *cwnd = part.on_ack(&ack, &window);
        }
    }

    #[test]
    fn without_a_queue_the_window_grows_by_an_eighth_of_its_power_of_three_quarters() {
        let (mut part, mut cwnd) = (part(&[]), 256.0);
        round(&mut *part, &mut cwnd, 100);
        let before = cwnd;
        round(&mut *part, &mut cwnd, 100);
        // 256^(3/4) = 64: eight segments per round trip, of which Reno adds one.
        assert_close(quantity(&*part, "dwnd"), 14.0, 0.5);
        assert_close(cwnd - before, 8.0, 0.3);
        let (mut part, mut small) = (self::part(&[]), 30.0);
        round(&mut *part, &mut small, 100);
        assert_close(small, 31.0, 0.02);
        assert_eq!(quantity(&*part, "dwnd"), 0.0, "Reno below 38 segments");
    }

    #[test]
    fn a_queue_of_gamma_shrinks_the_delay_window_to_nothing() {
        let (mut part, mut cwnd) = (part(&[]), 256.0);
        for _ in 0..3 {
            round(&mut *part, &mut cwnd, 100);
        }
        let dwnd = quantity(&*part, "dwnd");
        // 20 ms of 120 ms: a sixth of 280 segments is in queues.
        round(&mut *part, &mut cwnd, 120);
        round(&mut *part, &mut cwnd, 120);
        assert!(dwnd > 15.0 && quantity(&*part, "dwnd") == 0.0, "{dwnd}");
        assert!((256.0..265.0).contains(&cwnd), "Reno's is left: {cwnd}");
    }

    #[test]
    fn a_loss_halves_both_and_a_timeout_ends_the_delay_window() {
        let (mut part, mut cwnd) = (part(&[]), 256.0);
        round(&mut *part, &mut cwnd, 100);
        round(&mut *part, &mut cwnd, 100);
        let (dwnd, event) = (quantity(&*part, "dwnd"), congestion(Cause::DupAck, cwnd));
        let after = part.respond(&event, &window(cwnd));
        assert_eq!(after.cwnd, cwnd / 2.0);
        part.on_reduction(&event, &after);
        assert_close(quantity(&*part, "dwnd"), dwnd / 2.0, 1e-9);
        part.on_spurious(&after);
        assert_eq!(quantity(&*part, "dwnd"), dwnd);
        part.on_reduction(&congestion(Cause::Timeout, cwnd), &window(1.0));
        assert_eq!(quantity(&*part, "dwnd"), 0.0);
        let mut gentle = self::part(&[("beta", Value::Number(0.2))]);
        assert_eq!(gentle.respond(&congestion(Cause::DupAck, 100.0), &window(100.0)).cwnd, 80.0);
    }

    #[test]
    fn gamma_follows_renos_queue_within_its_bounds() {
        let tuned = |millis: u64, losses: u32| {
            let (mut part, mut cwnd) = (part(&[("weight", Value::Number(1.0))]), 100.0);
            round(&mut *part, &mut cwnd, 100);
            round(&mut *part, &mut cwnd, millis);
            round(&mut *part, &mut cwnd, millis);
            for _ in 0..losses {
                part.on_reduction(&congestion(Cause::DupAck, 100.0), &window(50.0));
            }
            quantity(&*part, "gamma")
        };
        assert_eq!([tuned(100, 0), tuned(100, 1), tuned(200, 1)], [30.0, 5.0, 30.0]);
        assert!((15.0..19.0).contains(&tuned(130, 1)), "3/4 of 30/130 of almost 100: {}", tuned(130, 1));
        let refused = build(&ENTRY, &[("gamma", Value::Number(4.0))]).unwrap_err();
        assert_eq!(refused, "gamma_min is 5 segments but gamma is 4: gamma_min must not be above gamma");
        assert!(build(&ENTRY, &[("gamma", Value::Number(4.0)), ("tuning", Value::Bool(false))]).is_ok());
    }

    proptest! {
        #[test]
        fn the_window_is_never_below_renos_share(rtts in prop::collection::vec(50_u64..400, 1..30), start in 2.0_f64..300.0) {
            let (mut part, mut cwnd) = (part(&[]), start);
            for (millis, number) in rtts.into_iter().zip(1..) {
                round(&mut *part, &mut cwnd, millis);
                let dwnd = quantity(&*part, "dwnd");
                prop_assert!(dwnd >= 0.0 && cwnd - dwnd >= start.floor().min(start) * 0.999, "{} {}", cwnd, dwnd);
                prop_assert!(cwnd - dwnd <= start + 1.01 * f64::from(number), "{} {}", cwnd, dwnd);
            }
        }
    }
}
