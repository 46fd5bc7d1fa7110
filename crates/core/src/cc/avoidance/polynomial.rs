//! Polynomial: a round trip adds a polynomial of cwnd or of 1/cwnd, congestion takes one of cwnd (MIMD-Poly, PIPD-Poly).
//! ## What it does
//! In a round trip the window W grows by a sum of terms a·W^p, whose powers may be negative or fractional; an ACK adds W's share of it. At
//! congestion W loses a sum of terms b·W^q and keeps at least one segment. A timeout sets `ssthresh` by the same cut.
//! ## References
//! Chandrasekaran, Kalpana & Wahida Banu, *Interaction between MIMD-Poly & PIPD-Poly algorithms and other TCP variants in multiple
//! bottleneck TCP networks*, WOCN 2006 (abstract); Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control
//! algorithm*, 2009, §1 and references 26–29; Floyd, Handley & Padhye, *A comparison of equation-based and AIMD congestion control*, 2000
//! (the relation a = 3b/(2 − b)).
//! ## Differs from the document
//! The two algorithms are OUR READING of their names and of the abstract, which is all there was: "additive increase using a polynomial of
//! the inverse of the current window size", "multiplicative decrease using the polynomial of the current window size", "MIMD-Poly is proved
//! to be TCP compatible". The texts that define them were not available. Both have Reno's mean window at a loss of 2 %, which is √(3/2/p) =
//! 8.66 segments, in the fluid model of one loss every 1/p ACKs.
//!
//! MIMD, multiplicative in both directions: +a·W a round trip (a segments per ACK), −W/2. A cycle lasts N = 1/p ACKs, so the window's peak
//! is 2·a·N; it takes T = ln 2/a round trips, and the mean is N/T = a/(p·ln 2). Equal to √(3/2/p): a = ln 2·√(3/2·0.02) = 0.12. Below 2 %
//! loss MIMD takes more than Reno, above it less: its mean goes with 1/p.
//!
//! PIPD, polynomials of two terms in both directions: +3/7·(1 + 2/W), −(W + 2)/4. Term by term it keeps the binomial rule k + l = 1, and
//! for large windows it is AIMD with a = 3/7, b = 1/4, which satisfies a = 3b/(2 − b). With u = W + 2 a cycle takes u to 3u/4 and back, in
//! N = 7/3·(7/32·u² − u + 4·ln 4/3) ACKs and T = 7/3·(u/4 − 2·ln 4/3) round trips. At N = 50, u = 12.18 and N/T = 8.68.
//! ## Parameters
//! `algorithm`: `mimd`; which of the two presets. `increase`, `increase_powers`, `decrease`, `decrease_powers`: own terms instead of an
//! algorithm's, empty by default; one power for each coefficient. `halves`: `slow_start`: the
//! connection's first congestion, and any in slow start, halves the window.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::nonlinear::{Cut, grown, halves};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "polynomial",
    summary: "adds a polynomial of 1/cwnd or cwnd a round trip, takes one of cwnd at congestion: MIMD-Poly, PIPD-Poly, or one's own",
    reference: "Chandrasekaran, Kalpana & Wahida Banu, WOCN 2006",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["mimd", "pipd"]),
            default: Default::Word("mimd"),
            doc: "MIMD-Poly or PIPD-Poly, in our reading",
        },
        coefficients(
            "increase",
            "coefficients of the growth in a round trip, in segments, instead of the algorithm's; empty: the algorithm's",
        ),
        powers("increase_powers", "power of cwnd for each coefficient of increase"),
        coefficients("decrease", "coefficients of the cut, in segments, instead of the algorithm's; empty: the algorithm's"),
        powers("decrease_powers", "power of cwnd for each coefficient of decrease"),
        halves("slow_start"),
    ],
    quantities: &[],
    build,
};

const fn coefficients(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Numbers { min: 0.0, max: 1e6 }, default: Default::Numbers(&[]), doc }
}

/// With these powers every term of a window up to 10⁹ is finite.
const fn powers(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Numbers { min: -8.0, max: 8.0 }, default: Default::Numbers(&[]), doc }
}

/// Coefficient and power of each term.
type Terms = [(f64, f64)];

/// MIMD-Poly: 0.12·W a round trip, and half of W.
const MIMD: (&Terms, &Terms) = (&[(0.12, 1.0)], &[(0.5, 1.0)]);
/// PIPD-Poly: 3/7·(1 + 2/W) a round trip, and (W + 2)/4.
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

/// The terms given by two parameters, or else those of the algorithm.
fn terms(params: &Params, coefficients: &str, powers: &str, algorithms: &Terms) -> Result<Vec<(f64, f64)>, String> {
    let (factors, exponents) = (params.numbers(coefficients), params.numbers(powers));
    let (own, given) = (factors.len(), exponents.len());
    if own != given {
        return Err(format!("{coefficients} has {own} coefficients but {powers} has {given} powers: one power for each coefficient"));
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
    /// Growth in a round trip and cut, each as terms of coefficient and power.
    pub(super) fn new(increase: Vec<(f64, f64)>, decrease: Vec<(f64, f64)>, cut: Cut) -> Self {
        Self { increase, decrease, cut }
    }
}

impl Avoidance for Polynomial {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // A round trip brings a window of ACKs.
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

    /// Growth by an ACK, and cut, at the window 10.
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
        // 3/7·(1 + 2/10) = 3.6/7 in a round trip of ten ACKs.
        assert_close(growth, 0.36 / 7.0, 1e-12);
        assert_eq!(cut, 3.0);
    }

    #[test]
    fn terms_of_ones_own() {
        // 2 + 5·W^−1 + W^½ in a round trip, and 1 + W²/50, at W = 10.
        let mut part = own((&[2.0, 5.0, 1.0], &[0.0, -1.0, 0.5]), (&[1.0, 0.02], &[0.0, 2.0])).unwrap();
        let (growth, cut) = steps(&mut *part);
        assert_close(growth, 0.25 + 0.1 * 10.0_f64.sqrt(), 1e-12);
        assert_eq!(cut, 3.0);
        let counted = part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(10.0)) - 10.0;
        assert_close(counted, 2.0 * growth, 1e-12);
        // One polynomial of one's own leaves the other to the algorithm.
        let mut part = own((&[3.0], &[0.0]), (&[], &[])).unwrap();
        let (growth, cut) = steps(&mut *part);
        assert_close(growth, 0.3, 1e-12);
        assert_eq!(cut, 5.0);
    }

    #[test]
    fn coefficients_without_powers_are_refused() {
        let message = "increase has 2 coefficients but increase_powers has 1 powers: one power for each coefficient";
        assert_eq!(own((&[1.0, 2.0], &[0.0]), (&[], &[])).unwrap_err(), message);
        let message = "decrease has 0 coefficients but decrease_powers has 1 powers: one power for each coefficient";
        assert_eq!(own((&[], &[]), (&[], &[1.0])).unwrap_err(), message);
    }

    /// ACKs and round trips of PIPD's cycle up to a peak of `u` − 2 in the fluid model, as in the header.
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
            // Every ACK adds 0.12, so the peak is exact: 0.12·n is half of it.
            assert_close(teeth.peak, 0.24 * n, 1e-6 * n);
            // The time is a left sum of the falling 1/W in steps of 0.12, so it exceeds the integral ln 2/0.12 by at most one step of
            // the first summand minus the last, which is 1/trough − 1/peak.
            let excess = teeth.rtts - 2.0_f64.ln() / 0.12;
            let bound = 1.0 / teeth.trough - 1.0 / teeth.peak;
            assert!((0.0..=bound).contains(&(excess + 1e-9)), "{acks}: {excess} beyond {bound}");
        }
    }

    #[test]
    fn pipd_has_its_mean_window() {
        // A step s(W) falls with W, so 1/s sampled at the start of each step sums to less than its integral: the N ACKs to less than the
        // fluid model's, by at most the largest step times the rise of 1/s, s(L)·(1/s(M) − 1/s(L)) from trough L to peak M. The same
        // holds for the time, with 1/I(W) in place of 1/s(W), where I(W) = W·s(W).
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
