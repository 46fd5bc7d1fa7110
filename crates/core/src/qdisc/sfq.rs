//! SFQ: stochastic fairness queueing.
//! ## What it does
//! A hash of the addresses assigns flows to queues, which take turns and send one packet each. An arriving packet is dropped if its queue
//! holds more than its share of the remaining room. Flows with the same hash share one queue and its turn.
//! ## References
//! `McKenney`, *Stochastic fairness queueing*, INFOCOM 1990; ns-2.35, `SFQ`, whose defaults are used.
//! ## Differs from the document
//! As in ns-2, the hash never changes, and SFQ drops the arriving packet instead of a packet of the longest queue.
//! ## Parameters
//! `limit`: capacity of all queues together; 40 packets.
//! `buckets`: number of queues; 16.
//! `classify`: the input of the hash: `addresses`, the sum of the end nodes' numbers, as in ns-2, or the `flow`; addresses.

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
    summary: "stochastic fairness queueing: each hashed queue sends one packet in turn",
    reference: "McKenney 1990; ns-2.35 SFQ",
    params: &[
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1.0, max: 1e9 },
            default: Default::Limit(Limit::Packets(40)),
            doc: "capacity of all queues together in packets",
        },
        Param { name: "buckets", kind: Kind::Integer { min: 1.0, max: 65_536.0 }, default: Default::Number(16.0), doc: "number of queues" },
        Param { name: "classify", kind: Kind::Word(&["addresses", "flow"]), default: Default::Word("addresses"), doc: "input of the hash" },
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
        // Half of a small remaining room rounds to zero, so an empty discipline always accepts a packet.
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
        // The packets differ in size.
        for (handle, flow) in (0..).zip([1, 1, 1, 2, 2, 3]) {
            bench.arrive(0, packet(handle, flow, 500 * u64::from(flow)));
        }
        assert_eq!(handles(&bench.drain(0)), [0, 3, 5, 1, 4, 2]);
    }

    #[test]
    fn a_queue_may_hold_its_share_of_the_room() {
        let mut bench = bench(40);
        // Half of the remaining room exceeds the queue's backlog up to 12 packets with 28 places left, and 8 with 19. The third queue holds
        // 3 > 40/16 packets when fewer than 16 places remain.
        assert_eq!([1, 2, 3, 4].map(|flow| bench.fill(flow, 1000)), [13, 9, 3, 3]);
        assert_eq!(bench.queue.backlog().packets, 28);
    }

    #[test]
    fn an_empty_queue_accepts_a_packet() {
        assert_eq!(bench(1).fill(1, 1000), 1);
        // After one packet, half of the two remaining places is no more than the queue already holds.
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
        // 15 + ~0 = 16 + ~1 = 14: one queue. 14 + ~0 = 13: another queue.
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
