//! SRR: smoothed round robin, with equal rates.
//! ## What it does
//! Gives every flow a queue of its own and serves the queues in turn, each by a deficit counter that grows by `quantum` bytes a turn. A
//! packet that finds its own queue full is dropped; other flows' queues do not matter.
//! ## References
//! Guo, *SRR: an O(1) time complexity packet scheduler for flows in multi-service packet networks*, SIGCOMM 2001; ns-2.35, `SRR`, whose
//! defaults these are.
//! ## Differs from the document
//! All flows have the same rate, for which the paper's weight spread sequence is plain round robin. As in ns-2 there is no limit for all
//! queues together, and a flow's packet in transmission counts for its limit.
//! ## Parameters
//! `flow_limit`: capacity of each flow's queue; 50 packets.
//! `quantum`: bytes that a turn adds; 1000 B (ns-2: `mtu_`).

use crate::qdisc::drr::DeficitRounds;
use crate::qdisc::{Backlog, Discipline, Limit, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::registry::{Default, Entry, Kind, Param};
use crate::rng::Generator;
use crate::units::Instant;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "srr",
    summary: "smoothed round robin: a queue for each flow, served in turn",
    reference: "Guo 2001; ns-2.35 SRR",
    params: &[
        Param {
            name: "flow_limit",
            kind: Kind::Limit,
            default: Default::Limit(Limit::Packets(50)),
            bounds: (1.0, 1e15),
            doc: "capacity of each flow's queue",
        },
        Param {
            name: "quantum",
            kind: Kind::Size,
            default: Default::Number(1000.0),
            bounds: (1.0, 1e9),
            doc: "bytes that a turn adds to a queue's allowance",
        },
    ],
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
    /// The packet in transmission. Its flow keeps its turn and its deficit until the transmission ends, even if nothing else waits.
    in_service: Option<Packet>,
}

impl Scheduler for Srr {
    fn enqueue(&mut self, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let flow = packet.flow as usize;
        let mut backlog = self.rounds.backlog(flow);
        if let Some(sent) = self.in_service.filter(|sent| sent.flow == packet.flow) {
            backlog = backlog.with(sent.size);
        }
        if self.flow_limit.is_reached(backlog) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        self.rounds.push(flow, packet);
    }

    fn dequeue(&mut self, _now: Instant, _random: &mut Generator, _outcomes: &mut Outcomes) -> Option<Packet> {
        if let Some(sent) = self.in_service.take() {
            self.rounds.leave_if_empty(sent.flow as usize);
        }
        self.in_service = self.rounds.pop();
        self.in_service
    }

    fn backlog(&self) -> Backlog {
        self.rounds.total()
    }
}
