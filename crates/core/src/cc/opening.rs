//! The first flight of a slow start that spreads it over the handshake's round trip: its rate, and its fate.

use crate::cc::contract::Window;
use crate::events::{Established, Lost, Sent};
use crate::units::{Bytes, Duration, Rate, Segments};

/// A first flight. Positions and amounts are in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    smss: u64,
    rate: Option<Rate>,
    /// One past the last position of the flight.
    end: u64,
    /// What has not been sent.
    left: u64,
    lost: u64,
}

impl Opening {
    /// The flight of `window` after the handshake `event`. Without a round-trip time it leaves at once.
    pub(crate) fn new(event: &Established, window: &Window) -> Self {
        let smss = event.smss.0.max(1);
        let seconds = event.rtt.map(|rtt| rtt.max(Duration::NANOSECOND).as_secs_f64());
        // The host's pacer counts headers too.
        let bits = window.cwnd * (smss + event.header.0) as f64 * 8.0;
        let rate = seconds.and_then(|seconds| Rate::from_bits_per_sec((bits / seconds) as u64));
        let end = (window.cwnd * smss as f64) as u64;
        Self { smss, rate, end, left: end, lost: 0 }
    }

    /// A segment was sent.
    pub(crate) fn sent(&mut self, sent: &Sent) {
        if !sent.retransmission {
            self.left = self.left.saturating_sub(sent.size);
        }
    }

    /// A segment was declared lost.
    pub(crate) fn note_lost(&mut self, lost: &Lost) {
        if lost.start < self.end {
            self.lost += lost.end - lost.start;
        }
    }

    /// The rate at which the flight leaves; `None` once it has left.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.rate.filter(|_| self.left > 0)
    }

    /// Whether all that was sent of the flight lies below the position `una`.
    pub(crate) fn is_acked(&self, una: u64) -> bool {
        una >= self.end - self.left
    }

    /// Whether segments of the flight were lost.
    pub(crate) fn met_loss(&self) -> bool {
        self.lost > 0
    }

    /// Segments of the flight that were sent and not lost.
    pub(crate) fn arrived(&self) -> Segments {
        (self.end - self.left).saturating_sub(self.lost) as f64 / self.smss as f64
    }

    /// From now on, segments carry `smss` bytes.
    pub(crate) fn change_mss(&mut self, smss: Bytes) {
        self.smss = smss.0.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SENT, established, window};
    use crate::units::Instant;

    #[test]
    fn a_flight_leaves_in_a_round_trip_and_counts_its_losses() {
        let event = established(1000).with(|event| (event.rtt, event.header) = (Some(Duration::from_millis(100)), Bytes(40)));
        let mut flight = Opening::new(&event, &window(4.0));
        assert_eq!(flight.rate().map(Rate::as_bits_per_sec), Some(332_800), "4 · 1040 B in 0.1 s");
        for _ in 0..3 {
            flight.sent(&SENT);
        }
        assert!(flight.rate().is_some() && !flight.is_acked(2999) && flight.is_acked(3000));
        flight.sent(&SENT);
        assert!(flight.rate().is_none());
        flight.note_lost(&Lost::new(Instant::ZERO, 1000, 2000));
        flight.note_lost(&Lost::new(Instant::ZERO, 4000, 5000));
        assert_eq!((flight.arrived(), flight.met_loss()), (3.0, true), "the last loss is beyond the flight");
        assert!(Opening::new(&established(1000), &window(4.0)).rate().is_none(), "no round-trip time");
    }
}
