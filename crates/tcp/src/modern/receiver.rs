//! The receiving half: reassembles the stream, and decides when to send an ACK and with which SACK blocks.
//!
//! ## References
//! RFC 9293 §3.10.7.4 (acceptability); RFC 5681 §4.2 (delayed ACKs); RFC 2018 §4 (SACK blocks); RFC 2883 §4 (D-SACK).

use std::collections::VecDeque;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::adaptive_acks::{AdaptiveAcks, Pending};
use super::config::AckRules;
use super::feedback::Echo;
use super::handshake::Agreed;
use super::peer_segment::PeerSegment;
use super::rtt::Rtt;
use super::segment::MAX_SACK_BLOCKS;
use super::settings::Config;
use super::window::ReceiveWindow;
use crate::ranges::{Range, RangeSet};

/// Number of blocks that are remembered: as many as an ACK can report.
const REMEMBERED: usize = MAX_SACK_BLOCKS;

/// Number of blocks whose changes an ACK can wait for.
const COMPRESSIBLE: usize = 2;

/// An arriving segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// First position and one past the last, including a FIN.
    pub(super) range: Range,
    /// Whether the last position is a FIN.
    pub(super) fin: bool,
    /// Whether the segment ends a write of the sender.
    pub(super) push: bool,
    /// Size of the IP packet.
    pub(super) size: u32,
    /// ECN field of the packet.
    pub(super) ecn: Ecn,
    /// Whether the segment carries CWR: the sender has reduced its window.
    pub(super) cwr: bool,
}

/// Acknowledges every second full segment, or after a delay (RFC 5681 §4.2).
#[derive(Debug)]
struct EverySecond {
    /// When a delayed ACK must be sent.
    delayed: Option<Instant>,
    /// Bytes received since the last ACK.
    unacked: u64,
    /// Largest payload so far; it counts as a full segment.
    largest: u64,
    quick_acks: u32,
    delay: Duration,
}

impl EverySecond {
    /// Data arrived in order; returns whether the ACK must be sent now.
    fn is_due(&mut self, now: Instant, bytes: u64) -> bool {
        self.unacked += bytes;
        if self.quick_acks > 0 {
            self.quick_acks -= 1;
            true
        } else if self.unacked >= 2 * self.largest {
            true
        } else {
            self.delayed.get_or_insert(now + self.delay);
            false
        }
    }
}

/// When an ACK must be sent.
#[derive(Debug)]
enum Acks {
    EverySecond(EverySecond),
    Adaptive(AdaptiveAcks),
}

impl Acks {
    fn new(config: &Config) -> Self {
        match config.acks {
            AckRules::EverySecond => {
                let (quick_acks, delay) = (config.quick_acks, config.delayed_ack);
                Self::EverySecond(EverySecond { delayed: None, unacked: 0, largest: 1, quick_acks, delay })
            }
            AckRules::Adaptive(settings) => Self::Adaptive(AdaptiveAcks::new(config, settings)),
        }
    }
}

/// The receiving half of an endpoint.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Receiver {
    /// Next expected position.
    rcv_nxt: u64,
    /// Ranges received above `rcv_nxt`.
    above: RangeSet,
    /// The new parts of the last segment; stored to reuse the memory.
    fresh: Vec<Range>,
    /// The most recently changed blocks, the latest first.
    recent: VecDeque<Range>,
    dsack: Option<Range>,
    /// Position of the FIN.
    fin: Option<u64>,
    /// Next position that the application reads.
    read: u64,
    pub(super) window: ReceiveWindow,
    /// Whether an ACK must be sent now.
    ack_now: bool,
    acks: Acks,
    peer: PeerSegment,
    /// Whether ACKs carry SACK blocks.
    sack: bool,
    pub(super) echo: Echo,
    /// Position of an ACK of its own that is due before any other (RFC 8257 §3.2).
    earlier: Option<u64>,
    /// Whether a compressed ACK has left in place of that of the present segment.
    released: bool,
    /// Whether the present segment has the first mark of a window.
    quickens: bool,
    /// Position that the last ACK acknowledged.
    last_ack: u64,
}

/// Whether two ranges overlap or are adjacent.
fn touches(one: Range, other: Range) -> bool {
    one.0 <= other.1 && other.0 <= one.1
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
            window: ReceiveWindow::new(config),
            ack_now: false,
            acks: Acks::new(config),
            peer: PeerSegment::new(u64::from(config.mss)),
            sack: true,
            echo: Echo::new(config),
            earlier: None,
            released: false,
            quickens: false,
            last_ack: 0,
        }
    }

    /// The SYN has arrived and the options are negotiated; every segment carries `options` bytes of them.
    pub(super) fn begin(&mut self, agreed: Agreed, options: u64) {
        self.rcv_nxt = 1;
        self.sack = agreed.sack;
        self.echo.agree(agreed.ecn);
        self.peer.agree(options);
        self.window.agree(agreed.scaling, options);
    }

    /// Next expected position.
    pub(super) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Size of the peer's full segments, as estimated.
    pub(super) fn segment(&self) -> u64 {
        self.peer.full()
    }

    /// Position that the last ACK acknowledged.
    pub(super) fn last_ack(&self) -> u64 {
        self.last_ack
    }

    /// Whether the FIN and all data before it have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// RFC 9293 §3.10.7.4, table 6: whether the range of a segment, or the position of an empty one, lies in the window; `fin`: the last
    /// position is a FIN.
    pub(super) fn is_acceptable(&self, (start, end): Range, fin: bool) -> bool {
        let edge = self.window.edge().max(self.rcv_nxt);
        if start == end {
            return start == self.rcv_nxt || start > self.rcv_nxt && start < edge;
        }
        if self.window.takes_whole_segments() {
            // A FIN may lie at the edge. Data beyond it is taken if nothing else waits for the application.
            let data = end - u64::from(fin);
            let fits = data <= edge || self.readable() == 0 && start < edge;
            return end > self.rcv_nxt && start <= edge && fits && (start < edge || start == data);
        }
        end > self.rcv_nxt && start < edge
    }

    /// The connection is established.
    pub(super) fn establish(&mut self, now: Instant) {
        self.window.establish(now);
    }

    /// Takes the data of a SYN, whatever the window: none has been offered yet.
    pub(super) fn receive_with_syn(&mut self, now: Instant, arrival: &Arrival) {
        let (start, end) = arrival.range;
        if start == end {
            return;
        }
        self.fin = arrival.fin.then(|| end - 1);
        self.rcv_nxt = end;
        self.store(now, arrival, start);
    }

    /// Receives data or a FIN. `rtt`: timing of the sending half.
    pub(super) fn receive(&mut self, now: Instant, arrival: &Arrival, rtt: &Rtt) {
        self.note_marks(arrival);
        let (start, end) = arrival.range;
        if start == end {
            return;
        }
        let before = self.rcv_nxt;
        let hole = !self.above.is_empty();
        if arrival.fin {
            self.fin = Some(end - 1);
        }
        // Data beyond the window is discarded (RFC 9293 §3.10.7.4).
        self.insert((start, if self.window.takes_whole_segments() { end } else { end.min(self.window.edge()) }));
        let data = end - start - u64::from(arrival.fin);
        if let Acks::EverySecond(acks) = &mut self.acks {
            acks.largest = acks.largest.max(data);
            // RFC 5681 §4.2: an ACK at once for a segment out of order or one that fills a gap. A duplicate and a FIN are acknowledged at
            // once too.
            let in_order = start == before && self.above.is_empty() && self.rcv_nxt == end && !arrival.fin;
            self.ack_now |= !in_order || acks.is_due(now, end - start);
            self.store(now, arrival, before);
        } else {
            self.acknowledge_adaptively(now, arrival, (before, hole), rtt);
        }
    }

    /// Whether the timer of a compressed ACK expires now, before a segment that arrives at the same time.
    pub(super) fn expires_compressed(&self, now: Instant) -> bool {
        matches!(&self.acks, Acks::Adaptive(acks) if acks.expires_compressed(now))
    }

    /// Whether a compressed ACK leaves before the segment counts, and takes its place: the segment belongs to none of the two latest blocks, and
    /// no ACK shall report many blocks. The ACK reports a block that the segment extends with it, at its old place.
    pub(super) fn releases_compressed(&mut self, (start, end): Range) -> bool {
        let Acks::Adaptive(acks) = &self.acks else { return false };
        if start <= self.rcv_nxt || start == end || !acks.is_compressing() {
            return false;
        }
        let extended = self.recent.iter().position(|&block| touches(block, (start, end)));
        self.released = extended.unwrap_or(self.recent.len()) >= COMPRESSIBLE;
        if self.released {
            // The ACK reports the segment if it is a duplicate, but no earlier one.
            self.dsack = self.above.covers((start, end)).then_some((start, end));
        }
        if let Some(block) = extended.filter(|_| self.released).and_then(|place| self.recent.get_mut(place)) {
            *block = (block.0.min(start), block.1.max(end));
        }
        self.released
    }

    /// Accounts for the memory of a segment that arrived when `before` was expected; returns whether the window grows.
    fn store(&mut self, now: Instant, arrival: &Arrival, before: u64) -> bool {
        let ((start, end), size, segment) = (arrival.range, u64::from(arrival.size), self.peer.full());
        if end > before && start <= before {
            let data = end - before - u64::from(arrival.fin);
            let grows = self.window.append(now, (end, self.rcv_nxt), (data, size), segment);
            if self.rcv_nxt > end {
                self.window.release(end, self.rcv_nxt);
            }
            grows
        } else {
            let fresh = self.fresh.iter().map(|(start, end)| end - start).sum();
            let span = self.above.highest().unwrap_or(before).saturating_sub(before);
            start > before && fresh > 0 && self.window.keep((start, end), (fresh, size), segment, span)
        }
    }

    /// Decides on the ACK of a segment that arrived when `before` was expected; `hole`: there was a hole already.
    fn acknowledge_adaptively(&mut self, now: Instant, arrival: &Arrival, (before, hole): (u64, bool), rtt: &Rtt) {
        let (start, end) = arrival.range;
        let data = end - start - u64::from(arrival.fin);
        let known = self.peer.full();
        let size = (end > before && data > 0).then(|| self.peer.note(data, arrival.push, arrival.fin));
        if size.is_some() && data > known {
            self.window.suit_ratio(data, u64::from(arrival.size));
        }
        let segment = self.peer.full();
        // The peer learns at once that the buffer is full.
        self.ack_now |= self.window.is_overfull();
        let grows = self.store(now, arrival, before);
        let waiting = self.rcv_nxt - self.last_ack > segment;
        let (holds, scarce) = if waiting { self.window.outlook(segment) } else { (false, false) };
        let finished = arrival.fin && end > before && self.is_finished();
        if finished {
            // Nothing about earlier data matters any more.
            self.dsack = None;
        }
        let pending = Pending {
            more_than_a_segment: waiting && holds,
            filled: hole && self.above.is_empty() && end > before,
            hole: !self.above.is_empty(),
            sack: self.sack,
            rcv_nxt: self.rcv_nxt,
            rtt_eighths: self.window.rtt_eighths(),
        };
        let released = std::mem::take(&mut self.released);
        let Acks::Adaptive(acks) = &mut self.acks else { return };
        if !released {
            acks.note_time(now);
            // What lies below the last ACK gets one of its own, which is no quick ACK.
            if end >= self.last_ack {
                acks.schedule();
            }
        }
        if end <= before {
            acks.note_duplicate(self.window.half(before, segment));
        }
        if let Some(size) = size {
            acks.note_size(size);
            if start <= before {
                acks.note_data(rtt, || self.window.half(before, segment));
            }
        }
        if std::mem::take(&mut self.quickens) {
            acks.note_mark();
        }
        if grows {
            acks.note_growth();
        }
        if finished {
            acks.note_fin();
        }
        if scarce {
            acks.note_shortage();
        }
        self.ack_now |= acks.is_due(now, rtt, &pending);
    }

    /// A segment with `data` bytes echoes the timestamp `echo` of this end, sent as long ago as `rtt` returns. `expected`: it is an ACK without
    /// news about the window.
    pub(super) fn measure(&mut self, echo: u32, (data, expected): (u64, bool), rtt: impl FnOnce() -> Option<Duration>) {
        let full = data >= self.peer.full();
        if self.window.takes(echo, expected)
            && let Some(rtt) = rtt()
        {
            self.window.measure(echo, rtt, full);
        }
    }

    /// Counts the mark of a segment, and requests the ACKs that it needs.
    fn note_marks(&mut self, arrival: &Arrival) {
        let (start, end) = arrival.range;
        let reaction = self.echo.note(arrival.ecn, end - start - u64::from(arrival.fin), arrival.cwr);
        if reaction.earlier_apart && self.rcv_nxt > self.last_ack {
            self.earlier = Some(self.rcv_nxt);
        }
        self.ack_now |= reaction.at_once;
        if self.is_adaptive() {
            self.quickens |= reaction.quicken;
            self.ack_now |= reaction.reduced;
        }
    }

    /// The position of an ACK of its own, with the echo before the last change, that is due before any other.
    pub(super) fn take_earlier(&mut self) -> Option<u64> {
        self.earlier.take()
    }

    fn insert(&mut self, (start, end): Range) {
        if start == self.rcv_nxt && start < end && self.above.is_empty() {
            // The usual case: in order, with no range above.
            self.rcv_nxt = end;
            if self.is_adaptive() {
                self.dsack = None;
            }
            return;
        }
        let known = start.max(self.rcv_nxt);
        self.above.insert((known, end), &mut self.fresh);
        let duplicate = self.duplicate((start, end));
        if !self.is_adaptive() {
            self.dsack = duplicate.or(self.dsack);
        } else if !(self.released && self.fresh.is_empty()) {
            // A D-SACK that waits for a compressed ACK gives way to the next segment. An ACK that has taken the place of the segment's own has
            // reported a whole duplicate.
            self.dsack = duplicate;
        }
        while let Some(end) = self.above.take_first_at(self.rcv_nxt) {
            self.rcv_nxt = self.rcv_nxt.max(end);
        }
        self.report((known, end));
    }

    /// RFC 2018 §4: a segment above the next expected position extends a reported block, which becomes the first one, or begins one. A block
    /// that is forgotten does not come back: later data next to it begins a block of its own.
    fn report(&mut self, (start, end): Range) {
        let rcv_nxt = self.rcv_nxt;
        self.recent.retain(|block| block.0 > rcv_nxt);
        if start <= rcv_nxt || start >= end {
            return;
        }
        let mut block = (start, end);
        while let Some(place) = self.recent.iter().position(|other| touches(block, *other)) {
            let other = self.recent.remove(place).unwrap_or(block);
            block = (block.0.min(other.0), block.1.max(other.1));
        }
        self.recent.push_front(block);
        self.recent.truncate(REMEMBERED);
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
        self.dsack.take().into_iter().chain(self.recent.iter().copied()).take(most)
    }

    /// Whether the next ACK carries SACK blocks.
    pub(super) fn has_sack_blocks(&self) -> bool {
        self.dsack.is_some() || !self.above.is_empty()
    }

    /// Requests an ACK at once.
    pub(super) fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    /// Whether ACKs follow the adaptive rules.
    pub(super) fn is_adaptive(&self) -> bool {
        matches!(self.acks, Acks::Adaptive(_))
    }

    /// Whether an ACK must be sent now.
    pub(super) fn owes_ack(&self) -> bool {
        self.ack_now
    }

    /// When an ACK that waits must be sent.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match &self.acks {
            Acks::EverySecond(acks) => acks.delayed,
            Acks::Adaptive(acks) => acks.poll_timeout(),
        }
    }

    /// Cancels an ACK that waits.
    pub(super) fn stop_timer(&mut self) {
        match &mut self.acks {
            Acks::EverySecond(acks) => acks.delayed = None,
            Acks::Adaptive(acks) => acks.stop(),
        }
    }

    /// Requests the ACK that waits, if its delay is over.
    pub(super) fn handle_timeout(&mut self, now: Instant, rtt: &Rtt) {
        self.ack_now |= match &mut self.acks {
            Acks::EverySecond(acks) => acks.delayed.take_if(|deadline| *deadline <= now).is_some(),
            Acks::Adaptive(acks) => acks.handle_timeout(now, rtt),
        };
    }

    /// This end sends data, which carries an acknowledgement.
    pub(super) fn note_data_sent(&mut self, now: Instant) {
        if let Acks::Adaptive(acks) = &mut self.acks {
            acks.note_data_sent(now);
        }
    }

    /// A segment with an acknowledgement is about to be sent: returns its window field.
    pub(super) fn acknowledge(&mut self, syn: bool) -> u16 {
        (self.ack_now, self.last_ack) = (false, self.rcv_nxt);
        let (window, scarce) = self.window.offer(self.rcv_nxt, self.read, self.peer.full(), syn);
        match &mut self.acks {
            Acks::EverySecond(acks) => (acks.delayed, acks.unacked) = (None, 0),
            Acks::Adaptive(acks) => acks.note_sent(scarce),
        }
        window
    }

    /// Bytes available to the application.
    pub(super) fn readable(&self) -> u64 {
        self.fin.map_or(self.rcv_nxt, |fin| fin.min(self.rcv_nxt)).saturating_sub(self.read)
    }

    /// The application reads up to `most` bytes. Returns their range in the stream, whose first byte has position 1.
    pub(super) fn read(&mut self, now: Instant, most: u64) -> Range {
        let start = self.read;
        self.read += self.readable().min(most);
        self.window.read(now, (start, self.read), (self.rcv_nxt, self.above.highest().unwrap_or(0)));
        self.ack_now = self.ack_now || self.rcv_nxt > 0 && self.is_ack_due_after_read(start < self.read);
        (start, self.read)
    }

    /// Whether an ACK must be sent after the application has asked for data; `some`: it has read some.
    fn is_ack_due_after_read(&self, some: bool) -> bool {
        let segment = self.peer.full();
        let opened = || !self.is_finished() && self.window.needs_update(self.rcv_nxt, self.read, segment);
        match &self.acks {
            Acks::EverySecond(_) => opened(),
            Acks::Adaptive(acks) => {
                let all = self.readable() == 0 && self.above.is_empty();
                some && (acks.is_due_after_read(self.rcv_nxt - self.last_ack > segment, all) || opened())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Feedback;
    use super::super::segment::Flags;
    use super::super::ticks::Ticks;
    use super::*;

    /// A receiver that expects position `first` and sends no quick ACKs.
    fn receiver(first: u64) -> Receiver {
        let mut receiver = Receiver::new(&Config { quick_acks: 0, ..Config::default() });
        receiver.rcv_nxt = 1;
        receiver.acknowledge(false);
        (receiver.rcv_nxt, receiver.read) = (first, first);
        receiver.acknowledge(false);
        receiver
    }

    fn arrival(range: Range, ecn: Ecn, cwr: bool) -> Arrival {
        Arrival { range, fin: false, push: false, size: 52 + (range.1 - range.0) as u32, ecn, cwr }
    }

    fn rtt() -> Rtt {
        Rtt::new(Config::default().rto, Ticks::default())
    }

    /// Receives `[start, end)`; returns the cumulative ACK and the SACK blocks.
    fn receive(receiver: &mut Receiver, start: u64, end: u64) -> (u64, Vec<Range>) {
        receiver.receive(Instant::ZERO, &arrival((start, end), Ecn::NotEct, false), &rtt());
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
        receiver.echo.agree(Some(Feedback::Classic));
        let mut echo = |start, ecn, cwr| {
            receiver.receive(Instant::ZERO, &arrival((start, start + 10), ecn, cwr), &rtt());
            receiver.acknowledge(false);
            receiver.echo.flags(true) == Flags::ECE
        };
        assert!(!echo(1, Ecn::Ect0, false));
        assert!(echo(11, Ecn::Ce, false) && echo(21, Ecn::Ect0, false));
        assert!(echo(31, Ecn::Ce, true), "reduced, and marked again");
        assert!(!echo(41, Ecn::Ect0, true) && !echo(51, Ecn::Ect0, false));
    }
}
