//! The limits of lateness above which a run is repeated.
//!
//! Measured with Reno and CUBIC of Linux 6.18 (20 Mbit/s, 40 ms, a queue of one bandwidth-delay product, 2.5 s, 78 runs): a stall of the
//! emulator costs about its own duration in slow start, and less later. Runs without stall differ by 0.5 % in delivered data. With a stall
//! of 10 ms they differ by 0.7 %; 25 ms cost up to 1.5 %, and 100 ms up to 5.7 %. A stall of 10 ms in slow start changed how CUBIC left it in
//! one of three runs: HyStart takes late ACKs for a queue.

use ackclock_core::units::Duration;

use super::Lateness;

/// Largest lateness of a release in a run that counts.
const MOST: Duration = Duration::from_millis(10);
/// Largest median of lateness in a run that counts: the error of a round-trip time.
const MEDIAN: Duration = Duration::from_nanos(500_000);

/// Why a run does not count, if it does not.
pub(super) fn reason(lateness: &Lateness) -> Option<String> {
    let millis = |late: Duration| 1e3 * late.as_secs_f64();
    if lateness.max > MOST {
        return Some(format!("a packet was released {:.1} ms late (limit: {} ms)", millis(lateness.max), millis(MOST)));
    }
    (lateness.p50 > MEDIAN)
        .then(|| format!("half of the packets were released more than {:.2} ms late (limit: {} ms)", millis(lateness.p50), millis(MEDIAN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_or_a_late_median_taints() {
        let late = |p50, max| {
            reason(&Lateness { releases: 9, p50: Duration::from_nanos(p50), p99: Duration::ZERO, max: Duration::from_nanos(max) })
        };
        assert_eq!(late(500_000, 10_000_000), None);
        assert_eq!(late(500_000, 12_340_000).unwrap(), "a packet was released 12.3 ms late (limit: 10 ms)");
        assert_eq!(late(612_000, 9_000_000).unwrap(), "half of the packets were released more than 0.61 ms late (limit: 0.5 ms)");
        assert_eq!(reason(&Lateness::default()), None);
    }
}
