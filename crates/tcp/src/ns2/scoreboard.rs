//! The sender's SACK scoreboard: which segments above the cumulative ACK have arrived.
//!
//! ## References
//! RFC 2018 §5; RFC 6675 §3. A ring of bits stores the segments: marking a block costs one operation per 64 segments.

/// SACKed segments, as a ring of bits indexed by segment number.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    /// The segments' bits; the length is a power of two, or zero before the first mark.
    words: Vec<u64>,
    /// No segment below this number is marked.
    low: u32,
    /// No segment from this number on is marked.
    high: u32,
}

impl Scoreboard {
    /// Clears all marks.
    pub(super) fn clear(&mut self) {
        self.each_word(self.low, self.high, |word, mask| *word &= !mask);
        self.high = self.low;
    }

    /// Clears the marks below `una`.
    pub(super) fn advance(&mut self, una: u32) {
        let end = una.min(self.high);
        if end > self.low {
            self.each_word(self.low, end, |word, mask| *word &= !mask);
        }
        self.low = una.max(self.low);
        self.high = self.high.max(self.low);
    }

    /// Marks the segments of `[start, end)`; returns whether a segment is newly marked.
    pub(super) fn mark(&mut self, start: u32, end: u32) -> bool {
        let start = start.max(self.low);
        if start >= end {
            return false;
        }
        self.reserve(end);
        let mut changed = false;
        self.each_word(start, end, |word, mask| {
            changed |= *word & mask != mask;
            *word |= mask;
        });
        self.high = self.high.max(end);
        changed
    }

    /// The lowest segment from `from` on that is not SACKed and lies below a SACKed one.
    pub(super) fn next_hole(&self, from: u32) -> Option<u32> {
        let mut seq = from.max(self.low);
        while seq < self.high {
            let bit = seq % 64;
            let holes = !self.words[self.index(seq)] >> bit;
            if holes != 0 {
                let hole = seq + holes.trailing_zeros();
                return (hole < self.high).then_some(hole);
            }
            seq += 64 - bit;
        }
        None
    }

    fn index(&self, seq: u32) -> usize {
        (seq / 64) as usize & (self.words.len() - 1)
    }

    fn each_word(&mut self, start: u32, end: u32, mut apply: impl FnMut(&mut u64, u64)) {
        let mut seq = start;
        while seq < end {
            let bit = seq % 64;
            let count = (64 - bit).min(end - seq);
            let mask = (u64::MAX >> (64 - count)) << bit;
            let index = self.index(seq);
            apply(&mut self.words[index], mask);
            seq += count;
        }
    }

    /// Makes room for segments below `end`.
    fn reserve(&mut self, end: u32) {
        // The span may begin inside a word, so it can touch one more word.
        let needed = ((end - self.low) as usize / 64 + 2).next_power_of_two();
        if needed <= self.words.len() {
            return;
        }
        let old = std::mem::replace(&mut self.words, vec![0; needed]);
        let mut seq = self.low;
        while seq < self.high {
            let index = self.index(seq);
            self.words[index] = old[(seq / 64) as usize & (old.len() - 1)];
            seq += 64 - seq % 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn holes_lie_below_the_highest_block() {
        let mut board = Scoreboard::default();
        board.advance(10);
        assert_eq!(board.next_hole(10), None);
        assert!(board.mark(12, 14));
        assert!(!board.mark(12, 14));
        assert!(board.mark(15, 16));
        assert_eq!([10, 11, 12, 14].map(|from| board.next_hole(from)), [Some(10), Some(11), Some(14), Some(14)]);
        assert_eq!(board.next_hole(15), None);
        board.clear();
        assert_eq!(board.next_hole(10), None);
        assert!(board.mark(12, 14), "cleared segments can be marked again");
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(operations in prop::collection::vec((0_u32..3, 0_u32..600, 1_u32..200), 1..80)) {
            let (mut board, mut set, mut una) = (Scoreboard::default(), BTreeSet::new(), 0);
            for (operation, offset, length) in operations {
                if operation == 0 && length > 190 {
                    board.clear();
                    set.clear();
                } else if operation == 0 {
                    una += offset / 4;
                    board.advance(una);
                    set.retain(|seq| *seq >= una);
                } else {
                    let (start, end) = (una + offset, una + offset + length);
                    let changed = board.mark(start, end);
                    let before = set.len();
                    set.extend(start..end);
                    prop_assert_eq!(changed, set.len() > before);
                }
                let top = set.last().map_or(0, |seq| seq + 1);
                let hole = (una..top).find(|seq| !set.contains(seq));
                prop_assert_eq!(board.next_hole(una), hole);
            }
        }
    }
}
