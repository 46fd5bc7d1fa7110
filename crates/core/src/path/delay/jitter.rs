//! Jitter: every packet has a random delay of its own.
//! ## What it does
//! Draws the delay of each packet, independently of the others, from `distribution`: between `delay` − `jitter` and `delay` + `jitter`
//! (uniform), around `delay` with the standard deviation `jitter` (normal), or `delay` and an exponential time of mean `jitter`
//! (exponential). With `order` "kept", a packet that would overtake arrives together with the packet before it; with "free" it overtakes.
//! ## References
//! Hemminger, *Network emulation with `NetEm`*, 2005 (`delay TIME JITTER distribution …`, with and without reordering).
//! ## Differs from the document
//! - Delays are independent; netem can correlate them.
//! - The normal distribution is exact instead of a table. Delays below zero become zero.
//! - netem's `slot` and `rate`, which keep the order there, are properties of the link here.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.
//! `jitter`: 1 ms, an arbitrary choice.
//! `distribution`: uniform, as netem.
//! `order`: kept: most paths have a single queue, in which no packet overtakes. netem's default is free.

use core::f64::consts::{PI, TAU};

use crate::distribution::Distribution;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
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
            doc: "half the range (uniform), standard deviation (normal), or mean of the addition (exponential)",
        },
        Param {
            name: "distribution",
            kind: Kind::Word(&["uniform", "normal", "exponential"]),
            default: Default::Word("uniform"),
            doc: "distribution of the delays",
        },
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
            _ if jitter > delay => return Err("jitter must not be above delay: a uniform delay would be negative".to_owned()),
            _ => Shape::Uniform,
        };
        Ok(Box::new(Jitter { delay, spread: jitter, shape, free: params.word("order") == "free" }))
    },
};

/// The distribution of delays.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    Normal,
    Exponential,
}

/// Independent random delays, in seconds.
#[derive(Debug)]
pub struct Jitter {
    delay: f64,
    spread: f64,
    shape: Shape,
    free: bool,
}

impl DelayModel for Jitter {
    fn delay(&mut self, _now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        let addition = match self.shape {
            Shape::Uniform => self.spread * (2.0 * random.uniform() - 1.0),
            Shape::Normal => {
                let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.uniform()));
                self.spread * radius * libm::cos(TAU * random.uniform())
            }
            Shape::Exponential => Distribution::Exponential { mean: self.spread }.draw(random),
        };
        Duration::from_secs_f64(self.delay + addition)
    }

    fn reorders(&self) -> bool {
        self.free
    }

    fn mean(&self) -> Duration {
        Duration::from_secs_f64(match self.shape {
            Shape::Uniform => self.delay,
            Shape::Exponential => self.delay + self.spread,
            Shape::Normal if self.spread == 0.0 => self.delay,
            // E max(0, X) = µ Φ(µ/σ) + σ φ(µ/σ)
            Shape::Normal => {
                let z = self.delay / self.spread;
                let below = 0.5 * libm::erfc(-z / core::f64::consts::SQRT_2);
                let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * PI);
                self.delay * below + self.spread * density
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
        let cases = [("uniform", 5e-3 * 5e-3 / 3.0, 1.8), ("normal", 25e-6, 3.0), ("exponential", 25e-6, 9.0)];
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
}
