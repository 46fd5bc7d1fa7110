//! toy: the stack of this crate, with its own congestion window or any control of Ackclock.
//!
//! ## What it does
//! Every datagram of the simulation is one that the stack has written. The sender of a bulk transfer connects, and its data leaves after one
//! round trip. An application connects at the receiver, and both ends write.
//! ## References
//! None: the transport is this crate's.
//! ## Differs from the document
//! Packets are not ECN-capable, whatever the flow asks for, since the transport has no feedback for marks.
//! ## Parameters
//! `control`: the flow's, or the stack's own; flow. `patience`: 5 s, an arbitrary choice.

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::entry::Entry;
use ackclock_core::events::Established;
use ackclock_core::params::{Default, Description, Kind, Param};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Segments};
use ackclock_host::{
    Bulk, Capabilities, Checkpoints, Connection, Counters, Datagram, ExitReason, Flight, Flow, Host, Profile, Profiles, SharedSeat, Side,
    SlowStartExit, StackSeat, StreamId, Tally, Traffic, Transmission,
};

use crate::toy::{self, Control, Endpoint, Frame, Time};

/// Headers of IPv4 and UDP.
const UDP: u64 = 28;
/// Packets of a bulk transfer that wait for the window.
const AHEAD: u64 = 4;

static ENTRY: Entry<Profile> = Entry {
    name: "toy",
    summary: "The stack of the template",
    reference: "examples/stack",
    params: &[
        Param {
            name: "control",
            kind: Kind::Word(&["flow", "own"]),
            default: Default::Word("flow"),
            doc: "congestion control: the flow's, or the stack's own",
        },
        Param {
            name: "patience",
            kind: Kind::Duration { min: 0.1, max: 1e4 },
            default: Default::Number(5.0),
            doc: "time without an answer after which an end gives up",
        },
    ],
    quantities: &[],
    build: |params| {
        let patience = Duration::from_secs_f64(params.number("patience")).as_nanos();
        Ok(Box::new(Profile::Other(Box::new(Hosts { own: params.word("control") == "own", patience }))))
    },
};

static DESCRIPTIONS: &[Description] = &[ENTRY.describe(include_str!("profile.rs"))];

/// The profiles of this crate.
pub const PROFILES: Profiles = Profiles { entries: &[&ENTRY], descriptions: DESCRIPTIONS };

#[derive(Debug)]
struct Hosts {
    own: bool,
    patience: Time,
}

impl Host for Hosts {
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>> {
        let Flow { control, traffic, packet_size: Bytes(packet), seed, .. } = flow;
        let (bulk, answering) = match traffic {
            Traffic::Bulk(bulk) => (Some(bulk), None),
            Traffic::Dialogue { control } => (None, control),
        };
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Box::new(Pair {
            ends: [End::new(control, packet, self.patience, seed), End::new(answering, packet, self.patience, seed ^ 1)],
            bulk,
            packet,
            written: 0,
            started: false,
            initial: None,
            largest: 0.0,
            exit: SlowStartExit::default(),
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
        })
    }

    fn header(&self) -> Bytes {
        Bytes(UDP + toy::HEADER as u64)
    }

    fn own_control(&self) -> Option<&'static str> {
        self.own.then_some("toy")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supply: true, both_ways: true, ..Capabilities::default() }
    }
}

/// The stack's hooks, on the seat of a control of the contract.
#[derive(Debug)]
struct Seated(SharedSeat);

impl Control for Seated {
    fn sent(&mut self, now: Time, number: u64, size: u64) {
        self.0.lock().on_sent(Instant::from_nanos(now), size, number);
    }

    fn full(&mut self) {
        self.0.lock().on_window_limited();
    }

    fn acked(&mut self, now: Time, sent: Time, number: u64, size: u64) {
        self.0.lock().on_acked(Instant::from_nanos(now), Instant::from_nanos(sent), size, Some(number));
    }

    fn acks_end(&mut self, now: Time, idle: bool) {
        self.0.lock().on_acks_end(Instant::from_nanos(now), None, idle, None);
    }

    fn lost(&mut self, now: Time, number: u64, size: u64) {
        self.0.lock().on_packet_lost(Instant::from_nanos(now), size, number);
    }

    fn losses_end(&mut self, now: Time, timeout: bool) {
        self.0.lock().on_congestion(Instant::from_nanos(now), timeout);
    }

    fn window(&self) -> u64 {
        self.0.lock().window()
    }

    fn threshold(&self) -> u64 {
        self.0.lock().ssthresh().unwrap_or(u64::MAX)
    }

    fn reductions(&self) -> u64 {
        self.0.with(|seat| seat.reductions())
    }

    fn pause(&self, size: u64) -> Time {
        self.0.lock().pacing().map_or(0, |(rate, _)| (size as f64 * 1e9 / rate as f64) as Time)
    }
}

/// An end, and what the datagrams that it sends tell.
#[derive(Debug)]
struct End {
    stack: Endpoint,
    seat: Option<SharedSeat>,
    /// Bytes of a full datagram, as windows count them.
    size: u64,
    /// Bytes of the stream sent so far.
    sent: u64,
    counters: Counters,
}

impl End {
    /// `control`: `None` for the stack's own.
    fn new(control: Option<Box<dyn CongestionControl>>, packet: u64, patience: Time, seed: u64) -> Self {
        let size = packet + toy::HEADER as u64;
        let known = Established::new(Instant::ZERO, Bytes(size)).with(|known| (known.header, known.seed) = (Bytes(UDP), seed));
        let seat = control.map(|control| SharedSeat::new(StackSeat::new(control, &known)));
        let hooks: Box<dyn Control> = match &seat {
            Some(seat) => Box::new(Seated(seat.clone())),
            None => Box::new(toy::Own::new(size)),
        };
        Self { stack: Endpoint::new(hooks, packet, patience), seat, size, sent: 0, counters: Counters::default() }
    }

    fn transmit(&mut self, now: Instant) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        let datagram = self.stack.transmit(now.as_nanos())?;
        let (number, kind) = match Frame::read(&datagram)? {
            // The number of an ACK is that of the next datagram expected.
            Frame::Ack { largest, .. } => (largest + 1, Transmission::Ack),
            Frame::Hello { number } => (number, if number == 0 { Transmission::New } else { Transmission::Retransmission }),
            Frame::Data { number, offset, .. } if offset < self.sent => (number, Transmission::Retransmission),
            Frame::Data { number, offset, length } => {
                self.sent = offset + length;
                (number, Transmission::New)
            }
        };
        self.counters.sent += u64::from(kind != Transmission::Ack);
        self.counters.retransmitted += u64::from(kind == Transmission::Retransmission);
        let size = (datagram.len() as u64 + UDP) as u16;
        Some((Datagram { number: number as u32, size, sent: now, ecn: Ecn::NotEct, echo: false, payload: Some(datagram) }, kind))
    }

    fn segments(&self, bytes: u64) -> Segments {
        if bytes == u64::MAX { Segments::INFINITY } else { bytes as f64 / self.size as f64 }
    }

    fn window(&self) -> Window {
        let control = self.stack.control();
        Window { cwnd: self.segments(control.window()), ssthresh: self.segments(control.threshold()) }
    }
}

/// Both ends.
#[derive(Debug)]
struct Pair {
    ends: [End; 2],
    /// `None`: an application opens the connection and writes.
    bulk: Option<Bulk>,
    packet: u64,
    /// Packets that the bulk transfer has written.
    written: u64,
    started: bool,
    initial: Option<Segments>,
    largest: Segments,
    exit: SlowStartExit,
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl Pair {
    fn hand_over(&mut self, now: Instant) {
        let Some(bulk) = self.bulk else { return };
        while self.ends[0].stack.unsent() < AHEAD * self.packet && bulk.offers(self.written as u32 + 1, now) {
            self.ends[0].stack.write(self.packet);
            self.written += 1;
        }
    }

    /// Notes what the sender's control has decided.
    fn look(&mut self, now: Instant, before: Window) {
        let (end, after) = (&self.ends[0], self.ends[0].window());
        if end.stack.is_connected() {
            self.initial.get_or_insert(after.cwnd);
            self.largest = self.largest.max(after.cwnd);
        }
        if let Some(seat) = &end.seat {
            self.exit = seat.with(|seat| seat.exit().clone());
        } else if after.ssthresh < before.ssthresh && !self.exit.happened() {
            self.exit.note(ExitReason::Loss, now, before.cwnd);
            self.exit.note_loss(now);
        }
    }
}

impl Connection for Pair {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let Some(datagram) = &arrived.payload else { return false };
        let window = self.ends[0].window();
        let stack = &mut self.ends[side.index()].stack;
        let before = stack.delivered();
        stack.receive(now.as_nanos(), datagram);
        let delivers = stack.delivered() > before;
        if side == Side::Sender {
            self.look(now, window);
        } else if delivers {
            self.checkpoints.pass(now, before);
            self.delivered_at = now;
        }
        delivers
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if side == Side::Sender && self.started {
            self.hand_over(now);
        }
        self.ends[side.index()].transmit(now)
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        if !self.started {
            return self.bulk.map(|bulk| bulk.start).filter(|_| side == Side::Sender);
        }
        let End { stack, seat, .. } = &self.ends[side.index()];
        let control = seat.as_ref().map(SharedSeat::timer).filter(|timer| *timer < Instant::MAX && stack.failure().is_none());
        stack.deadline().map(Instant::from_nanos).into_iter().chain(control).min()
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        let window = self.ends[0].window();
        let End { stack, seat, .. } = &mut self.ends[side.index()];
        if std::mem::replace(&mut self.started, true) {
            if let Some(seat) = seat {
                seat.handle_timeout(now);
            }
            stack.expire(now.as_nanos());
        } else {
            stack.connect();
        }
        self.look(now, window);
    }

    fn open(&mut self, now: Instant) {
        (self.started, self.delivered_at, self.checkpoints) = (true, now, Checkpoints::new(now));
        self.ends[Side::Receiver.index()].stack.connect();
    }

    fn write(&mut self, _now: Instant, side: Side, _stream: StreamId, bytes: u64) {
        self.ends[side.index()].stack.write(bytes);
    }

    // A stream that has nothing more to send is silent.
    fn close(&mut self, _now: Instant, _side: Side, _stream: StreamId) {}

    fn offer(&mut self, _now: Instant, packets: u64) {
        if let Some(bulk) = &mut self.bulk {
            bulk.offer(packets);
        }
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        self.ends[side.index()].stack.delivered()
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[1].stack.delivered()
    }

    fn window(&self) -> Option<Window> {
        Some(self.ends[0].window())
    }

    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        if let Some(seat) = &self.ends[0].seat {
            seat.with(|seat| visit(seat.control()));
        }
    }

    fn flight(&self) -> Option<Flight> {
        let end = &self.ends[0];
        let (bytes, Window { cwnd, ssthresh }) = (end.stack.in_flight(), end.window());
        let phase = Some(if cwnd < ssthresh { Phase::SlowStart } else { Phase::Avoidance });
        let own = Flight { bytes, smss: end.size, pacing: None, phase };
        Some(end.seat.as_ref().map_or(own, |seat| seat.with(|seat| seat.flight(bytes, seat.cwnd(), None))))
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        let stack = &self.ends[0].stack;
        (stack.rtt().0.map(Duration::from_nanos), Duration::from_nanos(stack.timeout()))
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(&self.exit)
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let (sender, delivered_bytes) = (&self.ends[0], self.delivered_bytes());
        let (timeouts, reductions) = (sender.stack.timeouts(), sender.stack.control().reductions());
        let failures = self.ends.iter().filter_map(|end| end.stack.failure());
        Tally {
            counters: Counters { timeouts, reductions, cwnd_max: self.largest, ..sender.counters },
            window: Some(sender.window()),
            delivered_bytes,
            delivered_packets: delivered_bytes / self.packet,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: self.initial,
            limited: None,
            slow_start_exit: self.exit.get(),
            min_rtt: sender.stack.rtt().1.map(Duration::from_nanos),
            failure: failures.min_by_key(|(at, _)| *at).map(|(at, reason)| (Instant::from_nanos(*at), reason.clone())),
        }
    }
}
