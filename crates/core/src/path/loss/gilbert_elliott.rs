//! Gilbert–Elliott loss: losses come in bursts, from a channel that alternates between a good and a bad state.
//! ## What it does
//! Before each packet, the channel changes from good to bad with probability `p`, and from bad to good with probability `r`. The packet is
//! then lost with the probability of the state. In the long run, the channel is bad for p / (p + r) of the packets, and stays bad for 1 / r
//! packets on average. With the defaults of `loss_good` and `loss_bad`, these are the loss rate and the mean burst.
//! ## References
//! Gilbert, *Capacity of a burst-noise channel*, 1960; Elliott, *Estimates of error rates for codes on burst-noise channels*, 1963;
//! Hasslinger & Hohlfeld, *The Gilbert-Elliott model for packet loss in real time services on the Internet*, 2008.
//! ## Differs from the document
//! - The state belongs to packets, not to bits or to time, as in Hasslinger & Hohlfeld and in the emulator netem.
//! - Elliott's k and h are the probabilities of success: `loss_good` is 1 − k, and `loss_bad` is 1 − h.
//! - The channel starts in the good state instead of a random one.
//! ## Parameters
//! `p`: 1 %, an arbitrary choice: one packet in a hundred begins a bad period.
//! `r`: 30 %, so that bad periods last 3.3 packets on average.
//! `loss_good`: 0 %, as in Gilbert's model.
//! `loss_bad`: 100 %, the simple Gilbert model; Gilbert's own is 50 %.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

const fn probability(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Probability { min: 0.0, max: 1.0 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "gilbert_elliott",
    summary: "losses in bursts, from a channel with a good and a bad state",
    reference: "Gilbert 1960; Elliott 1963",
    params: &[
        probability("p", 0.01, "probability per packet that the channel turns bad"),
        probability("r", 0.3, "probability per packet that the channel turns good"),
        probability("loss_good", 0.0, "probability of loss in the good state (1 − k)"),
        probability("loss_bad", 1.0, "probability of loss in the bad state (1 − h)"),
    ],
    quantities: &[],
    build: |params| {
        let [p, r, good, bad] = ["p", "r", "loss_good", "loss_bad"].map(|name| params.number(name));
        Ok(Box::new(GilbertElliott { change: [p, r], loss: [good, bad], bad: false }))
    },
};

/// A channel with two states.
#[derive(Debug)]
pub struct GilbertElliott {
    /// Probability of leaving the good and the bad state.
    change: [f64; 2],
    /// Probability of loss in the good and the bad state.
    loss: [f64; 2],
    bad: bool,
}

impl LossModel for GilbertElliott {
    fn fate(&mut self, _arrival: &Arrival, random: &mut Generator) -> Fate {
        // Two numbers for each packet: the path of the channel does not depend on the losses.
        self.bad ^= random.uniform() < self.change[usize::from(self.bad)];
        Fate::lost_if(random.uniform() < self.loss[usize::from(self.bad)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build, fates};

    const COUNT: u64 = 1_000_000;

    fn lost(p: f64, r: f64, good: f64, bad: f64) -> Vec<bool> {
        let set = [("p", p), ("r", r), ("loss_good", good), ("loss_bad", bad)].map(|(name, value)| (name, Value::Number(value)));
        let mut model = build(&ENTRY, &set).unwrap();
        fates(&mut *model, COUNT).map(|fate| fate == Fate::Lose).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn the_stationary_loss_and_the_bursts_are_those_of_the_chain() {
        let (p, r) = (0.01, 0.3);
        let lost = lost(p, r, 0.0, 1.0);
        // Losses are correlated by 1 − p − r from packet to packet, which multiplies the variance by (2 − p − r) / (p + r).
        let stationary = p / (p + r);
        let deviation = (stationary * (1.0 - stationary) * (2.0 - p - r) / (p + r) / COUNT as f64).sqrt();
        assert_close(share(&lost), stationary, 4.0 * deviation);
        // Bursts are geometric: mean 1/r, variance (1 − r)/r².
        let bursts: Vec<usize> = lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        assert_close(mean, 1.0 / r, 4.0 * (1.0 - r).sqrt() / r / (bursts.len() as f64).sqrt());
    }

    #[test]
    fn both_states_can_lose() {
        // (r · loss_good + p · loss_bad) / (p + r)
        assert_close(share(&lost(0.05, 0.15, 0.02, 0.6)), (0.15 * 0.02 + 0.05 * 0.6) / 0.2, 0.003);
        assert_eq!((share(&lost(0.0, 1.0, 0.0, 1.0)), share(&lost(1.0, 0.0, 0.0, 1.0))), (0.0, 1.0));
    }
}
