//! Wires on which packets overtake, and the census of all packets.
//!
//! A pipe is first in, first out, so that only its head is an event. On a wire on which packets overtake, each packet is an event: only
//! there, an arrival costs a place in the heap.

use std::collections::VecDeque;

use ackclock_core::units::Instant;

use super::events::Key;
use crate::net::link::Link;
use crate::net::packet::Packet;

/// A packet in flight to the end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) key: Key,
    /// Start of its transmission, at which its arrival was determined.
    pub(super) since: Instant,
    pub(super) packet: Packet,
}

/// The wires on which packets overtake.
#[derive(Debug, Default)]
pub(super) struct Wires {
    /// The wire of each link, if packets overtake there; empty if there is none.
    of: Vec<Option<usize>>,
    /// Packets in flight, in the order of their arrival.
    packets: Vec<VecDeque<InFlight>>,
}

impl Wires {
    /// The wires of `links`.
    pub(super) fn new(links: &[Link]) -> Self {
        let mut wires = Self::default();
        for (link, _) in links.iter().enumerate().filter(|(_, link)| link.port.reorders()) {
            wires.of.resize(links.len(), None);
            wires.of[link] = Some(wires.packets.len());
            wires.packets.push(VecDeque::new());
        }
        wires
    }

    /// Number of wires.
    pub(super) const fn len(&self) -> usize {
        self.packets.len()
    }

    /// Number of packets in flight.
    pub(super) fn packets(&self) -> u64 {
        self.packets.iter().map(|wire| wire.len() as u64).sum()
    }

    /// The wire of a link.
    pub(super) fn of(&self, link: usize) -> Option<usize> {
        self.of.get(link).copied().flatten()
    }

    /// Adds a packet behind those that arrive before it.
    pub(super) fn insert(&mut self, wire: usize, packet: InFlight) {
        let wire = &mut self.packets[wire];
        wire.insert(wire.partition_point(|other| other.key <= packet.key), packet);
    }

    /// Removes the packet that arrives first.
    pub(super) fn pop(&mut self, wire: usize) -> Option<InFlight> {
        self.packets[wire].pop_front()
    }
}

/// What became of every packet, counted only in debug builds: none may appear or vanish, and time does not go back.
#[derive(Debug, Default)]
pub(super) struct Census {
    sent: u64,
    copied: u64,
    delivered: u64,
    lost: u64,
    now: Instant,
}

impl Census {
    /// The next event is at `now`.
    pub(super) fn proceed(&mut self, now: Instant) {
        if cfg!(debug_assertions) {
            assert!(now >= self.now, "an event at {now:?} comes after one at {:?}", self.now);
            self.now = now;
        }
    }

    /// A host sends a packet.
    pub(super) const fn sent(&mut self) {
        if cfg!(debug_assertions) {
            self.sent += 1;
        }
    }

    /// A link copies a packet.
    pub(super) const fn copied(&mut self) {
        if cfg!(debug_assertions) {
            self.copied += 1;
        }
    }

    /// A packet reaches its host.
    pub(super) const fn delivered(&mut self) {
        if cfg!(debug_assertions) {
            self.delivered += 1;
        }
    }

    /// A packet is lost.
    pub(super) const fn lost(&mut self) {
        if cfg!(debug_assertions) {
            self.lost += 1;
        }
    }

    /// Asserts that all packets are accounted for, with `inside` in the network, and that no payload outlives its packet.
    pub(super) fn check(&self, inside: u64, payloads: usize) {
        assert_eq!(self.sent + self.copied, self.delivered + self.lost + inside, "{self:?}, {inside} in the network");
        assert!(payloads as u64 <= inside, "{payloads} payloads of {inside} packets in the network");
    }
}
