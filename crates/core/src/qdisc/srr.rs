//! SRR: smoothed round robin, with equal rates.
//! ## What it does
//! Gives every flow its own queue. The queues take turns, each with a deficit counter that grows by `quantum` bytes per turn. A packet that
//! finds its own queue full is dropped, whatever the backlog of the other queues.
//! ## References
//! Guo, *SRR: an O(1) time complexity packet scheduler for flows in multi-service packet networks*, SIGCOMM 2001; ns-2.35, `SRR`, whose
//! defaults are used.
//! ## Differs from the document
//! All flows have the same rate; the paper's weight spread sequence is then plain round robin. As in ns-2, there is no limit for all queues
//! together, and a flow's packet in transmission counts towards its limit.
//! ## Parameters
//! `flow_limit`: capacity of each flow's queue; 50 packets.
//! `quantum`: bytes added per turn; 1000 B (ns-2: `mtu_`).

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::drr::DeficitRounds;
use crate::qdisc::params::limit;
use crate::rng::Generator;
use crate::units::{Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "srr",
    summary: "smoothed round robin: a queue per flow, served in turn",
    reference: "Guo 2001; ns-2.35 SRR",
    params: &[
        limit("flow_limit", 50, "capacity of each flow's queue"),
        Param {
            name: "quantum",
            kind: Kind::Size { min: 1.0, max: 1e9 },
            default: Default::Number(1000.0),
            doc: "bytes added to a queue's deficit counter per turn",
        },
    ],
    quantities: &[],
    build: |params| {
        Ok(Discipline::scheduled(Srr {
            flow_limit: params.limit("flow_limit"),
            rounds: DeficitRounds::new(0, params.number("quantum") as u64),
            in_service: None,
        }))
    },
};

/// An SRR queue.
#[derive(Debug)]
pub struct Srr {
    flow_limit: Limit,
    rounds: DeficitRounds,
    /// The packet in transmission. Until the transmission ends, its flow keeps turn and deficit, even if nothing else waits.
    in_service: Option<Packet>,
}

impl Scheduler for Srr {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let flow = packet.flow as usize;
        let mut backlog = self.rounds.backlog(flow);
        if let Some(sent) = self.in_service.filter(|sent| sent.flow == packet.flow) {
            backlog = backlog.with(sent.size);
        }
        if backlog.reaches(self.flow_limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        self.rounds.push(flow, packet);
    }

    fn dequeue(&mut self, _now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        if let Some(sent) = self.in_service.take() {
            self.rounds.leave_if_empty(sent.flow as usize);
        }
        self.in_service = self.rounds.pop();
        self.in_service.into()
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

    fn bench() -> Bench {
        Bench::new(&ENTRY, &[("flow_limit", Value::Limit(Limit::Packets(2)))])
    }

    #[test]
    fn flows_are_served_in_turn() {
        let mut bench = bench();
        for (handle, flow) in (0..).zip([1, 1, 2, 3, 3]) {
            bench.arrive(0, packet(handle, flow, 1000));
        }
        assert_eq!(handles(&bench.drain(0)), [0, 2, 3, 1, 4]);
    }

    #[test]
    fn large_packets_give_no_advantage() {
        let mut bench = Bench::new(&ENTRY, &[("flow_limit", Value::Limit(Limit::Packets(100)))]);
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 1, 1500)));
        bench.arrive_all(0, (0..60).map(|handle| packet(handle, 2, 500)));
        assert!(unfairness(&bench.drain(0)) <= 1500 + 1000);
    }

    #[test]
    fn the_last_packet_keeps_the_turn_while_it_is_sent() {
        let second = |size| {
            let mut bench = bench();
            bench.arrive_all(0, [packet(0, 1, 400), packet(1, 2, 1000)]);
            assert_eq!(bench.depart(0).unwrap().handle, 0);
            bench.arrive(399, packet(2, 1, size));
            bench.depart(400).unwrap().handle
        };
        // 600 B of the quantum remain.
        assert_eq!(second(600), 2);
        assert_eq!(second(601), 1);
    }

    #[test]
    fn the_turn_ends_with_the_transmission() {
        let mut bench = bench();
        bench.arrive_all(0, [packet(0, 1, 400), packet(1, 2, 1000), packet(2, 3, 1000)]);
        assert_eq!([0, 400].map(|now| bench.depart(now).unwrap().handle), [0, 1]);
        // Flow 1 is now the last of the round. It has one quantum, without the remaining 600 B.
        bench.arrive(400, packet(3, 1, 1500));
        bench.arrive(400, packet(4, 3, 1000));
        assert_eq!(handles(&bench.drain(1400)), [2, 4, 3]);
    }

    #[test]
    fn the_packet_in_transmission_counts_for_the_limit_of_its_flow() {
        let mut bench = bench();
        bench.arrive(0, packet(0, 1, 1000));
        bench.depart(0);
        assert_eq!(bench.queue.backlog(), Backlog::default());
        let taken = [packet(1, 1, 1000), packet(2, 1, 1000), packet(3, 2, 1000), packet(4, 2, 1000), packet(5, 2, 1000)]
            .map(|packet| bench.arrive(500, packet));
        assert_eq!(taken, [true, false, true, true, false]);
        assert_eq!(bench.outcomes(), [(2, OVERFLOW), (5, OVERFLOW)]);
        // Flow 1 has had its turn. A packet of flow 2 is sent, which does not count towards the limit of flow 1.
        assert_eq!(bench.depart(1000).unwrap().handle, 3);
        assert!(bench.arrive(1000, packet(6, 1, 1000)));
        assert!(!bench.arrive(1000, packet(7, 2, 1000)));
    }
}
