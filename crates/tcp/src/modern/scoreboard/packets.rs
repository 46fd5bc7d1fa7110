//! The packets in which the segments lie.
//!
//! A block leaves as one packet. A retransmission takes its segments out of their packet. A SACK block that covers a part of a packet divides
//! it, and a SACKed packet joins the SACKed one before it, and then the one behind it, as long as both have segments of one size and their
//! data stays below a limit. A segment in flight twice, as after a probe, does not join. Only those parts of a block have this effect that
//! the last ACK with SACK blocks has not reported, whether or not they are news, and packets that reach into these parts.
//!
//! ## References
//! Measured with Linux 7.2: the memory of its send queue (the numbers of the tests).

use super::super::segment::MAX_SACK_BLOCKS;
use super::Scoreboard;
use super::segment::{SentSegment, Tag};
use crate::ranges::Range;

/// A packet of SACKed data stays below this size, in bytes.
const LARGEST: u64 = 8 * 65_535;

impl Scoreboard {
    /// Number of packets in which the segments lie.
    pub(in super::super) fn packets(&self) -> u64 {
        self.segments.len() as u64 - u64::from(self.joined)
    }

    /// A segment that leaves joins the one before if both belong to one block.
    pub(super) fn pack(&self, mut segment: SentSegment) -> SentSegment {
        let joins = self.counts_packets && self.segments.back().is_some_and(|before| before.block() == segment.block());
        segment.tag.set(Tag::JOINED, joins);
        segment
    }

    /// The number of segments from `start` on, at most `most`, that lie in one packet and wait for their retransmission.
    pub(in super::super) fn waiting_block(&self, start: u64, most: u64) -> u64 {
        let first = self.index_of(start);
        let rest = self.segments.range((first + 1).min(self.segments.len())..).take_while(|it| it.is_joined());
        let packet = self.segments.get(first).into_iter().chain(rest);
        packet.take(most as usize).take_while(|it| it.waits()).count() as u64
    }

    /// The `count` segments from `start` on become a packet of their own.
    pub(in super::super) fn cut(&mut self, start: u64, count: u64) {
        let first = self.index_of(start);
        self.join(first, false);
        self.join(first + count as usize, false);
    }

    /// Whether a segment, if it exists, lies in one packet with the one before.
    fn is_joined(&self, index: usize) -> bool {
        self.segments.get(index).is_some_and(SentSegment::is_joined)
    }

    /// Sets whether a segment, if it exists, lies in one packet with the one before.
    pub(super) fn join(&mut self, index: usize, joins: bool) {
        if let Some(segment) = self.segments.get_mut(index).filter(|it| it.is_joined() != joins) {
            segment.tag.set(Tag::JOINED, joins);
            self.joined = if joins { self.joined + 1 } else { self.joined - 1 };
        }
    }

    /// An ACK has these SACK blocks, in ascending order.
    pub(in super::super) fn remember(&mut self, blocks: &[Range]) {
        if !blocks.is_empty() {
            self.heard = [(0, 0); MAX_SACK_BLOCKS];
            self.heard[..blocks.len()].copy_from_slice(blocks);
        }
    }

    /// A block of SACKed data, each part of which begins or ends a segment, determines packets. Returns one past the last segment for which
    /// it does.
    pub(in super::super) fn pack_block(&mut self, (first, end): Range) -> u64 {
        let (mut start, mut reached) = (first, 0);
        if !self.counts_packets {
            return reached;
        }
        for (from, until) in self.heard {
            if until > start && from < end {
                if start < from {
                    self.pack_sacked((start, from));
                    reached = from;
                }
                start = if until < end { self.packet_start(until).max(first) } else { end };
            }
        }
        if start < end {
            self.pack_sacked((start, end));
            reached = end;
        }
        reached
    }

    /// The segments of a range are SACKed, or are about to be.
    pub(in super::super) fn pack_sacked(&mut self, range: Range) {
        if !self.counts_packets {
            return;
        }
        let (first, last) = (self.index_of(range.0), self.index_of(range.1));
        let divides = self.is_joined(last);
        self.join(first, false);
        self.join(last, false);
        let mut start = first;
        while start < last {
            let end = (start + 1..last).find(|&index| !self.segments[index].is_joined()).unwrap_or(last);
            let follows = start > first || start > 0 && self.segments[start - 1].is_sacked();
            let merged = follows && self.merge(start, end);
            if merged && end == last && !divides && self.segments.get(last).is_some_and(SentSegment::is_sacked) {
                let end = (last + 1..self.segments.len()).find(|&index| !self.segments[index].is_joined());
                self.merge(last, end.unwrap_or(self.segments.len()));
            }
            start = end;
        }
    }

    /// The packet of the segments from `start` up to `end` joins the one before, if they fit together; returns whether they do.
    fn merge(&mut self, start: usize, end: usize) -> bool {
        let (before, next, last) = (self.segments[start - 1], self.segments[start], self.segments[end - 1]);
        let twice = [before, next].iter().any(|it| it.is_copied() && !it.is_lost());
        // The last segment of a packet may be smaller than the others.
        let size = if before.is_joined() { before.len().max(self.segments[start - 2].len()) } else { before.len() };
        if twice || size != next.len() {
            return false;
        }
        let (known, until) = self.grown;
        let head = if until == before.end() { known } else { self.segments[self.head(start - 1)].start };
        let fits = last.end() - head.max(self.segments[0].start) < LARGEST;
        if fits {
            self.join(start, true);
            self.grown = (head, last.end());
        }
        fits
    }

    /// The start of the packet in which a position lies.
    fn packet_start(&self, position: u64) -> u64 {
        self.segments.get(self.head(self.index_of(position))).map_or(position, |first| first.start)
    }

    /// The first segment of the packet of a segment.
    fn head(&self, index: usize) -> usize {
        (1..=index).rev().find(|&index| !self.is_joined(index)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::events::Snapshot;

    use super::*;

    const MSS: u64 = 1448;

    /// Blocks of so many bytes, in segments of [`MSS`].
    fn board(blocks: &[u64]) -> Scoreboard {
        let mut board = Scoreboard::new(true, false);
        let mut start = 1;
        for (number, bytes) in (1..).zip(blocks) {
            let end = start + bytes;
            while start < end {
                let next = (start + MSS).min(end);
                board.send((start, next), Snapshot::default(), (false, number));
                start = next;
            }
        }
        board
    }

    /// The number of packets after each of these SACK blocks, in segments.
    fn packets(board: &mut Scoreboard, blocks: &[(u64, u64)]) -> Vec<u64> {
        let after = |&(start, end): &(u64, u64)| {
            board.sack((1 + start * MSS, 1 + end * MSS), &mut Vec::new());
            assert!(board.is_consistent());
            board.packets()
        };
        blocks.iter().map(after).collect()
    }

    #[test]
    fn blocks_are_packets_until_their_segments_are_sacked_or_sent_again() {
        let mut board = board(&[4 * MSS, 4 * MSS]);
        assert_eq!(board.packets(), 2);
        assert_eq!(packets(&mut board, &[(2, 3)]), [4], "two segments, one, the rest of its block, and the other block");
        assert_eq!(packets(&mut board, &[(3, 5)]), [3], "SACKed neighbours are one packet; the other block is divided");
        board.cut(1 + MSS, 1);
        assert_eq!(board.packets(), 4);
        board.cut(1 + 5 * MSS, 2);
        assert_eq!(board.packets(), 5, "three segments are sent again, the first two as a block");
        board.acknowledge(1 + 3 * MSS, &mut Vec::new());
        assert_eq!(board.packets(), 3);
        assert!(board.is_consistent());
    }

    #[test]
    fn a_sacked_packet_joins_the_one_before_and_then_the_one_behind() {
        let each = [MSS; 6];
        assert_eq!(packets(&mut board(&each), &[(1, 2), (3, 4), (2, 3)]), [6, 6, 4]);
        assert_eq!(packets(&mut board(&each), &[(3, 4), (2, 3), (1, 2)]), [6, 6, 6], "nothing is SACKed before them");
    }

    #[test]
    fn segments_of_different_sizes_stay_apart() {
        // A packet of the application ends with 1120 bytes.
        let mut board = board(&[MSS, MSS, 1120, MSS, MSS]);
        board.sack((1 + MSS, 1 + 4 * MSS + 1120), &mut Vec::new());
        assert_eq!(board.packets(), 4, "only the last two are one");
        let mut board = self::board(&[MSS, 2 * MSS + 1120, MSS]);
        board.sack((1 + MSS, 1 + 4 * MSS + 1120), &mut Vec::new());
        assert_eq!(board.packets(), 2, "the small one is a part of a packet");
    }

    #[test]
    fn sacked_packets_have_a_largest_size() {
        // 362 segments have 524,176 bytes.
        let each = [MSS; 800];
        assert_eq!(packets(&mut board(&each), &[(1, 363), (363, 364), (364, 700)]), [439, 439, 103]);
    }

    /// The number of packets after ACKs with these SACK blocks, in segments.
    fn heard(acks: &[&[(u64, u64)]]) -> u64 {
        let mut board = board(&[2 * MSS; 6]);
        for blocks in acks {
            let blocks: Vec<Range> = blocks.iter().map(|&(start, end)| (1 + start * MSS, 1 + end * MSS)).collect();
            for &block in &blocks {
                board.sack(block, &mut Vec::new());
            }
            board.remember(&blocks);
            assert!(board.is_consistent());
        }
        board.packets()
    }

    #[test]
    fn only_what_the_last_ack_has_not_reported_determines_packets() {
        assert_eq!(heard(&[&[(4, 5)], &[(3, 5)]]), 8, "the second one joins nothing: 2, 1, 1, 1, 1, 2, 2, 2 segments");
        assert_eq!(heard(&[&[(4, 5)], &[(3, 5)], &[(3, 5)]]), 8);
        assert_eq!(heard(&[&[(4, 5)], &[(3, 5)], &[(8, 9)], &[(3, 5), (8, 9)]]), 8, "8:10 is divided, and the two are one");
        assert_eq!(heard(&[&[(4, 6)], &[(5, 6)], &[(4, 6)]]), 7, "a part of a packet divides it");
        let packets = heard(&[&[(4, 5)], &[(3, 6)], &[(5, 6)], &[(4, 6)]]);
        assert_eq!(packets, heard(&[&[(4, 5)], &[(3, 6)]]), "4:6 are one packet");
    }
}
