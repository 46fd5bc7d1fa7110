//! Delivery-rate samples, and round trips counted by deliveries.
//!
//! ## References
//! draft-ietf-ccwg-bbr, "Delivery Rate Samples" (earlier: draft-cheng-iccrg-delivery-rate-estimation-02 §3) and "Round Trip Counting".

use ackclock_core::events::{RateSample, Snapshot};
use ackclock_core::units::{Duration, Instant, Rate};

/// The delivery-rate estimator.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Instant,
    /// Sending time of the segment that was last seen delivered, or of the first segment of the flight.
    first_sent: Instant,
    lost: u64,
    /// Bytes lost at the last ACK.
    lost_at_ack: u64,
    round: u64,
    /// Delivered bytes at which the round ends: a segment sent after that point belongs to the next round.
    round_end: u64,
    /// Segments sent before this many bytes were delivered give application-limited samples; zero: no segment does.
    app_limited_until: u64,
}

impl DeliveryRate {
    /// The snapshot of a segment of `size` bytes that is sent now; `inflight`: bytes in flight before it.
    pub fn send(&mut self, now: Instant, size: u64, inflight: u64) -> Snapshot {
        if inflight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Snapshot::new(now).with(|packet| {
            packet.delivered = self.delivered;
            packet.delivered_at = self.delivered_at;
            packet.first_sent = self.first_sent;
            packet.lost = self.lost;
            packet.inflight = inflight + size;
            packet.app_limited = self.is_app_limited();
        })
    }

    /// The application has no data to send, although the window has room; `inflight`: bytes in flight.
    pub fn note_app_limited(&mut self, inflight: u64) {
        self.app_limited_until = (self.delivered + inflight).max(1);
    }

    /// Whether the application has limited the current flight.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// Counts `bytes` as lost.
    pub fn count_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Counts `bytes` as delivered if the segment's snapshot is unknown.
    pub fn count_delivered(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// An ACK delivers `bytes`; `newest` is the snapshot of the delivered segment that was sent last.
    #[inline]
    pub fn deliver(&mut self, now: Instant, bytes: u64, newest: &Snapshot, min_rtt: Option<Duration>) -> RateSample {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent = newest.sent_at;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if newest.delivered >= self.round_end {
            self.round += 1;
            self.round_end = self.delivered;
        }
        // The longer interval gives the slower of the sending and the ACK rate: compressed ACKs cannot raise the sample.
        let sending = newest.sent_at.since(newest.first_sent);
        let acknowledging = now.since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        let delivered = self.delivered - newest.delivered;
        // An interval shorter than the minimum round trip gives no rate.
        let short = interval < Duration::NANOSECOND || min_rtt.is_some_and(|min| interval + Duration::NANOSECOND < min);
        let rate = if short { None } else { Rate::from_bits_per_sec((8.0 * delivered as f64 / interval.as_secs_f64()).round() as u64) };
        RateSample::new(*newest, delivered, interval).with(|sample| sample.rate = rate)
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes lost since the last call.
    pub fn take_newly_lost(&mut self) -> u64 {
        self.lost - std::mem::replace(&mut self.lost_at_ack, self.lost)
    }

    /// Round trips so far.
    pub fn round(&self) -> u64 {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A sender of 1000-byte segments and its estimator.
    #[derive(Default)]
    struct Flight {
        rate: DeliveryRate,
        segments: VecDeque<Snapshot>,
    }

    impl Flight {
        fn send(&mut self, millis: u64) {
            let inflight = 1000 * self.segments.len() as u64;
            self.segments.push_back(self.rate.send(at(millis), 1000, inflight));
        }

        /// Receives an ACK of the first segment.
        fn deliver(&mut self, millis: u64, min_rtt: Option<Duration>) -> RateSample {
            let newest = self.segments.pop_front().unwrap();
            self.rate.deliver(at(millis), 1000, &newest, min_rtt)
        }
    }

    /// The rate samples, in bit/s, of segments sent every `gap` ms and acknowledged `rtt` ms later.
    fn rates(gap: u64, rtt: u64, count: u64) -> Vec<u64> {
        let (mut flight, mut rates) = (Flight::default(), Vec::new());
        for now in 0..=(gap * count + rtt) {
            if now >= rtt && (now - rtt).is_multiple_of(gap) && (now - rtt) / gap < count {
                rates.extend(flight.deliver(now, Some(Duration::from_millis(rtt))).rate.map(Rate::as_bits_per_sec));
            }
            if now.is_multiple_of(gap) && now / gap < count {
                flight.send(now);
            }
        }
        assert_eq!(flight.rate.delivered(), 1000 * count);
        rates
    }

    #[test]
    fn the_rate_of_a_steady_flow_is_its_rate() {
        // 1000 B every 2 ms are 4 Mbit/s.
        let rates = rates(2, 20, 50);
        assert_eq!(rates.len(), 50);
        // The first flight starts from idle, so its first samples cover little data. From the second flight on the rate is exact.
        assert!(rates[20..].iter().all(|&rate| rate == 4_000_000), "{rates:?}");
        assert!(rates[..20].iter().all(|&rate| rate <= 4_000_000), "{rates:?}");
    }

    #[test]
    fn a_burst_into_an_empty_path_shows_k_segments_in_the_time_of_the_kth_ack() {
        let mut flight = Flight::default();
        for _ in 0..10 {
            flight.send(0);
        }
        // A round trip of 100 ms, and 3 ms for each segment at the bottleneck: k / (R + (k − 1) s).
        for k in 1..=10 {
            let sample = flight.deliver(100 + 3 * (k - 1), Some(at(100).since(at(0))));
            let expected = (8000.0 * k as f64 / (0.1 + 0.003 * (k - 1) as f64)).round() as u64;
            assert_eq!(sample.rate.map(Rate::as_bits_per_sec), Some(expected), "segment {k}");
            assert_eq!((sample.delivered, sample.packet.inflight), (1000 * k, 1000 * k));
        }
    }

    #[test]
    fn compressed_acks_show_the_rate_of_sending() {
        let mut flight = Flight::default();
        flight.send(0);
        flight.deliver(20, None);
        for now in 20..30 {
            flight.send(now);
        }
        // All ten ACKs arrive at once, half a round trip late.
        let samples: Vec<RateSample> = (0..10).map(|_| flight.deliver(40, None)).collect();
        assert_eq!(samples[9].rate.map(Rate::as_bits_per_sec), Some(4_000_000), "10 segments in the 20 ms after the first ACK");
        assert!(samples.iter().all(|sample| sample.interval >= at(20).since(at(0))));
    }

    #[test]
    fn samples_record_that_the_application_was_idle() {
        let mut flight = Flight::default();
        flight.send(0);
        flight.send(0);
        // The application has no more data with two segments in flight, and two more after a pause.
        flight.rate.note_app_limited(2000);
        flight.send(5);
        let limited = |sample: RateSample| sample.packet.app_limited;
        assert!(!limited(flight.deliver(20, None)) && !limited(flight.deliver(21, None)), "sent before the pause");
        flight.send(22);
        assert!(limited(flight.deliver(25, None)), "sent while the window had room");
        assert!(limited(flight.deliver(42, None)), "sent before any data after the pause was delivered");
        flight.send(43);
        assert!(!limited(flight.deliver(63, None)), "all data in flight at the pause has been delivered");
    }

    #[test]
    fn a_round_is_the_data_sent_since_the_last_began() {
        let mut flight = Flight::default();
        for _ in 0..4 {
            flight.send(0);
        }
        let mut rounds = Vec::new();
        for index in 0..8 {
            flight.deliver(10 + index, None);
            rounds.push(flight.rate.round());
            flight.send(10 + index);
        }
        assert_eq!(rounds, [1, 1, 1, 1, 2, 2, 2, 2], "a window of four");
    }
}
