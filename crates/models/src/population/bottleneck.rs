//! The shared bottleneck: the loss that the windows of its flows cause, and the costs of that loss.

use ackclock_core::params::Params;

use crate::flow_sizes::FlowSizes;
use crate::replicator::mean;

/// Upper bound of the loss; at 1, no packet would ever arrive.
const MOST_LOSS: f64 = 1.0 - 1e-12;
/// Tolerance of the equation for the loss.
const EXACT: f64 = 1e-15;
/// Most iterations of the search for the loss, which needs fewer than ten.
const ITERATIONS: u32 = 100;
/// Intervals of the grid over the shares of two strategies, where the search for the optimum begins.
const GRID: u32 = 32;
/// Golden-section steps; they shrink the interval around the best grid point to 0.618⁴⁰, about 4·10⁻⁹ of its width.
const GOLDEN_STEPS: u32 = 40;

/// The flows and their bottleneck; a strategy is an initial window.
#[derive(Debug)]
pub(super) struct Bottleneck {
    windows: Vec<f64>,
    /// The part of a flow's load that depends on the initial window only, by strategy.
    fixed: Vec<f64>,
    sizes: FlowSizes,
    flows: f64,
    loss: f64,
    /// Segments that the bottleneck carries and buffers per round trip.
    capacity: f64,
    /// Duration of a timeout in round trips.
    timeout: f64,
    /// Whether a flow's load is l instead of its first window.
    grown: bool,
}

impl Bottleneck {
    pub(super) fn new(params: &Params) -> Self {
        let [rtt, rate, size] = ["rtt", "rate", "packet_size"].map(|name| params.number(name));
        let sizes = FlowSizes::new(params.number("mu"), params.number("theta"));
        let windows = params.numbers("windows").to_vec();
        let grown = params.word("load") == "loss_window";
        let fixed = |window: &f64| if grown { window / 2.0 } else { sizes.mean(0.0, |flow| flow.size.min(*window)) };
        Self {
            fixed: windows.iter().map(fixed).collect(),
            windows,
            flows: params.number("flows"),
            loss: params.number("loss"),
            capacity: rate * rtt / (8.0 * size) + params.number("buffer"),
            timeout: params.number("timeout") / rtt,
            sizes,
            grown,
        }
    }

    /// The initial windows, by strategy.
    pub(super) fn windows(&self) -> &[f64] {
        &self.windows
    }

    /// The loss that a flow experiences among the others, by strategy.
    pub(super) fn losses(&self, shares: &[f64]) -> Vec<f64> {
        let others = mean(shares, &self.fixed);
        (0..self.windows.len()).map(|own| self.loss(own, others)).collect()
    }

    /// Mean round trips until a flow completes, by strategy.
    pub(super) fn costs(&self, shares: &[f64]) -> Vec<f64> {
        let others = mean(shares, &self.fixed);
        (0..self.windows.len()).map(|own| self.cost(own, others)).collect()
    }

    fn cost(&self, own: usize, others: f64) -> f64 {
        self.completion(self.windows[own], self.loss(own, others))
    }

    /// Segments per round trip of a flow with strategy `own` and of the others.
    fn load(&self, own: usize, others: f64, loss: f64) -> f64 {
        let fixed = self.fixed[own] + (self.flows - 1.0) * others;
        // l = (E[S] + V)/2: the part without V is the same for all flows.
        if self.grown { fixed + self.flows * self.sizes.delivered(loss) / 2.0 } else { fixed }
    }

    /// The loss q that reduces the load to the capacity, on top of other losses. More loss makes less load, so exactly one q exists.
    fn loss(&self, own: usize, others: f64) -> f64 {
        if self.load(own, others, self.loss) <= self.capacity {
            return self.loss;
        }
        let needed = |loss: f64| 1.0 - (1.0 - self.loss) * (self.capacity / self.load(own, others, loss)).min(1.0);
        let (mut low, mut high) = (self.loss, needed(self.loss).min(MOST_LOSS));
        if !self.grown {
            return high;
        }
        // Regula falsi in the Illinois variant: the value at an end that stays is halved.
        let (mut below, mut above) = (needed(low) - low, needed(high) - high);
        for _ in 0..ITERATIONS {
            let next = (low * above - high * below) / (above - below);
            if !(low < next && next < high) {
                break;
            }
            let gap = needed(next) - next;
            if gap.abs() < EXACT {
                return next;
            }
            if gap > 0.0 {
                (low, below, above) = (next, gap, above / 2.0);
            } else {
                (high, above, below) = (next, gap, below / 2.0);
            }
        }
        high
    }

    /// Mean round trips until a flow completes.
    fn completion(&self, window: f64, loss: f64) -> f64 {
        self.sizes.mean(loss, |flow| {
            let first = libm::log2(flow.delivered / window + 1.0);
            let timeouts = flow.size * loss / (1.0 - loss);
            if timeouts == 0.0 {
                return first;
            }
            let rest = (flow.size - flow.delivered) / timeouts;
            first + timeouts * (self.timeout + libm::log2(rest + 1.0))
        })
    }

    /// The lowest mean cost of any shares, and their mean window.
    pub(super) fn optimum(&self) -> (f64, f64) {
        // Costs depend on the shares only through the mean load, and the mean cost at a given load is linear in the shares. A mixture of at
        // most two strategies is therefore optimal.
        let count = self.windows.len();
        let alone = (0..count).map(|only| (self.cost(only, self.fixed[only]), self.windows[only]));
        let pairs = (0..count).flat_map(|one| (0..one).map(move |other| (one, other)));
        let mixed = pairs.map(|pair| self.best_mixture(pair));
        alone.chain(mixed).fold((f64::INFINITY, f64::NAN), |best, found| if found.0 < best.0 { found } else { best })
    }

    fn best_mixture(&self, (one, other): (usize, usize)) -> (f64, f64) {
        let blend = |share: f64, of: &[f64]| share * of[one] + (1.0 - share) * of[other];
        let cost = |share: f64| {
            let load = blend(share, &self.fixed);
            share * self.cost(one, load) + (1.0 - share) * self.cost(other, load)
        };
        let at = |point: u32| f64::from(point) / f64::from(GRID);
        let costs: Vec<f64> = (0..=GRID).map(|point| cost(at(point))).collect();
        let best = (0..=GRID).min_by(|a, b| costs[*a as usize].total_cmp(&costs[*b as usize])).unwrap_or(0);
        let (mut low, mut high) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
        let golden = f64::midpoint(libm::sqrt(5.0), -1.0);
        for _ in 0..GOLDEN_STEPS {
            let (left, right) = (high - golden * (high - low), low + golden * (high - low));
            if cost(left) < cost(right) { high = right } else { low = left }
        }
        let share = f64::midpoint(low, high);
        let found = (cost(share), blend(share, &self.windows));
        let grid = (costs[best as usize], blend(at(best), &self.windows));
        if found.0 < grid.0 { found } else { grid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::tests::params;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    #[test]
    fn numbers_computed_elsewhere() {
        // Costs and losses of 2, 4, 8, 16, 32, 40, 48 from an independent program with another search for the loss and explicit sums.
        let bottleneck = Bottleneck::new(&params(&[]));
        let cases: [(&[f64], [f64; 7], [f64; 7]); 3] = [
            (
                &[1.0 / 7.0; 7],
                [15.931_140_86, 16.268_322_68, 17.797_101_29, 21.832_617_04, 31.657_066_42, 37.153_658_45, 42.927_912_92],
                [0.097_999_8, 0.104_115_71, 0.116_785_06, 0.143_634_29, 0.201_006_14, 0.230_140_05, 0.258_802_99],
            ),
            (
                &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                [6.461_718_81, 6.347_183_92, 6.991_993_49, 9.275_542_49, 15.808_613_01, 19.903_446_49, 24.495_002_04],
                [0.031_344_64, 0.035_221_17, 0.043_442_44, 0.061_856_98, 0.106_782_64, 0.132_873_26, 0.160_695_31],
            ),
            (
                &[0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.0],
                [12.918_304_77, 13.122_592_3, 14.399_962_88, 17.966_855_44, 27.010_184_88, 32.209_998, 37.747_899_94],
                [0.077_456_44, 0.082_996_9, 0.094_574_14, 0.119_571_16, 0.175_037_45, 0.204_134_91, 0.233_241_84],
            ),
        ];
        for (shares, costs, losses) in cases {
            for (found, expected) in bottleneck.costs(shares).iter().zip(costs) {
                assert_close(*found, expected, 1e-8);
            }
            for (found, expected) in bottleneck.losses(shares).iter().zip(losses) {
                assert_close(*found, expected, 1e-8);
            }
        }
    }

    #[test]
    fn one_loss_costs_a_timeout_and_half_of_the_flow_again() {
        // At small q, a flow of s segments loses each with probability q: a loss costs τ and then log₂((s + 1)/2 + 1) rounds.
        let bottleneck = Bottleneck::new(&params(&[("mu", 0.01), ("theta", 1.0)]));
        let little = (bottleneck.completion(2.0, 1e-6) - bottleneck.completion(2.0, 0.0)) / 1e-6;
        // For a flow of one segment, loss also shortens the first term, log₂((1−q)/2 + 1); its derivative at q = 0 is −(1/2)/(3/2)/ln 2.
        assert_close(little, 10.0 + 1.0 - (0.5 / 1.5) / std::f64::consts::LN_2, 1e-4);
    }

    #[test]
    fn a_lone_flow_with_room_has_no_loss() {
        let bottleneck = Bottleneck::new(&params(&[("flows", 1.0), ("buffer", 1000.0)]));
        assert_eq!(bottleneck.losses(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), [0.0; 7]);
        let costs = bottleneck.costs(&[1.0 / 7.0; 7]);
        assert!(costs.windows(2).all(|pair| pair[1] < pair[0]), "{costs:?}");
        assert_eq!(bottleneck.optimum(), (costs[6], 48.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_loss_reduces_the_load_to_the_capacity(
            flows in 1..200_u32, loss in 0.0..0.5_f64, others in 1.0..100.0_f64, own in 0..7_usize, mu in 0.5..40.0_f64,
        ) {
            let bottleneck = Bottleneck::new(&params(&[("flows", f64::from(flows)), ("loss", loss), ("mu", mu)]));
            let found = bottleneck.loss(own, others);
            let load = bottleneck.load(own, others, found);
            prop_assert!(found >= loss);
            if found > loss {
                let carried = (1.0 - found) * load;
                prop_assert!((carried / ((1.0 - loss) * bottleneck.capacity) - 1.0).abs() < 1e-9, "{carried} of {load}");
            } else {
                prop_assert!(load <= bottleneck.capacity * (1.0 + 1e-12));
            }
            prop_assert!(bottleneck.loss(own, others + 1.0) >= found, "more load gives more loss");
        }

        #[test]
        fn no_shares_are_better_than_the_optimum(weights in prop::array::uniform7(0.0..1.0_f64), flows in 1..30_u32, grown: bool) {
            let mut params = params(&[("flows", f64::from(flows)), ("theta", 30.0)]);
            let load = if grown { "loss_window" } else { "first_window" };
            params.set("load", ackclock_core::params::Value::Word(load.to_owned()));
            let bottleneck = Bottleneck::new(&params);
            let sum: f64 = weights.iter().sum();
            let shares = weights.map(|weight| weight / sum);
            let cost = mean(&shares, &bottleneck.costs(&shares));
            prop_assert!(cost >= bottleneck.optimum().0 * (1.0 - 1e-9));
        }
    }
}
