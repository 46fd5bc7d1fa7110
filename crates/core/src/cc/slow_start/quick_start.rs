//! Quick-Start: asks the routers of the path for a rate, and sends at the approved one in the first round trip, round any slow start.
//! ## What it does
//! The SYN carries a request for `request`, as one of the rates 40 kbit/s · 2ᴺ with N from 1 to 15. Each router may reduce it; if one does not
//! take part, the request fails. The approved rate R gives the window after the handshake, R·T/(SMSS + header) with the handshake's round-trip
//! time T, unless the initial window is larger. It leaves at the rate R.
//!
//! - The first ACK of that flight ends the mode: a larger window shrinks to the data outstanding, but not below the initial window. The slow
//!   start inside decides from then on.
//! - If the flight meets a loss or a mark, the window falls back to that which slow start would have had without the request: the initial window
//!   and one segment for each that was acknowledged, or the usual response if that is less.
//! ## References
//! RFC 4782, §3 (request, rates), §4.2 (encoding), §4.4 (window), §4.5 (end), §4.6 (losses).
//! ## Differs from the document
//! - The RFC's sections on the end of the mode and on losses were not compared sentence by sentence.
//! - A router's answer is the key `quick_start` of its link, a fixed rate: a router that tracks its load and the requests that it has approved
//!   would have another for each request. The answer rounds it down to one of the rates. The links of the ACKs do not count.
//! - Nonce, TTL and the report of the approved rate have no part in a simulation whose hosts and routers are honest; a lost SYN takes the request
//!   with it, as the RFC demands of a retransmitted one.
//! - Requests after an idle time are not modelled.
//! ## Parameters
//! `request`: 1.31072 Gbit/s, the largest rate. `slow_start`: the slow start inside; standard.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::opening::Opening;
use crate::cc::slow_start::{INNER, inner};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Lost, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::{Bytes, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "quick_start",
    summary: "Quick-Start: a rate that all routers of the path approve, round any slow start",
    reference: "RFC 4782",
    params: &[
        Param {
            name: "request",
            kind: Kind::Rate { min: 80e3, max: 1e12 },
            default: Default::Number(UNIT * 32_768.0),
            doc: "rate to ask for, rounded up to 40 kbit/s times a power of two, at most 1.31072 Gbit/s",
        },
        INNER,
    ],
    quantities: &[quantity("approved", "bit/s", "rate that the routers have approved; 0 for none").on("rate")],
    build: |params| {
        let code = (1..LARGEST).find(|code| rate_of(*code) >= params.number("request")).unwrap_or(LARGEST);
        Ok(Box::new(QuickStart {
            request: rate_of(code),
            approved: 0.0,
            initial: 0.0,
            acked: 0.0,
            flight: Opening::default(),
            state: State::Usual,
            smss: 1.0,
            inner: inner(params)?,
        }))
    },
};

/// RFC 4782 §3.1: the rate of N is this times 2ᴺ, in bit/s.
const UNIT: f64 = 40e3;
/// The largest N.
const LARGEST: i32 = 15;

fn rate_of(code: i32) -> f64 {
    libm::ldexp(UNIT, code)
}

/// The largest rate of the encoding up to `rate`; zero if there is none.
fn encoded(rate: f64) -> f64 {
    (1..=LARGEST).rev().map(rate_of).find(|encoded| *encoded <= rate).unwrap_or(0.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The approved flight leaves.
    Quick,
    /// Parts of it are outstanding.
    Flown,
    Usual,
}

/// Quick-Start.
#[derive(Clone, Debug)]
pub struct QuickStart {
    /// In bit/s.
    request: f64,
    approved: f64,
    /// The initial window without the request, and segments acknowledged since.
    initial: Segments,
    acked: Segments,
    flight: Opening,
    state: State,
    smss: f64,
    inner: Box<dyn SlowStart>,
}

impl QuickStart {
    /// The approved rate, and the window that it gives.
    fn approved(&self, event: &Established) -> Option<(f64, Segments)> {
        let approved = event.approved.filter(|_| !event.syn_lost())?.as_bits_per_sec() as f64;
        let rate = encoded(approved.min(self.request));
        // RFC 4782 §4.4: QS-cwnd = R·T·MSS/(MSS + H), in bytes.
        let cwnd = rate / 8.0 * event.rtt?.as_secs_f64() / (event.smss.0 + event.header.0) as f64;
        (rate > 0.0).then_some((rate, cwnd))
    }
}

impl SlowStart for QuickStart {
    fn inner(&self) -> Option<&dyn SlowStart> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        Some(&mut *self.inner)
    }

    fn open(&mut self, event: &Established, window: Segments) -> Segments {
        self.initial = self.inner.open(event, window);
        self.approved(event).map_or(self.initial, |(_, cwnd)| self.initial.max(cwnd))
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        self.smss = event.smss.0.max(1) as f64;
        let approved = self.approved(event);
        self.approved = approved.map_or(0.0, |(rate, _)| rate);
        self.state = State::Usual;
        if approved.is_some_and(|(_, cwnd)| cwnd > self.initial) {
            (self.flight, self.state, self.acked) = (Opening::new(event, window), State::Quick, 0.0);
        }
        self.inner.on_established(event, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        self.inner.on_ack(ack, window)
    }

    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        let inside = self.inner.set_window(ack, window);
        if self.state == State::Usual || ack.snd_una == 0 {
            return inside;
        }
        self.acked += f64::from(ack.acked);
        let first = self.state == State::Quick;
        self.state = if self.flight.is_acked(ack.snd_una) { State::Usual } else { State::Flown };
        let outstanding = (ack.inflight_before as f64 / self.smss).max(self.initial);
        (first && window.cwnd > outstanding).then_some(Window { cwnd: outstanding, ..*window }).or(inside)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        let inside = self.inner.respond(event, window, usual);
        let quick = self.state != State::Usual && (self.flight.met_loss() || event.cause == Cause::EcnCe);
        self.state = State::Usual;
        let without = (self.initial + self.acked).min(usual.cwnd);
        quick.then_some(Window { cwnd: without, ..*usual }).or(inside)
    }

    fn on_restart(&mut self) {
        self.state = State::Usual;
        self.inner.on_restart();
    }

    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        self.flight.sent(sent);
        self.inner.on_sent(sent, window);
    }

    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        self.flight.note_lost(lost);
        self.inner.on_lost(lost, window);
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        self.flight.rate().filter(|_| self.state == State::Quick).or_else(|| self.inner.pacing_rate(window))
    }

    fn on_mss(&mut self, smss: Bytes) {
        let factor = self.smss / smss.0.max(1) as f64;
        (self.initial, self.acked, self.smss) = (self.initial * factor, self.acked * factor, smss.0.max(1) as f64);
        self.flight.change_mss(smss);
        self.inner.on_mss(smss);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("approved", self.approved);
        self.inner.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, assert_close, build, congestion, established, internal, window};
    use crate::units::{Duration, Instant};
    use proptest::prelude::*;

    /// A handshake of 100 ms in which the routers have approved `rate` bit/s; segments have 960 bytes, and 1000 with headers.
    fn handshake(rate: u64) -> Established {
        established(960).with(|event| {
            (event.rtt, event.header, event.approved) = (Some(Duration::from_millis(100)), Bytes(40), Rate::from_bits_per_sec(rate));
        })
    }

    fn opened(set: &[(&str, Value)], event: &Established) -> (Box<dyn SlowStart>, f64) {
        let mut part = build(&ENTRY, set).unwrap();
        let cwnd = part.open(event, 10.0);
        part.on_established(event, &window(cwnd));
        (part, cwnd)
    }

    #[test]
    fn the_rate_is_one_of_fifteen_and_gives_the_window() {
        assert_eq!([79e3, 80e3, 9e6, 1e12].map(encoded), [0.0, 80e3, 5.12e6, 1.310_72e9], "40 kbit/s · 2ᴺ");
        let of = |request: f64, approved: u64| opened(&[("request", Value::Number(request))], &handshake(approved)).1;
        // 5.12 Mbit/s in 100 ms are 64 kB: 64 segments of 1000 bytes with headers.
        assert_close(of(1e12, 9_000_000), 64.0, 1e-9);
        assert_close(of(5e6, 1_000_000_000), 64.0, 1e-9);
        assert_close(of(1e12, 80_000), 10.0, 0.0);
        let (part, cwnd) = opened(&[], &handshake(9_000_000));
        assert_eq!(part.pacing_rate(&window(cwnd)).map(Rate::as_bits_per_sec), Some(5_120_000));
        assert_close(internal(|out| part.internals(out), "approved"), 5.12e6, 0.0);
    }

    #[test]
    fn without_approval_or_after_a_lost_syn_slow_start_is_usual() {
        let denied = handshake(9_000_000).with(|event| event.approved = None);
        let lost = handshake(9_000_000).with(|event| event.lost_syns = 1);
        let untimed = handshake(9_000_000).with(|event| event.rtt = None);
        for event in [denied, lost, untimed] {
            let (mut part, cwnd) = opened(&[], &event);
            assert_close(cwnd, 10.0, 0.0);
            assert_eq!((part.pacing_rate(&window(10.0)), part.on_ack(&ACK, &window(10.0))), (None, Step::Grow(1.0)));
        }
    }

    #[test]
    fn the_first_ack_ends_the_mode_and_a_loss_takes_the_window_back() {
        let (mut part, _) = opened(&[], &handshake(9_000_000));
        let mut at = window(64.0);
        for _ in 0..40 {
            part.on_sent(&Sent { size: 960, ..SENT }, &at);
        }
        let ack = |part: &mut dyn SlowStart, at: &Window, una: u64| {
            part.set_window(&Ack { snd_una: 960 * una, inflight_before: (41 - una) * 960, ..ACK }, at)
        };
        assert_eq!(ack(&mut *part, &at, 1), Some(window(40.0)), "only 40 segments were sent");
        at = window(40.0);
        for una in 2..=5 {
            assert_eq!(ack(&mut *part, &at, una), None);
        }
        assert_eq!(part.on_ack(&ACK, &at), Step::Grow(1.0));
        part.on_lost(&Lost::new(Instant::ZERO, 4800, 5760), &at);
        let usual = Window::halved(44.0);
        let answer = part.respond(&congestion(Cause::DupAck, 44.0), &window(44.0), &usual);
        assert_eq!(answer, Some(Window { cwnd: 15.0, ssthresh: 22.0 }), "ten, and one for each of five ACKs");
        assert_eq!(part.respond(&congestion(Cause::DupAck, 44.0), &window(44.0), &usual), None, "later losses have the usual response");
    }

    proptest! {
        #[test]
        fn the_flight_leaves_at_the_approved_rate(approved in 100_000_u64..2_000_000_000, millis in 1_u64..1000) {
            let event = handshake(approved).with(|event| event.rtt = Some(Duration::from_millis(millis)));
            let (part, cwnd) = opened(&[], &event);
            let rate = part.pacing_rate(&window(cwnd)).map(|rate| rate.as_bits_per_sec() as f64);
            prop_assert_eq!(rate.is_some(), cwnd > 10.0);
            if let Some(rate) = rate {
                prop_assert!(rate <= approved as f64 && (rate - encoded(approved as f64)).abs() <= 1.0, "{}", rate);
            }
        }
    }
}
