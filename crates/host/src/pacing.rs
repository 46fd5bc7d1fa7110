//! Pacing: spreads segments over time at a given rate.
//!
//! ## References
//! Aggarwal, Savage & Anderson, *Understanding the performance of TCP pacing*, 2000. Linux's queue `fq`: packetdrill's script
//! `slow-start-fq-ack-per-2pkt`, checked on Linux 7.2.

use ackclock_core::units::{Bytes, Duration, Instant, Rate};

/// Segments that a queue of Linux lets pass before it paces a connection.
const FREE: u32 = 10;

/// When the next segment may leave.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    next: Instant,
    /// When all bytes sent so far would have left at the pacing rate.
    due: Instant,
    /// Bytes that may still leave at once.
    burst: u64,
    /// Whether the pauses are those of a queue of Linux.
    queue: Option<Queue>,
}

/// The state of a queue that lets blocks of segments pass at once. Idle time before a block shortens the pause after it by up to a half.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Segments that still leave without a pause.
    free: u32,
    /// When the present block has left, its time at the rate, and the idle time before it.
    since: Instant,
    time: Duration,
    idle: Duration,
}

impl Queue {
    /// A segment that takes `time` leaves at `now`; returns when the next block may leave. `due`: when the present one might.
    fn send(&mut self, now: Instant, time: Duration, due: Instant, continues: bool) -> Instant {
        if !continues {
            (self.since, self.time) = (due.max(now), Duration::ZERO);
            self.idle = self.since.since(due);
        }
        self.time += time;
        self.free = self.free.saturating_sub(1);
        if self.free > 0 { self.since } else { self.since + (self.time - (self.time * 0.5).min(self.idle)) }
    }
}

impl Pacer {
    /// The pacer of Linux's queue `fq`.
    pub fn of_queue() -> Self {
        let queue = Queue { free: FREE, since: Instant::ZERO, time: Duration::ZERO, idle: Duration::ZERO };
        Self { queue: Some(queue), ..Self::default() }
    }

    /// When the next segment may leave.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// A segment of `size` bytes was sent at `rate`. Up to `burst` bytes may leave back to back before the pacer waits for the rate to
    /// catch up. `continues`: the segment belongs to the block of the one before, which a queue releases as a whole.
    pub fn send(&mut self, now: Instant, (size, continues): (u64, bool), rate: Option<Rate>, burst: Bytes) {
        let Some(rate) = rate else { return };
        let time = rate.transmission(Bytes(size));
        if let Some(queue) = &mut self.queue {
            self.due = queue.send(now, time, self.due, continues);
            self.next = self.due;
            return;
        }
        if self.burst < size || self.due <= now {
            self.burst = burst.0;
        }
        self.due = self.due.max(now) + time;
        self.burst = self.burst.saturating_sub(size);
        self.next = if self.burst >= size { now } else { self.due };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Bytes = Bytes(0);

    #[test]
    fn a_burst_leaves_at_once_and_delays_the_next_segment() {
        let (mut pacer, rate) = (Pacer::default(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let mut send = |micros| {
            pacer.send(at(micros), (1000, false), rate, Bytes(3000));
            pacer.next().as_nanos() / 1000
        };
        assert_eq!([send(500), send(500), send(500)], [500, 500, 3500], "3000 B at 8 Mbit/s take 3 ms");
        assert_eq!([send(3500), send(3600), send(3700)], [3500, 3600, 6500], "a pause within a burst is part of its time");
    }

    #[test]
    fn a_queue_spares_the_first_segments_and_credits_blocks_with_idle_time() {
        let (mut pacer, rate) = (Pacer::of_queue(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let mut send = |micros, continues| {
            pacer.send(at(micros), (1000, continues), rate, NONE);
            pacer.next().as_nanos() / 1000
        };
        assert!((0..9).all(|segment| send(100, segment % 3 > 0) == 100), "no pause");
        assert_eq!(send(100, false), 1100, "after the block with the tenth");
        assert_eq!([send(5000, false), send(5500, false), send(6800, false)], [5500, 6500, 7500], "half, whole, and 0.3 ms less");
        // A block of four segments: up to half of its whole time.
        assert_eq!([send(9000, false), send(9000, true), send(9000, true), send(9000, true)], [9500, 10_000, 10_500, 11_500]);
    }

    #[test]
    fn segments_leave_a_transmission_time_apart() {
        let (mut pacer, rate) = (Pacer::default(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        pacer.send(at(500), (1000, false), rate, NONE);
        let next = |pacer: &Pacer| pacer.next().as_nanos() / 1000;
        assert_eq!(next(&pacer), 1500, "1000 B at 8 Mbit/s take 1 ms");
        pacer.send(at(1500), (500, false), rate, NONE);
        assert_eq!(next(&pacer), 2000);
        pacer.send(at(9000), (1000, false), rate, NONE);
        assert_eq!(next(&pacer), 10_000, "idle time earns no credit");
        pacer.send(at(10_000), (1000, false), None, NONE);
        assert_eq!(next(&pacer), 10_000);
    }
}
