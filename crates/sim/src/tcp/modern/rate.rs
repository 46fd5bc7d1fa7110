//! The delivery rate, and rounds counted by deliveries.
//!
//! ## References
//! draft-cheng-iccrg-delivery-rate-estimation-02 §3; draft-cardwell-iccrg-bbr-congestion-control-02 §4.5.1 (rounds).

use ackclock_core::units::{Duration, Instant, Rate};

use super::scoreboard::SentSegment;
use super::stamp::Stamp;

/// The estimator.
#[derive(Debug, Default)]
pub(super) struct DeliveryRate {
    now: Stamp,
    round: u64,
    /// Delivered bytes at which the round ends: a segment sent after so many had been delivered is of the next one.
    round_end: u64,
    /// Samples of what was sent before so many bytes had been delivered are limited by the application; zero: none is.
    app_limited_until: u64,
    /// Whether the last sample was.
    sample_limited: bool,
}

impl DeliveryRate {
    /// The stamp of a segment that is sent now (draft §3.2); `idle`: nothing is in flight.
    pub(super) fn stamp(&mut self, now: Instant, idle: bool) -> Stamp {
        if idle {
            (self.now.first_sent, self.now.delivered_at) = (now, now);
        }
        self.now.app_limited = self.app_limited_until > 0;
        self.now
    }

    /// The application has nothing to send, though the window would let it; `pipe` bytes are in flight (draft §3.4).
    pub(super) fn note_app_limited(&mut self, pipe: u64) {
        self.app_limited_until = (self.now.delivered + pipe).max(1);
    }

    /// Whether the last sample was limited by the application.
    pub(super) fn is_app_limited(&self) -> bool {
        self.sample_limited
    }

    /// Takes what an ACK delivers (draft §3.3); gives the rate over the round trip of the segment sent last.
    pub(super) fn deliver(&mut self, now: Instant, segments: &[SentSegment], min_rtt: Option<Duration>) -> Option<Rate> {
        let newest = segments.iter().max_by_key(|segment| (segment.stamp.delivered, segment.sent_at, segment.end))?;
        self.now.delivered += segments.iter().map(SentSegment::len).sum::<u64>();
        self.now.delivered_at = now;
        self.now.first_sent = newest.sent_at;
        self.sample_limited = newest.stamp.app_limited;
        if self.now.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if newest.stamp.delivered >= self.round_end {
            self.round += 1;
            self.round_end = self.now.delivered;
        }
        // Draft §2.2: the slower of the rates of sending and of acknowledging, so that compressed ACKs cannot raise it.
        let sending = newest.sent_at.since(newest.stamp.first_sent);
        let acknowledging = now.since(newest.stamp.delivered_at);
        let interval = sending.max(acknowledging);
        // Draft §3.3: what took less than any round trip is no sample.
        if interval < Duration::NANOSECOND || min_rtt.is_some_and(|min| interval + Duration::NANOSECOND < min) {
            return None;
        }
        let bits = 8.0 * (self.now.delivered - newest.stamp.delivered) as f64;
        Rate::from_bits_per_sec((bits / interval.as_secs_f64()).round() as u64)
    }

    /// Bytes delivered so far.
    #[cfg(test)]
    pub(super) fn delivered(&self) -> u64 {
        self.now.delivered
    }

    /// Round trips so far.
    pub(super) fn round(&self) -> u64 {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Segments of 1000 bytes sent back to back every `gap` ms and acknowledged `rtt` ms later: the rates in bit/s.
    fn rates(gap: u64, rtt: u64, count: u64) -> Vec<u64> {
        let (mut rate, mut board, mut rates) = (DeliveryRate::default(), Scoreboard::default(), Vec::new());
        for now in 0..=(gap * count + rtt) {
            if now >= rtt && (now - rtt).is_multiple_of(gap) && (now - rtt) / gap < count {
                let mut delivered = Vec::new();
                board.acknowledge(((now - rtt) / gap + 1) * 1000, &mut delivered);
                rates.extend(rate.deliver(at(now), &delivered, Some(Duration::from_millis(rtt))).map(Rate::as_bits_per_sec));
            }
            if now.is_multiple_of(gap) && now / gap < count {
                let stamp = rate.stamp(at(now), board.flight_size() == 0);
                board.send(at(now), (now / gap * 1000, (now / gap + 1) * 1000), stamp);
            }
        }
        assert_eq!(rate.delivered(), 1000 * count);
        rates
    }

    #[test]
    fn the_rate_of_a_steady_flow_is_its_rate() {
        // 1000 B every 2 ms are 4 Mbit/s.
        let rates = rates(2, 20, 50);
        assert_eq!(rates.len(), 50);
        // The first flight leaves idle, so that its first segments are measured over little data; from the second on it is exact.
        assert!(rates[20..].iter().all(|&rate| rate == 4_000_000), "{rates:?}");
        assert!(rates[..20].iter().all(|&rate| rate <= 4_000_000), "{rates:?}");
    }

    #[test]
    fn samples_know_that_the_application_was_idle() {
        let (mut rate, mut board) = (DeliveryRate::default(), Scoreboard::default());
        let send = |rate: &mut DeliveryRate, board: &mut Scoreboard, now, index| {
            let stamp = rate.stamp(at(now), board.flight_size() == 0);
            board.send(at(now), (index, index + 1), stamp);
        };
        let deliver = |rate: &mut DeliveryRate, board: &mut Scoreboard, now, index: u64| {
            let mut delivered = Vec::new();
            board.acknowledge(index + 1, &mut delivered);
            rate.deliver(at(now), &delivered, None);
            rate.is_app_limited()
        };
        send(&mut rate, &mut board, 0, 0);
        send(&mut rate, &mut board, 0, 1);
        // Nothing more to send with two in flight; then two more after a pause.
        rate.note_app_limited(2);
        send(&mut rate, &mut board, 5, 2);
        assert!(!deliver(&mut rate, &mut board, 20, 0) && !deliver(&mut rate, &mut board, 21, 1), "sent before");
        send(&mut rate, &mut board, 22, 3);
        assert!(deliver(&mut rate, &mut board, 25, 2), "sent while there was room");
        assert!(deliver(&mut rate, &mut board, 42, 3), "sent before anything beyond the gap was delivered");
        send(&mut rate, &mut board, 43, 4);
        assert!(!deliver(&mut rate, &mut board, 63, 4), "what was in flight then has been delivered");
    }

    #[test]
    fn a_round_is_the_data_sent_since_the_last_began() {
        let (mut rate, mut board) = (DeliveryRate::default(), Scoreboard::default());
        let mut rounds = Vec::new();
        for index in 0..4 {
            let stamp = rate.stamp(at(0), index == 0);
            board.send(at(0), (index, index + 1), stamp);
        }
        for index in 0..8 {
            let mut delivered = Vec::new();
            board.acknowledge(index + 1, &mut delivered);
            rate.deliver(at(10 + index), &delivered, None);
            rounds.push(rate.round());
            let stamp = rate.stamp(at(10 + index), false);
            board.send(at(10 + index), (index + 4, index + 5), stamp);
        }
        assert_eq!(rounds, [1, 1, 1, 1, 2, 2, 2, 2], "a window of four");
    }
}
