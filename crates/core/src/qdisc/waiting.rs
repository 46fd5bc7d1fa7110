//! Packets in the order of their arrival.

use std::collections::VecDeque;

use super::{Backlog, Packet};
use crate::units::{Bytes, Duration, Instant};

/// A first-in, first-out queue that knows its backlog.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Waiting {
    /// Its backlog.
    pub(crate) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Whether no packet waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, packet: Packet) {
        self.backlog = self.backlog.with(packet.size);
        self.packets.push_back(packet);
    }

    /// Removes the first packet.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.backlog = self.backlog.without(packet.size);
        Some(packet)
    }

    /// The size of the first packet.
    pub(crate) fn head(&self) -> Option<Bytes> {
        self.packets.front().map(|packet| packet.size)
    }

    /// How long the first packet has waited; no time if there is none.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |first| now.since(first.arrived))
    }
}
