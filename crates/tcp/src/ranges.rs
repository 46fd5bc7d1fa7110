//! A set of ranges of positions, in bytes or in segments: what a receiver holds above a hole, or a sender knows as delivered.

use std::collections::VecDeque;

/// `[start, end)`.
pub(crate) type Range = (u64, u64);

/// Disjoint ranges in ascending order, not adjacent.
#[derive(Debug, Default)]
pub(crate) struct RangeSet(VecDeque<Range>);

impl RangeSet {
    /// Adds a range; stores the parts that were not in the set in `fresh`, in ascending order.
    pub(crate) fn insert(&mut self, (start, end): Range, fresh: &mut Vec<Range>) {
        fresh.clear();
        if start >= end {
            return;
        }
        // The usual case: the range lies above all others, or begins within the highest.
        let highest = self.0.back_mut().filter(|highest| highest.1 >= start);
        match highest {
            None => {
                self.0.push_back((start, end));
                return fresh.push((start, end));
            }
            Some(highest) if highest.0 <= start => {
                if highest.1 < end {
                    fresh.push((highest.1, end));
                    highest.1 = end;
                }
                return;
            }
            Some(_) => {}
        }
        // The ranges that touch or overlap the new one.
        let first = self.0.partition_point(|range| range.1 < start);
        if self.0[first].0 <= start && end <= self.0[first].1 {
            // ACKs repeat their blocks.
            return;
        }
        let last = self.0.partition_point(|range| range.0 <= end);
        let mut at = start;
        for &(left, right) in self.0.range(first..last) {
            if at < left {
                fresh.push((at, left));
            }
            at = at.max(right);
        }
        if at < end {
            fresh.push((at, end));
        }
        let merged = if first < last { (start.min(self.0[first].0), end.max(self.0[last - 1].1)) } else { (start, end) };
        if first < last {
            self.0[first] = merged;
            self.0.drain(first + 1..last);
        } else {
            self.0.insert(first, merged);
        }
    }

    /// Removes all positions.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether the set contains a range.
    pub(crate) fn covers(&self, (start, end): Range) -> bool {
        let index = self.0.partition_point(|range| range.1 <= start);
        self.0.get(index).is_some_and(|range| range.0 <= start && end <= range.1)
    }

    /// Removes all positions below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        while self.0.front().is_some_and(|range| range.1 <= position) {
            self.0.pop_front();
        }
        if let Some(range) = self.0.front_mut() {
            range.0 = range.0.max(position);
        }
    }

    /// Removes the first range if it begins at or below `position`; returns its end.
    pub(crate) fn take_first_at(&mut self, position: u64) -> Option<u64> {
        let (_, end) = *self.0.front().filter(|range| range.0 <= position)?;
        self.0.pop_front();
        Some(end)
    }

    /// The first position from `position` on that is not in the set.
    pub(crate) fn first_outside(&self, position: u64) -> u64 {
        self.containing(position).map_or(position, |range| range.1)
    }

    /// The range that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<Range> {
        let index = self.0.partition_point(|range| range.1 <= position);
        self.0.get(index).copied().filter(|range| range.0 <= position)
    }

    /// The ranges in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.0.iter().copied()
    }

    /// The end of the highest range.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.0.back().map(|range| range.1)
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn positions(ranges: impl IntoIterator<Item = Range>) -> BTreeSet<u64> {
        ranges.into_iter().flat_map(|(start, end)| start..end).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(operations in prop::collection::vec((0_u64..200, 0_u64..20, prop::bool::weighted(0.1)), 1..60)) {
            let (mut ranges, mut set, mut fresh) = (RangeSet::default(), BTreeSet::new(), Vec::new());
            for (start, length, remove) in operations {
                if remove {
                    ranges.remove_below(start);
                    set.retain(|&position| position >= start);
                } else {
                    ranges.insert((start, start + length), &mut fresh);
                    let fresh = positions(fresh.iter().copied());
                    let expected: BTreeSet<u64> = (start..start + length).filter(|position| !set.contains(position)).collect();
                    prop_assert_eq!(&fresh, &expected);
                    set.extend(expected);
                }
                prop_assert_eq!(&positions(ranges.iter()), &set);
                let list: Vec<Range> = ranges.iter().collect();
                prop_assert!(list.windows(2).all(|pair| pair[0].1 < pair[1].0), "disjoint and not adjacent: {:?}", list);
                for position in 0..220 {
                    prop_assert_eq!(ranges.containing(position).is_some(), set.contains(&position));
                    prop_assert_eq!(Some(ranges.first_outside(position)), (position..=220).find(|it| !set.contains(it)));
                }
            }
        }
    }
}
