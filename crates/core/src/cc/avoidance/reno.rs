//! Reno's congestion avoidance: one segment per round trip.
//! ## What it does
//! Adds 1/cwnd segments for each ACK, or each acknowledged segment if the host counts bytes: one segment per round trip. Congestion halves
//! the window.
//! ## References
//! RFC 5681 §3.1, equation 3; Jacobson, *Congestion avoidance and control*, 1988.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::contract::{Avoidance, Window};
use crate::entry::Entry;
use crate::events::Ack;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "reno",
    summary: "one segment per round trip; halves at congestion",
    reference: "RFC 5681 §3.1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Reno)),
};

/// Reno's congestion avoidance.
#[derive(Clone, Debug)]
pub struct Reno;

impl Avoidance for Reno {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // RFC 5681 equation 3, in segments.
        window.cwnd + ack.counted / window.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::testing::{ACK, congestion, window};

    #[test]
    fn one_over_the_window_per_ack() {
        assert_eq!([1.0, 4.0, 10.0].map(|cwnd| Reno.on_ack(&ACK, &window(cwnd))), [2.0, 4.25, 10.1]);
        assert_eq!(Reno.on_ack(&Ack { counted: 2.0, ..ACK }, &window(4.0)), 4.5, "byte counting");
    }

    #[test]
    fn at_most_one_segment_per_round_trip() {
        let mut cwnd = 20.0;
        for _ in 0..20 {
            cwnd = Reno.on_ack(&ACK, &window(cwnd));
        }
        assert!((20.9..=21.0).contains(&cwnd), "{cwnd}");
    }

    #[test]
    fn halves_the_window_in_force() {
        let response = Reno.respond(&congestion(Cause::DupAck, 21.0), &window(30.0));
        assert_eq!(response, Window { cwnd: 10.5, ssthresh: 10.0 });
    }
}
