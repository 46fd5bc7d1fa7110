//! No initial window: all data that there is, paced over the first round trip where it is more than ten segments.
//! ## What it does
//! Starts with all that the application has to send, at most the receiver's window and `most`. More than `pace_above` segments are spread
//! evenly over the round-trip time that the handshake has shown; fewer leave at once. Without such a round-trip time, and after a lost SYN,
//! it starts with `pace_above` segments and with one.
//! ## References
//! Allman, *Removing TCP's initial congestion window*, draft-allman-tcpm-no-initwin-00, 2015, as Aniemeka 2018 (the paper `icw`) reports it: no
//! restriction, but what is above ten segments has to be paced evenly over the first round trip; RFC 5681 §3.1 (one segment after a lost
//! SYN).
//! ## Differs from the document
//! What the draft says beyond these two sentences is not built: after the first window the flow's slow start goes on from there. Data
//! without end needs a bound: the receiver's window or, where that is unknown, `most`.
//! ## Parameters
//! `pace_above`: 10 segments, the draft's. `most`: 1000000 segments, which is no bound in practice.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "unlimited",
    summary: "all data that there is, paced over the first round trip above 10 segments",
    reference: "Aniemeka 2018; draft-allman-tcpm-no-initwin-00",
    params: &[
        Param {
            name: "pace_above",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "a larger initial window is paced; the draft's",
        },
        Param {
            name: "most",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(1e6),
            doc: "largest initial window; in effect none",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Unlimited { pace_above: params.number("pace_above"), most: params.number("most") })),
};

/// All that there is to send.
#[derive(Clone, Debug)]
pub struct Unlimited {
    pace_above: Segments,
    most: Segments,
}

impl InitialWindow for Unlimited {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // What cannot be paced must not exceed what needs no pacing.
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
    fn all_that_there_is_within_the_receivers_window() {
        let part = build(&ENTRY, &[]).unwrap();
        assert_eq!(window(&*part, Some(1000.0), Some(69.1)), 70.0, "the last segment is a short one");
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
    fn what_cannot_be_paced_is_ten_segments_and_after_a_lost_syn_one() {
        let part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.segments(&Established { available: Some(70.0), ..established(1460) }), 10.0);
        assert_eq!(part.segments(&Established { available: Some(7.0), ..established(1460) }), 7.0);
        let lost = Established { lost_syns: 1, rtt: Some(Duration::from_millis(40)), ..established(1460) };
        assert_eq!(part.segments(&lost), 1.0);
    }
}
