//! Gilbert–Elliott loss: losses come in bursts, from a channel that alternates between a good and a bad state.
//! ## What it does
//! Before each packet, the channel changes from good to bad with probability `p`, and from bad to good with probability `r`. The packet is
//! then lost with the probability of the state. In the long run, the channel is bad for p / (p + r) of the packets, stays bad for 1 / r
//! packets on average, and loses (r · `loss_good` + p · `loss_bad`) / (p + r) of them. With the defaults of `loss_good` and `loss_bad`, the
//! simple Gilbert model, bad packets are lost ones: 1 / r is the mean burst.
//!
//! With `clock` "time", the channel changes in continuous time, whether packets come or not: it stays good for an exponential time of mean
//! `mean_good`, and bad for one of mean `mean_bad`. A flow that sends faster then loses longer bursts.
//! ## References
//! Gilbert, *Capacity of a burst-noise channel*, 1960; Elliott, *Estimates of error rates for codes on burst-noise channels*, 1963;
//! Hasslinger & Hohlfeld, *The Gilbert-Elliott model for packet loss in real time services on the Internet*, 2008; Salsano et al.,
//! *Definition of a general and intuitive loss model for packet networks*, 2012 (netem's `gemodel`).
//! ## Differs from the document
//! - The state belongs to packets or to time, not to bits, as in Hasslinger & Hohlfeld.
//! - Elliott's k and h are the probabilities of success: `loss_good` is 1 − k, and `loss_bad` is 1 − h.
//! - The channel starts in the good state instead of a random one.
//! ## Parameters
//! `clock`: packets, as in Hasslinger & Hohlfeld.
//! `p`: 1 %, an arbitrary choice: one packet in a hundred begins a bad period.
//! `r`: 30 %, so that bad periods last 3.3 packets on average. netem's default is 1 − p.
//! `mean_good`: 10 s, an arbitrary choice.
//! `mean_bad`: 100 ms, an arbitrary choice: the channel is bad for 1 % of the time.
//! `loss_good`: 0 %, as in Gilbert's model.
//! `loss_bad`: 100 %, the simple Gilbert model; Gilbert's own is 50 %.
//! `variant`: document: the new state decides on the packet. netem: the channel changes first, too, but the state before the change decides,
//! as in the Linux emulator, so that each burst begins and ends a packet later.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;
use crate::units::Instant;

const fn probability(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Probability { min: 0.0, max: 1.0 }, default: Default::Number(default), doc }
}

const fn stay(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 1e-6, max: 1e9 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "gilbert_elliott",
    summary: "losses in bursts, from a channel with a good and a bad state",
    reference: "Gilbert 1960; Elliott 1963",
    params: &[
        Param {
            name: "clock",
            kind: Kind::Word(&["packets", "time"]),
            default: Default::Word("packets"),
            doc: "packets: the channel can change at each packet, with p and r; time: it changes in time, after mean_good and mean_bad",
        },
        probability("p", 0.01, "probability per packet that the channel turns bad"),
        probability("r", 0.3, "probability per packet that the channel turns good"),
        stay("mean_good", 10.0, "with clock time: mean time in the good state"),
        stay("mean_bad", 0.1, "with clock time: mean time in the bad state"),
        probability("loss_good", 0.0, "probability of loss in the good state (1 − k)"),
        probability("loss_bad", 1.0, "probability of loss in the bad state (1 − h)"),
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "netem"]),
            default: Default::Word("document"),
            doc: "document: a packet has the loss of the state after the change; netem: of the state before it",
        },
    ],
    quantities: &[],
    build: |params| {
        let [p, r, good, bad] = ["p", "r", "loss_good", "loss_bad"].map(|name| params.number(name));
        let (time, netem) = (params.word("clock") == "time", params.word("variant") == "netem");
        if time && netem {
            return Err("variant netem changes at packets: it has no clock in time".to_owned());
        }
        let stay = ["mean_good", "mean_bad"].map(|name| params.number(name));
        let clock = if time { Clock::Time { stay, last: Instant::ZERO } } else { Clock::Packets { change: [p, r] } };
        Ok(Box::new(GilbertElliott { clock, loss: [good, bad], bad: false, netem }))
    },
};

/// When the channel changes; for the good and the bad state.
#[derive(Debug)]
enum Clock {
    /// At a packet, with the probability of leaving the state.
    Packets { change: [f64; 2] },
    /// In time, after a mean stay in seconds; the state is known at `last`.
    Time { stay: [f64; 2], last: Instant },
}

impl Clock {
    /// Probability that the channel, which was `bad`, is in the other state at `now`.
    fn change(&mut self, bad: bool, now: Instant) -> f64 {
        match self {
            Self::Packets { change } => change[usize::from(bad)],
            Self::Time { stay: [good, bad_stay], last } => {
                let gap = now.since(core::mem::replace(last, now)).as_secs_f64();
                // The chain forgets its state at the sum of both rates.
                let forgotten = -libm::expm1(-gap * (1.0 / *good + 1.0 / *bad_stay));
                let other = if bad { *good } else { *bad_stay };
                other / (*good + *bad_stay) * forgotten
            }
        }
    }
}

/// A channel with two states.
#[derive(Debug)]
pub struct GilbertElliott {
    clock: Clock,
    /// Probability of loss in the good and the bad state.
    loss: [f64; 2],
    bad: bool,
    /// Whether the state before the change decides.
    netem: bool,
}

impl LossModel for GilbertElliott {
    fn fate(&mut self, arrival: &Arrival, random: &mut Generator) -> Fate {
        // Two numbers for each packet: the path of the channel does not depend on the losses.
        let before = self.bad;
        self.bad ^= random.uniform() < self.clock.change(before, arrival.now);
        let decisive = if self.netem { before } else { self.bad };
        Fate::lost_if(random.uniform() < self.loss[usize::from(decisive)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build, fates};
    use crate::units::{Bytes, Duration};

    const COUNT: u64 = 1_000_000;

    fn lost(p: f64, r: f64, good: f64, bad: f64) -> Vec<bool> {
        lost_by("document", p, r, good, bad)
    }

    fn lost_by(variant: &str, p: f64, r: f64, good: f64, bad: f64) -> Vec<bool> {
        let numbers = [("p", p), ("r", r), ("loss_good", good), ("loss_bad", bad)].map(|(name, value)| (name, Value::Number(value)));
        let set = [&numbers[..], &[("variant", Value::Word(variant.to_owned()))]].concat();
        fates(&mut *build(&ENTRY, &set).unwrap(), COUNT).map(|fate| fate == Fate::Lose).collect()
    }

    fn bursts(lost: &[bool]) -> Vec<f64> {
        lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(|run| run.len() as f64).collect()
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
        let bursts = bursts(&lost);
        let mean = bursts.iter().sum::<f64>() / bursts.len() as f64;
        assert_close(mean, 1.0 / r, 4.0 * (1.0 - r).sqrt() / r / (bursts.len() as f64).sqrt());
    }

    #[test]
    fn both_states_can_lose() {
        // (r · loss_good + p · loss_bad) / (p + r)
        assert_close(share(&lost(0.05, 0.15, 0.02, 0.6)), (0.15 * 0.02 + 0.05 * 0.6) / 0.2, 0.003);
        assert_eq!((share(&lost(0.0, 1.0, 0.0, 1.0)), share(&lost(1.0, 0.0, 0.0, 1.0))), (0.0, 1.0));
    }

    #[test]
    fn netems_bursts_come_a_packet_later() {
        let [document, netem] = ["document", "netem"].map(|variant| lost_by(variant, 0.02, 0.2, 0.0, 1.0));
        assert!(!netem[0] && netem[1..] == document[..document.len() - 1]);
        assert!(document.contains(&true));
    }

    #[test]
    fn a_channel_in_time_has_its_stays_whatever_the_packets() {
        let set = [("clock", Value::Word("time".to_owned())), ("mean_good", Value::Number(0.9)), ("mean_bad", Value::Number(0.1))];
        for gap in [1e-3, 20e-3, 1.0] {
            let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(1, "test"));
            let at = |number: u64| Instant::ZERO + Duration::from_secs_f64(gap * number as f64);
            let arrival = |number| Arrival { now: at(number), size: Bytes(1000), flow: 0, number };
            let lost: Vec<bool> = (1..=COUNT).map(|number| model.fate(&arrival(number), &mut random) == Fate::Lose).collect();
            // Sampled at this distance, the channel is a chain with these probabilities.
            let forgotten = 1.0 - libm::exp(-gap * (1.0 / 0.9 + 1.0 / 0.1));
            let [p, r] = [0.1 * forgotten, 0.9 * forgotten];
            let deviation = (0.1 * 0.9 * (2.0 - p - r) / (p + r) / COUNT as f64).sqrt();
            assert_close(share(&lost), 0.1, 4.0 * deviation);
            let bursts = bursts(&lost);
            let mean = bursts.iter().sum::<f64>() / bursts.len() as f64;
            assert_close(mean, 1.0 / r, 4.0 * (1.0 - r).sqrt() / r / (bursts.len() as f64).sqrt());
        }
    }

    #[test]
    fn netem_has_no_clock_in_time() {
        let words = [("clock", "time"), ("variant", "netem")].map(|(name, word)| (name, Value::Word(word.to_owned())));
        assert_eq!(build(&ENTRY, &words).unwrap_err(), "variant netem changes at packets: it has no clock in time");
    }
}
