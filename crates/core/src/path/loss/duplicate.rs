//! Duplication: some packets arrive twice.
//! ## What it does
//! Draws one random number for each packet, including SYNs and pure ACKs, and copies the packet if the number is below `rate`. The copy
//! follows the packet at once: in front of the queue as another arrival, behind the link as another packet at the same time. Behind this
//! model, the models that follow in the list decide on each of the two.
//! ## References
//! Paxson, *End-to-end Internet packet dynamics*, 1999 (packet replication); the option `duplicate` of the emulator netem.
//! ## Differs from the document
//! Replication is independent from packet to packet, and makes one copy.
//! ## Parameters
//! `rate`: probability of a copy; 0 %. A model without a rate has no effect.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "duplicate",
    summary: "every packet is copied with the same probability",
    reference: "Paxson 1999",
    params: &[Param {
        name: "rate",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.0),
        doc: "probability that a packet is copied",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Duplicate { rate: params.number("rate") })),
};

/// Independent copies with one probability.
#[derive(Debug)]
pub struct Duplicate {
    rate: f64,
}

impl LossModel for Duplicate {
    fn fate(&mut self, _arrival: &Arrival, random: &mut Generator) -> Fate {
        if random.uniform() < self.rate { Fate::Duplicate } else { Fate::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fates;

    #[test]
    fn copies_its_share() {
        let copied = fates(&mut Duplicate { rate: 0.2 }, 100_000).filter(|fate| *fate == Fate::Duplicate).count();
        // Five standard deviations of a binomial: 5·√(10⁵·0.2·0.8) ≈ 632.
        assert!(copied.abs_diff(20_000) < 632, "{copied}");
    }
}
