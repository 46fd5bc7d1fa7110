//! Head drop: a first-in, first-out queue that makes room by dropping its oldest packets.
//! ## What it does
//! Packets leave in order of arrival. A packet that finds no room is accepted, and the packets that have waited longest are dropped until it
//! fits. Receivers thus learn of a loss one queueing delay earlier than behind `droptail`, and what leaves is as fresh as can be.
//! ## References
//! Yin & Hluchyj, *Implication of dropping packets from the front of a queue*, IEEE Transactions on Communications 41 (6), 1993; Linux,
//! `pfifo_head_drop`, tc-pfifo(8); Mahimahi, `drophead`.
//! ## Differs from the document
//! As in Linux and Mahimahi, `limit` packets may wait besides the one in transmission. `droptail` lets one packet less wait. A limit may
//! also be in bytes, as in Mahimahi. A packet that is larger than the whole limit is dropped itself, and no other for it.
//! ## Parameters
//! `limit`: capacity in packets, bytes or multiples of the bandwidth-delay product; 50 packets, as `droptail`.

use crate::entry::Entry;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::limit;
use crate::qdisc::waiting::Waiting;
use crate::rng::Generator;
use crate::units::{Bytes, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "headdrop",
    summary: "first in, first out; drops the oldest packets when full",
    reference: "Yin & Hluchyj 1993",
    params: &[limit("limit", 50, "capacity")],
    quantities: &[],
    build: |params| Ok(Discipline::scheduled(HeadDrop { limit: params.limit("limit"), waiting: Waiting::default() })),
};

/// A queue that drops at its head.
#[derive(Debug)]
pub struct HeadDrop {
    limit: Limit,
    waiting: Waiting,
}

impl Scheduler for HeadDrop {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        if Backlog::default().with(packet.size).exceeds(self.limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        while self.waiting.backlog().with(packet.size).exceeds(self.limit) {
            let Some(oldest) = self.waiting.pop() else { break };
            outcomes.push((oldest, Outcome::Dropped(Reason::Overflow)));
        }
        self.waiting.push(packet);
    }

    fn dequeue(&mut self, _now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        self.waiting.pop().into()
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn head(&self) -> Option<Bytes> {
        self.waiting.head()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, handles, packet};

    fn bench(limit: Limit) -> Bench {
        Bench::new(&ENTRY, &[("limit", Value::Limit(limit))])
    }

    #[test]
    fn the_oldest_packet_makes_room() {
        let mut bench = bench(Limit::Packets(3));
        bench.arrive_all(0, (0..5).map(|handle| packet(handle, 1, 1000)));
        assert_eq!(bench.outcomes(), [(0, OVERFLOW), (1, OVERFLOW)]);
        assert_eq!(handles(&bench.drain(0)), [2, 3, 4]);
    }

    #[test]
    fn a_large_packet_replaces_several_small_ones() {
        let mut bench = bench(Limit::Bytes(3000));
        bench.arrive_all(0, (0..6).map(|handle| packet(handle, 1, 500)));
        // 1500 B and three times 500 B are 3000 B, no more than the limit.
        bench.arrive(0, packet(6, 1, 1500));
        assert_eq!(bench.outcomes(), [(0, OVERFLOW), (1, OVERFLOW), (2, OVERFLOW)]);
        // A packet that can never fit costs no other.
        bench.arrive(0, packet(7, 1, 3001));
        assert_eq!(bench.outcomes(), [(7, OVERFLOW)]);
        assert_eq!(handles(&bench.drain(0)), [3, 4, 5, 6]);
    }

    #[test]
    fn what_leaves_has_waited_for_the_packets_behind_it_only() {
        // 2 B arrive per microsecond and 1 B leaves: behind a full queue of ten packets, each that leaves arrived at most ten gaps ago.
        let mut bench = bench(Limit::Packets(10));
        let mut longest = 0;
        for index in 0..1000 {
            bench.arrive(500 * index, packet(index as u32, 1, 1000));
            if index % 2 == 0 {
                let sent = bench.depart(500 * index).unwrap();
                longest = longest.max(500 * index - 500 * u64::from(sent.handle));
            }
        }
        assert!((4500..=5000).contains(&longest), "{longest}");
    }
}
