//! H-TCP: the longer since the last congestion, the faster the window grows.
//! ## What it does
//! Grows as Reno does for a second after congestion, then by α segments per round trip: α = 1 + 10(Δ − 1) + ((Δ − 1)/2)² at Δ
//! seconds. Congestion leaves the share β, the smallest round-trip time over the largest, which just empties the queue: between 0.5
//! and 0.8, but 0.5 if the throughput has changed by more than a fifth since the congestion before. α is multiplied by 2(1 − β), so that
//! flows with different β share fairly.
//! ## References
//! Leith, *H-TCP: TCP congestion control for high bandwidth-delay product paths*, draft-leith-tcp-htcp-06, 2008; Shorten & Leith, *H-TCP:
//! TCP for high-speed and long-distance networks*, PFLDnet 2004.
//! ## Differs from the document
//! - The texts were not opened; the rules are those of descriptions of H-TCP and of Linux.
//! - The throughput before a congestion is the largest of a moving average with weight 1/4, which begins anew three round trips after a
//!   congestion; each sample covers a window of acknowledged segments.
//! - The largest round-trip time rises by steps of at most 20 ms, only outside recovery, and loses 5 % of its distance to the smallest at
//!   each congestion, so that it follows a change of the route.
//! - β is 0.5 at the first congestion and while the smallest round-trip time is at most 10 ms.
//! - α is computed with each segment by which the window grows.
//! - As elsewhere, congestion reduces the window in force.
//!
//! An undo restores Δ, the largest round-trip time and the throughput.
//!
//! `variant = "linux"` counts times in ticks, β and α in units of 1/128, throughput in whole segments per second, and grows by whole segments.
//! Its rules come from knowledge of the kernel, and are compared with Linux 6.12 in virtual time:
//! - Δ begins at the end of recovery. After that an undo restores nothing.
//! - Round-trip times and the bound of 10 ms are rounded up to ticks.
//! - An ACK counts for growth by what it acknowledges only if it finds the connection open: no recovery goes on, and no data is out of order.
//!   Others count by what the last such ACK has acknowledged, or as one segment if that has counted. So the ACK that ends a recovery
//!   usually counts as nothing: a duplicate has begun it.
//! - No throughput is measured while α exceeds the window in segments.
//! ## Parameters
//! `rtt_scaling`: whether α is divided by 100 ms over the smallest round-trip time, between 0.5 and 10, and at least 1 before the factor
//! 2(1 − β): false as in FreeBSD, true in Linux. `adaptive_backoff`: true; false leaves β at 0.5. `tick`: 4 ms, which is HZ 250 (Linux
//! only). `variant`: "published" or "linux".

use crate::cc::contract::{Avoidance, Wants, Window};
use crate::cc::recovery::Recovery;
use crate::cc::ticks::{TICK, Ticks};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Timing};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "htcp",
    summary: "H-TCP: grows faster the longer the last congestion is ago; leaves 0.5 to 0.8 at congestion",
    reference: "draft-leith-tcp-htcp-06",
    params: &[
        Param {
            name: "rtt_scaling",
            kind: Kind::Bool,
            default: Default::Bool(false),
            doc: "whether growth in seconds is the same for all round-trip times (Linux: true)",
        },
        Param {
            name: "adaptive_backoff",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether the share that remains follows the round-trip times; otherwise it is 0.5",
        },
        TICK,
        Param {
            name: "variant",
            kind: Kind::Word(&["published", "linux"]),
            default: Default::Word("published"),
            doc: "exact numbers, or the whole numbers of Linux",
        },
    ],
    quantities: &[
        quantity("increase", "segments", "growth per round trip"),
        quantity("remaining", "", "share of the window that remains after congestion"),
    ],
    build: |params| {
        let clock = (params.word("variant") == "linux").then(|| Ticks::new(params));
        Ok(Box::new(Htcp {
            rtt_scaling: params.flag("rtt_scaling"),
            adaptive_backoff: params.flag("adaptive_backoff"),
            second: clock.map_or(1.0, |ticks| ticks.per_second()),
            clock,
            memory: Memory { congested: 0.0, max_rtt: 0.0, before: 0.0 },
            undo: None,
            recovery: Recovery::Open,
            min_rtt: None,
            beta: LEAST,
            alpha: 1.0,
            switched: false,
            rate: Throughput::default(),
            disorder: false,
            left_open: None,
            count: 0.0,
            last: 1.0,
        }))
    },
};

/// Bounds of β.
const LEAST: f64 = 0.5;
const MOST: f64 = 0.8;
/// Units of α and β in Linux.
const UNIT: f64 = 128.0;
/// Smallest and largest throughput, in fifths of the last one, that count as the same.
const SAME: std::ops::RangeInclusive<f64> = 4.0..=6.0;
/// Longest smallest round-trip time that leaves β at its least.
const SHORT: Duration = Duration::from_millis(10);
/// Largest step by which the largest round-trip time rises.
const STEP: Duration = Duration::from_millis(20);
/// What of the largest round-trip time's distance to the smallest survives a congestion.
const FADES: f64 = 0.95;

/// What an undo restores. Times are in seconds, or in ticks with the rules of Linux.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// The last congestion.
    congested: f64,
    max_rtt: f64,
    /// Largest throughput before the last congestion.
    before: f64,
}

/// The throughput in segments per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    /// Segments of the present sample, and its start.
    segments: f64,
    since: f64,
    /// Moving average, and its maximum since congestion.
    mean: f64,
    most: f64,
}

/// H-TCP.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Htcp {
    rtt_scaling: bool,
    adaptive_backoff: bool,
    /// The clock of Linux; `None` for exact times.
    clock: Option<Ticks>,
    /// Units of time per second.
    second: f64,
    memory: Memory,
    undo: Option<Memory>,
    recovery: Recovery,
    min_rtt: Option<f64>,
    beta: f64,
    alpha: f64,
    /// Whether β may follow the round-trip times: after a congestion with a steady throughput.
    switched: bool,
    rate: Throughput,
    /// Whether data has arrived out of order by the last ACK.
    disorder: bool,
    /// When an ACK has begun recovery without such data before.
    left_open: Option<Instant>,
    /// Acknowledged segments since the window has grown, and by how many the next ACK counts (Linux).
    count: Segments,
    last: Segments,
}

impl Htcp {
    /// A time in seconds, or in ticks.
    fn time(&self, at: Instant) -> f64 {
        self.clock.map_or_else(|| at.as_nanos() as f64 / 1e9, |ticks| ticks.at(at) as f64)
    }

    /// A round-trip time in seconds, or in ticks.
    fn length(&self, rtt: Duration) -> f64 {
        self.clock.map_or_else(|| rtt.as_secs_f64(), |ticks| ticks.covering(rtt) as f64)
    }

    /// A number with the rounding of Linux.
    fn cut(&self, number: f64) -> f64 {
        if self.clock.is_some() { libm::floor(number) } else { number }
    }

    /// Whether no recovery is in progress, and no data has arrived out of order, before the ACK.
    fn is_open(&self) -> bool {
        self.recovery == Recovery::Open && !self.disorder
    }

    /// Takes a round-trip time into account; only one before which the host was open can raise the largest.
    fn note_rtt(&mut self, rtt: f64, open: bool) {
        let min_rtt = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(min_rtt);
        if open {
            let max_rtt = self.memory.max_rtt.max(min_rtt);
            self.memory.max_rtt = if rtt > max_rtt && rtt <= max_rtt + self.length(STEP) { rtt } else { max_rtt };
        }
    }

    fn update_alpha(&mut self, now: f64) {
        let (second, late) = (self.second, now - self.memory.congested - self.second);
        let mut factor = 1.0;
        if late > 0.0 {
            let half = self.cut(late / 2.0);
            factor += self.cut((10.0 * late + self.cut(half * half / second)) / second);
        }
        if self.rtt_scaling
            && let Some(min_rtt) = self.min_rtt
        {
            let scale = self.cut(8.0 * second / (10.0 * min_rtt)).clamp(4.0, 80.0);
            factor = self.cut(8.0 * factor / scale).max(1.0);
        }
        self.alpha = 2.0 * factor * (1.0 - self.beta);
    }

    fn update_beta(&mut self) {
        let fifths = 5.0 * self.rate.most;
        let steady = fifths >= SAME.start() * self.memory.before && fifths <= SAME.end() * self.memory.before;
        self.memory.before = self.rate.most;
        self.beta = LEAST;
        let long = self.min_rtt.filter(|min_rtt| *min_rtt > self.length(SHORT));
        match long {
            _ if !steady => self.switched = false,
            Some(min_rtt) if self.switched && self.adaptive_backoff => {
                let share = UNIT * min_rtt / self.memory.max_rtt.max(min_rtt);
                self.beta = (self.cut(share) / UNIT).clamp(LEAST, self.cut(UNIT * MOST) / UNIT);
            }
            _ => self.switched = true,
        }
    }

    /// Observes the throughput; `waits` is the smallest round-trip time.
    fn observe_throughput(&mut self, acked: Segments, cwnd: Segments, now: f64, waits: f64) {
        self.rate.segments += acked;
        let took = now - self.rate.since;
        let growth = self.cut(self.alpha).max(1.0);
        // In Linux the difference is a whole number without a sign.
        let never = self.clock.is_some() && growth > cwnd;
        if never || self.rate.segments < cwnd - growth || took < waits || took <= 0.0 {
            return;
        }
        let sample = self.cut(self.rate.segments * self.second / took);
        let mean = self.cut((3.0 * self.rate.mean + sample) / 4.0);
        let rate = &mut self.rate;
        if now - self.memory.congested < 4.0 * waits {
            (rate.mean, rate.most) = (sample, sample);
        } else {
            (rate.mean, rate.most) = (mean, rate.most.max(mean));
        }
        (rate.segments, rate.since) = (0.0, now);
    }
}

impl Avoidance for Htcp {
    fn on_established(&mut self, event: &Established) {
        if let Some(ticks) = &mut self.clock {
            ticks.start(event);
        }
        self.memory.congested = self.time(event.now);
        // The first sample of Linux has no start and counts as nothing.
        self.rate.since = if self.clock.is_some() { f64::NEG_INFINITY } else { self.memory.congested };
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|wants| wants.timing = self.clock.is_some())
    }

    fn on_rtt(&mut self, timing: &Timing) {
        if self.clock.is_some() {
            self.note_rtt(self.length(timing.rtt), self.is_open());
        }
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        let (now, open) = (self.time(ack.now), self.is_open());
        let recovery = self.recovery.at_ack();
        if recovery == Recovery::Ending && self.clock.is_some() && self.undo.take().is_some() {
            self.memory.congested = now;
        }
        if open || self.left_open.take() == Some(ack.now) {
            self.last = f64::from(ack.acked);
        }
        self.disorder = ack.total.delivered > ack.snd_una;
        if self.clock.is_none()
            && let Some(rtt) = ack.rtt
        {
            self.note_rtt(self.length(rtt), ack.may_grow);
        }
        if recovery != Recovery::Open {
            (self.rate.segments, self.rate.since) = (0.0, now);
        } else if let Some(min_rtt) = self.min_rtt {
            self.observe_throughput(f64::from(ack.acked), window.cwnd, now, min_rtt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        if self.clock.is_none() {
            self.update_alpha(self.time(ack.now));
            return cwnd + self.alpha * ack.counted / cwnd;
        }
        // An ACK at which the host is not open counts as the one before left it: by nothing after a duplicate, or as one segment.
        let last = std::mem::replace(&mut self.last, 1.0);
        if libm::floor(self.count * self.alpha) < cwnd {
            self.count += last;
            return cwnd;
        }
        self.count = 0.0;
        self.update_alpha(self.time(ack.now));
        cwnd + 1.0
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        self.undo = Some(self.memory);
        self.update_beta();
        self.update_alpha(self.time(event.now));
        if let Some(min_rtt) = self.min_rtt.filter(|min_rtt| self.memory.max_rtt > *min_rtt) {
            self.memory.max_rtt = min_rtt + self.cut((self.memory.max_rtt - min_rtt) * FADES);
        }
        Window::reduced_to(self.cut(event.window * self.beta))
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        if self.clock.is_some() {
            // What the response has changed stays.
            self.undo = Some(self.memory);
        }
        self.memory.congested = self.time(event.now);
        self.left_open = (self.is_open() && event.cause != Cause::Timeout).then_some(event.now);
        (self.recovery, self.count) = (Recovery::Inside, 0.0);
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        self.recovery = Recovery::Ending;
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        self.memory = self.undo.take().unwrap_or(self.memory);
        if self.recovery == Recovery::Inside {
            self.recovery = Recovery::Ending;
        }
    }

    fn on_restart(&mut self) {
        self.count = 0.0;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.alpha);
        out("remaining", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Totals;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal, window};
    use proptest::prelude::*;

    fn htcp(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&established(1000));
        part
    }

    fn linux(more: &[(&str, Value)]) -> Box<dyn Avoidance> {
        htcp(&[&[("variant", Value::Word("linux".to_owned()))], more].concat())
    }

    fn ack(millis: u64, rtt: u64) -> Ack {
        Ack { now: Instant::from_nanos(1_000_000 * millis), rtt: Some(Duration::from_millis(rtt)), ..ACK }
    }

    /// An ACK as a host reports it.
    fn hear(part: &mut dyn Avoidance, ack: &Ack, cwnd: Segments) {
        part.on_rtt(&Timing::new(ack.now, ack.rtt.unwrap()));
        part.observe(ack, &window(cwnd));
    }

    /// α after an ACK so long after the start.
    fn alpha(part: &mut dyn Avoidance, millis: u64, rtt: u64) -> f64 {
        let cwnd = 100.0;
        for _ in 0..300 {
            hear(part, &ack(millis, rtt), cwnd);
            part.on_ack(&ack(millis, rtt), &window(cwnd));
        }
        internal(|out| part.internals(out), "increase")
    }

    #[test]
    fn alpha_is_a_quadratic_function_of_time() {
        for (millis, expected) in [(500, 1.0), (1000, 1.0), (2000, 11.25), (5000, 45.0), (10_000, 111.25)] {
            assert_close(alpha(&mut *htcp(&[]), millis, 100), expected, 1e-9);
            assert_close(alpha(&mut *linux(&[]), millis, 100), libm::floor(expected), 1e-9);
        }
    }

    #[test]
    fn a_short_round_trip_divides_alpha() {
        let scaled = [("rtt_scaling", Value::Bool(true))];
        for (rtt, divisor) in [(5, 10.0), (20, 5.0), (100, 1.0), (400, 0.5)] {
            assert_close(alpha(&mut *htcp(&scaled), 5000, rtt), 45.0 / divisor, 1e-9);
        }
        assert_eq!(alpha(&mut *htcp(&scaled), 500, 20), 1.0, "at least Reno");
    }

    /// Congestion every 20 round trips of these lengths at a steady rate; β after so many of them.
    fn beta(part: &mut dyn Avoidance, rtts: [u64; 2], events: u32) -> f64 {
        let mut millis = 0;
        for _ in 0..events {
            for round in 0..20 {
                // The round-trip time rises by less than 20 ms at a time.
                let rtt = rtts[0] + (rtts[1] - rtts[0]) * round.min(10) / 10;
                for _ in 0..100 {
                    millis += 1;
                    hear(part, &ack(millis, rtt), 100.0);
                }
            }
            let event = CongestionEvent { now: Instant::from_nanos(millis * 1_000_000), ..congestion(Cause::DupAck, 100.0) };
            let after = part.respond(&event, &window(100.0));
            part.on_reduction(&event, &after);
            part.on_recovery_end(&after);
        }
        internal(|out| part.internals(out), "remaining")
    }

    #[test]
    fn the_remaining_share_is_the_ratio_of_round_trip_times() {
        // The first congestion has no throughput to compare with, and the second switches the mode.
        assert_eq!([1, 2].map(|events| beta(&mut *htcp(&[]), [100, 150], events)), [0.5, 0.5]);
        assert_close(beta(&mut *htcp(&[]), [100, 150], 4), 100.0 / 150.0, 0.01);
        assert_close(beta(&mut *linux(&[]), [100, 150], 4), 100.0 / 150.0, 0.02);
        assert_close(beta(&mut *htcp(&[]), [100, 110], 4), 0.8, 0.004);
        assert_eq!(beta(&mut *htcp(&[]), [100, 290], 4), 0.5);
        assert_eq!(beta(&mut *htcp(&[]), [8, 10], 4), 0.5, "a short path");
        assert_eq!(beta(&mut *htcp(&[("adaptive_backoff", Value::Bool(false))]), [100, 150], 4), 0.5);
    }

    #[test]
    fn round_trips_of_linux_are_whole_ticks() {
        // 11 ms are three ticks of 4 ms, and so are the 10 ms up to which a path is short.
        assert_close(beta(&mut *htcp(&[]), [11, 16], 4), 11.0 / 16.0, 0.01);
        assert_eq!(beta(&mut *linux(&[]), [11, 16], 4), 0.5);
        assert_eq!(beta(&mut *linux(&[]), [13, 19], 4), 102.0 / 128.0);
    }

    /// The segments that ACKs must acknowledge after these, one each, until a window of 10 grows.
    fn until_growth(part: &mut dyn Avoidance, before: &[Ack]) -> usize {
        for ack in before {
            hear(part, ack, 10.0);
            if ack.may_grow {
                part.on_ack(ack, &window(10.0));
            }
        }
        let ack = Ack { snd_una: 1_000_000, ..ack(500, 100) };
        (1..100)
            .find(|_| {
                hear(part, &ack, 10.0);
                part.on_ack(&ack, &window(10.0)) > 10.0
            })
            .unwrap()
    }

    #[test]
    fn an_ack_in_disorder_counts_in_linux_as_the_state_before_left_it() {
        let hole = |may_grow, acked| {
            let total = Totals { delivered: 9000, ..ACK.total };
            Ack { acked, may_grow, snd_una: 1000, total, ..ack(500, 100) }
        };
        let duplicate = hole(false, 0);
        // Ten segments amount to one, and the ACK after them sets the window.
        assert_eq!(until_growth(&mut *linux(&[]), &[]), 11);
        // The first ACK with a hole arrives in the open state and counts by what it acknowledges, the next as one segment.
        assert_eq!(until_growth(&mut *linux(&[]), &[hole(true, 4)]), 7);
        assert_eq!(until_growth(&mut *linux(&[]), &[hole(true, 4), hole(true, 4)]), 6);
        // A duplicate acknowledges nothing, and so the ACK after it counts as nothing, too; the one after that as one segment.
        assert_eq!(until_growth(&mut *linux(&[]), &[duplicate, hole(true, 4)]), 11);
        assert_eq!(until_growth(&mut *linux(&[]), &[duplicate, hole(true, 4), hole(true, 4)]), 10);
    }

    #[test]
    fn linux_takes_no_throughput_while_alpha_exceeds_the_window() {
        // The rate doubles three seconds after a congestion, when α exceeds a window of 10 segments.
        for (variant, expected) in [("published", 0.5), ("linux", 0.66)] {
            let mut part = htcp(&[("variant", Value::Word(variant.to_owned()))]);
            beta(&mut *part, [100, 150], 4);
            let start = 4 * 20 * 100;
            for millis in start..start + 6000 {
                let event = ack(millis, if millis % 1000 < 500 { 100 } else { 118 });
                for _ in 0..if millis < start + 3000 { 1 } else { 2 } {
                    hear(&mut *part, &event, 10.0);
                    part.on_ack(&event, &window(10.0));
                }
            }
            let event = CongestionEvent { now: Instant::from_nanos((start + 6000) * 1_000_000), ..congestion(Cause::DupAck, 10.0) };
            part.respond(&event, &window(10.0));
            assert_close(internal(|out| part.internals(out), "remaining"), expected, 0.02);
        }
    }

    #[test]
    fn linux_undoes_nothing_after_recovery() {
        let mut part = linux(&[]);
        let event = CongestionEvent { now: Instant::from_nanos(5_000_000_000), ..congestion(Cause::DupAck, 100.0) };
        let after = part.respond(&event, &window(100.0));
        part.on_reduction(&event, &after);
        let mut late = part.clone();
        part.on_spurious(&after);
        assert!(alpha(&mut *part, 5001, 100) > 40.0);
        late.on_recovery_end(&after);
        late.observe(&ack(5100, 100), &after);
        late.on_spurious(&after);
        assert_eq!(alpha(&mut *late, 5101, 100), 1.0);
    }

    #[test]
    fn a_spurious_loss_restores_the_time_since_congestion() {
        let mut part = htcp(&[]);
        assert_close(alpha(&mut *part, 5000, 100), 45.0, 1e-9);
        let event = CongestionEvent { now: Instant::from_nanos(5_000_000_000), ..congestion(Cause::DupAck, 100.0) };
        let after = part.respond(&event, &window(100.0));
        part.on_reduction(&event, &after);
        let reduced = alpha(&mut *part.clone(), 5001, 100);
        part.on_spurious(&after);
        assert_eq!(reduced, 1.0);
        assert!(alpha(&mut *part, 5001, 100) > 45.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn alpha_never_falls_with_time_and_linux_is_a_unit_and_two_ticks_behind(millis in 0..60_000_u64, more in 0..10_000_u64) {
            let [one, other] = [millis, millis + more].map(|at| alpha(&mut *htcp(&[]), at, 100));
            prop_assert!(one <= other);
            let whole = alpha(&mut *linux(&[]), millis, 100);
            // After so many seconds a tick of 4 ms changes α by that times its slope, 10 + (Δ − 1)/2.
            let ticks = 2.0 * 0.004 * (10.0 + millis as f64 / 2000.0);
            prop_assert!(whole <= one + 1e-9 && whole > one - 1.0 - ticks, "{whole} {one}");
        }
    }
}
