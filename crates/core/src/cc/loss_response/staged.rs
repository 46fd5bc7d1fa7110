//! Staged decrease: the divisor undoes one round trip of growth in the window's zone (Advanced Slow Start, ASS).
//! ## What it does
//! Divides the window in force by a divisor that depends on the zone of `cwnd` at the loss, in slow start and in avoidance. If ASS adds 3
//! segments per ACK in a zone, the window quadruples in a round trip, and the divisor is 4. After a timeout the host restarts from one
//! segment.
//! ## References
//! Petrov & Janevski, *Novel slow start algorithm*, §5.
//! ## Differs from the document
//! - The paper gives a "decrease factor" for each increment; this part reads it as the divisor of the window.
//! - `cwnd` determines the zone, not the window in force, which the receiver's window may limit.
//! ## Parameters
//! `algorithm`: 2, the algorithm that the paper proposes. `divisors`, `boundaries`: custom zones in place of an algorithm's. There is one
//! divisor more than boundaries; the last applies above all boundaries.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::entry::Entry;
use crate::events::CongestionEvent;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "staged",
    summary: "Advanced Slow Start's decrease: a divisor for each zone of the window",
    reference: "Petrov & Janevski, Novel slow start algorithm, §5",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["1", "2", "3", "4"]),
            default: Default::Word("2"),
            doc: "the paper's algorithm; 2 is Advanced Slow Start, 1 is halving",
        },
        Param {
            name: "divisors",
            kind: Kind::Numbers { min: 1.0, max: 1e3 },
            default: Default::Numbers(&[]),
            doc: "divisor of the window in each zone; empty: the algorithm's divisors",
        },
        Param {
            name: "boundaries",
            kind: Kind::Numbers { min: 1.0, max: 1e9 },
            default: Default::Numbers(&BOUNDARIES),
            doc: "upper ends of all zones but the last, in segments, ascending; the default is the paper's",
        },
    ],
    quantities: &[],
    build,
};

/// The paper's zones: below 25 segments, 25–50, from 50 on.
const BOUNDARIES: [Segments; 2] = [25.0, 50.0];

/// The divisor in each zone, for algorithms 1 to 4 (§5).
const DIVISORS: [[f64; 3]; 4] = [[2.0, 2.0, 2.0], [4.0, 3.0, 2.0], [3.0, 2.0, 2.0], [3.0, 3.0, 2.0]];

/// Staged decrease.
#[derive(Clone, Debug)]
pub struct Staged {
    boundaries: Vec<Segments>,
    divisors: Vec<f64>,
}

fn build(params: &Params) -> Result<Box<dyn LossResponse>, String> {
    let algorithm = params.word("algorithm").bytes().next().map_or(1, |digit| usize::from(digit - b'1'));
    let own = params.numbers("divisors");
    let divisors = if own.is_empty() { DIVISORS[algorithm].to_vec() } else { own.to_vec() };
    let boundaries = params.numbers("boundaries").to_vec();
    if divisors.len() != boundaries.len() + 1 {
        let (ends, zones) = (boundaries.len(), divisors.len());
        return Err(format!("divisors has {zones} numbers and boundaries has {ends}: there must be one divisor more than boundaries"));
    }
    if !boundaries.is_sorted_by(|a, b| a < b) {
        return Err("boundaries must be in ascending order".to_owned());
    }
    Ok(Box::new(Staged { boundaries, divisors }))
}

impl LossResponse for Staged {
    fn respond(&mut self, event: &CongestionEvent, window: &Window, _own: &mut dyn Avoidance) -> Window {
        let zone = self.boundaries.iter().take_while(|end| window.cwnd >= **end).count();
        Window::reduced_to(event.window / self.divisors[zone])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{build, congestion, own, window};

    fn algorithm(word: &str) -> Box<dyn LossResponse> {
        build(&ENTRY, &[("algorithm", Value::Word(word.to_owned()))]).unwrap()
    }

    fn zones(divisors: &[f64], boundaries: &[f64]) -> Result<Box<dyn LossResponse>, String> {
        build(&ENTRY, &[("divisors", Value::Numbers(divisors.to_vec())), ("boundaries", Value::Numbers(boundaries.to_vec()))])
    }

    /// The divisor at a loss with `cwnd`, derived from a window in force of 240.
    fn divisor(part: &mut dyn LossResponse, cwnd: Segments) -> f64 {
        240.0 / part.respond(&congestion(Cause::DupAck, 240.0), &window(cwnd), &mut *own()).cwnd
    }

    #[test]
    fn the_papers_table() {
        for (word, table) in [("1", [2.0, 2.0, 2.0]), ("2", [4.0, 3.0, 2.0]), ("3", [3.0, 2.0, 2.0]), ("4", [3.0, 3.0, 2.0])] {
            let mut part = algorithm(word);
            let below = [1.0, 25.0_f64.next_down()].map(|cwnd| divisor(&mut *part, cwnd));
            assert_eq!(below, [table[0]; 2], "algorithm {word} below 25");
            let middle = [25.0, 50.0_f64.next_down()].map(|cwnd| divisor(&mut *part, cwnd));
            assert_eq!(middle, [table[1]; 2], "algorithm {word}, 25–50");
            let high = [50.0, 75.0, 100.0, 1000.0].map(|cwnd| divisor(&mut *part, cwnd));
            assert_eq!(high, [table[2]; 4], "algorithm {word} from 50");
        }
    }

    #[test]
    fn the_threshold_is_rounded_and_at_least_two() {
        let mut part = algorithm("2");
        let mut respond = |force, cwnd| part.respond(&congestion(Cause::DupAck, force), &window(cwnd), &mut *own());
        assert_eq!(respond(22.0, 22.0), Window { cwnd: 5.5, ssthresh: 5.0 });
        assert_eq!(respond(40.0, 40.0), Window { cwnd: 40.0 / 3.0, ssthresh: 13.0 });
        assert_eq!(respond(7.0, 7.0), Window { cwnd: 1.75, ssthresh: 2.0 });
        // The zone is that of cwnd; the divided window is the one in force, here limited to 20 by the receiver.
        assert_eq!(respond(20.0, 80.0), Window { cwnd: 10.0, ssthresh: 10.0 });
    }

    #[test]
    fn custom_zones() {
        let mut part = zones(&[8.0, 1.5], &[10.0]).unwrap();
        assert_eq!([9.0, 10.0].map(|cwnd| divisor(&mut *part, cwnd)), [8.0, 1.5]);
    }

    #[test]
    fn inconsistent_zones_are_refused() {
        let message = "divisors has 2 numbers and boundaries has 2: there must be one divisor more than boundaries";
        assert_eq!(zones(&[2.0, 2.0], &[10.0, 20.0]).unwrap_err(), message);
        assert_eq!(zones(&[2.0, 2.0, 2.0], &[20.0, 10.0]).unwrap_err(), "boundaries must be in ascending order");
    }
}
