//! Growth: the window over time without a loss, by TCP/EXP's closed form, beside binomial control.
//! ## What it does
//! Gives the window that congestion avoidance reaches after a time if nothing is lost: that of TCP/EXP, which adds (alpha/e^W)^k in a round
//! trip (equation 6), and that of binomial control, which adds a/W^m.
//! ## References
//! Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control algorithm*, 2009, equations 3 to 6 and figure 1;
//! Bansal & Balakrishnan, *Binomial congestion control algorithms*, INFOCOM 2001.
//! ## Differs from the document
//! Equation 6 leaves the constant of integration out: W(t) = ln(k·alpha^k·t/R)/k is below any first window for a while, and −∞ at t = 0. It
//! is the output `printed`. `window` has the constant that starts it at `start`: ln(e^(k·W₀) + k·alpha^k·t/R)/k. Equation 5 prints e^(k·W) in
//! place of k·W. Both are of growth per round trip, equation 2; growth per ACK, which §4 describes, is faster and has no such closed form.
//! Binomial's window is the same integral of a/W^m: (W₀^(m+1) + (m+1)·a·t/R)^(1/(m+1)). Growth in steps lags behind the integrals at first.
//! ## Parameters
//! `time`: 100 s. `rtt`: 100 ms. `start`: 2 segments. `alpha`: 1 and `k`: 0.23, the avoidance `exponential`'s, ours. `increase`: 0.75 and
//! `power`: 0.5, the avoidance `binomial`'s SQRT.

use crate::analytic::{Model, params};
use crate::entry::{Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "growth",
    summary: "window over time without a loss: TCP/EXP (equation 6) and binomial control",
    reference: "Kalpana & Purusothaman, Performance evaluation of exponential TCP/IP congestion control algorithm, equation 6",
    params: &[
        Param {
            name: "time",
            kind: Kind::Duration { min: 0.0, max: 1e9 },
            default: Default::Number(100.0),
            doc: "how long the window has grown",
        },
        params::RTT,
        params::plain("start", 2.0, (1.0, 1e6), "window at time 0 in segments"),
        params::plain("alpha", 1.0, (1e-100, 1e100), "factor of TCP/EXP's growth; the paper prints no value"),
        params::plain("k", 0.23, (1e-6, 10.0), "power of TCP/EXP's growth; the paper prints no value"),
        params::plain("increase", 0.75, (0.0, 16.0), "factor of binomial's growth: SQRT's"),
        params::plain("power", 0.5, (0.0, 16.0), "power of binomial's growth: SQRT's"),
    ],
    outputs: OUTPUTS,
    axis: "time",
    simulated: false,
    slow: false,
    paper: Some("exp"),
    evaluate: |params| Ok(evaluate(params)),
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("window", "segments", "TCP/EXP: equation 6 with the constant of integration"),
    quantity("printed", "segments", "TCP/EXP: equation 6 as printed, without it"),
    quantity("binomial", "segments", "binomial control"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let [time, rtt, start, alpha, k] = ["time", "rtt", "start", "alpha", "k"].map(|name| params.number(name));
    let [increase, power] = ["increase", "power"].map(|name| params.number(name));
    let rounds = time / rtt;
    // Of logarithms, so that no exponential overflows: ln(e^a + e^b) = max + ln(1 + e^(min − max)).
    let (first, grown) = (k * start, libm::log(k) + k * libm::log(alpha) + libm::log(rounds));
    let sum = first.max(grown) + libm::log1p(libm::exp(-(first - grown).abs()));
    let window = if rounds == 0.0 { start } else { sum / k };
    // Kalpana & Purusothaman eq. 6.
    let printed = grown / k;
    let exponent = power + 1.0;
    let binomial = libm::pow(libm::pow(start, exponent) + exponent * increase * rounds, exponent.recip());
    vec![window, printed, binomial]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::compute;
    use crate::testing::assert_close;

    #[test]
    fn equation_6_by_hand() {
        // 1000 round trips: ln(0.23·1000)/0.23, and with e^0.46 = 1.584 from two segments on.
        assert_close(compute(&ENTRY, &[], "printed"), 230.0_f64.ln() / 0.23, 1e-12);
        assert_close(compute(&ENTRY, &[], "window"), (0.46_f64.exp() + 230.0).ln() / 0.23, 1e-12);
        // alpha moves the curve along W by its logarithm, up to where it starts.
        let moved = compute(&ENTRY, &[("alpha", 5.0_f64.exp())], "printed") - compute(&ENTRY, &[], "printed");
        assert_close(moved, 5.0, 1e-9);
    }

    #[test]
    fn both_solve_their_differential_equations() {
        for (name, rate) in [("window", (|w: f64| (-0.23 * w).exp()) as fn(f64) -> f64), ("binomial", |w| 0.75 / w.sqrt())] {
            let at = |time: f64| compute(&ENTRY, &[("time", time), ("rtt", 0.1)], name);
            for time in [1.0, 10.0, 100.0] {
                let slope = (at(time * 1.0001) - at(time * 0.9999)) / (0.0002 * time / 0.1);
                assert_close(slope / rate(at(time)), 1.0, 1e-6);
            }
        }
    }

    #[test]
    fn the_ends_of_time() {
        for name in ["window", "binomial"] {
            assert_close(compute(&ENTRY, &[("time", 0.0)], name), 2.0, 1e-12);
        }
        assert_eq!(compute(&ENTRY, &[("time", 0.0)], "printed"), f64::NEG_INFINITY);
        assert_close(compute(&ENTRY, &[("power", 0.0), ("increase", 1.0)], "binomial"), 1002.0, 1e-9);
    }
}
