//! Buffers: the bandwidth-delay product, recommended buffer sizes, and the cost of smaller buffers.
//! ## What it does
//! Computes the bandwidth-delay product (BDP), the rule-of-thumb buffer C·RTT, and C·RTT/√n for n desynchronised flows. It also computes
//! the share of the link that one AIMD flow uses with a given buffer, from the areas of the window's sawtooth.
//! ## References
//! Villamizar & Song, *High performance TCP in ANSNET*, 1994 (rule of thumb); Appenzeller, Keslassy & `McKeown`, *Sizing router buffers*,
//! 2004, §2 (one flow: C·RTT keeps the link busy) and §3 (C·RTT/√n).
//! ## Differs from the document
//! The utilisation is our own fluid model: the window grows by one packet per round trip from beta·(BDP + B) to BDP + B. Below the BDP, a
//! round trip takes RTT and the link is partly idle. Above it, queueing extends the round trip and the link is busy. With halving, B = 0
//! gives 3/4 and B = BDP gives 1.
//! ## Parameters
//! `buffer`: one BDP, the rule of thumb. `rate`: 10 Mbit/s and `rtt`: 100 ms, without queueing, are examples. `packet_size`: 1040 B, the
//! scenario's packets with headers. `flows`: 1. `beta`: 0.5, the share of the window that remains after a loss.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "bdp",
    summary: "bandwidth-delay product, buffer sizes, and the utilisation of one AIMD flow",
    reference: "Appenzeller, Keslassy & McKeown, Sizing router buffers, 2004",
    params: &[
        Param {
            name: "buffer",
            kind: Kind::Segments { min: 0.0, max: 1e12 },
            default: Default::Auto,
            doc: "buffer in packets; auto: one bandwidth-delay product",
        },
        Param { name: "rate", kind: Kind::Rate { min: 1.0, max: 1e15 }, default: Default::Number(1e7), doc: "rate of the bottleneck" },
        Param { doc: "round-trip time without queueing", ..params::RTT },
        params::WIRE_SIZE,
        params::whole("flows", 1.0, (1.0, 1e9), "number of desynchronised flows that share the buffer"),
        params::plain("beta", 0.5, (0.0, 0.999_999), "share of the window that remains after a loss"),
    ],
    outputs: OUTPUTS,
    axis: "buffer",
    simulated: false,
    slow: false,
    paper: None,
    evaluate: |params| Ok(evaluate(params)),
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("bdp", "B", "bandwidth-delay product"),
    quantity("bdp_packets", "packets", "bandwidth-delay product in packets"),
    quantity("rule_of_thumb", "packets", "buffer with which one flow that halves its window keeps the link busy"),
    quantity("sqrt_n", "packets", "rule of thumb divided by the square root of the number of flows"),
    quantity("utilisation", "", "share of the link that one AIMD flow uses with this buffer"),
    quantity("full_buffer", "packets", "smallest buffer with which one AIMD flow uses all of the link"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let bytes = params.number("rate") * params.number("rtt") / 8.0;
    let (bdp, beta) = (bytes / params.number("packet_size"), params.number("beta"));
    let buffer = params.number_or_auto("buffer").unwrap_or(bdp);
    // beta·(BDP + B) ≥ BDP.
    let full = if beta == 0.0 { f64::INFINITY } else { bdp * (1.0 - beta) / beta };
    vec![bytes, bdp, bdp, bdp / libm::sqrt(params.number("flows")), utilisation(buffer / bdp, beta), full]
}

/// Share of the link used with a `buffer` in bandwidth-delay products. Windows are in units of the BDP, times in units of RTT.
fn utilisation(buffer: f64, beta: f64) -> f64 {
    let (top, bottom) = (1.0 + buffer, beta * (1.0 + buffer));
    if bottom >= 1.0 {
        return 1.0;
    }
    // The window grows by one packet per round trip: W packets are sent while it grows from W to W + 1.
    let sent = (top * top - bottom * bottom) / 2.0;
    // Below the BDP each round trip takes RTT; above it W/C, the time in which the link sends W packets.
    let time = (1.0 - bottom) + (top * top - 1.0) / 2.0;
    sent / time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, compute};
    use proptest::prelude::*;

    #[test]
    fn known_points() {
        let path = [("rate", 1e7), ("rtt", 0.06), ("packet_size", 1000.0), ("flows", 100.0)];
        let at = |name| compute(&ENTRY, &path, name);
        assert_close(at("bdp"), 75_000.0, 1e-9);
        assert_close(at("bdp_packets"), 75.0, 1e-12);
        assert_close(at("rule_of_thumb"), 75.0, 1e-12);
        assert_close(at("sqrt_n"), 7.5, 1e-12);
        assert_eq!(at("utilisation"), 1.0);
        let without = compute(&ENTRY, &[("buffer", 0.0)], "utilisation");
        assert_close(without, 0.75, 1e-12);
        // Appenzeller §1: a 10 Gb/s link with an RTT of 250 ms needs 2.5 Gbit.
        assert_close(compute(&ENTRY, &[("rate", 1e10), ("rtt", 0.25)], "bdp") * 8.0, 2.5e9, 1e-3);
    }

    #[test]
    fn utilisation_by_counting_rounds() {
        // BDP 1000 packets, buffer 200, beta 0.5: the window grows from 600 to 1200 by one packet per round trip.
        let (bdp, mut sent, mut time) = (1000.0_f64, 0.0, 0.0);
        for window in 600..1200 {
            let window = f64::from(window) + 0.5;
            sent += window;
            time += window.max(bdp);
        }
        let settings = [("rate", 8e6), ("rtt", 1.0), ("packet_size", 1000.0), ("buffer", 200.0)];
        assert_close(compute(&ENTRY, &settings, "utilisation"), sent / time, 1e-6);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_larger_buffer_never_hurts(buffer in 0.0..5.0_f64, more in 0.0..1.0_f64, beta in 0.0..0.99_f64) {
            let (small, large) = (utilisation(buffer, beta), utilisation(buffer + more, beta));
            prop_assert!(large >= small - 1e-12 && small > 0.0 && large <= 1.0);
            prop_assert_eq!(utilisation(1.0 / beta.max(1e-3) - 1.0 + 1e-9, beta.max(1e-3)), 1.0);
        }
    }
}
