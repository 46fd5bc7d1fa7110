//! The receiving half: reassembles the stream, and decides when to send an ACK and with which SACK blocks.
//!
//! ## References
//! RFC 9293 §3.10.7.4 (acceptability); RFC 5681 §4.2 (delayed ACKs); RFC 2018 §4 (SACK blocks); RFC 2883 §4 (D-SACK); RFC 3168 §6.1.3.

use std::collections::VecDeque;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::config::Config;
use super::ranges::{Range, RangeSet};
use super::window::ReceiveWindow;

/// Number of blocks whose order of arrival is stored: those that an ACK can report, and a few more.
const REMEMBERED: usize = 8;

/// An arriving segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// First position and one past the last, including a FIN.
    pub(super) range: Range,
    /// Whether the last position is a FIN.
    pub(super) fin: bool,
    /// ECN field of the packet.
    pub(super) ecn: Ecn,
    /// Whether the segment carries CWR: the sender has reduced its window.
    pub(super) cwr: bool,
}

/// The receiving half of an endpoint.
#[derive(Debug)]
pub(super) struct Receiver {
    /// Next expected position.
    rcv_nxt: u64,
    /// Ranges received above `rcv_nxt`.
    above: RangeSet,
    /// The new parts of the last segment; stored to reuse the memory.
    fresh: Vec<Range>,
    /// A position in each of the most recently changed blocks, the latest first.
    recent: VecDeque<u64>,
    dsack: Option<Range>,
    /// Position of the FIN.
    fin: Option<u64>,
    /// Next position that the application reads.
    read: u64,
    pub(super) window: ReceiveWindow,
    /// Whether an ACK must be sent now.
    ack_now: bool,
    /// When a delayed ACK must be sent.
    delayed: Option<Instant>,
    /// Bytes received since the last ACK.
    unacked: u64,
    /// Largest payload so far; it counts as a full segment.
    largest: u64,
    quick_acks: u32,
    delay: Duration,
    /// A mark has arrived, and no CWR since.
    ecn_echo: bool,
    /// Position that the last ACK acknowledged.
    last_ack: u64,
}

impl Receiver {
    /// A receiver before the peer's SYN, which has position 0.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rcv_nxt: 0,
            above: RangeSet::default(),
            fresh: Vec::new(),
            recent: VecDeque::new(),
            dsack: None,
            fin: None,
            read: 1,
            window: ReceiveWindow::new(config.buffer, u64::from(config.mss), config.window_scaling),
            ack_now: false,
            delayed: None,
            unacked: 0,
            largest: 1,
            quick_acks: config.quick_acks,
            delay: config.delayed_ack,
            ecn_echo: false,
            last_ack: 0,
        }
    }

    /// The SYN has arrived.
    pub(super) fn begin(&mut self) {
        self.rcv_nxt = 1;
    }

    /// Next expected position.
    pub(super) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Position that the last ACK acknowledged.
    pub(super) fn last_ack(&self) -> u64 {
        self.last_ack
    }

    /// Whether the FIN and all data before it have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// RFC 9293 §3.10.7.4, table 6: whether the range of a segment, or the position of an empty one, lies in the window.
    pub(super) fn is_acceptable(&self, (start, end): Range) -> bool {
        let edge = self.window.edge().max(self.rcv_nxt);
        if start == end { start == self.rcv_nxt || start > self.rcv_nxt && start < edge } else { end > self.rcv_nxt && start < edge }
    }

    /// Receives data or a FIN.
    pub(super) fn receive(&mut self, now: Instant, arrival: &Arrival) {
        self.note_marks(arrival);
        let (start, end) = arrival.range;
        if start == end {
            return;
        }
        let before = self.rcv_nxt;
        self.largest = self.largest.max(end - start - u64::from(arrival.fin));
        if arrival.fin {
            self.fin = Some(end - 1);
        }
        // Data beyond the window is discarded (RFC 9293 §3.10.7.4).
        self.insert((start, end.min(self.window.edge())));
        let in_order = start == before && self.above.is_empty() && self.rcv_nxt == end;
        if in_order && !arrival.fin {
            self.acknowledge_in_order(now, end - start);
        } else {
            // RFC 5681 §4.2: an ACK at once for a segment out of order or one that fills a gap. A duplicate and a FIN are acknowledged at
            // once too.
            self.ack_now = true;
        }
        if self.rcv_nxt > before {
            self.window.advance(now, self.rcv_nxt);
        }
    }

    /// RFC 5681 §4.2: acknowledges every second full segment, or after the delay.
    fn acknowledge_in_order(&mut self, now: Instant, bytes: u64) {
        self.unacked += bytes;
        if self.quick_acks > 0 {
            self.quick_acks -= 1;
            self.ack_now = true;
        } else if self.unacked >= 2 * self.largest {
            self.ack_now = true;
        } else if self.delayed.is_none() {
            self.delayed = Some(now + self.delay);
        }
    }

    /// RFC 3168 §6.1.3: echoes a mark on every ACK until CWR arrives. A packet with CWR may itself be marked again.
    fn note_marks(&mut self, arrival: &Arrival) {
        self.ecn_echo = arrival.ecn == Ecn::Marked || self.ecn_echo && !arrival.cwr;
    }

    fn insert(&mut self, (start, end): Range) {
        if start == self.rcv_nxt && start < end && self.above.is_empty() {
            // The usual case: in order, with no range above.
            self.rcv_nxt = end;
            return;
        }
        let known = start.max(self.rcv_nxt);
        self.above.insert((known, end), &mut self.fresh);
        self.dsack = self.duplicate((start, end)).or(self.dsack);
        while let Some(end) = self.above.take_first_at(self.rcv_nxt) {
            self.rcv_nxt = self.rcv_nxt.max(end);
        }
        if let Some(block) = self.above.containing(known) {
            self.recent.retain(|&position| position < block.0 || position >= block.1);
            self.recent.push_front(known);
            self.recent.truncate(REMEMBERED);
        } else if self.above.is_empty() {
            self.recent.clear();
        }
    }

    /// RFC 2883 §4: the first part of a segment that had already arrived.
    fn duplicate(&self, (start, end): Range) -> Option<Range> {
        let below = (start < self.rcv_nxt).then(|| (start, end.min(self.rcv_nxt)));
        below.or(match self.fresh[..] {
            [] if start < end => Some((start, end)),
            [(left, _), ..] if start < left => Some((start, left)),
            [(_, right), (next, _), ..] => Some((right, next)),
            [(_, right)] if right < end => Some((right, end)),
            _ => None,
        })
    }

    /// The SACK blocks of the next ACK, at most `most`. A D-SACK block comes first and is reported once (RFC 2883 §4). The block of the
    /// last segment and the most recently reported blocks follow (RFC 2018 §4).
    pub(super) fn take_sack_blocks(&mut self, most: usize) -> impl Iterator<Item = Range> + '_ {
        let blocks = self.recent.iter().filter_map(|&position| self.above.containing(position));
        self.dsack.take().into_iter().chain(blocks).take(most)
    }

    /// Whether the next ACK carries SACK blocks.
    pub(super) fn has_sack_blocks(&self) -> bool {
        self.dsack.is_some() || !self.above.is_empty()
    }

    /// Requests an ACK at once.
    pub(super) fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    /// Whether an ACK must be sent now.
    pub(super) fn owes_ack(&self) -> bool {
        self.ack_now
    }

    /// When a delayed ACK must be sent.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.delayed
    }

    /// Cancels a delayed ACK.
    pub(super) fn stop_timer(&mut self) {
        self.delayed = None;
    }

    /// Requests the delayed ACK if its delay is over.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.ack_now |= self.delayed.take_if(|deadline| *deadline <= now).is_some();
    }

    /// A segment with an acknowledgement is about to be sent: returns its window field and whether it echoes a mark.
    pub(super) fn acknowledge(&mut self, syn: bool) -> (u16, bool) {
        (self.ack_now, self.delayed, self.unacked, self.last_ack) = (false, None, 0, self.rcv_nxt);
        (self.window.offer(self.rcv_nxt, self.read, syn), self.ecn_echo)
    }

    /// Bytes available to the application.
    pub(super) fn readable(&self) -> u64 {
        self.fin.map_or(self.rcv_nxt, |fin| fin.min(self.rcv_nxt)).saturating_sub(self.read)
    }

    /// The application reads up to `most` bytes. Returns their range in the stream, whose first byte has position 1.
    pub(super) fn read(&mut self, now: Instant, most: u64) -> Range {
        let start = self.read;
        self.read += self.readable().min(most);
        self.window.read(now, self.read);
        if self.rcv_nxt > 0 && !self.is_finished() && self.window.needs_update(self.rcv_nxt, self.read) {
            self.ack_now = true;
        }
        (start, self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that expects position `first` and sends no quick ACKs.
    fn receiver(first: u64) -> Receiver {
        let mut receiver = Receiver::new(&Config { quick_acks: 0, ..Config::default() });
        receiver.begin();
        receiver.acknowledge(false);
        (receiver.rcv_nxt, receiver.read) = (first, first);
        receiver.acknowledge(false);
        receiver
    }

    /// Receives `[start, end)`; returns the cumulative ACK and the SACK blocks.
    fn receive(receiver: &mut Receiver, start: u64, end: u64) -> (u64, Vec<Range>) {
        let arrival = Arrival { range: (start, end), fin: false, ecn: Ecn::Incapable, cwr: false };
        receiver.receive(Instant::ZERO, &arrival);
        let blocks = receiver.take_sack_blocks(4).collect();
        receiver.acknowledge(false);
        (receiver.rcv_nxt(), blocks)
    }

    #[test]
    fn rfc_2018_section_4() {
        // Segments of 500 bytes from 5000 on. Case 2: the first is lost, the other seven arrive.
        let mut second = receiver(5000);
        for index in 1..8 {
            assert_eq!(receive(&mut second, 5000 + 500 * index, 5500 + 500 * index), (5000, vec![(5500, 5500 + 500 * index)]));
        }
        // Case 3: the second, fourth, sixth and eighth are lost.
        let mut third = receiver(5000);
        assert_eq!(receive(&mut third, 5000, 5500), (5500, vec![]));
        assert_eq!(receive(&mut third, 6000, 6500), (5500, vec![(6000, 6500)]));
        assert_eq!(receive(&mut third, 7000, 7500), (5500, vec![(7000, 7500), (6000, 6500)]));
        assert_eq!(receive(&mut third, 8000, 8500), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
        // Then the fourth and the second arrive.
        assert_eq!(receive(&mut third, 6500, 7000), (5500, vec![(6000, 7500), (8000, 8500)]));
        assert_eq!(receive(&mut third, 5500, 6000), (7500, vec![(8000, 8500)]));
    }

    #[test]
    fn rfc_2883_section_4_1() {
        // Example 1: a duplicate of acknowledged data.
        let mut first = receiver(3000);
        receive(&mut first, 3000, 3500);
        receive(&mut first, 3500, 4000);
        assert_eq!(receive(&mut first, 3000, 3500), (4000, vec![(3000, 3500)]));
        // Example 2: an out-of-order segment, and then a duplicate.
        let mut second = receiver(3000);
        receive(&mut second, 3000, 3500);
        receive(&mut second, 4000, 4500);
        assert_eq!(receive(&mut second, 3000, 3500), (3500, vec![(3000, 3500), (4000, 4500)]));
        // Example 3: a duplicate of an out-of-order segment is followed by the block that contains it.
        let mut third = receiver(3500);
        receive(&mut third, 4000, 4500);
        assert_eq!(receive(&mut third, 4500, 5000), (3500, vec![(4000, 5000)]));
        assert_eq!(receive(&mut third, 4000, 4500), (3500, vec![(4000, 4500), (4000, 5000)]));
        assert_eq!(receive(&mut third, 5000, 5500), (3500, vec![(4000, 5500)]), "the D-SACK is reported once");
    }

    #[test]
    fn rfc_2883_section_4_2() {
        // Partial duplicates: a part below the cumulative ACK; the first of two separate parts.
        let mut below = receiver(500);
        receive(&mut below, 500, 1000);
        receive(&mut below, 1500, 2000);
        assert_eq!(receive(&mut below, 500, 1500), (2000, vec![(500, 1000)]));
        let mut apart = receiver(500);
        receive(&mut apart, 1000, 1500);
        receive(&mut apart, 2000, 2500);
        assert_eq!(receive(&mut apart, 1000, 2500), (500, vec![(1000, 1500), (1000, 2500)]));
    }

    #[test]
    fn marks_are_echoed_until_the_window_is_reduced() {
        let mut receiver = receiver(1);
        let mut echo = |start, ecn, cwr| {
            receiver.receive(Instant::ZERO, &Arrival { range: (start, start + 10), fin: false, ecn, cwr });
            receiver.acknowledge(false).1
        };
        assert!(!echo(1, Ecn::Capable, false));
        assert!(echo(11, Ecn::Marked, false) && echo(21, Ecn::Capable, false));
        assert!(echo(31, Ecn::Marked, true), "reduced, and marked again");
        assert!(!echo(41, Ecn::Capable, true) && !echo(51, Ecn::Capable, false));
    }
}
