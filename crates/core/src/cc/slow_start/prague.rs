//! Prague's slow start: doubles, paced, until the first mark, which reduces the window by α/2 of itself with an α of 1.
//! ## What it does
//! Each acknowledged segment adds one. The window leaves at two windows per round trip, and at one from half of the threshold on, in bursts of
//! `burst`. The first congestion mark ends slow start at once: the window falls by `alpha`/2 of itself, and becomes the threshold. A loss has the
//! usual response. This is the start of the avoidance `prague` as a part of its own: any avoidance can follow it.
//! ## References
//! draft-briscoe-iccrg-prague-congestion-control-04; the implementation of the L4S team, whose α is 1 until the first mark; RFC 8257 §4.2.
//! ## Differs from the document
//! - The draft's full text could not be opened. That the first mark ends slow start, with the reduction by α/2, is what implementations that cite
//!   it do.
//! - The part needs marks. Where queues do not mark, it is standard slow start with pacing.
//! - With classic feedback (RFC 3168), too, the first echo ends slow start.
//! ## Parameters
//! `alpha`: 1, so that the first mark halves the window. `burst`: 250 µs (draft).

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::{Bytes, Duration, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "prague",
    summary: "Prague's start: paced doubling that the first congestion mark ends",
    reference: "draft-briscoe-iccrg-prague-congestion-control-04",
    params: &[
        Param {
            name: "alpha",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(1.0),
            doc: "α at the first mark, which reduces the window by α/2 of itself",
        },
        Param {
            name: "burst",
            kind: Kind::Duration { min: 0.0, max: 1.0 },
            default: Default::Number(0.00025),
            doc: "longest burst, as time at the pacing rate; two segments may always leave",
        },
    ],
    quantities: &[quantity("pacing_rate", "bit/s", "pacing rate").on("rate")],
    build: |params| {
        let (alpha, longest_burst) = (params.number("alpha"), params.number("burst"));
        Ok(Box::new(Prague { alpha, longest_burst, smss: Bytes(0), header: Bytes(0), srtt: None, rate: None }))
    },
};

/// Smallest window after a mark, and smallest burst, in segments.
const LEAST: Segments = 2.0;

/// Prague's slow start.
#[derive(Clone, Debug)]
pub struct Prague {
    alpha: f64,
    /// In seconds.
    longest_burst: f64,
    smss: Bytes,
    header: Bytes,
    srtt: Option<Duration>,
    /// The rate at the last ACK, for bursts and traces.
    rate: Option<Rate>,
}

impl SlowStart for Prague {
    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header, self.srtt) = (event.smss, event.header, event.rtt);
        self.rate = self.pacing_rate(window);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.srtt = ack.srtt.or(self.srtt);
        self.rate = self.pacing_rate(window);
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(ack.counted)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, _usual: &Window) -> Option<Window> {
        let first = event.cause == Cause::EcnCe && window.cwnd < window.ssthresh;
        // As elsewhere, a congestion leaves no window above the one in force, which the receiver may limit.
        let reduced = window.cwnd.min(event.window) * (1.0 - self.alpha / 2.0);
        first.then(|| Window::reduced_to(reduced.max(LEAST)))
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.smss = smss;
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        let seconds = self.srtt?.max(Duration::NANOSECOND).as_secs_f64();
        let windows = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        // The host's pacer counts headers too.
        Rate::from_bits_per_sec((windows * window.cwnd * (self.smss.0 + self.header.0) as f64 * 8.0 / seconds) as u64)
    }

    fn burst(&self) -> Bytes {
        let timed = self.rate.map_or(0.0, |rate| rate.as_bits_per_sec() as f64 / 8.0 * self.longest_burst);
        Bytes((LEAST * (self.smss.0 + self.header.0) as f64).max(timed) as u64)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = self.rate {
            out("pacing_rate", rate.as_bits_per_sec() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance;
    use crate::events::MarkCount;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};

    const HANDSHAKE: Established = {
        let mut event = Established::new(crate::units::Instant::ZERO, Bytes(1000));
        event.rtt = Some(Duration::from_millis(100));
        event.marks = Some(MarkCount::Exact);
        event
    };

    fn part(set: &[(&str, Value)]) -> Box<dyn SlowStart> {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&HANDSHAKE, &window(10.0));
        part
    }

    #[test]
    fn it_doubles_at_two_windows_per_round_trip_and_at_one_near_the_threshold() {
        let mut part = part(&[]);
        assert_eq!(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(10.0)), Step::Grow(2.0));
        let rate = |ssthresh: f64| part.pacing_rate(&Window { cwnd: 10.0, ssthresh }).map(Rate::as_bits_per_sec);
        assert_eq!([rate(f64::INFINITY), rate(20.5), rate(20.0)], [Some(1_600_000), Some(1_600_000), Some(800_000)]);
        assert_eq!(part.burst(), Bytes(2000), "250 µs of 1.6 Mbit/s are 50 bytes");
        assert_close(internal(|out| part.internals(out), "pacing_rate"), 1.6e6, 0.0);
    }

    #[test]
    fn the_first_mark_is_answered_as_by_the_avoidance() {
        let mut avoidance = build(&avoidance::prague::ENTRY, &[]).unwrap();
        avoidance.on_established(&HANDSHAKE);
        let mark = congestion(Cause::EcnCe, 81.0);
        let own = avoidance.respond(&mark, &window(81.0));
        let usual = Window { cwnd: 56.7, ssthresh: 56.0 };
        assert_eq!(part(&[]).respond(&mark, &window(81.0), &usual), Some(own));
        assert_eq!(own, Window { cwnd: 40.5, ssthresh: 40.0 });
        let gentle = part(&[("alpha", Value::Number(0.5))]).respond(&mark, &window(81.0), &usual);
        assert_eq!(gentle, Some(Window { cwnd: 60.75, ssthresh: 60.0 }), "by α/2");
        let later = Window { cwnd: 81.0, ssthresh: 40.0 };
        assert_eq!(part(&[]).respond(&mark, &later, &usual), None, "later marks are the avoidance's");
        assert_eq!(part(&[]).respond(&congestion(Cause::DupAck, 81.0), &window(81.0), &usual), None);
    }
}
