//! Distributions from which applications draw transfer sizes and times between events.
//!
//! ## References
//! Crovella & Bestavros, *Self-similarity in World Wide Web traffic*, 1997 (Pareto); Downey, *Lognormal and Pareto distributions in the
//! Internet*, 2005; Box & Muller, *A note on the generation of random normal deviates*, 1958.

use core::f64::consts::TAU;

use crate::rng::Generator;

/// A distribution of non-negative numbers, given by its mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the mean.
    Fixed {
        /// The number.
        mean: f64,
    },
    /// P(X > x) = exp(−x / mean).
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// P(X > x) = (m / x)^shape for x from the smallest number m = mean (shape − 1) / shape on.
    Pareto {
        /// Mean.
        mean: f64,
        /// Tail index, above 1; the variance is infinite up to 2.
        shape: f64,
    },
    /// The logarithm is normal with standard deviation `sigma`; the median is mean · exp(−sigma² / 2).
    Lognormal {
        /// Mean.
        mean: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// One of these values.
    Empirical(Empirical),
}

/// Values with the weights of their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    values: Vec<f64>,
    weights: Vec<f64>,
    /// For each value, the probability of this value and all before it.
    cumulative: Vec<f64>,
}

impl Empirical {
    /// Values with their weights; `None` unless there is one weight per value and the weights' sum is positive and finite.
    pub fn new(values: Vec<f64>, weights: &[f64]) -> Option<Self> {
        let total: f64 = weights.iter().sum();
        if values.len() != weights.len() || !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let sums = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum / total)
        });
        Some(Self { cumulative: sums.collect(), values, weights: weights.to_vec() })
    }

    /// The values with their weights.
    pub fn weighted(&self) -> impl Iterator<Item = (f64, f64)> {
        self.values.iter().copied().zip(self.weights.iter().copied())
    }

    fn value(&self, uniform: f64) -> f64 {
        let index = self.cumulative.partition_point(|&up_to| up_to <= uniform);
        self.values[index.min(self.values.len() - 1)]
    }

    fn mean(&self) -> f64 {
        let before = core::iter::once(0.0).chain(self.cumulative.iter().copied());
        self.values.iter().zip(&self.cumulative).zip(before).map(|((value, up_to), before)| value * (up_to - before)).sum()
    }
}

/// Number of points at which an expectation is evaluated.
const POINTS: u32 = 1 << 14;
/// (√5 − 1) / 2; its multiples modulo 1 fill the unit interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

impl Distribution {
    /// The next number; always uses two uniform numbers of the generator.
    pub fn draw(&self, generator: &mut Generator) -> f64 {
        let first = generator.uniform();
        self.value(first, generator.uniform())
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed { mean } | Self::Exponential { mean } | Self::Pareto { mean, .. } | Self::Lognormal { mean, .. } => *mean,
            Self::Empirical(empirical) => empirical.mean(),
        }
    }

    /// The expectation of `of`, a bounded function, to about 1/1000 of its range.
    pub fn expectation(&self, of: impl Fn(f64) -> f64) -> f64 {
        let point = |index: u32| {
            let second = f64::from(index) * GOLDEN;
            of(self.value((f64::from(index) + 0.5) / f64::from(POINTS), second - libm::floor(second)))
        };
        (0..POINTS).map(point).sum::<f64>() / f64::from(POINTS)
    }

    /// The number for two uniform numbers in [0, 1); only the lognormal distribution uses the second.
    fn value(&self, first: f64, second: f64) -> f64 {
        let left = 1.0 - first;
        match self {
            Self::Fixed { mean } => *mean,
            Self::Exponential { mean } => -mean * libm::log(left),
            Self::Pareto { mean, shape } => mean * (shape - 1.0) / shape * libm::pow(left, -1.0 / shape),
            Self::Lognormal { mean, sigma } => {
                let normal = libm::sqrt(-2.0 * libm::log(left)) * libm::cos(TAU * second);
                mean * libm::exp(sigma * normal - sigma * sigma / 2.0)
            }
            Self::Empirical(empirical) => empirical.value(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u32 = 200_000;

    /// Mean of many drawn numbers, and the share above `limit`.
    fn drawn(distribution: &Distribution, limit: f64) -> (f64, f64) {
        let mut generator = Generator::derived(7, "test");
        let numbers: Vec<f64> = (0..MANY).map(|_| distribution.draw(&mut generator)).collect();
        let above = numbers.iter().filter(|&&number| number > limit).count();
        (numbers.iter().sum::<f64>() / f64::from(MANY), above as f64 / f64::from(MANY))
    }

    fn assert_near(actual: f64, expected: f64, tolerance: f64) {
        assert!((actual - expected).abs() <= tolerance, "{actual} is not within {tolerance} of {expected}");
    }

    #[test]
    fn numbers_have_the_mean_and_the_tail() {
        let empirical = Empirical::new(vec![1.0, 5.0, 30.0], &[5.0, 3.0, 2.0]).unwrap();
        // Half of a Pareto distribution of shape 3 is above 10 · 2/3 · 2^(1/3), half of a lognormal above mean · exp(−1/2).
        let cases = [
            (Distribution::Fixed { mean: 10.0 }, 10.0, 9.0, 1.0),
            (Distribution::Exponential { mean: 10.0 }, 10.0, 20.0, libm::exp(-2.0)),
            (Distribution::Pareto { mean: 10.0, shape: 3.0 }, 10.0, 20.0 / 3.0 * libm::cbrt(2.0), 0.5),
            (Distribution::Lognormal { mean: 10.0, sigma: 1.0 }, 10.0, 10.0 * libm::exp(-0.5), 0.5),
            (Distribution::Empirical(empirical), 8.0, 4.0, 0.5),
        ];
        for (distribution, mean, limit, share) in cases {
            let (drawn_mean, above) = drawn(&distribution, limit);
            assert_near(distribution.mean(), mean, 1e-12);
            // Four standard errors; the largest deviation is the lognormal's, 10 · √(e − 1).
            assert_near(drawn_mean, mean, 4.0 * 13.2 / f64::from(MANY).sqrt());
            assert_near(above, share, 4.0 * 0.5 / f64::from(MANY).sqrt());
        }
    }

    #[test]
    fn expectations_match_the_distribution() {
        let (mean, limit) = (10.0, 7.0);
        let above = |x: f64| if x > limit { 1.0 } else { 0.0 };
        assert_near(Distribution::Exponential { mean }.expectation(above), libm::exp(-limit / mean), 1e-3);
        assert_near(
            Distribution::Lognormal { mean, sigma: 1.0 }.expectation(|x| if x > mean * libm::exp(-0.5) { 1.0 } else { 0.0 }),
            0.5,
            1e-3,
        );
        // Whole packets: the mean of ⌈X⌉ is 1 / (1 − exp(−1 / mean)).
        let rounded_up = Distribution::Exponential { mean }.expectation(|x| libm::ceil(x) - x);
        assert_near(mean + rounded_up, 1.0 / (1.0 - libm::exp(-1.0 / mean)), 1e-3);
    }

    #[test]
    fn empirical_values_need_weights() {
        assert_eq!(Empirical::new(vec![1.0], &[]), None);
        assert_eq!(Empirical::new(vec![1.0], &[0.0]), None);
        assert_eq!(Empirical::new(vec![1.0, 2.0], &[0.0, 3.0]).unwrap().mean(), 2.0);
    }
}
