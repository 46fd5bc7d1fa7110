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

use super::ranges::{Range, RangeSet};

#[cfg(test)]
mod tests;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks")]
pub(super) struct SentSegment {
    /// First position.
    pub(super) start: u64,
    /// One past the last position.
    pub(super) end: u64,
    /// Snapshot of the connection at the segment's last transmission.
    pub(super) snapshot: Snapshot,
    /// Whether the segment was ever retransmitted.
    pub(super) retransmitted: bool,
    /// Number of the segment's last transmission.
    number: u64,
    sacked: bool,
    /// Whether the first transmission counts as lost.
    lost: bool,
    /// Whether a retransmission is outstanding.
    copied: bool,
    /// Whether the segment carried PSH by itself, and the number of its block.
    pub(super) push: (bool, u32),
}

impl SentSegment {
    /// When the segment was last sent.
    pub(super) fn sent_at(&self) -> Instant {
        self.snapshot.sent_at
    }

    /// Length in bytes; a FIN counts as one.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether a transmission of the segment may still arrive.
    pub(super) fn is_awaited(&self) -> bool {
        !self.sacked && !self.waits()
    }

    /// Whether the segment counts as lost and waits for its retransmission.
    fn waits(&self) -> bool {
        self.lost && !self.copied
    }
}

/// A transmission; outdated once its segment is retransmitted or delivered.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    number: u64,
    sent_at: Instant,
    range: Range,
}

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
    segments: VecDeque<SentSegment>,
    sacked: RangeSet,
    /// The new parts of the last block; stored to reuse the memory.
    fresh: Vec<Range>,
    /// Starts of the segments that wait for their retransmission, in ascending order.
    waiting: VecDeque<u64>,
    /// Transmissions in the order of sending.
    by_time: VecDeque<Transmission>,
    last_number: u64,
    /// All segments below this position were SACKed or marked as lost once.
    lost_below: u64,
    /// Segments marked as lost and not yet reported.
    unreported: VecDeque<SentSegment>,
}

impl Scoreboard {
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

    /// The first segment that waits for its retransmission.
    pub(super) fn next_lost(&self) -> Option<Range> {
        let start = *self.waiting.front()?;
        self.segment_at(start).map(|segment| (segment.start, segment.end))
    }

    /// The first segment from `from` on that lies below the highest SACKed one, is not SACKed, and has no outstanding retransmission (RFC
    /// 6675 §4, `NextSeg` rule 3).
    pub(super) fn next_unsacked(&self, from: u64) -> Option<Range> {
        let highest = self.sacked.highest()?;
        let candidates = self.segments.range(self.index_of(from)..).take_while(|segment| segment.end <= highest);
        let mut open = candidates.filter(|segment| segment.start >= from && !segment.sacked && !segment.copied);
        open.next().map(|segment| (segment.start, segment.end))
    }

    /// The highest segment that is not SACKed (RFC 6675 §4, `NextSeg` rule 4).
    pub(super) fn last_unsacked(&self) -> Option<Range> {
        self.segments.iter().rev().find(|segment| !segment.sacked).map(|segment| (segment.start, segment.end))
    }

    /// The number of segments from `start` on, at most `most`, that belong to one block and wait for their retransmission.
    pub(super) fn waiting_block(&self, start: u64, most: u64) -> u64 {
        let mut segments = self.segments.range(self.index_of(start)..).peekable();
        let Some(block) = segments.peek().map(|segment| segment.push.1) else { return 0 };
        segments.take(most as usize).take_while(|it| it.waits() && it.push.1 == block).count() as u64
    }

    /// Records the transmission of new data; `push` as in [`SentSegment`].
    pub(super) fn send(&mut self, (start, end): Range, snapshot: Snapshot, push: (bool, u32)) {
        let number = self.transmit(snapshot.sent_at, (start, end));
        let segment = SentSegment { start, end, snapshot, retransmitted: false, number, sacked: false, lost: false, copied: false, push };
        self.segments.push_back(segment);
        self.flight += end - start;
    }

    /// Records the retransmission of a segment or a part of it; `counts`: it counts in the pipe even if the segment is not marked as lost.
    pub(super) fn resend(&mut self, (start, end): Range, snapshot: Snapshot, counts: bool) {
        if self.segment_at(start).is_some_and(|segment| (segment.start, segment.end) != (start, end)) {
            self.split(start);
            self.split(end);
        }
        let index = self.index_of(start);
        if index == self.segments.len() {
            return;
        }
        let number = self.transmit(snapshot.sent_at, (start, end));
        let segment = &mut self.segments[index];
        if !segment.copied && (segment.lost || counts) {
            segment.copied = true;
            self.copied_bytes += segment.end - segment.start;
            self.copied_segments += 1;
        }
        segment.snapshot = snapshot;
        segment.retransmitted = true;
        segment.number = number;
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

    fn transmit(&mut self, now: Instant, range: Range) -> u64 {
        self.last_number += 1;
        self.by_time.push_back(Transmission { number: self.last_number, sent_at: now, range });
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
        self.lost_below = self.lost_below.max(ack);
        while self.by_time.front().is_some_and(|transmission| transmission.range.1 <= ack) {
            self.by_time.pop_front();
        }
        if self.segments.is_empty() {
            // Starts again at the beginning of the buffers, which is in the cache.
            self.segments.clear();
            self.by_time.clear();
        }
        count
    }

    /// Removes the segments that end at or below `ack`; returns their number.
    fn remove_below(&mut self, ack: u64, delivered: &mut Vec<SentSegment>) -> u32 {
        let mut count = 0;
        while let Some(segment) = self.segments.pop_front_below(ack) {
            count += 1;
            self.flight -= segment.len();
            self.forget(&segment);
            if !segment.sacked {
                delivered.push(segment);
            }
        }
        count
    }

    /// Processes a SACK block: appends the newly delivered segments to `delivered`, in ascending order.
    pub(super) fn sack(&mut self, block: Range, delivered: &mut Vec<SentSegment>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.sacked.insert(block, &mut fresh);
        for &(start, end) in &fresh {
            self.split(start);
            self.split(end);
            let first = self.index_of(start);
            for index in first..self.segments.len() {
                let segment = self.segments[index];
                if segment.end > end {
                    break;
                }
                self.forget(&segment);
                delivered.push(segment);
                self.sacked_bytes += segment.len();
                self.sacked_segments += 1;
                let segment = &mut self.segments[index];
                (segment.sacked, segment.lost, segment.copied) = (true, false, false);
            }
        }
        self.fresh = fresh;
    }

    /// Subtracts a segment from the sums.
    fn forget(&mut self, segment: &SentSegment) {
        let count = |condition| if condition { segment.len() } else { 0 };
        self.sacked_bytes -= count(segment.sacked);
        self.sacked_segments -= u32::from(segment.sacked);
        self.lost_bytes -= count(segment.lost);
        self.copied_bytes -= count(segment.copied);
        self.lost_segments -= u32::from(segment.lost);
        self.copied_segments -= u32::from(segment.copied);
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
        self.segments[index].end = position;
        self.segments.insert(index + 1, SentSegment { start: position, ..segment });
        self.sacked_segments += u32::from(segment.sacked);
        self.lost_segments += u32::from(segment.lost);
        self.copied_segments += u32::from(segment.copied);
        if segment.waits() {
            self.wait(position);
        }
    }

    /// The first segment that ends above `position`.
    fn index_of(&self, position: u64) -> usize {
        if self.segments.front().is_none_or(|segment| segment.end > position) {
            return 0;
        }
        self.segments.partition_point(|segment| segment.end <= position)
    }

    /// Marks the segments below `position` that are not SACKed as lost, each once (RFC 6675 §4, `IsLost`). Returns whether any was marked.
    pub(super) fn mark_lost_below(&mut self, position: u64) -> bool {
        let mut marked = false;
        let first = self.index_of(self.lost_below);
        for index in first..self.segments.len() {
            if self.segments[index].end > position {
                break;
            }
            if !self.segments[index].lost {
                marked |= self.mark(index);
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
        for index in 0..self.segments.len() {
            self.mark(index);
        }
    }

    /// Marks the last transmission of a segment as lost; returns whether the mark is new.
    fn mark(&mut self, index: usize) -> bool {
        let segment = &mut self.segments[index];
        if segment.sacked || segment.waits() {
            return false;
        }
        if segment.copied {
            segment.copied = false;
            self.copied_bytes -= segment.len();
            self.copied_segments -= 1;
        }
        if !segment.lost {
            segment.lost = true;
            self.lost_bytes += segment.len();
            self.lost_segments += 1;
        }
        let segment = *segment;
        self.wait(segment.start);
        self.unreported.push_back(segment);
        true
    }

    /// Whether a retransmission is among the segments marked as lost and not yet reported.
    pub(super) fn has_lost_again(&self) -> bool {
        self.unreported.iter().any(|segment| segment.retransmitted)
    }

    /// Whether the receiver has discarded data that it had SACKed, because it is not acknowledged (RFC 2018 §8).
    pub(super) fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.sacked)
    }

    /// Forgets what was SACKed (RFC 2018 §8).
    pub(super) fn forget_sacks(&mut self) {
        for segment in &mut self.segments {
            segment.sacked = false;
        }
        self.sacked = RangeSet::default();
        (self.sacked_bytes, self.sacked_segments, self.lost_below) = (0, 0, 0);
    }

    /// Removes and returns the next segment marked as lost and not yet reported.
    pub(super) fn next_unreported(&mut self) -> Option<SentSegment> {
        self.unreported.pop_front()
    }

    /// Removes all marks of loss. Both original and retransmission then count in the pipe.
    pub(super) fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            if segment.waits() {
                // The transmission counted as lost; now it may arrive again.
                let range = (segment.start, segment.end);
                self.by_time.push_back(Transmission { number: segment.number, sent_at: segment.sent_at(), range });
            }
            segment.lost = false;
        }
        self.by_time.make_contiguous().sort_by_key(|transmission| transmission.number);
        (self.lost_bytes, self.lost_segments) = (0, 0);
        self.waiting.clear();
    }

    /// Marks the `expired` transmissions before `newest` (time and end) as lost, in the order of sending. Returns whether any was marked,
    /// and the time of the last transmission before `newest` that may still arrive.
    pub(super) fn expire(&mut self, newest: (Instant, u64), expired: impl Fn(Instant) -> bool) -> (bool, Option<Instant>) {
        let (mut marked, mut index) = (false, 0);
        while let Some(&Transmission { sent_at, .. }) = self.by_time.get(index).filter(|it| it.sent_at <= newest.0) {
            let awaited = self.is_awaited(index);
            let before = self.is_before(index, newest);
            if awaited && before {
                if !expired(sent_at) {
                    break;
                }
                marked |= self.mark_transmission(index);
            }
            // A segment sent at the same time as the newest, but above it, stays.
            if awaited && !before {
                index += 1;
            } else {
                self.by_time.remove(index);
            }
        }
        let later = |transmission: &Transmission| transmission.sent_at > newest.0;
        let mut index = if self.by_time.front().is_none_or(later) { 0 } else { self.by_time.partition_point(|it| !later(it)) };
        while index > 0 {
            index -= 1;
            if self.is_before(index, newest) && self.is_awaited(index) {
                return (marked, Some(self.by_time[index].sent_at));
            }
        }
        (marked, None)
    }

    /// RFC 8985 §6.2, `RACK_sent_after`.
    fn is_before(&self, index: usize, newest: (Instant, u64)) -> bool {
        let transmission = &self.by_time[index];
        (transmission.sent_at, transmission.range.1) < newest
    }

    /// The segments, or pieces, that transmission `index` sent, regardless of their present state.
    fn pieces(&self, index: usize) -> std::ops::Range<usize> {
        let (start, end) = self.by_time[index].range;
        let first = self.index_of(start);
        let count = self.segments.range(first..).take_while(|segment| segment.start < end).count();
        first..first + count
    }

    /// Whether segment `piece` may still arrive by transmission `index`: it is neither delivered, nor lost, nor retransmitted since.
    fn awaits(&self, piece: usize, index: usize) -> bool {
        let segment = &self.segments[piece];
        segment.number == self.by_time[index].number && segment.is_awaited()
    }

    fn is_awaited(&self, index: usize) -> bool {
        // The usual case: the transmission is cumulatively acknowledged.
        let first = self.segments.front().map_or(u64::MAX, |segment| segment.start);
        let Transmission { number, range: (start, end), .. } = self.by_time[index];
        // A piece that awaits it usually comes first: the others need no look.
        end > first
            && self
                .segments
                .range(self.index_of(start)..)
                .take_while(|segment| segment.start < end)
                .any(|segment| segment.number == number && segment.is_awaited())
    }

    /// Marks the segments of a transmission as lost; returns whether any mark is new.
    fn mark_transmission(&mut self, index: usize) -> bool {
        let mut marked = false;
        for piece in self.pieces(index) {
            marked |= self.awaits(piece, index) && self.mark(piece);
        }
        marked
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
        let adjacent = self.segments.iter().zip(self.segments.iter().skip(1)).all(|(one, next)| one.end == next.start);
        let ends = self.segments.front().zip(self.segments.back());
        adjacent
            && self.flight == ends.map_or(0, |(first, last)| last.end - first.start)
            && waiting == self.waiting
            && self.sacked_bytes == sum(|it| it.sacked)
            && self.sacked_bytes == self.sacked.iter().map(|(start, end)| end - start).sum::<u64>()
            && self.sacked_segments as usize == self.segments.iter().filter(|it| it.sacked).count()
            && self.lost_bytes == sum(|it| it.lost)
            && self.copied_bytes == sum(|it| it.copied)
            && self.lost_segments as usize == self.segments.iter().filter(|it| it.lost).count()
            && self.copied_segments as usize == self.segments.iter().filter(|it| it.copied).count()
            && self.sacked_bytes + self.lost_bytes <= self.flight_size()
            && self.segments.iter().all(|it| !it.sacked || !it.lost && !it.copied)
    }
}

/// Removal of segments at the left edge.
trait PopBelow {
    fn pop_front_below(&mut self, ack: u64) -> Option<SentSegment>;
}

impl PopBelow for VecDeque<SentSegment> {
    fn pop_front_below(&mut self, ack: u64) -> Option<SentSegment> {
        if self.front()?.end <= ack { self.pop_front() } else { None }
    }
}
