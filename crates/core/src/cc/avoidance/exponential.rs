//! TCP/EXP: growth by the inverse of an exponential of cwnd, and a cut by an exponential of cwnd.
//! ## What it does
//! Adds (alpha/e^W)^k segments to the window W per ACK, or per round trip. Duplicate ACKs or an ECN echo cut W by (beta·e^W)^l segments, to
//! no less than one; the connection's first congestion halves it. A timeout sets `ssthresh` by the same cut, and the host restarts from one
//! segment.
//! ## References
//! Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control algorithm*, 2009, §3 (equation 2) and §4
//! (equations 3–6).
//! ## Differs from the document
//! The paper prints no values for alpha, beta, k and l, and no unit of W; here W is in segments. The defaults are OURS:
//!
//! - alpha = beta = 1, because alpha·e^a and beta/e^a would only shift growth and cut by a segments.
//! - k and l follow from two conditions at a reference window of 10 segments. The rule there is the AIMD that the paper generalizes: +1
//!   segment per round trip, and −W/2.
//! - Growth is W·e^(−k·W) in a round trip of W ACKs, so k = ln(10)/10 = 0.23. From e^(10·l) = 5 follows l = ln(5)/10 = 0.16.
//! - The reference is the share of one of the six flows in the paper's figure 2 when the queue is full. With our choice of the missing
//!   rates it is (BDP of 25 + buffer of 25 to 50 packets)/6, 8 to 12.5 packets.
//!
//! At W = 5, 8, 10, 12, 15 and 20 a round trip then adds 1.6, 1.3, 1.0, 0.8, 0.5 and 0.2 segments, and a cut removes 2.2, 3.6, 5.0, 6.8,
//! 11.0 and 19.0. The rule is more aggressive than Reno below the reference, and less above it. The cut is less than half of W between 3.5
//! and 10; from 17.6 on it leaves one segment. For other reference windows solve the same two conditions: k = ln(W)/W, l = ln(W/2)/W.
//! `papers/exp` maps the effect of other values.
//!
//! §4 grows per ACK, equation 2 per round trip; `growth` selects. The paper halves at the first congestion only; `halves` selects whether a
//! later one in slow start also halves. The paper gives no `ssthresh` after a timeout; here the cut sets it. Growth ends at 2³⁰ segments,
//! more than any receiver's window, so that the window stays finite.
//!
//! Equation 6 integrates growth per round trip: W(t) = ln(e^(k·W₀) + k·alpha^k·t/R)/k, with the constant of integration that the paper
//! omits. Growth per ACK obeys the same formula with the number of ACKs in place of t/R. As a function of time it is Ei(k·W) − Ei(k·W₀) =
//! alpha^k·t/R with the exponential integral Ei.
//! ## Parameters
//! `growth`: `per_ack`, as in §4. `alpha`, `beta`: 1; `k`: 0.23, `l`: 0.16; ours, see above. `halves`: `first`, as in §4.

use crate::cc::contract::{Avoidance, Window};
use crate::cc::nonlinear::{Cut, grown, halves};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

// Our choice: the paper prints no values. At 10 segments this is Reno's rule; see the header.
const ALPHA: f64 = 1.0;
const BETA: f64 = 1.0;
const K: f64 = 0.23;
const L: f64 = 0.16;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "exponential",
    summary: "TCP/EXP: adds (alpha/e^cwnd)^k per ACK or round trip, cuts by (beta·e^cwnd)^l at congestion",
    reference: "Kalpana & Purusothaman, Performance evaluation of exponential TCP/IP congestion control algorithm, §4",
    params: &[
        Param {
            name: "growth",
            kind: Kind::Word(&["per_ack", "per_rtt"]),
            default: Default::Word("per_ack"),
            doc: "period in which (alpha/e^cwnd)^k is added: an ACK (§4) or a round trip (equation 2)",
        },
        factor("alpha", ALPHA, "factor of the growth; not given in the paper"),
        factor("beta", BETA, "factor of the cut; not given in the paper"),
        power("k", K, "power of the growth; not given in the paper"),
        power("l", L, "power of the cut; not given in the paper"),
        halves("first"),
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Exponential::new(params))),
};

/// ln alpha shifts the curve by as many segments; these bounds shift it by up to 230 in either direction.
const fn factor(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min: 1e-100, max: 1e100 }, default: Default::Number(default), doc }
}

const fn power(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min: 0.0, max: 10.0 }, default: Default::Number(default), doc }
}

/// TCP/EXP.
#[derive(Clone, Debug)]
pub struct Exponential {
    per_rtt: bool,
    ln_alpha: f64,
    ln_beta: f64,
    k: f64,
    l: f64,
    cut: Cut,
}

impl Exponential {
    fn new(params: &Params) -> Self {
        Self {
            per_rtt: params.word("growth") == "per_rtt",
            ln_alpha: libm::log(params.number("alpha")),
            ln_beta: libm::log(params.number("beta")),
            k: params.number("k"),
            l: params.number("l"),
            cut: Cut::new(params),
        }
    }
}

impl Avoidance for Exponential {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // Kalpana §4: (alpha/e^W)^k, in logarithms because e^W overflows from W = 710 on.
        let increase = libm::exp(self.k * (self.ln_alpha - window.cwnd));
        // Kalpana eq. 2: the same amount per round trip, which has W ACKs.
        let per_segment = if self.per_rtt { increase / window.cwnd } else { increase };
        grown(window.cwnd, per_segment, ack.counted)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        // Kalpana eq. 2: (beta·e^W)^l.
        self.cut.respond(event, window, |cwnd| libm::exp(self.l * (self.ln_beta + cwnd)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, window};
    use proptest::prelude::*;

    /// Constants of the rule.
    #[derive(Clone, Copy, Debug)]
    struct Rule {
        per_rtt: bool,
        alpha: f64,
        beta: f64,
        k: f64,
        l: f64,
    }

    const RULE: Rule = Rule { per_rtt: false, alpha: ALPHA, beta: BETA, k: K, l: L };

    impl Rule {
        fn build(self, halves: &str) -> Box<dyn Avoidance> {
            let numbers = [("alpha", self.alpha), ("beta", self.beta), ("k", self.k), ("l", self.l)];
            let growth = if self.per_rtt { "per_rtt" } else { "per_ack" };
            let words = [("growth", growth), ("halves", halves)].map(|(name, word)| (name, Value::Word(word.to_owned())));
            let numbers = numbers.map(|(name, number)| (name, Value::Number(number)));
            build(&ENTRY, &numbers.into_iter().chain(words).collect::<Vec<_>>()).unwrap()
        }

        fn growth(self, cwnd: Segments) -> Segments {
            self.build("never").on_ack(&ACK, &window(cwnd)) - cwnd
        }

        fn cut(self, cwnd: Segments) -> Segments {
            cwnd - self.build("never").respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd
        }
    }

    #[test]
    fn steps_by_hand() {
        let e = std::f64::consts::E;
        // (e³/e⁵)^½ = 1/e, and (e^−3·e⁵)^½ = e.
        let rule = Rule { alpha: e.powi(3), beta: e.powi(-3), k: 0.5, l: 0.5, ..RULE };
        assert_close(rule.growth(5.0), 1.0 / e, 1e-12);
        assert_close(Rule { per_rtt: true, ..rule }.growth(5.0), 0.2 / e, 1e-12);
        assert_close(rule.cut(5.0), e, 1e-12);
        let twice = rule.build("never").on_ack(&Ack { counted: 2.0, ..ACK }, &window(5.0));
        assert_close(twice, 5.0 + 2.0 / e, 1e-12);
    }

    #[test]
    fn large_windows_do_not_overflow() {
        // e^1000 overflows, but (1/e^1000)^0.002 = e^−2 and (e^1000)^0.002 do not.
        let rule = Rule { k: 0.002, l: 0.002, ..RULE };
        assert_close(rule.growth(1000.0), (-2.0_f64).exp(), 1e-12);
        assert_close(rule.cut(1000.0), 2.0_f64.exp(), 1e-12);
        assert_eq!((RULE.growth(1e9), RULE.cut(1e9)), (0.0, 1e9 - 1.0));
        let steep = Rule { alpha: 1e100, k: 10.0, ..RULE }.build("never").on_ack(&ACK, &window(1.0));
        assert!(steep.is_finite() && steep > 1e9, "{steep}");
    }

    #[test]
    fn the_headers_arithmetic() {
        for (cwnd, a_round_trip, cut) in
            [(5.0, 1.6, 2.2), (8.0, 1.3, 3.6), (10.0, 1.0, 5.0), (12.0, 0.8, 6.8), (15.0, 0.5, 11.0), (20.0, 0.2, 19.0)]
        {
            assert_close(cwnd * RULE.growth(cwnd), a_round_trip, 0.05);
            assert_close(RULE.cut(cwnd), cut, 0.05);
        }
        assert_close(K, 10.0_f64.ln() / 10.0, 0.005);
        assert_close(L, 5.0_f64.ln() / 10.0, 0.005);
        for cwnd in [3.5, 10.0] {
            assert_close(RULE.cut(cwnd) / cwnd, 0.5, 0.005);
        }
        assert!(RULE.cut(7.0) < 3.5 && RULE.cut(3.0) > 1.5 && RULE.cut(11.0) > 5.5);
        assert!(RULE.cut(17.5) < 16.5, "the cut leaves more than one segment");
        assert_eq!(RULE.cut(17.6), 16.6, "to one segment");
        let (up, down) = (Rule { alpha: 10.0_f64.exp(), ..RULE }, Rule { beta: (-10.0_f64).exp(), ..RULE });
        assert_close(up.growth(20.0), RULE.growth(10.0), 1e-12);
        assert_close(down.cut(20.0), RULE.cut(10.0), 1e-12);
    }

    #[test]
    fn the_first_congestion_halves_and_later_ones_cut() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let mut at = |cause, force| part.respond(&congestion(cause, force), &window(force));
        assert_eq!(at(Cause::DupAck, 41.0), Window { cwnd: 20.5, ssthresh: 20.0 });
        let cut = at(Cause::EcnCe, 12.0);
        assert_close(cut.cwnd, 12.0 - (12.0 * L).exp(), 1e-12);
        assert_eq!(cut.ssthresh, 5.0);
        assert_eq!(at(Cause::Timeout, 12.0).ssthresh, 5.0, "the same rule");
        assert_eq!(at(Cause::DupAck, 20.0), Window { cwnd: 1.0, ssthresh: 2.0 });
        let mut part = RULE.build("never");
        assert_eq!(part.respond(&congestion(Cause::DupAck, 12.0), &window(12.0)), cut);
    }

    /// The amount by which growth exceeds equation 6 after a number of ACKs from the window `start`, and its upper bound.
    ///
    /// The step is Euler's method on W′ = f(W) = alpha^k·e^(−kW). Growth per ACK has steps of h = 1 ACK, growth per round trip steps of h =
    /// 1/W round trips. f is positive and falls, f′ = −k·f, so W″ = f′·f = −k·f² is negative and falls in size along a solution. Hence a
    /// step from the same window exceeds the solution by between 0 and h²/2·k·f² = k/2·s², with the step's size s = h·f. The difference of
    /// two solutions shrinks, so the error after many steps is between 0 and k/2·Σs². As a function of the window, s falls. Σs² = Σs(W)·ΔW
    /// is its left sum: at most the integral plus the first step's square, s₀². The integral of s = s₀·e^(−k·(W − W₀)) is at most s₀/k, and
    /// the division by W in growth per round trip only reduces it. So the error is at most k/2·(s₀/k + s₀²) = s₀·(1 + k·s₀)/2, at any time.
    ///
    /// Rounding: each step rounds W once and the time once, and the exponential and its argument a few times. Four roundings of W per step
    /// cover them, as f·t never exceeds W (a concave curve lies above its tangent's slope times t).
    fn error(built: Rule, claimed: Rule, start: Segments, acks: u32) -> (f64, f64) {
        let Rule { per_rtt, alpha, k, .. } = claimed;
        let (mut part, mut cwnd, mut time) = (built.build("never"), start, 0.0);
        for _ in 0..acks {
            time += if per_rtt { 1.0 / cwnd } else { 1.0 };
            cwnd = part.on_ack(&ACK, &window(cwnd));
        }
        let rise = alpha.powf(k) * time;
        let solution = ((k * start).exp() + k * rise).ln() / k;
        let first = (k * (alpha.ln() - start)).exp() / if per_rtt { start } else { 1.0 };
        let rounding = 4.0 * f64::from(acks) * f64::EPSILON * cwnd;
        (cwnd - solution + rounding, first * (1.0 + k * first) / 2.0 + 2.0 * rounding)
    }

    /// Rules, initial windows, and numbers of ACKs.
    fn cases() -> impl Iterator<Item = (Rule, Segments, u32)> {
        let rules = [RULE, Rule { alpha: 1e4, ..RULE }, Rule { k: 0.25, ..RULE }, Rule { alpha: 0.5, k: 0.03, ..RULE }];
        let both = rules.into_iter().flat_map(|rule| [false, true].map(|per_rtt| Rule { per_rtt, ..rule }));
        both.flat_map(|rule| [(rule, 12.0, 300), (rule, 12.0, 20_000), (rule, 25.0, 20_000)])
    }

    #[test]
    fn growth_follows_equation_6() {
        for (rule, start, acks) in cases() {
            let (error, bound) = error(rule, rule, start, acks);
            assert!((0.0..=bound).contains(&error), "{rule:?} from {start}, {acks} ACKs: {error} beyond {bound}");
        }
    }

    #[test]
    fn the_bound_rejects_another_rule() {
        for (rule, start, acks) in cases() {
            let wrong = [
                Rule { k: 1.1 * rule.k, ..rule },
                Rule { k: rule.k / 1.1, ..rule },
                Rule { alpha: rule.alpha * 1.1_f64.powf(1.0 / rule.k), ..rule },
                Rule { alpha: rule.alpha / 1.1_f64.powf(1.0 / rule.k), ..rule },
                Rule { per_rtt: !rule.per_rtt, ..rule },
            ];
            for wrong in wrong {
                let (error, bound) = error(wrong, rule, start, acks);
                assert!(!(0.0..=bound).contains(&error), "{wrong:?} passes for {rule:?} from {start}, {acks} ACKs: {error} in {bound}");
            }
        }
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        (any::<bool>(), -100.0..100.0_f64, -100.0..100.0_f64, 0.0..10.0_f64, 0.0..10.0_f64).prop_map(|(per_rtt, alpha, beta, k, l)| {
            let [alpha, beta] = [alpha, beta].map(|power| 10.0_f64.powf(power));
            Rule { per_rtt, alpha, beta, k, l }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sound_for_any_constants(
            rule in any_rule(),
            cwnd in prop_oneof![1.0..300.0_f64, 1.0..1e9_f64],
            counted in prop_oneof![Just(1.0), Just(2.0)],
        ) {
            let mut part = rule.build("never");
            let after = part.on_ack(&Ack { counted, ..ACK }, &window(cwnd));
            prop_assert!(after.is_finite() && after >= cwnd, "{after}");
            let after = part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd));
            prop_assert!((1.0..=cwnd).contains(&after.cwnd), "{after:?}");
            prop_assert_eq!(after.ssthresh, after.cwnd.floor().max(2.0));
        }

        #[test]
        fn a_larger_window_grows_less_and_is_cut_more(rule in any_rule(), low in 1.0..200.0_f64, more in 0.0..200.0_f64) {
            let (mut part, step) = (rule.build("never"), |part: &mut dyn Avoidance, cwnd| part.on_ack(&ACK, &window(cwnd)) - cwnd);
            // Differences of windows have rounding errors of up to one unit in the last place of the larger window.
            let rounding = 1e-12 * (1.0 + step(&mut *part, low));
            prop_assert!(step(&mut *part, low + more) <= step(&mut *part, low) + rounding + 1e-12 * (low + more));
            prop_assert!(rule.cut(low + more) >= rule.cut(low) - 1e-12 * (low + more));
        }
    }
}
