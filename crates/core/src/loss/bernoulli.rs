//! Bernoulli loss: every packet is lost with the same probability.
//! ## What it does
//! Draws one random number for each packet, including SYNs, and drops the packet if the number is below `rate`. Losses are independent of
//! one another and of packet size.
//! ## References
//! ns-2.35, `ErrorModel` with unit `pkt` and a uniform random variable.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `rate`: probability of loss; 0 %. A loss model without a rate has no effect.

use crate::entry::Entry;
use crate::loss::LossModel;
use crate::params::{Default, Kind, Param};
use crate::rng::Generator;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "bernoulli",
    summary: "every packet is lost with the same probability",
    reference: "ns-2.35 ErrorModel, unit pkt",
    params: &[Param {
        name: "rate",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.0),
        doc: "probability that a packet is lost",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Bernoulli { rate: params.number("rate") })),
};

/// Independent losses with one probability.
#[derive(Debug)]
pub struct Bernoulli {
    rate: f64,
}

impl LossModel for Bernoulli {
    fn drops(&mut self, random: &mut Generator) -> bool {
        random.uniform() < self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_its_share() {
        let mut model = Bernoulli { rate: 0.2 };
        let mut random = Generator::derived(1, "test");
        let lost = (0..100_000).filter(|_| model.drops(&mut random)).count();
        // Five standard deviations of a binomial: 5·√(10⁵·0.2·0.8) ≈ 632.
        assert!(lost.abs_diff(20_000) < 632, "{lost}");
    }

    #[test]
    fn the_extremes_are_certain() {
        let mut random = Generator::derived(1, "test");
        assert!((0..1000).all(|_| !Bernoulli { rate: 0.0 }.drops(&mut random)));
        assert!((0..1000).all(|_| Bernoulli { rate: 1.0 }.drops(&mut random)));
    }
}
