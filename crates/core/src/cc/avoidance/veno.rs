//! Veno: Reno that treats a loss as random if the flow's backlog is small.
//! ## What it does
//! Estimates the backlog N, the flow's packets in queues, as Vegas does. While N is below `beta` it grows as Reno does; from `beta` on,
//! half as fast. A loss while N is below `beta` counts as random and cuts a fifth of the window; any other loss halves it.
//! ## References
//! Fu & Liew, *TCP Veno: TCP enhancement for transmission over wireless access networks*, IEEE JSAC 21(2), 2003, §III.
//! ## Differs from the document
//! - The paper's text was not available; the implementation follows the points on which the literature about it agrees.
//! - RTT is the host's smoothed round-trip time.
//! - As in the paper, `BaseRTT` is the smallest round-trip time since the last loss, so that it follows changes of route and traffic. With
//!   `reset_base_rtt = false` it is the connection's smallest, as in Vegas.
//! - The paper does not mention ECN. A mark is a sign of congestion whatever the backlog, and halves the window.
//! - As elsewhere, congestion reduces the window in force.
//!
//! `variant = "linux"` has the rules of Linux' `tcp_veno`, from knowledge of them and confirmed by Linux 6.12 in virtual time:
//!
//! - RTT is the smallest time since the last ACK that could make the window grow, usually that of one ACK. `BaseRTT` is the smallest time since the
//!   last transmission with nothing in flight: a loss does not reset it, but mostly a timeout.
//! - N counts in halves, with times in microseconds plus one, and stays until an ACK outside recovery and without a hole above it measures it anew.
//!   In a hole, and until three round-trip times are known, growth is Reno's.
//! - From `beta` on, a window of ACKs is counted in full before the next ACK, which makes the window grow by one every other time.
//! - A timeout and a mark leave the same window as a loss.
//! ## Parameters
//! `beta`: 3 packets, and `random_loss_factor`: 0.8, from the paper. `reset_base_rtt`: true, as in the paper; without effect in Linux. `variant`:
//! document.

use super::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::BASE_RTT;
use crate::cc::vegas_linux::{ENOUGH, MICROS, Rounds};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "veno",
    summary: "Reno that grows half as fast with a backlog, and cuts only a fifth at a loss without one",
    reference: "Fu & Liew, IEEE JSAC 21(2), 2003",
    params: &[
        Param {
            name: "beta",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(3.0),
            doc: "backlog from which the path counts as congested (the paper: 3)",
        },
        Param {
            name: "random_loss_factor",
            kind: Kind::Number { min: 0.1, max: 1.0 },
            default: Default::Number(0.8),
            doc: "share of the window that remains after a random loss (the paper: 4/5)",
        },
        Param {
            name: "reset_base_rtt",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether BaseRTT is the smallest round-trip time since the last loss rather than of the connection",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: the paper's rules; linux: those of Linux",
        },
    ],
    quantities: &[BASE_RTT, quantity("N", "segments", "backlog: the flow's segments in queues").on("in queues")],
    build: |params| {
        Ok(Box::new(Veno {
            beta: params.number("beta"),
            random_loss_factor: params.number("random_loss_factor"),
            reset_base_rtt: params.flag("reset_base_rtt"),
            base_rtt: None,
            n: None,
            skipped: false,
            linux: (params.word("variant") == "linux").then(|| Kernel {
                rounds: Rounds::new(true),
                samples: 0,
                grows: true,
                count: Count::default(),
            }),
        }))
    },
};

/// Veno.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: Segments,
    random_loss_factor: f64,
    reset_base_rtt: bool,
    /// Smallest round-trip time, since the last loss or ever.
    base_rtt: Option<Duration>,
    /// The backlog N; `None` while a round-trip time is unknown.
    n: Option<Segments>,
    /// Whether the last ACK did not count for growth.
    skipped: bool,
    linux: Option<Kernel>,
}

/// What only the rules of Linux need.
#[derive(Clone, Debug)]
struct Kernel {
    rounds: Rounds,
    /// Round-trip times of the connection.
    samples: u32,
    /// Whether the next window of ACKs with a backlog makes the window grow.
    grows: bool,
    count: Count,
}

impl Kernel {
    /// Observes an ACK; returns the backlog if it measures it.
    fn observe(&mut self, ack: &Ack, cwnd: Segments) -> Option<Segments> {
        self.rounds.observe(ack);
        self.samples = self.samples.saturating_add(u32::from(ack.rtt.is_some()));
        if !(self.measures() && ack.may_grow && ack.cwnd_limited) {
            return None;
        }
        let Rounds { base, least, .. } = self.rounds;
        self.rounds.begin(0);
        // Linux counts in halves. Without a time since the last ACK that time is infinite, and with none at all there is no backlog.
        let twice = 2.0 * cwnd;
        let reached = if base.is_finite() { libm::floor(twice * base / least) } else { twice };
        Some((twice - reached) / 2.0)
    }

    /// Whether ACKs measure the backlog; otherwise growth is Reno's.
    const fn measures(&self) -> bool {
        self.rounds.active && self.samples >= ENOUGH
    }

    /// The growth at an ACK.
    fn growth(&mut self, ack: &Ack, cwnd: Segments, backlog: bool) -> Segments {
        if !(backlog && self.measures()) {
            return self.count.add(ack.counted, cwnd);
        }
        if !self.count.is_full(ack.counted, cwnd) {
            return 0.0;
        }
        self.grows = !self.grows;
        f64::from(u8::from(!self.grows))
    }
}

/// Fu & Liew §III.A: N = (Expected − Actual)·BaseRTT with Expected = cwnd/BaseRTT and Actual = cwnd/RTT.
fn backlog(cwnd: Segments, base_rtt: Duration, rtt: Duration) -> Segments {
    // The smoothed time lags: it may be below BaseRTT just after a reset of BaseRTT.
    if rtt > base_rtt { cwnd * (1.0 - base_rtt.as_secs_f64() / rtt.as_secs_f64()) } else { 0.0 }
}

impl Avoidance for Veno {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if let Some(kernel) = &mut self.linux {
            self.n = kernel.observe(ack, window.cwnd).or(self.n);
            return;
        }
        self.base_rtt = [self.base_rtt, ack.rtt].into_iter().flatten().min();
        self.n = self.base_rtt.zip(ack.srtt).map(|(base_rtt, rtt)| backlog(window.cwnd, base_rtt, rtt));
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let backlog = self.n.is_some_and(|n| n >= self.beta);
        if let Some(kernel) = &mut self.linux {
            return window.cwnd + kernel.growth(ack, window.cwnd, backlog);
        }
        // Fu & Liew §III.B: with a backlog only every other ACK counts.
        self.skipped = backlog && !self.skipped;
        if self.skipped { window.cwnd } else { window.cwnd + ack.counted / window.cwnd }
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        // Fu & Liew §III.C: a loss detected by duplicate ACKs may be random; the response to a timeout is Reno's.
        let random = match self.linux {
            Some(_) => self.n.unwrap_or(0.0) < self.beta,
            None => event.cause == Cause::DupAck && self.n.is_some_and(|n| n < self.beta),
        };
        if random { Window::reduced_to(event.window * self.random_loss_factor) } else { Window::halved(event.window) }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        if self.reset_base_rtt && event.cause != Cause::EcnCe {
            self.base_rtt = None;
        }
        if let Some(kernel) = &mut self.linux {
            kernel.rounds.on_reduction();
            kernel.count = Count::default();
        }
    }

    fn on_restart(&mut self) {
        if let Some(kernel) = &mut self.linux {
            kernel.count = Count::default();
        }
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        if let Some(kernel) = &mut self.linux {
            kernel.rounds.on_recovery_end();
        }
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        if let Some(kernel) = &mut self.linux {
            kernel.rounds.on_spurious();
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Some(kernel) = &mut self.linux {
            kernel.rounds.on_sent(sent);
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let least = match &self.linux {
            Some(kernel) => Some(kernel.rounds.base / MICROS).filter(|base| base.is_finite()),
            None => self.base_rtt.map(Duration::as_secs_f64),
        };
        if let Some(base_rtt) = least {
            out("base_rtt", base_rtt);
        }
        if let Some(n) = self.n {
            out("N", n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use proptest::prelude::*;

    fn veno(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        build(&ENTRY, set).unwrap()
    }

    /// An ACK with these round-trip times in milliseconds.
    fn ack(rtt: u64, srtt: u64) -> Ack {
        Ack { rtt: Some(Duration::from_millis(rtt)), srtt: Some(Duration::from_millis(srtt)), ..ACK }
    }

    /// Veno with a smallest round-trip time of 100 ms and a backlog of `n` packets from a window of 20.
    fn queued(n: u64, set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        let mut part = veno(set);
        // N = 20·(1 − 100/RTT).
        part.observe(&ack(100, 2000 / (20 - n)), &window(20.0));
        part
    }

    #[test]
    fn the_backlog_by_hand() {
        // Expected = 20/0.1 s, Actual = 20/0.125 s; their difference times 0.1 s.
        assert_close(internal(|out| queued(4, &[]).internals(out), "N"), 4.0, 1e-9);
        assert_eq!(backlog(20.0, Duration::from_millis(100), Duration::from_millis(90)), 0.0);
    }

    #[test]
    fn every_ack_counts_without_a_backlog_and_every_other_one_with_it() {
        let grown = |n, set: &[(&str, Value)]| {
            let mut part = queued(n, set);
            [(); 4].map(|()| 20.0 * (part.on_ack(&ACK, &window(20.0)) - 20.0)).map(f64::round)
        };
        assert_eq!(grown(2, &[]), [1.0; 4]);
        assert_eq!(grown(4, &[]), [0.0, 1.0, 0.0, 1.0]);
        let backlog = internal(|out| queued(4, &[]).internals(out), "N");
        assert_eq!(grown(4, &[("beta", Value::Number(backlog))]), [0.0, 1.0, 0.0, 1.0], "beta itself counts as a backlog");
        assert_eq!(grown(4, &[("beta", Value::Number(5.0))]), [1.0; 4]);
        assert_eq!(queued(0, &[]).on_ack(&Ack { counted: 2.0, ..ACK }, &window(20.0)), 20.1, "byte counting");
    }

    #[test]
    fn a_loss_without_a_backlog_costs_a_fifth_and_everything_else_a_half() {
        let after = |n, cause| queued(n, &[]).respond(&congestion(cause, 20.0), &window(20.0));
        assert_eq!(after(2, Cause::DupAck), Window { cwnd: 16.0, ssthresh: 16.0 });
        assert_eq!(after(4, Cause::DupAck), Window { cwnd: 10.0, ssthresh: 10.0 });
        assert_eq!([Cause::Timeout, Cause::EcnCe].map(|cause| after(2, cause).ssthresh), [10.0; 2]);
        assert_eq!(veno(&[]).respond(&congestion(Cause::DupAck, 20.0), &window(20.0)).cwnd, 10.0, "no backlog is known");
        let mut mild = queued(2, &[("random_loss_factor", Value::Number(0.9))]);
        assert_eq!(mild.respond(&congestion(Cause::DupAck, 20.0), &window(20.0)).cwnd, 18.0);
    }

    #[test]
    fn a_loss_resets_base_rtt() {
        let base_rtt = |cause, reset| {
            let mut part = queued(4, &[("reset_base_rtt", Value::Bool(reset))]);
            part.on_reduction(&congestion(cause, 20.0), &window(10.0));
            part.observe(&ack(120, 125), &window(10.0));
            part.observe(&ack(130, 125), &window(10.0));
            internal(|out| part.internals(out), "base_rtt")
        };
        assert_eq!([Cause::DupAck, Cause::Timeout, Cause::EcnCe].map(|cause| base_rtt(cause, true)), [0.12, 0.12, 0.1]);
        assert_eq!(base_rtt(Cause::DupAck, false), 0.1);
    }

    /// Linux' Veno after three ACKs with a round-trip time of 100 ms, and one of `rtt`.
    fn linux(rtt: u64) -> Box<dyn Avoidance> {
        let mut part = veno(&[("variant", Value::Word("linux".to_owned()))]);
        for millis in [100, 100, 100, rtt] {
            part.observe(&ack(millis, 1), &window(20.0));
        }
        part
    }

    #[test]
    fn linux_takes_the_last_time_and_counts_every_other_window() {
        // N = 20·(1 − 100/120) in halves, rounded up, and less than 3 with 115 ms.
        assert_eq!([115, 120].map(|rtt| internal(|out| linux(rtt).internals(out), "N")), [3.0, 3.5]);
        assert_eq!(internal(|out| linux(110).internals(out), "N"), 2.0);
        let grown = |rtt: u64| {
            let (mut part, mut cwnd) = (linux(rtt), 20.0);
            for _ in 0..200 {
                part.observe(&ack(rtt, 1), &window(20.0));
                cwnd += part.on_ack(&ACK, &window(20.0)) - 20.0;
            }
            cwnd
        };
        // A segment for 20 ACKs, or for 42: an ACK ends a window without being counted.
        assert_eq!([110, 120].map(grown), [30.0, 25.0]);
    }

    #[test]
    fn linux_cuts_a_fifth_after_a_timeout_too_and_keeps_base_rtt() {
        let after = |rtt, cause| linux(rtt).respond(&congestion(cause, 20.0), &window(20.0)).ssthresh;
        assert_eq!([Cause::DupAck, Cause::Timeout, Cause::EcnCe].map(|cause| after(110, cause)), [16.0; 3]);
        assert_eq!(after(120, Cause::DupAck), 10.0);
        let mut part = linux(120);
        part.on_reduction(&congestion(Cause::DupAck, 20.0), &window(10.0));
        assert_eq!(part.on_ack(&Ack { counted: 10.0, ..ACK }, &window(10.0)), 11.0, "Reno's growth in recovery");
        assert_close(internal(|out| part.internals(out), "base_rtt"), 0.100_001, 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn between_half_of_reno_and_reno(rtts in prop::collection::vec((1..500_u64, 1..500_u64), 2..200), cwnd in 2.0..1e4_f64) {
            let mut part = veno(&[]);
            let counted: f64 = rtts.iter().map(|(rtt, srtt)| {
                part.observe(&ack(*rtt, *srtt), &window(cwnd));
                part.on_ack(&ACK, &window(cwnd)) - cwnd
            }).sum::<f64>() * cwnd;
            let acks = rtts.len() as f64;
            prop_assert!(counted >= (acks / 2.0).floor() - 1e-6 * acks && counted <= acks * (1.0 + 1e-6), "{counted} of {acks}");
            let left = part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd / cwnd;
            prop_assert!([0.5, 0.8].iter().any(|factor| (left - factor).abs() < 1e-9), "{left}");
        }
    }
}
