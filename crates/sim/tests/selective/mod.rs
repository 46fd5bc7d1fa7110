//! Selective: a transport of datagrams, to show what a profile of another crate needs.
//!
//! ## What it does
//! Both ends send streams of bytes, a packet of each in turn. Each packet has a number of its own and is never sent again; data that was lost leaves in a new packet.
//! An ACK lists the ranges of packet numbers that have arrived. A packet is lost once the third packet after it has arrived.
//!
//! ## References
//! RFC 9002 §6.1.1 (packet threshold), §6.2 (timeout), §7.3.2 (one response per recovery). The bytes are its own.
//!
//! ## Differs from the document
//! Every packet is acknowledged at once. A timeout declares all outstanding packets lost.
//!
//! ## Parameters
//! None.

mod end;

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, CongestionEvent, Established, Learned};
use ackclock_core::params::Description;
use ackclock_core::units::{Bytes, Duration, Instant, Segments};
use ackclock_host::{
    Bulk, Capabilities, Checkpoints, Connection, ControlSeat, Counters, Datagram, Flow, Host, Profile, Profiles, SeatRules, Side,
    SlowStartExit, StreamId, Streams, Tally, Traffic, Transmission,
};

use end::{End, HEADER};

static ENTRY: Entry<Profile> = Entry {
    name: "selective",
    summary: "Datagrams with selective acknowledgements",
    reference: "RFC 9002",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Profile::Other(Box::new(Selective)))),
};

/// The list that a test joins.
pub(crate) const PROFILES: Profiles = Profiles { entries: &[&ENTRY], descriptions: DESCRIPTIONS };

static DESCRIPTIONS: &[Description] = &[ENTRY.describe(include_str!("mod.rs"))];

/// Packets of a bulk transfer that wait for the window.
const AHEAD: u64 = 4;

#[derive(Debug)]
struct Selective;

impl Host for Selective {
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>> {
        let Flow { control, traffic, packet_size, ecn, initial_pacing, seed } = flow;
        let rules = SeatRules { initial_pacing, ..SeatRules::new(packet_size.0) };
        let (bulk, answering) = match traffic {
            Traffic::Bulk(bulk) => (Some(bulk), Some(Box::new(Silent) as Box<dyn CongestionControl>)),
            Traffic::Dialogue { control } => (None, control),
        };
        let end = |control: Option<Box<dyn CongestionControl>>, number| {
            End::new(ControlSeat::new(&rules, control.expect("the hosts have no control of their own")), ecn, seed ^ number)
        };
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Box::new(Pair {
            ends: [end(control, 0), end(answering, 1)],
            bulk,
            packet: packet_size.0,
            written: 0,
            started: false,
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
        })
    }

    fn header(&self) -> Bytes {
        Bytes(HEADER)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supply: true, both_ways: true, one_way_delay: true, identifies: true, initial_pacing: true, streams: Streams::Many }
    }
}

/// The control of an end that sends no data.
#[derive(Clone, Debug)]
struct Silent;

impl CongestionControl for Silent {
    fn on_established(&mut self, _event: &Established) {}
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn window(&self) -> Window {
        Window { cwnd: 1.0, ssthresh: 1.0 }
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
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
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl Pair {
    fn hand_over(&mut self, now: Instant) {
        let Some(bulk) = self.bulk else { return };
        let sender = &mut self.ends[Side::Sender.index()];
        while sender.unsent() < AHEAD * self.packet && bulk.offers(self.written as u32 + 1, now) {
            sender.write(StreamId::FIRST, self.packet, bulk.grows);
            self.written += 1;
        }
    }
}

impl Connection for Pair {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let before = self.ends[side.index()].delivered();
        let available = self.bulk.and_then(|bulk| bulk.amount());
        self.ends[side.index()].handle(now, arrived, available);
        let delivered = self.ends[side.index()].delivered();
        if side == Side::Receiver && delivered > before {
            self.checkpoints.pass(now, before);
            self.delivered_at = now;
        }
        delivered > before
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if !self.started {
            return None;
        }
        if side == Side::Sender {
            self.hand_over(now);
        }
        self.ends[side.index()].poll_transmit(now)
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        if self.started {
            self.ends[side.index()].poll_timeout()
        } else {
            self.bulk.map(|bulk| bulk.start).filter(|_| side == Side::Sender)
        }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        if self.started {
            self.ends[side.index()].handle_timeout(now);
        } else {
            self.started = true;
            self.ends[side.index()].open(now);
        }
    }

    fn open(&mut self, now: Instant) {
        self.started = true;
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
        self.ends[Side::Receiver.index()].open(now);
    }

    fn write(&mut self, _now: Instant, side: Side, stream: StreamId, bytes: u64) {
        self.ends[side.index()].write(stream, bytes, true);
    }

    // A stream that has nothing more to send is silent.
    fn close(&mut self, _now: Instant, _side: Side, _stream: StreamId) {}

    fn offer(&mut self, _now: Instant, packets: u64) {
        if let Some(bulk) = &mut self.bulk {
            bulk.offer(packets);
        }
    }

    fn set_learned(&mut self, learned: Learned) {
        if !self.started {
            self.ends[0].seat_mut().set_learned(learned);
        }
    }

    fn is_first_flight_over(&self) -> bool {
        self.ends[0].seat().is_first_flight_over()
    }

    fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.ends[0].seat_mut().finish_first_flight(learned)
    }

    fn delivered(&self, side: Side, stream: StreamId) -> u64 {
        self.ends[side.index()].delivered_of(stream)
    }

    fn next_delivered(&self, side: Side, after: Option<StreamId>) -> Option<StreamId> {
        self.ends[side.index()].fresh().filter(|_| after.is_none())
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[Side::Receiver.index()].delivered()
    }

    fn window(&self) -> Option<Window> {
        Some(self.ends[0].seat().window())
    }

    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        visit(self.ends[0].seat().control());
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        self.ends[0].timing()
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(self.ends[0].seat().exit())
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let delivered_bytes = self.delivered_bytes();
        let (sender, seat) = (&self.ends[0], self.ends[0].seat());
        Tally {
            counters: Counters { reductions: seat.reductions(), cwnd_max: seat.largest(), ..sender.counters() },
            window: Some(seat.window()),
            delivered_bytes,
            delivered_packets: delivered_bytes / self.packet,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: seat.initial_window(),
            limited: None,
            slow_start_exit: seat.exit().get(),
            min_rtt: sender.min_rtt(),
            failure: None,
        }
    }
}
