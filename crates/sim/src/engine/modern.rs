//! Flows whose hosts are of profile `modern`: their segments wait in a store while their packets travel.

use ackclock_core::units::{Instant, Moment};

use super::flow::Hosts;
use super::simulation::Simulation;
use crate::app::Side;
use crate::net::packet::Packet;
use crate::tcp::modern::connection::Connection;
use crate::trace::{Recorder, SequenceKind};

impl<R: Recorder> Simulation<'_, R> {
    fn connection(&mut self, flow: usize) -> Option<&mut Connection> {
        match &mut self.flows[flow].hosts {
            Hosts::Modern(connection) => Some(connection),
            Hosts::Ns2 { .. } | Hosts::Datagrams(_) => None,
        }
    }

    /// A segment reaches its end host.
    pub(super) fn deliver_segment(&mut self, here: Moment, packet: &Packet) {
        let (flow, now) = (packet.flow(), here.at);
        let Some(mut segment) = self.segments.take(packet.kept) else { return };
        segment.ecn = packet.ecn();
        let side = usize::from(!packet.is_ack());
        let Some(connection) = self.connection(flow) else { return };
        let delivered = connection.handle_segment(now, side, &segment);
        if R::ON {
            let (bytes, acknowledged) = (connection.delivered_bytes, connection.acknowledged(&segment));
            if delivered && side == 1 {
                self.recorder.delivered(now, flow as u32, bytes);
            }
            if side == 0 {
                self.recorder.segment(now, flow as u32, acknowledged, SequenceKind::Ack);
                self.record_ack(now, flow);
            }
        }
        self.transmit_segments(here, flow, side);
        if delivered {
            self.tell_delivered(here, flow, if side == 0 { Side::Sender } else { Side::Receiver });
        }
    }

    /// Records the sender of `flow` after an ACK.
    fn record_ack(&mut self, now: Instant, flow: usize) {
        let Hosts::Modern(connection) = &self.flows[flow].hosts else { return };
        let sender = connection.sender();
        self.recorder.window(now, flow as u32, sender.window());
        let (srtt, _, rto) = sender.timing();
        if let Some(rtt) = connection.latest_rtt() {
            self.recorder.rtt(now, flow as u32, rtt, (srtt, rto));
        }
        self.recorder.internals(now, flow as u32, sender.control());
    }

    /// A timer of the host `side` of `flow` has expired.
    pub(super) fn expire(&mut self, here: Moment, flow: usize, side: usize) {
        let Some(connection) = self.connection(flow) else { return };
        connection.handle_timeout(here.at, side);
        let window = connection.sender().window();
        if R::ON && side == 0 {
            self.recorder.window(here.at, flow as u32, window);
        }
        self.transmit_segments(here, flow, side);
    }

    /// Sends what the host `side` of `flow` has to send, and sets its timers.
    pub(super) fn transmit_segments(&mut self, here: Moment, flow: usize, side: usize) {
        let now = here.at;
        self.learn(flow);
        while let Some((segment, numbers)) = self.connection(flow).and_then(|connection| connection.poll_transmit(now, side)) {
            if R::ON && side == 0 && segment.len() > 0 {
                let kind = if numbers.retransmission { SequenceKind::Retransmit } else { SequenceKind::Send };
                self.recorder.segment(now, flow as u32, numbers.seq, kind);
            }
            let size = segment.wire_size() as u16;
            let kept = self.segments.keep(segment);
            let mut packet = Packet::segment((flow as u32, side == 1), numbers.seq, size, kept, now);
            packet.set_ecn(segment.ecn);
            self.forward(packet, here);
        }
        self.arm(here, flow, side);
    }
}
