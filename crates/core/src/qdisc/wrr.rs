//! Weighted round robin: classes that take turns, each of as many bytes as it says.
//! ## What it does
//! The classes with packets take turns. In its turn a class sends packets as long as its deficit counter lasts, which grows by `quantum` with
//! each turn and keeps what is left. Over time the classes share the link in the proportion of their quanta, whatever their packets' sizes;
//! what a class does not use goes to the others.
//! ## References
//! Shreedhar & Varghese, *Efficient fair queuing using deficit round robin*, 1995; tc-drr(8).
//! ## Differs from the document
//! As in tc-drr(8), and unlike `drr`, there is a class where a [rule](#class-class) says so, not for each hash, with a queue of its own. As
//! in Linux, a class that was idle joins at the end of the round with a quantum, and spends what is left of its counter before it gets the
//! next. Notices to senders of dropped packets (`red_notify`) stop here.
//! ## Parameters
//! `class`: the classes; one class. The `quantum` of a class is 1514 B unless it says otherwise, the largest packet of Ethernet.

use std::collections::VecDeque;

use super::class::{Class, Rules};
use super::head::{Ahead, Next};
use super::prio::CLASS;
use crate::entry::Entry;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::Moment;

/// The quantum of a class that names none.
const QUANTUM: u64 = 1514;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "wrr",
    summary: "classes that take turns, with a number of bytes for each (weighted deficit round robin)",
    reference: "tc-drr(8)",
    params: &[CLASS],
    quantities: &[],
    build: |params| Ok(Discipline::scheduled(Wrr::new(Class::plain(params, &["quantum"])?))),
};

/// A class and its turn.
#[derive(Debug)]
struct Share {
    queue: Ahead,
    quantum: u64,
    deficit: u64,
    /// Whether it takes turns.
    active: bool,
}

/// Classes that take turns.
#[derive(Debug)]
pub struct Wrr {
    rules: Rules,
    shares: Vec<Share>,
    /// The classes that take turns; the current one comes first.
    round: VecDeque<usize>,
}

impl Wrr {
    fn new(classes: Vec<Class>) -> Self {
        let mut wrr = Self { rules: Rules::default(), shares: Vec::new(), round: VecDeque::new() };
        for Class { rule, queue, quantum, .. } in classes {
            wrr.rules.push(rule);
            wrr.shares.push(Share { queue: Ahead::new(queue), quantum: quantum.unwrap_or(QUANTUM), deficit: 0, active: false });
        }
        wrr
    }
}

impl Scheduler for Wrr {
    fn attach(&mut self, outlet: &Outlet) {
        self.shares.iter_mut().for_each(|share| share.queue.queue.attach(outlet));
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        let index = self.rules.class_of(&packet);
        let share = &mut self.shares[index];
        share.queue.queue.enqueue(now, packet, random, outcomes);
        if !share.active && share.queue.backlog().packets > 0 {
            share.active = true;
            share.deficit = share.quantum;
            self.round.push_back(index);
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        // Classes in a row whose own shaper holds their packets back, and the earliest time that one names.
        let (mut held, mut earliest) = (0, None);
        while let Some(&index) = self.round.front() {
            let share = &mut self.shares[index];
            match share.queue.next(now, random, outcomes) {
                Next::Size(size) if size.0 <= share.deficit => {
                    share.deficit -= size.0;
                    let packet = share.queue.take(now, random, outcomes);
                    if share.queue.backlog().packets == 0 {
                        share.active = false;
                        self.round.pop_front();
                    }
                    return packet.into();
                }
                Next::Size(_) => {
                    share.deficit += share.quantum;
                    held = 0;
                    self.round.rotate_left(1);
                }
                Next::NotBefore(at) => {
                    earliest = Some(earliest.map_or(at, |other| at.min(other)));
                    held += 1;
                    self.round.rotate_left(1);
                    if held == self.round.len() {
                        break;
                    }
                }
                Next::Empty => {
                    share.active = false;
                    self.round.pop_front();
                }
            }
        }
        earliest.map_or(Dequeued::Empty, Dequeued::NotBefore)
    }

    fn backlog(&self) -> Backlog {
        self.shares.iter().map(|share| share.queue.backlog()).fold(Backlog::default(), Backlog::and)
    }

    fn reasons(&self) -> Vec<Reason> {
        self.shares.iter().flat_map(|share| share.queue.queue.reasons()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, PartSpec, Value};
    use crate::testing::{Bench, handles, packet};

    /// Classes of flows 1 and 2 with these quanta and inner queues.
    fn classes(quanta: [f64; 2], queue: &'static str) -> Value {
        let class = |(flow, quantum)| {
            let mut params = Params::defaults(super::super::class::class::ENTRY.params);
            params.set("flows", Value::Numbers(vec![flow]));
            params.set("quantum", Value::Number(quantum));
            params.set("queue", Value::Part(super::super::AXIS.spec(queue)));
            PartSpec::new("class", params)
        };
        Value::Parts([1.0, 2.0].into_iter().zip(quanta).map(class).collect())
    }

    #[test]
    fn bytes_are_shared_in_proportion_to_the_quanta() {
        for queue in ["droptail", "codel"] {
            let mut bench = Bench::new(&ENTRY, &[("class", classes([3000.0, 1000.0], queue))]);
            let (mut sent, mut now) = ([0_u64; 2], 0);
            for handle in 0..8000 {
                bench.arrive(now, packet(2 * handle, 1, 1500));
                bench.arrive(now, packet(2 * handle + 1, 2, 300));
                let packet = bench.depart(now).unwrap();
                sent[packet.flow as usize - 1] += packet.size.0;
                now += packet.size.0;
            }
            let share = sent[0] as f64 / (sent[0] + sent[1]) as f64;
            assert!((share - 0.75).abs() < 0.01, "{queue}: {sent:?}");
        }
    }

    #[test]
    fn turns_by_hand() {
        let mut bench = Bench::new(&ENTRY, &[("class", classes([1000.0, 500.0], "droptail"))]);
        bench.arrive_all(0, (0..4).map(|handle| packet(handle, 1, 600)));
        bench.arrive_all(0, (10..13).map(|handle| packet(handle, 2, 600)));
        // Class 1 sends one, has 400 B left and gets 1000 B more. Class 2 has 500 B and gets 500 B more. Class 1 sends two and has 200 B;
        // class 2 sends one and has 400 B. With 1000 B and 500 B more, each can send one again.
        assert_eq!(handles(&bench.drain(0)), [0, 1, 2, 10, 3, 11, 12]);
    }

    #[test]
    fn classes_that_shape_wait_together() {
        let mut bench = Bench::new(&ENTRY, &[("class", classes([1500.0, 1500.0], "tbf"))]);
        bench.arrive_all(0, (0..6).map(|handle| packet(handle, 1 + handle % 2, 4000)));
        assert_eq!([(); 2].map(|()| bench.depart(0).map(|packet| packet.flow)), [Some(1), Some(2)]);
        // 5120 B of tokens leave 1120, so 2880 are missing at 0.5 Mbit/s.
        let ready = crate::units::Instant::ZERO + crate::units::Duration::from_secs_f64(8.0 * 2880.0 / 5e5);
        assert_eq!(bench.ask(crate::units::Instant::ZERO), Dequeued::NotBefore(ready));
        assert!(matches!(bench.ask(ready), Dequeued::Send(_)));
    }
}
