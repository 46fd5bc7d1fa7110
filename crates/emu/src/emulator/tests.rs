//! The emulator between sockets of this machine's kernel. The tests pass without having run where the rights for them are missing. A run
//! that the machine disturbed is repeated.

use std::io::Write as _;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};

use ackclock_host::Side;
use ackclock_kernel::{Route, Terminal, address};
use ackclock_linux::socket;
use ackclock_sim::engine::{FrameConnection, Passage, RunResult};
use ackclock_sim::scenario::{Document, FlowSpec, Scenario};

use super::*;
use crate::space::Space;

/// One run at a time: two would disturb each other.
static MACHINE: Mutex<()> = Mutex::new(());

/// Most runs of a test; the last one counts even if it was disturbed.
const ATTEMPTS: usize = 3;

fn scenario(duration: &str, link: &str, flows: &str) -> Scenario {
    let text = format!("duration = '{duration}'\nrecord = ['delivered', 'marks']\n[[topology.links]]\n{link}\n{flows}");
    Document::from_toml(&text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The flows that are not simulated.
fn connections(scenario: &Scenario) -> impl Iterator<Item = (usize, &FlowSpec)> {
    scenario.flows.iter().enumerate().filter(|(_, spec)| spec.host.as_modern().is_some())
}

/// Namespaces for the ends of the scenario's flows; `None`: this machine or user cannot.
fn space(scenario: &Scenario, route: Route) -> Option<Space> {
    let ends = connections(scenario).flat_map(|(flow, spec)| {
        let end = move |(node, side)| Terminal { node, flow, side, route };
        [(spec.from, Side::Sender), (spec.to, Side::Receiver)].map(end)
    });
    Space::new(&ends.collect::<Vec<Terminal>>()).map_err(|reason| eprintln!("skipped: {reason}")).ok()
}

fn emulator(scenario: Scenario, ports: Ports) -> Emulator {
    let mut connection = |flow, spec: &FlowSpec| {
        let [sender, receiver] = Side::ALL.map(|side| ports.port(flow, side));
        Some(Box::new(Passage::new([sender?, receiver?], spec.start)) as FrameConnection)
    };
    let live = Live::new(scenario, &[], &mut connection).unwrap();
    Emulator::new(live, ports).unwrap()
}

/// A connection from the sender to the receiver of `flow` that sends as much as it can while the result exists.
fn bulk(space: &Space, flow: usize, port: u16) -> Bulk {
    let to = SocketAddr::from((address(flow, Side::Receiver), port));
    let receiver = space.node(flow, Side::Receiver).unwrap();
    let listener = receiver.inside(|| TcpListener::bind(to).unwrap()).unwrap();
    let sender = space.node(flow, Side::Sender).unwrap().inside(|| socket::socket(true).unwrap()).unwrap();
    // A socket that closes with unsent data would keep its memory and the namespace for minutes.
    let linger = [1_i32, 0].map(i32::to_ne_bytes).concat();
    socket::set_option(sender.as_fd(), libc::SOL_SOCKET, libc::SO_LINGER, &linger).unwrap();
    socket::set_option(sender.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, b"cubic").unwrap();
    let other = sender.try_clone().unwrap();
    thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else { return };
        while socket::discard(stream.as_fd(), 1 << 20).is_ok_and(|bytes| bytes > 0) {}
    });
    thread::spawn(move || {
        socket::connect(sender.as_fd(), to).unwrap_err();
        let mut stream = TcpStream::from(sender);
        stream.set_nonblocking(false).unwrap();
        // A socket that is still connecting waits here; the end of the transfer ends the wait.
        while stream.write_all(&[0; 1 << 14]).is_ok() {}
    });
    Bulk(TcpStream::from(other))
}

struct Bulk(TcpStream);

impl Bulk {
    /// A number of `TCP_INFO` at this place.
    fn info(&self, place: usize) -> u32 {
        let mut info = [0; 232];
        socket::option(self.0.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut info).unwrap();
        u32::from_ne_bytes(info[place..place + 4].try_into().unwrap())
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.0.shutdown(Shutdown::Both).ok();
    }
}

/// Places of `tcpi_min_rtt` (µs) and `tcpi_delivered_ce`.
const MIN_RTT: usize = 148;
const DELIVERED_CE: usize = 196;

/// Runs bulk transfers of all flows, again if the machine disturbed the run. `None`: this machine or user cannot.
fn transfer(scenario: &Scenario, route: Route) -> Option<(RunResult, Vec<Bulk>, Space)> {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1.. {
        let space = space(scenario, route)?;
        let emulator = emulator(scenario.clone(), Ports::new(&space).unwrap());
        let bulks: Vec<Bulk> = connections(scenario).map(|(flow, _)| bulk(&space, flow, 5001)).collect();
        let outcome = emulator.run(&mut || false).unwrap();
        let Some(reason) = outcome.taint().filter(|_| attempt < ATTEMPTS) else { return Some((outcome.live.finish(), bulks, space)) };
        eprintln!("repeated: {reason}");
    }
    unreachable!("the last attempt returns")
}

/// Bytes that a flow delivered in `from` to `to` seconds, per second.
fn goodput(result: &RunResult, flow: usize, from: f64, to: f64) -> f64 {
    let trace = result.traces.delivered.as_ref().unwrap();
    let rows = trace.time.iter().zip(&trace.flow).zip(&trace.bytes).filter(|((_, of), _)| **of as usize == flow);
    let until = |limit: f64| {
        rows.clone().filter(|((time, _), _)| **time as f64 <= 1e9 * limit).map(|((time, _), bytes)| (*time, *bytes)).next_back()
    };
    let [(begin, first), (end, last)] = [from, to].map(|limit| until(limit).unwrap());
    (last - first) as f64 / ((end - begin) as f64 / 1e9)
}

#[test]
fn a_bulk_transfer_fills_the_link_and_sees_its_delay() {
    let scenario = scenario("1500 ms", "rate = '20 Mbit/s'\ndelay = '10 ms'\nqueue = '2 BDP'", "[[flow]]\nprofile = 'modern'");
    let Some((result, bulks, _space)) = transfer(&scenario, Route::default()) else { return };
    let theory = 20e6 / 8.0 * 1448.0 / 1500.0;
    let ratio = goodput(&result, 0, 0.7, 1.5) / theory;
    assert!((ratio - 1.0).abs() < 0.01, "goodput is {ratio} of theory");
    let rtt = bulks[0].info(MIN_RTT);
    assert!((19_900..22_000).contains(&rtt), "round-trip time without queue: {rtt} µs");
    assert!(result.links[0].utilisation > 0.9 && result.links[0].arrivals > 2000, "{:?}", result.links[0]);
}

#[test]
fn simulated_datagrams_take_their_share_of_the_link() {
    let flows = "[[flow]]\nprofile = 'modern'\n[[flow]]\napplication = { kind = 'cbr', rate = '8 Mbit/s' }";
    let scenario = scenario("1500 ms", "rate = '20 Mbit/s'\ndelay = '5 ms'\nqueue = '60 packets'", flows);
    let Some((result, ..)) = transfer(&scenario, Route::default()) else { return };
    let theory = 20e6 / 8.0 * 1448.0 / 1500.0;
    let [tcp, datagrams] = [0, 1].map(|flow| goodput(&result, flow, 0.7, 1.5) / theory);
    assert!(datagrams > 0.3 && tcp > 0.3, "{tcp} and {datagrams} of the link");
    let packets = result.flows.iter().map(|flow| flow.delivered_packets).sum::<u64>();
    assert!(packets <= result.links[0].delivered && result.links[0].utilisation > 0.85, "{:?}", result.links[0]);
}

#[test]
fn flows_in_both_directions_have_a_link_each() {
    let flows = "[[flow]]\nprofile = 'modern'\n[[flow]]\nprofile = 'modern'\nfrom = 'n1'\nto = 'n0'";
    let scenario = scenario("1500 ms", "rate = '10 Mbit/s'\ndelay = '5 ms'\nqueue = '30 packets'\nreverse.rate = '4 Mbit/s'", flows);
    let Some((result, bulks, _space)) = transfer(&scenario, Route::default()) else { return };
    for (flow, bulk) in bulks.iter().enumerate() {
        // ACKs wait behind the other flow's data, so the flows do not fill their links in so short a time.
        let rtt = bulk.info(MIN_RTT);
        assert!((9_900..200_000).contains(&rtt) && result.flows[flow].payload > 100_000, "{rtt} µs, {:?}", result.flows[flow]);
        assert!(result.links[flow].arrivals > 300, "{:?}", result.links[flow]);
    }
}

#[test]
fn the_kernel_sees_the_marks_of_a_queue() {
    let queue = "{ kind = 'codel', target = '2 ms', interval = '20 ms' }";
    let scenario =
        scenario("1 s", &format!("rate = '10 Mbit/s'\ndelay = '5 ms'\nqueue = {queue}"), "[[flow]]\nprofile = 'modern'\necn = true");
    let Some((result, bulks, _space)) = transfer(&scenario, Route { ecn: true, ..Route::default() }) else { return };
    let marked = result.links[0].marks;
    assert!(marked > 3 && result.links[0].drops == 0, "{:?}", result.links[0]);
    // The receiver echoes a mark until the sender has reduced its window (RFC 3168), so the count exceeds that of the marks.
    let seen = bulks[0].info(DELIVERED_CE);
    assert!(seen > 0, "none of {marked} marks seen");
    assert_eq!(result.traces.marks.unwrap().seq.len() as u64, marked);
}

#[test]
fn connections_between_two_addresses_spread_over_flows() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let scenario = scenario("700 ms", "rate = '10 Mbit/s'\ndelay = '5 ms'\nqueue = 'fq_codel'", "[[flow]]\nprofile = 'modern'\ncount = 8");
    let Some(space) = space(&scenario, Route::default()) else { return };
    let emulator = emulator(scenario, Ports::spread(&space, 8).unwrap());
    let _bulks: Vec<Bulk> = (0..8).map(|number| bulk(&space, 0, 6000 + number)).collect();
    let result = emulator.run(&mut || false).unwrap().live.finish();
    let used = result.flows.iter().filter(|flow| flow.delivered_bytes > 10_000).count();
    assert!(used >= 3, "{:?}", result.flows);
}

#[test]
fn a_run_can_be_stopped_and_its_rows_end_there() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let scenario =
        scenario("1000 s", "rate = '10 Mbit/s'\ndelay = '5 ms'\nqueue = '30 packets'", "[[flow]]\nprofile = 'modern'\ncount = 2");
    let Some(space) = space(&scenario, Route::default()) else { return };
    let ports = || Ports::new(&space).unwrap();
    let interrupted = emulator(scenario.clone(), ports()).run(&mut || true).unwrap();
    assert!(interrupted.interrupted && interrupted.elapsed < Duration::from_millis(100_000), "{:?}", interrupted.elapsed);
    assert_eq!(interrupted.lateness, Lateness::default());

    let emulator = emulator(scenario, ports());
    let stopper = emulator.stopper();
    let from = |flow| SocketAddr::from((address(flow, Side::Sender), 7));
    let to = |flow| SocketAddr::from((address(flow, Side::Receiver), 7));
    let [sender, receiver] =
        [0, 1].map(|node| space.nodes[node].inside(|| UdpSocket::bind(if node == 0 { from(0) } else { to(0) }).unwrap()).unwrap());
    let talk = thread::spawn(move || {
        let mut buffer = [0; 2000];
        sender.send_to(&[1; 1000], to(0)).unwrap();
        assert_eq!(receiver.recv_from(&mut buffer).unwrap(), (1000, from(0)));
        // From an address of one flow to an address of the other.
        sender.send_to(&[2; 500], to(1)).unwrap();
        receiver.send_to(&[3; 700], from(0)).unwrap();
        assert_eq!(sender.recv_from(&mut buffer).unwrap(), (700, to(0)));
        stopper.stop();
    });
    let outcome = emulator.run(&mut || false).unwrap();
    talk.join().unwrap();
    assert!(!outcome.interrupted && outcome.strays == 1 && outcome.lateness.releases == 2, "{outcome:?}");
    let elapsed = outcome.elapsed;
    assert!(Duration::from_millis(10) < elapsed && elapsed < Duration::from_millis(100_000), "{elapsed:?}");
    assert_eq!(outcome.live.scenario().duration, elapsed);
    let result = outcome.live.finish();
    assert_eq!((result.flows[0].payload, result.flows[0].delivered_packets, result.flows[1].payload), (1000, 1, 0));
    let busy = 1028.0 * 8.0 / 10e6 / elapsed.as_secs_f64();
    assert!((result.links[0].utilisation / busy - 1.0).abs() < 1e-6, "{} instead of {busy}", result.links[0].utilisation);
}
