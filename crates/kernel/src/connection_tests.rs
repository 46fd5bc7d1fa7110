use std::collections::VecDeque;

use ackclock_core::qdisc::Ecn;
use ackclock_host::RecoveryPhase;
use ackclock_sim::scenario::Document;

use super::*;
use crate::controls::Offer;
use crate::info::Info;

/// A call, with its time in milliseconds.
#[derive(Clone, Debug, PartialEq)]
enum Call {
    Deliver(u64, Side),
    Connect(u64, Side),
    Order(u64, Side, Order),
    Read(u64, Side),
    Info(u64),
}

/// Ends that record what the connection asks of them, and answer as they are told.
#[derive(Debug, Default)]
struct Recorded {
    calls: Vec<Call>,
    sent: [VecDeque<Vec<u8>>; 2],
    data: u64,
    info: Option<Info>,
}

fn millis(now: Instant) -> u64 {
    now.as_nanos() / 1_000_000
}

impl Ends for Recorded {
    fn deliver(&mut self, now: Instant, side: Side, _frame: &[u8], _ecn: Ecn) {
        self.calls.push(Call::Deliver(millis(now), side));
    }

    fn sent(&mut self, side: Side) -> Option<Vec<u8>> {
        self.sent[side.index()].pop_front()
    }

    fn connect(&mut self, now: Instant, side: Side) {
        self.calls.push(Call::Connect(millis(now), side));
    }

    fn order(&mut self, now: Instant, side: Side, order: Order) {
        self.calls.push(Call::Order(millis(now), side, order));
    }

    fn read(&mut self, now: Instant, side: Side) -> u64 {
        self.calls.push(Call::Read(millis(now), side));
        std::mem::take(&mut self.data)
    }

    fn info(&mut self, now: Instant) -> Option<Info> {
        self.calls.push(Call::Info(millis(now)));
        self.info
    }
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// The only flow, of 1000 B per segment.
fn connection(keys: &str) -> KernelConnection<Recorded> {
    let text = format!(
        "duration = '9 s'\n[topology]\nkind = 'chain'\nbottleneck = {{ rate = '1 Mbit/s', delay = '1 ms' }}\n[[flow]]\nhost = 'linux'\n\
         packet_size = '1000 B'\n{keys}\n"
    );
    let scenario = Document::from_toml(&text, "test.toml").and_then(|document| document.scenario()).unwrap();
    let offer = Offer { names: &["cubic"], programs: None, seats: crate::Seats::Never, instead: None };
    KernelConnection::new(&FlowPlan::new(&scenario.flows[0], &offer).unwrap().unwrap(), Recorded::default())
}

/// A packet without options: a frame as a kernel sends it.
fn frame((seq, ack): (u32, u32), flags: Flags, data: u16) -> Vec<u8> {
    let mut frame = vec![0x45, 0];
    frame.extend((40 + data).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 1, 1, 10, 0, 1, 2]);
    frame.extend([0x13, 0x89, 0x13, 0x89]);
    frame.extend(seq.to_be_bytes().into_iter().chain(ack.to_be_bytes()));
    frame.extend([5 << 4, flags.bits() as u8, 0xff, 0xff, 0, 0, 0, 0]);
    frame.resize(40 + usize::from(data), 0);
    frame
}

fn arrives(connection: &mut KernelConnection<Recorded>, millis: u64, side: Side, frame: Vec<u8>) -> bool {
    let size = frame.len() as u16;
    let arrived = Datagram { number: 0, size, sent: at(0), ecn: Ecn::NotEct, echo: false, payload: Some(frame) };
    connection.handle(at(millis), side, &arrived)
}

/// The end `side` sends this frame. Returns its number and kind.
fn sends(connection: &mut KernelConnection<Recorded>, millis: u64, side: Side, frame: Vec<u8>) -> (u32, Transmission) {
    connection.ends.sent[side.index()].push_back(frame);
    let (datagram, kind) = connection.poll_transmit(at(millis), side).unwrap();
    (datagram.number, kind)
}

#[test]
fn a_transfer_connects_writes_and_closes_at_its_start() {
    let mut connection = connection("start = '2 s'\nsize = '7 packets'");
    assert_eq!((connection.poll_timeout(Side::Sender), connection.poll_timeout(Side::Receiver)), (Some(at(2000)), None));
    connection.handle_timeout(at(2000), Side::Sender);
    let order = |order| Call::Order(2000, Side::Sender, order);
    assert_eq!(connection.ends.calls, [Call::Connect(2000, Side::Sender), order(Order::Write(7000)), order(Order::Close)]);
    assert_eq!(connection.poll_timeout(Side::Sender), None);
}

#[test]
fn an_endless_transfer_stops_at_its_time() {
    let mut connection = connection("stop = '3 s'");
    connection.handle_timeout(at(0), Side::Sender);
    assert_eq!(connection.poll_timeout(Side::Sender), Some(at(3000)));
    connection.handle_timeout(at(3000), Side::Sender);
    let expected =
        [Call::Connect(0, Side::Sender), Call::Order(0, Side::Sender, Order::Endless), Call::Order(3000, Side::Sender, Order::Stop)];
    assert_eq!(connection.ends.calls, expected);
    assert_eq!(connection.poll_timeout(Side::Sender), None);
}

#[test]
fn applications_give_their_orders_at_the_present_time() {
    let mut both = connection("application = { kind = 'web', root = '30 kB' }");
    both.open(at(5));
    both.write(at(6), Side::Receiver, StreamId::FIRST, 300);
    both.close(at(7), Side::Sender, StreamId::FIRST);
    let expected =
        [Call::Connect(5, Side::Receiver), Call::Order(6, Side::Receiver, Order::Write(300)), Call::Order(7, Side::Sender, Order::Close)];
    assert_eq!(both.ends.calls, expected);
    let mut bursts = connection("application = { kind = 'on-off', burst = '10 kB', pause = '1 s' }");
    bursts.offer(at(8), 3);
    assert_eq!(bursts.ends.calls, [Call::Order(8, Side::Sender, Order::Write(3000))]);
}

#[test]
fn data_is_read_when_it_arrives_and_pure_acks_are_not() {
    let mut connection = connection("");
    connection.handle_timeout(at(0), Side::Sender);
    connection.ends.calls.clear();
    assert!(!arrives(&mut connection, 10, Side::Receiver, frame((0, 0), Flags::SYN, 0)), "a SYN brings no data");
    connection.ends.data = 2000;
    assert!(arrives(&mut connection, 20, Side::Receiver, frame((1, 1), Flags::ACK, 1000)));
    assert_eq!((connection.delivered_bytes(), connection.delivered(Side::Sender, StreamId::FIRST)), (2000, 0));
    assert!(!arrives(&mut connection, 30, Side::Sender, frame((1, 1), Flags::ACK, 0)));
    let read = |millis| [Call::Deliver(millis, Side::Receiver), Call::Read(millis, Side::Receiver)];
    let expected = [&read(10)[..], &read(20), &[Call::Deliver(30, Side::Sender), Call::Info(30)]].concat();
    assert_eq!(connection.ends.calls, expected);
    assert_eq!(connection.tally(at(40)).delivered_at, at(20));
}

#[test]
fn the_sender_is_observed_at_acks_and_retransmissions() {
    let mut connection = connection("");
    assert!(connection.window().unwrap().cwnd.eq(&10.0), "the window of the route, before the handshake");
    assert_eq!(sends(&mut connection, 0, Side::Sender, frame((0, 0), Flags::SYN, 0)), (0, Transmission::New));
    let open = Info { established: true, cwnd: 10.0, ssthresh: f64::INFINITY, ..Info::default() };
    connection.ends.info = Some(open);
    arrives(&mut connection, 40, Side::Sender, frame((0, 1), Flags::SYN | Flags::ACK, 0));
    assert_eq!(connection.latest_rtt().map(Duration::as_nanos), Some(40_000_000));
    assert_eq!(sends(&mut connection, 41, Side::Sender, frame((1, 1), Flags::ACK, 1000)), (1, Transmission::New));
    connection.ends.info = Some(Info { cwnd: 1.0, ssthresh: 5.0, recovery: RecoveryPhase::Timeout, timeouts: 1, ..open });
    connection.ends.calls.clear();
    assert_eq!(sends(&mut connection, 300, Side::Sender, frame((1, 1), Flags::ACK, 1000)), (1, Transmission::Retransmission));
    assert_eq!(connection.ends.calls, [Call::Info(300)]);
    let tally = connection.tally(at(400));
    let counters = tally.counters;
    assert_eq!((counters.sent, counters.retransmitted, counters.timeouts, counters.reductions), (3, 1, 1, 1));
    assert_eq!((tally.initial_window, tally.window.map(|window| window.ssthresh)), (Some(10.0), Some(5.0)));
}

#[test]
fn frames_without_tcp_are_passed_over() {
    let mut connection = connection("");
    connection.ends.sent[0].push_back(vec![0x60; 60]);
    assert_eq!(sends(&mut connection, 0, Side::Sender, frame((0, 0), Flags::SYN, 0)).0, 0);
    assert!(connection.poll_transmit(at(0), Side::Sender).is_none());
}
