//! Halving: multiplicative decrease by two.
//! ## What it does
//! At congestion `ssthresh` becomes half the window in force, rounded down, and `cwnd` half of it unrounded. After a timeout the host
//! starts over from one segment.
//! ## References
//! RFC 5681 §3.1, equation 4; ns-2.35 with `precisionReduce_`.
//! ## Differs from the document
//! RFC 5681 halves the flight size. Here the window in force is halved, as the papers and ns-2 do; they are equal while the sender always
//! has data and the window limits it.
//! ## Parameters
//! None.

use crate::cc::{LossResponse, Window};
use crate::events::CongestionEvent;
use crate::registry::Entry;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> =
    Entry { name: "halve", summary: "half the window", reference: "RFC 5681 §3.1", params: &[], build: |_| Ok(Box::new(Halve)) };

/// Multiplicative decrease by two.
#[derive(Debug)]
pub struct Halve;

/// The window in force divided by two.
pub fn halve(window: Segments) -> Window {
    divide(window, 2.0)
}

/// The window in force divided by `divisor`.
pub(super) fn divide(window: Segments, divisor: f64) -> Window {
    reduced_to(window / divisor)
}

/// The window after a reduction to `cwnd`: `ssthresh` rounded down to whole segments, at least 2; `cwnd` as it is.
pub(crate) fn reduced_to(cwnd: Segments) -> Window {
    Window { cwnd, ssthresh: libm::floor(cwnd).max(2.0) }
}

impl LossResponse for Halve {
    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        halve(event.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_whole_and_the_window_is_not() {
        // Measured in ns-2.35: a window of 35 becomes cwnd 17.5 with ssthresh 17.
        assert_eq!(halve(35.0), Window { cwnd: 17.5, ssthresh: 17.0 });
        assert_eq!(halve(1.0).ssthresh, 2.0);
    }
}
