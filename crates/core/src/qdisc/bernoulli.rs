//! Bernoulli marking: each packet is marked with the same probability, whatever the queue.
//! ## What it does
//! An arriving packet is marked with a fixed probability, independently of all others and of the queue; a packet without ECN is dropped
//! instead. The queue itself is `DropTail`. It shows the window that a control reaches at a given probability.
//! ## References
//! Mathis, Semke, Mahdavi & Ott, *The macroscopic behavior of the TCP congestion avoidance algorithm*, CCR 27(3), 1997, §2 (the law for
//! random losses).
//! ## Differs from the document
//! Marks take the place of losses.
//! ## Parameters
//! `limit`: capacity in packets, bytes or multiples of the bandwidth-delay product; 1000 packets. `mark_probability`: 1 %. `spacing`:
//! `random`, or `even`, which marks the packets at equal distances: every hundredth for 1 %. `ecn`: marks packets that support ECN instead
//! of dropping them; true.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Reason, Verdict};
use crate::qdisc::params::{ECN, limit};
use crate::rng::Generator;
use crate::units::Limit;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "bernoulli",
    summary: "marks or drops each packet with a fixed probability",
    reference: "Mathis et al., CCR 27(3), 1997, §2",
    params: &[
        limit("limit", 1000, "capacity, including the arriving packet"),
        Param {
            name: "mark_probability",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.01),
            doc: "probability that a packet is marked, or dropped if it does not support ECN",
        },
        Param {
            name: "spacing",
            kind: Kind::Word(&["random", "even"]),
            default: Default::Word("random"),
            doc: "distances between marks: random, or equal",
        },
        ECN,
    ],
    quantities: &[],
    build: |params| {
        let even = params.word("spacing") == "even";
        Ok(Discipline::fifo(Bernoulli {
            limit: params.limit("limit"),
            probability: params.number("mark_probability"),
            share: even.then_some(0.0),
            ecn: params.flag("ecn"),
        }))
    },
};

/// A queue that marks with a fixed probability.
#[derive(Debug)]
pub struct Bernoulli {
    limit: Limit,
    probability: f64,
    /// Share of the next mark that has come together, if marks are even.
    share: Option<f64>,
    ecn: bool,
}

impl Bernoulli {
    fn chooses(&mut self, random: &mut Generator) -> bool {
        let Some(share) = &mut self.share else { return random.uniform() < self.probability };
        *share += self.probability;
        let whole = *share >= 1.0;
        *share -= f64::from(u8::from(whole));
        whole
    }
}

impl Admission for Bernoulli {
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        if backlog.with(arrival.size).reaches(self.limit) {
            Verdict::Drop(Reason::Overflow)
        } else if self.chooses(random) {
            arrival.signal(self.ecn, Reason::Chance)
        } else {
            Verdict::Accept
        }
    }

    fn reasons(&self) -> Vec<Reason> {
        vec![Reason::Chance]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::contract::Ecn;
    use crate::testing::arrival;

    fn marks(share: Option<f64>, ecn: Ecn) -> Vec<Verdict> {
        let mut queue = Bernoulli { limit: Limit::Packets(10), probability: 0.25, share, ecn: true };
        let mut random = Generator::derived(1, "");
        let packet = Arrival { ecn, ..arrival(0, 1000) };
        (0..10_000).map(|_| queue.admit(&packet, Backlog::default(), &mut random)).collect()
    }

    #[test]
    fn the_share_of_marks_is_the_probability() {
        let count = |share| marks(share, Ecn::Ect1).iter().filter(|verdict| **verdict == Verdict::Mark(Reason::Chance)).count();
        assert!((2400..2600).contains(&count(None)), "{}", count(None));
        assert_eq!(count(Some(0.0)), 2500);
        assert_eq!(marks(Some(0.0), Ecn::Ect0)[..5].iter().position(|verdict| *verdict != Verdict::Accept), Some(3));
    }

    #[test]
    fn a_packet_without_ecn_is_dropped() {
        assert!(marks(None, Ecn::NotEct).contains(&Verdict::Drop(Reason::Chance)));
    }
}
