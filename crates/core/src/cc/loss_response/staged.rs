//! Staged decrease: the divisor undoes one round trip of the growth in the window's zone (Advanced Slow Start, ASS).
//! ## What it does
//! Divides the window in force by a number that depends on the zone in which `cwnd` lay at the loss, in either phase. Where ASS adds 3 per
//! ACK, which multiplies the window by 4 in a round trip, the divisor is 4. After a timeout the host starts over from one segment.
//! ## References
//! Petrov & Janevski, *Novel slow start algorithm*, §5.
//! ## Differs from the document
//! The paper names a "decrease factor" per increment; read as the divisor of the window. The zone is that of `cwnd`, not of the window in
//! force, which a receiver may limit.
//! ## Parameters
//! `algorithm`: 2, the one the paper proposes. `divisors`, `boundaries`: own zones instead of an algorithm's; one divisor more than
//! boundaries, the last for the zone above them.

use crate::cc::loss_response::halve::divide;
use crate::cc::{LossResponse, Window};
use crate::events::CongestionEvent;
use crate::registry::{Default, Entry, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "staged",
    summary: "Advanced Slow Start's decrease: a divisor by zones of the window",
    reference: "Petrov & Janevski, Novel slow start algorithm, §5",
    params: &[
        Param {
            name: "algorithm",
            kind: Kind::Word(&["1", "2", "3", "4"]),
            default: Default::Word("2"),
            bounds: (0.0, 0.0),
            doc: "the paper's algorithm; 2 is Advanced Slow Start, 1 is halving",
        },
        Param {
            name: "divisors",
            kind: Kind::Numbers,
            default: Default::Numbers(&[]),
            bounds: (1.0, 1e3),
            doc: "divisor of the window in each zone, instead of the algorithm's; empty: the algorithm's",
        },
        Param {
            name: "boundaries",
            kind: Kind::Numbers,
            default: Default::Numbers(&BOUNDARIES),
            bounds: (1.0, 1e9),
            doc: "upper ends of all zones but the last, in segments, rising; the paper's",
        },
    ],
    build,
};

/// The paper's zones: below 25 segments, 25–50, from 50 on.
const BOUNDARIES: [Segments; 2] = [25.0, 50.0];

/// The divisor in each zone, for algorithms 1 to 4 (§5).
const DIVISORS: [[f64; 3]; 4] = [[2.0, 2.0, 2.0], [4.0, 3.0, 2.0], [3.0, 2.0, 2.0], [3.0, 3.0, 2.0]];

/// Staged decrease.
#[derive(Debug)]
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
        return Err(format!("divisors has {zones} zones but boundaries has {ends}: one divisor more than boundaries"));
    }
    if !boundaries.is_sorted_by(|a, b| a < b) {
        return Err("boundaries must rise".to_owned());
    }
    Ok(Box::new(Staged { boundaries, divisors }))
}

impl LossResponse for Staged {
    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        let zone = self.boundaries.iter().take_while(|end| window.cwnd >= **end).count();
        divide(event.window, self.divisors[zone])
    }
}
