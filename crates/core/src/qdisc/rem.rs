//! REM: random exponential marking.
//! ## What it does
//! At regular intervals REM adjusts a price by the mismatch of input and capacity and by the queue's distance from its reference. Arriving
//! packets are dropped, or departing packets marked, with probability 1 − φ^(−price). Prices therefore add up along a path.
//! ## References
//! Athuraliya, Li, Low & Yin, *REM: active queue management*, IEEE Network 15(3), 2001; ns-2.35, `REM`, whose defaults are used.
//! ## Differs from the document
//! As in ns-2, a packet that would make the queue reach its limit is dropped, and `alpha` weighs the queue at the steps only.
//! ## Parameters
//! `limit`: capacity, including the arriving packet; 50 packets.
//! `gamma`: gain of the price; 0.001.
//! `phi`: base of the probability; 1.001.
//! `alpha`: weight of the queue in the price; 0.1.
//! `reference`: target length of the queue; 20 packets.
//! `interval`: time between two steps; 2 ms.
//! `mean_packet`: average packet size, which converts the link rate to packets; 1000 B.
//! `ecn`: marks departing packets instead of dropping arriving ones; false (ns-2: `markpkts_`). With `ecn`, packets that do not support ECN
//! pass.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param};
use crate::qdisc::params::{PROBABILITY, limit, mean_packet};
use crate::qdisc::{
    Admission, Arrival, Backlog, Dequeued, Discipline, Ecn, Fifo, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict,
};
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "rem",
    summary: "random exponential marking by a price for queue and input rate",
    reference: "Athuraliya et al. 2001; ns-2.35 REM",
    params: &[
        limit("limit", 50, "capacity, including the arriving packet"),
        Param { name: "gamma", kind: Kind::Number { min: 0.0, max: 1e3 }, default: Default::Number(0.001), doc: "gain of the price" },
        Param { name: "phi", kind: Kind::Number { min: 1.0, max: 1e3 }, default: Default::Number(1.001), doc: "base of the probability" },
        Param {
            name: "alpha",
            kind: Kind::Number { min: 0.0, max: 1e3 },
            default: Default::Number(0.1),
            doc: "weight of the queue in the price",
        },
        Param {
            name: "reference",
            kind: Kind::Number { min: 0.0, max: 1e15 },
            default: Default::Number(20.0),
            doc: "target length of the queue in packets",
        },
        Param {
            name: "interval",
            kind: Kind::Duration { min: 1e-6, max: 1e6 },
            default: Default::Number(0.002),
            doc: "time between two steps",
        },
        mean_packet(1000.0, "average packet size, which converts the link rate to packets"),
        Param {
            name: "ecn",
            kind: Kind::Bool,
            default: Default::Bool(false),
            doc: "marks departing packets instead of dropping arriving ones",
        },
    ],
    quantities: &[PROBABILITY, quantity("price", "", "price")],
    build: |params| {
        let rem = Rem {
            limit: params.limit("limit"),
            gamma: params.number("gamma"),
            phi: params.number("phi"),
            alpha: params.number("alpha"),
            reference: params.number("reference"),
            interval: params.number("interval"),
            mean_packet: params.number("mean_packet"),
            marks: params.flag("ecn"),
            capacity: 0.0,
            price: 0.0,
            probability: 0.0,
            input: 0.0,
        };
        Ok(if rem.marks { Discipline::scheduled(Marking(Fifo::new(rem))) } else { Discipline::fifo(rem) })
    },
};

/// A REM queue.
#[derive(Debug)]
pub struct Rem {
    limit: Limit,
    gamma: f64,
    phi: f64,
    alpha: f64,
    reference: f64,
    interval: f64,
    mean_packet: f64,
    /// Whether departing packets are marked instead of arriving ones dropped.
    marks: bool,
    /// Packets that the link sends per interval.
    capacity: f64,
    price: f64,
    probability: f64,
    /// Packets that have arrived since the last step.
    input: f64,
}

impl Admission for Rem {
    fn attach(&mut self, outlet: &Outlet) {
        self.capacity = outlet.rate.as_bits_per_sec() as f64 * self.interval / (8.0 * self.mean_packet);
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        self.input += 1.0;
        if backlog.with(arrival.size).reaches(self.limit) {
            return Verdict::Drop(Reason::Overflow);
        }
        if !self.marks && random.uniform() <= self.probability { Verdict::Drop(Reason::Early) } else { Verdict::Accept }
    }

    fn first_update(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }

    fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
        // Athuraliya et al., eq. 1: the price for queue and input rate.
        let mismatch = self.input + self.alpha * (backlog.packets as f64 - self.reference) - self.capacity;
        self.price = (self.price + self.gamma * mismatch).max(0.0);
        // Eq. 2: the probability that no link of a path marks is φ^(−sum of the prices).
        self.probability = 1.0 - libm::pow(self.phi, -self.price);
        self.input = 0.0;
        now + Duration::from_secs_f64(self.interval)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.probability);
        out("price", self.price);
    }
}

/// A REM queue that marks. It draws a number for each request of the link; as in ns-2, packets that do not support ECN pass.
#[derive(Debug)]
struct Marking(Fifo<Rem>);

impl Scheduler for Marking {
    fn attach(&mut self, outlet: &Outlet) {
        self.0.attach(outlet);
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.0.enqueue(now, packet, random, outcomes);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        let head = self.0.dequeue(now, random, outcomes);
        let chosen = random.uniform() <= self.0.admission().probability;
        let Dequeued::Send(mut packet) = head else { return Dequeued::Empty };
        if chosen && packet.ecn != Ecn::NotEct {
            packet.ecn = Ecn::Ce;
            outcomes.push((packet, Outcome::Marked(Reason::Early)));
        }
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.0.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, admission, arrival, assert_close, capable, internal, packet};

    const fn packets(packets: u64) -> Backlog {
        Backlog { packets, bytes: 1000 * packets }
    }

    fn numbers<const N: usize>(set: [(&'static str, f64); N]) -> [(&'static str, Value); N] {
        set.map(|(name, number)| (name, Value::Number(number)))
    }

    #[test]
    fn steps_by_hand() {
        let mut rem = admission(&ENTRY, &numbers([("gamma", 0.25), ("phi", 2.0), ("alpha", 0.5), ("reference", 4.0)]));
        let mut random = Generator::derived(1, "");
        assert_eq!(rem.first_update(), Some(Instant::ZERO));
        // The link sends two packets in 2 ms. Three arrivals (one dropped) and six packets above the reference: 3 + 0.5·6 − 2 = 4 raise the
        // price by 1.
        let verdicts = [0, 0, 49].map(|waiting| rem.admit(&arrival(0, 1000), packets(waiting), &mut random));
        assert_eq!(verdicts, [Verdict::Accept, Verdict::Accept, Verdict::Drop(Reason::Overflow)]);
        let mut now = Instant::ZERO;
        for (step, (waiting, price, probability)) in
            (1..).zip([(10, 1.0, 0.5), (16, 2.0, 0.75), (0, 1.0, 0.5), (0, 0.0, 0.0), (0, 0.0, 0.0)])
        {
            now = rem.update(now, packets(waiting));
            assert_eq!(now.as_nanos(), step * 2_000_000);
            assert_close(internal(|out| rem.internals(out), "price"), price, 1e-12);
            assert_close(internal(|out| rem.internals(out), "probability"), probability, 1e-12);
        }
    }

    #[test]
    fn without_marks_it_drops_on_arrival() {
        let mut random = Generator::derived(1, "");
        let mut rem = admission(&ENTRY, &numbers([("gamma", 1000.0), ("phi", 2.0)]));
        let arrival = Arrival { ecn: Ecn::Ect0, ..arrival(0, 1000) };
        assert_eq!(rem.admit(&arrival, packets(48), &mut random), Verdict::Accept);
        assert_eq!(rem.admit(&arrival, packets(49), &mut random), Verdict::Drop(Reason::Overflow));
        rem.update(Instant::ZERO, packets(48));
        assert_eq!(rem.admit(&arrival, packets(0), &mut random), Verdict::Drop(Reason::Early));
    }

    /// A queue that marks every packet after a step with more than two arrivals.
    fn marking() -> Bench {
        let set = numbers([("gamma", 1000.0), ("phi", 2.0), ("alpha", 0.0)]);
        Bench::new(&ENTRY, &[&set[..], &[("ecn", Value::Bool(true)), ("limit", Value::Limit(Limit::Packets(6)))]].concat())
    }

    #[test]
    fn marks_are_given_on_departure() {
        let mut bench = marking();
        let arrivals = [capable(0, 0, 1000), packet(1, 0, 1000), packet(2, 0, 1000), capable(3, 0, 1000), packet(4, 0, 1000)];
        assert!(arrivals.iter().all(|packet| bench.arrive(0, *packet)));
        assert!(!bench.arrive(0, capable(5, 0, 1000)));
        assert_eq!(bench.outcomes(), [(5, OVERFLOW)]);
        // In the first 2 ms the price is 0.
        assert_eq!(bench.depart(1999), Some(arrivals[0]));
        assert_eq!(bench.outcomes(), []);
        // The six arrivals then raise the price, but packets without ECN pass.
        assert_eq!([(); 2].map(|()| bench.depart(2000)), [Some(arrivals[1]), Some(arrivals[2])]);
        assert_eq!(bench.outcomes(), []);
        assert_eq!(bench.depart(2000), Some(Packet { ecn: Ecn::Ce, ..arrivals[3] }));
        assert_eq!(bench.outcomes(), [(3, Outcome::Marked(Reason::Early))]);
    }

    #[test]
    fn a_number_is_drawn_for_an_empty_queue_too() {
        let (mut bench, mut twin) = (marking(), Generator::derived(1, ""));
        assert_eq!(bench.depart(0), None);
        twin.uniform();
        assert_close(bench.random.uniform(), twin.uniform(), 0.0);
    }
}
