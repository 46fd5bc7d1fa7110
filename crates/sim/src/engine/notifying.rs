//! Notices: messages from queues to the senders of dropped packets.
//!
//! A notice needs no bandwidth and is never lost. It takes the (mean) propagation delays of the links that the packet had crossed. Its minimum
//! delay is the transmission time of the dropped packet on the link behind the queue: no room can become free earlier. The results are
//! therefore an upper bound of the benefit: a real message would wait in queues and could itself be dropped. Only segments with a
//! retransmission timer cause notices; pure ACKs and datagrams have none.

use ackclock_core::units::{Duration, Instant, Moment};
use ackclock_host::{DropNotice, Side};

use super::events::Subject;
use super::notices::Notice;
use super::simulation::Simulation;
use crate::net::packet::Packet;
use crate::net::route::Hop;
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Sends a notice of `packet`, dropped at `dropped_at`, to its sender.
    pub(super) fn notify(&mut self, packet: &Packet, dropped_at: Instant, dropped: DropNotice) {
        let (crossed, ahead) = self.routes.hops(packet.route()).split_at(usize::from(packet.hop));
        let link = |hop: &Hop| &self.scenario.links[hop.link as usize];
        let back = crossed.iter().fold(Duration::ZERO, |sum, crossed| sum + link(crossed).delay.mean());
        let slot = ahead.first().map_or(Duration::ZERO, |next| link(next).rate.mean().transmission(packet.size()));
        let at = dropped_at + back.max(slot.max(Duration::NANOSECOND));
        if at < self.end {
            let (flow, side) = (packet.flow(), packet.from());
            self.notices.send(at, Notice { flow, side, dropped });
            self.schedule(Moment { at, since: dropped_at }, Subject::Notice);
        }
    }

    /// A notice arrives.
    pub(super) fn notice_event(&mut self, now: Instant) {
        let Some(Notice { flow, side, dropped }) = self.notices.next() else { return };
        let here = Moment::now(now);
        let state = &mut self.flows[flow];
        state.notices += 1;
        state.hosts.handle_notice(now, side, &dropped);
        if R::ON && side == Side::Sender {
            self.record_window(now, flow);
        }
        self.transmit(here, flow, side);
    }
}
