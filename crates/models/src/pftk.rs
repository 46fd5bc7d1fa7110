//! PFTK: throughput of TCP Reno with timeouts and a limited window.
//! ## What it does
//! Models TCP Reno in rounds of one round-trip time. Losses within a round are correlated; losses in different rounds are independent. The
//! full model combines cycles that end in triple duplicate ACKs with cycles that end in timeouts, which double up to 64 · T0. The
//! approximation is the widely used short formula.
//! ## References
//! Padhye, Firoiu, Towsley & Kurose, *Modeling TCP throughput: a simple model and its empirical validation*, 1998, equations 30 to 33: §2.1
//! (mean window), §2.2 (probability and duration of timeouts), §2.3 (limited window; full model and approximation).
//! ## Differs from the document
//! Numerator and denominator are multiplied by 1 − p, so p = 1 gives the limit: one packet in G(1) = 64 T0. Windows below 1 packet count as
//! one. With windows of up to 3 packets every loss leads to a timeout; the closed form of the timeout probability, used for larger windows,
//! has the same value at 3.
//!
//! As in the paper, the full model is continuous at the receiver's window limit only for b = 2. For b = 1 it is lower on the limited side,
//! by a quarter of a round trip in b/2·W + 1.
//! ## Parameters
//! `loss`: 1 %. `rtt`: 100 ms. `packet_size`: 1000 B. `b`: 1, as with the hosts here; the paper uses 2, delayed ACKs. `rto`: 1 s, the
//! paper's T0 and the minimum of RFC 6298. `rwnd`: no limit by default, the paper's `W_max`.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "pftk",
    summary: "throughput of Reno with timeouts and a limited window",
    reference: "Padhye, Firoiu, Towsley & Kurose, Modeling TCP throughput: a simple model and its empirical validation, 1998",
    params: &[
        params::LOSS,
        params::RTT,
        params::PACKET_SIZE,
        params::B,
        Param {
            name: "rto",
            kind: Kind::Duration { min: 1e-9, max: 1e6 },
            default: Default::Number(1.0),
            doc: "first retransmission timeout, T0",
        },
        Param {
            name: "rwnd",
            kind: Kind::Segments { min: 1.0, max: 1e12 },
            default: Default::Auto,
            doc: "largest window, W_max; auto: no limit",
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
    quantity("throughput", "bit/s", "send rate of the full model"),
    quantity("approximation", "bit/s", "send rate of the short formula"),
    quantity("window", "packets", "mean unlimited window at the end of a cycle, E[W]"),
    quantity("timeout_probability", "", "probability that a loss leads to a timeout, Q"),
];

/// The inputs of the formulas, in packets and seconds.
struct Path {
    p: f64,
    rtt: f64,
    b: f64,
    rto: f64,
    rwnd: f64,
}

fn evaluate(params: &Params) -> Vec<f64> {
    let [p, rtt, b, rto] = ["loss", "rtt", "b", "rto"].map(|name| params.number(name));
    let path = Path { p, rtt, b, rto, rwnd: params.number_or_auto("rwnd").unwrap_or(f64::INFINITY) };
    let bits = 8.0 * params.number("packet_size");
    let window = path.window();
    vec![bits * path.full(), bits * path.approximation(), window, path.timeout_probability(window.min(path.rwnd))]
}

impl Path {
    /// Mean unlimited window at the end of a cycle.
    fn window(&self) -> f64 {
        // Padhye §2.1.
        let offset = (2.0 + self.b) / (3.0 * self.b);
        (offset + libm::sqrt(8.0 * (1.0 - self.p) / (3.0 * self.b * self.p) + offset * offset)).max(1.0)
    }

    /// Probability that a loss in a window of `w` leads to a timeout.
    fn timeout_probability(&self, w: f64) -> f64 {
        let q = 1.0 - self.p;
        if w <= 3.0 || q == 0.0 {
            return 1.0;
        }
        if self.p == 0.0 {
            return 3.0 / w; // the limit
        }
        // Padhye §2.2. −expm1(n·ln q) preserves the precision of 1 − q^n for small p.
        let lost = |n: f64| -libm::expm1(n * libm::log1p(-self.p));
        (lost(3.0) * (1.0 + q * q * q * lost(w - 3.0)) / lost(w)).min(1.0)
    }

    /// Send rate of the full model in packets per second.
    fn full(&self) -> f64 {
        if self.p == 0.0 {
            return self.rwnd / self.rtt;
        }
        let (p, q) = (self.p, 1.0 - self.p);
        let free = self.window();
        let limited = free >= self.rwnd;
        let w = free.min(self.rwnd);
        // Padhye §2.2: 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶.
        let backoff = [32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 1.0].into_iter().fold(0.0, |sum, factor| sum * p + factor);
        let timeout = self.timeout_probability(w);
        // Padhye §2.3: rounds of a cycle, with and without the window limit.
        let rounds = if limited { self.b / 8.0 * w + q / (p * w) + 2.0 } else { self.b / 2.0 * w + 1.0 };
        let packets = q / p + w;
        (packets * q + timeout) / (self.rtt * rounds * q + timeout * backoff * self.rto)
    }

    /// Send rate of the short formula in packets per second.
    fn approximation(&self) -> f64 {
        let Self { p, rtt, b, rto, rwnd } = *self;
        // Padhye §2.3, the approximation.
        let timeouts = rto * (3.0 * libm::sqrt(3.0 * b * p / 8.0)).min(1.0) * p * (1.0 + 32.0 * p * p);
        (rwnd / rtt).min(1.0 / (rtt * libm::sqrt(2.0 * b * p / 3.0) + timeouts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, compute};
    use proptest::prelude::*;

    /// The output for packets of one bit, so rates are in packets per second.
    fn at(settings: &[(&str, f64)], name: &str) -> f64 {
        compute(&ENTRY, &[&[("packet_size", 0.125)], settings].concat(), name)
    }

    #[test]
    fn the_full_model_by_hand() {
        // b = 2, p = 0.02: (2+b)/(3b) = 2/3; 8·0.98/(0.12) = 65.3333; W = 0.66667 + √(65.3333 + 0.44444) = 8.77702.
        let path = [("loss", 0.02), ("rtt", 0.2), ("b", 2.0), ("rto", 2.0)];
        assert_close(at(&path, "window"), 8.777_01, 1e-4);
        // 1 − 0.98³ = 0.058808; 0.98^5.77701 = 0.889848; 0.98^8.77701 = 0.837518:
        // Q = 0.058808·(1 + 0.941192·0.110152)/0.162482 = 0.399462.
        assert_close(at(&path, "timeout_probability"), 0.399_46, 2e-4);
        // G = 1.020865; (49 + 8.777 + 0.40761)/(0.2·9.777 + 0.40761·1.020865·2) = 58.1846/2.78763 = 20.872.
        assert_close(at(&path, "throughput"), 20.872, 0.01);
        // 1/(0.2·√(0.026667) + 2·3·√0.015·0.02·1.0128) = 1/(0.0326599 + 0.0148852) = 21.0327.
        assert_close(at(&path, "approximation"), 21.032_7, 1e-3);
    }

    #[test]
    fn a_small_receivers_window_limits() {
        // W_max = 6 < 8.777: Q = 0.058808·(1 + 0.941192·0.058808)/0.114158 = 0.543661;
        // (49 + 6 + 0.554756)/(0.2·(1.5 + 8.166667 + 2) + 0.554756·1.020865·2) = 55.554756/3.466015 = 16.0284.
        let path = [("loss", 0.02), ("rtt", 0.2), ("b", 2.0), ("rto", 2.0), ("rwnd", 6.0)];
        assert_close(at(&path, "throughput"), 16.028_4, 0.002);
        assert_close(at(&[("loss", 0.0), ("rtt", 0.2), ("rwnd", 6.0)], "throughput"), 30.0, 1e-12);
        assert_close(at(&[("loss", 0.0), ("rtt", 0.2), ("rwnd", 6.0)], "approximation"), 30.0, 1e-12);
    }

    #[test]
    fn the_extremes_have_their_limits() {
        assert_close(at(&[("loss", 1.0), ("rto", 1.0)], "throughput"), 1.0 / 64.0, 1e-12);
        assert_close(at(&[("loss", 1.0 - 1e-9), ("rto", 1.0)], "throughput"), 1.0 / 64.0, 1e-6);
        // Without timeouts the model approaches Mathis' formula: √(3/2)/(RTT·√p).
        let (p, rtt) = (1e-9_f64, 0.1);
        assert_close(at(&[("loss", p), ("rtt", rtt)], "throughput") * rtt * p.sqrt(), 1.5_f64.sqrt(), 1e-3);
        assert_close(at(&[("loss", p), ("rtt", rtt)], "approximation") * rtt * p.sqrt(), 1.5_f64.sqrt(), 1e-3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn more_losses_never_help(
            loss in 1e-9..1.0_f64, factor in 1.0..2.0_f64, rto in 0.2..3.0_f64, rwnd in 4.0..1e4_f64,
        ) {
            let more = (loss * factor).min(1.0);
            for name in ["throughput", "approximation"] {
                let rate = |loss| at(&[("loss", loss), ("rtt", 0.1), ("b", 2.0), ("rto", rto), ("rwnd", rwnd)], name);
                prop_assert!(rate(more) <= rate(loss) * (1.0 + 1e-9), "{name}: {} then {}", rate(loss), rate(more));
                prop_assert!(rate(loss) <= rwnd / 0.1 * (1.0 + 1e-9), "{name}");
            }
        }

        #[test]
        fn times_and_rates_scale(loss in 1e-6..1.0_f64, k in 0.1..10.0_f64) {
            for name in ["throughput", "approximation"] {
                let rate = |k: f64| at(&[("loss", loss), ("rtt", 0.1 * k), ("rto", k)], name);
                prop_assert!((rate(k) * k / rate(1.0) - 1.0).abs() < 1e-12, "{name}");
            }
        }
    }
}
