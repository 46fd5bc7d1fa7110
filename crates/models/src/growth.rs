//! Growth: the window over time without losses, by TCP/EXP's closed form and for binomial control.
//! ## What it does
//! Computes the window that congestion avoidance reaches after a time without losses. TCP/EXP adds (alpha/e^W)^k per round trip (equation
//! 6); binomial control adds a/W^m.
//! ## References
//! Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control algorithm*, 2009, equations 3 to 6 and figure
//! 1; Bansal & Balakrishnan, *Binomial congestion control algorithms*, INFOCOM 2001.
//! ## Differs from the document
//! Equation 6 omits the constant of integration: W(t) = ln(k·alpha^k·t/R)/k is below any initial window at first, and −∞ at t = 0. The
//! output `printed` follows it. The output `window` includes the constant for an initial window of `start`: ln(e^(k·W₀) + k·alpha^k·t/R)/k.
//! Equation 5 prints e^(k·W) in place of k·W. Both outputs assume growth per round trip, as in equation 2. Growth per ACK, as in §4, is
//! faster and has no such closed form.
//!
//! The binomial window is the same integral of a/W^m: (W₀^(m+1) + (m+1)·a·t/R)^(1/(m+1)). Growth in discrete steps lags behind both
//! integrals at first.
//! ## Parameters
//! `time`: 100 s. `rtt`: 100 ms. `start`: 2 segments. `alpha`: 1 and `k`: 0.23, our values in the avoidance `exponential`. `increase`: 0.75
//! and `power`: 0.5, those of SQRT in the avoidance `binomial`.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

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
            doc: "time since the start of growth",
        },
        params::RTT,
        params::plain("start", 2.0, (1.0, 1e6), "window at time 0, in segments"),
        params::plain("alpha", 1.0, (1e-100, 1e100), "factor of TCP/EXP's growth; the paper prints no value"),
        params::plain("k", 0.23, (1e-6, 10.0), "exponent of TCP/EXP's growth; the paper prints no value"),
        params::plain("increase", 0.75, (0.0, 16.0), "factor of binomial growth; SQRT's value"),
        params::plain("power", 0.5, (0.0, 16.0), "exponent of binomial growth; SQRT's value"),
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
    quantity("window", "segments", "TCP/EXP, equation 6 with the constant of integration"),
    quantity("printed", "segments", "TCP/EXP, equation 6 as printed, without the constant"),
    quantity("binomial", "segments", "binomial control"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let [time, rtt, start, alpha, k] = ["time", "rtt", "start", "alpha", "k"].map(|name| params.number(name));
    let [increase, power] = ["increase", "power"].map(|name| params.number(name));
    let rounds = time / rtt;
    // Computed from logarithms to avoid overflow: ln(e^a + e^b) = max + ln(1 + e^(min − max)).
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
    use crate::testing::{assert_close, compute};

    #[test]
    fn equation_6_by_hand() {
        // 1000 round trips give ln(0.23·1000)/0.23. A start at two segments adds e^0.46 = 1.584 to the argument.
        assert_close(compute(&ENTRY, &[], "printed"), 230.0_f64.ln() / 0.23, 1e-12);
        assert_close(compute(&ENTRY, &[], "window"), (0.46_f64.exp() + 230.0).ln() / 0.23, 1e-12);
        // alpha shifts the curve by ln(alpha) along W, except for its start.
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
