//! Reno's congestion avoidance: one segment a round trip.
//! ## What it does
//! Adds 1/cwnd segments per ACK that counts, which is one segment in a round trip. At congestion it halves the window.
//! ## References
//! RFC 5681 §3.1, equation 3; Jacobson, *Congestion avoidance and control*, 1988.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::{Avoidance, Window};
use crate::events::Ack;
use crate::registry::Entry;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "reno",
    summary: "one segment a round trip; halves at congestion",
    reference: "RFC 5681 §3.1",
    params: &[],
    build: |_| Ok(Box::new(Reno)),
};

/// Reno's congestion avoidance.
#[derive(Debug)]
pub struct Reno;

impl Avoidance for Reno {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // RFC 5681 equation 3, in segments.
        window.cwnd + ack.counted / window.cwnd
    }
}
