//! Congestion controls written in Python.

use std::sync::Arc;

use ackclock_core::cc::{CongestionControl, Phase, Wants, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Delivered, Established, FirstWindow, Idle, Lost, Sent};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Instant, Rate, Segments};
use ackclock_sim::scenario::ControlFactory;
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;

use crate::events::{PyAck, PyCongestionEvent, PyDelivered, PyEstablished, PyFirstWindow, PyIdle, PyLost, PySent};
use crate::library::Library;
use crate::object::{Failure, Method, Object, invalid};

/// A control that delegates its decisions to a Python object. After an exception it changes nothing, and the run is aborted.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attribute of the object")]
struct PythonControl {
    object: Object,
    window: Window,
    holds_back: bool,
    owns_recovery: bool,
    owns_marks: bool,
    wants: Wants,
    paces_initial_window: bool,
    ecn: Ecn,
}

/// The address and the name of a control of a shared library, if `factory` is one.
fn library(factory: &Py<PyAny>) -> PyResult<Option<(usize, String)>> {
    Python::attach(|py| {
        let factory = factory.bind(py);
        let Some(address) = factory.getattr_opt(intern!(py, "_address"))? else { return Ok(None) };
        Ok(Some((address.call0()?.extract()?, factory.getattr(intern!(py, "__name__"))?.extract()?)))
    })
}

/// Makes controls from the objects that `factory` returns, or those of a shared library.
pub(crate) fn control_factory(factory: Py<PyAny>, failure: Failure) -> ControlFactory {
    match library(&factory) {
        // SAFETY: `ackclock.control.Library` has loaded the library for good, and compared its version.
        Ok(Some((address, name))) => return Arc::new(move || Box::new(unsafe { Library::new(address, name.clone(), failure.clone()) })),
        Ok(None) => {}
        Err(error) => failure.record(error),
    }
    Arc::new(move || {
        let mut object = Object::make(&factory, "CongestionControl", &[Method::Ack, Method::Congestion], &failure);
        let window = object.with(|object| read_window(object, "__init__", 1.0));
        Box::new(PythonControl {
            window: window.unwrap_or(Window { cwnd: 1.0, ssthresh: Segments::INFINITY }),
            holds_back: object.flag("holds_back"),
            owns_recovery: object.flag("owns_recovery"),
            owns_marks: object.flag("owns_marks"),
            wants: object.wants(),
            paces_initial_window: object.flag("paces_initial_window"),
            ecn: object.with(read_ecn).unwrap_or(Ecn::Ect0),
            object,
        })
    })
}

/// Reads the window after `method`, raised to at least `least` segments.
fn read_window(object: &Bound<'_, PyAny>, method: &str, least: Segments) -> PyResult<Window> {
    let py = object.py();
    let number = |name: &Bound<'_, pyo3::types::PyString>, infinite: bool| {
        let value = object.getattr(name)?;
        match value.extract::<f64>() {
            Ok(number) if number >= 0.0 && (infinite || number.is_finite()) => Ok(number),
            _ => {
                let expected = if infinite { "a number of segments, at least 0" } else { "a finite number of segments, at least 0" };
                Err(invalid(object, method, &format!("set {name} ="), &value, expected))
            }
        }
    };
    Ok(Window { cwnd: number(intern!(py, "cwnd"), false)?.max(least), ssthresh: number(intern!(py, "ssthresh"), true)? })
}

/// Reads the codepoint of data.
fn read_ecn(object: &Bound<'_, PyAny>) -> PyResult<Ecn> {
    let Some(value) = object.getattr_opt(intern!(object.py(), "ecn"))? else { return Ok(Ecn::Ect0) };
    let known = [("not_ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1)];
    let found = value.extract::<String>().ok().and_then(|word| known.into_iter().find(|(name, _)| *name == word));
    let expected = "\"not_ect\", \"ect0\" or \"ect1\"";
    found.map(|(_, ecn)| ecn).ok_or_else(|| invalid(object, "__init__", "set ecn =", &value, expected))
}

impl PythonControl {
    /// Calls `method`; the resulting window is raised to at least `least` segments.
    fn call(&mut self, method: Method, arguments: impl for<'py> PyCallArgs<'py>, least: Segments) {
        let read = self.object.call(method, arguments, |object, _, method| read_all(object, method, least));
        self.apply(read);
    }

    fn apply(&mut self, read: Option<(Window, bool)>) {
        if let Some((window, holds_back)) = read {
            (self.window, self.holds_back) = (window, holds_back);
        }
    }

    /// The smallest window: one segment, or the current window if a reduction made it smaller.
    fn least(&self) -> Segments {
        self.window.cwnd.min(1.0)
    }

    /// Sets the window without a call of the object.
    fn set_cwnd(&mut self, cwnd: Segments) {
        self.window.cwnd = cwnd;
        self.object.with(|object| object.setattr(intern!(object.py(), "cwnd"), cwnd));
    }
}

fn read_all(object: &Bound<'_, PyAny>, method: &str, least: Segments) -> PyResult<(Window, bool)> {
    let holds_back = object.getattr_opt(intern!(object.py(), "holds_back"))?;
    Ok((read_window(object, method, least)?, holds_back.map_or(Ok(false), |value| value.is_truthy())?))
}

impl CongestionControl for PythonControl {
    fn on_established(&mut self, event: &Established) {
        self.call(Method::Established, (PyEstablished(*event),), 1.0);
    }

    fn paces_initial_window(&self) -> bool {
        self.paces_initial_window
    }

    fn on_first_window(&mut self, first: &FirstWindow) -> Option<Segments> {
        let learned = self.object.call(Method::FirstWindow, (PyFirstWindow(*first),), |object, returned, method| {
            let learned = returned.extract::<Option<f64>>().ok();
            let learned = learned.filter(|learned| learned.is_none_or(|segments| segments > 0.0 && segments.is_finite()));
            learned.ok_or_else(|| invalid(object, method, "returned", returned, "a number of segments above 0, or None"))
        });
        learned.flatten()
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.call(Method::Sent, (PySent(*sent),), self.least());
    }

    fn on_ack(&mut self, ack: &Ack) {
        let method = if ack.may_grow { Method::Ack } else { Method::AckInRecovery };
        self.call(method, (PyAck(*ack),), self.least());
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.call(Method::Lost, (PyLost(*lost),), self.least());
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.call(Method::Delivered, (PyDelivered(*delivered),), self.least());
    }

    fn on_idle(&mut self, idle: &Idle) {
        if self.object.has(Method::Idle) {
            self.call(Method::Idle, (PyIdle(*idle),), self.least());
        } else if let Some(most) = idle.restart_window.filter(|most| *most < self.window.cwnd) {
            self.set_cwnd(most.max(1.0));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let restarts = event.restart || event.cause == Cause::Timeout;
        self.call(Method::Congestion, (PyCongestionEvent(*event),), if restarts { 1.0 } else { event.least });
    }

    fn on_recovery_end(&mut self, now: Instant) {
        self.call(Method::RecoveryEnd, (now.as_secs_f64(),), self.least());
    }

    fn on_spurious(&mut self, now: Instant) {
        self.call(Method::Spurious, (now.as_secs_f64(),), self.least());
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.call(Method::Mss, (smss.0,), self.least());
    }

    fn on_timer(&mut self, now: Instant) {
        let least = self.least();
        let read = self.object.expire(now, (now.as_secs_f64(),), |object, _, method| read_all(object, method, least));
        self.apply(read);
    }

    fn resize(&mut self, by: Segments, _least: Segments) {
        self.set_cwnd((self.window.cwnd + by).max(1.0));
    }

    fn window(&self) -> Window {
        self.window
    }

    fn paces(&self) -> bool {
        // The object can set a rate at any time.
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.object.outputs.pacing_rate
    }

    fn burst(&self) -> Bytes {
        self.object.outputs.burst
    }

    fn timer(&self) -> Option<Instant> {
        self.object.outputs.timer
    }

    fn owns_recovery(&self) -> bool {
        self.owns_recovery
    }

    fn owns_marks(&self) -> bool {
        self.owns_marks
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn phase(&self) -> Phase {
        if self.window.cwnd < self.window.ssthresh { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.object.internals(out);
    }
}
