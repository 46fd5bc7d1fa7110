//! DRR: deficit round robin.
//! ## What it does
//! A hash of the sender's address assigns flows to queues, which take turns. In its turn a queue sends at most as many bytes as its deficit
//! counter allows. The counter grows by `quantum` each turn and keeps unused bytes while packets wait. If the total exceeds `limit`, the
//! longest queue drops its first packet.
//! ## References
//! Shreedhar & Varghese, *Efficient fair queueing using deficit round robin*, SIGCOMM 1995; ns-2.35, `DRR`, whose defaults are used.
//! ## Differs from the document
//! As in ns-2, the quantum is smaller than a packet, so a queue may wait several turns. If a drop empties a queue that has had the quantum
//! of its turn, the queue receives no quantum in its next turn.
//! ## Parameters
//! `limit`: capacity of all queues together in bytes; 25 000 B. A limit in packets counts 1000 B per packet.
//! `quantum`: bytes added per turn; 250 B.
//! `buckets`: number of queues; 10.
//! `classify`: the input of the hash: the sender's `address`, as in ns-2, or the `flow`; address.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::bands::{Bands, ns2_bucket};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Limit, Moment};

/// Modulus and offset of ns-2's hash for DRR.
const HASH: (i64, i64) = ((2 << 23) - 1, 1);
/// Bytes per packet of a limit in packets.
const PACKET: u64 = 1000;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "drr",
    summary: "deficit round robin: each hashed queue sends a quantum of bytes in turn",
    reference: "Shreedhar & Varghese 1995; ns-2.35 DRR",
    params: &[
        Param {
            name: "limit",
            kind: Kind::ByteLimit { min: 1.0, max: 1e15 },
            default: Default::Limit(Limit::Bytes(25_000)),
            doc: "capacity of all queues together in bytes",
        },
        Param {
            name: "quantum",
            kind: Kind::Size { min: 1.0, max: 1e9 },
            default: Default::Number(250.0),
            doc: "bytes added to a queue's deficit counter per turn",
        },
        Param { name: "buckets", kind: Kind::Integer { min: 1.0, max: 65_536.0 }, default: Default::Number(10.0), doc: "number of queues" },
        Param { name: "classify", kind: Kind::Word(&["address", "flow"]), default: Default::Word("address"), doc: "input of the hash" },
    ],
    quantities: &[],
    build: |params| {
        let limit = match params.limit("limit") {
            Limit::Packets(packets) => packets.saturating_mul(PACKET),
            Limit::Bytes(bytes) => bytes,
        };
        let buckets = params.number("buckets") as usize;
        Ok(Discipline::scheduled(Drr {
            limit,
            buckets,
            by_flow: params.word("classify") == "flow",
            rounds: DeficitRounds::new(buckets, params.number("quantum") as u64),
        }))
    },
};

/// Queues served in turn by deficit counters.
#[derive(Debug)]
pub(crate) struct DeficitRounds {
    bands: Bands,
    quantum: u64,
    deficit: Vec<u64>,
    /// Queues that have received the quantum of their turn.
    given: Vec<bool>,
}

impl DeficitRounds {
    /// `count` empty queues with `quantum` bytes per turn.
    pub(crate) fn new(count: usize, quantum: u64) -> Self {
        Self { bands: Bands::new(count), quantum, deficit: vec![0; count], given: vec![false; count] }
    }

    /// Adds a packet to queue `index`.
    pub(crate) fn push(&mut self, index: usize, packet: Packet) {
        if index >= self.deficit.len() {
            self.deficit.resize(index + 1, 0);
            self.given.resize(index + 1, false);
        }
        if self.bands.push(index, packet) {
            self.deficit[index] = 0;
        }
    }

    /// Removes the first packet of queue `index` out of turn.
    fn remove_first(&mut self, index: usize) -> Option<Packet> {
        let packet = self.bands.pop(index);
        // As in ns-2: a queue that is emptied after its quantum receives none in its next turn.
        self.bands.leave_if_empty(index);
        packet
    }

    /// Removes queue `index` from the round if the queue is empty.
    pub(crate) fn leave_if_empty(&mut self, index: usize) {
        if self.bands.leave_if_empty(index) {
            self.given[index] = false;
        }
    }

    /// Backlog of queue `index`.
    pub(crate) fn backlog(&mut self, index: usize) -> Backlog {
        self.bands.band(index).backlog
    }

    /// Backlog of all queues together.
    pub(crate) fn total(&self) -> Backlog {
        self.bands.total()
    }

    /// The queue with the most bytes; the earliest of the round among equals.
    fn longest(&self) -> Option<usize> {
        let longest = self.bands.round().fold(None, |longest: Option<(usize, u64)>, (index, band)| match longest {
            Some((_, bytes)) if bytes >= band.backlog.bytes => longest,
            _ => Some((index, band.backlog.bytes)),
        });
        longest.map(|(index, _)| index)
    }

    /// Removes the next packet by turns. A queue that has sent its last packet keeps its turn.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        loop {
            let index = self.bands.current()?;
            if !std::mem::replace(&mut self.given[index], true) {
                self.deficit[index] += self.quantum;
            }
            let size = self.bands.band(index).head;
            if self.deficit[index] >= size {
                self.deficit[index] -= size;
                return self.bands.pop(index);
            }
            self.given[index] = false;
            self.bands.rotate();
        }
    }
}

/// A DRR queue.
#[derive(Debug)]
pub struct Drr {
    limit: u64,
    buckets: usize,
    by_flow: bool,
    rounds: DeficitRounds,
}

impl Drr {
    fn bucket(&self, packet: &Packet) -> usize {
        let key = if self.by_flow { packet.flow } else { packet.ends.0 };
        ns2_bucket(key, HASH, self.buckets)
    }
}

impl Scheduler for Drr {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        self.rounds.push(self.bucket(&packet), packet);
        // A lone packet stays, however small the limit.
        while self.rounds.total().bytes > self.limit && self.rounds.total().packets > 1 {
            let dropped = self.rounds.longest().and_then(|index| self.rounds.remove_first(index));
            outcomes.extend(dropped.map(|packet| (packet, Outcome::Dropped(Reason::Overflow))));
        }
    }

    fn dequeue(&mut self, _now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        let Some(packet) = self.rounds.pop() else { return Dequeued::Empty };
        // The packet's bucket is the queue that held it.
        self.rounds.leave_if_empty(self.bucket(&packet));
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.rounds.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, handles, packet, unfairness};

    /// A queue that hashes flows 0 to 9 to separate queues.
    fn bench(limit: Limit, quantum: f64) -> Bench {
        Bench::new(&ENTRY, &[("limit", Value::Limit(limit)), ("quantum", Value::Number(quantum))])
    }

    #[test]
    fn a_packet_of_four_quanta_waits_four_turns() {
        let mut bench = bench(Limit::Bytes(25_000), 250.0);
        bench.arrive_all(0, (0..2).map(|handle| packet(handle, 1, 1000)));
        bench.arrive_all(0, (0..7).map(|handle| packet(handle, 2, 250)));
        let flows: Vec<u32> = bench.drain(0).iter().map(|packet| packet.flow).collect();
        assert_eq!(flows, [2, 2, 2, 1, 2, 2, 2, 2, 1]);
    }

    #[test]
    fn large_packets_give_no_advantage() {
        // No number of turns adds up to a whole packet.
        let mut bench = bench(Limit::Bytes(1_000_000), 400.0);
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 1, 1500)));
        bench.arrive_all(0, (0..60).map(|handle| packet(handle, 2, 500)));
        assert!(unfairness(&bench.drain(0)) <= 1500 + 400);
    }

    #[test]
    fn a_queue_that_was_empty_has_saved_nothing() {
        let mut bench = bench(Limit::Bytes(25_000), 1000.0);
        bench.arrive(0, packet(0, 1, 400));
        bench.depart(0);
        bench.arrive(400, packet(1, 1, 1500));
        bench.arrive(400, packet(2, 2, 1000));
        assert_eq!(handles(&bench.drain(400)), [2, 1]);
    }

    #[test]
    fn the_longest_queue_loses_its_first_packet() {
        for limit in [Limit::Bytes(4000), Limit::Packets(4)] {
            let mut bench = bench(limit, 1000.0);
            for (handle, flow) in (0..).zip([1, 1, 1, 2, 2, 2, 3]) {
                bench.arrive(0, packet(handle, flow, 1000));
            }
            // Three packets against two, two against three, and two against two: then the first queue of the round drops.
            assert_eq!(bench.outcomes(), [(0, OVERFLOW), (3, OVERFLOW), (1, OVERFLOW)]);
            assert_eq!(handles(&bench.drain(0)), [2, 4, 6, 5]);
        }
    }

    #[test]
    fn a_queue_that_loses_its_last_packet_ends_its_turn() {
        let mut bench = bench(Limit::Bytes(4000), 1000.0);
        bench.arrive_all(0, [packet(0, 1, 500), packet(1, 1, 2000), packet(2, 2, 1000)]);
        assert_eq!(bench.depart(0), Some(packet(0, 1, 500)));
        // Flow 1 has received the quantum of this turn when it leaves the round; flow 2 has not.
        bench.arrive_all(0, [packet(3, 3, 1000), packet(4, 2, 500)]);
        assert_eq!(bench.outcomes(), [(1, OVERFLOW)]);
        assert_eq!(handles(&bench.drain(500)), [2, 3, 4]);
    }

    #[test]
    fn a_queue_that_was_emptied_by_a_drop_in_its_turn_gets_nothing_in_its_next_one() {
        let mut bench = bench(Limit::Bytes(4000), 1000.0);
        bench.arrive_all(0, [packet(0, 1, 500), packet(1, 1, 2000), packet(2, 2, 1000)]);
        assert_eq!(bench.depart(0), Some(packet(0, 1, 500)));
        bench.arrive_all(0, [packet(3, 3, 1000), packet(4, 2, 500)]);
        assert_eq!(bench.outcomes(), [(1, OVERFLOW)]);
        bench.arrive(0, packet(5, 1, 500));
        // Otherwise flow 1 would send before flow 2's second turn.
        assert_eq!(handles(&bench.drain(500)), [2, 3, 4, 5]);
    }

    #[test]
    fn a_packet_alone_stays() {
        let mut bench = bench(Limit::Bytes(500), 250.0);
        assert!(bench.arrive(0, packet(0, 1, 1000)));
        assert!(bench.arrive(0, packet(1, 2, 400)));
        assert_eq!(bench.outcomes(), [(0, OVERFLOW)]);
    }

    #[test]
    fn senders_are_hashed() {
        let order = |classify: &str| {
            let mut bench = Bench::new(&ENTRY, &[("classify", Value::Word(classify.to_owned()))]);
            for (handle, flow) in [(0, 1), (1, 1), (2, 2)] {
                bench.arrive(0, Packet { ends: (7, flow), ..packet(handle, flow, 1000) });
            }
            handles(&bench.drain(0))
        };
        assert_eq!(order("address"), [0, 1, 2]);
        assert_eq!(order("flow"), [0, 2, 1]);
    }
}
