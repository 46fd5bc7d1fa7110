//! Packets on links with models: copies, and wires on which packets overtake.
//!
//! A pipe is first in, first out, so that only its head is an event. On a wire on which packets overtake, each packet is an event: only
//! there, an arrival costs a place in the heap.

use std::collections::VecDeque;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Instant, Moment};

use super::simulation::{InFlight, Simulation};
use crate::net::link::Link;
use crate::net::models::Copies;
use crate::net::packet::Packet;
use crate::net::port::Loss;
use crate::trace::{Point, Recorder};

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
    const fn copied(&mut self) {
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

impl<R: Recorder> Simulation<'_, R> {
    /// The copies of a packet in front of the queue of `link` enter it, one after the other.
    #[cold]
    pub(super) fn enter_copies(&mut self, link: usize, packet: Packet, here: Moment) {
        let copies = self.links[link].port.copies();
        self.lose_copies(&packet, copies, here.at);
        self.links[link].port.admit(copies.passed);
        for copy in (0..copies.passed).rev() {
            let packet = self.copy(&packet, copy);
            if copy > 0 {
                self.observe(here.at, Point::Link(link as u32), &packet);
            }
            self.forward(packet, here);
        }
    }

    /// The copies of a packet reach the end of `link`, or a packet that others can overtake.
    #[cold]
    pub(super) fn leave_copies(&mut self, link: usize, mut packet: Packet, arrival: Moment, marked: bool) {
        if marked {
            packet.set_ecn(Ecn::Ce);
        }
        let copies = self.links[link].port.copies();
        self.lose_copies(&packet, copies, arrival.at);
        for copy in (0..copies.passed).rev() {
            let packet = self.copy(&packet, copy);
            self.leave(link, packet, arrival);
        }
    }

    /// The packet itself, or a copy of it. The packet comes last, because it then belongs to the network again.
    fn copy(&mut self, packet: &Packet, copy: u32) -> Packet {
        if copy == 0 {
            return *packet;
        }
        self.census.copied();
        self.flows[packet.flow()].hosts.copy(packet, &mut self.payloads)
    }

    /// Drops the lost copies of a packet. Those of a packet that arrives in another copy were never made.
    fn lose_copies(&mut self, packet: &Packet, copies: Copies, at: Instant) {
        let mut unmade = copies.lost;
        if copies.passed == 0 {
            self.drop_packet(*packet, Loss::silent(at));
            unmade -= 1;
        }
        if at < self.end {
            self.flows[packet.flow()].count_lost_copies(unmade);
        }
    }
}
