//! Priorities: classes of which the first with a packet sends.
//! ## What it does
//! Whenever the link is free, the first class that has a packet for it sends one. A class waits as long as an earlier one has packets, so
//! the first classes can starve the last.
//! ## References
//! tc-prio(8).
//! ## Differs from the document
//! In Linux bands are numbered and a map of the field for the type of service selects one; here `class` lists them, with a
//! [rule](#class-class) each. A shaper as the queue of a class lets later classes send while it holds its packets back, as in Linux.
//! Notices to senders of dropped packets (`red_notify`) stop here.
//! ## Parameters
//! `class`: the classes, the first first; one class.

use super::class::{AXIS, Class, Rules};
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::Moment;

/// The classes of a discipline.
pub(super) const CLASS: Param = Param {
    name: "class",
    kind: Kind::Parts(&AXIS),
    default: Default::Parts(&["class"]),
    doc: "the classes, in order; a packet belongs to the first whose conditions it meets, or else to the last",
};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "prio",
    summary: "classes of which the first with a packet sends",
    reference: "tc-prio(8)",
    params: &[CLASS],
    quantities: &[],
    build: |params| {
        let (mut rules, mut queues) = (Rules::default(), Vec::new());
        for class in Class::plain(params, &[])? {
            rules.push(class.rule);
            queues.push(class.queue);
        }
        Ok(Discipline::scheduled(Prio { rules, queues }))
    },
};

/// Classes in the order of their priority.
#[derive(Debug)]
pub struct Prio {
    rules: Rules,
    queues: Vec<Box<dyn Scheduler>>,
}

impl Scheduler for Prio {
    fn attach(&mut self, outlet: &Outlet) {
        self.queues.iter_mut().for_each(|queue| queue.attach(outlet));
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.queues[self.rules.class_of(&packet)].enqueue(now, packet, random, outcomes);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        let mut answer = Dequeued::Empty;
        for queue in &mut self.queues {
            match (queue.dequeue(now, random, outcomes), answer) {
                (sent @ Dequeued::Send(_), _) => return sent,
                (Dequeued::NotBefore(at), Dequeued::NotBefore(other)) => answer = Dequeued::NotBefore(at.min(other)),
                (held @ Dequeued::NotBefore(_), _) => answer = held,
                (Dequeued::Empty, _) => {}
            }
        }
        answer
    }

    fn backlog(&self) -> Backlog {
        self.queues.iter().map(|queue| queue.backlog()).fold(Backlog::default(), Backlog::and)
    }

    fn reasons(&self) -> Vec<Reason> {
        self.queues.iter().flat_map(|queue| queue.reasons()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, PartSpec, Value};
    use crate::testing::{Bench, build, capable, handles, packet};

    /// A class of these parameters.
    fn class(set: &[(&str, Value)]) -> PartSpec {
        let mut params = Params::defaults(super::super::class::class::ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        PartSpec::new("class", params)
    }

    fn of_flow(flow: f64) -> (&'static str, Value) {
        ("flows", Value::Numbers(vec![flow]))
    }

    #[test]
    fn the_first_class_with_a_packet_sends() {
        let classes = vec![class(&[of_flow(3.0)]), class(&[of_flow(2.0)]), class(&[of_flow(1.0)])];
        let mut bench = Bench::new(&ENTRY, &[("class", Value::Parts(classes))]);
        // Flow 4 has no class of its own, so it is in the last.
        bench.arrive_all(0, [(0, 1), (1, 4), (2, 2), (3, 3), (4, 3)].map(|(handle, flow)| packet(handle, flow, 1000)));
        assert_eq!(handles(&bench.drain(0)), [3, 4, 2, 0, 1]);
    }

    #[test]
    fn each_class_has_the_queue_that_it_says() {
        let word = Value::Word("ect".to_owned());
        let classes = vec![class(&[("ecn", word), ("queue", Value::Part(super::super::AXIS.spec("headdrop")))]), class(&[])];
        let mut bench = Bench::new(&ENTRY, &[("class", Value::Parts(classes))]);
        bench.arrive_all(0, (0..51).map(|handle| capable(handle, 1, 100)));
        assert_eq!(bench.outcomes().first().map(|(handle, _)| *handle), Some(0), "the oldest of the first class");
        bench.arrive_all(0, (100..150).map(|handle| packet(handle, 1, 100)));
        assert_eq!(bench.outcomes().first().map(|(handle, _)| *handle), Some(149), "the newest of the second");
    }

    #[test]
    fn a_shaper_in_a_class_does_not_stop_the_others() {
        let tbf = super::super::AXIS.spec("tbf");
        let classes = vec![class(&[of_flow(1.0), ("queue", Value::Part(tbf))]), class(&[])];
        let mut bench = Bench::new(&ENTRY, &[("class", Value::Parts(classes))]);
        bench.arrive_all(0, (0..7).map(|handle| packet(handle, 1, 1000)));
        bench.arrive_all(0, (10..12).map(|handle| packet(handle, 2, 1000)));
        // 5120 tokens at 0.5 Mbit/s: five packets leave at once.
        let sent: Vec<u32> = std::iter::from_fn(|| bench.depart(0)).map(|packet| packet.handle).collect();
        assert_eq!(sent, [0, 1, 2, 3, 4, 10, 11]);
        assert!(matches!(bench.ask(crate::units::Instant::ZERO), Dequeued::NotBefore(_)));
    }

    #[test]
    fn what_belongs_to_other_disciplines_is_refused() {
        let refused = |name, value| build(&ENTRY, &[("class", Value::Parts(vec![class(&[(name, value)])]))]).unwrap_err();
        assert_eq!(refused("rate", Value::Number(1e6)), "its classes have no rate");
        assert_eq!(refused("class", Value::Parts(vec![class(&[])])), "its classes have no class");
        assert_eq!(build(&ENTRY, &[("class", Value::Parts(vec![]))]).unwrap_err(), "there must be at least one class");
    }
}
