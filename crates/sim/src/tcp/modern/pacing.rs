//! Spreads sending over the round trip.
//!
//! ## References
//! Aggarwal, Savage & Anderson, *Understanding the performance of TCP pacing*, 2000; RFC 9002 §7.7 (a rate of N · cwnd/srtt).

use ackclock_core::cc::{CongestionControl, Phase};
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

use super::config::Pacing;

/// When the next segment may leave.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    next: Instant,
}

impl Pacer {
    /// The rate now; `None`: without pacing.
    pub(super) fn rate(setting: Pacing, control: &dyn CongestionControl, cwnd: u64, srtt: Option<Duration>) -> Option<Rate> {
        if let Some(rate) = control.pacing_rate() {
            return Some(rate);
        }
        let Pacing::Window { slow_start, avoidance } = setting else { return None };
        let gain = if control.phase() == Phase::SlowStart { slow_start } else { avoidance };
        // RFC 9002 §7.7.
        let seconds = srtt?.max(Duration::NANOSECOND).as_secs_f64();
        Rate::from_bits_per_sec((gain * cwnd as f64 * 8.0 / seconds) as u64)
    }

    /// When the next segment may leave.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// A segment of `size` bytes was sent at `rate`.
    pub(super) fn send(&mut self, now: Instant, size: u64, rate: Option<Rate>) {
        if let Some(rate) = rate {
            self.next = self.next.max(now) + rate.transmission(Bytes(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_leave_a_transmission_time_apart() {
        let (mut pacer, rate) = (Pacer::default(), Rate::from_bits_per_sec(8_000_000));
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        pacer.send(at(500), 1000, rate);
        let next = |pacer: &Pacer| pacer.next().as_nanos() / 1000;
        assert_eq!(next(&pacer), 1500, "1000 B at 8 Mbit/s take 1 ms");
        pacer.send(at(1500), 500, rate);
        assert_eq!(next(&pacer), 2000);
        pacer.send(at(9000), 1000, rate);
        assert_eq!(next(&pacer), 10_000, "nothing is saved up");
        pacer.send(at(10_000), 1000, None);
        assert_eq!(next(&pacer), 10_000);
    }
}
