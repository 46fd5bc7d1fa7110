//! Bursts: now and then, several packets in a row are lost.
//! ## What it does
//! Outside of a burst, a packet begins one with probability `rate`. A burst loses a number of packets in a row, which is drawn evenly from
//! `shortest` to `longest`; the packet after it passes. In the long run, the share of lost packets is `rate` · b / (1 + `rate` · b), where b
//! is the mean length.
//! ## References
//! ns-3, `BurstErrorModel`.
//! ## Differs from the document
//! Nothing known: ns-3's documents do not say whether a burst can follow another one at once. Here one packet passes between them.
//! ## Parameters
//! `rate`: 1 %, an arbitrary choice; ns-3 has 0 %.
//! `shortest`: 1 packet, as ns-3.
//! `longest`: 4 packets, as ns-3.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

const fn length(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Integer { min: 1.0, max: 1e9 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "bursts",
    summary: "several packets in a row are lost, a number drawn evenly",
    reference: "ns-3 BurstErrorModel",
    params: &[
        Param {
            name: "rate",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.01),
            doc: "probability that a packet begins a burst",
        },
        length("shortest", 1.0, "smallest number of packets in a burst"),
        length("longest", 4.0, "largest number of packets in a burst"),
    ],
    quantities: &[],
    build: |params| {
        let [shortest, longest] = ["shortest", "longest"].map(|name| params.number(name));
        if shortest > longest {
            return Err("shortest must not be above longest".to_owned());
        }
        Ok(Box::new(Bursts { rate: params.number("rate"), shortest, sizes: longest - shortest + 1.0, state: State::Ready }))
    },
};

/// The place of the next packet.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It can begin a burst.
    Ready,
    /// It is in a burst that loses this many more packets, or the first one behind it.
    Burst(u64),
}

/// Bursts of random lengths.
#[derive(Debug)]
pub struct Bursts {
    rate: f64,
    /// The smallest length, and the number of lengths.
    shortest: f64,
    sizes: f64,
    state: State,
}

impl LossModel for Bursts {
    fn fate(&mut self, _arrival: &Arrival, random: &mut Generator) -> Fate {
        match self.state {
            State::Ready if random.uniform() < self.rate => {
                let length = self.shortest + libm::floor(self.sizes * random.uniform());
                self.state = State::Burst(length as u64 - 1);
                Fate::Lose
            }
            State::Ready => Fate::Pass,
            State::Burst(0) => {
                self.state = State::Ready;
                Fate::Pass
            }
            State::Burst(more) => {
                self.state = State::Burst(more - 1);
                Fate::Lose
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build, fates};

    const COUNT: u64 = 300_000;

    fn lost(rate: f64, shortest: f64, longest: f64) -> Vec<bool> {
        let set = [("rate", rate), ("shortest", shortest), ("longest", longest)].map(|(name, value)| (name, Value::Number(value)));
        fates(&mut *build(&ENTRY, &set).unwrap(), COUNT).map(|fate| fate == Fate::Lose).collect()
    }

    #[test]
    fn lengths_are_even_and_the_share_is_that_of_renewal() {
        let (rate, mean) = (0.05, 4.0);
        let lost = lost(rate, 2.0, 6.0);
        let bursts: Vec<usize> = lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect();
        let count = bursts.len() as f64;
        for length in 2..=6 {
            let share = bursts.iter().filter(|burst| **burst == length).count() as f64 / count;
            assert_close(share, 0.2, 4.0 * (0.2 * 0.8 / count).sqrt());
        }
        assert!(bursts[..bursts.len() - 1].iter().all(|length| (2..=6).contains(length)));
        // A cycle: a geometric number of packets before the burst, the burst, and the packet behind it.
        let cycle = (1.0 - rate) / rate + mean + 1.0;
        assert_close(lost.iter().filter(|lost| **lost).count() as f64 / COUNT as f64, mean / cycle, 0.004);
    }

    #[test]
    fn a_packet_passes_between_two_bursts() {
        assert_eq!(lost(1.0, 2.0, 2.0)[..7], [true, true, false, true, true, false, true]);
        assert!(lost(0.0, 1.0, 4.0).iter().all(|lost| !lost));
    }

    #[test]
    fn the_shortest_is_not_longer_than_the_longest() {
        let error = build(&ENTRY, &[("shortest", Value::Number(5.0))]).unwrap_err();
        assert_eq!(error, "shortest must not be above longest");
    }
}
