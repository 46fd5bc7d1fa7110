//! Staged slow start: growth by zones of the window, fast at first and slower later (Advanced Slow Start, ASS).
//! ## What it does
//! Adds a number of segments per ACK that depends on the window's zone: below 25 segments, 25 to 50, 50 to 75, 75 to 100. Above the last
//! zone it grows as limited slow start does. Algorithm 2 is ASS; algorithms 1, 3 and 4 are the alternatives that the paper compares.
//! ## References
//! Petrov & Janevski, *Novel slow start algorithm*, §2.2, algorithms 2–4, and §5; RFC 3742 §2 (limited slow start).
//! ## Differs from the document
//! Nothing. If the paper's listing and its conclusion leave a choice, the scenario file states the choice made.
//! ## Parameters
//! `algorithm`: 2, the algorithm that the paper proposes. `increments`, `boundaries`: custom zones in place of an algorithm's; one
//! increment per zone. `max_ssthresh`: 100 segments, as in the paper and RFC 3742.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::slow_start::limited::{MAX_SSTHRESH, limited_growth};
use crate::entry::Entry;
use crate::events::Ack;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "staged",
    summary: "Advanced Slow Start: growth by zones of the window, then limited slow start",
    reference: "Petrov & Janevski, Novel slow start algorithm, §2.2",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["1", "2", "3", "4"]),
            default: Default::Word("2"),
            doc: "the paper's algorithm; 2 is Advanced Slow Start, 1 is standard slow start",
        },
        Param {
            name: "increments",
            kind: Kind::Numbers { min: 0.0, max: 1e3 },
            default: Default::Numbers(&[]),
            doc: "segments per ACK in each zone; empty: the algorithm's increments",
        },
        Param {
            name: "boundaries",
            kind: Kind::Numbers { min: 1.0, max: 1e9 },
            default: Default::Numbers(&BOUNDARIES),
            doc: "upper ends of the zones in segments, ascending; the default is the paper's",
        },
        MAX_SSTHRESH,
    ],
    quantities: &[],
    build,
};

/// The paper's zones: below 25 segments, 25–50, 50–75, 75–100.
const BOUNDARIES: [Segments; 4] = [25.0, 50.0, 75.0, 100.0];

/// Segments per ACK in each zone, for algorithms 1 to 4 (§2.2).
const INCREMENTS: [[Segments; 4]; 4] = [[1.0, 1.0, 1.0, 1.0], [3.0, 2.0, 1.0, 0.5], [2.0, 1.0, 1.0, 1.0], [2.0, 2.0, 1.0, 1.0]];

/// Staged slow start.
#[derive(Clone, Debug)]
pub struct Staged {
    /// Upper end of each zone, and growth per ACK in the zone.
    zones: Vec<(Segments, Segments)>,
    max_ssthresh: Segments,
}

fn build(params: &Params) -> Result<Box<dyn SlowStart>, String> {
    let algorithm = params.word("algorithm").bytes().next().map_or(1, |digit| usize::from(digit - b'1'));
    let own = params.numbers("increments");
    let increments = if own.is_empty() { &INCREMENTS[algorithm][..] } else { own };
    let boundaries = params.numbers("boundaries");
    if boundaries.len() != increments.len() {
        let (zones, growths) = (boundaries.len(), increments.len());
        return Err(format!("boundaries has {zones} numbers and increments has {growths}: there must be one increment per zone"));
    }
    if !boundaries.is_sorted_by(|a, b| a < b) {
        return Err("boundaries must be in ascending order".to_owned());
    }
    let zones = boundaries.iter().copied().zip(increments.iter().copied()).collect();
    Ok(Box::new(Staged { zones, max_ssthresh: params.number("max_ssthresh") }))
}

impl SlowStart for Staged {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        let zone = self.zones.iter().find(|(end, _)| window.cwnd < *end);
        let growth = match zone {
            Some((_, increment)) => *increment,
            None if window.cwnd < self.max_ssthresh => 1.0,
            None => limited_growth(window.cwnd, self.max_ssthresh),
        };
        Step::Grow(ack.counted * growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, window};

    fn staged(set: &[(&str, Value)]) -> Result<Box<dyn SlowStart>, String> {
        build(&ENTRY, set)
    }

    fn growth<const N: usize>(part: &mut dyn SlowStart, windows: [Segments; N]) -> [Segments; N] {
        windows.map(|cwnd| match part.on_ack(&ACK, &window(cwnd)) {
            Step::Grow(segments) => segments,
            _ => panic!("staged slow start never exits"),
        })
    }

    fn algorithm(word: &str) -> Box<dyn SlowStart> {
        staged(&[("algorithm", Value::Word(word.to_owned()))]).unwrap()
    }

    fn zones(increments: &[f64], boundaries: &[f64]) -> Result<Box<dyn SlowStart>, String> {
        staged(&[("increments", Value::Numbers(increments.to_vec())), ("boundaries", Value::Numbers(boundaries.to_vec()))])
    }

    #[test]
    fn the_papers_table() {
        // One window inside each zone: < 25, 25–50, 50–75, 75–100, and 120 beyond.
        for (word, table) in [
            ("1", [1.0, 1.0, 1.0, 1.0, 0.5]),
            ("2", [3.0, 2.0, 1.0, 0.5, 0.5]),
            ("3", [2.0, 1.0, 1.0, 1.0, 0.5]),
            ("4", [2.0, 2.0, 1.0, 1.0, 0.5]),
        ] {
            assert_eq!(growth(&mut *algorithm(word), [10.0, 30.0, 60.0, 80.0, 120.0]), table, "algorithm {word}");
        }
        assert_eq!(growth(&mut *staged(&[]).unwrap(), [1.0, 30.0, 60.0, 80.0]), [3.0, 2.0, 1.0, 0.5], "the default is algorithm 2");
    }

    #[test]
    fn a_zone_begins_at_its_boundary() {
        let below = [25.0_f64, 50.0, 75.0, 100.0].map(f64::next_down);
        assert_eq!(growth(&mut *algorithm("2"), below), [3.0, 2.0, 1.0, 0.5]);
        assert_eq!(growth(&mut *algorithm("2"), [25.0, 50.0, 75.0, 100.0]), [2.0, 1.0, 0.5, 0.5]);
        assert_eq!(growth(&mut *algorithm("3"), [25.0, 50.0, 75.0, 100.0]), [1.0, 1.0, 1.0, 0.5]);
        assert_eq!(growth(&mut *algorithm("4"), [25.0, 50.0, 75.0, 100.0]), [2.0, 1.0, 1.0, 0.5]);
    }

    #[test]
    fn limited_slow_start_beyond_the_zones() {
        // RFC 3742: 1/K with K = ⌊cwnd/50⌋.
        for word in ["1", "2", "3", "4"] {
            let beyond = growth(&mut *algorithm(word), [149.0, 150.0, 199.0, 200.0, 1000.0]);
            assert_eq!(beyond, [1.0 / 2.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 20.0], "algorithm {word}");
        }
    }

    #[test]
    fn three_per_ack_multiply_the_window_by_four_in_a_round_trip() {
        let mut part = algorithm("2");
        let mut cwnd = 1.0;
        for expected in [4.0, 16.0] {
            for _ in 0..cwnd as u32 {
                cwnd += growth(&mut *part, [cwnd])[0];
            }
            assert_eq!(cwnd, expected);
        }
    }

    #[test]
    fn custom_zones() {
        let mut part = zones(&[5.0, 0.25], &[10.0, 40.0]).unwrap();
        // Standard growth from the last zone to max_ssthresh, then limited growth.
        assert_eq!(growth(&mut *part, [9.0, 10.0, 39.0, 40.0, 99.0, 100.0]), [5.0, 0.25, 0.25, 1.0, 1.0, 0.5]);
        let early = [("max_ssthresh", Value::Number(40.0))];
        assert_eq!(growth(&mut *staged(&early).unwrap(), [60.0, 100.0]), [1.0, 0.2], "zones above max_ssthresh keep their increments");
    }

    #[test]
    fn byte_counting_multiplies() {
        assert_eq!(algorithm("2").on_ack(&Ack { counted: 2.0, ..ACK }, &window(30.0)), Step::Grow(4.0));
    }

    #[test]
    fn inconsistent_zones_are_refused() {
        assert_eq!(
            zones(&[1.0], &[10.0, 20.0]).unwrap_err(),
            "boundaries has 2 numbers and increments has 1: there must be one increment per zone"
        );
        for boundaries in [[20.0, 10.0], [10.0, 10.0], [10.0, f64::NAN]] {
            assert_eq!(zones(&[1.0, 1.0], &boundaries).unwrap_err(), "boundaries must be in ascending order");
        }
    }
}
