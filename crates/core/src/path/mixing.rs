//! Random quantities that depend on their past: netem's mixed numbers, and walks between mirrors.

use crate::params::{Default, Kind, Param};
use crate::rng::Generator;

/// Uniform numbers u, of which each is drawn as (1 − ρ) u + ρ · the number before. The result is not uniform: the larger ρ, the narrower it
/// is round 1/2, where it starts. This is netem's correlation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixing {
    rho: f64,
    last: f64,
}

impl Mixing {
    /// Numbers with this weight ρ of the number before; 0 for independent ones.
    pub(crate) const fn new(rho: f64) -> Self {
        Self { rho, last: 0.5 }
    }

    /// The next number, between 0 and 1.
    pub(crate) fn draw(&mut self, random: &mut Generator) -> f64 {
        let uniform = random.uniform();
        if self.rho == 0.0 {
            return uniform;
        }
        self.last = (1.0 - self.rho) * uniform + self.rho * self.last;
        self.last
    }
}

/// `value`, mirrored at `least` and `most` until it is between them.
pub(crate) fn mirrored(value: f64, least: f64, most: f64) -> f64 {
    let width = most - least;
    if width <= 0.0 {
        return least;
    }
    let place = (value - least).abs() % (2.0 * width);
    least + if place > width { 2.0 * width - place } else { place }
}

/// The parameter ρ of a part.
pub(crate) const CORRELATION: Param = Param {
    name: "correlation",
    kind: Kind::Probability { min: 0.0, max: 1.0 },
    default: Default::Number(0.0),
    doc: "netem's correlation ρ: a packet's random number is (1 − ρ) times a new one plus ρ times that of the packet before",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    #[test]
    fn mixed_numbers_are_correlated_and_narrower() {
        let (rho, count) = (0.6, 400_000);
        let (mut mixing, mut random) = (Mixing::new(rho), Generator::derived(1, "test"));
        let drawn: Vec<f64> = (0..count).map(|_| mixing.draw(&mut random) - 0.5).collect();
        let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / f64::from(count);
        let variance = mean(&mut drawn.iter().map(|x| x * x));
        // The variance of a uniform number, 1/12, times (1 − ρ)² / (1 − ρ²).
        assert_close(variance, (1.0 - rho) / (1.0 + rho) / 12.0, 3e-4);
        assert_close(mean(&mut drawn.windows(2).map(|pair| pair[0] * pair[1])) / variance, rho, 0.01);
    }

    proptest! {
        #[test]
        fn a_mirrored_number_is_between_the_mirrors(value in -1e3..1e3_f64, least in 0.0..5.0_f64, width in 0.0..5.0_f64) {
            let found = mirrored(value, least, least + width);
            prop_assert!((least..=least + width).contains(&found));
        }
    }
}
