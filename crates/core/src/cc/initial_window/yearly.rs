//! Initial window by year: six segments in 2011, fifteen in 2019.
//! ## What it does
//! Starts with 6 + 9 · (`year` − 2011) / 8 segments, rounded down: 6, 7, 8, 9, 10, 11, 12, 13 and 15 segments in 2011 to 2019. After a lost
//! SYN it starts with one segment.
//! ## References
//! Allman, *Initial congestion window specification*, draft-allman-tcpm-bump-initcwnd-00, 2010, as reported by Aniemeka 2018 (the paper
//! `icw`): six segments in 2011, up to fifteen by 2019; RFC 5681 §3.1 (one segment after a lost SYN).
//! ## Differs from the document
//! - The paper gives both ends of the schedule. Between them, the schedule here is linear and rounded down to whole segments; the draft's
//!   own dates are not followed.
//! - Other years are refused, because the schedule does not cover them.
//! ## Parameters
//! `year`: 2015, the middle of the schedule.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// First and last year of the schedule, each with its window.
const FIRST: (f64, Segments) = (2011.0, 6.0);
const LAST: (f64, Segments) = (2019.0, 15.0);

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "yearly",
    summary: "6 segments in 2011, growing yearly to 15 in 2019",
    reference: "Aniemeka 2018; draft-allman-tcpm-bump-initcwnd-00",
    params: &[Param {
        name: "year",
        kind: Kind::Integer { min: FIRST.0, max: LAST.0 },
        default: Default::Number(2015.0),
        doc: "year of the schedule; the default is its middle",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Yearly { year: params.number("year") })),
};

/// An initial window by year.
#[derive(Clone, Debug)]
pub struct Yearly {
    year: f64,
}

impl InitialWindow for Yearly {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // The product comes before the division, so that whole numbers stay exact.
        (FIRST.1 + (LAST.1 - FIRST.1) * (self.year - FIRST.0) / (LAST.0 - FIRST.0)).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};

    #[test]
    fn from_six_in_2011_to_fifteen_in_2019() {
        let window = |year: u32| {
            let part = build(&ENTRY, &[("year", Value::Number(f64::from(year)))]).unwrap();
            part.segments(&established(1460))
        };
        // 9/8 of a segment per year: 6, 7.125, 8.25, 9.375, 10.5, 11.625, 12.75, 13.875, 15.
        let windows: Vec<Segments> = (2011..=2019).map(window).collect();
        assert_eq!(windows, [6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 15.0]);
    }

    #[test]
    fn one_segment_after_a_lost_syn() {
        let part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
    }
}
