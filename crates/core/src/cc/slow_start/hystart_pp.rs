//! HyStart++: ends slow start when round-trip times rise, after a few rounds of slower growth that verify the rise.
//! ## What it does
//! Doubles the window like standard slow start until a round's smallest round-trip time exceeds that of the previous round by a threshold.
//! Conservative Slow Start (CSS) then grows a quarter as fast; if round-trip times fall below their value at its start, slow start resumes.
//! After `css_rounds` rounds `ssthresh` becomes `cwnd`, and congestion avoidance begins.
//! ## References
//! RFC 9406 §4.2 and §4.3.
//! ## Differs from the document
//! - N, the data that an ACK acknowledges, is the amount that the host counts for growth. If each ACK counts once, `l` = 8 never limits it.
//! - The ACK that changes the phase already counts by the rule of the new phase.
//! - After a loss or a mark the loss response sets the window. RFC 9406 sets `ssthresh` to `cwnd` and leaves the reduction to the
//!   congestion control.
//! - A round begins at the ACK that ends the last one, as the host counts rounds, not at the next transmission.
//! - Implementers found that CSS can end by mistake, and corrected it: the QUIC stack neqo counts samples anew in CSS (`reset_samples`), so
//!   that those of the round before cannot end it, and takes the threshold that the rise has crossed as the baseline (`css_baseline`), so
//!   that the flow does not alternate between both phases. `MsQuic` ignores the samples of a round after the first eight (`late_samples`).
//! ## Parameters
//! `min_rtt_thresh`: 4 ms, `max_rtt_thresh`: 16 ms, `min_rtt_divisor`: 8, `n_rtt_sample`: 8, `css_growth_divisor`: 4, `css_rounds`: 5, all
//! as RFC 9406 §4.3 recommends. `l`: 8 segments, recommended for senders that do not pace; 1e9 stands for the infinity recommended for
//! senders that pace. `initial_only`: true, as recommended; later slow starts are standard. `css_baseline`: `entry_rtt`, `reset_samples`:
//! false and `late_samples`: true, from RFC 9406 §4.2.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Duration, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "hystart_pp",
    summary: "HyStart++: ends when round-trip times rise, after rounds of slower growth",
    reference: "RFC 9406",
    params: &[
        param("min_rtt_thresh", Kind::Duration { min: 0.0, max: 1e3 }, 0.004, "lower bound of the delay threshold between rounds"),
        param("max_rtt_thresh", Kind::Duration { min: 0.0, max: 1e3 }, 0.016, "upper bound of the delay threshold between rounds"),
        param(
            "min_rtt_divisor",
            Kind::Number { min: 1.0, max: 1e6 },
            8.0,
            "within the bounds, the delay threshold is the last round's smallest round-trip time divided by this",
        ),
        param("n_rtt_sample", Kind::Integer { min: 1.0, max: 1e6 }, 8.0, "round-trip time samples needed before a round can decide"),
        param("css_growth_divisor", Kind::Number { min: 1.0, max: 1e6 }, 4.0, "divisor of growth in CSS; at least 2 (RFC 9406 §4.3)"),
        param("css_rounds", Kind::Integer { min: 1.0, max: 1e6 }, 5.0, "rounds of CSS, including the one in which it begins"),
        param(
            "l",
            Kind::Segments { min: 1.0, max: 1e9 },
            8.0,
            "largest number of segments that an ACK counts for; 1e9 for a sender that paces",
        ),
        Param {
            name: "initial_only",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether every slow start after the connection's first is standard (RFC 9406 §4.3)",
        },
        Param {
            name: "css_baseline",
            kind: Kind::Word(&["entry_rtt", "entry_threshold"]),
            default: Default::Word("entry_rtt"),
            doc: "CSS ends below it: the round-trip time at its start, or that of the last round plus the delay threshold",
        },
        Param {
            name: "reset_samples",
            kind: Kind::Bool,
            default: Default::Bool(false),
            doc: "whether the round in which CSS begins needs as many samples again to end it",
        },
        Param {
            name: "late_samples",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether samples after the first `n_rtt_sample` of a round count",
        },
    ],
    quantities: &[
        quantity("phase", "", "0: slow start, 1: CSS, 2: over"),
        quantity("last_round_min_rtt", "s", "smallest round-trip time of the last round").on("time"),
        quantity("current_round_min_rtt", "s", "smallest round-trip time of this round so far").on("time"),
    ],
    build: |params| Ok(Box::new(HystartPp::new(params))),
};

const fn param(name: &'static str, kind: Kind, default: f64, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Number(default), doc }
}

/// Slow start as modified by RFC 9406.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate switch")]
pub struct HystartPp {
    min_rtt_thresh: Duration,
    max_rtt_thresh: Duration,
    min_rtt_divisor: f64,
    n_rtt_sample: u32,
    css_growth_divisor: f64,
    css_rounds: u32,
    l: Segments,
    initial_only: bool,
    /// Whether the baseline of CSS is the threshold that the rise has crossed.
    threshold_baseline: bool,
    reset_samples: bool,
    late_samples: bool,
    phase: Phase,
    /// The present round; `None` before the first round of a slow start.
    round: Option<u64>,
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Conservative slow start, with the number of rounds that have ended in it.
    Css {
        css_baseline_min_rtt: Duration,
        rounds: u32,
    },
    /// Further slow starts are standard.
    Over,
}

impl HystartPp {
    fn new(params: &Params) -> Self {
        let duration = |name| Duration::from_secs_f64(params.number(name));
        Self {
            min_rtt_thresh: duration("min_rtt_thresh"),
            max_rtt_thresh: duration("max_rtt_thresh"),
            min_rtt_divisor: params.number("min_rtt_divisor"),
            n_rtt_sample: params.number("n_rtt_sample") as u32,
            css_growth_divisor: params.number("css_growth_divisor"),
            css_rounds: params.number("css_rounds") as u32,
            l: params.number("l"),
            initial_only: params.flag("initial_only"),
            threshold_baseline: params.word("css_baseline") == "entry_threshold",
            reset_samples: params.flag("reset_samples"),
            late_samples: params.flag("late_samples"),
            phase: Phase::SlowStart,
            round: None,
            last_round_min_rtt: None,
            current_round_min_rtt: None,
            rtt_sample_count: 0,
        }
    }

    /// Ends a slow start: the next one starts afresh, or is standard.
    fn end(&mut self) {
        self.phase = if self.initial_only { Phase::Over } else { Phase::SlowStart };
        self.round = None;
        self.last_round_min_rtt = None;
        self.current_round_min_rtt = None;
        self.rtt_sample_count = 0;
    }

    /// RFC 9406 §4.2: the start of a round.
    fn begin_round(&mut self, round: u64) {
        self.round = Some(round);
        if let Phase::Css { rounds, .. } = &mut self.phase {
            *rounds += 1;
        }
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
    }

    /// RFC 9406 §4.2: `RttThresh`.
    fn rtt_thresh(&self, last_round_min_rtt: Duration) -> Duration {
        let share = Duration::from_secs_f64(last_round_min_rtt.as_secs_f64() / self.min_rtt_divisor);
        share.min(self.max_rtt_thresh).max(self.min_rtt_thresh)
    }

    /// RFC 9406 §4.2: from slow start to CSS if the delay has increased, and back if it has not. Round-trip times are compared to the
    /// nanosecond, because they are differences of sums: equal ones may differ by rounding.
    fn change_phase(&mut self, current_round_min_rtt: Duration) {
        match self.phase {
            Phase::SlowStart => {
                let Some(risen) = self.last_round_min_rtt.map(|last| last + self.rtt_thresh(last)) else { return };
                if current_round_min_rtt + Duration::NANOSECOND >= risen {
                    let css_baseline_min_rtt = if self.threshold_baseline { risen } else { current_round_min_rtt };
                    self.phase = Phase::Css { css_baseline_min_rtt, rounds: 0 };
                    self.rtt_sample_count = if self.reset_samples { 0 } else { self.rtt_sample_count };
                }
            }
            Phase::Css { css_baseline_min_rtt, .. } => {
                if current_round_min_rtt + Duration::NANOSECOND < css_baseline_min_rtt {
                    self.phase = Phase::SlowStart;
                }
            }
            Phase::Over => {}
        }
    }
}

impl SlowStart for HystartPp {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if self.phase == Phase::Over || window.cwnd >= window.ssthresh {
            return;
        }
        if self.round != Some(ack.round) {
            self.begin_round(ack.round);
        }
        let Some(curr_rtt) = ack.rtt else { return };
        if !self.late_samples && self.rtt_sample_count >= self.n_rtt_sample {
            return;
        }
        let current_round_min_rtt = self.current_round_min_rtt.map_or(curr_rtt, |least| least.min(curr_rtt));
        self.current_round_min_rtt = Some(current_round_min_rtt);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count >= self.n_rtt_sample {
            self.change_phase(current_round_min_rtt);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        match self.phase {
            // RFC 9406 §4.2: cwnd + min(N, L·SMSS), divided in CSS.
            Phase::SlowStart => Step::Grow(ack.counted.min(self.l)),
            Phase::Css { rounds, .. } if rounds < self.css_rounds => Step::Grow(ack.counted.min(self.l) / self.css_growth_divisor),
            Phase::Css { .. } => {
                self.end();
                Step::Exit { ssthresh: window.cwnd }
            }
            Phase::Over => Step::Grow(ack.counted),
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.end();
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let phase = match self.phase {
            Phase::SlowStart => 0.0,
            Phase::Css { .. } => 1.0,
            Phase::Over => 2.0,
        };
        out("phase", phase);
        for (name, rtt) in [("last_round_min_rtt", self.last_round_min_rtt), ("current_round_min_rtt", self.current_round_min_rtt)] {
            if let Some(rtt) = rtt {
                out(name, rtt.as_secs_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion, internal, window};
    use proptest::prelude::*;

    fn hystart(set: &[(&str, Value)]) -> Box<dyn SlowStart> {
        build(&ENTRY, set).unwrap()
    }

    /// Lets `part` observe the ACKs of round `round`, one per round-trip time in milliseconds. Returns its last step.
    fn acknowledge(part: &mut dyn SlowStart, round: u64, rtts: impl IntoIterator<Item = u64>) -> Step {
        let window = window(100.0);
        let step = |rtt| {
            let ack = Ack { round, rtt: Some(Duration::from_millis(rtt)), ..ACK };
            part.observe(&ack, &window);
            part.on_ack(&ack, &window)
        };
        rtts.into_iter().map(step).last().unwrap()
    }

    /// The same for eight ACKs with one round-trip time.
    fn eight(part: &mut dyn SlowStart, round: u64, rtt: u64) -> Step {
        acknowledge(part, round, [rtt; 8])
    }

    const FAST: Step = Step::Grow(1.0);
    const SLOW: Step = Step::Grow(0.25);

    #[test]
    fn a_rise_by_an_eighth_between_4_and_16_milliseconds_counts() {
        // The previous round, and the least rise: an eighth, at least 4 ms, at most 16 ms.
        for (last, rise) in [(10, 4), (32, 4), (80, 10), (128, 16), (500, 16)] {
            for (more, step) in [(rise - 1, FAST), (rise, SLOW)] {
                let mut part = hystart(&[]);
                eight(&mut *part, 0, last);
                assert_eq!(eight(&mut *part, 1, last + more), step, "{last} ms, then {more} ms more");
            }
        }
    }

    #[test]
    fn a_round_decides_by_the_smallest_of_eight_samples() {
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 40);
        assert_eq!(acknowledge(&mut *part, 1, [60; 7]), FAST, "seven are too few");
        assert_eq!(acknowledge(&mut *part, 1, [60]), SLOW);
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 40);
        assert_eq!(acknowledge(&mut *part, 1, [60, 60, 60, 44, 60, 60, 60, 60, 60]), FAST, "one sample is low");
        let mut part = hystart(&[]);
        part.observe(&Ack { round: 0, ..ACK }, &window(100.0));
        assert_eq!(eight(&mut *part, 1, 60), FAST, "no previous round to compare with");
        let mut part = hystart(&[("n_rtt_sample", Value::Number(2.0))]);
        acknowledge(&mut *part, 0, [40]);
        assert_eq!(acknowledge(&mut *part, 1, [60; 2]), SLOW);
    }

    #[test]
    fn slow_start_ends_after_five_rounds_of_css() {
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 40);
        // CSS begins in round 1, which counts.
        for round in 1..6 {
            assert_eq!(eight(&mut *part, round, 60), SLOW, "round {round}");
        }
        assert_eq!(internal(|out| part.internals(out), "phase"), 1.0);
        assert_eq!(acknowledge(&mut *part, 6, [60]), Step::Exit { ssthresh: 100.0 });
        assert_eq!(internal(|out| part.internals(out), "phase"), 2.0);
    }

    #[test]
    fn slow_start_resumes_when_the_rise_was_jitter() {
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 40);
        assert_eq!(eight(&mut *part, 1, 60), SLOW);
        assert_eq!(acknowledge(&mut *part, 2, [59; 7]), SLOW, "seven are too few");
        assert_eq!(acknowledge(&mut *part, 2, [59]), FAST);
        assert_eq!(internal(|out| part.internals(out), "last_round_min_rtt"), 0.06);
        assert_eq!(internal(|out| part.internals(out), "current_round_min_rtt"), 0.059);
        // Slow start resumes with HyStart++: a later rise over the last round starts all five rounds again.
        for round in 3..8 {
            assert_eq!(eight(&mut *part, round, 67), SLOW, "round {round}");
        }
        assert_eq!(acknowledge(&mut *part, 8, [67]), Step::Exit { ssthresh: 100.0 });
    }

    #[test]
    fn byte_counting_up_to_l() {
        let grown = |set: &[(&str, Value)], css| {
            let mut part = hystart(set);
            eight(&mut *part, 0, 40);
            eight(&mut *part, 1, if css { 60 } else { 40 });
            part.on_ack(&Ack { round: 1, counted: 20.0, ..ACK }, &window(100.0))
        };
        assert_eq!([grown(&[], false), grown(&[], true)], [Step::Grow(8.0), Step::Grow(2.0)]);
        let paced = [("l", Value::Number(1e9)), ("css_growth_divisor", Value::Number(2.0))];
        assert_eq!([grown(&paced, false), grown(&paced, true)], [Step::Grow(20.0), Step::Grow(10.0)]);
    }

    #[test]
    fn later_slow_starts_are_standard_by_default() {
        for (initial_only, step) in [(true, FAST), (false, SLOW)] {
            let mut part = hystart(&[("initial_only", Value::Bool(initial_only))]);
            eight(&mut *part, 0, 40);
            part.on_congestion(&congestion(Cause::Timeout, 100.0), &window(100.0));
            assert_eq!(eight(&mut *part, 1, 60), FAST, "the previous round belongs to another slow start");
            assert_eq!(eight(&mut *part, 2, 80), step);
        }
    }

    /// The steps at the ends of a round of `n` samples of 60 ms and one of `low` ms, after a round of 40 ms. CSS begins at the eighth.
    fn after_entry(set: &[(&str, Value)], n: usize, low: u64) -> [Step; 2] {
        let mut part = hystart(set);
        eight(&mut *part, 0, 40);
        [acknowledge(&mut *part, 1, vec![60; n]), acknowledge(&mut *part, 1, [low])]
    }

    #[test]
    fn the_samples_of_the_round_in_which_css_begins_end_it_unless_they_are_counted_anew() {
        assert_eq!(after_entry(&[], 8, 59), [SLOW, FAST]);
        let anew = [("reset_samples", Value::Bool(true))];
        assert_eq!(after_entry(&anew, 8, 59), [SLOW, SLOW], "one sample is not eight");
        assert_eq!(after_entry(&anew, 15, 59), [SLOW, FAST], "the eighth since CSS began");
    }

    #[test]
    fn the_threshold_as_baseline_keeps_css_while_the_delay_stays_above_it() {
        // 40 ms, and a rise of an eighth: 45 ms.
        let set = [("css_baseline", Value::Word("entry_threshold".to_owned()))];
        assert_eq!(after_entry(&set, 8, 46), [SLOW, SLOW]);
        assert_eq!(after_entry(&set, 8, 44), [SLOW, FAST]);
        // A delay that varies between 50 and 60 ms makes the RFC's form leave CSS in every other round; this one exits after five rounds.
        let fast_rounds = |set: &[(&str, Value)]| {
            let mut part = hystart(set);
            eight(&mut *part, 0, 40);
            (1..20).filter(|round| eight(&mut *part, *round, if round % 2 == 1 { 60 } else { 50 }) == FAST).count()
        };
        assert_eq!((fast_rounds(&[]), fast_rounds(&set)), (9, 14), "after the exit in round 6 growth is standard");
    }

    #[test]
    fn late_samples_count_unless_the_first_eight_decide() {
        let first = [("late_samples", Value::Bool(false))];
        assert_eq!(after_entry(&first, 8, 10), [SLOW, SLOW]);
        let mut part = hystart(&first);
        acknowledge(&mut *part, 0, [40; 8]);
        acknowledge(&mut *part, 0, [20; 8]);
        assert_eq!(internal(|out| part.internals(out), "current_round_min_rtt"), 0.04);
    }

    #[test]
    fn a_rise_from_100_to_120_ms_begins_css_at_the_eighth_sample_and_one_to_112_ms_never_does() {
        for (to, begins) in [(120, Some(8)), (112, None)] {
            let mut part = hystart(&[]);
            eight(&mut *part, 0, 100);
            assert_eq!((1..=40).find(|_| acknowledge(&mut *part, 1, [to]) == SLOW), begins);
        }
    }

    #[test]
    fn five_rounds_of_css_multiply_the_window_by_five_quarters_each() {
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 100);
        eight(&mut *part, 1, 120);
        // The round in which CSS begins is the first of the five, of which the entry may leave only a part. Four whole rounds follow.
        let mut cwnd = 1000.0;
        for round in 2..6 {
            for _ in 0..cwnd as u32 {
                let Step::Grow(by) = acknowledge(&mut *part, round, [120]) else { panic!("ends in round {round}") };
                cwnd += by;
            }
        }
        assert!((cwnd / 1000.0 - 1.25 * 1.25 * 1.25 * 1.25).abs() < 0.01, "{cwnd}");
        assert!(matches!(acknowledge(&mut *part, 6, [120]), Step::Exit { .. }));
    }

    #[test]
    fn acks_in_congestion_avoidance_do_not_count() {
        let mut part = hystart(&[]);
        eight(&mut *part, 0, 40);
        for _ in 0..8 {
            let ack = Ack { round: 1, rtt: Some(Duration::from_millis(60)), ..ACK };
            part.observe(&ack, &Window { cwnd: 100.0, ssthresh: 100.0 });
        }
        assert_eq!(internal(|out| part.internals(out), "phase"), 0.0);
        assert_eq!(internal(|out| part.internals(out), "current_round_min_rtt"), 0.04);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn never_before_six_rounds_and_never_without_a_rise(rounds in prop::collection::vec(20..60_u64, 1..40)) {
            let mut part = hystart(&[]);
            let ended = (0..rounds.len()).find(|round| {
                eight(&mut *part, *round as u64, rounds[*round]);
                internal(|out| part.internals(out), "phase") == 2.0
            });
            if let Some(round) = ended {
                // In the five rounds before the exit, none fell below the first, which had risen by at least 4 ms.
                prop_assert!(round >= 6, "ended in round {round}");
                let css = &rounds[round - 5..round];
                prop_assert!(css.iter().all(|rtt| *rtt >= css[0]), "{css:?}");
                prop_assert!(css[0] >= rounds[round - 6] + 4, "{} after {}", css[0], rounds[round - 6]);
            }
        }
    }
}
