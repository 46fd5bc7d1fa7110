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

use crate::qdisc::bands::{Bands, ns2_hash};
use crate::qdisc::{Backlog, Discipline, Limit, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::registry::{Default, Entry, Kind, Param};
use crate::rng::Generator;
use crate::units::Instant;

/// The modulus of ns-2's hash for SFQ.
const MODULUS: i64 = (2 << 19) - 1;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "sfq",
    summary: "stochastic fairness queueing: one packet of each hashed queue in turn",
    reference: "McKenney 1990; ns-2.35 SFQ",
    params: &[
        Param {
            name: "limit",
            kind: Kind::Limit,
            default: Default::Limit(Limit::Packets(40)),
            bounds: (1.0, 1e9),
            doc: "packets in all queues together",
        },
        Param {
            name: "buckets",
            kind: Kind::Integer,
            default: Default::Number(16.0),
            bounds: (1.0, 65_536.0),
            doc: "queues over which flows are spread",
        },
        Param {
            name: "classify",
            kind: Kind::Word(&["addresses", "flow"]),
            default: Default::Word("addresses"),
            bounds: (0.0, 0.0),
            doc: "what is hashed",
        },
    ],
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
        ns2_hash(key, MODULUS).rem_euclid(self.bands.count() as i64) as usize
    }
}

impl Scheduler for Sfq {
    fn enqueue(&mut self, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
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

    fn dequeue(&mut self, _now: Instant, _random: &mut Generator, _outcomes: &mut Outcomes) -> Option<Packet> {
        let bucket = self.bands.current()?;
        let packet = self.bands.pop(bucket);
        if !self.bands.leave_if_empty(bucket) {
            self.bands.rotate();
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.bands.total()
    }
}
