//! Runs on a kernel for Python: the GIL is released while a run lasts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_sim::engine::{self, Replayed};
use pyo3::prelude::*;

use crate::error::ScenarioError;
use crate::object::Failure;
use crate::run::{Cancel, PyRunResult, trace_kind};
use crate::scenario::{PyScenario, PythonMakers};

/// Runs a scenario in real time on the TCP of this machine's kernel. Returns the result, and what only such a run has, as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, record=None, cancel=None, capture=Vec::new(), attempts=3, change_hystart=false), text_signature = "(scenario, record=None, cancel=None, capture=(), attempts=3, change_hystart=False)")]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "extracted from Python, where they are keywords")]
pub(crate) fn kernel_run(
    py: Python<'_>,
    scenario: &PyScenario,
    record: Option<Vec<String>>,
    cancel: Option<&Cancel>,
    capture: Vec<String>,
    attempts: u32,
    change_hystart: bool,
) -> PyResult<(PyRunResult, String)> {
    let cancel = cancel.cloned().unwrap_or_default();
    let mut typed = scenario.scenario().clone();
    if let Some(record) = record {
        typed.record = record.iter().map(|name| trace_kind(name)).collect::<PyResult<_>>()?;
    }
    let (result, cpu_seconds, facts) = system::run(py, &typed, (&capture, attempts, change_hystart), &cancel)?;
    Ok((PyRunResult::new(scenario.document().into_owned(), typed, result, (cpu_seconds, 0.0)), facts))
}

/// Runs a scenario on the TCP of a kernel in virtual time, which lies in `folder` and has `hz` ticks per second. Returns the result, and what
/// only such a run has, as JSON. `named`: only flows with `profile = "kernel"` are the kernel's, the others are simulated. `phase`: the run starts so many
/// nanoseconds after a tick at which also coarse timers expire; by default the seed decides. The kernel gets `cpu` seconds of processor time, and may not hand over for `silence` seconds of real time.
#[pyfunction]
#[pyo3(signature = (scenario, folder, hz, record=None, controls=None, cancel=None, capture=Vec::new(), outside=false, control=None, named=false, phase=None, cpu=None, silence=None), text_signature = "(scenario, folder, hz, record=None, controls=None, cancel=None, capture=(), outside=False, control=None, named=False, phase=None, cpu=None, silence=None)")]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "extracted from Python, where they are keywords")]
pub(crate) fn guest_run(
    py: Python<'_>,
    scenario: &PyScenario,
    folder: PathBuf,
    hz: u32,
    record: Option<Vec<String>>,
    controls: Option<BTreeMap<usize, Py<PyAny>>>,
    cancel: Option<&Cancel>,
    capture: Vec<String>,
    outside: bool,
    control: Option<String>,
    named: bool,
    phase: Option<u64>,
    cpu: Option<f64>,
    silence: Option<f64>,
) -> PyResult<(PyRunResult, String)> {
    let cancel = cancel.cloned().unwrap_or_default();
    let failure = Failure::default();
    let makers = PythonMakers { made: controls.unwrap_or_default(), failure: failure.clone() };
    let mut typed = scenario.with(&makers)?;
    if let Some(record) = record {
        typed.record = record.iter().map(|name| trace_kind(name)).collect::<PyResult<_>>()?;
    }
    let stopped = failure.clone();
    let stop = move || cancel.is_set() || stopped.occurred();
    let options = (&*capture, outside, control.as_deref(), named, phase, [cpu, silence]);
    let run = system::guest_run(py, (&folder, hz), &typed, options, stop);
    if let Some(error) = failure.remove() {
        return Err(error);
    }
    let (result, cpu_seconds, facts) = run?;
    Ok((PyRunResult::new(scenario.document().into_owned(), typed, result, (cpu_seconds, 0.0)), facts))
}

/// Sends packets over the links of a scenario, each given by its time in nanoseconds, the index of its flow, its size in bytes and its ECN
/// field. `kernel`: folder and ticks per second of the kernel that has the queues of Linux; `None`: all queues are simulated. Returns for each
/// packet the time of its arrival in seconds and the ECN field, or `None` if it was lost.
#[pyfunction]
#[pyo3(signature = (scenario, packets, kernel=None, cancel=None))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn replay(
    py: Python<'_>,
    scenario: &PyScenario,
    packets: Vec<(u64, usize, u16, u8)>,
    kernel: Option<(PathBuf, u32)>,
    cancel: Option<&Cancel>,
) -> PyResult<Vec<Option<(f64, u8)>>> {
    let flows = scenario.scenario().flows.len();
    let packet =
        |&(nanos, flow, size, ecn): &(u64, usize, u16, u8)| Replayed { at: Instant::from_nanos(nanos), flow, size, ecn: Ecn::of(ecn) };
    if let Some((_, flow, ..)) = packets.iter().find(|(_, flow, ..)| *flow >= flows) {
        return Err(ScenarioError::new_err(format!("a packet is of flow number {flow}, but the scenario has {flows} flows")));
    }
    let packets: Vec<Replayed> = packets.iter().map(packet).collect();
    if !packets.is_sorted_by_key(|packet| packet.at) {
        return Err(ScenarioError::new_err("the packets are not in the order of their times"));
    }
    let (scenario, cancel) = (scenario.scenario().clone(), cancel.cloned().unwrap_or_default());
    let arrivals = match kernel {
        None => py.detach(|| engine::replay(scenario, &packets)).map_err(|error| ScenarioError::new_err(error.to_string())),
        Some((folder, hz)) => system::replay(py, (&folder, hz), scenario, &packets, move || cancel.is_set()),
    }?;
    Ok(arrivals.into_iter().map(|arrival| arrival.map(|(at, ecn)| (at.as_secs_f64(), ecn as u8))).collect())
}

/// Why a scenario cannot run on a kernel in virtual time; `None` if it can. `named` is as in `guest_run`.
#[pyfunction]
#[pyo3(signature = (scenario, control=None, named=false))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn guest_refusal(py: Python<'_>, scenario: &PyScenario, control: Option<String>, named: bool) -> Option<String> {
    py.detach(|| system::guest_refusal(scenario.scenario(), control.as_deref(), named))
}

/// Why a scenario cannot run on the kernel of any machine; `None` if it can.
#[pyfunction]
#[pyo3(signature = (scenario, change_hystart=false))]
pub(crate) fn kernel_refusal(py: Python<'_>, scenario: &PyScenario, change_hystart: bool) -> Option<String> {
    py.detach(|| system::refusal(scenario.scenario(), change_hystart))
}

/// What [`kernel_run`] captures, the attempts, and whether HyStart may change.
type KernelOptions<'a> = (&'a [String], u32, bool);

/// What [`guest_run`] captures, whether queues are outside, the control and whether the file names it, the phase, and the limits `cpu` and
/// `silence`.
type GuestOptions<'a> = (&'a [String], bool, Option<&'a str>, bool, Option<u64>, [Option<f64>; 2]);

#[cfg(target_os = "linux")]
mod system {
    use std::path::Path;

    use ackclock_core::units::Duration;
    use ackclock_emu::kernel::{self, Facts, KernelError, Options};
    use ackclock_kernel::Chosen;
    use ackclock_sim::engine::{Arrival, Replayed, RunResult, Warning};
    use ackclock_sim::scenario::Scenario;
    use ackclock_uml::guest::{Limits, Stop};
    use ackclock_uml::run as guest;
    use serde_json::json;

    use super::{Cancel, GuestOptions, KernelOptions, PyErr, PyResult, Python, ScenarioError};
    use crate::error::Interrupted;

    pub(super) fn run(
        py: Python<'_>,
        scenario: &Scenario,
        (captured, attempts, change_hystart): KernelOptions<'_>,
        cancel: &Cancel,
    ) -> PyResult<(RunResult, f64, String)> {
        let options = Options { captured, attempts, change_hystart };
        let run = py.detach(|| kernel::run(scenario, options, &mut || cancel.is_set()));
        let run = run.map_err(to_python)?;
        Ok((run.result, run.facts.cpu.as_secs_f64(), facts(&run.facts)))
    }

    pub(super) fn guest_run(
        py: Python<'_>,
        (folder, hz): (&Path, u32),
        scenario: &Scenario,
        (captured, outside, control, named, phase, times): GuestOptions<'_>,
        stop: impl Fn() -> bool + Send + Sync + 'static,
    ) -> PyResult<(RunResult, f64, String)> {
        let kernel = guest::Kernel { folder, hz };
        let given = |seconds: Option<f64>| seconds.map(std::time::Duration::try_from_secs_f64).transpose();
        let [cpu, silence] = times.map(|time| given(time).map_err(|error| ScenarioError::new_err(error.to_string())));
        let default = Limits::default();
        let limits = Limits { cpu: cpu?.unwrap_or(default.cpu), silence: silence?.unwrap_or(default.silence), ..default };
        let (options, stop) = (guest::Options { captured, outside, control, flows: chosen(named), phase, limits }, Stop::new(stop));
        let run = py.detach(|| guest::run(kernel, scenario, options, &stop)).map_err(to_python)?;
        let facts = json!({
            "controls": run.controls,
            "phase_s": run.phase.as_secs_f64(),
            "cpu_seconds": run.cpu.as_secs_f64(),
            "confined": run.confined,
            "warnings": warnings(&run.warnings),
        });
        Ok((run.result, run.cpu.as_secs_f64(), facts.to_string()))
    }

    pub(super) fn replay(
        py: Python<'_>,
        (folder, hz): (&Path, u32),
        scenario: Scenario,
        packets: &[Replayed],
        stop: impl Fn() -> bool + Send + Sync + 'static,
    ) -> PyResult<Vec<Arrival>> {
        let stop = Stop::new(stop);
        py.detach(|| guest::replay(guest::Kernel { folder, hz }, scenario, packets, &stop)).map_err(to_python)
    }

    pub(super) fn guest_refusal(scenario: &Scenario, control: Option<&str>, named: bool) -> Option<String> {
        guest::refusal(scenario, chosen(named), control)
    }

    const fn chosen(named: bool) -> Chosen {
        if named { Chosen::Named } else { Chosen::All }
    }

    fn to_python(error: KernelError) -> PyErr {
        match error {
            KernelError::Interrupted => Interrupted::new_err("the run was cancelled before its end"),
            KernelError::Refused(reason) => ScenarioError::new_err(reason),
        }
    }

    /// Name, flows and text of each.
    fn warnings(warnings: &[Warning]) -> Vec<serde_json::Value> {
        warnings.iter().map(|warning| json!([warning.name, warning.flows, warning.text])).collect()
    }

    /// The facts as JSON.
    fn facts(facts: &Facts) -> String {
        let Facts { release, controls, attempts, taint, lateness, cpu, real_time, warnings } = facts;
        let [p50, p99, max] = [lateness.p50, lateness.p99, lateness.max].map(Duration::as_secs_f64);
        let warnings = self::warnings(warnings);
        let facts = json!({
            "release": release,
            "controls": controls,
            "attempts": attempts,
            "tainted": taint.is_some(),
            "reason": taint,
            "releases": lateness.releases,
            "lateness_p50": p50,
            "lateness_p99": p99,
            "lateness_max": max,
            "cpu_seconds": cpu.as_secs_f64(),
            "real_time": real_time,
            "warnings": warnings,
        });
        facts.to_string()
    }

    pub(super) fn refusal(scenario: &Scenario, change_hystart: bool) -> Option<String> {
        kernel::refusal(scenario, change_hystart)
    }
}

/// Other systems have no such kernel.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux, some scenarios are not refused")]
mod system {
    use std::path::Path;

    use ackclock_sim::engine::{Arrival, Replayed, RunResult};
    use ackclock_sim::scenario::Scenario;

    use super::{Cancel, GuestOptions, KernelOptions, PyResult, Python, ScenarioError};

    fn reason() -> String {
        format!("cannot run on the kernel: this system is {}, not Linux", std::env::consts::OS)
    }

    pub(super) fn run(_: Python<'_>, _: &Scenario, _: KernelOptions<'_>, _: &Cancel) -> PyResult<(RunResult, f64, String)> {
        Err(ScenarioError::new_err(reason()))
    }

    pub(super) fn refusal(_: &Scenario, _: bool) -> Option<String> {
        Some(reason())
    }

    pub(super) fn replay(
        _: Python<'_>,
        _: (&Path, u32),
        _: Scenario,
        _: &[Replayed],
        _: impl Fn() -> bool + Send + Sync + 'static,
    ) -> PyResult<Vec<Arrival>> {
        Err(ScenarioError::new_err(reason()))
    }

    pub(super) fn guest_run(
        _: Python<'_>,
        _: (&Path, u32),
        _: &Scenario,
        _: GuestOptions<'_>,
        _: impl Fn() -> bool + Send + Sync + 'static,
    ) -> PyResult<(RunResult, f64, String)> {
        Err(ScenarioError::new_err(reason()))
    }

    pub(super) fn guest_refusal(_: &Scenario, _: Option<&str>, _: bool) -> Option<String> {
        Some(reason())
    }
}
