//! BIC: binary search for the window at which the last loss occurred, and a slow search beyond it.
//! ## What it does
//! After congestion at the window `W_max` each round trip covers half of the distance to it, but at most `max_increment` segments. Beyond
//! it the steps grow again, as far from it as they shrank below it. Congestion takes an eighth of the window. Up to `low_window` segments
//! it is Reno.
//! ## References
//! Xu, Harfoush & Rhee, *Binary increase congestion control (BIC) for fast long-distance networks*, INFOCOM 2004, §3.
//! ## Differs from the document
//! - The paper's text was not available; the rules are those on which the literature about it agrees. Beyond `W_max` the step doubles in
//!   each round trip from one segment to `max_increment`.
//! - As elsewhere, congestion reduces the window in force.
//!
//! With `variant = "linux"`:
//!
//! - A round trip covers a quarter of the distance, or a fifth of a segment within four segments of `W_max`. Beyond it the step is (W −
//!   `W_max`)/3, from a fifth of a segment up to `max_increment`.
//! - The step sets the number of segments to acknowledge for a further one. Above `low_window` it is divided by the mean number that an ACK
//!   acknowledges, and computed anew when the window has changed or 1/32 s has passed.
//! - Before the first congestion and after a timeout, which forgets `W_max`, the window grows by at least 5 % per round trip.
//! - `beta` is in units of 1/1024.
//! ## Parameters
//! `max_increment`: 32 and `beta`: 0.875, the remaining share, from the paper; 16 and 819/1024 in Linux. `low_window`: 14 segments.
//! `fast_convergence`: true. `tick`: 4 ms, which is HZ 250 (Linux only). `variant`: "published" or "linux".

use super::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::recovery::Recovery;
use crate::cc::ticks::{TICK, Ticks};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "bic",
    summary: "BIC: binary search for the window of the last loss; × 7/8 at congestion",
    reference: "Xu, Harfoush & Rhee, INFOCOM 2004",
    params: &[
        Param {
            name: "max_increment",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(32.0),
            doc: "largest growth per round trip (the paper: 32; Linux: 16)",
        },
        Param {
            name: "beta",
            kind: Kind::Number { min: 0.1, max: 0.99 },
            default: Default::Number(0.875),
            doc: "share of the window that remains after congestion (the paper: 0.875; Linux: 819/1024)",
        },
        Param {
            name: "low_window",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(14.0),
            doc: "largest window with Reno's rules",
        },
        Param {
            name: "fast_convergence",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether a flow with a falling W_max releases more bandwidth",
        },
        TICK,
        Param {
            name: "variant",
            kind: Kind::Word(&["published", "linux"]),
            default: Default::Word("published"),
            doc: "the rules of the paper or those of Linux",
        },
    ],
    quantities: &[quantity("W_max", "segments", "window at the last congestion, or less").on("window")],
    build: |params| {
        let linux = params.word("variant") == "linux";
        let beta = params.number("beta");
        let kernel = Kernel {
            ticks: Ticks::new(params),
            updated: None,
            ratio: RATIO,
            recovery: Recovery::Open,
            per_segment: 1.0,
            count: Count::default(),
        };
        Ok(Box::new(Bic {
            max_increment: params.number("max_increment"),
            beta: if linux { libm::round(beta * UNIT) / UNIT } else { beta },
            low_window: params.number("low_window"),
            fast_convergence: params.flag("fast_convergence"),
            w_max: None,
            step: 1.0,
            next: 0.0,
            linux: linux.then_some(kernel),
        }))
    },
};

/// Units of shares in Linux.
const UNIT: f64 = 1024.0;
/// Smallest growth per round trip below `W_max` in the paper.
const MIN_INCREMENT: Segments = 0.01;
/// Round trips for the last segment before `W_max`, and distance in segments within which they apply, in Linux.
const SMOOTH: f64 = 20.0;
const NEAR: f64 = 4.0;
/// Acknowledged segments per ACK at first, in sixteenths, and their unit.
const RATIO: f64 = 32.0;
const SIXTEENTHS: f64 = 16.0;

/// BIC.
#[derive(Clone, Debug)]
pub struct Bic {
    max_increment: Segments,
    beta: f64,
    low_window: Segments,
    fast_convergence: bool,
    /// The window at the last congestion, or less; `None` before any, and in Linux after a timeout.
    w_max: Option<Segments>,
    /// Beyond `w_max`: growth in this round trip, and the window at which it doubles.
    step: Segments,
    next: Segments,
    linux: Option<Kernel>,
}

/// What only the rules of Linux need.
#[derive(Clone, Debug)]
struct Kernel {
    ticks: Ticks,
    /// Window and tick of the last `per_segment`.
    updated: Option<(u64, u64)>,
    /// Moving average of the segments that an ACK acknowledges, in sixteenths.
    ratio: f64,
    recovery: Recovery,
    /// Segments to acknowledge for a further segment of the window.
    per_segment: Segments,
    count: Count,
}

impl Bic {
    /// The segments to acknowledge for a further one at the window `cwnd`, by the rules of Linux.
    fn per_segment(&self, cwnd: Segments, ratio: f64) -> Segments {
        let w_max = self.w_max.unwrap_or(0.0);
        let most = self.max_increment;
        if cwnd <= self.low_window {
            return cwnd;
        }
        let mut per_segment = if cwnd < w_max {
            let distance = libm::floor((w_max - cwnd) / NEAR);
            if distance > most {
                cwnd / most
            } else if distance <= 1.0 {
                cwnd * SMOOTH / NEAR
            } else {
                cwnd / distance
            }
        } else if cwnd < w_max + NEAR {
            cwnd * SMOOTH / NEAR
        } else if cwnd < w_max + most * (NEAR - 1.0) {
            cwnd * (NEAR - 1.0) / (cwnd - w_max)
        } else {
            cwnd / most
        };
        per_segment = libm::floor(per_segment);
        if self.w_max.is_none() {
            per_segment = per_segment.min(SMOOTH);
        }
        libm::floor(per_segment * SIXTEENTHS / ratio).max(1.0)
    }

    fn grow_by_linux(&mut self, ack: &Ack, cwnd: Segments) -> Segments {
        let Some(kernel) = &self.linux else { return cwnd };
        let now = kernel.ticks.at(ack.now);
        let fresh = kernel.updated.is_none_or(|(last, tick)| last != cwnd as u64 || kernel.ticks.nanos(now - tick) > 1_000_000_000 / 32);
        let per_segment = if fresh { self.per_segment(cwnd, kernel.ratio) } else { kernel.per_segment };
        let Some(kernel) = &mut self.linux else { return cwnd };
        if fresh {
            (kernel.updated, kernel.per_segment) = (Some((cwnd as u64, now)), per_segment);
        }
        cwnd + kernel.count.add(ack.counted, per_segment)
    }

    /// The growth per round trip by the rules of the paper.
    fn increment(&mut self, cwnd: Segments) -> Segments {
        match self.w_max {
            Some(w_max) if cwnd < w_max => {
                (self.step, self.next) = (1.0, w_max + 1.0);
                ((w_max - cwnd) / 2.0).clamp(MIN_INCREMENT, self.max_increment)
            }
            _ => {
                if self.next == 0.0 {
                    // No congestion yet.
                    self.next = cwnd + self.step;
                }
                while cwnd >= self.next && self.step < self.max_increment {
                    self.step = (2.0 * self.step).min(self.max_increment);
                    self.next += self.step;
                }
                self.step
            }
        }
    }

    fn forget(&mut self) {
        if let Some(kernel) = &mut self.linux {
            self.w_max = None;
            (kernel.updated, kernel.ratio, kernel.count) = (None, RATIO, Count::default());
        }
        (self.step, self.next) = (1.0, 0.0);
    }
}

impl Avoidance for Bic {
    fn on_established(&mut self, event: &Established) {
        if let Some(kernel) = &mut self.linux {
            kernel.ticks.start(event);
        }
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if let Some(kernel) = &mut self.linux
            && kernel.recovery.at_ack() == Recovery::Open
            && ack.may_grow
        {
            kernel.ratio += f64::from(ack.acked) - libm::floor(kernel.ratio / SIXTEENTHS);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        if self.linux.is_some() {
            return self.grow_by_linux(ack, cwnd);
        }
        let increment = if cwnd <= self.low_window { 1.0 } else { self.increment(cwnd) };
        cwnd + increment * ack.counted / cwnd
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let cwnd = event.window;
        if cwnd <= self.low_window { Window::halved(cwnd) } else { Window::reduced_to(cwnd * self.beta) }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        let cwnd = event.window;
        let falls = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if falls { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.w_max = Some(if self.linux.is_some() { libm::floor(w_max) } else { w_max });
        (self.step, self.next) = (1.0, 0.0);
        if let Some(kernel) = &mut self.linux {
            (kernel.count, kernel.recovery) = (Count::default(), Recovery::Inside);
        }
        if event.restart || event.cause == Cause::Timeout {
            self.forget();
        }
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        if let Some(kernel) = &mut self.linux {
            kernel.recovery = Recovery::Ending;
        }
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        if let Some(kernel) = &mut self.linux {
            kernel.recovery = Recovery::Open;
        }
    }

    fn on_restart(&mut self) {
        self.forget();
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(w_max) = self.w_max {
            out("W_max", w_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::Instant;
    use proptest::prelude::*;

    fn published() -> Box<dyn Avoidance> {
        build(&ENTRY, &[]).unwrap()
    }

    /// BIC with the rules and constants of Linux.
    fn linux() -> Box<dyn Avoidance> {
        let set =
            [("variant", Value::Word("linux".to_owned())), ("max_increment", Value::Number(16.0)), ("beta", Value::Number(819.0 / 1024.0))];
        build(&ENTRY, &set).unwrap()
    }

    fn reduce(part: &mut dyn Avoidance, cause: Cause, cwnd: Segments) -> Segments {
        let event = congestion(cause, cwnd);
        let after = part.respond(&event, &window(cwnd));
        part.on_reduction(&event, &after);
        after.cwnd
    }

    /// Growth in a round trip of single ACKs from this window, after congestion at 200 segments.
    fn growth(part: &mut dyn Avoidance, cwnd: Segments) -> Segments {
        part.on_ack(&ACK, &window(cwnd)) - cwnd
    }

    #[test]
    fn the_search_halves_the_distance_within_bounds() {
        let mut part = published();
        assert_eq!(reduce(&mut *part, Cause::DupAck, 200.0), 175.0);
        let mut step = |cwnd: Segments| cwnd * growth(&mut *part, cwnd);
        assert_close(step(100.0), 32.0, 1e-9);
        assert_close(step(180.0), 10.0, 1e-9);
        assert_close(step(199.999), 0.01, 1e-9);
        // Beyond: 1, 2, 4 segments.
        assert_close(step(200.5), 1.0, 1e-9);
        assert_close(step(201.0), 2.0, 1e-9);
        assert_close(step(203.0), 4.0, 1e-9);
        assert_close(step(400.0), 32.0, 1e-9);
        assert_close(step(14.0), 1.0, 1e-9);
    }

    #[test]
    fn linux_counts_the_segments_of_the_search() {
        let part = |cwnd: Segments, ratio: f64| {
            Bic {
                max_increment: 16.0,
                beta: 819.0 / UNIT,
                low_window: 14.0,
                fast_convergence: true,
                w_max: Some(1000.0),
                step: 1.0,
                next: 0.0,
                linux: None,
            }
            .per_segment(cwnd, ratio)
        };
        let single = |cwnd| part(cwnd, 16.0);
        // d = 100 > 16; d = 10; d = 1.
        assert_eq!([600.0, 960.0, 995.0].map(single), [37.0, 96.0, 4975.0]);
        // Within 4, within 48, and beyond.
        assert_eq!([1003.0, 1030.0, 1048.0].map(single), [5015.0, 103.0, 65.0]);
        assert_eq!(single(14.0), 14.0);
        assert_eq!(part(960.0, 32.0), 48.0, "two segments per ACK");
    }

    #[test]
    fn linux_grows_by_at_least_5_per_cent_before_any_loss_and_after_a_timeout() {
        for timeout in [false, true] {
            let mut part = linux();
            if timeout {
                reduce(&mut *part, Cause::Timeout, 1000.0);
            }
            // With one segment per ACK the average stays at 31 sixteenths, by its rounding.
            for _ in 0..200 {
                part.observe(&ACK, &window(700.0));
            }
            let mut cwnd = 700.0;
            for millis in 0..100 {
                cwnd = part.on_ack(&Ack { now: Instant::from_nanos(millis * 1_000_000), ..ACK }, &window(cwnd));
            }
            assert_eq!(cwnd, 710.0, "one segment for 20 · 16/31");
        }
    }

    #[test]
    fn the_remaining_share_and_fast_convergence() {
        for (mut part, left, falling) in [(published(), 875.0, 843.75), (linux(), 799.0, 809.0)] {
            assert_eq!(libm::floor(reduce(&mut *part, Cause::DupAck, 1000.0)), left);
            assert_eq!(internal(|out| part.internals(out), "W_max"), 1000.0);
            reduce(&mut *part, Cause::DupAck, 900.0);
            assert_eq!(internal(|out| part.internals(out), "W_max"), falling);
            assert_eq!(reduce(&mut *part, Cause::DupAck, 14.0), 7.0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn growth_is_positive_and_bounded(w_max in 15.0..1e5_f64, cwnd in 15.0..1e5_f64) {
            let mut part = published();
            reduce(&mut *part, Cause::DupAck, w_max);
            let step = cwnd * growth(&mut *part, cwnd);
            prop_assert!(step > 0.0 && step <= 32.0 + 1e-6, "{step}");
        }
    }
}
