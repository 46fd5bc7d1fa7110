//! Pacing: spreads segments over time at a given rate.
//!
//! ## References
//! Aggarwal, Savage & Anderson, *Understanding the performance of TCP pacing*, 2000. Linux's queue `fq`: packetdrill's script
//! `slow-start-fq-ack-per-2pkt`, checked on Linux 7.2.

use ackclock_core::units::{Bytes, Instant, Rate};

/// Segments that a queue of Linux lets pass before it paces a connection.
const FREE: u32 = 10;

/// When the next segment may leave.
#[derive(Debug, Default)]
pub struct Pacer {
    next: Instant,
    /// When all bytes sent so far would have left at the pacing rate.
    due: Instant,
    /// Bytes that may still leave at once.
    burst: u64,
    /// Segments that still leave without a pause.
    free: u32,
    /// Whether idle time shortens the next pause by up to a half.
    credits: bool,
}

impl Pacer {
    /// The pacer of Linux's queue `fq`.
    pub fn of_queue() -> Self {
        Self { free: FREE, credits: true, ..Self::default() }
    }

    /// When the next segment may leave.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// A segment of `size` bytes was sent at `rate`. Up to `burst` bytes may leave back to back before the pacer waits for the rate to
    /// catch up.
    pub fn send(&mut self, now: Instant, size: u64, rate: Option<Rate>, burst: Bytes) {
        let Some(rate) = rate else { return };
        if self.burst < size || self.due <= now {
            self.burst = burst.0;
        }
        if self.free > 0 {
            self.free -= 1;
            return;
        }
        let mut time = rate.transmission(Bytes(size));
        if self.credits && self.due < now {
            time = time - (time * 0.5).min(now.since(self.due));
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
            pacer.send(at(micros), 1000, rate, Bytes(3000));
            pacer.next().as_nanos() / 1000
        };
        assert_eq!([send(500), send(500), send(500)], [500, 500, 3500], "3000 B at 8 Mbit/s take 3 ms");
        assert_eq!([send(3500), send(3600), send(3700)], [3500, 3600, 6500], "a pause within a burst is part of its time");
    }

    #[test]
    fn a_queue_spares_the_first_segments_and_credits_idle_time() {
        let (mut pacer, rate) = (Pacer::of_queue(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let mut send = |micros| {
            pacer.send(at(micros), 1000, rate, NONE);
            pacer.next().as_nanos() / 1000
        };
        assert!((0..10).all(|_| send(100) == 0), "no pause");
        assert_eq!([send(5000), send(5500), send(6800)], [5500, 6500, 7500], "half a pause, a whole one, and one less 0.3 ms");
    }

    #[test]
    fn segments_leave_a_transmission_time_apart() {
        let (mut pacer, rate) = (Pacer::default(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        pacer.send(at(500), 1000, rate, NONE);
        let next = |pacer: &Pacer| pacer.next().as_nanos() / 1000;
        assert_eq!(next(&pacer), 1500, "1000 B at 8 Mbit/s take 1 ms");
        pacer.send(at(1500), 500, rate, NONE);
        assert_eq!(next(&pacer), 2000);
        pacer.send(at(9000), 1000, rate, NONE);
        assert_eq!(next(&pacer), 10_000, "idle time earns no credit");
        pacer.send(at(10_000), 1000, None, NONE);
        assert_eq!(next(&pacer), 10_000);
    }
}
