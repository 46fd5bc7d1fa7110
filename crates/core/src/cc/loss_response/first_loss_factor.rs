//! First-loss factor: another multiplicative decrease for the reduction that ends slow start, round any loss response.
//! ## What it does
//! Slow start overshoots by up to the whole window, so the factor that suits avoidance leaves too much. The first reduction of a
//! connection, and every reduction in slow start, multiplies the window in force by `factor`. `cwnd` becomes the unrounded product, and
//! `ssthresh` the product rounded down, at least two segments. All others are those of the inner loss response.
//! ## References
//! RFC 9002 §7.3.2, which halves, beside RFC 9438 §4.6, which multiplies by 0.7; Welzl, *ssthresh after slow start overshoot*, IRTF ICCRG
//! at IETF 120, 2024.
//! ## Differs from the document
//! - The slides discuss the end of the first slow start by a loss. Here the first reduction also counts if slow start has ended by itself
//!   before, as by `HyStart`.
//! - The inner response sees every reduction, also those whose result the factor replaces: CUBIC notes its window, Westwood its estimate.
//! - A reduction that proves spurious counts as the first.
//! ## Parameters
//! `factor`: 0.5, as in RFC 9002.
//! `loss_response`: the response to every other congestion; auto: the avoidance's own.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::cc::loss_response::{AXIS, PARTS};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "first_loss_factor",
    summary: "another factor for the first reduction after slow start, round any loss response",
    reference: "RFC 9002 §7.3.2",
    params: &[
        Param {
            name: "factor",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Number(0.5),
            doc: "what the first reduction multiplies the window by",
        },
        Param {
            name: "loss_response",
            kind: Kind::Part(&AXIS),
            default: Default::Auto,
            doc: "response to every other congestion; auto: the avoidance's own",
        },
    ],
    quantities: &[],
    build: |params| {
        let inner = params.part("loss_response").map(|part| PARTS.build(part)).transpose()?;
        Ok(Box::new(FirstLossFactor { factor: params.number("factor"), inner, reduced: false }))
    },
};

/// A factor for the first reduction.
#[derive(Clone, Debug)]
pub struct FirstLossFactor {
    factor: f64,
    /// The response to every other congestion; `None`: the avoidance's own.
    inner: Option<Box<dyn LossResponse>>,
    /// Whether the window has been reduced before.
    reduced: bool,
}

impl LossResponse for FirstLossFactor {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if let Some(inner) = &mut self.inner {
            inner.observe(ack, window);
        }
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, own: &mut dyn Avoidance) -> Window {
        let usual = match &mut self.inner {
            Some(inner) => inner.respond(event, window, own),
            None => own.respond(event, window),
        };
        let ends_slow_start = !self.reduced || window.cwnd < window.ssthresh;
        self.reduced = true;
        if ends_slow_start { Window::reduced_to(self.factor * event.window) } else { usual }
    }

    fn restart(&self, event: &CongestionEvent, reduced: &Window) -> Segments {
        self.inner.as_ref().map_or(event.loss_window, |inner| inner.restart(event, reduced))
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inner) = &self.inner {
            inner.internals(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Composed, CongestionControl, avoidance, initial_window, slow_start};
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{build, congestion, established, own};

    const AVOIDANCE: Window = Window { cwnd: 20.0, ssthresh: 10.0 };
    const SLOW_START: Window = Window { cwnd: 20.0, ssthresh: 64.0 };

    /// The windows to which congestion at 20 segments reduces each of `windows`.
    fn reduced(set: &[(&str, Value)], windows: &[Window]) -> Vec<Segments> {
        let mut part = build(&ENTRY, set).unwrap();
        windows.iter().map(|window| part.respond(&congestion(Cause::DupAck, 20.0), window, &mut *own()).cwnd).collect()
    }

    #[test]
    fn the_factor_is_for_the_first_reduction_and_those_in_slow_start() {
        let set = [("factor", Value::Number(0.25)), ("loss_response", Value::Part(AXIS.spec("halve")))];
        let windows = [AVOIDANCE, AVOIDANCE, SLOW_START, AVOIDANCE];
        assert_eq!(reduced(&set, &windows), [5.0, 10.0, 5.0, 10.0]);
        let halve = [("loss_response", Value::Part(AXIS.spec("halve")))];
        assert_eq!(reduced(&halve, &windows), [10.0; 4], "0.5 is the factor of halving");
    }

    #[test]
    fn without_an_inner_part_the_avoidance_responds() {
        let (initial, cubic) = (build(&initial_window::rfc6928::ENTRY, &[]).unwrap(), build(&avoidance::cubic::ENTRY, &[]).unwrap());
        let slow_start = build(&slow_start::standard::ENTRY, &[]).unwrap();
        let response = build(&ENTRY, &[("factor", Value::Number(0.4))]).unwrap();
        let mut control = Composed::new(initial, slow_start, cubic, Some(response), f64::INFINITY);
        control.on_established(&established(1000));
        let mut reduce = || {
            control.on_congestion(&congestion(Cause::DupAck, 100.0));
            control.window()
        };
        assert_eq!([reduce(), reduce()], [Window { cwnd: 40.0, ssthresh: 40.0 }, Window { cwnd: 70.0, ssthresh: 70.0 }]);
    }

    #[test]
    fn it_nests_and_keeps_the_restart_window_of_the_inner_part() {
        let inner = AXIS.spec("return_to_threshold");
        let event = congestion(Cause::Timeout, 20.0);
        let plain = build(&crate::cc::loss_response::return_to_threshold::ENTRY, &[]).unwrap();
        let part = build(&ENTRY, &[("loss_response", Value::Part(inner))]).unwrap();
        assert_eq!(part.restart(&event, &AVOIDANCE), plain.restart(&event, &AVOIDANCE));
    }
}
