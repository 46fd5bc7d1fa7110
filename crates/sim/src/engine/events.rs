//! The event queue: a 4-ary heap of keys that order events by (time, when they were determined, subject).
//!
//! An event is one 128-bit number, so that comparing two events is comparing two numbers. Among events at the same time the one that was
//! determined first comes first: an arrival is determined when its transmission starts, a timer when it is set. That is the order in which
//! ns-2 inserts them, but for what the rounding of its clock makes of it.

use ackclock_core::units::Instant;

/// Bits of a key that say what an event is for.
const SUBJECT_BITS: u32 = 26;
/// Longest span between the determination of an event and its time that is told from longer ones, in nanoseconds.
const MAX_SPAN: u64 = (1 << (64 - SUBJECT_BITS)) - 1;
/// Largest number of subjects.
pub(crate) const MAX_SUBJECTS: usize = 1 << SUBJECT_BITS;
const ARITY: usize = 4;

/// An event's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

impl Key {
    /// An event at `time` that was determined at `since`, for `subject`.
    pub(crate) fn new(time: Instant, since: Instant, subject: usize) -> Self {
        debug_assert!(subject < MAX_SUBJECTS, "subject {subject} does not fit");
        // The longer ago it was determined, the sooner it comes; spans of more than 274 s count alike.
        let order = MAX_SPAN - time.since(since).as_nanos().min(MAX_SPAN);
        Self(u128::from(time.as_nanos()) << 64 | u128::from(order << SUBJECT_BITS | subject as u64))
    }

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
}

impl EventQueue {
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

    fn key(time: u64) -> Key {
        Key::new(Instant::from_nanos(time), Instant::ZERO, 0)
    }

    #[test]
    fn at_equal_times_what_was_determined_first_comes_first() {
        let mut queue = EventQueue::default();
        for (since, subject) in [(6, 5), (2, 9), (7, 1), (2, 3)] {
            queue.push(Key::new(Instant::from_nanos(7), Instant::from_nanos(since), subject));
        }
        let mut order = Vec::new();
        while let Some(key) = queue.peek() {
            order.push(key.subject());
            queue.pop();
        }
        assert_eq!(order, [3, 9, 5, 1]);
    }

    proptest! {
        #[test]
        fn events_come_out_sorted(times in prop::collection::vec(0_u64..50, 1..200), replacements in prop::collection::vec(0_u64..100, 0..100)) {
            let mut queue = EventQueue::default();
            for &time in &times {
                queue.push(key(time));
            }
            let mut expected = times.clone();
            for &time in &replacements {
                let earliest = queue.peek().unwrap().time();
                let position = expected.iter().position(|&t| t == earliest.as_nanos()).unwrap();
                expected[position] = time;
                queue.replace(key(time));
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
