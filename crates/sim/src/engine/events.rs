//! The event queue: a 4-ary heap of keys that order events by (time, insertion).
//!
//! An event is one 128-bit number: time, then insertion number, then what it is for. Comparing two events is comparing two numbers, and
//! events at equal times come out in the order in which they went in, as in ns-2.

use ackclock_core::units::Instant;

/// Bits of a key that say what an event is for.
const SUBJECT_BITS: u32 = 26;
/// Bits that number events in the order of insertion.
const NUMBER_BITS: u32 = 64 - SUBJECT_BITS;
/// Largest number of subjects.
pub(crate) const MAX_SUBJECTS: usize = 1 << SUBJECT_BITS;
const ARITY: usize = 4;

/// An event's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

impl Key {
    /// When the event happens.
    pub(crate) const fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// What it is for: a number below [`MAX_SUBJECTS`] that the engine assigns.
    pub(crate) const fn subject(self) -> usize {
        (self.0 as u64 & ((1 << SUBJECT_BITS) - 1)) as usize
    }
}

/// Events to come, earliest first.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Key>,
    inserted: u64,
}

impl EventQueue {
    /// A key for an event at `time` that is inserted now.
    pub(crate) fn key(&mut self, time: Instant, subject: usize) -> Key {
        debug_assert!(subject < MAX_SUBJECTS, "subject {subject} does not fit");
        debug_assert!(self.inserted < 1 << NUMBER_BITS, "insertion numbers are used up");
        self.inserted += 1;
        Key(u128::from(time.as_nanos()) << 64 | u128::from(self.inserted << SUBJECT_BITS | subject as u64))
    }

    /// The earliest event.
    pub(crate) fn peek(&self) -> Option<Key> {
        self.heap.first().copied()
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, key: Key) {
        let mut hole = self.heap.len();
        self.heap.push(key);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Takes the earliest event out.
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.replace(last);
        }
    }

    /// Puts `key` in the place of the earliest event: one sift instead of a pop and a push.
    pub(crate) fn replace(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let least = if let Some(&[a, b, c, d]) = heap.get(first..first + ARITY) {
                // Which of four is least is as good as random: select, don't branch.
                let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
                if b.min(a) <= d.min(c) { left } else { right }
            } else {
                let Some(children) = heap.get(first..).filter(|children| !children.is_empty()) else { break };
                (1..children.len()).fold(0, |least, child| if children[child] < children[least] { child } else { least })
            };
            let child = heap[first + least];
            if key <= child {
                break;
            }
            heap[hole] = child;
            hole = first + least;
        }
        heap[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_come_out_in_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        for subject in [5, 3, 9, 1] {
            let key = queue.key(Instant::from_nanos(7), subject);
            queue.push(key);
        }
        let mut order = Vec::new();
        while let Some(key) = queue.peek() {
            order.push(key.subject());
            queue.pop();
        }
        assert_eq!(order, [5, 3, 9, 1]);
    }

    proptest! {
        #[test]
        fn events_come_out_sorted(times in prop::collection::vec(0_u64..50, 1..200), replacements in prop::collection::vec(0_u64..100, 0..100)) {
            let mut queue = EventQueue::default();
            for &time in &times {
                let key = queue.key(Instant::from_nanos(time), 0);
                queue.push(key);
            }
            let mut expected = times.clone();
            for &time in &replacements {
                let earliest = queue.peek().unwrap().time();
                let position = expected.iter().position(|&t| t == earliest.as_nanos()).unwrap();
                expected[position] = time;
                let key = queue.key(Instant::from_nanos(time), 0);
                queue.replace(key);
            }
            expected.sort_unstable();
            let mut popped = Vec::new();
            while let Some(key) = queue.peek() {
                popped.push(key.time().as_nanos());
                queue.pop();
            }
            prop_assert_eq!(popped, expected);
        }
    }
}
