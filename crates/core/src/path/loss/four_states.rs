//! Four states: bursts in which some packets pass, and single losses between them.
//! ## What it does
//! A Markov chain moves at each packet. In state 1 (gap) and state 2 (burst) packets pass; in state 3 (burst) and state 4 (gap) they are
//! lost. The chain goes from 1 to 3 with probability `p13` and to 4 with `p14`, from 3 to 1 with `p31` and to 2 with `p32`, from 2 to 3 with
//! `p23`, and from 4 back to 1; otherwise it stays. Bursts have losses at a density below one, and single losses come between bursts. With
//! the defaults of `p32`, `p23` and `p14`, it is the simple Gilbert model.
//! ## References
//! Salsano et al., *Definition of a general and intuitive loss model for packet networks and its implementation in the Netem module in the
//! Linux kernel*, 2012, section 4.1 (netem's `loss state`).
//! ## Differs from the document
//! Nothing. The chain starts in state 1, and the state that it enters decides on the packet.
//! ## Parameters
//! `p13`: 1 %, an arbitrary choice: one packet in a hundred begins a burst.
//! `p31`: probability that a burst ends after a lost packet. auto: 1 − `p13`, netem's default, with which losses are independent.
//! `p32`: 0 %, netem's default: all packets of a burst are lost.
//! `p23`: 100 %, netem's default.
//! `p14`: 0 %, netem's default: no losses outside of bursts.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;

const fn probability(name: &'static str, default: Default, doc: &'static str) -> Param {
    Param { name, kind: Kind::Probability { min: 0.0, max: 1.0 }, default, doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "four_states",
    summary: "bursts in which some packets pass, and single losses between them",
    reference: "Salsano et al. 2012",
    params: &[
        probability("p13", Default::Number(0.01), "probability that a burst begins"),
        probability("p31", Default::Auto, "probability that a burst ends after a lost packet; auto: 1 − p13"),
        probability("p32", Default::Number(0.0), "probability that a packet of the burst passes after a lost one"),
        probability("p23", Default::Number(1.0), "probability that the next packet of the burst is lost again"),
        probability("p14", Default::Number(0.0), "probability of a single loss outside of bursts"),
    ],
    quantities: &[],
    build: |params| {
        let [p13, p32, p23, p14] = ["p13", "p32", "p23", "p14"].map(|name| params.number(name));
        let p31 = params.number_or_auto("p31").unwrap_or(1.0 - p13);
        if p13 + p14 > 1.0 {
            return Err("p13 and p14 together must not be above 100 %".to_owned());
        }
        if p31 + p32 > 1.0 {
            return Err("p31 and p32 together must not be above 100 %; p31 is 100 % − p13 unless it is set".to_owned());
        }
        Ok(Box::new(FourStates { p13, p14, p31, p32, p23, state: State::Gap }))
    },
};

/// The states, by their numbers in the document.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// 1: a packet between bursts passes.
    Gap,
    /// 2: a packet of a burst passes.
    Received,
    /// 3: a packet of a burst is lost.
    Lost,
    /// 4: a packet between bursts is lost.
    Single,
}

/// The chain.
#[derive(Debug)]
pub struct FourStates {
    p13: f64,
    p14: f64,
    p31: f64,
    p32: f64,
    p23: f64,
    state: State,
}

impl LossModel for FourStates {
    fn fate(&mut self, _arrival: &Arrival, random: &mut Generator) -> Fate {
        let drawn = random.uniform();
        self.state = match self.state {
            State::Gap if drawn < self.p13 => State::Lost,
            State::Gap if drawn < self.p13 + self.p14 => State::Single,
            State::Lost if drawn < self.p31 => State::Gap,
            State::Lost if drawn < self.p31 + self.p32 => State::Received,
            State::Received if drawn < self.p23 => State::Lost,
            State::Single => State::Gap,
            same => same,
        };
        Fate::lost_if(matches!(self.state, State::Lost | State::Single))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build, fates};

    const COUNT: u64 = 1_000_000;

    fn lost(set: &[(&str, f64)]) -> Vec<bool> {
        let set: Vec<(&str, Value)> = set.iter().map(|(name, value)| (*name, Value::Number(*value))).collect();
        fates(&mut *build(&ENTRY, &set).unwrap(), COUNT).map(|fate| fate == Fate::Lose).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn the_loss_is_that_of_the_stationary_chain() {
        let [p13, p31, p32, p23, p14] = [0.01, 0.2, 0.3, 0.4, 0.005];
        // Balance of each state, in units of the first: π₃ p31 = π₁ p13, π₂ p23 = π₃ p32, π₄ = π₁ p14.
        let (third, fourth) = (p13 / p31, p14);
        let second = third * p32 / p23;
        let expected = (third + fourth) / (1.0 + second + third + fourth);
        let found = share(&lost(&[("p13", p13), ("p31", p31), ("p32", p32), ("p23", p23), ("p14", p14)]));
        assert_close(found, expected, 0.002);
    }

    #[test]
    fn the_defaults_lose_independently() {
        let lost = lost(&[("p13", 0.1)]);
        assert_close(share(&lost), 0.1, 4.0 * (0.09 / COUNT as f64).sqrt());
        let after: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        assert_close(share(&after), 0.1, 4.0 * (0.09 / after.len() as f64).sqrt());
    }

    #[test]
    fn two_states_are_a_simple_gilbert_model() {
        let lost = lost(&[("p13", 0.02), ("p31", 0.25)]);
        let bursts: Vec<usize> = lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        assert_close(mean, 4.0, 4.0 * 0.75_f64.sqrt() / 0.25 / (bursts.len() as f64).sqrt());
    }

    #[test]
    fn probabilities_of_one_state_are_at_most_one_together() {
        let error = |name, value| build(&ENTRY, &[(name, Value::Number(value))]).unwrap_err();
        assert_eq!(error("p14", 1.0), "p13 and p14 together must not be above 100 %");
        assert_eq!(error("p32", 0.5), "p31 and p32 together must not be above 100 %; p31 is 100 % − p13 unless it is set");
    }
}
