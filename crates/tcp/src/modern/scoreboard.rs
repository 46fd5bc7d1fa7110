//! The sender's scoreboard: all segments above the cumulative ACK, with their state.
//!
//! Five sums are updated at every change, so that `pipe` needs no scan. A second list has the segments in the order of their last
//! transmission, for RACK; a third has the segments to retransmit, in stream order.
//!
//! ## References
//! RFC 2018 §5; RFC 6675 §3 and §4 (scoreboard, pipe, `IsLost`); RFC 8985 §5 (state per segment).

use std::collections::VecDeque;

use ackclock_core::events::Snapshot;
use ackclock_core::units::Instant;

pub(super) use self::segment::SentSegment;
use self::segment::{Tag, Transmission};
use super::segment::MAX_SACK_BLOCKS;
use crate::ranges::{Range, RangeSet};

mod order;
mod packets;
mod segment;
#[cfg(test)]
mod tests;

/// The scoreboard.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    flight: u64,
    sacked_bytes: u64,
    lost_bytes: u64,
    copied_bytes: u64,
    sacked_segments: u32,
    lost_segments: u32,
    copied_segments: u32,
    /// Segments that duplicate ACKs count as SACKed.
    duplicates: u32,
    /// Segments that lie in one packet with the one before; always zero unless blocks leave as packets.
    joined: u32,
    counts_packets: bool,
    /// The SACKed packet that another one has joined last.
    grown: Range,
    /// The SACK blocks of the last ACK that had some.
    heard: [Range; MAX_SACK_BLOCKS],
    /// Whether a retransmission stays in the pipe although its segment no longer counts as lost.
    keeps_copies: bool,
    segments: VecDeque<SentSegment>,
    sacked: RangeSet,
    /// The new parts of the last block; stored to reuse the memory.
    fresh: Vec<Range>,
    /// Starts of the segments that wait for their retransmission, in ascending order.
    waiting: VecDeque<u64>,
    /// Transmissions in the order of sending.
    by_time: VecDeque<Transmission>,
    /// Times, in ascending order, at which a transmission left after one of data above it.
    disordered: Vec<Instant>,
    /// Transmissions that a timeout has marked as lost. They leave the order of sending, because each search would pass them.
    set_aside: Vec<Transmission>,
    /// Number of the last transmission. Those that are outstanding together differ, although numbers wrap.
    last_number: u32,
    /// All segments below this position were SACKed or marked as lost once.
    lost_below: u64,
    /// Segments marked as lost and not yet reported, as they were before.
    unreported: VecDeque<SentSegment>,
    /// Segments as they were before a retransmission although they did not count as lost (RFC 6675 §4, `NextSeg` rules 3 and 4; a probe).
    originals: Vec<SentSegment>,
}

impl Scoreboard {
    /// An empty scoreboard. `counts_packets`: blocks leave as packets; `keeps_copies`: a retransmission stays in the
    /// pipe although its segment no longer counts as lost.
    pub(super) fn new(counts_packets: bool, keeps_copies: bool) -> Self {
        Self { counts_packets, keeps_copies, ..Self::default() }
    }

    /// Estimated bytes in the network (RFC 6675 §4, `SetPipe`): neither SACKed nor lost, plus retransmissions.
    pub(super) fn pipe(&self) -> u64 {
        self.flight - self.sacked_bytes - self.lost_bytes + self.copied_bytes
    }

    /// Estimated segments in the network.
    pub(super) fn pipe_segments(&self) -> u32 {
        (self.segments.len() as u32 - self.sacked_segments - self.lost_segments + self.copied_segments).saturating_sub(self.duplicates)
    }

    /// Sets the number of segments that duplicate ACKs count as SACKed.
    pub(super) fn set_duplicates(&mut self, duplicates: u32) {
        self.duplicates = duplicates;
    }

    /// Segments that duplicate ACKs count as SACKed.
    pub(super) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// The most segments that duplicate ACKs can count as SACKed: the first segment is missing, and so are the lost ones.
    pub(super) fn most_duplicates(&self) -> u32 {
        (self.segments.len() as u32).saturating_sub(self.lost_segments.max(1))
    }

    /// Segments marked as lost, whether or not they were sent again.
    pub(super) fn lost_segments(&self) -> u32 {
        self.lost_segments
    }

    /// Outstanding retransmissions.
    pub(super) fn copied_segments(&self) -> u32 {
        self.copied_segments
    }

    /// Bytes sent and not cumulatively acknowledged (RFC 5681 §2).
    pub(super) fn flight_size(&self) -> u64 {
        self.flight
    }

    /// Outstanding segments; a FIN that travels alone is one.
    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Bytes of the flight that are not SACKed.
    pub(super) fn unsacked(&self) -> u64 {
        self.flight - self.sacked_bytes
    }

    /// SACKed bytes above the cumulative ACK.
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// SACKed segments above the cumulative ACK.
    pub(super) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// The end of the highest SACKed range.
    pub(super) fn high_sacked(&self) -> Option<u64> {
        self.sacked.highest()
    }

    /// The last segment sent.
    pub(super) fn last(&self) -> Option<&SentSegment> {
        self.segments.back()
    }

    /// The segment that contains `position`.
    pub(super) fn segment_at(&self, position: u64) -> Option<&SentSegment> {
        self.segments.get(self.index_of(position))
    }

    /// When the first outstanding segment was last sent.
    pub(super) fn first_sent_at(&self) -> Option<Instant> {
        self.segments.front().map(SentSegment::sent_at)
    }

    /// The first segment that waits for its retransmission, if it may leave.
    pub(super) fn next_lost(&self) -> Option<Range> {
        let held = self.keeps_copies && self.copied_segments >= self.lost_segments;
        if held { None } else { self.first_waiting() }
    }

    /// The first segment that waits for its retransmission.
    pub(super) fn first_waiting(&self) -> Option<Range> {
        let start = *self.waiting.front()?;
        self.segment_at(start).map(SentSegment::range)
    }

    /// The first segment from `from` on that lies below the highest SACKed one, is not SACKed, and has no outstanding retransmission (RFC
    /// 6675 §4, `NextSeg` rule 3).
    pub(super) fn next_unsacked(&self, from: u64) -> Option<Range> {
        let highest = self.sacked.highest()?;
        let candidates = self.segments.range(self.index_of(from)..).take_while(|segment| segment.end() <= highest);
        let mut open = candidates.filter(|segment| segment.start >= from && !segment.tag.has(Tag::SACKED | Tag::COPIED));
        open.next().map(SentSegment::range)
    }

    /// The highest segment that is not SACKed (RFC 6675 §4, `NextSeg` rule 4).
    pub(super) fn last_unsacked(&self) -> Option<Range> {
        self.segments.iter().rev().find(|segment| !segment.is_sacked()).map(SentSegment::range)
    }

    /// The last segment that ends at or below `position`, was sent once, and is neither SACKed nor lost.
    pub(super) fn last_sent_once(&self, position: u64) -> Option<Range> {
        let mut candidates = self.segments.range(..self.index_of(position)).rev();
        candidates.find(|segment| !segment.tag.has(Tag::RETRANSMITTED | Tag::SACKED | Tag::LOST)).map(SentSegment::range)
    }

    /// Records the transmission of new data; `push`: whether the segment carries PSH by itself, and the number of its block.
    pub(super) fn send(&mut self, (start, end): Range, snapshot: Snapshot, push: (bool, u32)) {
        let number = self.transmit(snapshot.sent_at, (start, end));
        let segment = self.pack(SentSegment::new((start, end), push).sent(number, &snapshot));
        self.joined += u32::from(segment.is_joined());
        self.segments.push_back(segment);
        self.flight += end - start;
    }

    /// Records the retransmission of a segment or a part of it; `counts`: it counts in the pipe even if the segment is not marked as lost.
    pub(super) fn resend(&mut self, (start, end): Range, snapshot: Snapshot, counts: bool) {
        if self.segment_at(start).is_some_and(|segment| segment.range() != (start, end)) {
            self.split(start);
            self.split(end);
            self.cut(start, 1);
        }
        let index = self.index_of(start);
        if index == self.segments.len() {
            return;
        }
        let number = self.transmit(snapshot.sent_at, (start, end));
        let segment = &mut self.segments[index];
        if !segment.is_copied() && !segment.is_lost() {
            self.originals.push(*segment);
        }
        if !segment.is_copied() && (segment.is_lost() || counts) {
            segment.tag.set(Tag::COPIED, true);
            self.copied_bytes += segment.len();
            self.copied_segments += 1;
        }
        let segment = &mut self.segments[index];
        *segment = segment.sent(number, &snapshot);
        segment.tag.set(Tag::RETRANSMITTED, true);
        self.stop_waiting(start);
    }

    /// Adds the segment at `start` to those that wait for their retransmission.
    fn wait(&mut self, start: u64) {
        if self.waiting.back().is_none_or(|&last| last < start) {
            self.waiting.push_back(start);
        } else if let Err(index) = self.waiting.binary_search(&start) {
            self.waiting.insert(index, start);
        }
    }

    /// Removes the segment at `start` from those that wait.
    fn stop_waiting(&mut self, start: u64) {
        if self.waiting.front() == Some(&start) {
            self.waiting.pop_front();
        } else if let Ok(index) = self.waiting.binary_search(&start) {
            self.waiting.remove(index);
        }
    }

    fn transmit(&mut self, now: Instant, (start, end): Range) -> u32 {
        self.last_number = self.last_number.wrapping_add(1);
        if self.by_time.back().is_some_and(|last| last.sent_at == now && last.end() > end) && self.disordered.last() != Some(&now) {
            self.disordered.push(now);
        }
        self.by_time.push_back(Transmission { sent_at: now, start, length: (end - start) as u32, number: self.last_number });
        self.last_number
    }

    /// Processes a cumulative ACK: appends the newly delivered segments to `delivered`, in ascending order. Returns the number of segments
    /// that the ACK covers.
    pub(super) fn acknowledge(&mut self, ack: u64, delivered: &mut Vec<SentSegment>) -> u32 {
        let mut count = self.remove_below(ack, delivered);
        // The first segment may be covered in part.
        if self.segments.front().is_some_and(|segment| segment.start < ack) {
            self.split(ack);
            count += self.remove_below(ack, delivered);
        }
        self.sacked.remove_below(ack);
        if !self.originals.is_empty() {
            self.originals.retain(|original| original.end() > ack);
        }
        self.lost_below = self.lost_below.max(ack);
        while self.by_time.front().is_some_and(|transmission| transmission.end() <= ack) {
            self.by_time.pop_front();
        }
        if self.segments.is_empty() {
            // Starts again at the beginning of the buffers, which is in the cache.
            self.segments.clear();
            self.by_time.clear();
            self.set_aside.clear();
            self.disordered.clear();
        }
        count
    }

    /// Removes the segments that end at or below `ack`; returns their number.
    fn remove_below(&mut self, ack: u64, delivered: &mut Vec<SentSegment>) -> u32 {
        let mut count = 0;
        while let Some(&segment) = self.segments.front()
            && segment.end() <= ack
        {
            count += 1;
            self.flight -= segment.len();
            self.forget(&segment);
            if !segment.is_sacked() {
                delivered.push(segment);
            }
            self.segments.pop_front();
            self.join(0, false);
        }
        count
    }

    /// Processes a SACK block: appends the newly delivered segments to `delivered`, in ascending order. Returns one past the last segment
    /// whose packet it determines.
    pub(super) fn sack(&mut self, block: Range, delivered: &mut Vec<SentSegment>) -> u64 {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.sacked.insert(block, &mut fresh);
        for &(start, end) in &fresh {
            self.split(start);
            self.split(end);
        }
        let reached = self.pack_block(block);
        for &(start, end) in &fresh {
            for index in self.index_of(start)..self.index_of(end) {
                let segment = self.segments[index];
                self.forget(&segment);
                delivered.push(segment);
                self.sacked_bytes += segment.len();
                self.sacked_segments += 1;
                let kept = self.keeps_copies && segment.is_copied() && !segment.is_lost();
                self.copied_bytes += if kept { segment.len() } else { 0 };
                self.copied_segments += u32::from(kept);
                let tag = &mut self.segments[index].tag;
                tag.set(Tag::LOST, false);
                tag.set(Tag::COPIED, kept);
                tag.set(Tag::SACKED, true);
            }
        }
        self.fresh = fresh;
        reached
    }

    /// The number of segments in a block that were retransmitted.
    pub(super) fn retransmitted(&self, (start, end): Range) -> u32 {
        let segments = self.segments.range(self.index_of(start)..).take_while(|segment| segment.start < end);
        segments.filter(|segment| segment.is_retransmitted()).count() as u32
    }

    /// The start of the first SACKed and retransmitted segment in a block.
    pub(super) fn late(&self, (start, end): Range) -> Option<u64> {
        let mut segments = self.segments.range(self.index_of(start)..).take_while(|segment| segment.start < end);
        segments.find(|segment| segment.is_sacked() && segment.is_retransmitted()).map(|segment| segment.start)
    }

    /// A D-SACK reports the retransmissions of a block: they are no longer in flight.
    pub(super) fn forget_copies(&mut self, (start, end): Range) {
        for index in self.index_of(start)..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.start >= end {
                break;
            }
            if segment.is_copied() && !segment.is_lost() {
                segment.tag.set(Tag::COPIED, false);
                self.copied_bytes -= segment.len();
                self.copied_segments -= 1;
            }
        }
    }

    /// Whether a retransmission is outstanding, or the first segment was ever retransmitted.
    pub(super) fn has_retransmitted(&self) -> bool {
        self.copied_segments > 0 || self.segments.front().is_some_and(SentSegment::is_retransmitted)
    }

    /// The part of a block of SACKed data that consists of whole segments; empty if there is none.
    pub(super) fn whole_segments(&self, (start, end): Range) -> Range {
        let inside = |position: u64| self.segment_at(position).filter(|segment| segment.start < position);
        let first = inside(start).map_or(start, SentSegment::end);
        let last = inside(end).map_or(end, |segment| segment.start);
        (first, last.max(first))
    }

    /// Subtracts a segment from the sums.
    fn forget(&mut self, segment: &SentSegment) {
        let tag = segment.tag;
        if !tag.has(Tag::SACKED | Tag::LOST | Tag::COPIED) {
            // The usual case.
            return;
        }
        let count = |mark| if tag.has(mark) { segment.len() } else { 0 };
        self.sacked_bytes -= count(Tag::SACKED);
        self.sacked_segments -= u32::from(segment.is_sacked());
        self.lost_bytes -= count(Tag::LOST);
        self.copied_bytes -= count(Tag::COPIED);
        self.lost_segments -= u32::from(segment.is_lost());
        self.copied_segments -= u32::from(segment.is_copied());
        if segment.waits() {
            self.stop_waiting(segment.start);
        }
    }

    /// Splits the segment that contains `position`, so that one begins there.
    fn split(&mut self, position: u64) {
        let index = self.index_of(position);
        let Some(&segment) = self.segments.get(index) else { return };
        if position <= segment.start {
            return;
        }
        self.segments[index].length = (position - segment.start) as u32;
        self.segments.insert(index + 1, segment.part((position, segment.end())));
        self.join(index + 1, self.counts_packets);
        self.sacked_segments += u32::from(segment.is_sacked());
        self.lost_segments += u32::from(segment.is_lost());
        self.copied_segments += u32::from(segment.is_copied());
        if segment.waits() {
            self.wait(position);
        }
    }

    /// The first segment that ends above `position`.
    #[inline]
    fn index_of(&self, position: u64) -> usize {
        let Some(first) = self.segments.front().filter(|segment| segment.end() <= position) else { return 0 };
        // Usually all segments have the same length.
        let guess = ((position - first.start) / first.len().max(1)) as usize;
        if self.segments.get(guess).is_some_and(|segment| segment.start <= position && position < segment.end()) {
            return guess;
        }
        self.segments.partition_point(|segment| segment.end() <= position)
    }

    /// Marks the segments below `position` that are not SACKed as lost, each once (RFC 6675 §4, `IsLost`). Returns whether any was marked.
    pub(super) fn mark_lost_below(&mut self, position: u64) -> bool {
        let mut marked = false;
        let first = self.index_of(self.lost_below);
        for index in first..self.segments.len() {
            if self.segments[index].end() > position {
                break;
            }
            let segment = self.segments[index];
            if !segment.is_lost() {
                marked |= if segment.is_copied() { self.mark_original(index) } else { self.mark(index) };
            }
        }
        self.lost_below = self.lost_below.max(position);
        marked
    }

    /// Marks the last transmission of the first unacknowledged segment as lost; returns whether the mark is new.
    pub(super) fn mark_first_lost(&mut self) -> bool {
        !self.segments.is_empty() && self.mark(0)
    }

    /// Marks the last transmission of the segment at `position` as lost; returns whether the mark is new.
    pub(super) fn mark_lost_at(&mut self, position: u64) -> bool {
        let index = self.index_of(position);
        index < self.segments.len() && self.mark(index)
    }

    /// Marks all segments that are not SACKed as lost, including retransmissions.
    pub(super) fn mark_all_lost(&mut self) {
        self.duplicates = 0;
        self.mark_expired(|_| true);
    }

    /// Marks the last transmissions as lost whose time has `expired`.
    pub(super) fn mark_expired(&mut self, expired: impl Fn(Instant) -> bool) {
        for index in 0..self.segments.len() {
            if expired(self.segments[index].sent_at()) {
                self.mark(index);
            }
        }
    }

    /// Marks the last transmission of a segment as lost; returns whether the mark is new.
    fn mark(&mut self, index: usize) -> bool {
        let keeps = self.keeps_copies;
        let segment = &mut self.segments[index];
        let before = *segment;
        if !segment.is_awaited() {
            return false;
        }
        if segment.is_copied() && (segment.is_lost() || !keeps) {
            segment.tag.set(Tag::COPIED, false);
            self.copied_bytes -= segment.len();
            self.copied_segments -= 1;
        }
        if !segment.is_lost() {
            segment.tag.set(Tag::LOST, true);
            self.lost_bytes += segment.len();
            self.lost_segments += 1;
        }
        if segment.waits() {
            self.wait(before.start);
        }
        self.unreported.push_back(before);
        true
    }

    /// Marks the first transmission of a segment as lost, whose retransmission stays outstanding.
    fn mark_original(&mut self, index: usize) -> bool {
        let segment = &mut self.segments[index];
        segment.tag.set(Tag::LOST, true);
        self.lost_bytes += segment.len();
        self.lost_segments += 1;
        let range = segment.range();
        let original = self.originals.iter().find(|original| original.start <= range.0 && range.0 < original.end());
        self.unreported.extend(original.map(|original| original.part(range)));
        true
    }

    /// Whether a retransmission is among the segments marked as lost and not yet reported.
    pub(super) fn has_lost_again(&self) -> bool {
        self.unreported.iter().any(|segment| if self.keeps_copies { segment.is_lost() } else { segment.is_retransmitted() })
    }

    /// Whether the receiver has discarded data that it had SACKed, because it is not acknowledged (RFC 2018 §8).
    pub(super) fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(SentSegment::is_sacked)
    }

    /// Forgets what was SACKed (RFC 2018 §8).
    pub(super) fn forget_sacks(&mut self) {
        for segment in &mut self.segments {
            segment.tag.set(Tag::SACKED, false);
        }
        self.sacked = RangeSet::default();
        (self.sacked_bytes, self.sacked_segments, self.lost_below) = (0, 0, 0);
        (self.grown, self.heard) = ((0, 0), [(0, 0); MAX_SACK_BLOCKS]);
    }

    /// Removes and returns the next segment marked as lost and not yet reported.
    pub(super) fn next_unreported(&mut self) -> Option<SentSegment> {
        self.unreported.pop_front()
    }

    /// RFC 6675 §4: the position below which a segment counts as lost unless it is SACKed. Above it lie `dup_thresh` separate SACKed
    /// ranges, or more than `dup_thresh` − 1 SACKed segments of `smss` bytes.
    pub(super) fn loss_edge(&self, dup_thresh: u32, smss: u64) -> Option<u64> {
        let mut bytes = 0;
        for (count, (start, end)) in (1..).zip(self.sacked.iter().rev()) {
            bytes += end - start;
            if count >= dup_thresh || bytes > u64::from(dup_thresh - 1) * smss {
                return Some(start);
            }
        }
        None
    }

    /// Whether the sums agree with the segments.
    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        let sum = |pick: fn(&SentSegment) -> bool| self.segments.iter().filter(|it| pick(it)).map(SentSegment::len).sum::<u64>();
        let waiting: VecDeque<u64> = self.segments.iter().filter(|it| it.waits()).map(|it| it.start).collect();
        let adjacent = self.segments.iter().zip(self.segments.iter().skip(1)).all(|(one, next)| one.end() == next.start);
        let ends = self.segments.front().zip(self.segments.back());
        adjacent
            && self.flight == ends.map_or(0, |(first, last)| last.end() - first.start)
            && waiting == self.waiting
            && self.sacked_bytes == sum(SentSegment::is_sacked)
            && self.sacked_bytes == self.sacked.iter().map(|(start, end)| end - start).sum::<u64>()
            && self.sacked_segments as usize == self.segments.iter().filter(|it| it.is_sacked()).count()
            && self.lost_bytes == sum(SentSegment::is_lost)
            && self.copied_bytes == sum(SentSegment::is_copied)
            && self.lost_segments as usize == self.segments.iter().filter(|it| it.is_lost()).count()
            && self.copied_segments as usize == self.segments.iter().filter(|it| it.is_copied()).count()
            && self.joined as usize == self.segments.iter().filter(|it| it.is_joined()).count()
            && self.segments.front().is_none_or(|first| !first.is_joined())
            && self.sacked_bytes + self.lost_bytes <= self.flight_size()
            && self.segments.iter().all(|it| !it.is_sacked() || !it.is_lost() && (self.keeps_copies || !it.is_copied()))
    }
}
