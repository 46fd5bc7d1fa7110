//! Datagrams of a flow without TCP: counts of those sent and delivered.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Instant};
use ackclock_host::{Checkpoints, Connection, Counters, Datagram, Side, StreamId, Tally, Transmission};

/// Both ends of a stream of datagrams.
#[derive(Debug)]
pub(super) struct Stream {
    /// Datagrams that the application has handed over and that are not yet sent.
    waiting: u64,
    sent: u64,
    delivered: u64,
    /// Time of the last delivery.
    delivered_at: Instant,
    checkpoints: Checkpoints,
    /// Bytes of data in each datagram, and its size with headers.
    payload: Bytes,
    wire_size: u16,
}

impl Stream {
    /// A stream that begins at `start`.
    pub(super) fn new(start: Instant, payload: Bytes, wire_size: u16) -> Self {
        Self { waiting: 0, sent: 0, delivered: 0, delivered_at: start, checkpoints: Checkpoints::new(start), payload, wire_size }
    }
}

impl Connection for Stream {
    /// Datagrams have none.
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, _side: Side, _arrived: &Datagram<Vec<u8>>) -> bool {
        self.checkpoints.pass(now, self.delivered_bytes());
        self.delivered += 1;
        self.delivered_at = now;
        true
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if side == Side::Receiver {
            return None;
        }
        self.waiting = self.waiting.checked_sub(1)?;
        self.sent += 1;
        let datagram = Datagram { number: self.sent as u32, size: self.wire_size, sent: now, ecn: Ecn::NotEct, echo: false, payload: None };
        Some((datagram, Transmission::New))
    }

    fn poll_timeout(&self, _side: Side) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _now: Instant, _side: Side) {}

    fn offer(&mut self, _now: Instant, packets: u64) {
        self.waiting += packets;
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        match side {
            Side::Sender => 0,
            Side::Receiver => self.delivered_bytes(),
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered * self.payload.0
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let delivered_bytes = self.delivered_bytes();
        Tally {
            counters: Counters { sent: self.sent, cwnd_max: f64::NAN, ..Counters::default() },
            window: None,
            delivered_bytes,
            delivered_packets: self.delivered,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: None,
            limited: None,
            slow_start_exit: None,
            min_rtt: None,
            failure: None,
        }
    }
}
