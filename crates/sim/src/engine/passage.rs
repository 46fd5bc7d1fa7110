//! A flow between interfaces outside the engine: its packets pass as they are.

use std::fmt::Debug;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::{Checkpoints, Connection, Counters, Datagram, Side, StreamId, Tally, Transmission};
use ackclock_wire::frame::{Addressed, frame_ecn};

/// The end of a flow at a network interface outside the engine, such as a TUN device. Its packets are frames: bytes that begin with an IP
/// header.
pub trait Interface: Debug + Send {
    /// A frame of the flow arrives at `now`, with this ECN field: a queue on the path may have marked it.
    fn deliver(&mut self, now: Instant, frame: &[u8], ecn: Ecn);

    /// The next frame of the flow that has been sent at this end.
    fn receive(&mut self) -> Option<Vec<u8>>;
}

/// Both ends of a flow whose packets come from interfaces and go to them: counts packets and data.
#[derive(Debug)]
pub struct Passage<I> {
    interfaces: [I; 2],
    /// Packets that each end has sent.
    sent: [u32; 2],
    /// Packets and bytes of data that reached the receiver; retransmitted data counts again.
    delivered_packets: u64,
    delivered_bytes: u64,
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl<I> Passage<I> {
    /// A flow between the interfaces of sender and receiver that starts at `start`.
    pub fn new(interfaces: [I; 2], start: Instant) -> Self {
        Self {
            interfaces,
            sent: [0; 2],
            delivered_packets: 0,
            delivered_bytes: 0,
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
        }
    }
}

impl<I: Interface> Connection for Passage<I> {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let Some(frame) = &arrived.payload else { return false };
        self.interfaces[side.index()].deliver(now, frame, arrived.ecn);
        let data = Addressed::read(frame).map_or(0, |addressed| addressed.data);
        if side == Side::Sender || data == 0 {
            return false;
        }
        self.checkpoints.pass(now, self.delivered_bytes);
        self.delivered_packets += 1;
        self.delivered_bytes += data as u64;
        self.delivered_at = now;
        true
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        let frame = self.interfaces[side.index()].receive()?;
        let sent = &mut self.sent[side.index()];
        *sent += 1;
        let kind = if side == Side::Sender { Transmission::New } else { Transmission::Ack };
        let (size, ecn) = (frame.len() as u16, frame_ecn(&frame));
        Some((Datagram { number: *sent, size, sent: now, ecn, echo: false, payload: Some(frame) }, kind))
    }

    fn answers_later(&self) -> bool {
        true
    }

    fn poll_timeout(&self, _side: Side) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _now: Instant, _side: Side) {}

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        if side == Side::Receiver { self.delivered_bytes } else { 0 }
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn tally(&mut self, end: Instant) -> Tally {
        Tally {
            counters: Counters { sent: u64::from(self.sent[0]), cwnd_max: f64::NAN, ..Counters::default() },
            window: None,
            delivered_bytes: self.delivered_bytes,
            delivered_packets: self.delivered_packets,
            payload: self.delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, self.delivered_bytes),
            initial_window: None,
            limited: None,
            slow_start_exit: None,
            min_rtt: None,
            failure: None,
        }
    }
}
