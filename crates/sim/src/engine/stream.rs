//! Datagrams of a flow without TCP: what was sent and what arrived.

use ackclock_core::units::Instant;

use crate::net::packet::Packet;
use crate::tcp::checkpoints::Checkpoints;

/// Both ends of a stream of datagrams.
#[derive(Debug)]
pub(super) struct Stream {
    /// Datagrams sent.
    pub(super) sent: u64,
    /// Datagrams that arrived.
    pub(super) delivered: u64,
    /// When the last of them did.
    pub(super) delivered_at: Instant,
    pub(super) checkpoints: Checkpoints,
    /// Bytes of data in each.
    payload: u64,
}

impl Stream {
    /// A stream that begins at `start`.
    pub(super) fn new(start: Instant, payload: u64) -> Self {
        Self { sent: 0, delivered: 0, delivered_at: start, checkpoints: Checkpoints::new(start), payload }
    }

    /// The next datagram of `flow`, of `size` bytes with its headers.
    pub(super) fn next(&mut self, flow: u32, size: u16, now: Instant) -> Packet {
        self.sent += 1;
        Packet::data(flow, self.sent as u32, size, now)
    }

    /// A datagram arrives.
    pub(super) fn take(&mut self, now: Instant) {
        self.checkpoints.pass(now, self.delivered_bytes());
        self.delivered += 1;
        self.delivered_at = now;
    }

    /// Bytes of data that arrived.
    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered * self.payload
    }
}
