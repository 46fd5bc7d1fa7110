//! Distributions from which applications draw transfer sizes and times between events.
//!
//! ## References
//! Crovella & Bestavros, *Self-similarity in World Wide Web traffic*, 1997 (Pareto); Downey, *Lognormal and Pareto distributions in the
//! Internet*, 2005; Box & Muller, *A note on the generation of random normal deviates*, 1958; Wichura, *Algorithm AS 241: the percentage
//! points of the normal distribution*, 1988.

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

/// The standard normal quantile of `share`, which is between 0 and 1, to 16 digits: AS 241, PPND16.
pub fn normal_quantile(share: f64) -> f64 {
    // Both polynomials of a region, from the highest power down.
    fn ratio(at: f64, above: [f64; 8], below: [f64; 8]) -> f64 {
        let value = |terms: [f64; 8]| terms.into_iter().fold(0.0, |sum, term| sum * at + term);
        value(above) / value(below)
    }
    let from_middle = share - 0.5;
    if from_middle.abs() <= 0.425 {
        return from_middle * ratio(0.180_625 - from_middle * from_middle, MIDDLE[0], MIDDLE[1]);
    }
    let tail = libm::sqrt(-libm::log(if from_middle < 0.0 { share } else { 1.0 - share }));
    let size = if tail <= 5.0 { ratio(tail - 1.6, OUTER[0], OUTER[1]) } else { ratio(tail - 5.0, FAR[0], FAR[1]) };
    if from_middle < 0.0 { -size } else { size }
}

/// Numerator and denominator of AS 241 within 0.425 of the median.
#[expect(clippy::excessive_precision, reason = "as its author prints them")]
const MIDDLE: [[f64; 8]; 2] = [
    [
        2.509_080_928_730_122_672_7e3,
        3.343_057_558_358_812_810_5e4,
        6.726_577_092_700_870_085_3e4,
        4.592_195_393_154_987_145_7e4,
        1.373_169_376_550_946_112_5e4,
        1.971_590_950_306_551_442_7e3,
        1.331_416_678_917_843_774_5e2,
        3.387_132_872_796_366_608,
    ],
    [
        5.226_495_278_852_854_561e3,
        2.872_908_573_572_194_267_4e4,
        3.930_789_580_009_271_061e4,
        2.121_379_430_158_659_586_7e4,
        5.394_196_021_424_751_107_7e3,
        6.871_870_074_920_579_083e2,
        4.231_333_070_160_091_125_2e1,
        1.0,
    ],
];
/// The same farther out, down to a share of about 1.4e-11.
#[expect(clippy::excessive_precision, reason = "as its author prints them")]
const OUTER: [[f64; 8]; 2] = [
    [
        7.745_450_142_783_414_076_4e-4,
        2.272_384_498_926_918_458_33e-2,
        2.417_807_251_774_506_117_7e-1,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_5,
        4.630_337_846_156_545_295_9,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24e-9,
        5.475_938_084_995_344_946e-4,
        1.519_866_656_361_645_719_66e-2,
        1.481_039_764_274_800_745_9e-1,
        6.897_673_349_851_000_045_5e-1,
        1.676_384_830_183_803_849_4,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
];
/// The same in the far tails.
#[expect(clippy::excessive_precision, reason = "as its author prints them")]
const FAR: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_132_65e-7,
        2.711_555_568_743_487_578_15e-5,
        1.242_660_947_388_078_438_6e-3,
        2.653_218_952_657_612_309_3e-2,
        2.965_605_718_285_048_912_3e-1,
        1.784_826_539_917_291_335_8,
        5.463_784_911_164_114_369_9,
        6.657_904_643_501_103_777_2,
    ],
    [
        2.044_263_103_389_939_785_64e-15,
        1.421_511_758_316_445_888_7e-7,
        1.846_318_317_510_054_681_8e-5,
        7.868_691_311_456_132_591e-4,
        1.487_536_129_085_061_485_25e-2,
        1.369_298_809_227_358_053_1e-1,
        5.998_322_065_558_879_376_9e-1,
        1.0,
    ],
];

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
    fn normal_quantiles_invert_the_distribution() {
        assert_near(normal_quantile(0.975), 1.959_963_984_540_054, 1e-14);
        for share in [1e-300, 1e-15, 1e-11, 1e-6, 0.02, 0.07, 0.3, 0.5, 0.8, 0.93, 0.999, 1.0 - 1e-13] {
            let back = 0.5 * libm::erfc(-normal_quantile(share) / core::f64::consts::SQRT_2);
            assert_near(back / share, 1.0, 2e-13);
        }
    }

    #[test]
    fn empirical_values_need_weights() {
        assert_eq!(Empirical::new(vec![1.0], &[]), None);
        assert_eq!(Empirical::new(vec![1.0], &[0.0]), None);
        assert_eq!(Empirical::new(vec![1.0, 2.0], &[0.0, 3.0]).unwrap().mean(), 2.0);
    }
}
