//! `CHOKe`: RED that compares each arriving packet with waiting ones and drops both if they are of one flow.
//! ## What it does
//! While RED's average queue is below `min_threshold`, every packet is accepted. Above, a packet is drawn from the queue at random. If it
//! belongs to the flow of the arriving packet, both are dropped; otherwise RED decides on the arriving packet. A flow that fills much of
//! the queue is drawn often, so it loses most, without a state for any flow. Flows that do not respond to losses are thus held back, and
//! those that send little are spared.
//! ## References
//! Pan, Prabhakar & Psounis, *`CHOKe`: a stateless active queue management scheme for approximating fair bandwidth allocation*, INFOCOM 2000;
//! Tang, Wang & Low, *Understanding `CHOKe`: throughput and spatial characteristics*, 2004; tc-choke(8).
//! ## Differs from the document
//! The paper was not at hand: the algorithm is that of its abstract, of the article of 2004, and of tc-choke(8). RED is this program's
//! `red`, so the probability follows ns-2's rules; Linux spaces its drops by a random number of packets. Matching packets are dropped
//! whether they support ECN or not. With several `candidates`, each draw may hit the same packet.
//! ## Parameters
//! `candidates`: packets drawn for each arriving one; 1, as in the basic algorithm.
//! `mode`, `gentle`: as those of `red`, but packets and false: the paper counts packets, and drops all above `max_threshold`.
//! `limit`, `mean_packet`, `min_threshold`, `max_threshold`, `target_delay`, `weight`, `max_p`, `wait`, `ecn`, `mark_below`, `adaptive`,
//! `interval`, `increase`, `decrease`, `top`, `bottom`: as those of `red`, with the same defaults.

use std::collections::VecDeque;

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Dequeued, Discipline, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::qdisc::red::{self, QUANTITIES, Red};
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Moment};

/// Its own parameter, then those of RED.
const PARAMS: [Param; 1 + red::PARAMS.len()] = {
    let mut params = [Param {
        name: "candidates",
        kind: Kind::Integer { min: 1.0, max: 100.0 },
        default: Default::Number(1.0),
        doc: "packets drawn from the queue for each arriving one",
    }; 1 + red::PARAMS.len()];
    let mut index = 1;
    while index < params.len() {
        let param = red::PARAMS[index - 1];
        params[index] = match (param.name.as_bytes(), param.default) {
            (b"mode", _) => Param { default: Default::Word("packets"), ..param },
            (b"gentle", _) => Param { default: Default::Bool(false), ..param },
            (_, default) => Param { default, ..param },
        };
        index += 1;
    }
    params
};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "choke",
    summary: "RED that drops an arriving packet together with one drawn from the queue if both are of one flow",
    reference: "Pan, Prabhakar & Psounis 2000",
    params: &PARAMS,
    quantities: &QUANTITIES,
    build: |params| {
        Ok(Discipline::scheduled(Choke {
            red: Red::new(params)?,
            candidates: params.number("candidates") as u32,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            idle_since: Some(Instant::ZERO),
        }))
    },
};

/// A `CHOKe` queue.
#[derive(Debug)]
pub struct Choke {
    red: Red,
    candidates: u32,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    idle_since: Option<Instant>,
}

impl Choke {
    /// Drops the waiting packets among the drawn ones that are of `flow`; returns whether there were any.
    fn choke(&mut self, flow: u32, random: &mut Generator, outcomes: &mut Outcomes) -> bool {
        let mut found = false;
        for _ in 0..self.candidates {
            let index = (random.uniform() * self.waiting.len() as f64) as usize;
            if self.waiting.get(index).is_none_or(|candidate| candidate.flow != flow) {
                continue;
            }
            if let Some(candidate) = self.waiting.remove(index) {
                self.backlog = self.backlog.without(candidate.size);
                outcomes.push((candidate, Outcome::Dropped(Reason::Early)));
                found = true;
            }
        }
        found
    }
}

impl Scheduler for Choke {
    fn attach(&mut self, outlet: &Outlet) {
        self.red.attach(outlet);
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        let Packet { flow, size, ecn, .. } = packet;
        let arrival = Arrival { now: now.at, size, flow, ecn, idle_since: self.idle_since };
        self.red.observe(&arrival, self.backlog);
        if self.red.is_congested() && self.choke(flow, random, outcomes) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Early)));
        }
        let Some(packet) = self.red.decide(&arrival, self.backlog, random).carry_out(packet, outcomes) else { return };
        self.idle_since = None;
        self.backlog = self.backlog.with(size);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        let Some(packet) = self.waiting.pop_front() else {
            self.idle_since.get_or_insert(now.at);
            return Dequeued::Empty;
        };
        self.backlog = self.backlog.without(packet.size);
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn head(&self) -> Option<Bytes> {
        self.waiting.front().map(|packet| packet.size)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.red.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, assert_close, handles, packet};
    use crate::units::Limit;

    const BOTH: Outcome = Outcome::Dropped(Reason::Early);

    /// A queue that is above its lower threshold as soon as five packets wait, and drops nothing else.
    fn bench(set: &[(&str, Value)]) -> Bench {
        let limit = |packets| Value::Limit(Limit::Packets(packets));
        let mut all = vec![
            ("weight", Value::Number(1.0)),
            ("min_threshold", limit(5)),
            ("max_threshold", limit(1000)),
            ("limit", limit(1000)),
            ("max_p", Value::Number(0.0)),
        ];
        all.extend_from_slice(set);
        Bench::new(&ENTRY, &all)
    }

    #[test]
    fn its_defaults_are_those_of_the_document() {
        let default = |name: &str| PARAMS.iter().find(|param| param.name == name).unwrap().default;
        assert_eq!((default("mode"), default("gentle")), (Default::Word("packets"), Default::Bool(false)));
        assert_eq!(PARAMS.len(), red::PARAMS.len() + 1);
    }

    #[test]
    fn a_flow_meets_itself() {
        let mut bench = bench(&[]);
        bench.arrive_all(0, (0..5).map(|handle| packet(handle, 1, 1000)));
        assert_eq!(bench.outcomes(), []);
        // The average is 5: whatever is drawn is of flow 1.
        assert!(bench.arrive(0, packet(5, 2, 1000)));
        let outcomes: Vec<_> = (6..200)
            .flat_map(|handle| {
                bench.arrive(0, packet(handle, 1, 1000));
                bench.outcomes()
            })
            .collect();
        // Drops come in pairs, and the queue shrinks by one with each, until the average is below the threshold again.
        assert!(outcomes.len() >= 100 && outcomes.len() % 2 == 0, "{}", outcomes.len());
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == BOTH));
        assert!(outcomes.chunks(2).all(|pair| pair[0].0 < pair[1].0), "the waiting packet is older");
        assert!(bench.queue.backlog().packets <= 6, "one flow cannot fill the queue above the threshold");
    }

    #[test]
    fn a_flow_is_hit_in_proportion_to_its_share_of_the_queue() {
        // 80 packets of flow 1 and 20 of flow 2 wait, again for each trial.
        let hits = |flow: u32| {
            let mut random = Generator::derived(1, "");
            let hit = |_: &u32| {
                let mut bench = bench(&[("min_threshold", Value::Limit(Limit::Packets(100)))]);
                bench.arrive_all(0, (0..100).map(|handle| packet(handle, if handle % 5 == 0 { 2 } else { 1 }, 1000)));
                std::mem::swap(&mut bench.random, &mut random);
                let dropped = !bench.arrive(0, packet(100, flow, 1000));
                random = bench.random;
                dropped
            };
            (0..2000).filter(hit).count() as f64 / 2000.0
        };
        // Three standard deviations of 2000 trials are 2.7 percentage points.
        assert_close(hits(1), 0.8, 0.027);
        assert_close(hits(2), 0.2, 0.027);
        assert_close(hits(3), 0.0, 0.0);
    }

    #[test]
    fn below_the_threshold_and_above_the_limit_it_is_a_tail() {
        let mut calm = bench(&[("min_threshold", Value::Limit(Limit::Packets(999)))]);
        calm.arrive_all(0, (0..999).map(|handle| packet(handle, 1, 1000)));
        assert_eq!(calm.outcomes(), []);
        let mut full = bench(&[("min_threshold", Value::Limit(Limit::Packets(50))), ("limit", Value::Limit(Limit::Packets(7)))]);
        full.arrive_all(0, (0..8).map(|handle| packet(handle, 1, 1000)));
        assert_eq!(full.outcomes(), [(7, OVERFLOW)]);
        assert_eq!(handles(&full.drain(0)), [0, 1, 2, 3, 4, 5, 6]);
    }
}
