//! Jump Start: sends all waiting data in the first round trip, round any slow start.
//! ## What it does
//! The window after the handshake holds all data that the application has to send, within the receiver's window and `most`, and leaves at an
//! even rate over the handshake's round-trip time. From then on the slow start inside decides. If the flight met losses, the window is
//! halved from what has arrived of it: half of the segments sent in it that were not lost.
//! ## References
//! Liu, Allman, Jin & Wang, *Congestion control without a startup phase*, 2007; its abstract and idea. The rule for losses
//! is as others report it, and was not compared with the paper's text.
//! ## Differs from the document
//! - The window is that of the initial window `unlimited`, which replaces the flow's own: one segment after a lost SYN, and at most ten
//!   without a round-trip time to pace by.
//! - Losses count until all of the flight is acknowledged. A loss that the sender has not detected by then does not.
//! - Endless data needs a bound: the receiver's window or, if unknown, `most`. In the handshake a host without larger windows in its SYN
//!   (`modern`; RFC 7323 §2.2) reports at most 64 KiB, which then bound the flight.
//! ## Parameters
//! `most`: 1000000 segments, in practice no bound. `slow_start`: the slow start inside; standard.

use crate::cc::contract::{InitialWindow, SlowStart, Step, Window};
use crate::cc::initial_window::unlimited::Unlimited;
use crate::cc::opening::Opening;
use crate::cc::slow_start::{INNER, inner};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Lost, Sent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "jump_start",
    summary: "Jump Start: all waiting data in the first round trip, round any slow start",
    reference: "Liu, Allman, Jin & Wang 2007",
    params: &[
        Param {
            name: "most",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(1e6),
            doc: "largest first flight; the default is in practice no bound",
        },
        INNER,
    ],
    quantities: &[quantity("arrived", "segments", "segments of the first flight that were sent and not lost")],
    build: |params| Ok(Box::new(JumpStart::new(params)?)),
};

/// Largest flight without a round-trip time to pace by.
const UNPACED: Segments = 10.0;

/// Jump Start.
#[derive(Clone, Debug)]
pub struct JumpStart {
    unlimited: Unlimited,
    flight: Opening,
    /// Whether data of the first flight is outstanding.
    open: bool,
    inner: Box<dyn SlowStart>,
}

impl JumpStart {
    /// With the parameters `most` and `slow_start`.
    pub(super) fn new(params: &Params) -> Result<Self, String> {
        let unlimited = Unlimited::new(UNPACED, params.number("most"));
        Ok(Self { unlimited, flight: Opening::default(), open: false, inner: inner(params)? })
    }

    /// Half of what has arrived of the flight.
    fn halved(&self) -> Window {
        Window::reduced_to((self.flight.arrived() / 2.0).max(1.0))
    }
}

impl SlowStart for JumpStart {
    fn inner(&self) -> Option<&dyn SlowStart> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        Some(&mut *self.inner)
    }

    fn open(&mut self, event: &Established, _window: Segments) -> Segments {
        self.unlimited.segments(event)
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.flight, self.open) = (Opening::new(event, window), true);
        self.inner.on_established(event, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        self.inner.on_ack(ack, window)
    }

    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        let inside = self.inner.set_window(ack, window);
        if !self.open || !self.flight.is_acked(ack.snd_una) {
            return inside;
        }
        self.open = false;
        let Window { cwnd, ssthresh } = self.halved();
        // What was lost is known only now: the window may have been halved from more.
        self.flight.met_loss().then(|| Window { cwnd: window.cwnd.min(cwnd), ssthresh: window.ssthresh.min(ssthresh) }).or(inside)
    }

    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        self.flight.sent(sent);
        self.inner.on_sent(sent, window);
    }

    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        self.flight.note_lost(lost);
        self.inner.on_lost(lost, window);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        let inside = self.inner.respond(event, window, usual);
        let jumped = self.open && event.cause == Cause::DupAck && !event.restart;
        let halved = self.halved();
        jumped.then_some(Window { cwnd: halved.cwnd.min(usual.cwnd), ssthresh: halved.ssthresh.min(usual.ssthresh) }).or(inside)
    }

    fn on_restart(&mut self) {
        self.open = false;
        self.inner.on_restart();
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.flight.change_mss(smss);
        self.inner.on_mss(smss);
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        self.flight.rate().or_else(|| self.inner.pacing_rate(window))
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("arrived", self.flight.arrived());
        self.inner.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, build, congestion, established, internal, window};
    use crate::units::{Duration, Instant};

    /// A part that has sent a first flight of 40 segments.
    fn flown() -> Box<dyn SlowStart> {
        let mut part = build(&ENTRY, &[]).unwrap();
        let event = established(1000).with(|event| (event.rtt, event.available) = (Some(Duration::from_millis(100)), Some(40.0)));
        assert_eq!(part.open(&event, 10.0), 40.0);
        part.on_established(&event, &window(40.0));
        assert_eq!(part.pacing_rate(&window(40.0)).map(Rate::as_bits_per_sec), Some(3_200_000));
        for _ in 0..40 {
            part.on_sent(&SENT, &window(40.0));
        }
        assert_eq!(part.pacing_rate(&window(40.0)), None);
        part
    }

    #[test]
    fn the_window_is_halved_from_what_arrived() {
        let mut part = flown();
        let lose = |part: &mut dyn SlowStart, segment: u64| {
            part.on_lost(&Lost::new(Instant::ZERO, 1000 * segment, 1000 * segment + 1000), &window(40.0));
        };
        lose(&mut *part, 5);
        let usual = Window::halved(40.0);
        let answer = part.respond(&congestion(Cause::DupAck, 40.0), &window(40.0), &usual);
        assert_eq!(answer, Some(Window { cwnd: 19.5, ssthresh: 19.0 }), "half of 39");
        for segment in 10..21 {
            lose(&mut *part, segment);
        }
        let reduced = Window { cwnd: 19.5, ssthresh: 19.0 };
        assert_eq!(part.set_window(&Ack { snd_una: 39_000, ..ACK }, &reduced), None, "the flight is not over");
        let over = Ack { snd_una: 40_000, ..ACK };
        assert_eq!(part.set_window(&over, &reduced), Some(Window { cwnd: 14.0, ssthresh: 14.0 }), "half of 28");
        assert_eq!(part.set_window(&over, &reduced), None);
        assert_eq!(internal(|out| part.internals(out), "arrived"), 28.0);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 40.0), &window(40.0), &usual), None, "a later loss is usual");
    }

    #[test]
    fn without_losses_the_slow_start_inside_goes_on() {
        let mut part = flown();
        assert_eq!(part.set_window(&Ack { snd_una: 40_000, ..ACK }, &window(40.0)), None);
        assert_eq!(part.on_ack(&ACK, &window(40.0)), Step::Grow(1.0));
        let mut few = build(&ENTRY, &[("most", Value::Number(20.0))]).unwrap();
        let endless = established(1000).with(|event| event.rtt = Some(Duration::from_millis(100)));
        assert_eq!(few.open(&endless, 10.0), 20.0);
        assert_eq!(few.open(&established(1000), 10.0), 10.0, "nothing to pace by");
        assert_eq!(few.open(&established(1000).with(|event| event.lost_syns = 1), 10.0), 1.0);
    }
}
