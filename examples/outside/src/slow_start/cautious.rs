//! Cautious slow start: a part of a segment per ACK.
//! ## What it does
//! Adds `gain` segments for each acknowledged one, so that the window grows by that factor in a round trip.
//! ## References
//! None: an example.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `gain`: 0.5, so that the window grows by half in a round trip.

use ackclock_core::cc::{SlowStart, Step, Window};
use ackclock_core::entry::Entry;
use ackclock_core::events::Ack;
use ackclock_core::params::{Default, Kind, Param};

/// This part.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "cautious",
    summary: "a part of a segment per ACK",
    reference: "an example",
    params: &[Param {
        name: "gain",
        kind: Kind::Number { min: 0.01, max: 1.0 },
        default: Default::Number(0.5),
        doc: "growth per acknowledged segment, in segments",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Cautious { gain: params.number("gain") })),
};

/// Slow start with less growth.
#[derive(Clone, Debug)]
pub struct Cautious {
    gain: f64,
}

impl SlowStart for Cautious {
    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(self.gain * ack.counted)
    }
}
