//! Runs driven from outside.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Learned;
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Connection, Datagram, DropNotice, Side, SlowStartExit, StreamId, Tally, Transmission};
use ackclock_tcp::modern;
use ackclock_wire::segment::Segment;

use super::flow::Flow;
use super::hosts::Hosts;
use super::live::{FrameConnection, Live};
use super::passage::{Interface, Passage};
use super::prepared::run;
use crate::scenario::{Document, FlowSpec, Scenario};

fn scenario(text: &str) -> Scenario {
    Document::from_toml(text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A `modern` connection whose segments travel as bytes: their numbers in a list.
#[derive(Debug)]
struct AsFrames {
    inner: Box<modern::Connection>,
    segments: Vec<Segment>,
}

impl AsFrames {
    fn segment(&self, frame: Option<&Vec<u8>>) -> Option<Segment> {
        let number = u64::from_be_bytes(frame?.as_slice().try_into().unwrap());
        Some(self.segments[number as usize])
    }
}

impl Connection for AsFrames {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let Datagram { number, size, sent, ecn, echo, ref payload } = *arrived;
        let payload = self.segment(payload.as_ref());
        self.inner.handle(now, side, &Datagram { number, size, sent, ecn, echo, payload })
    }
    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        let (Datagram { number, size, sent, ecn, echo, payload }, kind) = self.inner.poll_transmit(now, side)?;
        let index = self.segments.len() as u64;
        self.segments.extend(payload);
        Some((Datagram { number, size, sent, ecn, echo, payload: Some(index.to_be_bytes().to_vec()) }, kind))
    }
    fn answers_later(&self) -> bool {
        self.inner.answers_later()
    }
    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        self.inner.poll_timeout(side)
    }
    fn handle_timeout(&mut self, now: Instant, side: Side) {
        self.inner.handle_timeout(now, side);
    }
    fn noticed(&self, number: u32, side: Side, payload: Option<&Vec<u8>>) -> Option<u32> {
        self.inner.noticed(number, side, self.segment(payload).as_ref())
    }
    fn handle_notice(&mut self, now: Instant, side: Side, dropped: &DropNotice) {
        self.inner.handle_notice(now, side, dropped);
    }
    fn open(&mut self, now: Instant) {
        self.inner.open(now);
    }
    fn write(&mut self, now: Instant, side: Side, stream: StreamId, bytes: u64) {
        self.inner.write(now, side, stream, bytes);
    }
    fn close(&mut self, now: Instant, side: Side, stream: StreamId) {
        self.inner.close(now, side, stream);
    }
    fn offer(&mut self, now: Instant, packets: u64) {
        self.inner.offer(now, packets);
    }
    fn set_learned(&mut self, learned: Learned) {
        self.inner.set_learned(learned);
    }
    fn is_first_flight_over(&self) -> bool {
        self.inner.is_first_flight_over()
    }
    fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.inner.finish_first_flight(learned)
    }
    fn delivered(&self, side: Side, stream: StreamId) -> u64 {
        self.inner.delivered(side, stream)
    }
    fn delivered_bytes(&self) -> u64 {
        self.inner.delivered_bytes()
    }
    fn window(&self) -> Option<Window> {
        self.inner.window()
    }
    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        self.inner.with_control(visit);
    }
    fn timing(&self) -> (Option<Duration>, Duration) {
        self.inner.timing()
    }
    fn latest_rtt(&self) -> Option<Duration> {
        self.inner.latest_rtt()
    }
    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        self.inner.slow_start_exit()
    }
    fn tally(&mut self, end: Instant) -> Tally {
        self.inner.tally(end)
    }
}

/// The flow's own hosts as a connection from outside, if they are of profile `modern`.
fn as_frames(scenario: &Scenario, index: usize) -> Option<FrameConnection> {
    let Hosts::Modern(inner) = Flow::new(scenario, index).unwrap().hosts else { return None };
    Some(Box::new(AsFrames { inner, segments: Vec::new() }))
}

#[test]
fn hosts_outside_give_the_rows_and_traces_of_the_same_hosts_inside() {
    let traces = "record = ['cwnd', 'delivered', 'queue', 'drops', 'marks', 'sojourn', 'discipline', 'sequence', 'rtt', 'internals']";
    let web = "application = { kind = 'request-response', response = '40 kB', exchanges = 5, think = '100 ms' }";
    let datagrams = "[[flow]]\napplication = { kind = 'cbr', rate = '500 kbit/s', on = '50 ms', off = '30 ms' }";
    for (queue, flows) in [
        ("'15 packets'", "[[flow]]\nprofile = 'modern'\ncount = 2".to_owned()),
        ("'codel'", format!("[[flow]]\nprofile = 'modern'\necn = true\nstart = '50 ms'\n{datagrams}")),
        ("'fq_codel'", format!("[[flow]]\nprofile = 'modern'\nmodern.timestamps = false\n{web}\n{datagrams}")),
    ] {
        let bottleneck = format!("topology.bottleneck = {{ rate = '3 Mbit/s', delay = '5 ms', loss = '0.5 %', queue = {queue} }}");
        let text = format!("duration = '3 s'\n{traces}\n{bottleneck}\n{flows}");
        let scenario = scenario(&text);
        let inside = run(&scenario, &mut || false).unwrap();
        assert!(inside.flows.iter().all(|flow| flow.delivered_bytes > 50_000), "{:?}", inside.flows);
        let mut live = Live::new(scenario.clone(), &[], &mut |index, _| as_frames(&scenario, index)).unwrap();
        while live.next() < live.end() {
            live.advance(live.next() + Duration::from_nanos(700_000)).unwrap();
        }
        assert_eq!(live.finish().digest(), inside.digest(), "{text}");
    }
}

/// Packets that the sender has to send, and those that arrived, each with its time, end and ECN field.
#[derive(Debug, Default)]
struct Mailbox {
    waiting: VecDeque<Vec<u8>>,
    arrived: Vec<(Instant, Side, Vec<u8>, Ecn)>,
}

/// An end without TCP: packets come from a mailbox and go there.
#[derive(Debug)]
struct Post(Arc<Mutex<Mailbox>>, Side);

impl Interface for Post {
    fn deliver(&mut self, now: Instant, frame: &[u8], ecn: Ecn) {
        self.0.lock().unwrap().arrived.push((now, self.1, frame.to_vec(), ecn));
    }
    fn receive(&mut self) -> Option<Vec<u8>> {
        if self.1 == Side::Sender { self.0.lock().unwrap().waiting.pop_front() } else { None }
    }
}

/// A frame with a valid beginning, and `number` in it.
fn frame(number: u8) -> Vec<u8> {
    let mut frame = vec![0x45, 0b10, 5, 220, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, number];
    frame.resize(1500, 0);
    frame[32] = 5 << 4;
    frame
}

/// A path of 12 Mbit/s (1 ms for a packet) and 5 ms, and a mailbox instead of the hosts of its flow.
fn posted(queue: &str, captured: &[String]) -> (Live, Arc<Mutex<Mailbox>>) {
    posted_until(at(100_000), queue, captured)
}

fn posted_until(end: Instant, queue: &str, captured: &[String]) -> (Live, Arc<Mutex<Mailbox>>) {
    let text = format!(
        "duration = '{} s'\nrecord = ['cwnd', 'delivered', 'queue', 'drops', 'sojourn', 'rtt', 'internals']\n\
         [[topology.links]]\nrate = '12 Mbit/s'\ndelay = '5 ms'\nqueue = {queue}\n\
         [[flow]]\nprofile = 'modern'",
        end.as_secs_f64()
    );
    let mailbox = Arc::new(Mutex::new(Mailbox::default()));
    let mut connection = |_, spec: &FlowSpec| {
        let ends = Side::ALL.map(|side| Post(Arc::clone(&mailbox), side));
        Some(Box::new(Passage::new(ends, spec.start)) as FrameConnection)
    };
    (Live::new(scenario(&text), captured, &mut connection).unwrap(), mailbox)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

#[test]
fn packets_arrive_at_their_virtual_times_however_late_the_caller_is() {
    let (mut live, mailbox) = posted("'3 packets'", &["n0".to_owned(), "n1".to_owned()]);
    let send = |live: &mut Live, micros: u64, numbers: &[u8]| {
        mailbox.lock().unwrap().waiting.extend(numbers.iter().map(|&number| frame(number)));
        live.transmit(at(micros), 0, Side::Sender).unwrap();
    };
    // One is being sent, two wait (one less than the limit), and the fourth is dropped.
    send(&mut live, 10_000, &[1, 2, 3, 4]);
    assert!((live.next().as_secs_f64() - 0.016).abs() < 1e-9);
    live.advance(at(15_999)).unwrap();
    assert!(mailbox.lock().unwrap().arrived.is_empty());
    // The caller slept: the packets are delivered late, each at its time.
    live.advance(at(17_500)).unwrap();
    send(&mut live, 40_000, &[5]);
    send(&mut live, 94_500, &[6]);
    live.advance(Instant::MAX).unwrap();
    let arrived: Vec<(u64, Side, u8)> = mailbox
        .lock()
        .unwrap()
        .arrived
        .iter()
        .map(|(at, side, frame, _)| ((at.as_secs_f64() * 1e6).round() as u64, *side, frame[19]))
        .collect();
    let side = Side::Receiver;
    assert_eq!(arrived, [(16_000, side, 1), (17_000, side, 2), (18_000, side, 3), (46_000, side, 5)], "the sixth arrives after the end");
    // Packets after the end go nowhere.
    send(&mut live, 100_000, &[7]);
    let result = live.finish();
    let [link, _] = result.links.as_slice() else { panic!("{:?}", result.links) };
    assert_eq!((link.arrivals, link.drops, link.queue_max), (6, 1, 2));
    let drops = result.traces.drops.unwrap();
    assert_eq!((drops.seq, drops.flow), (vec![4], vec![0]));
    let file = result.capture.unwrap().pcapng("test", None, None);
    // The captured headers are those of the frames.
    let headers = |number: u8| file.windows(40).filter(|bytes| **bytes == frame(number)[..40]).count();
    assert_eq!((headers(1), headers(4), headers(6)), (2, 1, 1));
}

#[test]
fn a_run_that_is_cut_is_a_run_of_that_duration() {
    for queue in ["'50 packets'", "'fq_codel'"] {
        let [cut, planned] = [(100_000, true), (22_700, false)].map(|(duration, cuts)| {
            let (mut live, mailbox) = posted_until(at(duration), queue, &[]);
            for micros in [3_000, 15_000, 20_000] {
                mailbox.lock().unwrap().waiting.extend((0..7).map(frame));
                live.transmit(at(micros), 0, Side::Sender).unwrap();
            }
            live.advance(at(22_700)).unwrap();
            live.record_internal(at(40_000), 0, "late", 1.0);
            if cuts {
                live.cut(at(22_700));
                live.cut(at(50_000));
            }
            live.finish()
        });
        let [one, other] = [&cut, &planned].map(|result| result.links[0].clone());
        assert_eq!(cut.traces, planned.traces, "{queue}");
        assert!(
            cut.traces.queue.as_ref().is_some_and(|table| table.time.len() > 20)
                && cut.traces.internals.is_some_and(|table| table.time.is_empty())
        );
        let near = |one: f64, other: f64| one > 0.0 && (one - other).abs() < 1e-9;
        assert!(near(one.utilisation, other.utilisation) && near(one.queue_mean, other.queue_mean), "{queue}: {one:?} {other:?}");
    }
}

#[test]
fn marks_reach_the_connection() {
    // The average is the queue's length itself, and a burst exceeds the threshold.
    let red = "{ kind = 'red', limit = '20 packets', min_threshold = '1 packets', max_threshold = '4 packets', weight = 1.0, mark_below = '100 %' }";
    let (mut live, mailbox) = posted(red, &[]);
    mailbox.lock().unwrap().waiting.extend((0..9).map(frame));
    live.transmit(at(1000), 0, Side::Sender).unwrap();
    live.advance(Instant::MAX).unwrap();
    let marks: Vec<Ecn> = mailbox.lock().unwrap().arrived.iter().map(|(_, _, _, ecn)| *ecn).collect();
    assert!(marks.contains(&Ecn::Ce) && marks[0] == Ecn::Ect0, "{marks:?}");
}

#[test]
fn rows_from_outside_are_recorded_in_the_order_of_time() {
    let (mut live, _) = posted("'2 packets'", &[]);
    live.record_internal(at(30_000), 0, "rounds", 4.0);
    live.record_internal(at(20_000), 0, "rounds", 3.0);
    let internals = live.finish().traces.internals.unwrap();
    assert_eq!((internals.time, internals.value), (vec![20_000_000, 30_000_000], vec![3.0, 4.0]));
}

#[test]
fn a_run_can_move_to_the_thread_that_drives_it() {
    fn moves<T: Send>() {}
    moves::<Live>();
}
