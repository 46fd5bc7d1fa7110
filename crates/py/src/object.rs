//! A Python object that makes decisions: its methods, their calls, and the attributes it sets.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::cc::Wants;
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
    pub(crate) fn record(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Removes and returns the exception.
    pub(crate) fn remove(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the object has raised an exception.
    pub(crate) fn occurred(&self) -> bool {
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
    Delivered = "on_delivered",
    Idle = "on_idle",
    Congestion = "on_congestion",
    Restart = "on_restart",
    RecoveryEnd = "on_recovery_end",
    Spurious = "on_spurious",
    Mss = "on_mss",
    Timer = "on_timer",
    FirstWindow = "on_first_window",
    Internals = "internals",
}

/// The attributes of an object besides the window.
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
            outputs.pacing_rate =
                Some(rate.ok_or_else(|| invalid(object, method, "set pacing_rate_bps =", &value, "bit/s, at least 1, or None"))?);
        }
        if let Some(value) = some(intern!(py, "burst"))? {
            let burst = value.extract::<f64>().ok().filter(|bytes| (0.0..=1e15).contains(bytes));
            outputs.burst =
                Bytes(burst.ok_or_else(|| invalid(object, method, "set burst =", &value, "a number of bytes, at least 0"))? as u64);
        }
        if let Some(value) = some(intern!(py, "timer_s"))? {
            let at = value.extract::<f64>().ok().filter(|at| *at >= 0.0 && at.is_finite());
            let at = at.ok_or_else(|| invalid(object, method, "set timer_s =", &value, "seconds since the start of the run, or None"))?;
            outputs.timer = Some(Instant::ZERO + Duration::from_secs_f64(at));
        }
        Ok(outputs)
    }
}

/// The exception for an invalid value. `action` precedes the value: "returned", "set burst =".
pub(crate) fn invalid(object: &Bound<'_, PyAny>, method: &str, action: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let message = || {
        let class = object.get_type().qualname()?;
        Ok::<_, PyErr>(format!("{class}.{method} {action} {}: expected {expected}", value.repr()?))
    };
    message().map_or_else(|error| error, PyValueError::new_err)
}

/// A Python object. After an exception it is dropped, and the run is aborted.
#[derive(Debug)]
pub(crate) struct Object {
    python: Option<Py<PyAny>>,
    /// One bit for each method to be called.
    called: u32,
    pub(crate) outputs: Outputs,
    failure: Failure,
}

impl Object {
    /// The object returned by `factory`: a subclass of `base` or a similar class. `always` lists the methods that have an effect in `base`;
    /// other methods are called only if the object overrides them.
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
                failure.record(error);
                Self { python: None, called: 0, outputs: Outputs::NONE, failure }
            }
        }
    }

    /// Whether `method` is called at all.
    pub(crate) const fn has(&self, method: Method) -> bool {
        self.called & (1 << method as u32) != 0
    }

    /// Calls `method`, updates the usual outputs, and reads further results with `read`.
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

    /// Handles the expiry of the timer at `now`. The timer is off afterwards, unless `on_timer` sets it to a later time.
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
                let expected = format!("a time after now, {} s, or None", now.as_secs_f64());
                return Err(invalid(object, method, "set timer_s =", &value, &expected));
            }
            read(object, returned, method)
        })
    }

    /// Calls `act` with the object.
    pub(crate) fn with<T>(&mut self, act: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.python.as_ref()?;
        let acted = Python::attach(|py| act(object.bind(py)));
        acted.map_err(|error| self.fail(error)).ok()
    }

    /// What the object asks its host for.
    pub(crate) fn wants(&mut self) -> Wants {
        Wants::NOTHING.with(|wants| {
            wants.samples = self.flag("wants_samples");
            wants.deliveries = self.flag("wants_deliveries");
            wants.one_way_delay = self.flag("wants_one_way_delay");
        })
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
                return Err(invalid(object.bind(py), "internals", "returned", &returned, "a dictionary of names and numbers"));
            };
            for (name, value) in values {
                let (Ok(text), Ok(number)) = (name.extract::<String>(), value.extract::<f64>()) else {
                    let action = format!("returned the entry {}:", name.repr()?);
                    return Err(invalid(object.bind(py), "internals", &action, &value, "a text as the name and a number"));
                };
                out(interned(&text), number);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.failure.record(error);
        }
    }

    fn fail(&mut self, error: PyErr) {
        self.python = None;
        self.failure.record(error);
    }
}

impl Clone for Object {
    /// A deep copy, so that the copies are independent.
    fn clone(&self) -> Self {
        let python = self.python.as_ref().and_then(|object| {
            let copied = Python::attach(|py| Ok(py.import("copy")?.call_method1("deepcopy", (object.bind(py),))?.unbind()));
            copied.map_err(|error: PyErr| self.failure.record(error)).ok()
        });
        Self { python, called: self.called, outputs: self.outputs, failure: self.failure.clone() }
    }
}

/// One bit for each method to be called: those of `always`, and those that `object` does not inherit from `base`.
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

/// A copy of `name` that lives as long as the process; equal names share one copy.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = names.get(name) {
        return known;
    }
    let leaked: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(leaked);
    leaked
}
