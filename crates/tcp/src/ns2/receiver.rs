//! The receiver of the `ns2` host: acknowledges every packet or every second packet, with SACK blocks if the sender uses them.
//!
//! ## References
//! RFC 2018 §4 (which blocks an ACK carries); RFC 5681 §4.2 (delayed ACKs); ns-2.35's sinks, inferred from their runs.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{CHECKPOINTS, Checkpoints};

use super::blocks::{MAX_SACK_BLOCKS, SackBlocks};
use super::packets::{Acknowledgement, Segment};
use crate::ranges::{Range, RangeSet};

/// A delayed ACK.
#[derive(Clone, Copy, Debug)]
struct Delayed {
    /// When the ACK must leave.
    deadline: Instant,
    /// Sending time of the packet that the ACK acknowledges.
    echo: Instant,
    /// Whether that packet was marked.
    marked: bool,
}

/// Receiver of one flow.
#[derive(Debug)]
pub(super) struct Receiver {
    /// Next expected number.
    next: u32,
    /// Segments received above `next`.
    blocks: RangeSet,
    /// The new part of the last insertion; stored to reuse the memory.
    fresh: Vec<Range>,
    /// The blocks of the last ACK, the most recent first.
    recent: SackBlocks,
    sack: bool,
    /// Maximum delay of an ACK; `None`: ACKs are not delayed.
    delay: Option<Duration>,
    delayed: Option<Delayed>,
    /// A mark has arrived, and no CWR since: every ACK echoes the mark (RFC 3168 §6.1.3).
    ecn_echo: bool,
    /// Wire bytes delivered in order, the SYN included, as ns-2's sink counts them.
    pub(super) delivered_bytes: u64,
    /// When the last packet was delivered in order.
    pub(super) delivered_at: Instant,
    checkpoints: Checkpoints,
    /// Bytes of the SYN.
    syn_size: u16,
    /// Bytes of a data packet, with headers.
    packet_size: u16,
}

impl Receiver {
    /// A receiver of packets of `packet_size` bytes with headers, for a flow that starts at `start`.
    pub(super) fn new(sack: bool, delay: Option<Duration>, (syn_size, packet_size): (u16, u16), start: Instant) -> Self {
        Self {
            next: 0,
            blocks: RangeSet::default(),
            fresh: Vec::new(),
            recent: SackBlocks::default(),
            sack,
            delay,
            delayed: None,
            ecn_echo: false,
            delivered_bytes: 0,
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
            syn_size,
            packet_size,
        }
    }

    /// Data packets delivered in order, without the SYN.
    pub(super) fn delivered_packets(&self) -> u64 {
        u64::from(self.next.saturating_sub(1))
    }

    /// Bytes delivered in order by each checkpoint that has passed at `end`.
    pub(super) fn checkpoints(&mut self, end: Instant) -> [Option<u64>; CHECKPOINTS.len()] {
        self.checkpoints.finish(end, self.delivered_bytes)
    }

    /// Receives a data packet; returns the ACK to send, if one is due.
    pub(super) fn handle_segment(&mut self, now: Instant, packet: &Segment) -> Option<Acknowledgement> {
        self.checkpoints.pass(now, self.delivered_bytes);
        if packet.ecn != Ecn::NotEct {
            // A packet may carry CWR and a new mark at once; the mark then wins. As in ns-2, a mark on the packet whose ACK is delayed
            // counts as a mark on this packet.
            let marked = packet.ecn == Ecn::Ce || self.delayed.is_some_and(|delayed| delayed.marked);
            self.ecn_echo = marked || self.ecn_echo && !packet.cwr;
        }
        let seq = packet.seq;
        let before = self.next;
        if seq == self.next && self.blocks.is_empty() {
            self.next += 1;
        } else if seq >= self.next {
            self.insert(seq);
        }
        if self.next > before {
            self.deliver(now, before);
        }
        // Only the latest packet in order, new or duplicate, may be delayed, and only if no packet is missing.
        let in_order = seq + 1 == self.next && self.blocks.is_empty();
        if let Some(delay) = self.delay {
            // The SYN is acknowledged at once too.
            if in_order && seq > 0 && self.delayed.is_none() {
                let marked = packet.ecn == Ecn::Ce;
                self.delayed = Some(Delayed { deadline: now + delay, echo: packet.sent, marked });
                return None;
            }
            self.delayed = None;
        }
        // The ACK of a SYN that requests ECN accepts it with ECE.
        let ecn_echo = self.ecn_echo || seq == 0 && packet.cwr;
        Some(Acknowledgement { seq: self.next, echo: packet.sent, sack: self.sack_blocks(seq), ecn_echo })
    }

    fn deliver(&mut self, now: Instant, before: u32) {
        let syn = u64::from(before == 0);
        let packets = u64::from(self.next - before) - syn;
        self.delivered_bytes += packets * u64::from(self.packet_size) + syn * u64::from(self.syn_size);
        self.delivered_at = now;
    }

    /// When a delayed ACK must leave.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.delayed.map(|delayed| delayed.deadline)
    }

    /// The ACK delay has expired; returns the delayed ACK.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Acknowledgement> {
        let Delayed { echo, .. } = self.delayed.take_if(|delayed| delayed.deadline <= now)?;
        Some(Acknowledgement { seq: self.next, echo, sack: self.recent, ecn_echo: self.ecn_echo })
    }

    /// Inserts a segment above the next expected one, or the next expected one if blocks lie above it.
    fn insert(&mut self, seq: u32) {
        self.blocks.insert((u64::from(seq), u64::from(seq) + 1), &mut self.fresh);
        if let Some(end) = self.blocks.take_first_at(u64::from(self.next)) {
            self.next = end as u32;
        }
    }

    /// RFC 2018 §4: first the block of the packet just received, then the most recently reported blocks.
    fn sack_blocks(&mut self, seq: u32) -> SackBlocks {
        if !self.sack || self.blocks.is_empty() {
            self.recent = SackBlocks::default();
            return self.recent;
        }
        let mut blocks = SackBlocks::default();
        let newest = self.blocks.containing(u64::from(seq)).map(|(start, end)| (start as u32, end as u32));
        if let Some(block) = newest {
            blocks.push(block);
        }
        for &(start, end) in self.recent.as_slice() {
            let merged = newest.is_some_and(|(left, right)| left <= start && right >= end);
            if !merged && start >= self.next && blocks.as_slice().len() < MAX_SACK_BLOCKS {
                blocks.push((start, end));
            }
        }
        self.recent = blocks;
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32, ecn: Ecn) -> Segment {
        Segment { seq, size: 1040, sent: Instant::ZERO, ecn, cwr: false }
    }

    fn receive(receiver: &mut Receiver, seq: u32) -> (u32, Vec<(u32, u32)>) {
        let ack = receiver.handle_segment(Instant::ZERO, &data(seq, Ecn::NotEct)).unwrap();
        (ack.seq, ack.sack.as_slice().to_vec())
    }

    #[test]
    fn every_other_segment_lost() {
        // RFC 2018 §4, case 3: the second, fourth, sixth and eighth (of eight) segments are lost.
        let mut receiver = Receiver::new(true, None, (40, 1040), Instant::ZERO);
        assert_eq!(receive(&mut receiver, 0), (1, vec![]));
        assert_eq!(receive(&mut receiver, 2), (1, vec![(2, 3)]));
        assert_eq!(receive(&mut receiver, 4), (1, vec![(4, 5), (2, 3)]));
        assert_eq!(receive(&mut receiver, 6), (1, vec![(6, 7), (4, 5), (2, 3)]));
        // Then the fourth is received: its block joins two others.
        assert_eq!(receive(&mut receiver, 3), (1, vec![(2, 5), (6, 7)]));
        // And the second: the cumulative ACK moves on.
        assert_eq!(receive(&mut receiver, 1), (5, vec![(6, 7)]));
        assert_eq!(receive(&mut receiver, 5), (7, vec![]));
    }

    #[test]
    fn delivered_bytes_count_as_ns2s_sink() {
        let mut receiver = Receiver::new(false, None, (40, 1040), Instant::ZERO);
        for seq in [0, 1, 3, 2, 2] {
            receive(&mut receiver, seq);
        }
        assert_eq!(receiver.delivered_packets(), 3);
        assert_eq!(receiver.delivered_bytes, 40 + 3 * 1040);
    }

    #[test]
    fn delayed_acks_leave_at_every_second_packet_or_after_the_delay() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut receiver = Receiver::new(false, Some(Duration::from_millis(100)), (40, 1040), Instant::ZERO);
        let receive = |receiver: &mut Receiver, millis, seq| receiver.handle_segment(at(millis), &data(seq, Ecn::NotEct));
        assert_eq!(receive(&mut receiver, 0, 0).unwrap().seq, 1, "the SYN is acknowledged at once");
        assert_eq!(receive(&mut receiver, 10, 1), None);
        assert_eq!(receiver.handle_timeout(at(109)), None);
        assert_eq!(receiver.handle_timeout(at(110)).unwrap().seq, 2);
        assert_eq!(receive(&mut receiver, 120, 2), None);
        assert_eq!(receive(&mut receiver, 121, 3).unwrap().seq, 4);
        assert_eq!(receive(&mut receiver, 122, 5).unwrap().seq, 4, "an out-of-order packet is acknowledged at once");
    }

    #[test]
    fn a_mark_outlasts_cwr_while_its_ack_is_delayed() {
        let mut receiver = Receiver::new(false, Some(Duration::from_millis(100)), (40, 1040), Instant::ZERO);
        let mut receive = |seq, ecn, reduced| {
            let packet = Segment { cwr: reduced, ..data(seq, ecn) };
            receiver.handle_segment(Instant::ZERO, &packet).map(|ack| ack.ecn_echo)
        };
        assert_eq!(receive(0, Ecn::NotEct, false), Some(false));
        assert_eq!(receive(1, Ecn::Ce, false), None);
        assert_eq!(receive(2, Ecn::Ect0, true), Some(true), "the mark of the first packet outlasts the CWR of the second");
        assert_eq!(receive(3, Ecn::Ect0, false), None);
        assert_eq!(receive(4, Ecn::Ect0, false), Some(true));
        assert_eq!(receive(5, Ecn::Ect0, true), None);
        assert_eq!(receive(6, Ecn::Ect0, false), Some(false));
    }
}
