//! Congestion controls written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established};
use ackclock_core::units::{Duration, Rate, Segments};
use ackclock_sim::scenario::ControlFactory;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The first exception that a control raised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    fn note(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Takes the exception out.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there was one.
    pub(crate) fn happened(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// New data was acknowledged.
#[pyclass(name = "Ack", module = "ackclock._core", frozen, get_all)]
pub(crate) struct PyAck {
    now_s: f64,
    acked: u32,
    counted: Segments,
    flight_size: u32,
    rtt_s: Option<f64>,
    srtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    delivery_rate_bps: Option<u64>,
    app_limited: bool,
    round: u64,
    cwnd_limited: bool,
    ecn_echo: bool,
}

/// Congestion was noticed.
#[pyclass(name = "CongestionEvent", module = "ackclock._core", frozen, get_all)]
pub(crate) struct PyCongestionEvent {
    now_s: f64,
    cause: &'static str,
    window: Segments,
    flight_size: u32,
    restart: bool,
}

/// The SYN was acknowledged.
#[pyclass(name = "Established", module = "ackclock._core", frozen, get_all)]
pub(crate) struct PyEstablished {
    now_s: f64,
    smss: u64,
    syn_lost: bool,
    rtt_s: Option<f64>,
    rwnd: Option<Segments>,
    available: Option<Segments>,
}

/// A control whose decisions a Python object takes. After an exception it stands still; the run is then given up.
#[derive(Debug)]
struct PythonControl {
    object: Option<Py<PyAny>>,
    window: Window,
    failure: Failure,
}

/// Makes a control of what `factory` returns.
pub(crate) fn factory(factory: Py<PyAny>, initial: Failure) -> ControlFactory {
    Arc::new(move || {
        let made = Python::attach(|py| {
            let object = factory.call0(py)?;
            let window = read_window(object.bind(py), "__init__")?;
            Ok((object, window))
        });
        let failure = initial.clone();
        Box::new(match made {
            Ok((object, window)) => PythonControl { object: Some(object), window, failure },
            Err(error) => {
                failure.note(error);
                PythonControl { object: None, window: Window { cwnd: 1.0, ssthresh: Segments::INFINITY }, failure }
            }
        })
    })
}

/// Reads the window that `method` left; a window below one segment counts as one.
fn read_window(object: &Bound<'_, PyAny>, method: &str) -> PyResult<Window> {
    let number = |name: &str, infinite: bool| {
        let value = object.getattr(name)?;
        match value.extract::<f64>() {
            Ok(number) if number >= 0.0 && (infinite || number.is_finite()) => Ok(number),
            _ => {
                let class = object.get_type().qualname()?;
                let right = if infinite { "a number of segments, at least 0" } else { "a finite number of segments, at least 0" };
                let message = format!("{class}.{method} left {name} = {}: expected {right}", value.repr()?);
                Err(PyValueError::new_err(message))
            }
        }
    };
    Ok(Window { cwnd: number("cwnd", false)?.max(1.0), ssthresh: number("ssthresh", true)? })
}

impl Clone for PythonControl {
    /// A deep copy of the object, so that both go their own way.
    fn clone(&self) -> Self {
        let object = self.object.as_ref().and_then(|object| {
            let copied = Python::attach(|py| Ok(py.import("copy")?.call_method1("deepcopy", (object.bind(py),))?.unbind()));
            copied.inspect_err(|error: &PyErr| self.failure.note(Python::attach(|py| error.clone_ref(py)))).ok()
        });
        Self { object, window: self.window, failure: self.failure.clone() }
    }
}

impl PythonControl {
    fn call<'py, E: IntoPyObject<'py, Error = PyErr>>(&mut self, py: Python<'py>, method: &str, event: E) {
        let Some(object) = self.object.as_ref().map(|object| object.bind(py).clone()) else { return };
        let called = object.call_method1(method, (event,)).and_then(|_| read_window(&object, method));
        match called {
            Ok(window) => self.window = window,
            Err(error) => {
                self.object = None;
                self.failure.note(error);
            }
        }
    }
}

impl CongestionControl for PythonControl {
    fn on_established(&mut self, event: &Established) {
        let event = PyEstablished {
            now_s: event.now.as_secs_f64(),
            smss: event.smss.0,
            syn_lost: event.syn_lost(),
            rtt_s: event.rtt.map(Duration::as_secs_f64),
            rwnd: event.rwnd,
            available: event.available,
        };
        Python::attach(|py| self.call(py, "on_established", event));
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        let seconds = |span: Option<Duration>| span.map(Duration::as_secs_f64);
        let event = PyAck {
            now_s: ack.now.as_secs_f64(),
            acked: ack.acked,
            counted: ack.counted,
            flight_size: ack.flight_size,
            rtt_s: seconds(ack.rtt),
            srtt_s: seconds(ack.srtt),
            min_rtt_s: seconds(ack.min_rtt),
            delivery_rate_bps: ack.delivery_rate().map(Rate::as_bits_per_sec),
            app_limited: ack.app_limited(),
            round: ack.round,
            cwnd_limited: ack.cwnd_limited,
            ecn_echo: ack.ecn_echo,
        };
        Python::attach(|py| self.call(py, "on_ack", event));
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let cause = match event.cause {
            Cause::DupAck => "dup_ack",
            Cause::Timeout => "timeout",
            Cause::EcnCe => "ecn",
        };
        let event = PyCongestionEvent {
            now_s: event.now.as_secs_f64(),
            cause,
            window: event.window,
            flight_size: event.flight_size,
            restart: event.restart || event.cause == Cause::Timeout,
        };
        Python::attach(|py| self.call(py, "on_congestion", event));
    }

    fn deflate(&mut self, by: Segments) {
        self.window.cwnd = (self.window.cwnd - by).max(1.0);
        let cwnd = self.window.cwnd;
        Python::attach(|py| {
            let set = self.object.as_ref().map(|object| object.bind(py).setattr("cwnd", cwnd));
            if let Some(Err(error)) = set {
                self.object = None;
                self.failure.note(error);
            }
        });
    }

    fn window(&self) -> Window {
        self.window
    }

    fn phase(&self) -> Phase {
        if self.window.cwnd < self.window.ssthresh { Phase::SlowStart } else { Phase::Avoidance }
    }
}
