//! Jitter: every packet has a random delay of its own.
//! ## What it does
//! Draws the delay of each packet from `distribution`: `delay` plus `jitter` times a number z with this distribution. `uniform`: z is between
//! −1 and 1. `normal`: z has mean 0 and deviation 1. `exponential`: z has mean 1 and is never negative. `pareto`: a Pareto distribution of
//! shape 3, moved and cut so that z is between −2/3 and 4, with a mean of −0.033. `paretonormal`: three quarters of that and a quarter of the
//! normal one, as one number. `table`: z at even steps of probability is listed in `table`, with straight lines between them.
//!
//! With `order` "kept", a packet that would overtake arrives together with the packet before it; with "free" it overtakes.
//! ## References
//! Hemminger, *Network emulation with `NetEm`*, 2005 (`delay TIME JITTER CORRELATION distribution …`, with and without reordering); the
//! manual page tc-netem(8).
//! ## Differs from the document
//! - `pareto` and `paretonormal` are the functions that the tables `pareto.dist` and `paretonormal.dist` of iproute2 6 hold, to a step of the
//!   tables; no document states them. netem's normal distribution is cut at four deviations, too; here it is not.
//! - Delays below zero become zero. The mean that stands for the delay is that of independent delays: with `correlation`, delays with
//!   a skewed distribution have another one.
//! - `correlation` does what the manual page says. In Linux 7.2, it had no effect on delays: with 25 %, two delays in a row had a
//!   correlation of 0.03.
//! - netem's `slot`, `reorder` and `rate` are `batches`, `reordering` and the rate of the link here.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.
//! `jitter`: 1 ms, an arbitrary choice.
//! `distribution`: uniform, as netem.
//! `table`: with distribution table: the numbers z of at least two probabilities, from 0 to 1 in even steps, the smallest first; −1 and 1, the
//! uniform distribution.
//! `correlation`: 0 %, as netem. It also narrows the distribution.
//! `order`: kept: most paths have a single queue, in which no packet overtakes. netem's default is free.

use core::f64::consts::PI;

use crate::distribution::normal_quantile;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::path::mixing::{CORRELATION, Mixing};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "jitter",
    summary: "every packet has a random delay of its own",
    reference: "Hemminger 2005 (netem)",
    params: &[
        Param {
            name: "delay",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.01),
            doc: "mean delay; with distribution exponential, the smallest",
        },
        Param {
            name: "jitter",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.001),
            doc: "half the range (uniform), standard deviation (normal), mean of the addition (exponential), or unit of the other distributions",
        },
        Param {
            name: "distribution",
            kind: Kind::Word(&["uniform", "normal", "exponential", "pareto", "paretonormal", "table"]),
            default: Default::Word("uniform"),
            doc: "distribution of the delays",
        },
        Param {
            name: "table",
            kind: Kind::Numbers { min: -1e6, max: 1e6 },
            default: Default::Numbers(&[-1.0, 1.0]),
            doc: "with distribution table: deviations from delay in units of jitter, at even steps of probability, the smallest first",
        },
        CORRELATION,
        Param {
            name: "order",
            kind: Kind::Word(&["kept", "free"]),
            default: Default::Word("kept"),
            doc: "kept: packets arrive in the order of transmission; free: a packet with a shorter delay overtakes",
        },
    ],
    quantities: &[],
    build: |params| {
        let [delay, jitter] = ["delay", "jitter"].map(|name| params.number(name));
        let shape = match params.word("distribution") {
            "normal" => Shape::Normal,
            "exponential" => Shape::Exponential,
            "pareto" if jitter * PARETO_LEAST > delay => {
                return Err("jitter must not be above 3/2 of delay: a delay with a Pareto distribution would be negative".to_owned());
            }
            "pareto" => Shape::Pareto,
            "paretonormal" => Shape::ParetoNormal,
            "table" => {
                let table = params.numbers("table");
                if table.len() < 2 || !table.is_sorted() {
                    return Err("table must have at least two numbers, the smallest first".to_owned());
                }
                Shape::Table(table.into())
            }
            _ if jitter > delay => return Err("jitter must not be above delay: a uniform delay would be negative".to_owned()),
            _ => Shape::Uniform,
        };
        let mixing = Mixing::new(params.number("correlation"));
        Ok(Box::new(Jitter { delay, spread: jitter, shape, mixing, free: params.word("order") == "free" }))
    },
};

/// The distribution of z.
#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    Normal,
    Exponential,
    Pareto,
    ParetoNormal,
    Table(Box<[f64]>),
}

/// The smallest z of a Pareto distribution is minus this, and the largest is [`PARETO_MOST`].
const PARETO_LEAST: f64 = 2.0 / 3.0;
const PARETO_MOST: f64 = 4.0;
/// Mean of the cut distribution: 4/3 (E min(v, 9/2) − 3/2), where P(v > x) = x⁻³.
const PARETO_MEAN: f64 = -8.0 / 243.0;

/// netem's Pareto distribution at `share`.
fn pareto(share: f64) -> f64 {
    (4.0 / 3.0 * (1.0 / libm::cbrt(1.0 - share) - 1.5)).min(PARETO_MOST)
}

impl Shape {
    /// The number that z is below with probability `share`, which is above 0 and below 1.
    fn quantile(&self, share: f64) -> f64 {
        match self {
            Self::Uniform => 2.0 * share - 1.0,
            Self::Normal => normal_quantile(share),
            Self::Exponential => -libm::log(1.0 - share),
            Self::Pareto => pareto(share),
            Self::ParetoNormal => 0.75 * pareto(share) + 0.25 * normal_quantile(share),
            Self::Table(table) => {
                let place = share * (table.len() - 1) as f64;
                let below = (place as usize).min(table.len() - 2);
                table[below] + (place - below as f64) * (table[below + 1] - table[below])
            }
        }
    }
}

/// Random delays, in seconds.
#[derive(Debug)]
pub struct Jitter {
    delay: f64,
    spread: f64,
    shape: Shape,
    mixing: Mixing,
    free: bool,
}

/// Half the distance between two random numbers. Moved by it, they are never 0.
const HALF_STEP: f64 = f64::EPSILON / 4.0;
/// Number of probabilities at which a mean without a formula is computed.
const POINTS: u32 = 4096;

impl DelayModel for Jitter {
    fn delay(&mut self, _now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        let share = (self.mixing.draw(random) + HALF_STEP).min(1.0 - HALF_STEP);
        Duration::from_secs_f64(self.delay + self.spread * self.shape.quantile(share))
    }

    fn reorders(&self) -> bool {
        self.free
    }

    fn mean(&self) -> Duration {
        let Self { delay, spread, ref shape, .. } = *self;
        Duration::from_secs_f64(match shape {
            Shape::Uniform => delay,
            Shape::Exponential => delay + spread,
            Shape::Pareto => delay + spread * PARETO_MEAN,
            Shape::Normal if spread == 0.0 => delay,
            // E max(0, X) = µ Φ(µ/σ) + σ φ(µ/σ)
            Shape::Normal => {
                let z = delay / spread;
                let below = 0.5 * libm::erfc(-z / core::f64::consts::SQRT_2);
                let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * PI);
                delay * below + spread * density
            }
            Shape::ParetoNormal | Shape::Table(_) => {
                let at = |point: u32| (delay + spread * shape.quantile((f64::from(point) + 0.5) / f64::from(POINTS))).max(0.0);
                (0..POINTS).map(at).sum::<f64>() / f64::from(POINTS)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    const COUNT: usize = 200_000;

    /// The model, and mean and variance of many of its delays.
    fn drawn(distribution: &str, delay: f64, jitter: f64) -> (Box<dyn DelayModel>, f64, f64) {
        let set =
            [("delay", Value::Number(delay)), ("jitter", Value::Number(jitter)), ("distribution", Value::Word(distribution.to_owned()))];
        let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(1, "test"));
        let delays: Vec<f64> = (0..COUNT).map(|_| model.delay(Instant::ZERO, Bytes(1000), &mut random).as_secs_f64()).collect();
        let mean = delays.iter().sum::<f64>() / COUNT as f64;
        let variance = delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / COUNT as f64;
        (model, mean, variance)
    }

    #[test]
    fn delays_have_the_mean_and_variance_of_their_distribution() {
        // Variance and kurtosis (µ₄/σ⁴) of each: the variance of a sample's variance is about σ⁴ (kurtosis − 1) / n.
        let cases = [("uniform", 5e-3 * 5e-3 / 3.0, 1.8), ("normal", 25e-6, 3.0), ("exponential", 25e-6, 9.0), ("table", 25e-6 / 3.0, 1.8)];
        for (distribution, variance, kurtosis) in cases {
            let (model, mean, found) = drawn(distribution, 0.04, 5e-3);
            let deviation = |square: f64| 4.0 * (square / COUNT as f64).sqrt();
            assert_close(mean, model.mean().as_secs_f64(), deviation(variance));
            assert_close(found, variance, deviation(variance * variance * (kurtosis - 1.0)));
        }
        assert_close(drawn("exponential", 0.04, 5e-3).0.mean().as_secs_f64(), 0.045, 1e-15);
    }

    #[test]
    fn a_normal_delay_below_zero_becomes_zero() {
        let (model, mean, _) = drawn("normal", 1e-3, 2e-3);
        assert_close(mean, model.mean().as_secs_f64(), 4.0 * 2e-3 / (COUNT as f64).sqrt());
        assert!(model.mean() > Duration::from_millis(1));
    }

    #[test]
    fn a_uniform_delay_is_never_negative() {
        let error = build(&ENTRY, &[("jitter", Value::Number(0.02))]).unwrap_err();
        assert_eq!(error, "jitter must not be above delay: a uniform delay would be negative");
    }

    /// The delay that is not exceeded with these probabilities, as z.
    fn quantiles(distribution: &str, shares: &[f64]) -> Vec<f64> {
        let set = [("jitter", Value::Number(1e-3)), ("distribution", Value::Word(distribution.to_owned()))];
        let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(1, "test"));
        let mut drawn: Vec<f64> = (0..COUNT).map(|_| model.delay(Instant::ZERO, Bytes(1000), &mut random).as_secs_f64()).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        shares.iter().map(|share| (drawn[(share * COUNT as f64) as usize] - 0.01) / 1e-3).collect()
    }

    #[test]
    fn netems_tables_have_these_quantiles() {
        // Entries 40, 409, 1024, 2048, 3072, 3686 and 4055 of the 4096 in iproute2's tables, which are in units of 1/8192.
        let shares = [40.5, 409.5, 1024.5, 2048.5, 3072.5, 3686.5, 4055.5].map(|entry| entry / 4096.0);
        let tables = [
            ("pareto", [-0.6624, -0.6191, -0.5325, -0.3201, 0.1166, 0.8717, 3.9999]),
            ("paretonormal", [-1.0802, -0.7849, -0.5679, -0.24, 0.256, 0.974, 3.5817]),
        ];
        for (distribution, expected) in tables {
            let found = quantiles(distribution, &shares);
            for (found, expected) in found.into_iter().zip(expected) {
                assert_close(found, expected, 0.01 + 0.02 * expected.abs());
            }
        }
    }

    #[test]
    fn the_means_of_netems_tables_are_those_of_their_numbers() {
        // The mean of all 4096 entries: −0.0335 and −0.0253.
        for (distribution, mean, closed) in [("pareto", -0.0335, PARETO_MEAN), ("paretonormal", -0.0253, 0.75 * PARETO_MEAN)] {
            let z = (drawn(distribution, 0.04, 5e-3).0.mean().as_secs_f64() - 0.04) / 5e-3;
            assert_close(z, mean, 1e-3);
            assert_close(z, closed, 1e-4);
        }
    }

    #[test]
    fn correlated_delays_resemble_the_one_before() {
        let set = [("jitter", Value::Number(5e-3)), ("correlation", Value::Number(0.8))];
        let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(1, "test"));
        let delays: Vec<f64> = (0..COUNT).map(|_| model.delay(Instant::ZERO, Bytes(1000), &mut random).as_secs_f64() - 0.01).collect();
        let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / COUNT as f64;
        let variance = mean(&mut delays.iter().map(|delay| delay * delay));
        // A uniform distribution's variance times (1 − ρ) / (1 + ρ).
        assert_close(variance / (25e-6 / 3.0), 0.2 / 1.8, 0.01);
        assert_close(mean(&mut delays.windows(2).map(|pair| pair[0] * pair[1])) / variance, 0.8, 0.02);
    }

    #[test]
    fn a_table_is_a_quantile_function() {
        let set = |table: &[f64]| [("distribution", Value::Word("table".to_owned())), ("table", Value::Numbers(table.to_vec()))];
        let (mut model, mut random) = (build(&ENTRY, &set(&[0.0, 1.0, 5.0])).unwrap(), Generator::derived(1, "test"));
        let below = (0..COUNT).filter(|_| model.delay(Instant::ZERO, Bytes(1), &mut random) < Duration::from_millis(11)).count();
        assert_close(below as f64 / COUNT as f64, 0.5, 4.0 * 0.5 / (COUNT as f64).sqrt());
        assert_close(model.mean().as_secs_f64(), 0.01 + 1e-3 * (0.5 + 3.0) / 2.0, 1e-12);
        for wrong in [&[1.0][..], &[1.0, 0.0]] {
            assert_eq!(build(&ENTRY, &set(wrong)).unwrap_err(), "table must have at least two numbers, the smallest first");
        }
    }

    #[test]
    fn a_pareto_delay_is_never_negative() {
        let set = [("jitter", Value::Number(0.0151)), ("distribution", Value::Word("pareto".to_owned()))];
        assert!(build(&ENTRY, &set).unwrap_err().starts_with("jitter must not be above 3/2 of delay"));
    }
}
