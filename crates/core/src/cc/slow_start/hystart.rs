//! HyStart: ends slow start when ACKs arrive for half a round trip without a pause, or when round-trip times rise.
//! ## What it does
//! Doubles the window like standard slow start, and looks for two signs of a full path in every round trip. The *ACK train* is the series of
//! ACKs from the start of the round, each at most `ack_delta` after the last one. Its length shows the rate of the path: at half of the
//! smallest round-trip time, the window is the bandwidth-delay product. The *delay* is the smallest round-trip time of the round, which
//! counts once `min_samples` ACKs have measured it. If it exceeds the smallest of the connection by an eighth, but at least 4 ms and at
//! most 16 ms, a queue is growing.
//!
//! Either sign ends slow start: `ssthresh` becomes `cwnd` at once, without rounds of slower growth as in HyStart++ (`hystart_pp`). The ACK
//! that shows the sign already counts for the avoidance.
//! ## References
//! Ha & Rhee, *Taming the elephants: new TCP slow start*, Computer Networks 55(9), 2011. Linux, which enables HyStart with CUBIC: the
//! defaults are those of version 6.14 and later, and agree with measurements of versions 6.18 and 7.2.
//! ## Differs from the document
//! - The paper's upper and lower bounds of the rise are 8 ms and 2 ms; Linux has doubled both. Linux adds `train_allowance` to the
//!   threshold of the train, and does not halve it if the host paces.
//! - Linux 5.16 to 6.13 begins a round only from `low_window` on (`round_reset`), except for later maintenance releases: the first round
//!   then begins in the middle of a flight, and slow start ends later.
//! - Linux before 5.7 ignores round-trip times after the first `min_samples` of a round (`late_samples`).
//! - Linux also looks for both signs at ACKs at which the window may not grow because the sender does not fill it, and while Proportional
//!   Rate Reduction holds the window below `ssthresh`: the threshold, to which recovery returns, then becomes that window (measured in loss
//!   recovery with 6.18). So does this part on hosts with such a reduction.
//! - Times are whole microseconds. A round begins at the ACK that ends the last one.
//! - Linux compares the smallest round-trip time since the start of the connection or the last timeout. So does this part.
//! ## Parameters
//! `low_window`: 16 segments, `min_samples`: 8, `ack_delta`: 2 ms and `detect`: `both`, from the paper. `delay_thresh_min`: 4 ms,
//! `delay_thresh_max`: 16 ms, `delay_divisor`: 8, `train_halved`: `unless_paced`, `train_allowance`: 1 ms, `gso_max_size`: 65536 B,
//! `round_reset`: `always` and `late_samples`: true, from Linux. The paper's form has the bounds 2 ms and 8 ms, `train_halved` `always` and
//! `train_allowance` 0.

use crate::cc::contract::{SlowStart, Step, Wants, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Timing};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "hystart",
    summary: "HyStart: ends at once when ACKs arrive for half a round trip without a pause, or when round-trip times rise",
    reference: "Ha & Rhee 2011",
    params: &[
        param("low_window", Kind::Segments { min: 0.0, max: 1e9 }, 16.0, "smallest window at which slow start may end"),
        param("min_samples", Kind::Integer { min: 1.0, max: 1e6 }, 8.0, "round-trip time samples of a round before its delay counts"),
        param("ack_delta", Kind::Duration { min: 0.0, max: 1e3 }, 0.002, "longest pause between two ACKs of a train"),
        param("delay_thresh_min", Kind::Duration { min: 0.0, max: 1e3 }, 0.004, "lower bound of the rise that ends slow start"),
        param("delay_thresh_max", Kind::Duration { min: 0.0, max: 1e3 }, 0.016, "upper bound of the rise that ends slow start"),
        param(
            "delay_divisor",
            Kind::Number { min: 1.0, max: 1e6 },
            8.0,
            "within the bounds, the rise is the smallest round-trip time divided by this",
        ),
        word("detect", &["both", "train", "delay"], "signs that end slow start"),
        word("train_halved", &["unless_paced", "always", "never"], "whether half a round trip of ACKs without a pause suffices"),
        param(
            "train_allowance",
            Kind::Duration { min: 0.0, max: 1e3 },
            0.001,
            "upper bound of the time added to the round trip before it is halved, for ACKs that hosts delay",
        ),
        param(
            "gso_max_size",
            Kind::Size { min: 0.0, max: 1e9 },
            65_536.0,
            "the time added is that of sending four blocks of this size, at two windows per round trip; 0 always adds the upper bound",
        ),
        word("round_reset", &["always", "above_low_window"], "whether rounds also begin while the window is below `low_window`"),
        Param {
            name: "late_samples",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether samples after the first `min_samples` can lower a round's delay",
        },
    ],
    quantities: &[
        quantity("delay_min", "s", "smallest round-trip time of the connection, or since the last timeout").on("time"),
        quantity("round_rtt", "s", "smallest round-trip time of this round").on("time"),
        quantity("train", "s", "length of this round's ACK train").on("time"),
        quantity("found", "", "0: searching, 1: ended by the ACK train, 2: ended by the delay"),
    ],
    build: |params| Ok(Box::new(Hystart::new(params))),
};

const fn param(name: &'static str, kind: Kind, default: f64, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Number(default), doc }
}

const fn word(name: &'static str, words: &'static [&'static str], doc: &'static str) -> Param {
    Param { name, kind: Kind::Word(words), default: Default::Word(words[0]), doc }
}

/// A sign that ends slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Train,
    Delay,
}

/// Slow start with HyStart. Times are in microseconds.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate switch")]
pub struct Hystart {
    low_window: Segments,
    min_samples: u32,
    ack_delta: u64,
    delay_thresh: (u64, u64),
    delay_divisor: f64,
    train: bool,
    delay: bool,
    halved: Option<bool>,
    train_allowance: u64,
    gso_max_size: f64,
    resets_always: bool,
    late_samples: bool,
    /// Whether the host paces, and the size of a segment with its headers.
    paced: bool,
    header: Bytes,
    smss: Bytes,
    round: Round,
    delay_min: Option<u64>,
    found: Option<Sign>,
}

/// The present round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    start: u64,
    /// The last ACK of the train.
    last_ack: u64,
    /// `snd_nxt` at the start: the round ends when later data is acknowledged.
    end_seq: u64,
    rtt: Option<u64>,
    samples: u32,
}

fn micros(duration: Duration) -> u64 {
    duration.as_nanos() / 1000
}

impl Hystart {
    /// With these parameters.
    pub(super) fn new(params: &Params) -> Self {
        let time = |name| micros(Duration::from_secs_f64(params.number(name)));
        let detects = |sign| ["both", sign].contains(&params.word("detect"));
        Self {
            low_window: params.number("low_window"),
            min_samples: params.number("min_samples") as u32,
            ack_delta: time("ack_delta"),
            delay_thresh: (time("delay_thresh_min"), time("delay_thresh_max")),
            delay_divisor: params.number("delay_divisor"),
            train: detects("train"),
            delay: detects("delay"),
            halved: match params.word("train_halved") {
                "always" => Some(true),
                "never" => Some(false),
                _ => None,
            },
            train_allowance: time("train_allowance"),
            gso_max_size: params.number("gso_max_size"),
            resets_always: params.word("round_reset") == "always",
            late_samples: params.flag("late_samples"),
            paced: false,
            header: Bytes(0),
            smss: Bytes(1),
            round: Round::default(),
            delay_min: None,
            found: None,
        }
    }

    /// Forgets everything that was measured.
    fn reset(&mut self) {
        (self.delay_min, self.found) = (None, None);
        self.round = Round { end_seq: self.round.end_seq, ..Round::default() };
    }

    fn begin_round(&mut self, now: u64, snd_nxt: u64) {
        self.round = Round { start: now, last_ack: now, end_seq: snd_nxt, rtt: None, samples: 0 };
    }

    /// The length of a train that ends slow start.
    fn train_threshold(&self, delay_min: u64, ack: &Timing, cwnd: Segments) -> u64 {
        let wire = (self.smss.0 + self.header.0) as f64;
        // Slow start sends two windows per round trip.
        let sending = ack.srtt.map_or(0.0, |srtt| 4.0 * self.gso_max_size * micros(srtt) as f64 / (2.0 * cwnd * wire));
        let allowance = if self.gso_max_size > 0.0 { self.train_allowance.min(sending as u64) } else { self.train_allowance };
        (delay_min + allowance) >> u32::from(self.halved.unwrap_or(!self.paced))
    }

    /// The rise of the round-trip time that ends slow start.
    fn delay_threshold(&self, delay_min: u64) -> u64 {
        let (least, most) = self.delay_thresh;
        ((delay_min as f64 / self.delay_divisor) as u64).min(most).max(least)
    }

    /// Looks at an ACK; returns whether it ends slow start.
    fn look(&mut self, ack: &Timing, window: &Window) -> bool {
        let rtt = micros(ack.rtt);
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        if self.found.is_some() || window.cwnd >= window.ssthresh {
            return false;
        }
        let now = micros(ack.now.since(Instant::ZERO));
        let is_large = window.cwnd >= self.low_window;
        if ack.snd_una > self.round.end_seq && (is_large || self.resets_always) {
            self.begin_round(now, ack.snd_nxt);
        }
        if is_large {
            self.found = self.search(now, delay_min, ack, window.cwnd);
        }
        self.found.is_some()
    }

    /// Looks for both signs at an ACK.
    fn search(&mut self, now: u64, delay_min: u64, ack: &Timing, cwnd: Segments) -> Option<Sign> {
        let mut sign = None;
        if self.train && now.saturating_sub(self.round.last_ack) <= self.ack_delta {
            self.round.last_ack = now;
            if now - self.round.start > self.train_threshold(delay_min, ack, cwnd) {
                sign = Some(Sign::Train);
            }
        }
        let rtt = micros(ack.rtt);
        let counted = self.round.samples < self.min_samples;
        if counted || self.late_samples {
            self.round.rtt = Some(self.round.rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if counted {
            self.round.samples += 1;
        } else if self.delay && self.round.rtt > Some(delay_min + self.delay_threshold(delay_min)) {
            sign = sign.or(Some(Sign::Delay));
        }
        sign
    }
}

impl SlowStart for Hystart {
    fn on_established(&mut self, event: &Established, _window: &Window) {
        (self.paced, self.header, self.smss) = (event.paced, event.header, event.smss);
        // The first round begins with the first flight, which the handshake's ACK lets leave.
        self.begin_round(micros(event.now.since(Instant::ZERO)), 0);
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.smss = smss;
    }

    fn wants(&self) -> Wants {
        Wants { timing: true, ..Wants::NOTHING }
    }

    fn on_rtt(&mut self, timing: &Timing, window: &Window) -> Option<Segments> {
        self.look(timing, window).then_some(window.cwnd)
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(ack.counted)
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _window: &Window) {
        if event.restart || event.cause == Cause::Timeout {
            self.reset();
        }
    }

    fn on_restart(&mut self) {
        self.reset();
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        for (name, time) in [("delay_min", self.delay_min), ("round_rtt", self.round.rtt)] {
            if let Some(time) = time {
                out(name, time as f64 / 1e6);
            }
        }
        out("train", (self.round.last_ack - self.round.start) as f64 / 1e6);
        out(
            "found",
            match self.found {
                None => 0.0,
                Some(Sign::Train) => 1.0,
                Some(Sign::Delay) => 2.0,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, congestion, established, internal, window};

    const EXIT: Option<Segments> = Some(100.0);
    const GROW: Option<Segments> = None;
    const MS: u64 = 1_000_000;

    fn hystart(set: &[(&str, Value)]) -> Box<dyn SlowStart> {
        build(&ENTRY, set).unwrap()
    }

    fn number(value: f64) -> Value {
        Value::Number(value)
    }

    fn word(value: &str) -> Value {
        Value::Word(value.to_owned())
    }

    /// An ACK at `now` with `rtt`, both in nanoseconds, of round number `round`.
    fn timing(now: u64, rtt: u64, round: u64) -> Timing {
        let rtt = Duration::from_nanos(rtt);
        // A round's ACKs acknowledge positions above 1000 · round, and data up to 1000 · (round + 1) has been sent.
        Timing { now: Instant::from_nanos(now), rtt, srtt: Some(rtt), snd_una: 1000 * round + 1, snd_nxt: 1000 * (round + 1) }
    }

    /// The threshold with which an ACK of a round in which `cwnd` segments are sent ends slow start.
    fn acknowledge(part: &mut dyn SlowStart, now: u64, rtt: u64, round: u64, cwnd: Segments) -> Option<Segments> {
        part.on_rtt(&timing(now, rtt, round), &window(cwnd))
    }

    /// What ends rounds with nine ACKs, 3 ms apart, each with one round-trip time in microseconds.
    fn rounds(part: &mut dyn SlowStart, rtts: &[u64]) -> Vec<Option<Segments>> {
        let nine = |(round, rtt): (usize, &u64)| {
            let start = 1000 * MS * (round as u64 + 1);
            (0..9).map(|index| acknowledge(part, start + 3 * MS * index, 1000 * rtt, round as u64 + 1, 100.0)).last().unwrap()
        };
        rtts.iter().enumerate().map(nine).collect()
    }

    #[test]
    fn a_rise_by_an_eighth_between_4_and_16_milliseconds_ends_slow_start() {
        for (least, most) in [(20_000, 24_000), (100_000, 112_500), (200_000, 216_000)] {
            for (rtt, step) in [(most, GROW), (most + 1, EXIT)] {
                let mut part = hystart(&[]);
                assert_eq!(rounds(&mut *part, &[least, rtt]), [GROW, step], "{least} µs, then {rtt} µs");
                assert_eq!(internal(|out| part.internals(out), "found"), if step == EXIT { 2.0 } else { 0.0 });
            }
        }
        let paper = [("delay_thresh_min", number(0.002)), ("delay_thresh_max", number(0.008))];
        for (least, most) in [(10_000, 12_000), (40_000, 45_000), (200_000, 208_000)] {
            for (rtt, step) in [(most, GROW), (most + 1, EXIT)] {
                assert_eq!(rounds(&mut *hystart(&paper), &[least, rtt]), [GROW, step], "{least} µs, then {rtt} µs");
            }
        }
    }

    #[test]
    fn the_delay_is_the_smallest_of_eight_samples_and_the_ninth_decides() {
        let last = |set: &[(&str, Value)], rtts: &[u64]| {
            let mut part = hystart(set);
            rounds(&mut *part, &[50_000]);
            let ack = |(index, rtt): (usize, &u64)| acknowledge(&mut *part, (5000 + 3 * index as u64) * MS, rtt * MS, 2, 100.0);
            rtts.iter().enumerate().map(ack).last().unwrap()
        };
        assert_eq!(last(&[], &[60; 8]), GROW);
        assert_eq!(last(&[], &[60; 9]), EXIT);
        assert_eq!(last(&[], &[60, 60, 56, 60, 60, 60, 60, 60, 60]), GROW, "one sample is low");
        let late = [60, 60, 60, 60, 60, 60, 60, 60, 56];
        assert_eq!(last(&[], &late), GROW, "the ninth sample is low");
        assert_eq!(last(&[("late_samples", Value::Bool(false))], &late), EXIT);
        assert_eq!(last(&[("min_samples", number(3.0))], &[60; 4]), EXIT);
        assert_eq!(last(&[("detect", word("train"))], &[60; 9]), GROW);
    }

    /// How long after a round's start a train of ACKs with pauses of `pause` nanoseconds ends slow start, at a round-trip time of 100 ms.
    fn train(set: &[(&str, Value)], paced: bool, pause: u64) -> Option<u64> {
        let mut part = hystart(set);
        part.on_established(&Established { paced, ..established(1460) }, &window(100.0));
        let start = 500 * MS;
        (0..=200 * MS / pause).map(|index| index * pause).find(|after| acknowledge(&mut *part, start + after, 100 * MS, 1, 100.0) == EXIT)
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start_unless_the_host_paces() {
        assert_eq!([false, true].map(|paced| train(&[], paced, MS / 2)), [Some(51 * MS), Some(203 * MS / 2)]);
        let exact = [("train_allowance", number(0.0))];
        let just = |span: u64| Some(span * MS + MS / 2);
        assert_eq!([false, true].map(|paced| train(&exact, paced, MS / 2)), [just(50), just(100)]);
        for (rule, spans) in [("always", [just(50), just(50)]), ("never", [just(100), just(100)])] {
            let set = [exact[0].clone(), ("train_halved", word(rule))];
            assert_eq!([false, true].map(|paced| train(&set, paced, MS / 2)), spans);
        }
        assert_eq!(train(&exact, false, 2 * MS), Some(52 * MS), "pauses of 2 ms belong to the train");
        assert_eq!(train(&exact, false, 2 * MS + 1000), None);
        assert_eq!(train(&[("detect", word("delay"))], false, MS), None);
    }

    #[test]
    fn the_allowance_is_the_time_of_four_blocks_on_a_fast_flow() {
        // 4 · 64 KiB at two windows of 100 · 1460 B per 100 ms take 90 ms; at 100 000 segments, 90 µs, so that 50.045 ms suffice.
        let span = |cwnd: Segments| {
            let mut part = hystart(&[]);
            part.on_established(&established(1460), &window(cwnd));
            let is_exit = |after: &u64| acknowledge(&mut *part, 500 * MS + after, 100 * MS, 1, cwnd) == Some(cwnd);
            (0..2000).map(|index| index * MS / 20).find(is_exit)
        };
        assert_eq!([100.0, 1e5].map(span), [Some(1011 * MS / 20), Some(1001 * MS / 20)]);
    }

    #[test]
    fn nothing_ends_slow_start_below_the_low_window() {
        for (cwnd, step) in [(15.9, GROW), (16.0, Some(16.0))] {
            let mut part = hystart(&[]);
            rounds(&mut *part, &[50_000]);
            let last = (0..9).map(|index| acknowledge(&mut *part, (5000 + 3 * index) * MS, 60 * MS, 2, cwnd)).last();
            assert_eq!(last, Some(step));
        }
    }

    #[test]
    fn without_a_reset_below_the_low_window_a_round_begins_late() {
        // A train with an ACK every quarter of a millisecond from 100 ms on; the window is 16 segments at the seventh, at 101.5 ms.
        for (rule, exit) in [("always", 603), ("above_low_window", 609)] {
            let mut part = hystart(&[("round_reset", word(rule))]);
            let cwnd = |quarters: u64| 10.0 + (quarters - 400) as f64;
            let is_exit = |quarters: &u64| acknowledge(&mut *part, quarters * MS / 4, 100 * MS, 1, cwnd(*quarters)).is_some();
            assert_eq!((400..900).find(is_exit), Some(exit), "{rule}: more than 50.5 ms from the start of the round");
        }
    }

    #[test]
    fn a_timeout_starts_the_search_anew_and_a_loss_does_not() {
        for (cause, step) in [(Cause::Timeout, EXIT), (Cause::DupAck, GROW)] {
            let mut part = hystart(&[]);
            assert_eq!(rounds(&mut *part, &[50_000, 60_000]), [GROW, EXIT]);
            part.on_congestion(&congestion(cause, 100.0), &window(100.0));
            assert_eq!(acknowledge(&mut *part, 9000 * MS, 80 * MS, 20, 100.0), GROW);
            let last = (0..9).map(|index| acknowledge(&mut *part, (9100 + 3 * index) * MS, 95 * MS, 21, 100.0)).last();
            assert_eq!(last, Some(step), "{cause:?}: 95 ms after 80 ms");
        }
    }

    #[test]
    fn in_recovery_the_threshold_becomes_the_window_that_the_reduction_has_reached() {
        let mut part = hystart(&[]);
        rounds(&mut *part, &[50_000]);
        let mut ends = |cwnd: Segments| part.on_rtt(&timing(5000 * MS, 60 * MS, 2), &Window { cwnd, ssthresh: 70.0 });
        assert_eq!([70.0; 9].map(&mut ends), [None; 9], "not below the threshold");
        let windows = [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0];
        assert_eq!(windows.map(&mut ends), [None; 8]);
        assert_eq!(ends(48.0), Some(48.0));
        assert_eq!(ends(49.0), None, "once");
    }

    #[test]
    fn acks_in_congestion_avoidance_do_not_count() {
        let mut part = hystart(&[]);
        rounds(&mut *part, &[50_000]);
        for index in 0..9 {
            part.on_rtt(&timing((5000 + index) * MS, 90 * MS, 9), &Window { cwnd: 100.0, ssthresh: 100.0 });
        }
        assert_eq!(internal(|out| part.internals(out), "found"), 0.0);
        assert_eq!(internal(|out| part.internals(out), "delay_min"), 0.05);
    }
}
