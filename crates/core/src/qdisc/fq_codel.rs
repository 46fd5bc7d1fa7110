//! `FQ-CoDel`: a `CoDel` queue for each flow, served in turn.
//! ## What it does
//! A hash assigns every packet to one of `flows` queues, which take turns and send `quantum` bytes each. A queue that becomes active is
//! served before queues that have already sent a quantum, so sparse flows do not wait behind bulk transfers. Each queue controls its delay
//! as `codel` does. If the total exceeds `limit`, the queue with the most bytes drops packets from its head.
//! ## References
//! RFC 8290 (Hoeiland-Joergensen, `McKenney`, Taht, Gettys & Dumazet, *The flow queue `CoDel` packet scheduler and active queue management
//! algorithm*, 2018), §4; RFC 8289; Shreedhar & Varghese, *Efficient fair queuing using deficit round robin*, 1995.
//! ## Differs from the document
//! The hash has no random salt, so runs do not depend on it: two flows that share a queue share it in every run. Of n flows, roughly
//! n²/(2·`flows`) pairs share a queue (RFC 8290 §5.3). The hash reads the flow's number in the scenario, not ports. There is no memory limit
//! besides `limit`. Marking and `ce_threshold` follow Linux, as in `codel`.
//!
//! The `variant` `linux` has, besides the differences of `codel`: `maxpacket` applies to the total of all queues, not to each as in RFC 8289;
//! an overflow drops half of the fattest queue's bytes, not of its packets; each packet that it drops raises `count` of that queue; and a new
//! queue that runs empty is new again with its next packet if there were no old queues.
//! ## Parameters
//! `limit`: capacity of all queues together (RFC 8290 §5.2); 10 240 packets.
//! `flows`: number of queues (RFC 8290 §5.2); 1024.
//! `quantum`: bytes that a queue may send per turn (RFC 8290 §5.2); 1514 B.
//! `drop_batch`: largest number of packets dropped at once when `limit` is exceeded, at most half of the queue; 64.
//! `classify`: the input of the hash: the `flow`, its `source`, its `destination`, or both `ends`; flow.
//! `target`: acceptable standing delay of a queue (RFC 8289); 5 ms.
//! `interval`: time within which the delay must fall below `target` (RFC 8289); 100 ms.
//! `maxpacket`: a queue drops nothing if at most this many bytes would remain in it; 1500 B.
//! `ecn`: marks packets that support ECN instead of dropping them; true.
//! `ce_threshold`: waiting time above which every packet that supports ECN is marked; none.
//! `ce_threshold_ecn`: which of them: `any`, or those with ECT(1), `ect1`, which expect a shallow queue (RFC 9331 §5); any.
//! `variant`: `rfc`, or `linux`; rfc.

use super::codel::{CodelQueue, INTERVAL, MAXPACKET, Settings, TARGET};
use super::flow_queues::{CLASSIFY, DROP_BATCH, FLOWS, FairQueue, NEW_FLOWS, OLD_FLOWS, QUANTUM};
use crate::entry::Entry;
use crate::params::Params;
use crate::qdisc::contract::Discipline;
use crate::qdisc::params::{CE_THRESHOLD, CE_THRESHOLD_ECN, ECN, VARIANT, limit};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq_codel",
    summary: "a CoDel queue per flow, served in turn by bytes, sparse flows first",
    reference: "RFC 8290",
    params: &[
        limit("limit", 10_240, "capacity of all queues together"),
        FLOWS,
        QUANTUM,
        DROP_BATCH,
        CLASSIFY,
        TARGET,
        INTERVAL,
        MAXPACKET,
        ECN,
        CE_THRESHOLD,
        CE_THRESHOLD_ECN,
        VARIANT,
    ],
    quantities: &[NEW_FLOWS, OLD_FLOWS],
    build: |params| Ok(Discipline::scheduled(fq_codel(params))),
};

fn fq_codel(params: &Params) -> FairQueue<CodelQueue> {
    let settings = Settings::new(params);
    FairQueue::new(params, settings, settings.is_linux())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::{Backlog, Ecn, Outcome, Outcomes, Packet, Reason, Scheduler};
    use crate::rng::Generator;
    use crate::units::{Bytes, Instant, Limit, Moment};

    const QUANTUM: u64 = 1514;

    struct Bench {
        queue: FairQueue<CodelQueue>,
        random: Generator,
        outcomes: Outcomes,
        /// Handle of the next packet.
        handle: u32,
    }

    impl Bench {
        fn new(set: &[(&str, Value)]) -> Self {
            let mut params = Params::defaults(ENTRY.params);
            for (name, value) in set {
                params.set(name, value.clone());
            }
            Self { queue: fq_codel(&params), random: Generator::derived(1, ""), outcomes: vec![], handle: 0 }
        }

        fn enqueue(&mut self, micros: u64, flow: u32, size: u64) {
            let arrived = Instant::from_nanos(1000 * micros);
            let packet = Packet { handle: self.handle, flow, ends: (flow / 2, 9), size: Bytes(size), ecn: Ecn::NotEct, arrived };
            self.handle += 1;
            self.queue.enqueue(Moment::now(arrived), packet, &mut self.random, &mut self.outcomes);
        }

        fn dequeue(&mut self, micros: u64) -> Option<Packet> {
            self.queue.dequeue(Moment::now(Instant::from_nanos(1000 * micros)), &mut self.random, &mut self.outcomes).packet()
        }

        /// The flows of the next `packets` departures.
        fn order(&mut self, packets: usize) -> Vec<u32> {
            (0..packets).map(|_| self.dequeue(0).unwrap().flow).collect()
        }

        fn new_flows(&self) -> usize {
            crate::testing::internal(|out| self.queue.internals(out), "new_flows") as usize
        }

        fn dropped(&self) -> Vec<(u32, u32)> {
            self.outcomes.iter().map(|(packet, _)| (packet.flow, packet.handle)).collect()
        }
    }

    #[test]
    fn shares_are_fair_in_bytes() {
        let mut bench = Bench::new(&[]);
        let sizes = [1500, 300, 40];
        for (flow, size) in sizes.iter().enumerate() {
            (0..2000).for_each(|_| bench.enqueue(0, flow as u32, *size));
        }
        let mut sent = [0; 3];
        while sent[2] < 40 * 1900 {
            let packet = bench.dequeue(0).unwrap();
            sent[packet.flow as usize] += packet.size.0;
            // Shreedhar & Varghese: while all flows are backlogged, their bytes differ by at most a quantum and a packet.
            let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
            assert!(spread < QUANTUM + 1500, "{sent:?}");
        }
    }

    #[test]
    fn a_turn_is_a_quantum() {
        let mut bench = Bench::new(&[]);
        for flow in [1, 2] {
            (0..20).for_each(|_| bench.enqueue(0, flow, 500));
        }
        // The fourth packet uses up 1514 B and leaves 1028 B for the next turn: three packets.
        assert_eq!(bench.order(14), [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
        // Two half quanta make a whole one.
        let mut bench = Bench::new(&[]);
        for flow in [1, 2] {
            (0..20).for_each(|_| bench.enqueue(0, flow, QUANTUM / 2));
        }
        assert_eq!(bench.order(8), [1, 1, 2, 2, 1, 1, 2, 2]);
    }

    #[test]
    fn a_sparse_flow_goes_first() {
        let mut bench = Bench::new(&[]);
        for flow in 0..10 {
            (0..50).for_each(|_| bench.enqueue(0, flow, 1514));
        }
        // All queues have sent their first quantum.
        bench.order(20);
        bench.enqueue(0, 77, 100);
        assert_eq!(bench.dequeue(0).unwrap().flow, 77);
        // The next packet of the flow arrives while its queue is still old: it waits for one packet of each other flow, not for 500.
        bench.dequeue(0);
        bench.enqueue(0, 77, 100);
        let wait = bench.order(12).iter().position(|flow| *flow == 77);
        assert!(wait.is_some_and(|wait| (5..=10).contains(&wait)), "{wait:?}");
    }

    #[test]
    fn a_new_queue_that_runs_empty_is_new_again_only_in_linux() {
        for (variant, new) in [("rfc", 1), ("linux", 2)] {
            let mut bench = Bench::new(&[("variant", Value::Word(variant.to_owned()))]);
            bench.enqueue(0, 1, 100);
            (0..5).for_each(|_| bench.enqueue(0, 2, 100));
            // The second departure finds the queue of flow 1 empty.
            assert_eq!(bench.order(2), [1, 2]);
            bench.enqueue(0, 1, 100);
            assert_eq!(bench.new_flows(), new, "{variant}");
        }
    }

    #[test]
    fn an_overflow_in_linux_halves_the_bytes() {
        let mut bench = Bench::new(&[("variant", Value::Word("linux".to_owned())), ("limit", Value::Limit(Limit::Packets(100)))]);
        bench.enqueue(0, 1, 1500);
        (0..100).for_each(|_| bench.enqueue(0, 1, 15));
        // One packet is half of the bytes.
        assert_eq!(bench.dropped(), [(1, 0)]);
    }

    #[test]
    fn a_flow_that_turns_new_again_and_again_starves_nobody() {
        let mut bench = Bench::new(&[]);
        (0..200).for_each(|_| bench.enqueue(0, 1, 1500));
        let mut sent = [0_u64; 2];
        for _ in 0..100 {
            // The packet always arrives when its flow's queue has just become empty.
            bench.enqueue(0, 0, 1500);
            for _ in 0..2 {
                let packet = bench.dequeue(0).unwrap();
                sent[packet.flow as usize] += packet.size.0;
            }
        }
        assert!(sent[0].abs_diff(sent[1]) <= QUANTUM + 1500, "{sent:?}");
    }

    #[test]
    fn a_flow_within_its_share_is_not_dropped() {
        // A link of 1 B/µs: one flow at 80 % of its half, the other at four times the link rate.
        let mut bench = Bench::new(&[]);
        let (mut next, mut longest, mut polite) = ([0_u64; 2], 0, 0);
        let mut now = 0;
        while now < 20_000_000 {
            while next[0] <= now || next[1] <= now {
                if next[0] <= next[1] {
                    bench.enqueue(next[0], 0, 500);
                    next[0] += 1250;
                } else {
                    bench.enqueue(next[1], 1, 1000);
                    next[1] += 250;
                }
            }
            let packet = bench.dequeue(now).unwrap();
            if packet.flow == 0 {
                longest = longest.max(now - packet.arrived.as_nanos() / 1000);
                polite += 1;
            }
            now += packet.size.0;
        }
        let dropped = bench.dropped();
        assert!(dropped.len() > 10_000 && dropped.iter().all(|(flow, _)| *flow == 1), "{}", dropped.len());
        assert!(polite >= 20_000_000 / 1250 - 5, "{polite}");
        // The packet waits for at most one quantum of the other flow, complete or in progress.
        assert!(longest <= 1514 + 2 * 1000, "{longest} µs");
    }

    #[test]
    fn the_fattest_queue_overflows_at_its_head() {
        let hundred = Value::Limit(Limit::Packets(100));
        let mut bench = Bench::new(&[("limit", hundred)]);
        (0..60).for_each(|_| bench.enqueue(0, 1, 100));
        // Flow 2 has fewer packets but more bytes.
        (0..40).for_each(|_| bench.enqueue(0, 2, 1500));
        assert_eq!(bench.dropped(), []);
        bench.enqueue(0, 1, 100);
        let expected: Vec<(u32, u32)> = (60..80).map(|handle| (2, handle)).collect();
        assert_eq!(bench.dropped(), expected);
        assert_eq!(bench.queue.backlog(), Backlog { packets: 81, bytes: 20 * 1500 + 61 * 100 });
    }

    #[test]
    fn at_most_a_batch_is_dropped_at_once() {
        let mut bench = Bench::new(&[("limit", Value::Limit(Limit::Packets(200)))]);
        (0..201).for_each(|_| bench.enqueue(0, 1, 100));
        assert_eq!(bench.dropped(), (0..64).map(|handle| (1, handle)).collect::<Vec<_>>());
        assert!(bench.outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Dropped(Reason::Overflow)));
    }

    #[test]
    fn flows_that_share_a_queue_share_its_turn() {
        let mut bench = Bench::new(&[("flows", Value::Number(1.0))]);
        for flow in [1, 2, 2, 1] {
            bench.enqueue(0, flow, 1000);
        }
        assert_eq!(bench.order(4), [1, 2, 2, 1], "a shared queue is first in, first out");
    }

    #[test]
    fn packets_are_classified_as_asked() {
        // Flows 0 and 1 share a source; all flows share a destination.
        let queues = |word: &str| {
            let mut bench = Bench::new(&[("classify", Value::Word(word.to_owned()))]);
            (0..4).for_each(|flow| bench.enqueue(0, flow, 1000));
            bench.new_flows()
        };
        assert_eq!([queues("flow"), queues("source"), queues("ends"), queues("destination")], [4, 2, 2, 1]);
    }

    #[test]
    fn the_hash_spreads_flow_numbers() {
        // Of 1024 queues, 1024 flows are expected to fill 1 − 1/e: 647, with a standard deviation of 10.
        let mut bench = Bench::new(&[]);
        (0..1024).for_each(|flow| bench.enqueue(0, flow, 100));
        let taken = bench.new_flows();
        assert!((617..=677).contains(&taken), "{taken}");
    }
}
