//! Polynomial congestion control: growth by a polynomial of cwnd or 1/cwnd, and a cut by a polynomial of cwnd (MIMD-Poly, PIPD-Poly).
//! ## What it does
//! In a round trip the window W grows by a sum of terms a·W^p, with negative or fractional powers allowed; each ACK adds its share.
//! Congestion cuts W by a sum of terms b·W^q, to no less than one segment. A timeout sets `ssthresh` by the same cut.
//! ## References
//! Chandrasekaran, Kalpana & Wahida Banu, *Interaction between MIMD-Poly & PIPD-Poly algorithms and other TCP variants in multiple
//! bottleneck TCP networks*, WOCN 2006 (abstract); Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control
//! algorithm*, 2009, §1 and references 26–29; Floyd, Handley & Padhye, *A comparison of equation-based and AIMD congestion control*, 2000
//! (the relation a = 3b/(2 − b)).
//! ## Differs from the document
//! The two algorithms are OUR READING of their names and of the abstract; the texts that define them were not available. The abstract says:
//! "additive increase using a polynomial of the inverse of the current window size", "multiplicative decrease using the polynomial of the
//! current window size", "MIMD-Poly is proved to be TCP compatible". Both algorithms have Reno's mean window at a loss rate of 2 %:
//! √(3/2/p) = 8.66 segments in the fluid model with one loss every 1/p ACKs.
//!
//! MIMD is multiplicative in both directions: +a·W per round trip (a segments per ACK), −W/2. In a cycle of N = 1/p ACKs the window peaks
//! at 2·a·N. The cycle takes T = ln 2/a round trips, so the mean is N/T = a/(p·ln 2). It equals √(3/2/p) for a = ln 2·√(3/2·0.02) = 0.12.
//! MIMD's mean is proportional to 1/p, so it exceeds Reno's at loss rates below 2 % and is smaller above.
//!
//! PIPD has polynomials of two terms in both directions: +3/7·(1 + 2/W), −(W + 2)/4. Each pair of terms satisfies k + l = 1, the binomial
//! rule. For large windows PIPD is AIMD with a = 3/7 and b = 1/4, which satisfies a = 3b/(2 − b). With u for the peak plus 2, a cycle from
//! 3u/4 to u has N = 7/3·(7/32·u² − u + 4·ln 4/3) ACKs. It takes T = 7/3·(u/4 − 2·ln 4/3) round trips. At N = 50, u = 12.18 and N/T = 8.68.
//! ## Parameters
//! `algorithm`: `mimd`, the first of the two presets. `increase`, `increase_powers`, `decrease`, `decrease_powers`: custom terms in place
//! of an algorithm's, empty by default, with one power per coefficient. `halves`: `slow_start`: the connection's first congestion, and any
//! in slow start, halves the window.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::nonlinear::{Cut, grown, halves};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "polynomial",
    summary: "adds a polynomial of cwnd or 1/cwnd per round trip, cuts by one of cwnd at congestion: MIMD-Poly, PIPD-Poly, or custom",
    reference: "Chandrasekaran, Kalpana & Wahida Banu, WOCN 2006",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["mimd", "pipd"]),
            default: Default::Word("mimd"),
            doc: "MIMD-Poly or PIPD-Poly, in our reading",
        },
        coefficients("increase", "coefficients of the growth per round trip, in segments; empty: the algorithm's terms"),
        powers("increase_powers", "power of cwnd for each coefficient of increase"),
        coefficients("decrease", "coefficients of the cut, in segments; empty: the algorithm's terms"),
        powers("decrease_powers", "power of cwnd for each coefficient of decrease"),
        halves("slow_start"),
    ],
    quantities: &[],
    build,
};

const fn coefficients(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Numbers { min: 0.0, max: 1e6 }, default: Default::Numbers(&[]), doc }
}

/// With these powers every term is finite for windows up to 10⁹.
const fn powers(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Numbers { min: -8.0, max: 8.0 }, default: Default::Numbers(&[]), doc }
}

/// Coefficient and power of each term.
type Terms = [(f64, f64)];

/// MIMD-Poly: growth 0.12·W per round trip, cut W/2.
const MIMD: (&Terms, &Terms) = (&[(0.12, 1.0)], &[(0.5, 1.0)]);
/// PIPD-Poly: growth 3/7·(1 + 2/W) per round trip, cut (W + 2)/4.
const PIPD: (&Terms, &Terms) = (&[(3.0 / 7.0, 0.0), (6.0 / 7.0, -1.0)], &[(0.25, 1.0), (0.5, 0.0)]);

/// Polynomial growth and cut.
#[derive(Clone, Debug)]
pub struct Polynomial {
    increase: Vec<(f64, f64)>,
    decrease: Vec<(f64, f64)>,
    cut: Cut,
}

fn build(params: &Params) -> Result<Box<dyn Avoidance>, String> {
    let (increase, decrease) = if params.word("algorithm") == "mimd" { MIMD } else { PIPD };
    let increase = terms(params, "increase", "increase_powers", increase)?;
    let decrease = terms(params, "decrease", "decrease_powers", decrease)?;
    Ok(Box::new(Polynomial::new(increase, decrease, Cut::new(params))))
}

/// The terms given by two parameters, or the algorithm's if they are empty.
fn terms(params: &Params, coefficients: &str, powers: &str, algorithms: &Terms) -> Result<Vec<(f64, f64)>, String> {
    let (factors, exponents) = (params.numbers(coefficients), params.numbers(powers));
    let (own, given) = (factors.len(), exponents.len());
    if own != given {
        return Err(format!(
            "{coefficients} has {own} coefficients and {powers} has {given} powers: there must be one power per coefficient"
        ));
    }
    if own == 0 {
        return Ok(algorithms.to_vec());
    }
    Ok(factors.iter().copied().zip(exponents.iter().copied()).collect())
}

/// The sum of `terms` at the window `cwnd`.
fn value(terms: &Terms, cwnd: Segments) -> Segments {
    terms.iter().map(|(coefficient, power)| coefficient * libm::pow(cwnd, *power)).sum()
}

impl Polynomial {
    /// Growth per round trip and cut, each as terms of coefficient and power.
    pub(super) fn new(increase: Vec<(f64, f64)>, decrease: Vec<(f64, f64)>, cut: Cut) -> Self {
        Self { increase, decrease, cut }
    }
}

impl Avoidance for Polynomial {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // A round trip has W ACKs.
        grown(window.cwnd, value(&self.increase, window.cwnd) / window.cwnd, ack.counted)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        self.cut.respond(event, window, |cwnd| value(&self.decrease, cwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, sawtooth, window};
    use proptest::prelude::*;

    fn polynomial(algorithm: &str) -> Box<dyn Avoidance> {
        let set = [("algorithm", Value::Word(algorithm.to_owned())), ("halves", Value::Word("never".to_owned()))];
        build(&ENTRY, &set).unwrap()
    }

    fn own(increase: (&[f64], &[f64]), decrease: (&[f64], &[f64])) -> Result<Box<dyn Avoidance>, String> {
        let names = ["increase", "increase_powers", "decrease", "decrease_powers"];
        let lists = [increase.0, increase.1, decrease.0, decrease.1].map(|list| Value::Numbers(list.to_vec()));
        let never = ("halves", Value::Word("never".to_owned()));
        build(&ENTRY, &names.into_iter().zip(lists).chain([never]).collect::<Vec<_>>())
    }

    /// Growth per ACK, and cut, at a window of 10.
    fn steps(part: &mut dyn Avoidance) -> (Segments, Segments) {
        let cut = 10.0 - part.respond(&congestion(Cause::DupAck, 10.0), &window(10.0)).cwnd;
        (part.on_ack(&ACK, &window(10.0)) - 10.0, cut)
    }

    #[test]
    fn the_presets_by_hand() {
        let (growth, cut) = steps(&mut *polynomial("mimd"));
        assert_close(growth, 0.12, 1e-12);
        assert_eq!(cut, 5.0);
        let (growth, cut) = steps(&mut *polynomial("pipd"));
        // 3/7·(1 + 2/10) = 3.6/7 per round trip of ten ACKs.
        assert_close(growth, 0.36 / 7.0, 1e-12);
        assert_eq!(cut, 3.0);
    }

    #[test]
    fn custom_terms() {
        // 2 + 5·W^−1 + W^½ per round trip, and a cut of 1 + W²/50, at W = 10.
        let mut part = own((&[2.0, 5.0, 1.0], &[0.0, -1.0, 0.5]), (&[1.0, 0.02], &[0.0, 2.0])).unwrap();
        let (growth, cut) = steps(&mut *part);
        assert_close(growth, 0.25 + 0.1 * 10.0_f64.sqrt(), 1e-12);
        assert_eq!(cut, 3.0);
        let counted = part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(10.0)) - 10.0;
        assert_close(counted, 2.0 * growth, 1e-12);
        // With only one custom polynomial, the other is the algorithm's.
        let mut part = own((&[3.0], &[0.0]), (&[], &[])).unwrap();
        let (growth, cut) = steps(&mut *part);
        assert_close(growth, 0.3, 1e-12);
        assert_eq!(cut, 5.0);
    }

    #[test]
    fn coefficients_without_powers_are_refused() {
        let message = "increase has 2 coefficients and increase_powers has 1 powers: there must be one power per coefficient";
        assert_eq!(own((&[1.0, 2.0], &[0.0]), (&[], &[])).unwrap_err(), message);
        let message = "decrease has 0 coefficients and decrease_powers has 1 powers: there must be one power per coefficient";
        assert_eq!(own((&[], &[]), (&[], &[1.0])).unwrap_err(), message);
    }

    /// ACKs and round trips of PIPD's cycle with a peak of `u` − 2 in the fluid model, as in the header.
    fn pipd_cycle(u: f64) -> (f64, f64) {
        let ln = (4.0_f64 / 3.0).ln();
        (7.0 / 3.0 * (7.0 / 32.0 * u * u - u + 4.0 * ln), 7.0 / 3.0 * (u / 4.0 - 2.0 * ln))
    }

    #[test]
    fn the_headers_arithmetic() {
        let (loss, reno) = (0.02, 75.0_f64.sqrt());
        assert_close(0.12 / (loss * 2.0_f64.ln()), reno, 0.001 * reno);
        let (acks, rtts) = pipd_cycle(12.18);
        assert_close(acks, 50.0, 0.05);
        assert_close(acks / rtts, reno, 0.002 * reno);
    }

    #[test]
    fn mimd_has_its_mean_window() {
        for acks in [20, 50, 200, 1000] {
            let teeth = sawtooth(&mut *polynomial("mimd"), acks, f64::from(acks));
            let n = f64::from(acks);
            // Every ACK adds 0.12, so the peak is exact: the cut, half of it, is 0.12·n.
            assert_close(teeth.peak, 0.24 * n, 1e-6 * n);
            // The time is a left sum of the falling 1/W in steps of 0.12. It exceeds the integral ln 2/0.12 by at most one step times the
            // first summand minus the last, 1/trough − 1/peak.
            let excess = teeth.rtts - 2.0_f64.ln() / 0.12;
            let bound = 1.0 / teeth.trough - 1.0 / teeth.peak;
            assert!((0.0..=bound).contains(&(excess + 1e-9)), "{acks}: {excess} beyond {bound}");
        }
    }

    #[test]
    fn pipd_has_its_mean_window() {
        // A step s(W) falls with W, so the sum of 1/s, sampled at the start of each step, is less than its integral. The N ACKs are
        // therefore fewer than the fluid model's, by at most the largest step times the rise of 1/s: s(L)·(1/s(M) − 1/s(L)) from trough L
        // to peak M. The same holds for the time, with 1/I(W) in place of 1/s(W), for I(W) = W·s(W).
        let increase = |w: f64| 3.0 / 7.0 * (1.0 + 2.0 / w);
        for acks in [20, 50, 200, 1000] {
            let teeth = sawtooth(&mut *polynomial("pipd"), acks, (1.5 * f64::from(acks)).sqrt());
            let (low, high) = (teeth.trough, teeth.peak);
            let step = increase(low) / low;
            let (n, t) = pipd_cycle(high + 2.0);
            let (short, fast) = (n - f64::from(acks), t - teeth.rtts);
            let bounds = (step * (high / increase(high) - low / increase(low)), step * (1.0 / increase(high) - 1.0 / increase(low)));
            assert!((0.0..=bounds.0).contains(&(short + 1e-6)), "{acks}: {short} ACKs beyond {}", bounds.0);
            assert!((0.0..=bounds.1).contains(&(fast + 1e-6)), "{acks}: {fast} round trips beyond {}", bounds.1);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sound_for_any_terms(
            increase in prop::collection::vec((0.0..1e6_f64, -8.0..8.0_f64), 1..4),
            decrease in prop::collection::vec((0.0..1e6_f64, -8.0..8.0_f64), 1..4),
            cwnd in prop_oneof![1.0..100.0_f64, 1.0..1e9_f64],
            counted in prop_oneof![Just(1.0), Just(2.0)],
        ) {
            let split = |terms: &[(f64, f64)]| terms.iter().copied().unzip::<f64, f64, Vec<_>, Vec<_>>();
            let (increase, decrease) = (split(&increase), split(&decrease));
            let mut part = own((&increase.0, &increase.1), (&decrease.0, &decrease.1)).unwrap();
            let after = part.on_ack(&Ack { counted, ..ACK }, &window(cwnd));
            prop_assert!(after.is_finite() && after >= cwnd, "{after}");
            let after = part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd));
            prop_assert!((1.0..=cwnd).contains(&after.cwnd), "{after:?}");
            prop_assert_eq!(after.ssthresh, after.cwnd.floor().max(2.0));
        }
    }
}
