//! Halving: multiplicative decrease by two.
//! ## What it does
//! Congestion halves the window in force: `cwnd` becomes the unrounded half, and `ssthresh` the half rounded down, at least two segments.
//! After a timeout the host restarts from one segment.
//! ## References
//! RFC 5681 §3.1, equation 4; ns-2.35 with `precisionReduce_`.
//! ## Differs from the document
//! RFC 5681 halves the flight size. This part halves the window in force, as the papers and ns-2 do. Both are equal while the window limits
//! a sender that always has data.
//! ## Parameters
//! None.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::entry::Entry;
use crate::events::CongestionEvent;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "halve",
    summary: "half the window",
    reference: "RFC 5681 §3.1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Halve)),
};

/// Multiplicative decrease by two.
#[derive(Clone, Debug)]
pub struct Halve;

impl LossResponse for Halve {
    fn respond(&mut self, event: &CongestionEvent, _window: &Window, _own: &mut dyn Avoidance) -> Window {
        Window::halved(event.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_rounded_and_the_window_is_not() {
        // Measured in ns-2.35: a window of 35 becomes cwnd 17.5 with ssthresh 17.
        assert_eq!(Window::halved(35.0), Window { cwnd: 17.5, ssthresh: 17.0 });
        assert_eq!(Window::halved(1.0).ssthresh, 2.0);
    }
}
