//! FQ: fair queueing by finish times.
//! ## What it does
//! Gives every flow its own queue. The first packet of a queue starts when it becomes the first, but not before the finish time of its
//! flow's previous packet. Whenever the link is free, FQ sends the packet that would finish first if all waiting flows shared the link equally.
//! ## References
//! Demers, Keshav & Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM 1989; ns-2.35, `FQ`.
//! ## Differs from the document
//! As in ns-2, real time replaces the virtual time. Finish times are recomputed for the current number of waiting flows whenever a packet
//! is selected. A flow's first packet does not count towards the flow's limit.
//! ## Parameters
//! `flow_limit`: capacity of each flow's queue, including the arriving packet; 50 packets.

use std::collections::VecDeque;

use crate::entry::Entry;
use crate::qdisc::bands::Bands;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::qdisc::params::limit;
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq",
    summary: "fair queueing: a queue per flow, earliest finish time first",
    reference: "Demers, Keshav & Shenker 1989; ns-2.35 FQ",
    params: &[limit("flow_limit", 50, "capacity of each flow's queue, including the arriving packet")],
    quantities: &[],
    build: |params| {
        Ok(Discipline::scheduled(Fq {
            flow_limit: params.limit("flow_limit"),
            bands: Bands::new(0),
            finish: Vec::new(),
            sizes: Vec::new(),
            waiting: 0,
            seconds_per_byte: 0.0,
        }))
    },
};

/// A fair queue.
#[derive(Debug)]
pub struct Fq {
    flow_limit: Limit,
    bands: Bands,
    /// Finish time of the last packet sent by each queue, in seconds.
    finish: Vec<f64>,
    /// The waiting queues, grouped by the size of their first packets. Within a group the earliest start finishes first, for any number of
    /// waiting queues.
    sizes: Vec<SameSize>,
    /// Number of waiting queues.
    waiting: u64,
    seconds_per_byte: f64,
}

/// Queues with first packets of equal size.
#[derive(Debug)]
struct SameSize {
    size: u64,
    /// Transmission time of such a packet on the whole link, in seconds.
    alone: f64,
    /// Start time of each first packet, in seconds, and its queue, sorted in this order.
    starts: VecDeque<(f64, usize)>,
}

impl SameSize {
    fn insert(&mut self, start: f64, index: usize) {
        // A queue that has just been served usually starts late, so the search begins at the end.
        let later = self.starts.iter().rev().take_while(|&&(other, queue)| (start, index) < (other, queue)).count();
        self.starts.insert(self.starts.len() - later, (start, index));
    }

    /// The earliest finish time if `shares` queues shared the link, the queue (the lowest index among equals), and its place in `starts`.
    fn first(&self, shares: f64) -> Option<(f64, usize, usize)> {
        let finish = |start: f64| start + self.alone * shares;
        let earliest = finish(self.starts.front()?.0);
        // Rounding can give different starts equal finish times.
        let equal = self.starts.iter().take_while(|&&(start, _)| finish(start) <= earliest).enumerate();
        equal.map(|(place, &(_, index))| (earliest, index, place)).min_by_key(|&(_, index, _)| index)
    }
}

impl Fq {
    /// Records that a packet of `size` bytes has become the first of queue `index` at `now`.
    fn start(&mut self, now: Instant, index: usize, size: u64) {
        let start = self.finish[index].max(now.as_secs_f64());
        let place = self.sizes.iter().position(|same| same.size == size).unwrap_or_else(|| {
            self.sizes.push(SameSize { size, alone: size as f64 * self.seconds_per_byte, starts: VecDeque::new() });
            self.sizes.len() - 1
        });
        self.sizes[place].insert(start, index);
    }
}

impl Scheduler for Fq {
    fn attach(&mut self, outlet: &Outlet) {
        self.seconds_per_byte = 8.0 / outlet.rate.as_bits_per_sec() as f64;
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let index = packet.flow as usize;
        if index >= self.finish.len() {
            self.finish.resize(index + 1, 0.0);
        }
        let band = self.bands.band(index);
        if band.backlog.packets == 0 {
            self.start(now.at, index, packet.size.0);
            self.waiting += 1;
        } else if band.backlog.without(Bytes(band.head)).with(packet.size).reaches(self.flow_limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        self.bands.push(index, packet);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        // Finish times if all waiting queues shared the link equally.
        let shares = self.waiting as f64;
        let firsts = self.sizes.iter_mut().filter_map(|same| same.first(shares).map(|first| (first, same)));
        let earliest = firsts.min_by(|((a, i, _), _), ((b, j, _), _)| a.total_cmp(b).then(i.cmp(j)));
        let Some(((finish, index, place), same)) = earliest else { return Dequeued::Empty };
        same.starts.remove(place);
        self.finish[index] = finish;
        let packet = self.bands.pop(index);
        let next = self.bands.band(index);
        if next.backlog.packets == 0 {
            self.waiting -= 1;
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
    use proptest::prelude::*;

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
        // Flow 1 alone finishes a packet each millisecond. With two flows from 3 ms on, its next packet would finish at 5 ms.
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
        // Flow 1's first packet was due at 3 ms. Its next one starts then and is due at 6 ms; flow 4's starts at 1 ms and is due at 5 ms.
        assert_eq!(bench.depart(0).unwrap().flow, 1);
        bench.arrive_all(1000, [1, 4].map(|flow| packet(0, flow, 1000)));
        assert_eq!(flows(&bench.drain(1000)), [2, 3, 4, 1]);
    }

    /// FQ as stated: compares the first packets of all flows.
    #[derive(Default)]
    struct Stated {
        /// For each flow the sizes of its waiting packets, the start time of the first, and the finish time of the last packet sent.
        flows: Vec<(VecDeque<u64>, f64, f64)>,
    }

    impl Stated {
        fn arrive(&mut self, now: f64, flow: usize, size: u64) {
            self.flows.resize_with(self.flows.len().max(flow + 1), Default::default);
            let (sizes, start, finish) = &mut self.flows[flow];
            if sizes.is_empty() {
                *start = finish.max(now);
            }
            sizes.push_back(size);
        }

        fn depart(&mut self, now: f64) -> Option<usize> {
            let waiting = self.flows.iter().enumerate().filter(|(_, (sizes, ..))| !sizes.is_empty());
            let shares = waiting.clone().count() as f64;
            // The bench's link of 8 Mbit/s sends one byte per microsecond.
            let due = |&(flow, (sizes, start, _)): &(usize, &(VecDeque<u64>, f64, f64))| (start + sizes[0] as f64 * 1e-6 * shares, flow);
            let (finished, flow) = waiting.map(|flow| due(&flow)).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
            let (sizes, start, finish) = &mut self.flows[flow];
            sizes.pop_front();
            (*start, *finish) = (finished.max(now), finished);
            Some(flow)
        }
    }

    proptest! {
        #[test]
        fn the_flow_that_finishes_first_is_sent(
            steps in prop::collection::vec((0_u64..3000, 0_u32..8, prop::sample::select(vec![0_u64, 0, 40, 1000, 1040])), 1..300),
        ) {
            let mut bench = bench(1000);
            let (mut stated, mut now) = (Stated::default(), 0);
            for (span, flow, size) in steps {
                // Many steps happen at the same time, which gives equal start times.
                now += span.saturating_sub(2000);
                let seconds = Instant::from_nanos(now * 1000).as_secs_f64();
                if size == 0 {
                    prop_assert_eq!(bench.depart(now).map(|packet| packet.flow as usize), stated.depart(seconds));
                } else {
                    bench.arrive(now, packet(0, flow, size));
                    stated.arrive(seconds, flow as usize, size);
                }
            }
        }
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
        // A flow's first packet does not count towards its limit.
        let mut bytes = Bench::new(&ENTRY, &[("flow_limit", Value::Limit(Limit::Bytes(2001)))]);
        assert_eq!(bytes.fill(1, 1000), 3);
    }
}
