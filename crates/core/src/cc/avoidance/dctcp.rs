//! DCTCP: the window falls in proportion to the share of marked bytes.
//! ## What it does
//! Grows by one segment per round trip, as Reno does. Estimates α, the share of bytes that arrive marked, by a moving average over windows
//! of data. At the end of a window with marks, `cwnd` falls by α/2 of itself.
//! ## References
//! RFC 8257 §3.3 (steps 1 to 9), §3.5 (losses), §4.2 (initial α); Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010, §3.1;
//! De Schepper, Bondarenko, Tsang & Briscoe, *PI²: a linearized AQM for both classic and scalable TCP*, 2016, appendix A
//! (cwnd = 2/p).
//! ## Differs from the document
//! - All delivered bytes count, also those that the receiver has acknowledged selectively. RFC 8257 §3.3 ignores SACK, so that bytes count
//!   late.
//! - The first mark in slow start reduces the window at once, by the initial α.
//! - A mark and a loss in the same window of data are both answered (§3.5).
//! - The law cwnd = 2/p takes marks as evenly spread: each window has two. If packets are marked at random, windows without a mark do not
//!   reduce. At a mean of λ = p·cwnd marks per window, λ/2·((1 − g)(1 − e^−λ) + g) = 1 holds instead: cwnd = 2.225/p for g = 1/16, and 2/p
//!   for g = 1. On hosts that count marks exactly, marked packets do not make the window grow, so that each law has the factor 1 − p.
//! - Nothing here limits the control to the feedback of RFC 8257. With classic feedback, α is an upper bound.
//!
//! `variant = "linux"` counts α in units of 1/1024: a window without marks takes ⌊αg⌋ off, and all of it once that is less than a unit; marks
//! add their share times g, rounded down. A window of data ends with the ACK of its last byte, and what that ACK delivers belongs to the
//! next. A mark reduces the window at once, by ⌊W·α/2⌋ to two segments at least, and the host spreads the reduction over a round trip. A loss
//! in that time halves what has remained. That α falls to zero at once, which ACK belongs to which window, and the answer to such a loss are not
//! in the document; runs of Linux 6.12 agree with them.
//! ## Parameters
//! `g`: weight of the latest window in α, 1/16 (RFC 8257 §4.2). `alpha`: initial α, 1. `variant`: document.

use crate::cc::avoidance::reno::Reno;
use crate::cc::contract::{Avoidance, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "dctcp",
    summary: "DCTCP: Reno that falls in proportion to the share of marked bytes",
    reference: "RFC 8257 §3.3",
    params: &[
        Param {
            name: "g",
            kind: Kind::Number { min: 1e-6, max: 1.0 },
            default: Default::Number(1.0 / 16.0),
            doc: "weight of the latest window of data in α (RFC 8257 §4.2: 1/16)",
        },
        Param {
            name: "alpha",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(1.0),
            doc: "initial α (RFC 8257 §4.2: 1)",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "the rules of RFC 8257 or those of Linux",
        },
    ],
    quantities: &[quantity("alpha", "", "moving average of the share of marked bytes")],
    build: |params| {
        Ok(Box::new(Dctcp {
            g: params.number("g"),
            alpha: params.number("alpha"),
            growth: Reno::default(),
            window_end: 0,
            bytes: 0,
            marked: 0,
            due: false,
            linux: params.word("variant") == "linux",
            ended: false,
        }))
    },
};

/// Units of α in Linux.
const UNITS: f64 = 1024.0;
/// Smallest window after a mark.
const LEAST: Segments = 2.0;

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    g: f64,
    /// The share of marked bytes (`DCTCP.Alpha`).
    alpha: f64,
    growth: Reno,
    /// The current window of data ends when an ACK exceeds this position (`DCTCP.WindowEnd`).
    window_end: u64,
    /// Bytes delivered in it (`DCTCP.BytesAcked`).
    bytes: u64,
    /// Bytes marked in it (`DCTCP.BytesMarked`).
    marked: u64,
    /// Whether the last window had marks for which `cwnd` has not yet fallen.
    due: bool,
    /// Whether the rules are those of Linux.
    linux: bool,
    /// Whether the present ACK's congestion has already ended the window of data.
    ended: bool,
}

impl Dctcp {
    /// RFC 8257 §3.3, step 9.
    fn reduced(&self, cwnd: Segments) -> Segments {
        cwnd * (1.0 - self.alpha / 2.0)
    }

    /// RFC 8257 §3.3, steps 5 to 8.
    fn end_window(&mut self, snd_nxt: u64) {
        // A marked copy of delivered data can make the marks exceed what was delivered.
        let m = (self.marked as f64 / self.bytes.max(1) as f64).min(1.0);
        self.due |= self.marked > 0;
        if self.linux {
            let units = self.alpha * UNITS;
            let decay = libm::floor(self.g * units);
            let left = if decay > 0.0 { units - decay } else { 0.0 };
            self.alpha = (left + libm::floor(self.g * UNITS * m)).min(UNITS) / UNITS;
        } else {
            self.alpha += self.g * (m - self.alpha);
        }
        (self.window_end, self.bytes, self.marked) = (snd_nxt, 0, 0);
    }
}

impl Avoidance for Dctcp {
    fn on_established(&mut self, event: &Established) {
        self.growth.on_established(event);
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if self.linux && !std::mem::take(&mut self.ended) && ack.snd_una >= self.window_end {
            self.end_window(ack.snd_nxt);
        }
        self.bytes += ack.delivered;
        self.marked += ack.marked;
        if !self.linux && ack.snd_una > self.window_end && self.bytes > 0 {
            self.end_window(ack.snd_nxt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = if std::mem::take(&mut self.due) && !self.linux { self.reduced(window.cwnd) } else { window.cwnd };
        self.growth.on_ack(ack, &Window { cwnd, ..*window })
    }

    fn lowers_threshold(&self) -> bool {
        true
    }

    fn owns_marks(&self) -> bool {
        !self.linux
    }

    fn answers_losses_apart(&self) -> bool {
        true
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        if event.cause != Cause::EcnCe {
            // RFC 8257 §3.5: as conventional TCP.
            return Window::halved(event.window);
        }
        if self.linux {
            self.ended = true;
            if event.snd_una >= self.window_end {
                self.end_window(event.snd_nxt);
            }
            return Window::reduced_to((event.window - libm::floor(event.window * self.alpha / 2.0)).max(LEAST));
        }
        let below = window.cwnd < window.ssthresh;
        let cwnd = if std::mem::take(&mut self.due) || below { self.reduced(window.cwnd) } else { window.cwnd };
        // As elsewhere, a congestion leaves no window above the one in force, which the receiver may limit.
        Window::reduced_to(cwnd.min(event.window))
    }

    fn on_reduction(&mut self, event: &CongestionEvent, window: &Window) {
        self.growth.on_reduction(event, window);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ACK, build, congestion, established, internal, window};

    fn part(g: f64) -> Box<dyn Avoidance> {
        build(&ENTRY, &[("g", crate::params::Value::Number(g))]).unwrap()
    }

    /// The window after a window of data of `cwnd` segments, of which `marked` arrive marked, from the second on: the first ACK ends the window
    /// before.
    fn round(part: &mut dyn Avoidance, cwnd: f64, marked: u64, round: u64) -> f64 {
        let count = cwnd as u64;
        let mut cwnd = cwnd;
        for segment in 0..count {
            let una = round * 1_000_000 + 1000 * (segment + 1);
            let bytes = if (1..=marked).contains(&segment) { 1000 } else { 0 };
            let (snd_nxt, may_grow) = ((round + 1) * 1_000_000, bytes == 0);
            let ack = Ack { delivered: 1000, marked: bytes, snd_una: una, snd_nxt, may_grow, ..ACK };
            part.observe(&ack, &window(cwnd));
            if ack.may_grow {
                cwnd = part.on_ack(&ack, &window(cwnd));
            }
        }
        cwnd
    }

    #[test]
    fn a_window_with_marks_reduces_by_half_its_share() {
        // With g = 1, α is the share of the last window: 5 of 20.
        let mut part = part(1.0);
        round(&mut *part, 20.0, 0, 0);
        let grown = round(&mut *part, 20.0, 5, 1);
        assert!((20.7..20.8).contains(&grown), "15 ACKs grow the window: {grown}");
        let next = round(&mut *part, 20.0, 0, 2);
        // The first ACK of the next window ends the one before: 20 · (1 − 0.25/2), grown by 20/17.5.
        assert!((18.5..18.7).contains(&next), "{next}");
        let last = round(&mut *part, 20.0, 0, 3);
        assert!((20.9..21.0).contains(&last), "without marks, only growth: {last}");
    }

    #[test]
    fn the_first_mark_halves_and_a_loss_halves() {
        let mut part = part(1.0 / 16.0);
        let slow_start = Window { cwnd: 40.0, ssthresh: f64::INFINITY };
        assert_eq!(part.respond(&congestion(Cause::EcnCe, 40.0), &slow_start), Window { cwnd: 20.0, ssthresh: 20.0 });
        let avoidance = Window { cwnd: 40.0, ssthresh: 20.0 };
        assert_eq!(part.respond(&congestion(Cause::EcnCe, 40.0), &avoidance), Window { cwnd: 40.0, ssthresh: 40.0 }, "no window has ended");
        assert_eq!(part.respond(&congestion(Cause::EcnCe, 30.0), &avoidance).cwnd, 30.0, "the receiver allows no more");
        assert_eq!(part.respond(&congestion(Cause::DupAck, 40.0), &avoidance), Window { cwnd: 20.0, ssthresh: 20.0 });
        assert!(part.owns_marks() && part.answers_losses_apart(), "RFC 8257 §3.5");
    }

    fn linux() -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, &[("variant", crate::params::Value::Word("linux".to_owned()))]).unwrap();
        part.on_established(&Established { whole_segments: true, ..established(1000) });
        part
    }

    /// α in units of 1/1024 after each of `count` windows of 10 segments, each of which has so many marks.
    fn units(part: &mut dyn Avoidance, count: u64, marked: u64) -> Vec<f64> {
        let mut next = |round: u64| {
            let ack = Ack { delivered: 10_000, marked: 1000 * marked, snd_una: 10_000 * round, snd_nxt: 10_000 * (round + 1), ..ACK };
            part.observe(&ack, &window(10.0));
            1024.0 * internal(|out| part.internals(out), "alpha")
        };
        (0..count).map(&mut next).collect()
    }

    #[test]
    fn linux_counts_alpha_in_whole_units_down_to_zero() {
        let decay = units(&mut *linux(), 100, 0);
        assert_eq!(decay[..10], [960.0, 900.0, 844.0, 792.0, 743.0, 697.0, 654.0, 614.0, 576.0, 540.0]);
        let last = decay.iter().position(|units| *units == 0.0).unwrap();
        assert_eq!(decay[last - 1], 15.0, "what is less than a sixteenth of 16 units falls to zero at once");
        // The ACK that ends a window delivers into the next one: ⌊64 · 3/10⌋ from the second window on.
        assert_eq!(units(&mut *linux(), 3, 3), [960.0, 919.0, 881.0]);
    }

    #[test]
    fn linux_reduces_at_each_mark_and_halves_what_is_left_at_a_loss() {
        let mut part = linux();
        let open = Window { cwnd: 41.0, ssthresh: f64::INFINITY };
        // The ACK ends the first window: α is 960/1024.
        let event = CongestionEvent { snd_una: 1000, snd_nxt: 41_000, ..congestion(Cause::EcnCe, 41.0) };
        assert_eq!(part.respond(&event, &open), Window { cwnd: 22.0, ssthresh: 22.0 });
        part.observe(&Ack { snd_una: 1000, snd_nxt: 41_000, ..ACK }, &open);
        assert_eq!(internal(|out| part.internals(out), "alpha"), 960.0 / 1024.0, "one ACK ends one window");
        assert_eq!(part.respond(&congestion(Cause::EcnCe, 2.0), &open).cwnd, 2.0);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 30.0), &open).cwnd, 15.0);
        assert!(!part.owns_marks() && part.answers_losses_apart());
    }
}
