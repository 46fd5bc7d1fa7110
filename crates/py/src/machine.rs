//! What this machine's kernel can run, and programs behind the path of a scenario.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use ackclock_sim::scenario::TraceKind;

use crate::run::{PyRunResult, trace_kind};
use crate::scenario::PyScenario;

/// Folder and ticks per second of a kernel in virtual time, if it is one, and the folder in which programs may write.
type Guest = (Option<(PathBuf, u32)>, Option<PathBuf>);
/// Command, whether it runs at the sender, peer and flow.
type Words = (Vec<OsString>, bool, Option<String>, Option<String>);
/// What is recorded, and where packets are captured.
type Traces<'a> = (Vec<TraceKind>, &'a [String]);

/// A trial: name, purpose, whether it succeeded, and the finding.
type Probe = (String, &'static str, bool, String);

/// Returns the kernel's release, and every trial of what this machine can run.
#[pyfunction]
pub(crate) fn kernel_check(py: Python<'_>) -> (String, Vec<Probe>) {
    py.detach(linux::check)
}

/// Runs a command at an end of a flow's path: in real time on this machine's kernel, or in virtual time on the kernel in the folder `guest` with
/// its ticks per second. Only the latter has traces, and lets the command write beneath `output`. Returns the command's exit code, `None` if it
/// did not end within the scenario's duration; the path's result; and what was measured.
#[pyfunction]
#[pyo3(signature = (scenario, command, *, sender=false, peer=None, flow=None, record=Vec::new(), capture=Vec::new(), guest=None, output=None), text_signature = "(scenario, command, *, sender=False, peer=None, flow=None, record=(), capture=(), guest=None, output=None)")]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "extracted from Python, where they are keywords")]
pub(crate) fn emulate<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    command: Vec<OsString>,
    sender: bool,
    peer: Option<String>,
    flow: Option<String>,
    record: Vec<String>,
    capture: Vec<String>,
    guest: Option<(PathBuf, u32)>,
    output: Option<PathBuf>,
) -> PyResult<(Option<i32>, PyRunResult, Bound<'py, PyDict>)> {
    let record = record.iter().map(|name| trace_kind(name)).collect::<PyResult<_>>()?;
    linux::emulate(py, scenario, (command, sender, peer, flow), (record, &capture), (guest, output))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    use ackclock_emu::check::{self, Use};
    use ackclock_emu::programs;
    use ackclock_host::Side;
    use ackclock_kernel::behind::Programs;
    use ackclock_uml::guest::{Access, Hear, Stop};
    use ackclock_uml::joint::Stream;
    use ackclock_uml::programs::{self as virtual_programs, Options};
    use ackclock_uml::run::Kernel;

    use super::{Bound, Guest, Probe, PyDict, PyResult, PyRunResult, PyScenario, PyValueError, Python, Traces, Words};
    use pyo3::exceptions::PyKeyboardInterrupt;
    use pyo3::prelude::*;

    pub(super) fn check() -> (String, Vec<Probe>) {
        let row = |probe: check::Probe| {
            let needed_for = match probe.needed_for {
                Use::All => "all",
                Use::Control => "control",
                Use::AccurateEcn => "accurate_ecn",
                Use::Ebpf => "ebpf",
                Use::Precision => "precision",
            };
            let found = probe.result.is_ok();
            (probe.name, needed_for, found, probe.result.unwrap_or_else(|missing| missing))
        };
        (check::release(), check::check().into_iter().map(row).collect())
    }

    pub(super) fn emulate<'py>(
        py: Python<'py>,
        scenario: &PyScenario,
        (command, sender, peer, flow): Words,
        (record, captured): Traces,
        (guest, output): Guest,
    ) -> PyResult<(Option<i32>, PyRunResult, Bound<'py, PyDict>)> {
        let document = scenario.document().into_owned();
        let scenario = scenario.scenario().clone();
        let programs = Programs { command, at: if sender { Side::Sender } else { Side::Receiver }, peer, flow };
        let facts = PyDict::new(py);
        let (code, scenario, result, cpu) = if let Some((folder, hz)) = guest {
            let access = Access { writable: output.into_iter().collect(), hear: Hear::new(hear) };
            let kernel = Kernel { folder: &folder, hz };
            let asked = AtomicBool::new(false);
            let stop = Stop::new(move || {
                if Python::attach(|py| py.check_signals().is_err()) {
                    asked.store(true, Ordering::Relaxed);
                }
                asked.load(Ordering::Relaxed)
            });
            let ended = py.detach(|| virtual_programs::run(kernel, scenario, &programs, Options { captured, record, access }, &stop));
            let ended = ended.map_err(|reason| error(reason, stop.is_asked()))?;
            facts.set_item("interrupted", ended.interrupted)?;
            facts.set_item("elapsed_s", ended.elapsed.as_secs_f64())?;
            facts.set_item("confined", ended.confined)?;
            (ended.code, ended.scenario, ended.result, ended.cpu)
        } else {
            let mut interrupted = false;
            let mut ask = || {
                interrupted |= Python::attach(|py| py.check_signals().is_err());
                interrupted
            };
            let ended = py.detach(|| {
                let ended = programs::run(scenario, &programs, captured, &mut ask);
                // Ctrl-C ends most commands before anyone asks for it here.
                ask();
                ended
            });
            let ended = ended.map_err(|reason| error(reason, interrupted))?;
            facts.set_item("interrupted", ended.interrupted)?;
            facts.set_item("elapsed_s", ended.elapsed.as_secs_f64())?;
            facts.set_item("releases", ended.lateness.releases)?;
            let lateness = [("p50", ended.lateness.p50), ("p99", ended.lateness.p99), ("max", ended.lateness.max)];
            for (name, late) in lateness {
                facts.set_item(format!("lateness_{name}_s"), late.as_secs_f64())?;
            }
            facts.set_item("taint", ended.taint)?;
            facts.set_item("controls", ended.controls)?;
            (Some(ended.code), ended.scenario, ended.result, ended.cpu)
        };
        let cpu = cpu.as_secs_f64();
        facts.set_item("cpu_s", cpu)?;
        Ok((code, PyRunResult::new(document, scenario, result, (cpu, 0.0)), facts))
    }

    fn error(reason: String, interrupted: bool) -> PyErr {
        if interrupted { PyKeyboardInterrupt::new_err(reason) } else { PyValueError::new_err(reason) }
    }

    /// Writes what a program in a guest writes, at once.
    fn hear(stream: Stream, bytes: &[u8]) -> io::Result<()> {
        fn write(mut to: impl io::Write, bytes: &[u8]) -> io::Result<()> {
            to.write_all(bytes)?;
            to.flush()
        }
        match stream {
            Stream::Output => write(io::stdout().lock(), bytes),
            Stream::Errors => write(io::stderr().lock(), bytes),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use super::{Bound, Guest, Probe, PyDict, PyResult, PyRunResult, PyScenario, PyValueError, Python, Traces, Words};

    pub(super) fn check() -> (String, Vec<Probe>) {
        let system = std::env::consts::OS;
        (system.to_owned(), vec![("Linux".to_owned(), "all", false, format!("this system is {system}"))])
    }

    pub(super) fn emulate<'py>(
        _: Python<'py>,
        _: &PyScenario,
        _: Words,
        _: Traces,
        _: Guest,
    ) -> PyResult<(Option<i32>, PyRunResult, Bound<'py, PyDict>)> {
        Err(PyValueError::new_err(format!("emulation needs Linux, and this system is {}", std::env::consts::OS)))
    }
}
