//! No initial window: sends all available data, paced over the first round trip beyond ten segments.
//! ## What it does
//! Starts with all the application's data, limited by the receiver's window and `most`. A window of more than `pace_above` segments is
//! spread evenly over the handshake's round-trip time; a smaller one leaves at once. Without a round-trip time the window is at most
//! `pace_above` segments; after a lost SYN it is one segment.
//! ## References
//! Allman, *Removing TCP's initial congestion window*, draft-allman-tcpm-no-initwin-00, 2015, as reported by Aniemeka 2018 (the paper
//! `icw`): no limit, but a window above ten segments must be paced evenly over the first round trip; RFC 5681 §3.1 (one segment after a
//! lost SYN).
//! ## Differs from the document
//! - Only these two rules of the draft are implemented: after the first window the flow's slow start takes over.
//! - Endless data needs a bound: the receiver's window or, if unknown, `most`.
//! ## Parameters
//! `pace_above`: 10 segments, from the draft. `most`: 1000000 segments, in practice no bound.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "unlimited",
    summary: "all available data, paced over the first round trip beyond 10 segments",
    reference: "Aniemeka 2018; draft-allman-tcpm-no-initwin-00",
    params: &[
        Param {
            name: "pace_above",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "largest initial window that is not paced (the draft: 10)",
        },
        Param {
            name: "most",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(1e6),
            doc: "largest initial window; the default is in practice no bound",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Unlimited::new(params.number("pace_above"), params.number("most")))),
};

/// An initial window of all available data.
#[derive(Clone, Debug)]
pub struct Unlimited {
    pace_above: Segments,
    most: Segments,
}

impl Unlimited {
    /// At most `most` segments; above `pace_above` they must be paced.
    pub(crate) const fn new(pace_above: Segments, most: Segments) -> Self {
        Self { pace_above, most }
    }
}

impl InitialWindow for Unlimited {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // Without a round-trip time the window cannot be paced, so it must not exceed `pace_above`.
        let most = if event.rtt.is_some() { self.most } else { self.most.min(self.pace_above) };
        let offered = event.available.unwrap_or(Segments::INFINITY).ceil();
        most.min(offered).min(event.rwnd.unwrap_or(Segments::INFINITY))
    }

    fn paces(&self, segments: Segments) -> bool {
        segments > self.pace_above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};
    use crate::units::Duration;

    fn window(part: &dyn InitialWindow, rwnd: Option<Segments>, available: Option<Segments>) -> Segments {
        part.segments(&Established { rtt: Some(Duration::from_millis(40)), rwnd, available, ..established(1460) })
    }

    #[test]
    fn all_available_data_within_the_receivers_window() {
        let part = build(&ENTRY, &[]).unwrap();
        assert_eq!(window(&*part, Some(1000.0), Some(69.1)), 70.0, "the last segment is short");
        assert_eq!(window(&*part, Some(44.0), Some(69.1)), 44.0);
        assert_eq!(window(&*part, Some(44.0), None), 44.0);
        assert_eq!(window(&*part, None, None), 1e6);
        let bounded = build(&ENTRY, &[("most", Value::Number(32.0))]).unwrap();
        assert_eq!(window(&*bounded, Some(44.0), None), 32.0);
    }

    #[test]
    fn more_than_ten_segments_are_paced() {
        let part = build(&ENTRY, &[]).unwrap();
        assert!(!part.paces(10.0));
        assert!(part.paces(11.0));
    }

    #[test]
    fn ten_segments_without_a_round_trip_time_and_one_after_a_lost_syn() {
        let part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.segments(&Established { available: Some(70.0), ..established(1460) }), 10.0);
        assert_eq!(part.segments(&Established { available: Some(7.0), ..established(1460) }), 7.0);
        let lost = Established { lost_syns: 1, rtt: Some(Duration::from_millis(40)), ..established(1460) };
        assert_eq!(part.segments(&lost), 1.0);
    }
}
