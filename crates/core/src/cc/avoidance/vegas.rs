//! Vegas' congestion avoidance: keeps a few segments in queues.
//! ## What it does
//! Once per round trip it estimates the backlog: the expected throughput without queues minus the actual one, times the round-trip time
//! without queues. With a backlog below `alpha` the window grows by one segment over the next round trip; above `beta` it shrinks by one at
//! once. Congestion cuts a quarter of the window, or half if the retransmission was lost too.
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.1 and §3.2; ns-2.35's Vegas, observed in
//! its runs.
//! ## Differs from the document
//! With `rule = "ns2"` it follows ns-2.35 in points that the publication leaves open:
//!
//! - The backlog is rounded to whole segments before the comparison, and `alpha` and `beta` are rounded down to whole segments.
//! - The ACK that ends a round counts for the next round. The SYN's ACK sets the round-trip time without queues but is no sample of a
//!   round.
//! - A round of one segment resets the round-trip time without queues.
//! - A window does not grow if it exceeds the outstanding segments by more than 2.
//! - Congestion rounds the window down to whole segments, and cuts at least one. After recovery the threshold is 2.
//!
//! With `rule = "published"` none of these points applies.
//!
//! `rule = "linux"` has the rules of Linux' `tcp_vegas`, from knowledge of them and confirmed by Linux 6.12 in virtual time:
//!
//! - The time of a round is its smallest one, and the backlog is W·(rtt − base)/base in whole segments. A decision needs three round-trip times.
//! - The part ends slow start itself, with a backlog above one segment, at the window W·base/rtt, and one segment more. Slow start otherwise
//!   grows as ever in each round trip; combine it with `standard`.
//! - At the end of a round the window grows or shrinks by one segment at once.
//! - Congestion halves the window. Growth is Reno's in a recovery and while there is a hole; then a round begins.
//! - A transmission with nothing in flight forgets all times.
//! ## Parameters
//! `alpha`: 1 segment, `beta`: 3 segments: ns-2's defaults and the publication's (its simulations use 1 and 3, its text also 2 and 4, which
//! are Linux' defaults). `rule`: "ns2", "published" or "linux".

mod linux;

use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::{ALPHA, BASE_RTT, Backlog, DIFF, MIN_WINDOW, ROUND_RTT};
use crate::entry::Entry;
use crate::events::{Ack, Cause, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "vegas",
    summary: "keeps a backlog of alpha to beta segments, measured by the round-trip time",
    reference: "Brakmo & Peterson 1995, §3.2; ns-2.35's Vegas",
    params: &[
        ALPHA,
        Param {
            name: "beta",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(3.0),
            doc: "backlog above which the window shrinks; at least alpha (ns-2: 3)",
        },
        Param {
            name: "rule",
            kind: Kind::Word(&["ns2", "published", "linux"]),
            default: Default::Word("ns2"),
            doc: "variant: ns-2.35's Vegas, that of Brakmo & Peterson 1995, or that of Linux",
        },
    ],
    quantities: &[DIFF, BASE_RTT, ROUND_RTT],
    build,
};

fn build(params: &Params) -> Result<Box<dyn Avoidance>, String> {
    let (alpha, beta) = (params.number("alpha"), params.number("beta"));
    if beta < alpha {
        return Err(format!("beta is {beta} segments but alpha is {alpha}: beta must not be below alpha"));
    }
    if params.word("rule") == "linux" {
        return Ok(Box::new(linux::Vegas::new(alpha, beta)));
    }
    let backlog = Backlog::new(params);
    let (alpha, beta) = (backlog.threshold(alpha), backlog.threshold(beta));
    Ok(Box::new(Vegas { backlog, alpha, beta, shrinks: false, increment: 0.0 }))
}

/// Vegas' congestion avoidance.
#[derive(Clone, Debug)]
pub struct Vegas {
    backlog: Backlog,
    alpha: Segments,
    beta: Segments,
    /// Whether this round's backlog shrinks the window.
    shrinks: bool,
    /// Growth per ACK in this round.
    increment: Segments,
}

impl Avoidance for Vegas {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if let Some(diff) = self.backlog.observe(ack) {
            let avoiding = window.cwnd >= window.ssthresh;
            self.shrinks = avoiding && diff > self.beta;
            self.increment = if avoiding && diff < self.alpha { 1.0 / window.cwnd } else { 0.0 };
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let mut cwnd = window.cwnd;
        if std::mem::take(&mut self.shrinks) {
            cwnd = (cwnd - 1.0).max(MIN_WINDOW);
        }
        if self.backlog.may_grow(ack, window) { cwnd + ack.counted * self.increment } else { cwnd }
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        if event.cause == Cause::Timeout {
            return Window::halved(event.window);
        }
        let share = if event.resent { 0.5 } else { 0.25 };
        let cwnd = if self.backlog.ns2 {
            let whole = libm::floor(event.window);
            whole - if event.resent { libm::ceil(whole * share) } else { libm::floor(whole * share).max(1.0) }
        } else {
            event.window * (1.0 - share)
        };
        let cwnd = cwnd.max(MIN_WINDOW).min(event.window);
        // The threshold stays: a loss in slow start does not show where slow start should end.
        let ssthresh = if window.ssthresh.is_finite() { window.ssthresh } else { cwnd };
        Window { cwnd, ssthresh: if self.backlog.ns2 { ssthresh } else { cwnd } }
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        Window { ssthresh: if self.backlog.ns2 { MIN_WINDOW } else { window.ssthresh }, ..*window }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.backlog.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion};
    use crate::units::{Duration, Instant};

    /// The window after `acks` ACKs with a constant number outstanding; the first ACK has a round-trip time of 100 ms, the others `rtt`.
    fn windows(rtt: u64, cwnd: Segments, acks: u64) -> Segments {
        let mut part = build(&ENTRY, &[]).unwrap();
        let mut window = Window { cwnd, ssthresh: 2.0 };
        for index in 0..acks {
            let millis = if index == 0 { 100 } else { rtt };
            let now = Instant::from_nanos(1_000_000 * (100 + index));
            let ack = Ack { now, rtt: Some(Duration::from_millis(millis)), flight_size: cwnd as u32 - 1, ..ACK };
            part.observe(&ack, &window);
            window.cwnd = part.on_ack(&ack, &window);
        }
        window.cwnd
    }

    #[test]
    fn grows_by_a_segment_in_a_round_trip_without_queues() {
        assert!((windows(100, 10.0, 10) - 11.0).abs() < 1e-9);
    }

    #[test]
    fn shrinks_by_one_above_beta_and_is_constant_between_the_thresholds() {
        // The first round grows to 11; then the backlog is 10 − 10·100/180 = 4.4 or 10 − 10·100/125 = 2 segments.
        assert!((windows(180, 10.0, 11) - 10.0).abs() < 1e-9);
        assert!((windows(125, 10.0, 21) - 11.0).abs() < 1e-9);
    }

    #[test]
    fn cuts_a_quarter_or_half_if_the_retransmission_was_lost_too() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let window = Window { cwnd: 35.02, ssthresh: 2.0 };
        let mut cut = |force, resent| part.respond(&CongestionEvent { resent, ..congestion(Cause::DupAck, force) }, &window).cwnd;
        // ns-2: 35 − 8, 25 − 13, 3 − 1, and never below 2.
        assert_eq!([cut(35.02, false), cut(25.27, true), cut(3.0, false), cut(2.0, false)], [27.0, 12.0, 2.0, 2.0]);
        let mut part = build(&ENTRY, &[("rule", Value::Word("published".to_owned()))]).unwrap();
        assert_eq!(part.respond(&congestion(Cause::DupAck, 10.0), &window).cwnd, 7.5);
    }

    #[test]
    fn recovery_ends_with_a_threshold_of_two_in_ns2() {
        let window = Window { cwnd: 9.0, ssthresh: 50.0 };
        assert_eq!(build(&ENTRY, &[]).unwrap().on_recovery_end(&window), Window { cwnd: 9.0, ssthresh: 2.0 });
    }

    #[test]
    fn beta_below_alpha_is_refused() {
        let refused = build(&ENTRY, &[("alpha", Value::Number(5.0))]);
        assert_eq!(refused.unwrap_err(), "beta is 3 segments but alpha is 5: beta must not be below alpha");
    }
}
