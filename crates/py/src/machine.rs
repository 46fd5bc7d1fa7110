//! What this machine's kernel can run, and programs behind the path of a scenario.

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::PyScenario;
use crate::table::Table;

/// A trial: name, purpose, whether it succeeded, and the finding.
type Probe = (String, &'static str, bool, String);

/// Returns the kernel's release, and every trial of what this machine can run.
#[pyfunction]
pub(crate) fn kernel_check(py: Python<'_>) -> (String, Vec<Probe>) {
    py.detach(linux::check)
}

/// Runs a command at an end of a flow's path. Returns its exit code, the links, and what the emulator measured.
#[pyfunction]
#[pyo3(signature = (scenario, command, *, sender=false, peer=None, flow=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn emulate<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    command: Vec<OsString>,
    sender: bool,
    peer: Option<String>,
    flow: Option<String>,
) -> PyResult<(i32, Table, Bound<'py, PyDict>)> {
    linux::emulate(py, scenario, command, sender, (peer, flow))
}

#[cfg(target_os = "linux")]
mod linux {
    use ackclock_emu::check::{self, Use};
    use ackclock_emu::programs::{self, Programs};
    use ackclock_host::Side;
    use ackclock_sim::engine::LinkResult;

    use super::{Bound, OsString, Probe, PyDict, PyResult, PyScenario, PyValueError, Python, Table};
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
        command: Vec<OsString>,
        sender: bool,
        (peer, flow): (Option<String>, Option<String>),
    ) -> PyResult<(i32, Table, Bound<'py, PyDict>)> {
        let scenario = scenario.scenario().clone();
        let programs = Programs { command, at: if sender { Side::Sender } else { Side::Receiver }, peer, flow };
        let mut interrupted = false;
        let mut ask = || {
            interrupted |= Python::attach(|py| py.check_signals().is_err());
            interrupted
        };
        let ended = py.detach(|| {
            let ended = programs::run(scenario, &programs, &mut ask);
            // Ctrl-C ends most commands before anyone asks for it here.
            ask();
            ended
        });
        let ended =
            ended.map_err(|reason| if interrupted { PyKeyboardInterrupt::new_err(reason) } else { PyValueError::new_err(reason) })?;
        let links: Vec<(usize, &LinkResult)> = ended.result.link_rows().collect();
        let columns = LinkResult::columns(&ended.scenario.further_reasons());
        let links = Table::of_rows(&ended.scenario, &columns, &links)?;
        let facts = PyDict::new(py);
        facts.set_item("interrupted", ended.interrupted)?;
        facts.set_item("elapsed_s", ended.elapsed.as_secs_f64())?;
        facts.set_item("cpu_s", ended.cpu.as_secs_f64())?;
        facts.set_item("releases", ended.lateness.releases)?;
        let lateness = [("p50", ended.lateness.p50), ("p99", ended.lateness.p99), ("max", ended.lateness.max)];
        for (name, late) in lateness {
            facts.set_item(format!("lateness_{name}_s"), late.as_secs_f64())?;
        }
        facts.set_item("taint", ended.taint)?;
        Ok((ended.code, links, facts))
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use super::{Bound, OsString, Probe, PyDict, PyResult, PyScenario, PyValueError, Python, Table};

    pub(super) fn check() -> (String, Vec<Probe>) {
        let system = std::env::consts::OS;
        (system.to_owned(), vec![("Linux".to_owned(), "all", false, format!("this system is {system}"))])
    }

    pub(super) fn emulate<'py>(
        _: Python<'py>,
        _: &PyScenario,
        _: Vec<OsString>,
        _: bool,
        _: (Option<String>, Option<String>),
    ) -> PyResult<(i32, Table, Bound<'py, PyDict>)> {
        Err(PyValueError::new_err(format!("emulation needs Linux, and this system is {}", std::env::consts::OS)))
    }
}
