//! The sender's SACK scoreboard: which segments above the cumulative ACK have arrived.
//!
//! ## References
//! RFC 2018 §5; RFC 6675 §3.

use crate::ranges::{Range, RangeSet};

/// SACKed segments, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    sacked: RangeSet,
    /// No segment below this number is marked.
    low: u32,
    /// The new parts of the last block; stored to reuse the memory.
    fresh: Vec<Range>,
}

impl Scoreboard {
    /// Clears all marks.
    pub(super) fn clear(&mut self) {
        self.sacked.clear();
    }

    /// Clears the marks below `una`.
    pub(super) fn advance(&mut self, una: u32) {
        self.sacked.remove_below(u64::from(una));
        self.low = una.max(self.low);
    }

    /// Marks the segments of `[start, end)`; returns whether a segment is newly marked.
    pub(super) fn mark(&mut self, start: u32, end: u32) -> bool {
        self.sacked.insert((u64::from(start.max(self.low)), u64::from(end)), &mut self.fresh);
        !self.fresh.is_empty()
    }

    /// The lowest segment from `from` on that is not SACKed and lies below a SACKed one.
    pub(super) fn next_hole(&self, from: u32) -> Option<u32> {
        let hole = self.sacked.first_outside(u64::from(from.max(self.low)));
        self.sacked.highest().filter(|highest| hole < *highest).map(|_| hole as u32)
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
