//! Response functions: the mean window of a congestion control by the loss rate.
//! ## What it does
//! Computes the mean window of a congestion control at loss rate p, one loss per 1/p packets, and the resulting throughput. The laws are
//! AIMD, with Reno as a special case, CUBIC with its Reno-friendly region, and `HighSpeed` TCP.
//! ## References
//! RFC 9438 §4.3 (mean window of AIMD) and §5 (mean window of CUBIC, tables 1 and 2); RFC 3649 §5 (`HighSpeed`: 0.12/p^0.835 above 38
//! packets); RFC 5681 (Reno).
//! ## Differs from the document
//! For Reno, RFC 9438 and RFC 3649 tabulate 1.2/√p; the model uses √(3/2) = 1.2247 unrounded. As in the tables, the CUBIC window is the
//! larger of its cubic function and Reno's window, since RFC 9438 §4.3 chooses alpha such that both AIMD windows are equal.
//! ## Parameters
//! `law`: reno. `loss`: 1 %, `rtt`: 100 ms and `packet_size`: 1000 B are examples; only CUBIC's window depends on `rtt`. `alpha`: 1 packet
//! per round trip and `beta`: 0.5, Reno's values, for `aimd`. `c`: 0.4 and `cubic_beta`: 0.7, from RFC 9438 §5 and §4.6.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "response",
    summary: "mean window and throughput of Reno, AIMD, CUBIC and HighSpeed by the loss rate",
    reference: "RFC 9438 §5, RFC 3649 §5",
    params: &[
        params::LOSS,
        Param {
            name: "law",
            kind: Kind::Word(&["reno", "aimd", "cubic", "highspeed"]),
            default: Default::Word("reno"),
            doc: "congestion control",
        },
        params::RTT,
        params::PACKET_SIZE,
        params::plain("alpha", 1.0, (1e-6, 1e6), "packets that aimd adds per round trip"),
        params::plain("beta", 0.5, (0.0, 0.999_999), "share of the window that remains after a loss with aimd"),
        params::plain("c", 0.4, (1e-6, 1e6), "growth constant of cubic, C, in packets per second cubed"),
        params::plain("cubic_beta", 0.7, (0.0, 0.999_999), "share of the window that remains after a loss with cubic"),
    ],
    outputs: OUTPUTS,
    axis: "loss",
    simulated: false,
    slow: false,
    paper: None,
    evaluate: |params| Ok(evaluate(params)),
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("window", "packets", "mean window"),
    quantity("throughput", "bit/s", "mean window times packet size per round-trip time"),
    quantity("reno_ratio", "", "mean window relative to Reno at the same loss rate"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let (p, rtt) = (params.number("loss"), params.number("rtt"));
    let reno = aimd(p, 1.0, 0.5);
    let window = match params.word("law") {
        "aimd" => aimd(p, params.number("alpha"), params.number("beta")),
        "cubic" => cubic(p, rtt, params.number("c"), params.number("cubic_beta")).max(reno),
        // RFC 3649 §5: below 38 packets, where p exceeds 10^−3, HighSpeed equals Reno, whose window is larger there.
        "highspeed" => highspeed(p).max(reno),
        _ => reno,
    };
    let ratio = if p == 0.0 { f64::NAN } else { window / reno };
    vec![window, 8.0 * params.number("packet_size") * window / rtt, ratio]
}

/// Mean window of AIMD that adds `alpha` packets per round trip and retains `beta` of the window after a loss.
fn aimd(p: f64, alpha: f64, beta: f64) -> f64 {
    // RFC 9438 §4.3, AVG_AIMD.
    libm::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * p))
}

/// Mean window of CUBIC outside its Reno-friendly region.
fn cubic(p: f64, rtt: f64, c: f64, beta: f64) -> f64 {
    // RFC 9438 §5, AVG_W_cubic: (C·(3+beta)/(4·(1−beta)))^¼ · (RTT/p)^¾.
    let fourth = |x: f64| libm::sqrt(libm::sqrt(x));
    let cubed = |x: f64| x * x * x;
    fourth(c * (3.0 + beta) / (4.0 * (1.0 - beta))) * cubed(fourth(rtt / p))
}

/// Mean window of `HighSpeed` TCP above 38 packets.
fn highspeed(p: f64) -> f64 {
    // RFC 3649 §5.
    0.12 / libm::pow(p, 0.835)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{pick, with};
    use ackclock_core::params::Value;
    use proptest::prelude::*;

    fn window(law: &str, settings: &[(&str, f64)]) -> f64 {
        let mut params = with(&ENTRY, settings);
        params.set("law", Value::Word(law.to_owned()));
        pick(&ENTRY, &params, "window")
    }

    /// A table row: p as a power of ten, and the mean windows.
    type Row = (i32, [f64; 5]);

    /// RFC 9438 tables 1 (RTT 0.1 s) and 2 (0.01 s): p as a power of ten; windows of Reno, `HighSpeed`, and CUBIC with C = 0.04, 0.4 and 4.
    const TABLES: [(f64, &[Row]); 2] = [
        (
            0.1,
            &[
                (-2, [12.0, 12.0, 12.0, 12.0, 12.0]),
                (-3, [38.0, 38.0, 38.0, 38.0, 59.0]),
                (-4, [120.0, 263.0, 120.0, 187.0, 333.0]),
                (-5, [379.0, 1795.0, 593.0, 1054.0, 1874.0]),
                (-6, [1200.0, 12_279.0, 3332.0, 5926.0, 10_538.0]),
                (-7, [3795.0, 83_981.0, 18_740.0, 33_325.0, 59_261.0]),
                (-8, [12_000.0, 574_356.0, 105_383.0, 187_400.0, 333_250.0]),
            ],
        ),
        (
            0.01,
            &[
                (-2, [12.0, 12.0, 12.0, 12.0, 12.0]),
                (-3, [38.0, 38.0, 38.0, 38.0, 38.0]),
                (-4, [120.0, 263.0, 120.0, 120.0, 120.0]),
                (-5, [379.0, 1795.0, 379.0, 379.0, 379.0]),
                (-6, [1200.0, 12_279.0, 1200.0, 1200.0, 1874.0]),
                (-7, [3795.0, 83_981.0, 3795.0, 5926.0, 10_538.0]),
                (-8, [12_000.0, 574_356.0, 18_740.0, 33_325.0, 59_261.0]),
            ],
        ),
    ];

    #[test]
    fn the_tables_of_rfc_9438() {
        for (rtt, rows) in TABLES {
            for (power, expected) in rows {
                let path = [("loss", 10.0_f64.powi(*power)), ("rtt", rtt)];
                let reno = window("reno", &path);
                let columns = [("highspeed", 0.4), ("cubic", 0.04), ("cubic", 0.4), ("cubic", 4.0)];
                let computed = columns.map(|(law, c)| window(law, &[&path[..], &[("c", c)]].concat()));
                for (ours, theirs) in std::iter::once(reno).chain(computed).zip(expected) {
                    // If Reno's window is the larger one, the RFC has 1.2/√p instead of 1.2247/√p.
                    let rounded = if ours <= reno { ours * 1.2 / 1.5_f64.sqrt() } else { ours };
                    // The RFC rounds or truncates the last digit.
                    assert!((rounded - theirs).abs() <= 1.0_f64.max(2e-5 * theirs), "RTT {rtt}, p 10^{power}: {rounded}, not {theirs}");
                }
            }
        }
    }

    #[test]
    fn cubics_alpha_makes_its_aimd_equal_to_reno() {
        // RFC 9438 §4.3: alpha = 3·(1−beta)/(1+beta).
        for beta in [0.5_f64, 0.7, 0.9] {
            let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
            let ratio = window("aimd", &[("alpha", alpha), ("beta", beta)]) / window("reno", &[]);
            assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        }
    }

    #[test]
    fn reno_is_the_formula_of_mathis() {
        let mathis = crate::testing::compute(&crate::mathis::ENTRY, &[("loss", 0.003)], "window");
        assert!((window("reno", &[("loss", 0.003)]) / mathis - 1.0).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn windows_shrink_with_losses(loss in 1e-12..1.0_f64, factor in 1.0..10.0_f64, rtt in 1e-3..1.0_f64) {
            for law in ["reno", "aimd", "cubic", "highspeed"] {
                let at = |loss: f64| window(law, &[("loss", loss.min(1.0)), ("rtt", rtt)]);
                prop_assert!(at(loss * factor) <= at(loss) * (1.0 + 1e-12), "{law}");
            }
        }
    }
}
