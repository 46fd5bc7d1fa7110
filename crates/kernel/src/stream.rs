//! The data of one direction, as its packets show it: which are retransmissions, and which round-trip times their ACKs give.

use std::collections::VecDeque;

use ackclock_core::units::{Duration, Instant};
use ackclock_host::Transmission;
use ackclock_wire::frame::Headers;
use ackclock_wire::segment::Flags;

/// A segment that is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Position after its last byte.
    end: u64,
    at: Instant,
    /// Whether it was sent again, so that its ACK is ambiguous (Karn's algorithm, RFC 6298 §3).
    again: bool,
}

/// One direction. Positions count from the SYN, which is 0; the first byte of data is 1.
#[derive(Debug)]
pub(super) struct Stream {
    /// Bytes of data in a full segment.
    segment: u64,
    /// Sequence number of the SYN.
    initial: Option<u32>,
    /// One past the highest position sent.
    highest: u64,
    acknowledged: u64,
    outstanding: VecDeque<Sent>,
}

impl Stream {
    pub(super) fn new(segment: u64) -> Self {
        Self { segment, initial: None, highest: 0, acknowledged: 0, outstanding: VecDeque::new() }
    }

    /// The position of sequence number `seq` that is nearest to `near`.
    fn position(&self, seq: u32, near: u64) -> u64 {
        let wire = seq.wrapping_sub(self.initial.unwrap_or(seq));
        near.saturating_add_signed(i64::from(wire.wrapping_sub(near as u32).cast_signed()))
    }

    /// Number of the segment that begins at `position`: the SYN is 0, the first data segment 1.
    fn number(&self, position: u64) -> u32 {
        if position == 0 { 0 } else { ((position - 1).div_ceil(self.segment) + 1) as u32 }
    }

    /// A packet leaves. Returns the number of its segment, and its kind.
    pub(super) fn send(&mut self, now: Instant, packet: &Headers) -> (u32, Transmission) {
        if packet.flags.has(Flags::SYN) {
            self.initial.get_or_insert(packet.seq);
        }
        let start = self.position(packet.seq, self.highest);
        let length = u64::from(packet.length());
        if length == 0 {
            return (self.number(start), Transmission::Ack);
        }
        let end = start + length;
        if start < self.highest {
            let first = self.outstanding.partition_point(|sent| sent.end <= start);
            self.outstanding.range_mut(first..).take_while(|sent| sent.end <= end).for_each(|sent| sent.again = true);
            // A segment in the middle of a larger one makes that one ambiguous.
            if let Some(sent) = self.outstanding.get_mut(first) {
                sent.again = true;
            }
        }
        let kind = if start < self.highest { Transmission::Retransmission } else { Transmission::New };
        if end > self.highest {
            self.highest = end;
            self.outstanding.push_back(Sent { end, at: now, again: kind == Transmission::Retransmission });
        }
        (self.number(start), kind)
    }

    /// An ACK arrives at the end that sends this direction. Returns the round-trip time that it shows.
    pub(super) fn acknowledge(&mut self, now: Instant, packet: &Headers) -> Option<Duration> {
        if !packet.flags.has(Flags::ACK) || self.initial.is_none() {
            return None;
        }
        self.acknowledged = self.acknowledged.max(self.position(packet.ack, self.highest).min(self.highest));
        let mut latest = None;
        while let Some(&sent) = self.outstanding.front().filter(|sent| sent.end <= self.acknowledged) {
            latest = Some(sent);
            self.outstanding.pop_front();
        }
        latest.filter(|sent| !sent.again).map(|sent| now.since(sent.at))
    }

    /// Number of the next expected segment, on an ACK of the other end for this direction.
    pub(super) fn expected(&self, packet: &Headers) -> u32 {
        if packet.flags.has(Flags::ACK) { self.number(self.position(packet.ack, self.highest)) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::qdisc::Ecn;

    use super::*;

    fn packet(seq: u32, ack: u32, flags: Flags, payload: u32) -> Headers {
        Headers { seq, ack, flags, payload, size: 40 + payload as u16, ecn: Ecn::default() }
    }

    /// The round-trip time that an ACK shows, in milliseconds.
    fn acknowledged(stream: &mut Stream, now: Instant, packet: &Headers) -> Option<f64> {
        stream.acknowledge(now, packet).map(|rtt| (1e3 * rtt.as_secs_f64()).round())
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn segments_are_numbered_across_the_end_of_sequence_numbers() {
        let mut stream = Stream::new(100);
        let initial = u32::MAX - 150;
        assert_eq!(stream.send(at(0), &packet(initial, 0, Flags::SYN, 0)), (0, Transmission::New));
        assert_eq!(acknowledged(&mut stream, at(10), &packet(0, initial + 1, Flags::ACK | Flags::SYN, 0)), Some(10.0));
        for (number, seq) in (1..=3).zip([0, 100, 200]) {
            let sent = stream.send(at(20), &packet(initial.wrapping_add(1 + seq), 0, Flags::ACK, 100));
            assert_eq!(sent, (number, Transmission::New));
        }
        let expected = packet(0, initial.wrapping_add(201), Flags::ACK, 0);
        assert_eq!(stream.expected(&expected), 3);
        assert_eq!(acknowledged(&mut stream, at(35), &expected), Some(15.0));
    }

    #[test]
    fn an_ack_of_a_retransmission_shows_no_round_trip_time() {
        let mut stream = Stream::new(100);
        stream.send(at(0), &packet(0, 0, Flags::SYN, 0));
        stream.acknowledge(at(1), &packet(0, 1, Flags::ACK, 0));
        for seq in [1, 101, 201] {
            stream.send(at(2), &packet(seq, 0, Flags::ACK, 100));
        }
        assert_eq!(stream.send(at(50), &packet(101, 0, Flags::ACK, 100)), (2, Transmission::Retransmission));
        assert_eq!(acknowledged(&mut stream, at(60), &packet(0, 101, Flags::ACK, 0)), Some(58.0));
        assert_eq!(acknowledged(&mut stream, at(61), &packet(0, 201, Flags::ACK, 0)), None, "ambiguous");
        assert_eq!(acknowledged(&mut stream, at(62), &packet(0, 301, Flags::ACK, 0)), Some(60.0));
        assert_eq!(stream.send(at(63), &packet(301, 0, Flags::ACK, 0)).1, Transmission::Ack);
        assert_eq!(stream.send(at(63), &packet(301, 0, Flags::ACK | Flags::FIN, 0)), (4, Transmission::New));
    }
}
