//! Both ends of an `ns2` flow.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Learned;
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Bulk, Datagram, DropNotice, Flight, Side, SlowStartExit, StreamId, Tally, Transmission};

use super::packets::{Acknowledgement, Segment};
use super::receiver::Receiver;
use super::sender::Sender;
use super::{AckOptions, Config, SackBlocks};
use crate::HEADER;

/// Bytes that a SACK block adds to an ACK.
const SACK_BLOCK: u16 = 8;

/// Both ends of a flow: a bulk transfer from the sender to the receiver.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// The ACK that the receiver sends next.
    ack: Option<Acknowledgement>,
    /// Whether ACKs carry the time of their transmission.
    stamps: bool,
    /// Bytes of data in a packet.
    packet_size: u64,
}

impl Connection {
    /// A connection that has not started; `seed` seeds the control's random decisions.
    pub fn new(host: &Config, control: Box<dyn CongestionControl>, bulk: Bulk, seed: u64) -> Self {
        let delay = host.delayed_ack.then_some(host.delayed_ack_timeout);
        let sizes = (host.syn_size(), host.wire_size());
        let receiver = Receiver::new(host.recovery.uses_sack(), delay, sizes, bulk.start);
        let stamps = control.wants().one_way_delay;
        Self { sender: Sender::new(host, control, bulk, seed), receiver, ack: None, stamps, packet_size: host.packet_size.0 }
    }
}

impl ackclock_host::Connection for Connection {
    type Payload = AckOptions;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<AckOptions>) -> bool {
        let &Datagram { number: seq, size, sent, ecn, echo, payload } = arrived;
        match side {
            Side::Sender => {
                let (sack, delay) = match payload {
                    None => (SackBlocks::default(), None),
                    Some(options) => (options.sack, options.sent().map(|left| left.since(sent))),
                };
                self.sender.handle_ack(now, &Acknowledgement { seq, echo: sent, sack, ecn_echo: echo }, delay);
                false
            }
            Side::Receiver => {
                let before = self.receiver.delivered_bytes;
                self.ack = self.receiver.handle_segment(now, &Segment { seq, size, sent, ecn, cwr: echo });
                self.receiver.delivered_bytes > before
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<AckOptions>, Transmission)> {
        match side {
            Side::Sender => {
                let (Segment { seq, size, sent, ecn, cwr }, transmission) = self.sender.poll_transmit(now)?;
                Some((Datagram { number: seq, size, sent, ecn, echo: cwr, payload: None }, transmission))
            }
            Side::Receiver => {
                let Acknowledgement { seq, echo, sack, ecn_echo } = self.ack.take()?;
                let blocks = sack.as_slice().len() as u16;
                let stamped = || AckOptions::new(sack, Some(now));
                let payload = if self.stamps { Some(stamped()) } else { (blocks > 0).then(|| AckOptions::new(sack, None)) };
                let size = HEADER + blocks * SACK_BLOCK;
                let ack = Datagram { number: seq, size, sent: echo, ecn: Ecn::NotEct, echo: ecn_echo, payload };
                Some((ack, Transmission::Ack))
            }
        }
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        match side {
            Side::Sender => self.sender.poll_timeout(),
            Side::Receiver => self.receiver.poll_timeout(),
        }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        match side {
            Side::Sender => self.sender.handle_timeout(now),
            Side::Receiver => self.ack = self.receiver.handle_timeout(now),
        }
    }

    fn noticed(&self, number: u32, side: Side, _payload: Option<&AckOptions>) -> Option<u32> {
        (side == Side::Sender).then_some(number)
    }

    fn handle_notice(&mut self, now: Instant, side: Side, dropped: &DropNotice) {
        if side == Side::Sender {
            self.sender.handle_notice(now, dropped);
        }
    }

    fn offer(&mut self, _now: Instant, packets: u64) {
        self.sender.offer(packets);
    }

    fn set_learned(&mut self, learned: Learned) {
        self.sender.set_learned(learned);
    }

    fn is_first_flight_over(&self) -> bool {
        self.sender.is_first_flight_over()
    }

    fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.sender.finish_first_flight(learned)
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        match side {
            Side::Sender => 0,
            Side::Receiver => self.receiver.delivered_packets() * self.packet_size,
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.receiver.delivered_bytes
    }

    fn window(&self) -> Option<Window> {
        Some(self.sender.window())
    }

    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        visit(self.sender.control());
    }

    fn flight(&self) -> Option<Flight> {
        Some(self.sender.flight())
    }

    fn keep_lost(&mut self) {
        self.sender.keep_lost();
    }

    fn next_lost(&mut self) -> Option<u32> {
        self.sender.next_lost()
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        self.sender.timing()
    }

    fn latest_rtt(&self) -> Option<Duration> {
        self.sender.latest_rtt()
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(self.sender.slow_start_exit())
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let delivered_packets = self.receiver.delivered_packets();
        Tally {
            counters: self.sender.counters(),
            window: Some(self.sender.window()),
            delivered_bytes: self.receiver.delivered_bytes,
            delivered_packets,
            payload: delivered_packets * self.packet_size,
            delivered_at: self.receiver.delivered_at,
            delivered_after: self.receiver.checkpoints(end),
            initial_window: self.sender.initial_window(),
            limited: self.sender.limited(end),
            slow_start_exit: self.sender.slow_start_exit().get(),
            min_rtt: self.sender.min_rtt(),
            failure: None,
        }
    }
}
