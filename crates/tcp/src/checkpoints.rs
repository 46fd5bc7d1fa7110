//! What had been delivered some seconds after the start of a flow.

use ackclock_core::units::{Duration, Instant};

/// Seconds after the start at which the delivered bytes are noted.
pub const CHECKPOINTS: [u64; 4] = [1, 2, 5, 10];

/// The delivered bytes at each checkpoint.
#[derive(Debug)]
pub struct Checkpoints {
    start: Instant,
    /// Bytes delivered up to each checkpoint that has passed.
    bytes: [u64; CHECKPOINTS.len()],
    passed: usize,
    /// When the next checkpoint comes.
    next: Instant,
}

impl Checkpoints {
    /// For a flow that starts at `start`.
    pub fn new(start: Instant) -> Self {
        let mut checkpoints = Self { start, bytes: [0; CHECKPOINTS.len()], passed: 0, next: Instant::MAX };
        checkpoints.next = checkpoints.upcoming();
        checkpoints
    }

    fn upcoming(&self) -> Instant {
        let seconds = CHECKPOINTS.get(self.passed);
        seconds.map_or(Instant::MAX, |&seconds| self.start + Duration::from_millis(seconds * 1000))
    }

    /// Notes that `delivered` bytes had been delivered before `now`.
    pub fn pass(&mut self, now: Instant, delivered: u64) {
        while now >= self.next && self.passed < CHECKPOINTS.len() {
            self.bytes[self.passed] = delivered;
            self.passed += 1;
            self.next = self.upcoming();
        }
    }

    /// Bytes delivered up to each checkpoint that had passed at `end`, with `delivered` bytes by then.
    pub fn finish(&mut self, end: Instant, delivered: u64) -> [Option<u64>; CHECKPOINTS.len()] {
        self.pass(end, delivered);
        std::array::from_fn(|index| (index < self.passed).then_some(self.bytes[index]))
    }
}
