//! Packets that models of a link copy, or that others overtake.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Instant, Moment};

use super::simulation::Simulation;
use crate::net::fate::Loss;
use crate::net::models::Copies;
use crate::net::packet::Packet;
use crate::trace::{Point, Recorder};

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
