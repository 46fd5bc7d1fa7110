//! The transmissions in the order of sending, in which RACK looks for losses.
//!
//! ## References
//! RFC 8985 §6.2.

use ackclock_core::units::Instant;

use super::Scoreboard;
use super::segment::{SentSegment, Tag, Transmission};

impl Scoreboard {
    /// Removes all marks of loss. Both original and retransmission then count in the pipe. `again`: the search in the order of sending finds
    /// all segments again, also those that it has marked.
    pub(in super::super) fn unmark_lost(&mut self, again: bool) {
        for transmission in std::mem::take(&mut self.set_aside) {
            if self.waits(&transmission) {
                self.by_time.push_back(transmission);
            }
        }
        for segment in &mut self.segments {
            if again && segment.waits() {
                // The transmission counted as lost; now it may arrive again.
                let &mut SentSegment { sent_at, start, length, number, .. } = segment;
                self.by_time.push_back(Transmission { sent_at, start, length, number });
            }
            segment.tag.set(Tag::LOST, false);
        }
        let after = self.last_number.wrapping_add(1);
        self.by_time.make_contiguous().sort_by_key(|transmission| transmission.number.wrapping_sub(after));
        (self.lost_bytes, self.lost_segments) = (0, 0);
        self.waiting.clear();
    }

    /// Marks the `expired` transmissions before `newest` (time and end) as lost, in the order of sending. Returns whether any was marked,
    /// and the time of the last transmission before `newest` that may still arrive. `in_order`: those sent after one that is not before
    /// `newest` do not count either.
    pub(in super::super) fn expire(
        &mut self,
        newest: (Instant, u64),
        in_order: bool,
        expired: impl Fn(Instant) -> bool,
    ) -> (bool, Option<Instant>) {
        let (mut marked, mut index) = (false, 0);
        let end = self.end_of_search(newest);
        while self.by_time.get(index).is_some_and(|it| it.is_before(end)) {
            if !self.is_before(index, newest) {
                if in_order && self.is_awaited(index) {
                    break;
                }
                // Sent at the same time as the newest, but above it: stays.
                index += 1;
                continue;
            }
            if self.is_awaited(index) {
                if !expired(self.by_time[index].sent_at) {
                    break;
                }
                marked |= self.mark_transmission(index);
            } else if in_order && self.waits(&self.by_time[index]) {
                // A timeout has marked it. If that is undone, it counts again.
                self.set_aside(self.by_time[index]);
            }
            self.by_time.remove(index);
        }
        let last = (0..self.reach(newest, in_order)).rev().find(|&index| self.is_before(index, newest) && self.is_awaited(index));
        (marked, last.map(|index| self.by_time[index].sent_at))
    }

    /// Keeps a transmission out of the search until its loss is undone.
    fn set_aside(&mut self, transmission: Transmission) {
        if self.set_aside.len() >= self.segments.len() {
            // Those that were retransmitted since do not return.
            let mut kept = std::mem::take(&mut self.set_aside);
            kept.retain(|transmission| self.waits(transmission));
            self.set_aside = kept;
        }
        self.set_aside.push(transmission);
    }

    /// No transmission that left with this end at this time, or later, is before `newest`.
    fn end_of_search(&self, newest: (Instant, u64)) -> (Instant, u64) {
        // Usually the transmissions of a time left in ascending order.
        if self.disordered.binary_search(&newest.0).is_err() { newest } else { (newest.0, u64::MAX) }
    }

    /// Number of transmissions that may be before `newest`.
    fn reach(&self, newest: (Instant, u64), in_order: bool) -> usize {
        if self.by_time.front().is_none_or(|it| it.sent_at > newest.0) {
            return 0;
        }
        let until = self.end_of_search(newest);
        let end = self.by_time.partition_point(|it| it.is_before(until));
        if !in_order || until == newest {
            return end;
        }
        let begin = self.by_time.partition_point(|it| it.sent_at < newest.0);
        (begin..end).find(|&index| !self.is_before(index, newest) && self.is_awaited(index)).unwrap_or(end)
    }

    fn is_before(&self, index: usize, newest: (Instant, u64)) -> bool {
        self.by_time[index].is_before(newest)
    }

    /// The segments, or pieces, that a transmission sent, regardless of their present state.
    fn pieces(&self, transmission: &Transmission) -> std::ops::Range<usize> {
        let (first, end) = (self.index_of(transmission.start), transmission.end());
        let count = self.segments.range(first..).take_while(|segment| segment.start < end).count();
        first..first + count
    }

    /// Whether segment `piece` may still arrive by transmission `index`: it is neither delivered, nor lost, nor retransmitted since.
    fn awaits(&self, piece: usize, index: usize) -> bool {
        let segment = &self.segments[piece];
        segment.number == self.by_time[index].number && segment.is_awaited()
    }

    /// Whether a part of a transmission is lost and not retransmitted.
    fn waits(&self, transmission: &Transmission) -> bool {
        let number = transmission.number;
        self.pieces(transmission).any(|piece| self.segments[piece].number == number && self.segments[piece].waits())
    }

    fn is_awaited(&self, index: usize) -> bool {
        // The usual case: the transmission is cumulatively acknowledged.
        let first = self.segments.front().map_or(u64::MAX, |segment| segment.start);
        let transmission = self.by_time[index];
        let (Transmission { number, start, .. }, end) = (transmission, transmission.end());
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
        for piece in self.pieces(&self.by_time[index]) {
            marked |= self.awaits(piece, index) && self.mark(piece);
        }
        marked
    }
}
