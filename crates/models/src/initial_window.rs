//! Initial window: rounds and windows of short flows in slow start.
//! ## What it does
//! Flow sizes are distributed as p(s) ∝ e^(−s/μ), s = 1…θ segments. In a flow of size s, `E[S]ₛ` = (1−(1−q)^s)·(1−q)/q segments arrive
//! before the first loss. A window that starts at V and doubles every round delivers them in `E[T]ₛ` = log₂(`E[S]ₛ`/V + 1) rounds, the last
//! with a window of `E[W]ₛ` = (`E[S]ₛ` + V)/2. The outputs d (`rounds`) and l (`loss_window`) are the means over all sizes. `whole_rounds`
//! and `whole_window` are the exact counterparts, with whole rounds of V, 2V, 4V, … until a flow's end or first loss.
//! ## References
//! Aniemeka, *Transmission Control Protocol's initial congestion window for web latency reduction and speedy flows*, 2018, §3, equations 1
//! to 7, after Barik & Divakaran, *Evolution of TCP's initial window size*, 2013.
//! ## Differs from the document
//! Equation 1, (1/μ)·e^(−s/μ)/(e^(−1/μ) − e^(−θ/μ)), does not sum to 1, as the paper claims: it is a density on [1, θ], evaluated at whole
//! numbers. Its sum is `printed_sum`, 1.0508 for μ = 10, about 1 + 1/(2μ). Here the shares are divided by that sum; the printed means are
//! larger by this factor. Equation 4 has lost its fraction in print, "log 2 (`E[S]ₛ` ^V + 1)": n rounds carry V·(2ⁿ − 1) segments. Equation
//! 6 has 1 instead of V, which holds for V = 1 only; `start = "one"` selects the printed form.
//!
//! The logarithmic means are not means of whole rounds. A flow that fits into its first window takes one round, but log₂(s/V + 1) < 1: as V
//! grows, d approaches 0 and the true number of rounds 1. `E[W]ₛ` likewise assumes a full last round, and the lost segment itself is also
//! sent. The exact means follow with m = ⌊V·(2ⁿ − 1)⌋. `whole_rounds` is the sum over n ≥ 0 of P(s > m)·(1−q)^m. `whole_window` is the sum
//! of the same terms times 2^(n−1)·V, with V for n = 0. With the defaults:
//!
//! | V | d | whole rounds | l | whole window |
//! |---|---|---|---|---|
//! | 1 | 2.970 | 3.303 | 5.249 | 7.277 |
//! | 2 | 2.190 | 2.571 | 5.749 | 8.008 |
//! | 4 | 1.525 | 1.958 | 6.749 | 9.488 |
//! | 10 | 0.857 | 1.370 | 9.749 | 14.080 |
//! | 32 | 0.350 | 1.030 | 20.749 | 32.945 |
//! ## Parameters
//! `window`: 2 segments, the first of the paper's steps. `loss`: 1 %, `mu`: 10 segments and `theta`: 100 segments are examples, since the
//! paper gives no values. `rtt`: 100 ms. `start`: `initial`, so equation 6 starts from V.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::flow_sizes::{FlowSizes, MU, printed_sum};
use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "initial_window",
    summary: "rounds and final windows of short flows in slow start, by the initial window",
    reference: "Aniemeka, Transmission Control Protocol's initial congestion window for web latency reduction, 2018, equations 1 to 7",
    params: &[
        Param { name: "window", kind: Kind::Segments { min: 1.0, max: 1e6 }, default: Default::Number(2.0), doc: "initial window, V" },
        params::LOSS,
        MU,
        params::whole("theta", 100.0, (1.0, 1e6), "size of the largest flow in segments, θ"),
        params::RTT,
        Param {
            name: "start",
            kind: Kind::Word(&["initial", "one"]),
            default: Default::Word("initial"),
            doc: "starting window of equation 6: the initial window, or one segment, as printed",
        },
    ],
    outputs: OUTPUTS,
    axis: "window",
    simulated: false,
    slow: false,
    paper: Some("icw"),
    evaluate: |params| Ok(evaluate(params)),
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("rounds", "rounds", "d: mean rounds in slow start (equation 5)"),
    quantity("time", "s", "mean time in slow start"),
    quantity("loss_window", "segments", "l: mean window at the first loss (equation 7)"),
    quantity("whole_rounds", "rounds", "mean of whole rounds until a flow's end or first loss"),
    quantity("whole_time", "s", "mean time of these rounds"),
    quantity("whole_window", "segments", "mean window of the last of these rounds"),
    quantity("size", "segments", "mean size of a flow"),
    quantity("delivered", "segments", "mean of E[S]ₛ: segments delivered before the first loss"),
    quantity("lossless", "", "share of flows without loss"),
    quantity("printed_sum", "", "sum of the printed equation 1"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let [v, q, mu, theta, rtt] = ["window", "loss", "mu", "theta", "rtt"].map(|name| params.number(name));
    let sizes = FlowSizes::new(mu, theta);
    let start = if params.word("start") == "one" { 1.0 } else { v };
    let rounds = rounds(&sizes, v, q);
    let delivered = sizes.delivered(q);
    let (whole_rounds, whole_window) = whole(&sizes, v, q);
    vec![
        rounds,
        rounds * rtt,
        // Aniemeka eq. 6 and 7.
        f64::midpoint(delivered, start),
        whole_rounds,
        whole_rounds * rtt,
        whole_window,
        sizes.mean(q, |flow| flow.size),
        delivered,
        sizes.mean(q, |flow| flow.lossless),
        printed_sum(mu, theta),
    ]
}

/// Mean rounds in slow start from a window of `v`, d.
fn rounds(sizes: &FlowSizes, v: f64, q: f64) -> f64 {
    // Aniemeka eq. 4 and 5.
    sizes.mean(q, |flow| libm::log2(flow.delivered / v + 1.0))
}

/// Mean number of whole rounds, and mean window of the last round.
fn whole(sizes: &FlowSizes, v: f64, q: f64) -> (f64, f64) {
    let tails = sizes.tails();
    let (mut rounds, mut window, mut scale) = (0.0, 0.0, 1.0);
    loop {
        // A further round follows after n rounds if the flow is longer than V·(2ⁿ − 1) segments and none of them was lost.
        let sent = libm::floor(v * (scale - 1.0));
        let Some(longer) = tails.get(sent as usize) else { return (rounds, window) };
        let another = longer * libm::pow(1.0 - q, sent);
        rounds += another;
        window += another * v * if scale > 1.0 { scale / 2.0 } else { 1.0 };
        scale *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, compute, pick, with};
    use ackclock_core::params::Value;
    use ackclock_core::rng::Generator;
    use proptest::prelude::*;

    #[test]
    fn numbers_computed_elsewhere() {
        // V, d and l from an independent program, which evaluates the equations of the paper.
        for (v, d, l) in [
            (1.0, 2.969_647_327_696, 5.248_692_350_703),
            (2.0, 2.190_091_348_284, 5.748_692_350_703),
            (4.0, 1.525_256_482_521, 6.748_692_350_703),
            (10.0, 0.856_635_467_583, 9.748_692_350_703),
            (32.0, 0.350_302_109_768, 20.748_692_350_703),
        ] {
            let at = |name| compute(&ENTRY, &[("window", v)], name);
            assert_close(at("rounds"), d, 1e-11);
            assert_close(at("loss_window"), l, 1e-11);
            assert_close(at("time"), 0.1 * d, 1e-12);
        }
        assert_close(compute(&ENTRY, &[], "printed_sum"), 1.050_838, 1e-6);
    }

    #[test]
    fn one_size_by_hand() {
        // With such a small μ, all flows have one segment: E[S] = 1 − q.
        let one = [("mu", 0.01), ("loss", 0.25), ("window", 3.0)];
        let at = |name| compute(&ENTRY, &one, name);
        assert_close(at("rounds"), 1.25_f64.log2(), 1e-15);
        assert_close(at("loss_window"), 1.875, 1e-15);
        assert_eq!((at("whole_rounds"), at("whole_window"), at("size"), at("lossless")), (1.0, 3.0, 1.0, 0.75));
        // Sizes 1, 2, 3 have the shares 4/7, 2/7, 1/7. With V = 1, sizes 2 and 3 take a second round, of two segments.
        let halves = [("mu", 1.0 / std::f64::consts::LN_2), ("theta", 3.0), ("loss", 0.0), ("window", 1.0)];
        assert_close(compute(&ENTRY, &halves, "whole_rounds"), 10.0 / 7.0, 1e-15);
        assert_close(compute(&ENTRY, &halves, "whole_window"), 10.0 / 7.0, 1e-15);
        assert_close(compute(&ENTRY, &halves, "rounds"), (4.0 + 2.0 * 3.0_f64.log2() + 2.0) / 7.0, 1e-15);
    }

    #[test]
    fn the_printed_window_does_not_depend_on_the_initial_one() {
        let printed = |v| {
            let mut params = with(&ENTRY, &[("window", v)]);
            params.set("start", Value::Word("one".to_owned()));
            pick(&ENTRY, &params, "loss_window")
        };
        assert_eq!(printed(1.0), printed(32.0));
        assert_eq!(printed(10.0), compute(&ENTRY, &[("window", 1.0)], "loss_window"));
    }

    #[test]
    fn limits() {
        // Without loss, all segments of a flow arrive; the limit of small losses is continuous.
        let none = [("loss", 0.0)];
        assert_close(compute(&ENTRY, &none, "delivered"), compute(&ENTRY, &none, "size"), 1e-13);
        assert_close(compute(&ENTRY, &none, "lossless"), 1.0, 1e-14);
        assert_close(compute(&ENTRY, &[("loss", 1e-12)], "rounds"), compute(&ENTRY, &none, "rounds"), 1e-10);
        // One window holds every flow: the formula gives a fraction of a round, the exact count one round.
        assert!(compute(&ENTRY, &[("window", 1e6)], "rounds") < 1.5e-5);
        assert_close(compute(&ENTRY, &[("window", 100.0)], "whole_rounds"), 1.0, 1e-15);
        // With all packets lost, one round delivers nothing.
        assert_eq!(["rounds", "delivered", "whole_rounds"].map(|name| compute(&ENTRY, &[("loss", 1.0)], name)), [0.0, 0.0, 1.0]);
    }

    /// Means and standard errors of rounds and last window of `count` random flows, simulated segment by segment.
    fn drawn(v: f64, q: f64, count: u32) -> [(f64, f64); 2] {
        let mut random = Generator::derived(1, "initial window");
        let (mut sums, mut squares) = ([0.0; 2], [0.0; 2]);
        for _ in 0..count {
            // A size by inversion of the distribution function, limited to the range up to θ.
            let span = 1.0 - (-100.0_f64 / 10.0).exp();
            let size = (-10.0 * (1.0 - span * random.uniform()).ln()).ceil().max(1.0);
            let (mut window, mut rounds, mut left) = (v, 1.0, size);
            'flow: loop {
                for _ in 0..window.min(left) as u32 {
                    if random.uniform() < q {
                        break 'flow;
                    }
                }
                left -= window;
                if left <= 0.0 {
                    break;
                }
                (window, rounds) = (2.0 * window, rounds + 1.0);
            }
            for (place, value) in [rounds, window].into_iter().enumerate() {
                sums[place] += value;
                squares[place] += value * value;
            }
        }
        let count = f64::from(count);
        [0, 1].map(|place| {
            let mean = sums[place] / count;
            (mean, ((squares[place] / count - mean * mean) / count).sqrt())
        })
    }

    #[test]
    fn whole_rounds_are_those_of_drawn_flows_and_the_formula_is_below() {
        // V, q, and the relative shortfall of d and l.
        for (v, q, rounds, window) in
            [(1.0, 0.01, 0.10, 0.28), (4.0, 0.01, 0.22, 0.29), (10.0, 0.01, 0.37, 0.31), (32.0, 0.01, 0.66, 0.37), (4.0, 0.1, 0.29, 0.32)]
        {
            let at = |name| compute(&ENTRY, &[("window", v), ("loss", q)], name);
            for (name, (mean, error)) in ["whole_rounds", "whole_window"].into_iter().zip(drawn(v, q, 200_000)) {
                assert!((at(name) - mean).abs() < 4.5 * error, "V = {v}, {name}: {}, simulated {mean} ± {error}", at(name));
                assert!(error < 0.01 * mean, "{error}");
            }
            assert_close(1.0 - at("rounds") / at("whole_rounds"), rounds, 0.01);
            assert_close(1.0 - at("loss_window") / at("whole_window"), window, 0.01);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn larger_windows_take_fewer_rounds(v in 1.0..100.0_f64, more in 0.01..10.0_f64, q in 0.0..0.9_f64, mu in 0.1..50.0_f64) {
            let at = |v: f64, q: f64, name| compute(&ENTRY, &[("window", v), ("loss", q), ("mu", mu)], name);
            prop_assert!(at(v + more, q, "rounds") < at(v, q, "rounds"));
            prop_assert!(at(v + more, q, "whole_rounds") <= at(v, q, "whole_rounds"));
            prop_assert!((at(v + more, q, "loss_window") - at(v, q, "loss_window") - more / 2.0).abs() < 1e-12 * (v + more + 100.0));
            prop_assert!(at(v, q, "rounds") < at(v, q, "whole_rounds"), "d is below the exact mean");
            let worse = q + 0.1 * (1.0 - q);
            prop_assert!(at(v, worse, "rounds") < at(v, q, "rounds"));
            prop_assert!(at(v, worse, "delivered") < at(v, q, "delivered"));
        }
    }
}
