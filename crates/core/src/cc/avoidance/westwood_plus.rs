//! Westwood+ as Linux has it: Reno that leaves recovery with the estimated bandwidth-delay product.
//! ## What it does
//! Grows as Reno does, and halves the window when a loss is detected. Meanwhile it estimates the bandwidth: the bytes acknowledged in a round
//! trip, 50 ms at least, over its length, smoothed by two filters in sequence that take a new value by an eighth. When recovery ends, window
//! and threshold become the bandwidth times the smallest round-trip time, two segments at least, even if that is more than before. A timeout
//! sets the threshold so.
//!
//! The loss response `westwood` with `filter = "plus"` is the same idea as its authors published it: one filter, and a window that a loss
//! never raises.
//! ## References
//! Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control*, 2004; the rules of
//! Linux' `tcp_westwood`.
//! ## Differs from the document
//! From the paper, as in Linux:
//! - Two filters of 7/8 instead of one of 0.9; the first sample seeds both.
//! - A sample lasts 50 ms at least. Bytes and ticks of the clock are whole numbers, and so are rates in bytes per tick.
//! - The loss itself halves the window, and the estimate applies at the end of recovery. The smallest round-trip time begins anew after a
//!   timeout.
//!
//! The rules are from knowledge of Linux, and agree with Linux 6.12 in virtual time. Inferred from its windows: the round-trip time of an ACK counts
//! for the sample that the ACK may end, and the ACK that ends recovery for the bandwidth.
//!
//! The first ACK of a connection, and each duplicate, count as one segment, which later cumulative ACKs do not count again; but only ACKs in a
//! recovery or with a hole above them subtract it, down to one segment.
//!
//! If another loss response is chosen, it sets the window at a loss; the end of recovery is as here.
//! ## Parameters
//! `tick`: 4 ms, which is HZ 250; 0 stands for an exact clock.

use super::reno::Reno;
use crate::cc::bandwidth::BWE;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::recovery::Recovery;
use crate::entry::Entry;
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "westwood_plus",
    summary: "Westwood+ of Linux: Reno that leaves recovery with the estimated bandwidth-delay product",
    reference: "Grieco & Mascolo 2004; Linux",
    params: &[Param {
        name: "tick",
        kind: Kind::Duration { min: 0.0, max: 1.0 },
        default: Default::Number(0.004),
        doc: "step of the clock: 1/HZ of the kernel; 0 for an exact clock",
    }],
    quantities: &[BWE],
    build: |params| {
        let tick = Duration::from_secs_f64(params.number("tick")).as_nanos().max(1);
        let start = SECOND * START_SECONDS / tick;
        Ok(Box::new(WestwoodPlus {
            tick,
            phase: 0,
            smss: 1,
            growth: Reno::default(),
            bytes: 0,
            accounted: 0,
            begun: false,
            begin: 0,
            rtt: start,
            least: start,
            renew: true,
            estimates: None,
            recovery: Recovery::Open,
            chosen: None,
        }))
    },
};

const SECOND: u64 = 1_000_000_000;
/// Round-trip time before any is measured, in seconds.
const START_SECONDS: u64 = 20;
/// A sample lasts this part of a second at least.
const LEAST_PART: u64 = 20;
/// Smallest window.
const LEAST: u64 = 2;

/// Westwood+ of Linux. Times are in ticks.
#[derive(Clone, Debug)]
pub struct WestwoodPlus {
    /// Step of the clock, and from its latest one to the start of the run, in nanoseconds.
    tick: u64,
    phase: u64,
    smss: u64,
    growth: Reno,
    /// Bytes acknowledged in this sample, and those that duplicate ACKs have reported and no cumulative ACK yet.
    bytes: u64,
    accounted: u64,
    /// Whether an ACK has come.
    begun: bool,
    /// Begin of the sample.
    begin: u64,
    /// Latest and smallest round-trip time, and whether the smallest begins anew.
    rtt: u64,
    least: u64,
    renew: bool,
    /// Bytes per tick after the first and the second filter.
    estimates: Option<(u64, u64)>,
    /// Recoveries but those of timeouts, which end without a new window.
    recovery: Recovery,
    /// The window that the next ACK sets at which the window may grow: on hosts of Linux the one that ends recovery.
    chosen: Option<Segments>,
}

impl WestwoodPlus {
    fn ticks(&self, at: Instant) -> u64 {
        (at.as_nanos() + self.phase) / self.tick
    }

    /// Bytes that have arrived, as this ACK shows.
    fn arrived(&mut self, ack: &Ack) -> u64 {
        if ack.acked == 0 || !std::mem::replace(&mut self.begun, true) {
            self.accounted += self.smss;
            return self.smss;
        }
        let covered = u64::from(ack.acked) * self.smss;
        // Without holes Linux does not look at what duplicates have reported.
        let plain = ack.may_grow && self.recovery == Recovery::Open && ack.total.delivered <= ack.snd_una;
        if covered == self.smss || plain {
            return covered;
        }
        if self.accounted >= covered {
            self.accounted -= covered;
            return self.smss;
        }
        covered - std::mem::take(&mut self.accounted)
    }

    /// Window of the estimated bandwidth and the smallest round-trip time.
    fn pipe(&self) -> Segments {
        let rate = self.estimates.map_or(0, |(_, smooth)| smooth);
        (rate * self.least / self.smss).max(LEAST) as Segments
    }
}

impl Avoidance for WestwoodPlus {
    fn on_established(&mut self, event: &Established) {
        self.growth.on_established(event);
        (self.phase, self.smss) = (event.clock_phase.as_nanos(), event.smss.0.max(1));
        self.begin = self.ticks(event.now);
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_nanos().div_ceil(self.tick);
        }
        let now = self.ticks(ack.now);
        let lasted = now.saturating_sub(self.begin);
        if lasted > self.rtt.max(SECOND / LEAST_PART / self.tick) {
            let sample = self.bytes / lasted;
            let filtered = |old: u64, new: u64| (7 * old + new) / 8;
            self.estimates = Some(match self.estimates {
                None | Some((0, 0)) => (sample, sample),
                Some((rough, smooth)) => {
                    let rough = filtered(rough, sample);
                    (rough, filtered(smooth, rough))
                }
            });
            (self.bytes, self.begin) = (0, now);
        }
        self.bytes += self.arrived(ack);
        self.least = if std::mem::take(&mut self.renew) { self.rtt } else { self.least.min(self.rtt) };
        if self.recovery.at_ack() == Recovery::Ending {
            self.chosen = Some(self.pipe());
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = self.chosen.unwrap_or(window.cwnd);
        self.growth.on_ack(ack, &Window { cwnd, ..*window })
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        self.chosen.take().map(|ssthresh| Window { ssthresh, ..*window })
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let halved = Window::halved(event.window);
        if event.cause == Cause::Timeout { Window { ssthresh: self.pipe(), ..halved } } else { halved }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, window: &Window) {
        self.growth.on_reduction(event, window);
        let timed_out = event.cause == Cause::Timeout;
        (self.recovery, self.chosen) = (if timed_out { Recovery::Open } else { Recovery::Inside }, None);
        self.renew |= timed_out;
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        // The bandwidth and the smallest round-trip time include the ACK that ends recovery.
        if self.recovery == Recovery::Inside {
            self.recovery = Recovery::Ending;
        }
        *window
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some((_, smooth)) = self.estimates {
            out("bwe", (smooth * SECOND) as f64 / self.tick as f64 / self.smss as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion, established, internal, window};
    use proptest::prelude::*;

    /// A part with ticks of 1 ms.
    fn part() -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, &[("tick", Value::Number(0.001))]).unwrap();
        part.on_established(&established(1000));
        part
    }

    /// ACKs of one segment, one in each of these milliseconds, with this round-trip time.
    fn acknowledge(part: &mut dyn Avoidance, times: impl Iterator<Item = u64>, millis: u64) {
        for at in times {
            let now = Instant::ZERO + Duration::from_millis(at);
            part.observe(&Ack { now, rtt: Some(Duration::from_millis(millis)), ..ACK }, &window(10.0));
        }
    }

    /// The window after the ACK that ends recovery, which comes at once and shows nothing new.
    fn ended(part: &mut dyn Avoidance, cwnd: Segments) -> Window {
        let before = part.on_recovery_end(&window(cwnd));
        let ack = Ack { now: Instant::ZERO, counted: 0.0, ..ACK };
        part.observe(&ack, &before);
        let grown = Window { cwnd: part.on_ack(&ack, &before), ..before };
        part.steer(&ack, &grown).unwrap_or(grown)
    }

    fn estimate(part: &dyn Avoidance) -> f64 {
        internal(|out| part.internals(out), "bwe")
    }

    #[test]
    fn recovery_ends_with_the_bandwidth_times_the_smallest_round_trip() {
        let mut part = part();
        // The first sample ends with the first ACK after 100 ms: 50 segments in 102 ms, which are 490 bytes per millisecond.
        acknowledge(&mut *part, (2..=102).step_by(2), 100);
        assert_eq!(estimate(&*part), 490.0);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 80.0), &window(80.0)).cwnd, 40.0);
        part.on_reduction(&congestion(Cause::DupAck, 80.0), &window(40.0));
        assert_eq!(ended(&mut *part, 40.0), Window { cwnd: 49.0, ssthresh: 49.0 });
        let timeout = congestion(Cause::Timeout, 80.0);
        assert_eq!(part.respond(&timeout, &window(80.0)).ssthresh, 49.0);
        part.on_reduction(&timeout, &window(1.0));
        assert_eq!(ended(&mut *part, 7.0).cwnd, 7.0, "a timeout's recovery has no other end");
    }

    #[test]
    fn two_filters_of_seven_eighths_follow_a_change() {
        let mut part = part();
        acknowledge(&mut *part, 1..=101, 100);
        assert_eq!(estimate(&*part), 990.0);
        // The next sample is 51 segments in 102 ms: 500. The first filter then has 928, and the second 982.
        acknowledge(&mut *part, (103..=203).step_by(2), 100);
        assert_eq!(estimate(&*part), 982.0);
        acknowledge(&mut *part, (205..=8000).step_by(2), 100);
        assert!((495.0..=510.0).contains(&estimate(&*part)), "{}", estimate(&*part));
    }

    #[test]
    fn what_duplicates_report_is_not_counted_again() {
        let mut part = build(&ENTRY, &[("tick", Value::Number(0.001))]).unwrap();
        part.on_established(&established(1000));
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let rtt = Some(Duration::from_millis(40));
        part.observe(&Ack { now: at(1), rtt, ..ACK }, &window(10.0));
        for millis in 2..=10 {
            part.observe(&Ack { now: at(millis), acked: 0, may_grow: false, ..ACK }, &window(10.0));
        }
        part.observe(&Ack { now: at(11), acked: 10, may_grow: false, ..ACK }, &window(10.0));
        // Eleven segments in 100 ms, rounded down to 110 bytes per ms.
        part.observe(&Ack { now: at(100), rtt, ..ACK }, &window(10.0));
        assert_eq!(estimate(&*part), 110.0);
    }

    proptest! {
        #[test]
        fn the_estimate_is_within_the_rates_seen(gaps in prop::collection::vec(1_u64..40, 200..400)) {
            let (mut part, mut now) = (part(), 0);
            for gap in gaps {
                now += gap;
                acknowledge(&mut *part, now..=now, 60);
                let mut seen = None;
                part.internals(&mut |_, value| seen = Some(value));
                prop_assert!(seen.is_none_or(|rate| (0.0..=1100.0).contains(&rate)), "{:?}", seen);
            }
            prop_assert!(ended(&mut *part, 5.0).cwnd >= 2.0);
        }
    }
}
