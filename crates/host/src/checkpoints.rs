//! Bytes delivered by fixed times after the start of a flow.

use ackclock_core::units::{Duration, Instant};

/// Seconds after the start at which the delivered bytes are recorded.
pub const CHECKPOINTS: [u64; 4] = [1, 2, 5, 10];

/// The delivered bytes at each checkpoint.
#[derive(Debug)]
pub struct Checkpoints {
    start: Instant,
    /// Bytes delivered up to each checkpoint that has passed.
    bytes: [u64; CHECKPOINTS.len()],
    passed: usize,
    /// Time of the next checkpoint.
    next: Instant,
}

impl Checkpoints {
    /// Checkpoints of a flow that starts at `start`.
    pub fn new(start: Instant) -> Self {
        let mut checkpoints = Self { start, bytes: [0; CHECKPOINTS.len()], passed: 0, next: Instant::MAX };
        checkpoints.next = checkpoints.upcoming();
        checkpoints
    }

    fn upcoming(&self) -> Instant {
        let seconds = CHECKPOINTS.get(self.passed);
        seconds.map_or(Instant::MAX, |&seconds| self.start + Duration::from_millis(seconds * 1000))
    }

    /// Records `delivered`, the bytes delivered before `now`, for each checkpoint up to `now`.
    pub fn pass(&mut self, now: Instant, delivered: u64) {
        while now >= self.next && self.passed < CHECKPOINTS.len() {
            self.bytes[self.passed] = delivered;
            self.passed += 1;
            self.next = self.upcoming();
        }
    }

    /// Bytes delivered by each checkpoint that has passed at `end`; `delivered`: bytes delivered by `end`.
    pub fn finish(&mut self, end: Instant, delivered: u64) -> [Option<u64>; CHECKPOINTS.len()] {
        self.pass(end, delivered);
        std::array::from_fn(|index| (index < self.passed).then_some(self.bytes[index]))
    }
}
