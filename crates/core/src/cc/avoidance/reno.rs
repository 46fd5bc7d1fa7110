//! Reno's congestion avoidance: one segment per round trip.
//! ## What it does
//! Adds 1/cwnd segments for each ACK, or each acknowledged segment if the host counts bytes: one segment per round trip. Congestion halves
//! the window. On a host with whole segments, it counts acknowledged segments and adds one segment when `cwnd` of them have arrived.
//! ## References
//! RFC 5681 §3.1, equation 3, and its note on counting acknowledged bytes; Jacobson, *Congestion avoidance and control*, 1988.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::contract::{Avoidance, Window};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent, Established};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "reno",
    summary: "one segment per round trip; halves at congestion",
    reference: "RFC 5681 §3.1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Reno::default())),
};

/// Reno's congestion avoidance.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    /// The acknowledged segments, if the host has whole segments.
    count: Option<Count>,
}

impl Avoidance for Reno {
    fn on_established(&mut self, event: &Established) {
        self.count = event.whole_segments.then(Count::default);
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.on_restart();
    }

    fn on_restart(&mut self) {
        self.count = self.count.map(|_| Count::default());
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if let Some(count) = &mut self.count {
            return window.cwnd + count.add(ack.counted, window.cwnd);
        }
        // RFC 5681 equation 3, in segments.
        window.cwnd + ack.counted / window.cwnd
    }
}

/// Acknowledged segments that have not yet made the window grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count(Segments);

impl Count {
    /// No segments.
    pub(super) const NONE: Self = Self(0.0);

    /// Counts `acked` segments; returns the whole segments by which the window grows if each takes `per_segment` of them.
    pub(super) fn add(&mut self, acked: Segments, per_segment: Segments) -> Segments {
        // The number per segment may have become smaller: one segment is due, and the surplus is void.
        let due = if self.0 >= per_segment {
            self.0 = 0.0;
            1.0
        } else {
            0.0
        };
        self.0 += acked;
        if self.0 < per_segment {
            return due;
        }
        let grown = libm::floor(self.0 / per_segment);
        self.0 -= grown * per_segment;
        due + grown
    }

    /// Whether `per_segment` segments have been acknowledged, which then begin anew; if not, counts `acked` more.
    pub(super) fn is_full(&mut self, acked: Segments, per_segment: Segments) -> bool {
        let full = self.0 >= per_segment;
        self.0 = if full { 0.0 } else { self.0 + acked };
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::testing::{ACK, congestion, established, window};

    #[test]
    fn one_over_the_window_per_ack() {
        assert_eq!([1.0, 4.0, 10.0].map(|cwnd| Reno::default().on_ack(&ACK, &window(cwnd))), [2.0, 4.25, 10.1]);
        assert_eq!(Reno::default().on_ack(&Ack { counted: 2.0, ..ACK }, &window(4.0)), 4.5, "byte counting");
    }

    #[test]
    fn at_most_one_segment_per_round_trip() {
        let mut cwnd = 20.0;
        for _ in 0..20 {
            cwnd = Reno::default().on_ack(&ACK, &window(cwnd));
        }
        assert!((20.9..=21.0).contains(&cwnd), "{cwnd}");
    }

    /// The windows after each of the ACKs, which count these segments.
    fn whole(mut cwnd: Segments, counted: &[Segments]) -> Vec<Segments> {
        let mut part = Reno::default();
        part.on_established(&Established { whole_segments: true, ..established(1000) });
        let mut ack = |&counted: &Segments| {
            cwnd = part.on_ack(&Ack { counted, ..ACK }, &window(cwnd));
            cwnd
        };
        counted.iter().map(&mut ack).collect()
    }

    #[test]
    fn whole_segments_count_a_window_of_acknowledged_segments() {
        assert_eq!(whole(4.0, &[1.0; 9]), [4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0]);
        // The rest of an ACK counts towards the next segment.
        assert_eq!(whole(3.0, &[2.0; 5]), [3.0, 4.0, 4.0, 5.0, 5.0]);
        assert_eq!(whole(2.0, &[7.0, 4.0]), [5.0, 6.0], "three segments at once");
    }

    #[test]
    fn a_smaller_number_per_segment_voids_the_surplus() {
        let mut count = Count::default();
        assert_eq!(count.add(9.0, 10.0), 0.0);
        assert_eq!(count.add(1.0, 4.0), 1.0);
        assert_eq!(count, Count(1.0));
    }

    #[test]
    fn a_reduction_resets_the_count() {
        let mut part = Reno { count: Some(Count(3.0)) };
        part.on_reduction(&congestion(Cause::DupAck, 8.0), &window(4.0));
        assert_eq!(part.count, Some(Count::default()));
    }

    #[test]
    fn halves_the_window_in_force() {
        let response = Reno::default().respond(&congestion(Cause::DupAck, 21.0), &window(30.0));
        assert_eq!(response, Window { cwnd: 10.5, ssthresh: 10.0 });
    }
}
