//! FQ: fair queueing by finish times.
//! ## What it does
//! Gives every flow a queue of its own. The first packet of each queue has a start time: when it became the first, but not before the last
//! one of its flow was due to finish. Whenever the link is free, the packet is sent that would finish first if the link were shared evenly
//! by the flows that wait.
//! ## References
//! Demers, Keshav & Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM 1989; ns-2.35, `FQ`.
//! ## Differs from the document
//! As in ns-2: real time stands for the virtual time, finish times are computed anew with the number of flows that wait whenever a packet
//! is chosen, and the first packet of a flow does not count for the flow's limit.
//! ## Parameters
//! `flow_limit`: capacity of each flow's queue, the arriving packet included; 50 packets.

use crate::entry::Entry;
use crate::qdisc::bands::Bands;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::qdisc::params::limit;
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq",
    summary: "fair queueing: a queue for each flow, the earliest finish time first",
    reference: "Demers, Keshav & Shenker 1989; ns-2.35 FQ",
    params: &[limit("flow_limit", 50, "capacity of each flow's queue, the arriving packet included")],
    quantities: &[],
    build: |params| {
        Ok(Discipline::scheduled(Fq {
            flow_limit: params.limit("flow_limit"),
            bands: Bands::new(0),
            active: Vec::new(),
            start: Vec::new(),
            alone: Vec::new(),
            finish: Vec::new(),
            seconds_per_byte: 0.0,
        }))
    },
};

/// A fair queue.
#[derive(Debug)]
pub struct Fq {
    flow_limit: Limit,
    bands: Bands,
    /// The queues that wait, in any order. All are compared for each packet: some cost for many flows, little for few.
    active: Vec<usize>,
    /// For each queue, in seconds: the start time of its first packet, how long that takes alone, and the finish time of the last one sent.
    start: Vec<f64>,
    alone: Vec<f64>,
    finish: Vec<f64>,
    seconds_per_byte: f64,
}

impl Fq {
    /// A packet of `size` bytes has become the first of queue `index` at `now`.
    fn start(&mut self, now: Instant, index: usize, size: u64) {
        self.start[index] = self.finish[index].max(now.as_secs_f64());
        self.alone[index] = size as f64 * self.seconds_per_byte;
    }
}

impl Scheduler for Fq {
    fn attach(&mut self, outlet: &Outlet) {
        self.seconds_per_byte = 8.0 / outlet.rate.as_bits_per_sec() as f64;
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let index = packet.flow as usize;
        if index >= self.start.len() {
            self.start.resize(index + 1, 0.0);
            self.alone.resize(index + 1, 0.0);
            self.finish.resize(index + 1, 0.0);
        }
        let band = self.bands.band(index);
        if band.backlog.packets == 0 {
            self.start(now.at, index, packet.size.0);
            self.active.push(index);
        } else if band.backlog.without(Bytes(band.head)).with(packet.size).reaches(self.flow_limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        self.bands.push(index, packet);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        // When each first packet would be sent if the link were shared by all queues that wait now.
        let shares = self.active.len() as f64;
        let finish = |(place, &index): (usize, &usize)| (self.start[index] + self.alone[index] * shares, index, place);
        let waiting = self.active.iter().enumerate().map(finish);
        let first = waiting.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((finish, index, place)) = first else { return Dequeued::Empty };
        self.finish[index] = finish;
        let packet = self.bands.pop(index);
        let next = self.bands.band(index);
        if next.backlog.packets == 0 {
            self.active.swap_remove(place);
        } else {
            let size = next.head;
            self.start(now.at, index, size);
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
    use crate::testing::{Bench, OVERFLOW, packet, unfairness};

    fn bench(limit: u64) -> Bench {
        Bench::new(&ENTRY, &[("flow_limit", Value::Limit(Limit::Packets(limit)))])
    }

    fn flows(packets: &[Packet]) -> Vec<u32> {
        packets.iter().map(|packet| packet.flow).collect()
    }

    #[test]
    fn two_flows_alternate() {
        let mut bench = bench(50);
        bench.arrive_all(0, [1, 1, 1, 1, 2, 2, 2].map(|flow| packet(0, flow, 1000)));
        assert_eq!(flows(&bench.drain(0)), [1, 2, 1, 2, 1, 2, 1]);
    }

    #[test]
    fn a_flow_gets_no_credit_for_its_silence() {
        // Flow 1 alone finishes a packet each millisecond. From 3 ms on, with two flows, it would finish the next at 5 ms.
        let order = |size| {
            let mut bench = bench(50);
            bench.arrive_all(0, (0..5).map(|handle| packet(handle, 1, 1000)));
            assert_eq!([0, 1000, 2000].map(|now| bench.depart(now).unwrap().handle), [0, 1, 2]);
            bench.arrive(2500, packet(0, 2, size));
            flows(&bench.drain(3000))
        };
        // Flow 2 finishes at 2.5 ms + 2·1 ms, or 2·1.5 ms.
        assert_eq!(order(1000), [2, 1, 1]);
        assert_eq!(order(1500), [1, 2, 1]);
    }

    #[test]
    fn a_flow_that_was_ahead_waits() {
        let mut bench = bench(50);
        bench.arrive_all(0, [1, 2, 3].map(|flow| packet(0, flow, 1000)));
        // The packet of flow 1 was due at 3 ms: its next one starts then, and is due at 6 ms, that of flow 4, from 1 ms on, at 5 ms.
        assert_eq!(bench.depart(0).unwrap().flow, 1);
        bench.arrive_all(1000, [1, 4].map(|flow| packet(0, flow, 1000)));
        assert_eq!(flows(&bench.drain(1000)), [2, 3, 4, 1]);
    }

    #[test]
    fn large_packets_give_no_advantage() {
        let mut bench = bench(100);
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 1, 1500)));
        bench.arrive_all(0, (0..60).map(|handle| packet(handle, 2, 500)));
        assert!(unfairness(&bench.drain(0)) <= 1500);
    }

    #[test]
    fn each_flow_has_its_limit() {
        let mut bench = bench(3);
        assert_eq!((bench.fill(1, 1000), bench.fill(2, 1000)), (3, 3));
        assert_eq!(bench.outcomes(), [(3, OVERFLOW), (3, OVERFLOW)]);
        assert_eq!(bench.queue.backlog(), Backlog { packets: 6, bytes: 6000 });
        // The first packet does not count.
        let mut bytes = Bench::new(&ENTRY, &[("flow_limit", Value::Limit(Limit::Bytes(2001)))]);
        assert_eq!(bytes.fill(1, 1000), 3);
    }
}
