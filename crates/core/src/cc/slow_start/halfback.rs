//! Halfback: a paced first flight, of which the sender then repeats the last segments, backwards, before they count as lost.
//! ## What it does
//! The first flight is that of `jump_start`: all waiting data, at most `most`, leaves at an even rate over the handshake's round-trip time.
//! After it, each ACK that delivers data of the flight also releases one proactive retransmission, from the end of the flight backwards, until
//! the retransmissions meet the ACKs (ROPR, reverse-ordered proactive retransmission). If each segment has its ACK, the second half of the flight
//! is sent twice, so that losses at its end, which few ACKs show, are repaired without a timeout.
//! ## References
//! Li, Dong & Godfrey, *Halfback: running short flows quickly and safely*, 2015; its abstract and idea. The rule for longer flows and for
//! losses is a choice of this part, and was not compared with the paper's text.
//! ## Differs from the document
//! - A receiver that acknowledges every second segment releases half as many retransmissions: they meet the ACKs after a third of the flight.
//! - Losses are detected as usual, and have the response of Jump Start. A segment that its retransmission replaces before that counts as
//!   delivered: it causes no reduction.
//! - Until the flight is acknowledged, the window does not grow. Then the slow start inside goes on from the flight's window, also for the data
//!   beyond `most`.
//! - A timeout ends the proactive retransmissions.
//! - The host knows which segments have arrived: `modern` from SACK, and `ns2` only from the cumulative ACK. A host with RACK widens its window
//!   for reordering when D-SACK reports the second copies (RFC 8985 §6.2), until later recoveries take that back.
//! ## Parameters
//! `most`: 97 segments, which are the paper's 141 kB in segments of 1460 bytes. `slow_start`: the slow start after the flight; standard.

use crate::cc::contract::{SlowStart, Step, Wants, Window};
use crate::cc::slow_start::INNER;
use crate::cc::slow_start::jump_start::JumpStart;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "halfback",
    summary: "Halfback: a paced first flight, then proactive retransmissions from its end backwards",
    reference: "Li, Dong & Godfrey 2015",
    params: &[
        Param {
            name: "most",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(97.0),
            doc: "largest first flight (the pacing threshold)",
        },
        INNER,
    ],
    quantities: &[
        quantity("repeated", "segments", "proactive retransmissions"),
        quantity("arrived", "segments", "segments of the first flight that were sent and not lost"),
    ],
    build: |params| {
        let jump = JumpStart::new(params)?;
        Ok(Box::new(Halfback { jump, smss: 0, left: 0, end: 0, open: false, due: false, repeated: 0.0 }))
    },
};

/// Halfback.
#[derive(Clone, Debug)]
pub struct Halfback {
    jump: JumpStart,
    smss: u64,
    /// Bytes of the flight that have not been sent.
    left: u64,
    /// One past the last position sent of the flight.
    end: u64,
    /// Whether the flight is sent in part or outstanding, and the timer has not expired.
    open: bool,
    /// Whether the present ACK releases a retransmission.
    due: bool,
    repeated: Segments,
}

impl Halfback {
    /// Whether all of the flight has left. The application may have less data than whole segments.
    fn has_left(&self) -> bool {
        self.left < self.smss
    }
}

impl SlowStart for Halfback {
    fn inner(&self) -> Option<&dyn SlowStart> {
        Some(&self.jump)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        Some(&mut self.jump)
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        self.smss = event.smss.0;
        (self.left, self.end, self.open, self.due) = ((window.cwnd * self.smss as f64) as u64, 0, true, false);
        self.jump.on_established(event, window);
    }

    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        if sent.retransmission {
            self.repeated += f64::from(u8::from(std::mem::take(&mut self.due)));
        } else if !self.has_left() {
            (self.left, self.end) = (self.left.saturating_sub(sent.size), sent.snd_nxt);
        }
        self.jump.on_sent(sent, window);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.open &= !self.has_left() || ack.snd_una < self.end;
        self.due = self.open && self.has_left() && ack.delivered > 0;
        self.jump.observe(ack, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if self.open { Step::Grow(0.0) } else { self.jump.on_ack(ack, window) }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, window: &Window) {
        self.open &= event.cause != Cause::Timeout;
        self.jump.on_congestion(event, window);
    }

    fn on_restart(&mut self) {
        self.open = false;
        self.jump.on_restart();
    }

    fn proactive_below(&self) -> Option<u64> {
        self.due.then_some(self.end)
    }

    fn wants(&self) -> Wants {
        self.jump.wants().with(|wants| wants.proactive = true)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("repeated", self.repeated);
        self.jump.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lost;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, build, congestion, established, internal, window};
    use crate::units::{Duration, Instant, Rate};

    /// A part that has sent a first flight of `segments` of 1000 bytes; the application has more data.
    fn flown(segments: u64) -> Box<dyn SlowStart> {
        let mut part = build(&ENTRY, &[("most", Value::Number(segments as f64))]).unwrap();
        assert!(part.wants().proactive);
        let event = established(1000).with(|event| event.rtt = Some(Duration::from_millis(100)));
        let cwnd = part.open(&event, 10.0);
        part.on_established(&event, &window(cwnd));
        for segment in 1..=segments {
            assert!(part.pacing_rate(&window(cwnd)).is_some());
            part.on_sent(&Sent { snd_nxt: 1000 * segment, ..SENT }, &window(cwnd));
        }
        assert_eq!((cwnd, part.pacing_rate(&window(cwnd)).map(Rate::as_bits_per_sec)), (segments as f64, None));
        part
    }

    fn ack(part: &mut dyn SlowStart, una: u64, delivered: u64) -> Option<u64> {
        part.observe(&Ack { snd_una: 1000 * una, delivered: 1000 * delivered, ..ACK }, &window(20.0));
        part.proactive_below()
    }

    #[test]
    fn each_ack_of_the_flight_releases_a_retransmission_below_its_end() {
        let mut part = flown(20);
        assert_eq!(part.proactive_below(), None, "before an ACK");
        for una in 1..10 {
            assert_eq!(ack(&mut *part, una, 1), Some(20_000));
            part.on_sent(&Sent { retransmission: true, snd_nxt: 20_000, ..SENT }, &window(20.0));
            assert_eq!(part.proactive_below(), None, "one for an ACK");
            part.on_sent(&Sent { snd_nxt: 20_000 + 1000 * una, ..SENT }, &window(20.0));
        }
        assert_eq!(ack(&mut *part, 9, 0), None, "nothing was delivered");
        assert_eq!(ack(&mut *part, 9, 1), Some(20_000), "beyond a hole; new data does not move the end");
        assert_eq!(part.on_ack(&ACK, &window(20.0)), Step::Grow(0.0), "the flight is outstanding");
        assert_eq!(internal(|out| part.internals(out), "repeated"), 9.0);
        assert_eq!(ack(&mut *part, 20, 11), None, "all of the flight is acknowledged");
        assert_eq!(part.on_ack(&ACK, &window(20.0)), Step::Grow(1.0));
    }

    #[test]
    fn a_loss_halves_what_arrived_and_a_timeout_ends_the_repetition() {
        let mut part = flown(20);
        part.on_lost(&Lost::new(Instant::ZERO, 4000, 5000), &window(20.0));
        let event = congestion(Cause::DupAck, 20.0);
        part.on_congestion(&event, &window(20.0));
        assert_eq!(part.respond(&event, &window(20.0), &Window::halved(20.0)), Some(Window { cwnd: 9.5, ssthresh: 9.0 }), "half of 19");
        assert_eq!(ack(&mut *part, 4, 1), Some(20_000));
        part.on_congestion(&congestion(Cause::Timeout, 20.0), &window(20.0));
        assert_eq!(ack(&mut *part, 5, 1), None);
    }
}
