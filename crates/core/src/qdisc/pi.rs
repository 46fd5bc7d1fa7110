//! PI: a proportional-integral controller of the queue.
//! ## What it does
//! At regular intervals PI adjusts the probability of dropping or marking an arriving packet. The step depends on the queue's distance from
//! its reference, now and at the previous step.
//! ## References
//! Hollot, Misra, Towsley & Gong, *On designing improved controllers for AQM routers supporting TCP flows*, INFOCOM 2001; ns-2.35, `PI`,
//! whose defaults are used.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `limit`: capacity without the arriving packet; 50 packets.
//! `reference`: target length of the queue; 50 packets, so a queue with a limit of 50 packets hardly ever drops early.
//! `a`: gain of the distance from the reference; 0.00001822 per packet.
//! `b`: gain of the previous distance; 0.00001816 per packet.
//! `frequency`: controller steps per second; 170.
//! `ecn`: marks packets that support ECN instead of dropping them; true. In ns-2, `setbit_` is false and all are dropped.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Reason, Verdict};
use crate::qdisc::params::{ECN, PROBABILITY, limit};
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "pi",
    summary: "proportional-integral controller of the queue",
    reference: "Hollot et al. 2001; ns-2.35 PI",
    params: &[
        limit("limit", 50, "capacity without the arriving packet"),
        Param {
            name: "reference",
            kind: Kind::Limit { min: 0.0, max: 1e15 },
            default: Default::Limit(Limit::Packets(50)),
            doc: "target length of the queue",
        },
        Param {
            name: "a",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.000_018_22),
            doc: "gain of the distance from the reference, per packet",
        },
        Param {
            name: "b",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.000_018_16),
            doc: "gain of the previous distance, per packet",
        },
        Param {
            name: "frequency",
            kind: Kind::Number { min: 0.001, max: 1e6 },
            default: Default::Number(170.0),
            doc: "controller steps per second",
        },
        ECN,
    ],
    quantities: &[PROBABILITY],
    build: |params| {
        Ok(Discipline::fifo(Pi {
            limit: params.limit("limit"),
            reference: params.limit("reference"),
            a: params.number("a"),
            b: params.number("b"),
            frequency: params.number("frequency"),
            ecn: params.flag("ecn"),
            probability: 0.0,
            last: 0.0,
        }))
    },
};

/// A PI queue.
#[derive(Debug)]
pub struct Pi {
    limit: Limit,
    reference: Limit,
    a: f64,
    b: f64,
    frequency: f64,
    ecn: bool,
    probability: f64,
    /// Queue length at the last step.
    last: f64,
}

/// Bytes per packet if the reference is in bytes.
const MEAN_PACKET: f64 = 1000.0;

impl Pi {
    fn distance(&self, length: f64) -> f64 {
        match self.reference {
            Limit::Packets(packets) => length - packets as f64,
            Limit::Bytes(bytes) => length - bytes as f64 / MEAN_PACKET,
        }
    }
}

impl Admission for Pi {
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        if backlog.reaches(self.limit) {
            return Verdict::Drop(Reason::Overflow);
        }
        if random.uniform() <= self.probability { arrival.signal(self.ecn, Reason::Early) } else { Verdict::Accept }
    }

    fn first_update(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }

    fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
        let length = match self.reference {
            Limit::Packets(_) => backlog.packets as f64,
            Limit::Bytes(_) => backlog.bytes as f64 / MEAN_PACKET,
        };
        // Hollot et al., §V: p(k) = a·(q(k) − q₀) − b·(q(k−1) − q₀) + p(k−1).
        let step = self.a * self.distance(length) - self.b * self.distance(self.last);
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        self.last = length;
        now + Duration::from_secs_f64(1.0 / self.frequency)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::Ecn;
    use crate::testing::{admission, arrival, assert_close, internal};

    const fn packets(packets: u64) -> Backlog {
        Backlog { packets, bytes: 1000 * packets }
    }

    /// A queue with gains of 0.02 and 0.01, steps every 5 ms, and `reference`.
    fn pi(reference: Limit, ecn: bool) -> Box<dyn Admission> {
        let numbers = [("a", 0.02), ("b", 0.01), ("frequency", 200.0)].map(|(name, number)| (name, Value::Number(number)));
        let others = [("reference", Value::Limit(reference)), ("ecn", Value::Bool(ecn))];
        admission(&ENTRY, &[&numbers[..], &others].concat())
    }

    #[test]
    fn steps_by_hand() {
        let mut pi = pi(Limit::Packets(10), true);
        assert_eq!(pi.first_update(), Some(Instant::ZERO));
        // The queue was empty before the first step: 0.02·20 + 0.01·10; then + 0.02·15 − 0.01·20; then − 0.02·10 − 0.01·15.
        let mut now = Instant::ZERO;
        for (step, (waiting, expected)) in (1..).zip([(30, 0.5), (25, 0.6), (0, 0.25)]) {
            now = pi.update(now, packets(waiting));
            assert_eq!(now.as_nanos(), step * 5_000_000);
            assert_close(internal(|out| pi.internals(out), "probability"), expected, 1e-12);
        }
        pi.update(Instant::ZERO, packets(1000));
        assert_close(internal(|out| pi.internals(out), "probability"), 1.0, 0.0);
        pi.update(Instant::ZERO, packets(1000));
        pi.update(Instant::ZERO, packets(0));
        assert_close(internal(|out| pi.internals(out), "probability"), 0.0, 0.0);
    }

    #[test]
    fn a_reference_in_bytes_counts_bytes() {
        let mut pi = pi(Limit::Bytes(10_000), true);
        for (bytes, expected) in [(30_000, 0.5), (25_000, 0.6)] {
            pi.update(Instant::ZERO, Backlog { packets: 77, bytes });
            assert_close(internal(|out| pi.internals(out), "probability"), expected, 1e-12);
        }
    }

    #[test]
    fn ecn_capable_packets_are_marked() {
        let mut random = Generator::derived(1, "");
        let mut verdict = |ecn, on, above: bool, waiting| {
            let mut pi = pi(Limit::Packets(10), on);
            if above {
                pi.update(Instant::ZERO, packets(1000));
            }
            pi.admit(&Arrival { ecn, ..arrival(0, 1000) }, packets(waiting), &mut random)
        };
        assert_eq!(verdict(Ecn::Ect0, true, true, 0), Verdict::Mark(Reason::Early));
        assert_eq!(verdict(Ecn::NotEct, true, true, 0), Verdict::Drop(Reason::Early));
        assert_eq!(verdict(Ecn::Ect0, false, true, 0), Verdict::Drop(Reason::Early));
        assert_eq!(verdict(Ecn::Ect0, true, false, 49), Verdict::Accept);
        assert_eq!(verdict(Ecn::Ect0, true, false, 50), Verdict::Drop(Reason::Overflow));
    }
}
