//! AIMD: additive increase and multiplicative decrease from the first segment on.
//! ## What it does
//! Adds `increase` segments per round trip. Congestion multiplies the window by `decrease`.
//! ## References
//! Chiu and Jain, *Analysis of the increase and decrease algorithms for congestion avoidance in computer networks*, 1989.
//! ## Differs from the document
//! The window never falls below one segment.
//! ## Parameters
//! `increase`: 1 segment; `decrease`: 0.5.

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::entry::{Entry, quantity};
use ackclock_core::events::{Ack, CongestionEvent, Established};
use ackclock_core::params::{Default, Kind, Param};
use ackclock_core::units::Segments;

/// This control.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "aimd",
    summary: "additive increase, multiplicative decrease",
    reference: "Chiu and Jain 1989",
    params: &[
        Param {
            name: "increase",
            kind: Kind::Segments { min: 0.01, max: 1000.0 },
            default: Default::Number(1.0),
            doc: "growth in a round trip",
        },
        Param {
            name: "decrease",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.5),
            doc: "factor of the window at congestion",
        },
    ],
    quantities: &[quantity("reductions", "", "reductions so far")],
    build: |params| {
        let (increase, decrease) = (params.number("increase"), params.number("decrease"));
        Ok(Box::new(Aimd { increase, decrease, cwnd: 1.0, reductions: 0 }))
    },
};

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Aimd {
    increase: Segments,
    decrease: f64,
    cwnd: Segments,
    reductions: u32,
}

impl CongestionControl for Aimd {
    fn on_established(&mut self, _event: &Established) {
        self.cwnd = 1.0;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.may_grow {
            self.cwnd += self.increase * ack.counted / self.cwnd;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let reduced = if event.restart { event.loss_window } else { self.decrease * event.window };
        self.cwnd = reduced.max(event.least);
        self.reductions += 1;
    }

    fn resize(&mut self, by: Segments, least: Segments) {
        self.cwnd = (self.cwnd + by).max(least);
    }

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: Segments::INFINITY }
    }

    fn phase(&self) -> Phase {
        Phase::Avoidance
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("reductions", f64::from(self.reductions));
    }
}
