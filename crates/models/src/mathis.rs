//! Mathis: throughput of congestion avoidance by the square root of the loss rate.
//! ## What it does
//! The window forms a sawtooth between W/2 and W with one lost packet per cycle. The mean window is therefore C/√p packets, and the
//! throughput is packet size · C/(RTT·√p). The model assumes that only losses limit the window and that no timeout occurs.
//! ## References
//! Mathis, Semke, Mahdavi & Ott, *The macroscopic behavior of the TCP congestion avoidance algorithm*, 1997, equation 3 and §2. For
//! periodic loss, C is √(3/2) if every packet is acknowledged and √(3/4) with delayed ACKs. For random loss the paper's table has 1.31 and
//! 0.93.
//! ## Differs from the document
//! For b packets per ACK, C is √(3/(2b)), which includes the paper's two values.
//! ## Parameters
//! `loss`: 1 %, `rtt`: 100 ms and `packet_size`: 1000 B, the scenario's default, are examples. `b`: 1, so every packet is acknowledged.
//! `constant`: from `b`. A value of 1 gives the formula that some papers print, among them the paper behind `rbt`.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "mathis",
    summary: "throughput by the square root of the loss rate, without timeouts",
    reference: "Mathis, Semke, Mahdavi & Ott, The macroscopic behavior of the TCP congestion avoidance algorithm, equation 3",
    params: &[
        params::LOSS,
        params::RTT,
        params::PACKET_SIZE,
        params::B,
        Param {
            name: "constant",
            kind: Kind::Number { min: 1e-6, max: 1e6 },
            default: Default::Auto,
            doc: "C; auto: √(3/(2b)), that is 1.22 for b = 1",
        },
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
    quantity("throughput", "bit/s", "packet size · C/(RTT·√p)"),
    quantity("window", "packets", "mean window, C/√p"),
    quantity("c", "", "C"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let constant = params.number_or_auto("constant").unwrap_or_else(|| libm::sqrt(1.5 / params.number("b")));
    let window = constant / libm::sqrt(params.number("loss"));
    // Mathis eq. 3.
    let throughput = 8.0 * params.number("packet_size") * window / params.number("rtt");
    vec![throughput, window, constant]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, compute};
    use proptest::prelude::*;

    #[test]
    fn the_papers_constants() {
        assert_close(compute(&ENTRY, &[], "c"), 1.22, 0.005);
        assert_close(compute(&ENTRY, &[("b", 2.0)], "c"), 0.87, 0.005);
        assert_eq!(compute(&ENTRY, &[("constant", 1.0), ("b", 2.0)], "c"), 1.0);
    }

    #[test]
    fn throughput_by_hand() {
        // 1500 B · 1/(0.0249 s · 0.1) = 602 409.6 B/s.
        let settings = [("loss", 0.01), ("rtt", 0.0249), ("packet_size", 1500.0), ("constant", 1.0)];
        assert_close(compute(&ENTRY, &settings, "throughput"), 8.0 * 602_409.638_554, 1e-3);
        assert_eq!(compute(&ENTRY, &[("loss", 0.0)], "throughput"), f64::INFINITY);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn scales_with_its_dimensions(loss in 1e-9..1.0_f64, rtt in 1e-4..10.0_f64, size in 1.0..1e5_f64, k in 0.1..10.0_f64) {
            let at = |loss, rtt, size| compute(&ENTRY, &[("loss", loss), ("rtt", rtt), ("packet_size", size)], "throughput");
            let base = at(loss, rtt, size);
            prop_assert!((at(loss, k * rtt, k * size) / base - 1.0).abs() < 1e-12);
            prop_assert!((at(loss / (k * k), rtt, size) / base / k - 1.0).abs() < 1e-12);
        }
    }
}
