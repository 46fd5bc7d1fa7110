//! Listed losses: the packets with given numbers are lost.
//! ## What it does
//! Counts the packets that arrive at the link, SYNs and pure ACKs included, and drops those whose numbers are listed. The first packet is 1.
//! A scenario can thus repeat an experiment that loses certain packets, such as the last one of a transfer.
//! ## References
//! ns-2.35, `ListErrorModel` with unit `pkt`, which counts from 0.
//! ## Differs from the document
//! The first packet is 1, so that the number is also the count of packets up to the loss.
//! ## Parameters
//! `packets`: numbers of the lost packets, in any order; none.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

/// The largest number that a list may contain; larger ones would not be exact in a scenario.
const LARGEST: f64 = 1e15;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "listed",
    summary: "the packets with given numbers are lost",
    reference: "ns-2.35 ListErrorModel, unit pkt",
    params: &[Param {
        name: "packets",
        kind: Kind::Numbers { min: 1.0, max: LARGEST },
        default: Default::Numbers(&[]),
        doc: "numbers of the lost packets among those that arrive at the link; the first is 1",
    }],
    quantities: &[],
    build: |params| {
        let numbers = params.numbers("packets");
        if let Some(fraction) = numbers.iter().find(|number| number.fract() != 0.0) {
            return Err(format!("packets must be whole numbers, not {fraction}"));
        }
        let mut packets: Vec<u64> = numbers.iter().map(|&number| number as u64).collect();
        packets.sort_unstable_by(|left, right| right.cmp(left));
        packets.dedup();
        Ok(Box::new(Listed { packets }))
    },
};

/// Losses of certain packets.
#[derive(Debug)]
pub struct Listed {
    /// The packets still to be lost; the next one is the last element.
    packets: Vec<u64>,
}

impl LossModel for Listed {
    fn fate(&mut self, arrival: &Arrival, _random: &mut Generator) -> Fate {
        Fate::lost_if(self.packets.pop_if(|next| *next == arrival.number).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, fates};

    fn model(packets: &[f64]) -> Result<Box<dyn LossModel>, String> {
        build(&ENTRY, &[("packets", Value::Numbers(packets.to_vec()))])
    }

    #[test]
    fn loses_exactly_the_listed_packets() {
        let mut model = model(&[5.0, 1.0, 5.0, 9.0]).unwrap();
        let lost: Vec<u64> = (1..).zip(fates(&mut *model, 20)).filter(|(_, fate)| *fate == Fate::Lose).map(|(number, _)| number).collect();
        assert_eq!(lost, [1, 5, 9]);
    }

    #[test]
    fn a_fraction_of_a_packet_is_refused() {
        assert_eq!(model(&[1.5]).unwrap_err(), "packets must be whole numbers, not 1.5");
    }
}
