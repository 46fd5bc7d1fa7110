//! SFQ: stochastic fairness queueing.
//! ## What it does
//! Spreads flows over a number of queues by a hash of their addresses and sends one packet of each queue in turn. A packet is dropped when
//! its queue already holds more than its share of the room that is left. Flows that the hash brings together share one turn.
//! ## References
//! `McKenney`, *Stochastic fairness queueing*, INFOCOM 1990; ns-2.35, `SFQ`, whose defaults these are.
//! ## Differs from the document
//! As in ns-2 the hash is never changed, and the arriving packet is dropped, not one of the longest queue.
//! ## Parameters
//! `limit`: packets in all queues together; 40 packets.
//! `buckets`: queues; 16.
//! `classify`: what is hashed: `addresses`, the sum of the numbers of the end nodes, as in ns-2, or the `flow`; addresses.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::bands::{Bands, ns2_bucket};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Limit, Moment};

/// Modulus and offset of ns-2's hash for SFQ.
const HASH: (i64, i64) = ((2 << 19) - 1, 0);

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "sfq",
    summary: "stochastic fairness queueing: one packet of each hashed queue in turn",
    reference: "McKenney 1990; ns-2.35 SFQ",
    params: &[
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1.0, max: 1e9 },
            default: Default::Limit(Limit::Packets(40)),
            doc: "packets in all queues together",
        },
        Param {
            name: "buckets",
            kind: Kind::Integer { min: 1.0, max: 65_536.0 },
            default: Default::Number(16.0),
            doc: "queues over which flows are spread",
        },
        Param { name: "classify", kind: Kind::Word(&["addresses", "flow"]), default: Default::Word("addresses"), doc: "what is hashed" },
    ],
    quantities: &[],
    build: |params| {
        let Limit::Packets(limit) = params.limit("limit") else {
            return Err("sfq counts packets: its limit must be in packets".to_owned());
        };
        Ok(Discipline::scheduled(Sfq {
            limit,
            bands: Bands::new(params.number("buckets") as usize),
            by_flow: params.word("classify") == "flow",
        }))
    },
};

/// An SFQ queue.
#[derive(Debug)]
pub struct Sfq {
    limit: u64,
    bands: Bands,
    by_flow: bool,
}

impl Sfq {
    fn bucket(&self, packet: &Packet) -> usize {
        let (source, destination) = packet.ends;
        let key = if self.by_flow { packet.flow } else { source.wrapping_add(destination) };
        ns2_bucket(key, HASH, self.bands.count())
    }
}

impl Scheduler for Sfq {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let bucket = self.bucket(&packet);
        let buckets = self.bands.count() as u64;
        let used = self.bands.band(bucket).backlog.packets;
        let left = self.limit - self.bands.total().packets;
        let full = left == 0 || used >= left >> 1 || left < buckets && used > self.limit / buckets;
        // With the smallest limits half of what is left is nothing: an empty queue always takes a packet.
        if full && self.bands.total().packets > 0 {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        self.bands.push(bucket, packet);
    }

    fn dequeue(&mut self, _now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        let Some(bucket) = self.bands.current() else { return Dequeued::Empty };
        let packet = self.bands.pop(bucket);
        if !self.bands.leave_if_empty(bucket) {
            self.bands.rotate();
        }
        packet.into()
    }

    fn backlog(&self) -> Backlog {
        self.bands.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, build, handles, packet};

    fn bench(limit: u64) -> Bench {
        Bench::new(&ENTRY, &[("limit", Value::Limit(Limit::Packets(limit)))])
    }

    #[test]
    fn each_queue_sends_a_packet_in_turn() {
        let mut bench = bench(40);
        // Of whatever size.
        for (handle, flow) in (0..).zip([1, 1, 1, 2, 2, 3]) {
            bench.arrive(0, packet(handle, flow, 500 * u64::from(flow)));
        }
        assert_eq!(handles(&bench.drain(0)), [0, 3, 5, 1, 4, 2]);
    }

    #[test]
    fn a_queue_may_hold_its_share_of_the_room() {
        let mut bench = bench(40);
        // Half of what is left is more than the queue holds up to 12 of 28, 8 of 19; the third holds 3 > 40/16 when fewer than 16 are left.
        assert_eq!([1, 2, 3, 4].map(|flow| bench.fill(flow, 1000)), [13, 9, 3, 3]);
        assert_eq!(bench.queue.backlog().packets, 28);
    }

    #[test]
    fn an_empty_queue_takes_a_packet() {
        assert_eq!(bench(1).fill(1, 1000), 1);
        // One of one left is none of three.
        assert_eq!(bench(3).fill(1, 1000), 1);
    }

    #[test]
    fn sums_of_addresses_collide() {
        let order = |ends: [(u32, u32); 2], classify: &str| {
            let mut bench = Bench::new(&ENTRY, &[("classify", Value::Word(classify.to_owned()))]);
            for (handle, flow) in [(0, 1), (1, 1), (2, 2)] {
                bench.arrive(0, Packet { ends: ends[flow as usize - 1], ..packet(handle, flow, 1000) });
            }
            handles(&bench.drain(0))
        };
        // 15 + ~0 = 16 + ~1 = 14: one queue. 14 + ~0 = 13: another.
        assert_eq!(order([(7, 8), (7, 9)], "addresses"), [0, 1, 2]);
        assert_eq!(order([(7, 8), (7, 7)], "addresses"), [0, 2, 1]);
        assert_eq!(order([(7, 8), (8, 7)], "addresses"), [0, 1, 2]);
        assert_eq!(order([(7, 8), (8, 7)], "flow"), [0, 2, 1]);
    }

    #[test]
    fn it_counts_no_bytes() {
        assert!(build(&ENTRY, &[("limit", Value::Limit(Limit::Bytes(40_000)))]).is_err());
    }
}
