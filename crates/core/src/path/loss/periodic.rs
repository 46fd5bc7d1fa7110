//! Periodic loss: packets are lost at regular distances.
//! ## What it does
//! Counts the packets that arrive at the link, SYNs and pure ACKs included, and loses packet number `first`, and every `packets`-th from
//! there on. Such losses measure a control's answer without chance: between two of them lies a known number of packets.
//! ## References
//! Mathis et al., *The macroscopic behavior of the TCP congestion avoidance algorithm*, 1997 (one loss in every 1/p packets); ns-3, periodic
//! loss of its TCP validation.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `packets`: distance of two lost packets; 100, an arbitrary choice: a loss rate of 1 %.
//! `first`: number of the first lost packet, counted from 1. auto: `packets`.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "periodic",
    summary: "every n-th packet is lost",
    reference: "Mathis et al. 1997",
    params: &[
        Param {
            name: "packets",
            kind: Kind::Integer { min: 1.0, max: 1e15 },
            default: Default::Number(100.0),
            doc: "distance between two lost packets, in packets",
        },
        Param {
            name: "first",
            kind: Kind::Integer { min: 1.0, max: 1e15 },
            default: Default::Auto,
            doc: "number of the first lost packet; the first that arrives is 1. auto: packets",
        },
    ],
    quantities: &[],
    build: |params| {
        let packets = params.number("packets");
        let first = params.number_or_auto("first").unwrap_or(packets);
        Ok(Box::new(Periodic { packets: packets as u64, first: first as u64 }))
    },
};

/// Losses at regular distances.
#[derive(Debug)]
pub struct Periodic {
    packets: u64,
    first: u64,
}

impl LossModel for Periodic {
    fn fate(&mut self, arrival: &Arrival, _random: &mut Generator) -> Fate {
        Fate::lost_if(arrival.number.checked_sub(self.first).is_some_and(|after| after.is_multiple_of(self.packets)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, fates};

    fn lost(set: &[(&str, Value)]) -> Vec<u64> {
        let mut model = build(&ENTRY, set).unwrap();
        (1..).zip(fates(&mut *model, 30)).filter(|(_, fate)| *fate == Fate::Lose).map(|(number, _)| number).collect()
    }

    #[test]
    fn every_nth_packet_is_lost() {
        let packets = ("packets", Value::Number(10.0));
        assert_eq!(lost(std::slice::from_ref(&packets)), [10, 20, 30]);
        assert_eq!(lost(&[packets.clone(), ("first", Value::Number(3.0))]), [3, 13, 23]);
        assert_eq!(lost(&[packets, ("first", Value::Number(25.0))]), [25]);
        assert_eq!(lost(&[]), [0; 0]);
    }
}
