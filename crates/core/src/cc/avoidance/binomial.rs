//! Binomial congestion control: growth by a power of 1/cwnd, and a cut by a power of cwnd (AIMD, SQRT, IIAD).
//! ## What it does
//! The window W grows by alpha/W^k per round trip, so each ACK adds alpha/W^(k+1). Congestion cuts it by beta·W^l, to no less than one
//! segment. A timeout sets `ssthresh` by the same cut.
//! ## References
//! Bansal & Balakrishnan, *Binomial congestion control algorithms*, INFOCOM 2001.
//! ## Differs from the document
//! No difference is known; only the abstract was available. It gives the condition for TCP compatibility, k + l = 1, and three rules that
//! satisfy it: AIMD (k = 0), SQRT (k = 1/2) and IIAD (k = 1).
//!
//! The values of alpha and beta are this laboratory's. With a loss every N = 1/p ACKs, W^(k+l+1) is N·alpha/beta to first order in the cut.
//! The mean window is therefore proportional to 1/p^(1/(k+l+1)). For k + l = 1 and alpha/beta = 3/2 it is Reno's mean window, √(3/2·N):
//!
//! - IIAD: alpha = 3/2 and beta = 1. The relation is then almost exact: with r = 3/2·N − 1/12 the mean is (r + 1/12)/√r.
//! - SQRT: alpha = 3/4 and Reno's beta = 1/2. The mean is 2 % below Reno's at a loss rate of 2 %.
//! - AIMD: Reno's alpha = 1 and beta = 1/2, a cut too large for the first-order relation.
//! ## Parameters
//! `algorithm`: `sqrt`, the middle one of the three. `increase`: custom alpha and k, `decrease`: custom beta and l, in place of an
//! algorithm's; empty by default. `halves`: `slow_start`: the connection's first congestion, and any in slow start, halves the window. An
//! overshoot of slow start needs Reno's response, whatever the avoidance.

use crate::cc::avoidance::polynomial::Polynomial;
use crate::cc::contract::Avoidance;
use crate::cc::nonlinear::{Cut, halves};
use crate::entry::Entry;
use crate::params::{Default, Kind, Param, Params};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "binomial",
    summary: "adds alpha/cwnd^k per round trip, cuts by beta·cwnd^l at congestion: AIMD, SQRT, IIAD, or custom",
    reference: "Bansal & Balakrishnan, Binomial congestion control algorithms, INFOCOM 2001",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["aimd", "sqrt", "iiad"]),
            default: Default::Word("sqrt"),
            doc: "the paper's algorithm; k and l are 0 and 1 (aimd), 1/2 and 1/2 (sqrt), or 1 and 0 (iiad)",
        },
        Param { name: "increase", kind: CONSTANTS, default: Default::Numbers(&[]), doc: "alpha and k; empty: the algorithm's values" },
        Param { name: "decrease", kind: CONSTANTS, default: Default::Numbers(&[]), doc: "beta and l; empty: the algorithm's values" },
        halves("slow_start"),
    ],
    quantities: &[],
    build,
};

/// The rules have no negative constants; with these powers every step is finite.
const CONSTANTS: Kind = Kind::Numbers { min: 0.0, max: 16.0 };

/// Alpha and k, beta and l.
type Rules = ([f64; 2], [f64; 2]);

const AIMD: Rules = ([1.0, 0.0], [0.5, 1.0]);
const SQRT: Rules = ([0.75, 0.5], [0.5, 0.5]);
const IIAD: Rules = ([1.5, 1.0], [1.0, 0.0]);

fn build(params: &Params) -> Result<Box<dyn Avoidance>, String> {
    let (increase, decrease) = match params.word("algorithm") {
        "aimd" => AIMD,
        "iiad" => IIAD,
        _ => SQRT,
    };
    let [alpha, k] = pair(params, "increase", increase)?;
    let [beta, l] = pair(params, "decrease", decrease)?;
    // A polynomial with one term each.
    Ok(Box::new(Polynomial::new(vec![(alpha, -k)], vec![(beta, l)], Cut::new(params))))
}

/// The two numbers of the parameter `name`, or the algorithm's if it is empty.
fn pair(params: &Params, name: &str, algorithms: [f64; 2]) -> Result<[f64; 2], String> {
    match *params.numbers(name) {
        [] => Ok(algorithms),
        [factor, power] => Ok([factor, power]),
        ref own => Err(format!("{name} needs two numbers, a factor and a power, not {}", own.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::reno::Reno;
    use crate::cc::contract::Window;
    use crate::events::{Ack, Cause};
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, sawtooth, window};
    use crate::units::Segments;

    fn binomial(algorithm: &str) -> Box<dyn Avoidance> {
        let set = [("algorithm", Value::Word(algorithm.to_owned())), ("halves", Value::Word("never".to_owned()))];
        build(&ENTRY, &set).unwrap()
    }

    fn own(increase: &[f64], decrease: &[f64]) -> Result<Box<dyn Avoidance>, String> {
        let (increase, decrease) = (Value::Numbers(increase.to_vec()), Value::Numbers(decrease.to_vec()));
        build(&ENTRY, &[("increase", increase), ("decrease", decrease), ("halves", Value::Word("never".to_owned()))])
    }

    #[test]
    fn steps_by_hand() {
        // 3/4/√16 per round trip of 16 ACKs; a cut of √16/2.
        let mut part = binomial("sqrt");
        assert_close(part.on_ack(&ACK, &window(16.0)), 16.0 + 0.1875 / 16.0, 1e-12);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 16.0), &window(16.0)), Window { cwnd: 14.0, ssthresh: 14.0 });
        // 1.5/20 per round trip of 20 ACKs; a cut of one segment.
        let mut part = binomial("iiad");
        assert_close(part.on_ack(&ACK, &window(20.0)), 20.00375, 1e-12);
        assert_close(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(20.0)), 20.0075, 1e-12);
        assert_eq!(part.respond(&congestion(Cause::EcnCe, 20.5), &window(20.5)), Window { cwnd: 19.5, ssthresh: 19.0 });
        let default = build(&ENTRY, &[]).unwrap().on_ack(&ACK, &window(7.0));
        assert_eq!(default, binomial("sqrt").on_ack(&ACK, &window(7.0)), "the default is SQRT");
    }

    #[test]
    fn aimd_is_reno() {
        let mut part = binomial("aimd");
        for cwnd in [1.0, 2.5, 17.0, 1e6] {
            assert_eq!(part.on_ack(&ACK, &window(cwnd)), Reno::default().on_ack(&ACK, &window(cwnd)));
            let event = congestion(Cause::DupAck, cwnd.max(2.0));
            assert_eq!(part.respond(&event, &window(cwnd)), Reno::default().respond(&event, &window(cwnd)));
        }
    }

    #[test]
    fn a_rule_needs_a_factor_and_a_power() {
        assert_eq!(own(&[1.0], &[]).unwrap_err(), "increase needs two numbers, a factor and a power, not 1");
        assert_eq!(own(&[], &[1.0, 2.0, 3.0]).unwrap_err(), "decrease needs two numbers, a factor and a power, not 3");
    }

    /// Bounds of the mean window, as factors of (alpha/(beta·p))^(1/(k+l+1)).
    ///
    /// With a loss every N = 1/p ACKs the window rises from M − D to its peak M in N steps s = alpha/W^(k+1), whose sum is the cut D =
    /// beta·M^l. N is the sum of s·W^(k+1)/alpha, so it lies between D·(M − D)^(k+1)/alpha and D·M^(k+1)/alpha. With x = D/M and M₀ =
    /// (alpha·N/beta)^(1/(k+l+1)) it follows that M₀ ≤ M ≤ M₀·(1 − x)^(−(k+1)/(k+l+1)). The mean lies between M·(1 − x) and M.
    fn bracket(part: &mut dyn Avoidance, acks: u32, [alpha, k, beta, l]: [f64; 4]) -> (f64, (f64, f64)) {
        let root = 1.0 / (k + l + 1.0);
        let first_order = (alpha * f64::from(acks) / beta).powf(root);
        let teeth = sawtooth(part, acks, first_order);
        let left = teeth.trough / teeth.peak;
        (f64::from(acks) / teeth.rtts / first_order, (left, left.powf(-(k + 1.0) * root)))
    }

    /// The constants alpha, k, beta and l, and the number of ACKs per loss, with cuts small enough for narrow bounds.
    const CASES: [([f64; 4], u32); 4] =
        [([1.5, 1.0, 1.0, 0.0], 2000), ([0.75, 0.5, 0.5, 0.5], 2000), ([1.0, 0.0, 0.05, 1.0], 500), ([2.0, 0.75, 0.3, 0.5], 2000)];

    #[test]
    fn the_response_function() {
        for ([alpha, k, beta, l], acks) in CASES {
            for acks in [acks, 8 * acks] {
                let mut part = own(&[alpha, k], &[beta, l]).unwrap();
                let (mean, (low, high)) = bracket(&mut *part, acks, [alpha, k, beta, l]);
                assert!((low..=high).contains(&mean), "{alpha}/W^{k}, {beta}·W^{l}, {acks}: {mean} is not in {low}..{high}");
            }
        }
    }

    #[test]
    fn the_response_function_rejects_another_rule() {
        for ([alpha, k, beta, l], acks) in CASES {
            for wrong in [[1.25 * alpha, k, beta, l], [alpha, k + 0.1, beta, l], [alpha, k, 1.25 * beta, l], [alpha, k, beta, l + 0.1]] {
                let mut part = own(&wrong[..2], &wrong[2..]).unwrap();
                let (mean, (low, high)) = bracket(&mut *part, acks, [alpha, k, beta, l]);
                assert!(!(low..=high).contains(&mean), "{wrong:?} passes for {alpha}/W^{k}, {beta}·W^{l}: {mean} in {low}..{high}");
            }
        }
    }

    /// ACKs and round trips of a cycle in the fluid model: the integrals of W^(k+1)/alpha and W^k/alpha from trough to peak.
    fn fluid_cycle(([alpha, k], [beta, l]): Rules, peak: Segments) -> (f64, f64) {
        let trough = peak - beta * peak.powf(l);
        let integral = |power: f64| (peak.powf(power) - trough.powf(power)) / (power * alpha);
        (integral(k + 2.0), integral(k + 1.0))
    }

    #[test]
    fn the_headers_arithmetic() {
        for peak in [4.0, 8.0, 20.0, 100.0] {
            let (acks, rtts) = fluid_cycle(IIAD, peak);
            let r = 1.5 * acks - 1.0 / 12.0;
            assert_close(acks / rtts, (r + 1.0 / 12.0) / r.sqrt(), 1e-9 * peak);
        }
        // SQRT reaches this peak at a loss of 2 %.
        let (acks, rtts) = fluid_cycle(SQRT, 9.3);
        assert_close(acks, 50.0, 1.0);
        assert_close(acks / rtts / (1.5 * acks).sqrt(), 0.98, 0.005);
    }
}
