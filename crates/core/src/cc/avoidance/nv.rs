//! NV: the window of the best measured rate without a queue, with a small allowance.
//! ## What it does
//! Every ACK shows a rate: the bytes delivered since its segment was sent, over the smoothed round-trip time. Once per round trip, the best
//! rate times the smallest round-trip time, and `pad` more, is the limit of the window.
//!
//! - Above the limit the window falls by 30 % of the excess, to `minimum` at least; the threshold becomes the limit, and growth stops. The
//!   decision needs two round trips and 60 ACKs, 30 while there is no threshold. Ten round trips with fewer ACKs stop growth as well.
//! - At most `buffer` below the limit nothing changes. Below that the window may grow as in Reno; this needs 20 ACKs.
//! - A loss leaves 819/1024 of the window and stops growth, also in slow start, until a decision allows it. A timeout halves the rate of
//!   growth, down to 1/256; nine decisions to grow double it again, up to Reno's.
//!
//! The smallest round-trip time is that of the last 3.75 to 6.25 s, a random time, so that a new path is noticed.
//! ## References
//! Brakmo, *TCP-NV: congestion avoidance for data centers*, Linux Plumbers Conference 2010; the rules of Linux' `tcp_nv`.
//! ## Differs from the document
//! The presentation was not available; the rules are those of Linux, from knowledge of them, and compared with Linux 6.12 in virtual time. As there,
//! round-trip times are whole microseconds, rates multiples of 100 bit/s and windows whole segments; a selective ACK before a recovery measures as
//! well, and `cut` is a multiple of 1/128.
//!
//! - The floor for round-trip times that a program can set is missing.
//! - The window changes at ACKs at which it may grow, so not while the application limits the flow.
//! ## Parameters
//! `pad`: 10 segments, `buffer`: 2 segments, `cut`: 30 %, `remains`: 819/1024, `reset`: 5 s and `minimum`: 2 segments: the parameters of Linux'
//! module.

use super::reno::Count;
use crate::cc::contract::{Avoidance, Wants, Window};
use crate::cc::recovery::Recovery;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::rng::Generator;
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "nv",
    summary: "NV: the window of the best measured rate without a queue, and ten segments",
    reference: "Brakmo, TCP-NV, 2010; Linux",
    params: &[
        Param {
            name: "pad",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(10.0),
            doc: "segments that the flow may keep in queues (Linux: 10)",
        },
        Param {
            name: "buffer",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(2.0),
            doc: "distance from the limit below which the window does not grow (Linux: 2)",
        },
        Param {
            name: "cut",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.3),
            doc: "share of the excess over the limit by which the window falls (Linux: 30 %)",
        },
        Param {
            name: "remains",
            kind: Kind::Number { min: 0.1, max: 1.0 },
            default: Default::Number(819.0 / 1024.0),
            doc: "share of the window that remains after a loss (Linux: 819/1024)",
        },
        Param {
            name: "reset",
            kind: Kind::Duration { min: 0.1, max: 1000.0 },
            default: Default::Number(5.0),
            doc: "mean time after which the smallest round-trip time is measured anew (Linux: 5 s)",
        },
        Param {
            name: "minimum",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(2.0),
            doc: "smallest window that a queue leaves (Linux: 2)",
        },
    ],
    quantities: &[
        quantity("rate_window", "segments", "window of the best rate of a round trip without a queue").on("window"),
        quantity("growth_shift", "", "how often losses have halved growth"),
    ],
    build: |params| {
        Ok(Box::new(Nv {
            pad: params.number("pad"),
            buffer: params.number("buffer"),
            cut: libm::floor(params.number("cut") * CUT_UNIT) / CUT_UNIT,
            remains: params.number("remains"),
            reset: params.number("reset"),
            minimum: params.number("minimum"),
            smss: 1,
            random: Generator::derived(0, "nv"),
            growth: Growth { allowed: true, shift: 0, calm: 0, count: Count::default(), whole: false },
            last_rtt: None,
            least: u64::MAX,
            least_next: u64::MAX,
            renew_at: Instant::ZERO,
            busy: BUSY_LEAST,
            best: 0,
            rounds: 0,
            calls: 0,
            end: 0,
            una: 0,
            rate_window: 0.0,
            recovery: Recovery::Open,
            before: 0.0,
            chosen: None,
        }))
    },
};

/// ACKs that a decision to shrink needs, with and without a threshold, and one to grow.
const CALLS_TO_SHRINK: u32 = 60;
const CALLS_TO_SHRINK_FIRST: u32 = 30;
const CALLS_TO_GROW: u32 = 20;
/// Round trips before a decision to shrink, and after which too few ACKs stop growth.
const ROUNDS_TO_SHRINK: u32 = 2;
const ROUNDS_TO_STOP: u32 = 10;
/// Most halvings of growth, and decisions to grow that take one back.
const MOST_SHIFT: u32 = 8;
const CALM: u32 = 8;
/// A round trip with one ACK for almost so many segments is too short to decide; their number adapts between the bounds.
const BUSY_LEAST: f64 = 4.0;
const BUSY_MOST: f64 = 81.0;
const BUSY_STEP: f64 = 2.0;
/// Units of the share of the excess.
const CUT_UNIT: f64 = 128.0;
/// A rate is in these units: bytes per microsecond times 80,000, which is 100 bit/s.
const RATE: u64 = 80_000;
/// Time until the smallest round-trip time is first measured anew, in seconds.
const FIRST_RESET: f64 = 2.0;

/// Whether and how fast the window grows.
#[derive(Clone, Debug)]
struct Growth {
    allowed: bool,
    /// Halvings of Reno's rate.
    shift: u32,
    /// Decisions to grow since the last other one.
    calm: u32,
    count: Count,
    /// Whether the host has whole segments.
    whole: bool,
}

/// NV. Round-trip times are in microseconds.
#[derive(Clone, Debug)]
pub struct Nv {
    pad: Segments,
    buffer: Segments,
    cut: f64,
    remains: f64,
    reset: f64,
    minimum: Segments,
    smss: u64,
    random: Generator,
    growth: Growth,
    last_rtt: Option<u64>,
    /// Smallest smoothed round-trip time, the one that replaces it, and when.
    least: u64,
    least_next: u64,
    renew_at: Instant,
    /// Segments that one ACK per round trip may acknowledge.
    busy: f64,
    /// Best rate, round trips and ACKs since the last decision.
    best: u64,
    rounds: u32,
    calls: u32,
    /// The round trip ends when an ACK exceeds this position; the position of the last ACK.
    end: u64,
    una: u64,
    rate_window: Segments,
    recovery: Recovery,
    /// The window before the last ACK, and the one that it has chosen.
    before: Segments,
    chosen: Option<Window>,
}

impl Nv {
    fn renewal(&mut self) -> f64 {
        self.reset * (0.75 + self.random.uniform() / 2.0)
    }

    /// Takes the rate and the round-trip time of an ACK; `None` if it has neither.
    fn measure(&mut self, ack: &Ack) -> Option<()> {
        let (rtt, delivered) = ((ack.rtt?.as_secs_f64() * 1e6) as u64, ack.sample?.delivered);
        if delivered == 0 {
            return None;
        }
        if self.last_rtt.is_none() {
            self.least = 2 * rtt;
        }
        let smooth = u64::midpoint(rtt, self.last_rtt.unwrap_or(rtt));
        self.last_rtt = Some(smooth);
        self.best = self.best.max(delivered * RATE / smooth.max(1));
        self.calls += 1;
        (self.least, self.least_next) = (self.least.min(smooth), self.least_next.min(smooth));
        if ack.now >= self.renew_at {
            (self.least, self.least_next) = (self.least_next, u64::MAX);
            self.renew_at = ack.now + Duration::from_secs_f64(self.renewal());
            self.busy = libm::floor(self.busy / 2.0).max(BUSY_LEAST);
        }
        Some(())
    }

    /// Decides after a round trip; returns the window if it falls.
    fn decide(&mut self, window: &Window) -> Option<Window> {
        let Window { cwnd, ssthresh } = *window;
        self.rate_window = (u128::from(self.best) * u128::from(self.least) / u128::from(RATE * self.smss)) as Segments;
        let limit = self.rate_window + self.pad;
        let mut chosen = None;
        if cwnd > limit {
            let needed = if ssthresh.is_finite() { CALLS_TO_SHRINK } else { CALLS_TO_SHRINK_FIRST };
            if self.rounds < ROUNDS_TO_SHRINK || self.calls < needed {
                self.growth.allowed &= self.rounds <= ROUNDS_TO_STOP || ssthresh.is_infinite();
                return None;
            }
            (self.growth.allowed, self.growth.calm) = (false, 0);
            let excess = cwnd - limit;
            let after = if excess > 2.0 { cwnd - libm::floor(self.cut * excess).max(2.0) } else { limit };
            chosen = Some(Window { cwnd: after.max(self.minimum).min(cwnd), ssthresh: limit });
        } else if cwnd <= limit - self.buffer {
            if self.calls < CALLS_TO_GROW {
                return None;
            }
            self.growth.allowed = true;
            self.growth.calm += 1;
            if self.growth.shift > 0 && self.growth.calm > CALM {
                (self.growth.shift, self.growth.calm) = (self.growth.shift - 1, 0);
            }
        } else {
            return None;
        }
        (self.calls, self.rounds, self.best) = (0, 0, 0);
        chosen
    }

    /// Begins anew after a recovery.
    fn begin(&mut self, una: u64) {
        (self.growth.calm, self.rounds, self.last_rtt) = (0, 0, None);
        (self.best, self.end, self.calls, self.una) = (0, una, 0, una);
    }
}

impl Avoidance for Nv {
    fn on_established(&mut self, event: &Established) {
        self.smss = event.smss.0.max(1);
        self.random = Generator::derived(event.seed, "nv");
        self.growth.whole = event.whole_segments;
        self.renew_at = event.now + Duration::from_secs_f64(FIRST_RESET);
    }

    fn wants(&self) -> Wants {
        Wants::SAMPLES
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        (self.before, self.chosen) = (window.cwnd, None);
        match self.recovery.at_ack() {
            Recovery::Open => {}
            Recovery::Inside => return,
            Recovery::Ending => return self.begin(ack.snd_una),
        }
        let acked = ack.snd_una.saturating_sub(self.una) as f64;
        self.una = ack.snd_una;
        if self.measure(ack).is_none() || ack.snd_una <= self.end {
            return;
        }
        self.end = ack.snd_nxt;
        self.rounds += 1;
        if self.calls == 1 && acked >= (self.busy - 1.0) * self.smss as f64 && self.busy < BUSY_MOST {
            self.busy = (self.busy + BUSY_STEP).min(BUSY_MOST);
            self.end += self.busy as u64 * self.smss;
            (self.calls, self.growth.allowed) = (0, true);
            return;
        }
        self.chosen = self.decide(window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if !self.growth.allowed {
            return window.cwnd;
        }
        let per_segment = if self.growth.shift > 0 { window.cwnd * f64::from(1 << self.growth.shift) } else { window.cwnd.max(4.0) };
        if self.growth.whole {
            window.cwnd + self.growth.count.add(ack.counted, per_segment)
        } else {
            window.cwnd + ack.counted / per_segment
        }
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        let held = Window { cwnd: self.before.min(window.cwnd), ..*window };
        self.chosen.take().or((!self.growth.allowed).then_some(held))
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let cwnd = event.window * self.remains;
        Window::reduced_to(if self.growth.whole { libm::floor(cwnd) } else { cwnd })
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        (self.recovery, self.growth.allowed, self.chosen) = (Recovery::Inside, false, None);
        self.growth.count = Count::default();
        if event.cause == Cause::Timeout {
            self.growth.shift = (self.growth.shift + 1).min(MOST_SHIFT);
        }
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        self.recovery = Recovery::Ending;
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        self.recovery = Recovery::Ending;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_window", self.rate_window);
        out("growth_shift", f64::from(self.growth.shift));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{RateSample, Snapshot};
    use crate::testing::{ACK, build, congestion, established};
    use proptest::prelude::*;

    fn part() -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, &[]).unwrap();
        part.on_established(&established(1000));
        part
    }

    /// Round trips of `acks` ACKs each, whose samples deliver `delivered` segments in `millis` milliseconds. Returns the window afterwards.
    fn rounds(part: &mut dyn Avoidance, first: u64, count: u64, (acks, delivered, millis): (u64, u64, u64), window: Window) -> Window {
        let mut window = window;
        for number in first..first + count {
            for index in 1..=acks {
                let snd_una = 1000 * (number * acks + index);
                let sample = RateSample::new(Snapshot::new(Instant::ZERO), 1000 * delivered, Duration::from_millis(millis));
                let ack = Ack {
                    now: Instant::from_nanos(1000 * snd_una),
                    rtt: Some(Duration::from_millis(millis)),
                    snd_una,
                    snd_nxt: 1000 * acks * (number + 1),
                    sample: Some(sample),
                    ..ACK
                };
                part.observe(&ack, &window);
                window.cwnd = part.on_ack(&ack, &window);
                window = part.steer(&ack, &window).unwrap_or(window);
            }
        }
        window
    }

    const AVOIDANCE: Window = Window { cwnd: 100.0, ssthresh: 50.0 };

    #[test]
    fn an_excess_over_the_best_rate_without_a_queue_is_cut_by_three_tenths() {
        let mut part = part();
        assert!(part.wants().samples);
        // 50 segments in 50 ms, then in 100 ms: 500 per second, of which 50 ms hold 25, and 10 more.
        rounds(&mut *part, 0, 3, (100, 50, 50), Window { cwnd: 60.0, ssthresh: 50.0 });
        let after = rounds(&mut *part, 3, 5, (100, 50, 100), AVOIDANCE);
        assert!(after.cwnd < 90.0 && after.ssthresh < 60.0, "{after:?}");
        let stopped = part.on_ack(&ACK, &after);
        assert_eq!(stopped, after.cwnd, "growth has stopped");
    }

    #[test]
    fn a_decision_needs_sixty_acks() {
        let mut part = part();
        rounds(&mut *part, 0, 2, (29, 50, 50), Window { cwnd: 40.0, ssthresh: 20.0 });
        let after = rounds(&mut *part, 2, 1, (29, 50, 200), AVOIDANCE);
        assert_eq!(after.ssthresh, AVOIDANCE.ssthresh, "29 ACKs");
    }

    #[test]
    fn timeouts_halve_growth_and_losses_leave_four_fifths() {
        let mut part = part();
        let shift = |part: &dyn Avoidance| crate::testing::internal(|out| part.internals(out), "growth_shift");
        for expected in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.0] {
            part.on_reduction(&congestion(Cause::Timeout, 20.0), &AVOIDANCE);
            assert_eq!(shift(&*part), expected);
        }
        part.on_recovery_end(&AVOIDANCE);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 1024.0), &AVOIDANCE).cwnd, 819.0);
        // Without a queue each round trip is a decision to grow; nine of them take one halving back.
        rounds(&mut *part, 0, 30, (30, 200, 50), Window { cwnd: 30.0, ssthresh: 20.0 });
        assert!((5.0..=6.0).contains(&shift(&*part)), "{}", shift(&*part));
    }

    proptest! {
        #[test]
        fn the_window_falls_by_less_than_a_third_per_decision(paths in prop::collection::vec((20_u64..120, 1_u64..200, 5_u64..400), 1..20)) {
            let (mut part, mut window) = (part(), AVOIDANCE);
            for ((acks, delivered, millis), number) in paths.into_iter().zip(0..) {
                let after = rounds(&mut *part, number * 7, 1, (acks, delivered, millis), window);
                prop_assert!(after.cwnd >= 0.69 * window.cwnd - 2.0 && after.cwnd >= 2.0, "{:?} {:?}", window, after);
                window = after;
            }
        }
    }
}
