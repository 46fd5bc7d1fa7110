//! Bit errors: a longer packet is lost more often.
//! ## What it does
//! Each bit of a packet, headers included, is wrong with probability `rate`, independently of the others, and a packet with a wrong bit is
//! lost: one of n bits with probability 1 − (1 − `rate`)ⁿ. ACKs, which are short, are therefore lost less often than data.
//! ## References
//! ns-2.35, `ErrorModel` with unit `bit`; ns-3, `RateErrorModel` with unit `ERROR_UNIT_BIT`.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `rate`: 0.0001 %, one bit in a million, an arbitrary choice: 1.2 % of packets of 1500 bytes are lost.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;
use crate::units::Bytes;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "bit_errors",
    summary: "a wrong bit loses its packet: long packets are lost more often",
    reference: "ns-2.35 ErrorModel, unit bit",
    params: &[Param {
        name: "rate",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(1e-6),
        doc: "probability that a bit is wrong",
    }],
    quantities: &[],
    build: |params| {
        let right = libm::log1p(-params.number("rate"));
        Ok(Box::new(BitErrors { right, last: (Bytes(0), 0.0) }))
    },
};

/// Independent errors of bits.
#[derive(Debug)]
pub struct BitErrors {
    /// Logarithm of the probability that a bit is right.
    right: f64,
    /// A size, and the probability that a packet of this size is lost.
    last: (Bytes, f64),
}

impl LossModel for BitErrors {
    fn fate(&mut self, arrival: &Arrival, random: &mut Generator) -> Fate {
        if self.last.0 != arrival.size {
            self.last = (arrival.size, -libm::expm1(8.0 * arrival.size.0 as f64 * self.right));
        }
        Fate::lost_if(random.uniform() < self.last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};
    use crate::units::Instant;

    const COUNT: u64 = 200_000;

    #[test]
    fn the_loss_grows_with_the_size() {
        let mut model = build(&ENTRY, &[("rate", Value::Number(2e-5))]).unwrap();
        let mut random = Generator::derived(1, "test");
        // Data and ACKs in turn.
        let sizes = [1500, 40];
        let mut lost = [0.0; 2];
        for number in 0..2 * COUNT {
            let which = (number % 2) as usize;
            let arrival = Arrival { now: Instant::ZERO, size: Bytes(sizes[which]), flow: 0, number };
            lost[which] += f64::from(u8::from(model.fate(&arrival, &mut random) == Fate::Lose));
        }
        for (size, lost) in sizes.into_iter().zip(lost) {
            let expected = 1.0 - (1.0 - 2e-5_f64).powi(8 * size as i32);
            assert_close(lost / COUNT as f64, expected, 4.0 * (expected * (1.0 - expected) / COUNT as f64).sqrt());
        }
    }

    #[test]
    fn the_extremes_are_certain() {
        for (rate, fate) in [(0.0, Fate::Pass), (1.0, Fate::Lose)] {
            let mut model = build(&ENTRY, &[("rate", Value::Number(rate))]).unwrap();
            let arrival = Arrival { now: Instant::ZERO, size: Bytes(1), flow: 0, number: 1 };
            assert_eq!(model.fate(&arrival, &mut Generator::derived(1, "test")), fate);
        }
    }
}
