//! Limited slow start: standard up to `max_ssthresh`, then at most half of that per round trip.
//! ## What it does
//! Below `max_ssthresh` it adds one segment per ACK. From there it adds 1/K segments per ACK with `K = ⌊cwnd / (max_ssthresh/2)⌋`. The
//! window then grows by at most `max_ssthresh`/2 per round trip, which bounds the loss when it overshoots the path's capacity.
//! ## References
//! RFC 3742 §2.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `max_ssthresh`: 100 segments, as RFC 3742 §2 recommends.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::Entry;
use crate::events::Ack;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// The parameter of limited slow start.
pub(super) const MAX_SSTHRESH: Param = Param {
    name: "max_ssthresh",
    kind: Kind::Segments { min: 2.0, max: 1e9 },
    default: Default::Number(100.0),
    doc: "window from which growth is limited (RFC 3742 §2: 100)",
};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "limited",
    summary: "standard up to max_ssthresh, then at most max_ssthresh/2 per round trip",
    reference: "RFC 3742 §2",
    params: &[MAX_SSTHRESH],
    quantities: &[],
    build: |params| Ok(Box::new(Limited { max_ssthresh: params.number("max_ssthresh") })),
};

/// Limited slow start.
#[derive(Clone, Debug)]
pub struct Limited {
    max_ssthresh: Segments,
}

/// RFC 3742 §2: 1/K segments per ACK with `K = ⌊cwnd / (max_ssthresh/2)⌋`, for windows from `max_ssthresh` on.
pub(super) fn limited_growth(cwnd: Segments, max_ssthresh: Segments) -> Segments {
    1.0 / libm::floor(cwnd / (0.5 * max_ssthresh))
}

impl SlowStart for Limited {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if window.cwnd < self.max_ssthresh {
            Step::Grow(ack.counted)
        } else {
            Step::Grow(ack.counted * limited_growth(window.cwnd, self.max_ssthresh))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ACK, build, window};

    #[test]
    fn growth_falls_in_steps_of_half_the_threshold() {
        // RFC 3742 §2: K = 2 from 100, 3 from 150, 4 from 200.
        let growth = [100.0, 149.9, 150.0, 200.0].map(|cwnd| limited_growth(cwnd, 100.0));
        assert_eq!(growth, [1.0 / 2.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]);
    }

    #[test]
    fn at_most_half_the_threshold_in_a_round_trip() {
        for start in [100.0, 180.0, 1234.0_f64] {
            let mut cwnd = start;
            for _ in 0..start as u32 {
                cwnd += limited_growth(cwnd, 100.0);
            }
            assert!(cwnd - start <= 50.0 + 1e-9, "{start} grew by {}", cwnd - start);
        }
    }

    #[test]
    fn standard_below_the_threshold() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let growth = [1.0, 99.9, 100.0].map(|cwnd| part.on_ack(&ACK, &window(cwnd)));
        assert_eq!(growth, [1.0, 1.0, 0.5].map(Step::Grow));
        assert_eq!(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(150.0)), Step::Grow(2.0 / 3.0), "byte counting");
    }
}
