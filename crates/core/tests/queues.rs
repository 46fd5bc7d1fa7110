//! The obligations of every queue discipline in the registry, for any packets: it reports every drop, keeps each flow in order, and knows
//! its exact backlog. A link with a backlog idles only until the time that the discipline names.

mod common;

use std::collections::BTreeSet;

use std::collections::BTreeMap;

use ackclock_core::entry::Entry;
use ackclock_core::params::{Kind, Params, Value};
use ackclock_core::qdisc::{self, Dequeued, Discipline, Ecn, Outcome, Outcomes, Outlet, Packet, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Limit, Moment, Rate};
use common::buildable;
use proptest::prelude::*;

/// A link that sends one byte per microsecond.
const OUTLET: Outlet = Outlet { rate: Rate::from_bits_per_sec(8_000_000).unwrap(), delay: Duration::from_millis(10) };

/// An arriving packet: microseconds since the previous one, size, flow, and whether it is ECN-capable.
type Arriving = (u64, u64, u32, bool);

/// A queue in front of [`OUTLET`], and the fate of every packet.
struct Line<'a> {
    entry: &'a Entry<Discipline>,
    params: &'a Params,
    queue: Box<dyn Scheduler>,
    random: Generator,
    outcomes: Outcomes,
    /// Queued packets by handle.
    held: BTreeMap<u32, Packet>,
    /// When the link polls the queue next: it sends until then, or nothing may leave before.
    due: Option<Instant>,
    sending: bool,
    /// Sent packets, each with its ECN field.
    sent: Vec<(u32, Ecn)>,
    dropped: Vec<u32>,
    marked: Vec<u32>,
    /// By flow and codepoint, of which a discipline may serve some first.
    last_sent: BTreeMap<(u32, u8), u32>,
}

impl<'a> Line<'a> {
    fn new(entry: &'a Entry<Discipline>, params: &'a Params) -> Self {
        let mut queue = (entry.build)(params).unwrap_or_else(|reason| panic!("{}: {reason}", entry.name)).into_scheduler();
        queue.attach(&OUTLET);
        Self {
            entry,
            params,
            queue,
            random: Generator::derived(1, "queue"),
            outcomes: Vec::new(),
            held: BTreeMap::new(),
            due: None,
            sending: false,
            sent: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
            last_sent: BTreeMap::new(),
        }
    }

    fn run(mut self, packets: &[Arriving]) -> Self {
        let mut now = 0;
        for (handle, &(gap, size, flow, capable)) in packets.iter().enumerate() {
            now += gap;
            let arrived = Instant::from_nanos(1000 * now);
            self.serve_until(arrived);
            let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
            let packet = Packet { handle: handle as u32, flow, ends: (2 * flow, 2 * flow + 1), size: Bytes(size), ecn, arrived };
            self.held.insert(packet.handle, packet);
            self.queue.enqueue(Moment::now(arrived), packet, &mut self.random, &mut self.outcomes);
            self.account();
            if !self.sending {
                self.serve(arrived);
            }
        }
        self.serve_until(Instant::MAX);
        assert!(self.held.is_empty() && self.queue.backlog().packets == 0, "{}: {:?} never left", self.entry.name, self.held);
        assert_eq!(self.sent.len() + self.dropped.len(), packets.len(), "{}", self.entry.name);
        self
    }

    fn serve_until(&mut self, now: Instant) {
        while let Some(at) = self.due.filter(|at| *at <= now) {
            self.serve(at);
        }
    }

    /// The link is free: it takes a packet unless the queue is empty or no packet may leave yet.
    fn serve(&mut self, at: Instant) {
        let name = self.entry.name;
        let answer = self.queue.dequeue(Moment::now(at), &mut self.random, &mut self.outcomes);
        if let Some(packet) = answer.packet() {
            let before = self.held.remove(&packet.handle).unwrap_or_else(|| panic!("{name} sent {packet:?}, which was not queued"));
            let unchanged = Packet { ecn: before.ecn, ..packet };
            assert_eq!(unchanged, before, "{name} changed a packet");
            let overtaken = self.last_sent.insert((packet.flow, before.ecn as u8), packet.handle).is_some_and(|last| last > packet.handle);
            assert!(!overtaken, "{name}: packet {} overtook another packet of its flow", packet.handle);
            self.sent.push((packet.handle, packet.ecn));
        }
        self.account();
        let waiting = self.held.len();
        self.due = match answer {
            Dequeued::Send(packet) => Some(at + OUTLET.rate.transmission(packet.size)),
            Dequeued::NotBefore(time) => {
                assert!(waiting > 0, "{name} holds back packets with an empty queue");
                assert!(time > at && time < Instant::MAX, "{name} holds packets back until {time:?} at {at:?}");
                Some(time)
            }
            Dequeued::Empty => {
                assert_eq!(waiting, 0, "{name} left the link idle with packets in the queue");
                None
            }
        };
        self.sending = answer.packet().is_some();
    }

    /// Records the reported outcomes, and checks the backlog.
    fn account(&mut self) {
        let name = self.entry.name;
        for (packet, outcome) in self.outcomes.drain(..) {
            match outcome {
                Outcome::Dropped(_) => {
                    assert!(self.held.remove(&packet.handle).is_some(), "{name} dropped {packet:?}, which was not queued");
                    self.dropped.push(packet.handle);
                }
                Outcome::Marked(_) => {
                    assert_ne!(packet.ecn, Ecn::NotEct, "{name} marked a packet without ECN");
                    self.marked.push(packet.handle);
                }
            }
        }
        let (packets, bytes) = (self.held.len() as u64, self.held.values().map(|packet| packet.size.0).sum::<u64>());
        let backlog = self.queue.backlog();
        assert_eq!((backlog.packets, backlog.bytes), (packets, bytes), "{name}: wrong backlog");
        let limit = self.params.0.iter().find(|(param, _)| *param == "limit").map(|(_, limit)| limit);
        // If a discipline counts bytes, a limit in packets is converted, and the last packet may exceed the limit.
        let counts_packets = self.entry.params.iter().any(|param| param.name == "limit" && matches!(param.kind, Kind::Limit { .. }));
        let within = match limit {
            Some(Value::Limit(Limit::Packets(limit))) if counts_packets => packets <= *limit,
            Some(Value::Limit(Limit::Bytes(limit))) => bytes <= limit + 1500,
            _ => true,
        };
        assert!(within, "{name}: a backlog of {packets} packets and {bytes} bytes with {limit:?}");
    }
}

fn any_packets() -> impl Strategy<Value = Vec<Arriving>> {
    prop::collection::vec((0..3000_u64, 40..1500_u64, 0..5_u32, any::<bool>()), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_accounts_for_every_packet(
        (entry, params) in prop::sample::select(buildable(qdisc::ENTRIES)),
        packets in any_packets(),
        speedup in 1..40_u64,
    ) {
        // With a speedup, packets arrive faster than the link can send them.
        let packets: Vec<Arriving> = packets.into_iter().map(|(gap, size, flow, capable)| (gap / speedup, size, flow, capable)).collect();
        let line = Line::new(entry, &params).run(&packets);
        let marks: Vec<u32> = line.sent.iter().filter(|(_, ecn)| *ecn == Ecn::Ce).map(|(handle, _)| *handle).collect();
        prop_assert!(marks.iter().all(|handle| line.marked.contains(handle)), "{}: a mark was not reported", entry.name);
        let twin = Line::new(entry, &params).run(&packets);
        prop_assert_eq!((line.sent, line.dropped), (twin.sent, twin.dropped), "the same packets had different outcomes");
    }
}

#[test]
fn every_empty_queue_accepts_a_packet() {
    for entry in qdisc::ENTRIES {
        let params = Params::defaults(entry.params);
        let line = Line::new(entry, &params).run(&[(0, 1000, 0, false)]);
        assert_eq!(line.sent.len(), 1, "{}", entry.name);
    }
}

#[test]
fn every_queue_overflows() {
    // 20 000 packets of one flow at once: more than any default holds.
    for entry in qdisc::ENTRIES {
        let params = Params::defaults(entry.params);
        let line = Line::new(entry, &params).run(&vec![(0, 1000, 0, false); 20_000]);
        assert!(line.dropped.len() > 1000, "{} dropped {}", entry.name, line.dropped.len());
    }
}

#[test]
fn every_queue_reports_exactly_the_quantities_it_declares() {
    let mut unreported: BTreeSet<(&str, &str)> =
        qdisc::ENTRIES.iter().flat_map(|entry| entry.quantities.iter().map(|quantity| (entry.name, quantity.name))).collect();
    let packets: Vec<Arriving> = (0..400).map(|number| (number % 7 * 100, 1000, number as u32 % 5, number % 2 == 0)).collect();
    for (entry, params) in buildable(qdisc::ENTRIES) {
        let declared = common::declared(entry.quantities, entry.params, &params);
        for line in [Line::new(entry, &params), Line::new(entry, &params).run(&packets)] {
            let mut reported = Vec::new();
            line.queue.internals(&mut |name, _| reported.push(name));
            unreported.retain(|&(name, quantity)| name != entry.name || !reported.contains(&quantity));
            // A quantity that a parameter disables is omitted; the others follow in the order of declaration.
            let known: Vec<&str> = declared.iter().copied().filter(|name| reported.contains(name)).collect();
            assert_eq!(reported, known, "{} {params:?}: reported and declared quantities differ", entry.name);
        }
    }
    assert_eq!(unreported, BTreeSet::new(), "declared, but reported with no parameters");
}
