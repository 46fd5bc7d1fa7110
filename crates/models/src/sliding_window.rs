//! Sliding windows: textbook efficiencies of stop-and-wait, Go-Back-N and selective repeat.
//! ## What it does
//! Computes the share of time in which a link carries useful frames. Each frame is lost with probability p. Its acknowledgement is never
//! lost and arrives 1 + 2a frame times after the start of transmission; a is the one-way delay of the path in frame times.
//! ## References
//! Tanenbaum & Wetherall, *Computer networks*, 5th edition, §3.4; Stallings, *Data and computer communications*, appendix on performance:
//! stop-and-wait (1−p)/(1+2a); Go-Back-N (1−p)/(1+2ap) for W ≥ 1+2a, else W(1−p)/((1+2a)(1−p+Wp)); selective repeat 1−p, or
//! W(1−p)/(1+2a). Preveze 2019, §1, names the three.
//! ## Differs from the document
//! At a loss with W < 1+2a, the textbook's Go-Back-N counts W frames as wasted. However, a sender that goes back may refill its window at
//! once, and so uses slots in which it would have waited. With q = 1−p and g = (1−q^W)/p, the exact efficiency is q·g/(1+2a + q·g − W·q^W):
//! `go_back_n_exact`. Both forms agree for W = 1, W = 1+2a, and W > 1+2a, where 1+2a replaces W. With p = 10 %, a = 2 and W = 3, the exact
//! efficiency is 0.464 instead of 0.450.
//!
//! As in the textbooks, selective repeat may have W frames unacknowledged. A sender whose W frames must be consecutive waits for the oldest
//! one and is slower; the model `arq` covers both.
//! ## Parameters
//! `loss`: 1 %. `a`: 10 and `window`: 7, the largest of Go-Back-N with sequence numbers of 3 bits, are examples.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::Params;

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "sliding_window",
    summary: "efficiency of stop-and-wait, Go-Back-N and selective repeat",
    reference: "Tanenbaum & Wetherall, Computer networks, §3.4; Stallings, Data and computer communications",
    params: &[
        params::LOSS,
        params::plain("a", 10.0, (0.0, 1e9), "one-way delay of the path, in frame times"),
        params::whole("window", 7.0, (1.0, 1e9), "frames that may be unacknowledged"),
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
    quantity("stop_and_wait", "", "efficiency of stop-and-wait"),
    quantity("go_back_n", "", "efficiency of Go-Back-N"),
    quantity("go_back_n_exact", "", "exact efficiency of Go-Back-N, which uses slots after a loss"),
    quantity("selective_repeat", "", "efficiency of selective repeat"),
];

fn evaluate(params: &Params) -> Vec<f64> {
    let [p, a, window] = ["loss", "a", "window"].map(|name| params.number(name));
    let (q, cycle) = (1.0 - p, 1.0 + 2.0 * a);
    let enough = window >= cycle;
    let go_back_n = if enough { q / (1.0 + 2.0 * a * p) } else { window * q / (cycle * (q + window * p)) };
    // Good frames until a loss are geometric. n frames take ⌊n/W⌋ cycles and the rest, and one more cycle until the loss is known.
    let effective = window.min(cycle);
    let kept = libm::pow(q, effective);
    let good = q * if p == 0.0 { effective } else { -libm::expm1(effective * libm::log1p(-p)) / p };
    let exact = good / (cycle + good - effective * kept);
    let selective_repeat = if enough { q } else { window * q / cycle };
    vec![q / cycle, go_back_n, exact, selective_repeat]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    fn efficiencies(loss: f64, a: f64, window: f64) -> [f64; 4] {
        let params = crate::testing::with(&ENTRY, &[("loss", loss), ("a", a), ("window", window)]);
        evaluate(&params).try_into().unwrap()
    }

    #[test]
    fn by_hand() {
        // a = 2 gives a cycle of 5. W = 7: 0.9/5; 0.9/1.4, twice; 0.9. W = 3: 0.9/5; 2.7/(5·1.2); q·g = 0.9·2.71, 2.439/(5 + 2.439 −
        // 3·0.729); 2.7/5.
        for (window, expected) in [(7.0, [0.18, 0.642_857_142_857, 0.642_857_142_857, 0.9]), (3.0, [0.18, 0.45, 0.464_394_516_375, 0.54])] {
            for (computed, expected) in efficiencies(0.1, 2.0, window).into_iter().zip(expected) {
                assert_close(computed, expected, 1e-12);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn each_scheme_beats_the_simpler_one(loss in 0.0..1.0_f64, a in 0.0..100.0_f64, window in 1..200_u32, more in 0.0..1.0_f64) {
            let window = f64::from(window);
            let [stop, back, exact, repeat] = efficiencies(loss, a, window);
            prop_assert!(stop <= back + 1e-12 && back <= exact + 1e-12 && exact <= repeat + 1e-12 && repeat <= 1.0 - loss + 1e-12);
            let worse = efficiencies(loss + (1.0 - loss) * more, a, window);
            prop_assert!([stop, back, exact, repeat].into_iter().zip(worse).all(|(now, then)| then <= now + 1e-12));
            // A window of one frame is stop-and-wait.
            let [stop, back, exact, repeat] = efficiencies(loss, a, 1.0);
            prop_assert!([back, exact, repeat].into_iter().all(|other| (stop - other).abs() < 1e-12));
        }
    }
}
