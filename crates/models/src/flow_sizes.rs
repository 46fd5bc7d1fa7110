//! Flow sizes in segments with a truncated exponential distribution, and the part of each flow that arrives before its first loss.
//!
//! ## References
//! Aniemeka, *Transmission Control Protocol's initial congestion window for web latency reduction and speedy flows*, 2018, §3:
//! equations 1 to 3.

use ackclock_core::params::Param;

use crate::params;

/// Scale of the sizes, μ.
pub(crate) const MU: Param = params::plain("mu", 10.0, (1e-3, 1e6), "scale of the flow sizes in segments, μ");

/// Beyond this many μ, the remaining share of flows is below the precision of a double.
const NEGLIGIBLE: f64 = 40.0;

/// The distribution p(s) ∝ e^(−s/μ) for s = 1…θ, normalised to 1.
#[derive(Clone, Debug)]
pub(crate) struct FlowSizes {
    shares: Vec<f64>,
    /// Share of the flows longer than 0, 1, 2, … segments.
    tails: Vec<f64>,
}

/// The flows of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// Share of these flows among all flows, p(s).
    pub(crate) share: f64,
    /// Their size, s.
    pub(crate) size: f64,
    /// Mean number of segments delivered before the first loss, `E[S]ₛ`.
    pub(crate) delivered: f64,
    /// Probability that no segment is lost.
    pub(crate) lossless: f64,
}

impl FlowSizes {
    /// Sizes up to `theta` with scale `mu`.
    pub(crate) fn new(mu: f64, theta: f64) -> Self {
        let count = theta.min(1.0 + libm::ceil(NEGLIGIBLE * mu)) as u64;
        let weights: Vec<f64> = (0..count).map(|above| libm::exp(-(above as f64) / mu)).collect();
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.into_iter().map(|weight| weight / sum).collect();
        let mut tails = shares.clone();
        for at in (1..tails.len()).rev() {
            tails[at - 1] += tails[at];
        }
        Self { shares, tails }
    }

    /// The flows of every size, given the probability `loss` of a packet loss.
    pub(crate) fn flows(&self, loss: f64) -> impl Iterator<Item = Flow> + '_ {
        let (mut size, mut delivered, mut lossless) = (0.0, 0.0, 1.0);
        self.shares.iter().map(move |&share| {
            size += 1.0;
            lossless *= 1.0 - loss;
            // Equation 3, (1−(1−q)^s)·(1−q)/q, equals this geometric sum, which also holds for q = 0.
            delivered += lossless;
            Flow { share, size, delivered, lossless }
        })
    }

    /// Mean of a quantity over all flows.
    pub(crate) fn mean(&self, loss: f64, of: impl Fn(&Flow) -> f64) -> f64 {
        self.flows(loss).map(|flow| flow.share * of(&flow)).sum()
    }

    /// Mean number of segments delivered before the first loss.
    pub(crate) fn delivered(&self, loss: f64) -> f64 {
        // A segment counts if the flow has it and neither it nor an earlier segment is lost.
        self.tails.iter().rev().fold(0.0, |later, tail| (1.0 - loss) * (tail + later))
    }

    /// Share of the flows longer than 0, 1, 2, … segments.
    pub(crate) fn tails(&self) -> &[f64] {
        &self.tails
    }
}

/// The sum of the printed equation 1: (1/μ)·e^(−s/μ)/(e^(−1/μ) − e^(−θ/μ)) over s = 1…θ.
pub(crate) fn printed_sum(mu: f64, theta: f64) -> f64 {
    // With r = e^(−1/μ): (r − r^(θ+1))/((1 − r)·(r − r^θ))/μ.
    let short_of_one = |exponent: f64| -libm::expm1(-exponent / mu);
    short_of_one(theta) / (mu * short_of_one(1.0) * short_of_one(theta - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    #[test]
    fn sizes_by_hand() {
        // μ = 1/ln 2 halves the share with each segment: 4/7, 2/7, 1/7.
        let sizes = FlowSizes::new(1.0 / std::f64::consts::LN_2, 3.0);
        for (share, expected) in sizes.shares.iter().zip([4.0, 2.0, 1.0]) {
            assert_close(*share, expected / 7.0, 1e-15);
        }
        assert_close(sizes.mean(0.0, |flow| flow.size), 11.0 / 7.0, 1e-15);
        assert_close(sizes.tails()[1], 3.0 / 7.0, 1e-15);
        // With half of the packets lost, 1/2, 3/4 and 7/8 of a segment arrive before the first loss.
        assert_close(sizes.mean(0.5, |flow| flow.delivered), (4.0 * 0.5 + 2.0 * 0.75 + 0.875) / 7.0, 1e-15);
    }

    #[test]
    fn the_printed_formula_does_not_sum_to_one() {
        // The density on [1, θ] integrates to 1, but is summed at whole numbers: 1/(μ(1−e^(−1/μ))) without a limit, about 1 + 1/(2μ).
        for (mu, theta, sum) in
            [(10.0_f64, 100.0_f64, 1.050_838), (5.0, 100.0, 1.103_331), (100.0, 1000.0, 1.005_009), (1.0, 100.0, 1.581_977)]
        {
            let scale = (-1.0 / mu).exp() - (-theta / mu).exp();
            let added: f64 = (1..=theta as u32).map(|s| (-f64::from(s) / mu).exp() / mu / scale).sum();
            assert_close(printed_sum(mu, theta), sum, 1e-6);
            assert_close(printed_sum(mu, theta), added, 1e-12);
        }
        assert_eq!(printed_sum(10.0, 1.0), f64::INFINITY);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_sum_to_one_and_equation_3_holds(mu in 0.01..1e3_f64, theta in 1..2000_u32, loss in 1e-6..1.0_f64) {
            let sizes = FlowSizes::new(mu, f64::from(theta));
            prop_assert!((sizes.mean(0.0, |_| 1.0) - 1.0).abs() < 1e-12);
            prop_assert!((sizes.delivered(loss) - sizes.mean(loss, |flow| flow.delivered)).abs() < 1e-12 * f64::from(theta));
            for flow in sizes.flows(loss) {
                let printed = (1.0 - (1.0 - loss).powf(flow.size)) * (1.0 - loss) / loss;
                prop_assert!((flow.delivered - printed).abs() < 1e-9 * flow.size, "{flow:?}: {printed}");
            }
        }
    }
}
