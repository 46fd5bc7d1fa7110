//! ABE: a gentler reduction for ECN marks than for losses, round any loss response.
//! ## What it does
//! A mark multiplies the window in force by `factor`: queues that mark are short, so that halving would leave the link idle. `cwnd` becomes
//! the unrounded product, and `ssthresh` the product rounded down, at least two segments. Losses and timeouts have the inner loss response.
//! ## References
//! RFC 8511 §3 and §4.
//! ## Differs from the document
//! - RFC 8511 multiplies the flight size; as elsewhere here, it is the window in force.
//! - The inner response sees marks as well, whose result the factor replaces: CUBIC notes its window, Westwood its estimate.
//! - With avoidances that answer marks themselves (`dctcp`, `prague`) the factor takes the place of their answer to an echo, which the RFC does
//!   not intend.
//! ## Parameters
//! `factor`: 0.8, the RFC's for Reno; for CUBIC it has 0.85.
//! `loss_response`: the response to losses and timeouts; auto: the avoidance's own.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::cc::loss_response::{AXIS, PARTS};
use crate::entry::Entry;
use crate::events::{Ack, Cause, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "abe",
    summary: "another factor for ECN marks, round any loss response",
    reference: "RFC 8511",
    params: &[
        Param {
            name: "factor",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Number(0.8),
            doc: "what a mark multiplies the window by (RFC 8511: 0.8 with Reno, 0.85 with CUBIC)",
        },
        Param {
            name: "loss_response",
            kind: Kind::Part(&AXIS),
            default: Default::Auto,
            doc: "response to losses and timeouts; auto: the avoidance's own",
        },
    ],
    quantities: &[],
    build: |params| {
        let inner = params.part("loss_response").map(|part| PARTS.build(part)).transpose()?;
        Ok(Box::new(Abe { factor: params.number("factor"), inner }))
    },
};

/// Another factor for marks.
#[derive(Clone, Debug)]
pub struct Abe {
    factor: f64,
    /// The response to losses; `None`: the avoidance's own.
    inner: Option<Box<dyn LossResponse>>,
}

impl LossResponse for Abe {
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
        if event.cause == Cause::EcnCe { Window::reduced_to(self.factor * event.window) } else { usual }
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
    use crate::params::Value;
    use crate::testing::{build, congestion, own, window};

    fn after(set: &[(&str, Value)], cause: Cause, cwnd: Segments) -> Window {
        build(&ENTRY, set).unwrap().respond(&congestion(cause, cwnd), &window(cwnd), &mut *own())
    }

    #[test]
    fn marks_leave_four_fifths_and_losses_half() {
        assert_eq!(after(&[], Cause::EcnCe, 21.0), Window { cwnd: 0.8 * 21.0, ssthresh: 16.0 });
        assert_eq!(after(&[], Cause::EcnCe, 1.5), Window { cwnd: 0.8 * 1.5, ssthresh: 2.0 });
        assert_eq!([Cause::DupAck, Cause::Timeout].map(|cause| after(&[], cause, 20.0)), [Window { cwnd: 10.0, ssthresh: 10.0 }; 2]);
        assert_eq!(after(&[("factor", Value::Number(0.85))], Cause::EcnCe, 100.0).cwnd, 85.0);
    }

    #[test]
    fn it_nests_round_another_response() {
        let mut inner = AXIS.spec("kept_threshold");
        inner.params.set("factor", Value::Number(0.3));
        let set = [("loss_response", Value::Part(inner))];
        assert_eq!([Cause::EcnCe, Cause::DupAck].map(|cause| after(&set, cause, 20.0).cwnd), [16.0, 6.0]);
        let inner = build(&ENTRY, &[("loss_response", Value::Part(AXIS.spec("return_to_threshold")))]).unwrap();
        let plain = build(&crate::cc::loss_response::return_to_threshold::ENTRY, &[]).unwrap();
        let event = congestion(Cause::Timeout, 20.0);
        let reduced = Window { cwnd: 20.0, ssthresh: 10.0 };
        assert_eq!(inner.restart(&event, &reduced), plain.restart(&event, &reduced));
    }
}
