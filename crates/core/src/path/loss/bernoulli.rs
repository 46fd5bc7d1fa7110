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
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
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
    fn fate(&mut self, _arrival: &Arrival, random: &mut Generator) -> Fate {
        Fate::lost_if(random.uniform() < self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fates;

    #[test]
    fn loses_its_share() {
        let lost = fates(&mut Bernoulli { rate: 0.2 }, 100_000).filter(|fate| *fate == Fate::Lose).count();
        // Five standard deviations of a binomial: 5·√(10⁵·0.2·0.8) ≈ 632.
        assert!(lost.abs_diff(20_000) < 632, "{lost}");
    }

    #[test]
    fn the_extremes_are_certain() {
        assert!(fates(&mut Bernoulli { rate: 0.0 }, 1000).all(|fate| fate == Fate::Pass));
        assert!(fates(&mut Bernoulli { rate: 1.0 }, 1000).all(|fate| fate == Fate::Lose));
    }
}
