//! Queues of hosts outside the engine: every discipline works there as it does inside.

use std::collections::VecDeque;

use ackclock_core::params::Params;
use ackclock_core::qdisc::{self, Dequeued, Ecn, Outcome, Outlet, Packet, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, Moment, Rate};
use ackclock_host::Side;
use proptest::prelude::*;

use super::lockstep::{Lockstep, Outside};
use super::outside::{Departure, OutsideHost, Passed};
use super::replay::{Arrival, Replayed, replay, replays};
use crate::scenario::{Document, Scenario};

/// Disciplines without chance. Not `fq`: finish times of its flows are often equal, and the rounding to a nanosecond then decides.
const DISCIPLINES: [&str; 11] = ["droptail", "headdrop", "drr", "srr", "codel", "fq_codel", "tbf", "prio", "wrr", "htb", "fq_paced"];

/// Rate of the link in bit/s. Sums of transmission times never equal the intervals of `codel`, where rounding would decide.
const RATE: u64 = 8_000_001;

fn scenario(queue: &str) -> Scenario {
    let link = format!("[[topology.links]]\nrate = '{RATE} bit/s'\ndelay = '5 ms'\nqueue = {queue}");
    let text = format!("duration = '60 s'\n{link}\n[flow]\ncount = 3\nhost = 'linux'");
    Document::from_toml(&text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A host with a queue and nothing else. Whether it breaks its contract.
#[derive(Debug)]
struct QueueHost {
    queue: Box<dyn Scheduler>,
    random: Generator,
    /// Whether the link is free and no packet has left for it.
    asked: bool,
    /// When packets that are held back may leave.
    held: Option<u64>,
    passed: VecDeque<Passed>,
    repeats: bool,
}

impl QueueHost {
    fn new(name: &str) -> Self {
        let entry = qdisc::PARTS.find(name).unwrap();
        let mut queue = (entry.build)(&Params::defaults(entry.params)).unwrap().into_scheduler();
        queue.attach(&Outlet { rate: Rate::from_bits_per_sec(RATE).unwrap(), delay: Duration::from_millis(5) });
        Self { queue, random: Generator::derived(1, ""), asked: true, held: None, passed: VecDeque::new(), repeats: false }
    }

    /// Gives a packet if it may.
    fn serve(&mut self, nanos: u64) {
        if !self.asked {
            return;
        }
        let (now, mut outcomes) = (Moment::now(Instant::from_nanos(nanos)), Vec::new());
        let answer = self.queue.dequeue(now, &mut self.random, &mut outcomes);
        self.note(&outcomes);
        self.held = None;
        match answer {
            Dequeued::Send(packet) => {
                self.asked = false;
                self.passed.push_back(Passed::Left(packet.handle, packet.ecn));
                self.passed.extend(self.repeats.then_some(Passed::Left(packet.handle, packet.ecn)));
            }
            Dequeued::NotBefore(at) => {
                let nanos = at.as_nanos();
                self.held = Some(nanos + u64::from(Instant::from_nanos(nanos) < at));
            }
            Dequeued::Empty => {}
        }
    }

    fn note(&mut self, outcomes: &[(Packet, Outcome)]) {
        let dropped = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Dropped(_)));
        self.passed.extend(dropped.map(|(packet, _)| Passed::Dropped(packet.handle)));
    }
}

impl OutsideHost for QueueHost {
    fn next(&self) -> Option<u64> {
        self.held
    }

    fn advance(&mut self, until: u64) -> Option<Departure> {
        if let Some(at) = self.held.filter(|at| *at <= until) {
            self.serve(at);
        }
        None
    }

    fn receive(&mut self, _now: u64, _flow: usize, _side: Side, _frame: &[u8]) {}

    fn enqueue(&mut self, nanos: u64, _link: usize, packet: &Packet) {
        let (now, mut outcomes) = (Moment::now(Instant::from_nanos(nanos)), Vec::new());
        self.queue.enqueue(now, *packet, &mut self.random, &mut outcomes);
        self.note(&outcomes);
        self.serve(nanos);
    }

    fn dequeue(&mut self, nanos: u64, _link: usize) {
        self.asked = true;
        self.serve(nanos);
    }

    fn passed(&mut self, _link: usize) -> Option<Passed> {
        self.passed.pop_front()
    }
}

/// What arrives if the queue is outside.
fn outside(host: QueueHost, packets: &[Replayed]) -> Result<Vec<Arrival>, String> {
    let scenario = scenario("{ kind = 'qdisc', command = 'any' }");
    let hosts = vec![Outside { nodes: scenario.nodes.clone(), queues: vec![0], host: Box::new(host) }];
    let (connections, arrivals) = replays(packets, 3);
    let mut connections = connections.into_iter();
    let run = Lockstep::between(scenario, &[], hosts, &mut |_, _, _| connections.next()).unwrap();
    run.run(&mut || false).map_err(|error| error.to_string())?;
    Ok(arrivals.take())
}

fn packets(rows: &[(u64, usize, u16, bool)]) -> Vec<Replayed> {
    let mut at = 0;
    let packet = |&(gap, flow, size, capable): &(u64, usize, u16, bool)| {
        // Without a remainder, waiting times would be close to thresholds.
        at += 1000 * gap + 371;
        Replayed { at: Instant::from_nanos(at), flow, size, ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct } }
    };
    rows.iter().map(packet).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_discipline_outside_gives_what_it_gives_inside(
        name in prop::sample::select(&DISCIPLINES[..]),
        rows in prop::collection::vec((1..3000_u64, 0..3_usize, 40..1500_u16, any::<bool>()), 1..400),
        speedup in 1..20_u64,
    ) {
        let rows: Vec<_> = rows.into_iter().map(|(gap, flow, size, capable)| (1 + gap / speedup, flow, size, capable)).collect();
        let packets = packets(&rows);
        let inside = replay(scenario(&format!("'{name}'")), &packets).unwrap();
        for (one, other) in outside(QueueHost::new(name), &packets).unwrap().into_iter().zip(inside) {
            prop_assert_eq!(one.map(|(_, ecn)| ecn), other.map(|(_, ecn)| ecn), "{}", name);
            if let (Some((one, _)), Some((other, _))) = (one, other) {
                // A host counts whole nanoseconds. Tokens of `tbf` suffice at times between them.
                prop_assert!(one.as_nanos().abs_diff(other.as_nanos()) <= 2, "{}: {:?}, not {:?}", name, one, other);
            }
        }
    }
}

#[test]
fn a_packet_that_leaves_twice_is_a_fault() {
    let host = QueueHost { repeats: true, ..QueueHost::new("droptail") };
    let message = outside(host, &packets(&[(1, 0, 1000, false)])).unwrap_err();
    assert!(message.contains("has let packet number 0 out of the queue of link number 0, which does not have it"), "{message}");
}

#[test]
fn a_queue_of_the_kernel_needs_a_kernel() {
    let scenario = scenario("{ kind = 'qdisc', command = 'fq_codel target 5ms' }");
    assert_eq!(scenario.links[0].queue.as_ref().unwrap().command(), Some("fq_codel target 5ms"));
    let message = replay(scenario, &[]).unwrap_err().to_string();
    let expected = "link n0>n1 has the queue discipline \"fq_codel target 5ms\" of Linux, which needs a kernel in virtual time: ";
    assert!(message.starts_with(expected), "{message}");
}
