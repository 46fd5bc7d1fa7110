//! Standard slow start: one segment per ACK, which doubles the window in a round trip.
//! ## What it does
//! Adds one segment for each ACK, or each acknowledged segment if the host counts bytes. Slow start ends when the window reaches
//! `ssthresh`, or at congestion.
//! ## References
//! RFC 5681 §3.1, equation 2; Jacobson, *Congestion avoidance and control*, 1988.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::Entry;
use crate::events::Ack;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "standard",
    summary: "one segment per ACK: the window doubles in a round trip",
    reference: "RFC 5681 §3.1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Standard)),
};

/// Standard slow start.
#[derive(Clone, Debug)]
pub struct Standard;

impl SlowStart for Standard {
    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        // RFC 5681 equation 2.
        Step::Grow(ack.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ACK, window};

    #[test]
    fn one_segment_per_counted_segment() {
        assert_eq!(Standard.on_ack(&ACK, &window(1.0)), Step::Grow(1.0));
        assert_eq!(Standard.on_ack(&Ack { counted: 2.0, ..ACK }, &window(1e6)), Step::Grow(2.0), "byte counting");
    }
}
