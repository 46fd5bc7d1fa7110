//! The host profiles of a run; no other place names them. Each is called by its own type, so that `ns2` is as fast as if it were the only
//! one.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Learned;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Connection, Datagram, DropNotice, Flight, RecoveryPhase, Side, SlowStartExit, StreamId, Tally, Transmission};
use ackclock_tcp::{modern, ns2};

use crate::net::packet::{Packet, Payload, Payloads};

/// Both ends of a flow.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one, and the one that has to be fast")]
pub(super) enum Hosts {
    /// Profile `ns2`.
    Ns2(ns2::Connection),
    /// Profile `modern`.
    Modern(Box<modern::Connection>),
    /// Datagrams without TCP, or any other profile of the registry.
    Other(Box<dyn Connection<Payload = Vec<u8>>>),
}

/// Calls the connection of any profile.
macro_rules! each {
    ($hosts:expr, $connection:ident => $call:expr) => {
        match $hosts {
            Hosts::Ns2($connection) => $call,
            Hosts::Modern($connection) => $call,
            Hosts::Other($connection) => $call,
        }
    };
}

impl Hosts {
    /// Whether packets leave after everything else that happens at their time.
    #[inline]
    pub(super) fn answers_later(&self) -> bool {
        each!(self, connection => connection.answers_later())
    }

    /// Handles a packet that reaches its end host. Returns whether it delivered data there.
    #[inline]
    pub(super) fn handle(&mut self, now: Instant, packet: &Packet, payloads: &mut Payloads) -> bool {
        let side = packet.from().peer();
        each!(self, connection => connection.handle(now, side, &arrived(packet, payloads)))
    }

    /// The next packet that the end `side` of `flow` sends.
    #[inline]
    pub(super) fn poll_transmit(&mut self, now: Instant, ends: (u32, Side), payloads: &mut Payloads) -> Option<(Packet, Transmission)> {
        each!(self, connection => connection.poll_transmit(now, ends.1).map(|(datagram, kind)| (Packet::new(ends, datagram, payloads), kind)))
    }

    /// A copy of a packet in the network, with a payload of its own.
    pub(super) fn copy(&self, packet: &Packet, payloads: &mut Payloads) -> Packet {
        let mut copy = *packet;
        copy.payload = match self {
            Self::Ns2(_) => payloads.ack_options.copy(packet.payload),
            Self::Modern(_) => payloads.segments.copy(packet.payload),
            Self::Other(_) => payloads.bytes.copy(packet.payload),
        };
        copy
    }

    /// Handles the loss of a packet in the network. Returns the number that identifies the packet in a notice.
    pub(super) fn discard(&self, packet: &Packet, payloads: &mut Payloads) -> Option<u32> {
        each!(self, connection => connection.noticed(packet.seq, packet.from(), take_payload(packet, payloads).as_ref()))
    }

    /// Deadline of an end's timer.
    #[inline]
    pub(super) fn poll_timeout(&self, side: Side) -> Option<Instant> {
        each!(self, connection => connection.poll_timeout(side))
    }

    /// Handles the expiry of an end's timer.
    pub(super) fn handle_timeout(&mut self, now: Instant, side: Side) {
        each!(self, connection => connection.handle_timeout(now, side));
    }

    /// Handles the notice that a queue has dropped a packet of an end.
    pub(super) fn handle_notice(&mut self, now: Instant, side: Side, dropped: &DropNotice) {
        each!(self, connection => connection.handle_notice(now, side, dropped));
    }

    /// Opens the connection for an application.
    pub(super) fn open(&mut self, now: Instant) {
        each!(self, connection => connection.open(now));
    }

    /// Writes data on a stream at an end for an application.
    pub(super) fn write(&mut self, now: Instant, side: Side, stream: StreamId, bytes: u64) {
        each!(self, connection => connection.write(now, side, stream, bytes));
    }

    /// Finishes writing on a stream at an end for an application.
    pub(super) fn close(&mut self, now: Instant, side: Side, stream: StreamId) {
        each!(self, connection => connection.close(now, side, stream));
    }

    /// Adds packets of an application to be sent.
    pub(super) fn offer(&mut self, now: Instant, packets: u64) {
        each!(self, connection => connection.offer(now, packets));
    }

    /// Sets what earlier connections to the peer learned.
    pub(super) fn set_learned(&mut self, learned: Learned) {
        each!(self, connection => connection.set_learned(learned));
    }

    /// Whether the first flight is over, so that its outcome can be learned.
    pub(super) fn is_first_flight_over(&self) -> bool {
        each!(self, connection => connection.is_first_flight_over())
    }

    /// The initial window for the next connection to the peer.
    pub(super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        each!(self, connection => connection.finish_first_flight(learned))
    }

    /// Bytes of data on a stream delivered at an end.
    pub(super) fn delivered(&self, side: Side, stream: StreamId) -> u64 {
        each!(self, connection => connection.delivered(side, stream))
    }

    /// The first stream above `after` on which the packet just handled delivered data.
    pub(super) fn next_delivered(&self, side: Side, after: Option<StreamId>) -> Option<StreamId> {
        each!(self, connection => connection.next_delivered(side, after))
    }

    /// Bytes delivered at the receiver, as the profile counts them.
    pub(super) fn delivered_bytes(&self) -> u64 {
        each!(self, connection => connection.delivered_bytes())
    }

    /// The sender's window.
    pub(super) fn window(&self) -> Option<Window> {
        each!(self, connection => connection.window())
    }

    /// The sender's phase of loss recovery, if it tells.
    pub(super) fn recovery(&self) -> Option<RecoveryPhase> {
        each!(self, connection => connection.recovery())
    }

    /// Shows the sender's congestion control, if there is one of the contract.
    pub(super) fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        each!(self, connection => connection.with_control(visit));
    }

    /// What the sender has in flight, if it tells.
    pub(super) fn flight(&self) -> Option<Flight> {
        each!(self, connection => connection.flight())
    }

    /// From now on, [`Self::next_lost`] tells the segments that the sender deems lost.
    pub(super) fn keep_lost(&mut self) {
        each!(self, connection => connection.keep_lost());
    }

    /// The next segment that the sender has deemed lost.
    pub(super) fn next_lost(&mut self) -> Option<u32> {
        each!(self, connection => connection.next_lost())
    }

    /// The sender's smoothed round-trip time and timeout.
    pub(super) fn timing(&self) -> (Option<Duration>, Duration) {
        each!(self, connection => connection.timing())
    }

    /// The sender's last round-trip time.
    pub(super) fn latest_rtt(&self) -> Option<Duration> {
        each!(self, connection => connection.latest_rtt())
    }

    /// How the first slow start ended.
    pub(super) fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        each!(self, connection => connection.slow_start_exit())
    }

    /// Counters up to the end of the run.
    pub(super) fn tally(&mut self, end: Instant) -> Tally {
        each!(self, connection => connection.tally(end))
    }
}

/// The arrived packet with its payload.
fn arrived<P: Payload>(packet: &Packet, payloads: &mut Payloads) -> Datagram<P> {
    Datagram {
        number: packet.seq,
        size: packet.size().0 as u16,
        sent: packet.sent,
        ecn: packet.ecn(),
        echo: packet.echo(),
        payload: take_payload(packet, payloads),
    }
}

/// Removes the payload of a packet that has left the network.
fn take_payload<P: Payload>(packet: &Packet, payloads: &mut Payloads) -> Option<P> {
    P::store(payloads).remove(packet.payload)
}
