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
//! n²/(2·`flows`) pairs share a queue (RFC 8290 §5.3). The hash reads the flow's number in the scenario, not ports. There is no
//! `ce_threshold`, and no memory limit besides `limit`. As in RFC 8289, `maxpacket` applies to each queue; Linux applies it to the total of
//! all queues. Marking follows Linux, as in `codel`.
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

use std::collections::VecDeque;

use super::codel::{CodelQueue, INTERVAL, MAXPACKET, Settings, TARGET};
use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::{ECN, limit};
use crate::rng::Generator;
use crate::units::{Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq_codel",
    summary: "a CoDel queue per flow, served in turn by bytes, sparse flows first",
    reference: "RFC 8290",
    params: &[
        limit("limit", 10_240, "capacity of all queues together"),
        Param { name: "flows", kind: Kind::Integer { min: 1.0, max: 65_536.0 }, default: Default::Number(1024.0), doc: "number of queues" },
        Param {
            name: "quantum",
            kind: Kind::Size { min: 1.0, max: 1e6 },
            default: Default::Number(1514.0),
            doc: "bytes that a queue may send per turn",
        },
        Param {
            name: "drop_batch",
            kind: Kind::Integer { min: 1.0, max: 1e6 },
            default: Default::Number(64.0),
            doc: "largest number of packets dropped at once when limit is exceeded",
        },
        Param {
            name: "classify",
            kind: Kind::Word(&["flow", "source", "destination", "ends"]),
            default: Default::Word("flow"),
            doc: "input of the hash; packets with equal input share a queue",
        },
        TARGET,
        INTERVAL,
        MAXPACKET,
        ECN,
    ],
    quantities: &[
        quantity("new_flows", "queues", "queues in RFC 8290's list of new flows"),
        quantity("old_flows", "queues", "queues in RFC 8290's list of old flows"),
    ],
    build: |params| Ok(Discipline::scheduled(FqCodel::new(params))),
};

/// The input of the hash.
#[derive(Clone, Copy, Debug)]
enum Classify {
    Flow,
    Source,
    Destination,
    Ends,
}

impl Classify {
    fn key(self, packet: &Packet) -> u64 {
        let (source, destination) = (u64::from(packet.ends.0), u64::from(packet.ends.1));
        match self {
            Self::Flow => u64::from(packet.flow),
            Self::Source => source,
            Self::Destination => destination,
            Self::Ends => source << 32 | destination,
        }
    }
}

/// The finalizer of `MurmurHash3`: every bit of the key affects every bit of the hash.
const fn hash(key: u64) -> u64 {
    let mut word = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

/// One queue.
#[derive(Debug, Default)]
struct Flow {
    queue: CodelQueue,
    /// Bytes that the queue may still send in its turn.
    deficit: i64,
    /// Whether the queue is in one of the two lists.
    active: bool,
}

/// An `FQ-CoDel` queue.
#[derive(Debug)]
pub struct FqCodel {
    limit: Limit,
    quantum: i64,
    drop_batch: u64,
    classify: Classify,
    settings: Settings,
    flows: Vec<Flow>,
    /// Queues that have not yet sent their first quantum, in order of their turns; `old_flows` has the other active queues.
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    backlog: Backlog,
}

impl FqCodel {
    fn new(params: &Params) -> Self {
        let flows = params.number("flows") as usize;
        Self {
            limit: params.limit("limit"),
            quantum: params.number("quantum") as i64,
            drop_batch: params.number("drop_batch") as u64,
            classify: match params.word("classify") {
                "source" => Classify::Source,
                "destination" => Classify::Destination,
                "ends" => Classify::Ends,
                _ => Classify::Flow,
            },
            settings: Settings::new(params),
            flows: (0..flows).map(|_| Flow::default()).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// RFC 8290 §4.1: the queue of a packet.
    fn queue_of(&self, packet: &Packet) -> usize {
        (hash(self.classify.key(packet)) % self.flows.len() as u64) as usize
    }

    const fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.backlog.packets > limit,
            Limit::Bytes(limit) => self.backlog.bytes > limit,
        }
    }

    /// RFC 8290 §4.1: drops half of the queue with the most bytes, at most a batch, from its head.
    fn drop_from_fattest(&mut self, outcomes: &mut Outcomes) {
        // Among queues of equal length the first, as in Linux.
        let longer = |fattest: usize, index: usize| {
            let bytes = |index: usize| self.flows[index].queue.backlog().bytes;
            if bytes(index) > bytes(fattest) { index } else { fattest }
        };
        let fattest = (0..self.flows.len()).fold(0, longer);
        let queue = &mut self.flows[fattest].queue;
        let batch = queue.backlog().packets.div_ceil(2).min(self.drop_batch);
        for _ in 0..batch {
            let Some(packet) = queue.pop() else { break };
            self.backlog = self.backlog.without(packet.size);
            outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
    }
}

impl Scheduler for FqCodel {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let index = self.queue_of(&packet);
        let flow = &mut self.flows[index];
        flow.queue.push(packet);
        self.backlog = self.backlog.with(packet.size);
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
        while self.is_over_limit() {
            self.drop_from_fattest(outcomes);
        }
    }

    /// RFC 8290 §4.2.
    fn dequeue(&mut self, now: Moment, _random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let Some(&index) = list.front() else { return Dequeued::Empty };
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            let before = flow.queue.backlog();
            let packet = flow.queue.dequeue(&self.settings, now.at, outcomes);
            let after = flow.queue.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                flow.deficit -= packet.size.0.cast_signed();
                return Dequeued::Send(packet);
            }
            list.pop_front();
            if is_new {
                // The queue must take a turn among the old flows before it can be new again; otherwise it could starve them.
                self.old_flows.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("new_flows", self.new_flows.len() as f64);
        out("old_flows", self.old_flows.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::Ecn;
    use crate::units::{Bytes, Instant};

    const QUANTUM: u64 = 1514;

    struct Bench {
        queue: FqCodel,
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
            Self { queue: FqCodel::new(&params), random: Generator::derived(1, ""), outcomes: vec![], handle: 0 }
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
            bench.queue.new_flows.len()
        };
        assert_eq!([queues("flow"), queues("source"), queues("ends"), queues("destination")], [4, 2, 2, 1]);
    }

    #[test]
    fn the_hash_spreads_flow_numbers() {
        // Of 1024 queues, 1024 flows are expected to fill 1 − 1/e: 647, with a standard deviation of 10.
        let mut bench = Bench::new(&[]);
        (0..1024).for_each(|flow| bench.enqueue(0, flow, 100));
        let taken = bench.queue.new_flows.len();
        assert!((617..=677).contains(&taken), "{taken}");
    }
}
