//! Slow starts written in Python, combined with built-in parts.

use std::sync::Arc;

use ackclock_core::cc::{SlowStart, Step, Wants, Window};
use ackclock_core::events::{Ack, CongestionEvent, Established, Lost, Sent};
use ackclock_core::units::{Bytes, Instant, Rate, Segments};
use ackclock_sim::scenario::SlowStartFactory;
use pyo3::prelude::*;

use crate::events::{PyAck, PyCongestionEvent, PyEstablished, PyExit, PyLost, PySent, PyWindow};
use crate::object::{Failure, Method, Object, invalid};

/// A slow start that delegates its decisions to a Python object. After an exception it changes nothing, and the run is aborted.
#[derive(Clone, Debug)]
struct PythonSlowStart {
    object: Object,
    initial_ssthresh: Segments,
    wants: Wants,
}

/// Makes slow starts from the objects that `factory` returns.
pub(crate) fn slow_start_factory(factory: Py<PyAny>, failure: Failure) -> SlowStartFactory {
    Arc::new(move || {
        let mut object = Object::make(&factory, "SlowStart", &[Method::Ack], &failure);
        let wants = object.wants().with(|wants| wants.deliveries = false);
        let initial_ssthresh = object.with(|object| {
            let Some(value) = object.getattr_opt("initial_ssthresh")? else { return Ok(Segments::INFINITY) };
            let ssthresh = value.extract::<f64>().ok().filter(|segments| *segments >= 0.0);
            ssthresh.ok_or_else(|| invalid(object, "__init__", "set initial_ssthresh =", &value, "a number of segments, at least 0"))
        });
        Box::new(PythonSlowStart { object, initial_ssthresh: initial_ssthresh.unwrap_or(Segments::INFINITY), wants })
    })
}

/// Reads a decision.
fn read_step(object: &Bound<'_, PyAny>, returned: &Bound<'_, PyAny>, method: &str) -> PyResult<Step> {
    if let Some(segments) = returned.extract::<f64>().ok().filter(|segments| *segments >= 0.0 && segments.is_finite()) {
        return Ok(Step::Grow(segments));
    }
    let at_least_0 = |segments: Segments, infinite: bool| segments >= 0.0 && (infinite || segments.is_finite());
    match returned.cast::<PyExit>().map(|exit| *exit.get()) {
        Ok(PyExit { ssthresh, cwnd: None }) if at_least_0(ssthresh, false) => Ok(Step::Exit { ssthresh }),
        Ok(PyExit { ssthresh, cwnd: Some(cwnd) }) if at_least_0(ssthresh, true) && at_least_0(cwnd, false) => {
            Ok(Step::Leave(Window { cwnd, ssthresh }))
        }
        _ => Err(invalid(object, method, "returned", returned, "segments to grow by, at least 0, or Exit(ssthresh)")),
    }
}

const NO_GROWTH: Step = Step::Grow(0.0);

impl PythonSlowStart {
    /// Calls a method that returns no decision.
    fn notify(&mut self, method: Method, arguments: impl for<'py> pyo3::call::PyCallArgs<'py>) {
        self.object.call(method, arguments, |_, _, _| Ok(()));
    }
}

impl SlowStart for PythonSlowStart {
    fn initial_ssthresh(&self) -> Segments {
        self.initial_ssthresh
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.notify(Method::Observe, (PyAck(*ack), PyWindow(*window)));
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        self.object.call(Method::Ack, (PyAck(*ack), PyWindow(*window)), read_step).unwrap_or(NO_GROWTH)
    }

    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        self.notify(Method::Sent, (PySent(*sent), PyWindow(*window)));
    }

    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        self.notify(Method::Lost, (PyLost(*lost), PyWindow(*window)));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, window: &Window) {
        self.notify(Method::Congestion, (PyCongestionEvent(*event), PyWindow(*window)));
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.notify(Method::Mss, (smss.0,));
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        self.notify(Method::Established, (PyEstablished(*event), PyWindow(*window)));
    }

    fn paces(&self) -> bool {
        // The object can set a rate at any time.
        true
    }

    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        self.object.outputs.pacing_rate
    }

    fn burst(&self) -> Bytes {
        self.object.outputs.burst
    }

    fn timer(&self) -> Option<Instant> {
        self.object.outputs.timer
    }

    fn on_timer(&mut self, now: Instant, window: &Window) -> Step {
        self.object.expire(now, (now.as_secs_f64(), PyWindow(*window)), read_step).unwrap_or(NO_GROWTH)
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn on_restart(&mut self) {
        self.notify(Method::Restart, ());
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.object.internals(out);
    }
}
