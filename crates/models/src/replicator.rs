//! Replicator dynamics: strategies with payoffs above the population's mean increase their shares.
//!
//! ẋᵢ = xᵢ·(fᵢ(x) − Σⱼ xⱼ·fⱼ(x)), computed in the logarithms of the shares up to a constant: (ln xᵢ)˙ = fᵢ(x). No share becomes negative,
//! and division by the sum keeps the state on the simplex.
//!
//! ## References
//! Taylor & Jonker, *Evolutionary stable strategies and game dynamics*, 1978; Maynard Smith & Price, *The logic of animal conflict*, 1973
//! (evolutionarily stable strategies).

/// A population and the payoffs of its strategies.
#[derive(Debug)]
pub(crate) struct Population<F> {
    logs: Vec<f64>,
    shares: Vec<f64>,
    payoffs: F,
}

impl<F: Fn(&[f64]) -> Vec<f64>> Population<F> {
    /// A population with nonnegative `shares`; `payoffs` returns the payoffs of the strategies for given shares.
    pub(crate) fn new(shares: &[f64], payoffs: F) -> Self {
        let logs: Vec<f64> = shares.iter().map(|share| libm::log(*share)).collect();
        Self { shares: normalised(&logs), logs, payoffs }
    }

    /// Fractions of the population, which sum to 1.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The largest rate at which a share changes.
    pub(crate) fn drift(&self) -> f64 {
        drift(&self.shares, &(self.payoffs)(&self.shares))
    }

    /// Advances by `time` with the classical fourth-order Runge-Kutta method; returns the drift before the step.
    pub(crate) fn step(&mut self, time: f64) -> f64 {
        let first = (self.payoffs)(&self.shares);
        let ahead = |by: f64, growth: &[f64]| (self.payoffs)(&normalised(&added(&self.logs, by, growth)));
        let second = ahead(time / 2.0, &first);
        let third = ahead(time / 2.0, &second);
        let fourth = ahead(time, &third);
        let before = drift(&self.shares, &first);
        for (place, log) in self.logs.iter_mut().enumerate() {
            *log += time / 6.0 * (first[place] + 2.0 * (second[place] + third[place]) + fourth[place]);
        }
        let largest = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.logs.iter_mut().for_each(|log| *log -= largest);
        self.shares = normalised(&self.logs);
        before
    }
}

fn added(logs: &[f64], by: f64, growth: &[f64]) -> Vec<f64> {
    logs.iter().zip(growth).map(|(log, growth)| log + by * growth).collect()
}

/// Shares from their logarithms.
fn normalised(logs: &[f64]) -> Vec<f64> {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

/// The mean of `values` over a population.
pub(crate) fn mean(shares: &[f64], values: &[f64]) -> f64 {
    // A strategy without a share may have any payoff, even an infinite one.
    shares.iter().zip(values).filter(|(share, _)| **share > 0.0).map(|(share, value)| share * value).sum()
}

fn drift(shares: &[f64], payoffs: &[f64]) -> f64 {
    let mean = mean(shares, payoffs);
    shares.iter().zip(payoffs).map(|(share, payoff)| share * (payoff - mean).abs()).fold(0.0, f64::max)
}

/// The population's smallest payoff advantage over an invader: a fraction `invaders` plays one strategy, and the rest keep their `shares`.
/// The population is evolutionarily stable against such invaders if the advantage is positive.
pub(crate) fn advantage(shares: &[f64], invaders: f64, payoffs: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let against = |invader: usize| {
        let mixed: Vec<f64> = shares
            .iter()
            .enumerate()
            .map(|(place, share)| (1.0 - invaders) * share + if place == invader { invaders } else { 0.0 })
            .collect();
        let payoffs = payoffs(&mixed);
        mean(shares, &payoffs) - payoffs[invader]
    };
    // The only strategy of a population cannot invade it.
    (0..shares.len()).filter(|invader| shares[*invader] < 1.0).map(against).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    /// Payoffs of a two-player game: rows are the player's strategies, columns the opponent's.
    fn matrix<const N: usize>(game: [[f64; N]; N]) -> impl Fn(&[f64]) -> Vec<f64> + Copy {
        move |shares: &[f64]| game.iter().map(|row| mean(shares, row)).collect()
    }

    fn after<F: Fn(&[f64]) -> Vec<f64>>(shares: &[f64], payoffs: F, time: f64, step: f64) -> Vec<f64> {
        let mut population = Population::new(shares, payoffs);
        for _ in 0..(time / step).round() as u32 {
            population.step(step);
        }
        population.shares().to_vec()
    }

    #[test]
    fn hawks_and_doves_mix() {
        // With a prize V and a fighting cost C, the share of hawks is V/C.
        for (good, cost) in [(2.0, 4.0), (1.0, 3.0), (1.0, 10.0)] {
            let game = matrix([[(good - cost) / 2.0, good], [0.0, good / 2.0]]);
            for start in [0.01, 0.5, 0.99] {
                let found = after(&[start, 1.0 - start], game, 200.0, 0.1);
                assert_close(found[0], good / cost, 1e-9);
            }
            let mixed = [good / cost, 1.0 - good / cost];
            assert!(advantage(&mixed, 0.01, game) > 0.0);
            // Invading hawks exceed their share by ε(1 − V/C): a disadvantage of C/2·ε·(1 − V/C)². That of doves is C/2·ε·(V/C)².
            let least = (cost / 2.0 * 0.01) * mixed[0].min(mixed[1]).powi(2);
            assert_close(advantage(&mixed, 0.01, game), least, 1e-12);
            assert!(advantage(&[1.0, 0.0], 0.01, game) < 0.0 && advantage(&[0.0, 1.0], 0.01, game) < 0.0);
        }
    }

    #[test]
    fn a_coordination_game_ends_with_the_initial_majority() {
        // Both players gain 2 by the first strategy and 1 by the second. The border at 1/3 is an unstable equilibrium.
        let game = matrix([[2.0, 0.0], [0.0, 1.0]]);
        assert_close(after(&[0.34, 0.66], game, 100.0, 0.1)[0], 1.0, 1e-12);
        assert_close(after(&[0.33, 0.67], game, 100.0, 0.1)[0], 0.0, 1e-12);
        assert!(advantage(&[1.0, 0.0], 0.01, game) > 0.0 && advantage(&[0.0, 1.0], 0.01, game) > 0.0);
        let border = [1.0 / 3.0, 2.0 / 3.0];
        assert!(Population::new(&border, game).drift() < 1e-15);
        assert!(advantage(&border, 0.01, game) < 0.0);
    }

    #[test]
    fn rock_paper_scissors_turns() {
        // x·y·z is conserved, and the centre is not an ESS: in a zero-sum game no population has an advantage.
        let game = matrix([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]);
        let product = |shares: &[f64]| shares.iter().product::<f64>();
        let start = [0.5, 0.3, 0.2];
        let found = after(&start, game, 100.0, 0.05);
        assert_close(product(&found), product(&start), 1e-7);
        assert!(Population::new(&found, game).drift() > 0.01);
        assert_close(advantage(&[1.0 / 3.0; 3], 0.01, game), 0.0, 1e-15);
    }

    #[test]
    fn constant_payoffs_give_the_logistic_function() {
        let found = |time| after(&[0.1, 0.9], |_: &[f64]| vec![0.7, 0.2], time, 0.25)[0];
        for time in [1.0, 5.0, 10.0, 20.0] {
            // x/(1 − x) grows by the factor e^(difference of payoffs · time).
            assert_close(found(time), 1.0 / (1.0 + 9.0 * (-0.5 * time).exp()), 1e-13);
        }
    }

    #[test]
    fn the_error_is_of_fourth_order() {
        let game = matrix([[-1.0, 2.0], [0.0, 1.0]]);
        let at = |step| after(&[0.9, 0.1], game, 2.0, step)[0];
        let exact = at(0.001);
        let order = ((at(0.2) - exact) / (at(0.1) - exact)).abs().log2();
        assert!((3.7..4.3).contains(&order), "{order}");
    }

    #[test]
    fn an_absent_strategy_does_not_appear() {
        let found = after(&[0.0, 0.5, 0.5], |_: &[f64]| vec![9.0, 1.0, 0.0], 10.0, 0.1);
        assert_eq!(found[0], 0.0);
        assert_close(found[1], 1.0 / (1.0 + (-10.0_f64).exp()), 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_stay_shares(
            start in prop::array::uniform4(1e-6..1.0_f64),
            game in prop::array::uniform4(prop::array::uniform4(-1e3..1e3_f64)),
            step in 1e-3..1.0_f64,
        ) {
            let sum: f64 = start.iter().sum();
            let mut population = Population::new(&start.map(|share| share / sum), matrix(game));
            for _ in 0..100 {
                population.step(step);
                prop_assert!((population.shares().iter().sum::<f64>() - 1.0).abs() < 1e-14);
                prop_assert!(population.shares().iter().all(|share| (0.0..=1.0).contains(share)));
            }
        }
    }
}
