//! FQ-PIE: a PIE queue for each flow, served in turn.
//! ## What it does
//! A hash assigns every packet to one of `flows` queues, which take turns as those of `fq_codel`: `quantum` bytes each, and a queue that becomes
//! active before those that have already sent a quantum. Each queue drops or marks arriving packets as `pie` does, with a delay and a
//! probability of its own. A packet that finds `limit` packets in all queues together is dropped.
//! ## References
//! Ramakrishnan, Gokhale, Bhattacharyya & Tahiliani, *FQ-PIE queue discipline in the Linux kernel: design, implementation and challenges*, LCN
//! Symposium 2019; tc-fq_pie(8); RFC 8033; RFC 8290 §4.
//! ## Differs from the document
//! PIE has the rules of Linux, which the variant `linux` of `pie` describes, with the timer of all queues in common. The hash has no random
//! salt, as in `fq_codel`. There is no memory limit besides `limit`. Records of Linux 7.2 were compared; the paper was not at hand.
//! ## Parameters
//! `limit`: capacity of all queues together; 10 240 packets.
//! `flows`, `quantum`, `classify`: as those of `fq_codel`; 1024, 1514 B and flow.
//! `qdelay_ref`, `t_update`, `max_burst`, `alpha`, `beta`, `cap_adjustment`, `bytemode`, `maxpacket`, `ecn`, `mark_ecnth`: as those of `pie`,
//! with the same defaults.

use super::flow_queues::{CLASSIFY, Departure, FLOWS, FlowQueue, FlowQueues, NEW_FLOWS, OLD_FLOWS, QUANTUM};
use super::pie::{ALPHA, BETA, BYTEMODE, CAP_ADJUSTMENT, MARK_ECNTH, MAX_BURST, MAXPACKET, Pie, QDELAY_REF, T_UPDATE, TimedQueue};
use crate::entry::Entry;
use crate::params::Params;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::{ECN, limit};
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq_pie",
    summary: "a PIE queue per flow, served in turn by bytes, sparse flows first",
    reference: "tc-fq_pie(8)",
    params: &[
        limit("limit", 10_240, "capacity of all queues together"),
        FLOWS,
        QUANTUM,
        CLASSIFY,
        QDELAY_REF,
        T_UPDATE,
        MAX_BURST,
        ALPHA,
        BETA,
        CAP_ADJUSTMENT,
        BYTEMODE,
        MAXPACKET,
        ECN,
        MARK_ECNTH,
    ],
    quantities: &[NEW_FLOWS, OLD_FLOWS],
    build: |params| Ok(Discipline::scheduled(FqPie::new(params))),
};

impl FlowQueue for TimedQueue {
    type Settings = ();

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn push(&mut self, packet: Packet) {
        self.waiting.push(packet);
    }

    fn evict(&mut self, (): &(), now: Instant) -> Option<Packet> {
        self.pop(now)
    }

    fn dequeue(&mut self, (): &(), _total: Backlog, departure: &mut Departure<'_>) -> Option<Packet> {
        self.pop(departure.now)
    }
}

/// An FQ-PIE queue.
#[derive(Debug)]
pub struct FqPie {
    limit: Limit,
    flows: FlowQueues<TimedQueue>,
    interval: Duration,
    next: Instant,
}

impl FqPie {
    fn new(params: &Params) -> Self {
        let pie = Pie::of_linux(params).unlimited();
        let (interval, next) = pie.ticks();
        Self { limit: params.limit("limit"), flows: FlowQueues::new(params, false, || TimedQueue::new(pie.clone())), interval, next }
    }

    fn update_until(&mut self, now: Instant) {
        while self.next <= now {
            self.flows.queues_mut().for_each(TimedQueue::update);
            self.next += self.interval;
        }
    }
}

impl Scheduler for FqPie {
    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.update_until(now.at);
        if self.flows.backlog().reaches(self.limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        let index = self.flows.queue_of(&packet);
        let verdict = self.flows.queue_mut(index).decide(&packet, random);
        if let Some(packet) = verdict.carry_out(packet, outcomes) {
            self.flows.push(index, packet);
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.update_until(now.at);
        self.flows.dequeue(&(), &mut Departure { now: now.at, random, outcomes }).into()
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.flows.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, packet};

    /// A bench whose link sends a packet of 1000 B per millisecond, with flows that send one every so many microseconds, for ten seconds.
    /// Returns for each flow the dropped packets and the longest wait of the last half in milliseconds.
    fn run(gaps: &[u64]) -> Vec<(u64, u64)> {
        let mut bench = Bench::new(&ENTRY, &[]);
        let mut result = vec![(0, 0); gaps.len()];
        let mut free = 0;
        for now in 0..10_000_000 / 100 {
            let now = 100 * now;
            for (flow, gap) in gaps.iter().enumerate() {
                if now % gap == 0 && !bench.arrive(now, packet(0, flow as u32, 1000)) {
                    result[flow].0 += 1;
                }
            }
            while free <= now {
                let Some(packet) = bench.depart(now) else { break };
                free = now + 1000;
                if now > 5_000_000 {
                    let longest = &mut result[packet.flow as usize].1;
                    *longest = (*longest).max(now / 1000 - packet.arrived.as_nanos() / 1_000_000);
                }
            }
        }
        result
    }

    #[test]
    fn a_flow_within_its_share_is_neither_dropped_nor_delayed() {
        // Flow 0 sends a quarter of the link, flow 1 one and a half times the link: 75 % are left for it, so half of its packets go.
        let found = run(&[4000, 600]);
        assert_eq!(found[0].0, 0, "{found:?}");
        assert!(found[0].1 <= 4, "{found:?}");
        let dropped = found[1].0 as f64 / (10e6 / 600.0);
        assert!((dropped - 0.55).abs() < 0.02, "{dropped}: {found:?}");
    }

    #[test]
    fn all_together_have_a_limit() {
        let mut bench = Bench::new(&ENTRY, &[("limit", Value::Limit(Limit::Packets(3)))]);
        bench.arrive_all(0, (0..5).map(|handle| packet(handle, handle, 100)));
        assert_eq!(bench.outcomes(), [(3, OVERFLOW), (4, OVERFLOW)]);
    }
}
