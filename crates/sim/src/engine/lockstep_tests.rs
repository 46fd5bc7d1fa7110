//! Hosts outside the engine, with clocks of their own.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::{Connection as _, Datagram, Side};
use ackclock_tcp::modern;
use ackclock_wire::frame::{Endpoint, frame_ecn, headers};
use ackclock_wire::packet::Packet;
use ackclock_wire::segment::Segment;
use proptest::prelude::*;

use super::flow::Flow;
use super::hosts::Hosts;
use super::lockstep::{Lockstep, Outside};
use super::outside::{Departure, OutsideHost};
use super::prepared::Prepared;
use super::result::RunResult;
use crate::scenario::{Document, Scenario};

fn scenario(text: &str) -> Scenario {
    Document::from_toml(text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// One end of a TCP connection: the same code as inside the engine, in which the other end never gets a packet.
#[derive(Debug)]
struct End {
    flow: usize,
    side: Side,
    connection: Box<modern::Connection>,
    addresses: [Endpoint; 2],
}

/// A host whose TCP is that of profile `modern`, with a clock in nanoseconds and packets in bytes.
#[derive(Debug)]
struct TcpHost {
    /// The clock, and the time that the connections know.
    clock: u64,
    now: Instant,
    ends: Vec<End>,
    /// The end that may have packets to send.
    polled: Option<usize>,
}

impl TcpHost {
    /// The host at `node`.
    fn new(scenario: &Scenario, node: usize) -> Self {
        let mut ends = Vec::new();
        for (flow, spec) in scenario.flows.iter().enumerate().filter(|(_, spec)| [spec.from, spec.to].contains(&node)) {
            let Hosts::Modern(mut connection) = Flow::new(scenario, flow).unwrap().hosts else { panic!("{:?}", spec.host) };
            let side = if node == spec.from { Side::Sender } else { Side::Receiver };
            if side == Side::Receiver {
                // The sender's start wakes the connection.
                connection.handle_timeout(Instant::ZERO, Side::Sender);
            }
            let addresses = [Endpoint::new(spec.from, 1024 + flow as u16), Endpoint::new(spec.to, 5001)];
            ends.push(End { flow, side, connection, addresses });
        }
        Self { clock: 0, now: Instant::ZERO, ends, polled: None }
    }

    fn set_clock(&mut self, nanos: u64) {
        assert!(nanos >= self.clock, "time goes back from {} to {nanos}", self.clock);
        (self.clock, self.now) = (nanos, self.now.max(Instant::from_nanos(nanos)));
    }

    /// The end whose timer expires next.
    fn due(&self) -> Option<(Instant, usize)> {
        self.ends.iter().enumerate().filter_map(|(index, end)| Some((end.connection.poll_timeout(end.side)?, index))).min()
    }
}

impl OutsideHost for TcpHost {
    fn next(&self) -> Option<u64> {
        self.due().map(|(at, _)| at.as_nanos().max(self.clock))
    }

    fn advance(&mut self, until: u64) -> Option<Departure> {
        loop {
            if let Some(index) = self.polled {
                let End { flow, side, ref mut connection, addresses } = self.ends[index];
                if let Some((Datagram { payload, .. }, _)) = connection.poll_transmit(self.now, side) {
                    let [from, to] = [side, side.peer()].map(|side| addresses[side.index()]);
                    let mut frame = Vec::new();
                    let length = headers(&mut frame, &payload.unwrap(), (from, to), 0);
                    frame.resize(length as usize, 0);
                    return Some(Departure { at: self.clock, flow, side, frame });
                }
                self.polled = None;
            }
            let Some((deadline, index)) = self.due().filter(|(at, _)| at.as_nanos() <= until) else {
                self.set_clock(until);
                return None;
            };
            self.set_clock(deadline.as_nanos().max(self.clock));
            // A deadline can lie between two nanoseconds.
            self.now = self.now.max(deadline);
            let End { side, ref mut connection, .. } = self.ends[index];
            connection.handle_timeout(self.now, side);
            self.polled = Some(index);
        }
    }

    fn receive(&mut self, now: u64, flow: usize, _side: Side, frame: &[u8]) {
        self.set_clock(now);
        let packet = Packet::decode(frame).unwrap();
        let segment = packet.segment();
        let Segment { ecn, .. } = segment;
        let datagram = Datagram { number: 0, size: frame.len() as u16, sent: self.now, ecn, echo: false, payload: Some(segment) };
        let index = self.ends.iter().position(|end| end.flow == flow).unwrap();
        let End { side, ref mut connection, .. } = self.ends[index];
        connection.handle(self.now, side, &datagram);
        self.polled = Some(index);
    }
}

/// A host at one node.
fn outside(node: &str, host: impl OutsideHost + 'static) -> Outside {
    Outside { nodes: vec![node.to_owned()], queues: Vec::new(), host: Box::new(host) }
}

/// The scenario with its `modern` bulk transfers outside.
fn lockstep(scenario: &Scenario, captured: &[String]) -> Lockstep {
    let flows = scenario.flows.iter().filter(|flow| flow.host.as_modern().is_some());
    let nodes: BTreeSet<usize> = flows.flat_map(|flow| [flow.from, flow.to]).collect();
    let hosts = nodes.into_iter().map(|node| outside(&scenario.nodes[node], TcpHost::new(scenario, node)));
    Lockstep::new(scenario.clone(), captured, hosts.collect()).unwrap()
}

/// The packets in a capture: the time of each, its place, and its headers without the fields that a router changes.
fn captured(result: &RunResult) -> Vec<(u64, u32, Vec<u8>)> {
    let file = result.capture.as_ref().unwrap().pcapng("", None, None);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut packets) = (0, Vec::new());
    while at < file.len() {
        // An enhanced packet block.
        if word(at) == 6 {
            let time = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            let mut bytes = file[at + 28..at + 28 + word(at + 20) as usize].to_vec();
            (bytes[8], bytes[10], bytes[11]) = (0, 0, 0);
            packets.push((time, word(at + 8), bytes));
        }
        at += word(at + 4) as usize;
    }
    packets
}

/// Flows of profile `modern` over one link, recorded.
fn over(link: &str, flows: &str) -> Scenario {
    let text =
        format!("duration = '4 s'\nrecord = ['queue', 'drops', 'marks', 'sojourn']\n[[topology.links]]\nrate = '12 Mbit/s'\n{link}\n");
    scenario(&format!("{text}[[flow]]\nprofile = 'modern'\n{flows}"))
}

/// Flows of profile `modern`, and others beside them, over a bottleneck.
fn beside(bottleneck: &str, modern: &str, others: &str) -> Scenario {
    let text = format!("duration = '2 s'\nrecord = ['queue', 'drops', 'delivered']\n[topology]\nkind = 'dumbbell'\n{bottleneck}\n");
    scenario(&format!("{text}[[flow]]\nprofile = 'modern'\n{modern}\n{others}"))
}

#[test]
fn a_tcp_outside_sends_the_packets_of_the_same_tcp_inside() {
    let others = "[[flow]]\nrecovery = 'sack'\ncount = 2\n[[flow]]\napplication = { kind = 'cbr', rate = '500 kbit/s' }";
    let mut met = [0; 3];
    // Flows whose packets answer packets leave at the very times. A timer of the host expires in a whole nanosecond, and one that paces does
    // so for each packet.
    for (worst, scenario) in [
        (0, over("delay = '5 ms'\nqueue = '15 packets'", "")),
        (0, over("delay = '5 ms'\nqueue = 'red'", "ecn = true")),
        (0, over("delay = '5 ms'\nqueue = 'fq_codel'", "count = 2")),
        (2, over("delay = '5 ms'\nqueue = '15 packets'\nloss = '1 %'", "avoidance = 'cubic'\nsize = '2000 packets'")),
        (2, over("delay = { kind = 'jitter', delay = '5 ms', jitter = '1 ms', order = 'free' }", "")),
        (2, over("delay = '5 ms'\nloss = { kind = 'gilbert_elliott' }", "host = 'linux'\ncount = 2")),
        (2, beside("bottleneck = { rate = '10 Mbit/s', queue = '30 packets' }", "start = '0.1 s'", others)),
        (500, over("delay = '5 ms'\nqueue = '15 packets'", "congestion_control = 'bbr'")),
    ] {
        let flow = &scenario.flows[0];
        let places = [&scenario.nodes[flow.from], &scenario.nodes[flow.to], &scenario.links[0].name].map(String::clone);
        let inside = Prepared::capturing(&scenario, &places).unwrap().run(&mut || false).unwrap();
        let outside = lockstep(&scenario, &places).run(&mut || false).unwrap();
        let [one, other] = [&inside, &outside].map(captured);
        assert!(one.len() > 2000 && one.len() == other.len(), "{scenario:?}: {} and {} packets", one.len(), other.len());
        for (packet, (one, other)) in one.iter().zip(&other).enumerate() {
            assert_eq!((one.1, &one.2), (other.1, &other.2), "{scenario:?}: packet {packet}");
            assert!(one.0.abs_diff(other.0) <= worst, "{scenario:?}: packet {packet} at {} and {} ns", one.0, other.0);
        }
        for (one, other) in inside.links.iter().zip(&outside.links) {
            assert_eq!((one.arrivals, one.drops, one.marks, one.losses), (other.arrivals, other.drops, other.marks, other.losses));
            met = [met[0] + one.drops, met[1] + one.marks, met[2] + one.losses];
        }
    }
    assert!(met.iter().all(|count| *count > 10), "drops, marks and losses: {met:?}");
}

/// Keys of a bottleneck: rate, delay, queue and loss.
fn any_bottleneck() -> impl Strategy<Value = String> {
    let queue = prop::sample::select(vec!["'9 packets'", "'40 packets'", "'red'", "'codel'", "'fq_codel'", "'sfq'"]);
    let loss = prop::sample::select(vec!["'0 %'", "'1 %'", "{ kind = 'gilbert_elliott' }", "{ kind = 'duplicate' }"]);
    let delay = prop_oneof![
        (0..30_000_u32).prop_map(|micros| format!("'{micros} us'")),
        (prop::sample::select(vec!["kept", "free"]), 1..5000_u32)
            .prop_map(|(order, jitter)| format!("{{ kind = 'jitter', delay = '5 ms', jitter = '{jitter} us', order = '{order}' }}")),
    ];
    (500..50_000_u32, delay, queue, loss).prop_map(|(rate, delay, queue, loss)| {
        format!("bottleneck = {{ rate = '{rate} kbit/s', delay = {delay}, queue = {queue}, loss = {loss} }}")
    })
}

/// Keys of flows outside, and flows inside beside them.
fn any_flows() -> impl Strategy<Value = (String, String)> {
    let keys = ["", "ecn = true", "host = 'linux'", "congestion_control = 'bbr'", "avoidance = 'cubic'", "size = '90 packets'"];
    let modern = (prop::sample::select(keys.to_vec()), 1..4_u32, 0..200_u32)
        .prop_map(|(keys, count, start)| format!("{keys}\ncount = {count}\nstart = '{start} ms'\nstart_spread = '30 ms'\n"));
    let others = [
        "[[flow]]\nrecovery = 'sack'\ncount = 2",
        "[[flow]]\napplication = { kind = 'cbr', rate = '300 kbit/s' }",
        "[[flow]]\nprofile = 'ns2'",
        "",
    ];
    (modern, prop::sample::select(others.to_vec()).prop_map(str::to_owned))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_repeats_itself_however_it_is_divided(
        bottleneck in any_bottleneck(),
        (modern, others) in any_flows(),
        stops in prop::collection::vec(0..2_200_000_000_u64, 0..60),
    ) {
        let scenario = beside(&bottleneck, &modern, &others);
        let places: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
        let whole = lockstep(&scenario, &places).run(&mut || false).unwrap();
        let mut parts = lockstep(&scenario, &places);
        let other = std::thread::scope(|scope| scope.spawn(move || {
            // Times in the past, and times after the end, change nothing.
            for stop in stops {
                parts.advance(Instant::from_nanos(stop), &mut || false).unwrap();
            }
            parts.run(&mut || false).unwrap()
        }).join().unwrap());
        prop_assert!(whole.links.iter().any(|link| link.delivered > 20), "{:?}", whole.links);
        prop_assert_eq!(whole.digest(), other.digest());
        prop_assert!(captured(&whole) == captured(&other), "the same bytes");
    }
}

/// What hosts did, with their names: received packets by flow and length, and sent packets.
type Log = Arc<Mutex<Vec<(&'static str, u64, String)>>>;

/// A host that sends packets at planned times, and others some time after each packet that it receives.
#[derive(Debug)]
struct Planned {
    name: &'static str,
    plan: VecDeque<Departure>,
    /// Delay and flow of each answer.
    answers: Vec<(u64, usize)>,
    log: Log,
}

/// A packet of `size` bytes.
fn departure(at: u64, flow: usize, size: u16) -> Departure {
    let mut frame = vec![0x45, Ecn::Ect0 as u8];
    frame.extend(size.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.resize(usize::from(size), 0);
    Departure { at, flow, side: Side::Sender, frame }
}

impl OutsideHost for Planned {
    fn next(&self) -> Option<u64> {
        self.plan.front().map(|departure| departure.at)
    }

    fn advance(&mut self, until: u64) -> Option<Departure> {
        self.plan.front().filter(|departure| departure.at <= until)?;
        let mut departure = self.plan.pop_front()?;
        // The second flow goes back.
        departure.side = if (self.name == "n0") == (departure.flow != 1) { Side::Sender } else { Side::Receiver };
        self.log.lock().unwrap().push((self.name, departure.at, format!("sends {}", departure.flow)));
        Some(departure)
    }

    fn receive(&mut self, now: u64, flow: usize, _side: Side, frame: &[u8]) {
        self.log.lock().unwrap().push((self.name, now, format!("receives {flow}: {} {:?}", frame.len(), frame_ecn(frame))));
        self.plan.extend(self.answers.iter().map(|&(delay, flow)| departure(now + delay, flow, 40)));
        self.plan.make_contiguous().sort_by_key(|departure| departure.at);
    }
}

/// A plan and the answers of a host.
type Plan = (Vec<Departure>, Vec<(u64, usize)>);

/// Hosts with these plans and answers at both ends of a path of 12 Mbit/s and 5 ms, on which the second flow goes back.
fn planned(queue: &str, plans: [Plan; 2]) -> (Lockstep, Log) {
    let link = format!("rate = '12 Mbit/s'\ndelay = '5 ms'\nqueue = {queue}");
    let flows = "[[flow]]\nprofile = 'modern'\n[[flow]]\nprofile = 'modern'\nfrom = 'n1'\nto = 'n0'";
    let scenario = scenario(&format!("duration = '100 ms'\n[[topology.links]]\n{link}\n{flows}"));
    let log = Log::default();
    let hosts = ["n0", "n1"]
        .into_iter()
        .zip(plans)
        .map(|(name, (plan, answers))| outside(name, Planned { name, plan: plan.into(), answers, log: Arc::clone(&log) }));
    (Lockstep::new(scenario, &[], hosts.collect()).unwrap(), log)
}

#[test]
fn packets_enter_and_arrive_at_exact_nanoseconds() {
    let answers = vec![(0, 1), (0, 0), (137, 0)];
    let (run, log) = planned("'9 packets'", [(vec![departure(10_000_001, 0, 1500)], Vec::new()), (Vec::new(), answers)]);
    let result = run.run(&mut || false).unwrap();
    // A packet of 1500 bytes takes 1 ms and 5 ms; one of 40 bytes takes 26,666.7 ns and 5 ms.
    let expected = [
        ("n0", 10_000_001, "sends 0"),
        ("n1", 16_000_001, "receives 0: 1500 Ect0"),
        ("n1", 16_000_001, "sends 1"),
        ("n1", 16_000_001, "sends 0"),
        ("n1", 16_000_138, "sends 0"),
        ("n0", 21_026_668, "receives 1: 40 Ect0"),
        ("n0", 21_053_334, "receives 0: 40 Ect0"),
        ("n0", 21_080_001, "receives 0: 40 Ect0"),
    ];
    assert_eq!(*log.lock().unwrap(), expected.map(|(host, at, what)| (host, at, what.to_owned())));
    assert_eq!(result.flows.iter().map(|flow| (flow.sent_packets, flow.delivered_packets)).collect::<Vec<_>>(), [(1, 1), (1, 1)]);
}

#[test]
fn simultaneous_events_are_those_of_the_engine_then_those_of_the_nodes_in_order() {
    let plan = |plan: &[(u64, usize)]| (plan.iter().map(|&(millis, flow)| departure(1_000_000 * millis, flow, 1500)).collect(), Vec::new());
    // The packet that leaves at 10 ms arrives when its receiver sends.
    let (run, log) = planned("'9 packets'", [plan(&[(10, 0), (20, 0)]), plan(&[(16, 1), (20, 1)])]);
    run.run(&mut || false).unwrap();
    let log: Vec<_> = log.lock().unwrap().iter().skip(1).take(4).cloned().collect();
    let expected = [
        ("n1", 16_000_000, "receives 0: 1500 Ect0"),
        ("n1", 16_000_000, "sends 1"),
        ("n0", 20_000_000, "sends 0"),
        ("n1", 20_000_000, "sends 1"),
    ];
    assert_eq!(log, expected.map(|(host, at, what)| (host, at, what.to_owned())));
}

#[test]
fn a_host_receives_the_marks_of_queues() {
    let red = "{ kind = 'red', limit = '20 packets', min_threshold = '1 packets', max_threshold = '4 packets', weight = 1.0, mark_below = '100 %' }";
    let (run, log) = planned(red, [((0..9).map(|_| departure(1000, 0, 1500)).collect(), Vec::new()), (Vec::new(), Vec::new())]);
    run.run(&mut || false).unwrap();
    let log = log.lock().unwrap();
    let arrived: Vec<&str> = log.iter().filter(|(host, ..)| *host == "n1").map(|(_, _, what)| what.as_str()).collect();
    assert!(arrived[0].ends_with("Ect0") && arrived.iter().any(|what| what.ends_with("Ce")), "{arrived:?}");
}

#[test]
fn a_host_that_breaks_the_contract_is_named() {
    let late = || vec![departure(30_000_000, 0, 100), departure(20_000_000, 0, 100)];
    for (plan, fault) in [
        (late(), "the outside host at n0 sent a packet at 20000000 ns when it ran from 30000000 ns to 30000000 ns"),
        (vec![departure(5, 7, 100)], "the outside host at n0 sent a packet of flow number 7, which does not begin there"),
        (
            vec![Departure { frame: vec![0x60; 50], ..departure(5, 0, 50) }],
            "the outside host at n0 sent 50 bytes that are no whole IP packet",
        ),
    ] {
        let (run, _) = planned("'9 packets'", [(plan, Vec::new()), (Vec::new(), Vec::new())]);
        assert_eq!(run.run(&mut || false).unwrap_err().to_string(), fault);
    }
}

/// A host that never does what is due.
#[derive(Debug)]
struct Stuck;

impl OutsideHost for Stuck {
    fn next(&self) -> Option<u64> {
        Some(7)
    }
    fn advance(&mut self, _until: u64) -> Option<Departure> {
        None
    }
    fn receive(&mut self, _now: u64, _flow: usize, _side: Side, _frame: &[u8]) {}
}

fn stuck(names: &[&str]) -> Vec<Outside> {
    names.iter().map(|name| outside(name, Stuck)).collect()
}

#[test]
fn a_host_without_progress_is_named() {
    let run = Lockstep::new(over("", ""), &[], stuck(&["n0", "n1"])).unwrap();
    let message = run.run(&mut || false).unwrap_err().to_string();
    assert_eq!(message, "the outside host at n0 has run to 7 ns, but its next event is at 7 ns");
}

/// A host that ends the run.
#[derive(Debug, Default)]
struct Ending(bool);

impl OutsideHost for Ending {
    fn next(&self) -> Option<u64> {
        (!self.0).then_some(30_000_000)
    }
    fn advance(&mut self, until: u64) -> Option<Departure> {
        self.0 |= until >= 30_000_000;
        None
    }
    fn receive(&mut self, _now: u64, _flow: usize, _side: Side, _frame: &[u8]) {}
    fn ended(&self) -> Option<u64> {
        self.0.then_some(30_000_000)
    }
}

#[test]
fn a_host_can_end_the_run() {
    let hosts = ["n0", "n1"].map(|name| outside(name, Ending::default())).into_iter().collect();
    let mut run = Lockstep::new(over("", ""), &[], hosts).unwrap();
    run.advance(Instant::MAX, &mut || false).unwrap();
    assert_eq!(run.scenario().duration, Instant::from_nanos(30_000_000).since(Instant::ZERO));
}

#[test]
fn messages_say_which_hosts_do_not_fit_the_scenario() {
    let web = "application = { kind = 'request-response', response = '1 kB' }";
    for (flow, names, expected) in [
        ("", &["n0", "n7"][..], "outside host: there is no end of a flow \"n7\" (known: n0, n1)"),
        ("", &["n0"], "outside host: flow flow0 has an end at n0, so its end at n1 must be outside too"),
        ("", &["n1"], "outside host: flow flow0 has an end at n1, so its end at n0 must be outside too"),
        (web, &["n0", "n1"], "outside host: flow flow0 has an application of the scenario, but its hosts run their own"),
    ] {
        let message = Lockstep::new(over("", flow), &[], stuck(names)).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
