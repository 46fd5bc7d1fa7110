//! A Python object that takes decisions: which methods it has, how they are called, and what they leave.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::units::{Bytes, Duration, Instant, Rate};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The first exception that an object raised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    pub(crate) fn note(&self, error: PyErr) {
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

/// Declares the methods of objects with their names in Python.
macro_rules! methods {
    ($($method:ident = $name:literal),+ $(,)?) => {
        /// A method of a control or slow start.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Method {
            $($method),+
        }

        impl Method {
            const ALL: &[Self] = &[$(Self::$method),+];

            const fn text(self) -> &'static str {
                match self {
                    $(Self::$method => $name),+
                }
            }

            fn name(self, py: Python<'_>) -> &Bound<'_, PyString> {
                match self {
                    $(Self::$method => intern!(py, $name)),+
                }
            }
        }
    };
}

methods! {
    Established = "on_established",
    Ack = "on_ack",
    AckInRecovery = "on_ack_in_recovery",
    Observe = "observe",
    Sent = "on_sent",
    Lost = "on_lost",
    Congestion = "on_congestion",
    Restart = "on_restart",
    RecoveryEnd = "on_recovery_end",
    Spurious = "on_spurious",
    Mss = "on_mss",
    Timer = "on_timer",
    FirstWindow = "on_first_window",
    Internals = "internals",
}

/// What an object leaves besides the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outputs {
    pub(crate) pacing_rate: Option<Rate>,
    pub(crate) burst: Bytes,
    pub(crate) timer: Option<Instant>,
}

impl Outputs {
    const NONE: Self = Self { pacing_rate: None, burst: Bytes(0), timer: None };

    fn read(object: &Bound<'_, PyAny>, method: &str) -> PyResult<Self> {
        let py = object.py();
        let some = |name| Ok::<_, PyErr>(object.getattr_opt(name)?.filter(|value| !value.is_none()));
        let mut outputs = Self::NONE;
        if let Some(value) = some(intern!(py, "pacing_rate_bps"))? {
            let rate = value.extract::<f64>().ok().filter(|rate| *rate >= 1.0 && *rate < u64::MAX as f64);
            let rate = rate.and_then(|rate| Rate::from_bits_per_sec(rate as u64));
            outputs.pacing_rate = Some(rate.ok_or_else(|| left(object, method, "pacing_rate_bps", &value, "bit/s, at least 1, or None"))?);
        }
        if let Some(value) = some(intern!(py, "burst"))? {
            let burst = value.extract::<f64>().ok().filter(|bytes| (0.0..=1e15).contains(bytes));
            outputs.burst = Bytes(burst.ok_or_else(|| left(object, method, "burst", &value, "a number of bytes, at least 0"))? as u64);
        }
        if let Some(value) = some(intern!(py, "timer_s"))? {
            let at = value.extract::<f64>().ok().filter(|at| *at >= 0.0 && at.is_finite());
            let at = at.ok_or_else(|| left(object, method, "timer_s", &value, "seconds since the start of the run, or None"))?;
            outputs.timer = Some(Instant::ZERO + Duration::from_secs_f64(at));
        }
        Ok(outputs)
    }
}

/// The message on an attribute that is none.
pub(crate) fn left(object: &Bound<'_, PyAny>, method: &str, name: &str, value: &Bound<'_, PyAny>, right: &str) -> PyErr {
    let message = || {
        let class = object.get_type().qualname()?;
        Ok::<_, PyErr>(format!("{class}.{method} left {name} = {}: expected {right}", value.repr()?))
    };
    message().map_or_else(|error| error, PyValueError::new_err)
}

/// A Python object, until it raises an exception; the run is then given up.
#[derive(Debug)]
pub(crate) struct Object {
    python: Option<Py<PyAny>>,
    /// A bit for each method that is to be called.
    called: u32,
    pub(crate) outputs: Outputs,
    failure: Failure,
}

impl Object {
    /// What `factory` returns, a subclass of `base` or something like it. Of methods that do nothing in `base` only those are called that
    /// it has of its own; `always` do something there.
    pub(crate) fn make(factory: &Py<PyAny>, base: &str, always: &[Method], failure: &Failure) -> Self {
        let made = Python::attach(|py| {
            let object = factory.call0(py)?;
            let called = called(object.bind(py), base, always)?;
            let outputs = Outputs::read(object.bind(py), "__init__")?;
            Ok((object, called, outputs))
        });
        let failure = failure.clone();
        match made {
            Ok((object, called, outputs)) => Self { python: Some(object), called, outputs, failure },
            Err(error) => {
                failure.note(error);
                Self { python: None, called: 0, outputs: Outputs::NONE, failure }
            }
        }
    }

    /// Whether `method` is to be called at all.
    pub(crate) const fn has(&self, method: Method) -> bool {
        self.called & (1 << method as u32) != 0
    }

    /// Calls `method` and reads with `read` what it returned and left, besides the usual outputs.
    pub(crate) fn call<T>(
        &mut self,
        method: Method,
        arguments: impl for<'py> PyCallArgs<'py>,
        read: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyAny>, &str) -> PyResult<T>,
    ) -> Option<T> {
        if !self.has(method) {
            return None;
        }
        let object = self.python.as_ref()?;
        let result = Python::attach(|py| {
            let object = object.bind(py);
            let returned = object.call_method1(method.name(py), arguments)?;
            let outputs = Outputs::read(object, method.text())?;
            Ok((read(object, &returned, method.text())?, outputs))
        });
        match result {
            Ok((value, outputs)) => {
                self.outputs = outputs;
                Some(value)
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// The timer has expired at `now`: it is off, unless `on_timer` sets it anew to a later time.
    pub(crate) fn expire<T>(
        &mut self,
        now: Instant,
        arguments: impl for<'py> PyCallArgs<'py>,
        read: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyAny>, &str) -> PyResult<T>,
    ) -> Option<T> {
        self.outputs.timer = None;
        self.with(|object| object.setattr(intern!(object.py(), "timer_s"), object.py().None()));
        self.call(Method::Timer, arguments, |object, returned, method| {
            let value = object.getattr(intern!(object.py(), "timer_s"))?;
            if !value.is_none() && value.extract::<f64>().is_ok_and(|at| at <= now.as_secs_f64()) {
                let right = format!("a time after now, {} s, or None", now.as_secs_f64());
                return Err(left(object, method, "timer_s", &value, &right));
            }
            read(object, returned, method)
        })
    }

    /// Does something with the object.
    pub(crate) fn with<T>(&mut self, act: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.python.as_ref()?;
        let acted = Python::attach(|py| act(object.bind(py)));
        acted.map_err(|error| self.fail(error)).ok()
    }

    /// Whether the attribute `name` is true.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.with(|object| object.getattr_opt(name)?.map_or(Ok(false), |value| value.is_truthy())).unwrap_or(false)
    }

    /// The object's own quantities.
    pub(crate) fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let Some(object) = self.python.as_ref().filter(|_| self.has(Method::Internals)) else { return };
        let read = Python::attach(|py| {
            let returned = object.bind(py).call_method0(Method::Internals.name(py))?;
            let Ok(values) = returned.cast::<PyDict>() else {
                return Err(left(object.bind(py), "internals", "its return value", &returned, "a dictionary of names and numbers"));
            };
            for (name, value) in values {
                let (Ok(text), Ok(number)) = (name.extract::<String>(), value.extract::<f64>()) else {
                    let what = format!("{} in its return value", name.repr()?);
                    return Err(left(object.bind(py), "internals", &what, &value, "a number, by a name"));
                };
                out(lasting(&text), number);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.failure.note(error);
        }
    }

    fn fail(&mut self, error: PyErr) {
        self.python = None;
        self.failure.note(error);
    }
}

impl Clone for Object {
    /// A deep copy, so that both go their own way.
    fn clone(&self) -> Self {
        let python = self.python.as_ref().and_then(|object| {
            let copied = Python::attach(|py| Ok(py.import("copy")?.call_method1("deepcopy", (object.bind(py),))?.unbind()));
            copied.map_err(|error: PyErr| self.failure.note(error)).ok()
        });
        Self { python, called: self.called, outputs: self.outputs, failure: self.failure.clone() }
    }
}

/// A bit for each method that is to be called: those of `always`, and those that `object` has and `base` has not given it.
fn called(object: &Bound<'_, PyAny>, base: &str, always: &[Method]) -> PyResult<u32> {
    let py = object.py();
    let base = py.import("ackclock.control")?.getattr(base)?;
    let mut called = 0;
    for &method in Method::ALL {
        let name = method.name(py);
        let own = match object.getattr_opt(name)? {
            Some(bound) => match (bound.getattr_opt(intern!(py, "__func__"))?, base.getattr_opt(name)?) {
                (Some(function), Some(inherited)) => !function.is(&inherited),
                _ => true,
            },
            None => false,
        };
        if own || always.contains(&method) {
            called |= 1 << method as u32;
        }
    }
    Ok(called)
}

/// `name` for the whole process: each is kept once.
fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}
