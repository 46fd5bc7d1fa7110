//! Runs for Python: the GIL is released while the engine works.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_sim::engine::{FlowResult, LinkResult, Media, Page, Prepared, RunError, RunResult, Summary, Transfer, digest};
use ackclock_sim::scenario::{Document, Scenario, TraceKind};
use ackclock_sim::trace::{Capture, CapturedPacket};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Interrupted, ScenarioError};
use crate::object::Failure;
use crate::scenario::{PyScenario, PythonMakers};
use crate::table::Table;

/// A switch that stops runs from another thread.
#[pyclass(module = "ackclock._core", frozen)]
#[derive(Clone, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Whether it is set.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The result of a run.
#[pyclass(name = "RunResult", module = "ackclock._core", frozen)]
pub(crate) struct PyRunResult {
    /// The scenario's document, which gives its name.
    document: Document,
    scenario: Scenario,
    result: RunResult,
    cpu_seconds: f64,
    setup_seconds: f64,
}

/// Runs a scenario.
#[pyfunction]
#[pyo3(signature = (scenario, record=None, controls=None, cancel=None, capture=Vec::new()), text_signature = "(scenario, record=None, controls=None, cancel=None, capture=())")]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "extracted from Python, where they are keywords")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &PyScenario,
    record: Option<Vec<String>>,
    controls: Option<BTreeMap<usize, Py<PyAny>>>,
    cancel: Option<&Cancel>,
    capture: Vec<String>,
) -> PyResult<PyRunResult> {
    let failure = Failure::default();
    let makers = PythonMakers { made: controls.unwrap_or_default(), failure: failure.clone() };
    let cancel = cancel.cloned().unwrap_or_default();
    let thread_time = py.import("time")?.getattr("thread_time")?;
    let now = || thread_time.call0()?.extract::<f64>();
    let begin = now()?;
    let document = scenario.document().into_owned();
    let mut scenario = scenario.with(&makers)?;
    if let Some(record) = record {
        scenario.record = record.iter().map(|name| trace_kind(name)).collect::<PyResult<_>>()?;
    }
    let prepared = py.detach(|| Prepared::capturing(&scenario, &capture)).map_err(to_python)?;
    let ready = now()?;
    let mut interrupted = || cancel.is_set() || failure.occurred();
    let result = py.detach(|| prepared.run(&mut interrupted));
    if let Some(error) = failure.remove() {
        return Err(error);
    }
    let result = result.map_err(to_python)?;
    Ok(PyRunResult::new(document, scenario, result, (now()? - ready, ready - begin)))
}

pub(crate) fn trace_kind(name: &str) -> PyResult<TraceKind> {
    TraceKind::named(name).map_err(ScenarioError::new_err)
}

fn to_python(error: RunError) -> PyErr {
    match error {
        RunError::Interrupted => Interrupted::new_err("the run was cancelled before its end"),
        other => ScenarioError::new_err(other.to_string()),
    }
}

impl PyRunResult {
    /// The result of a run of `document`; `seconds`: processor time of the run, and of its set-up.
    pub(crate) fn new(document: Document, scenario: Scenario, result: RunResult, seconds: (f64, f64)) -> Self {
        let (cpu_seconds, setup_seconds) = seconds;
        Self { document, scenario, result, cpu_seconds, setup_seconds }
    }

    fn capture(&self) -> PyResult<&Capture> {
        let none = || PyKeyError::new_err("no packets were captured; name links or hosts in `capture`");
        self.result.capture.as_ref().ok_or_else(none)
    }

    fn summary(&self, classes: &[u64], byte_classes: &[u64]) -> PyResult<String> {
        let frozen = self.document.frozen().map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let (hash, cpu_seconds) = (digest(&frozen), Some(self.cpu_seconds));
        let summary = Summary { scenario: &self.scenario, hash, result: &self.result, classes, byte_classes, cpu_seconds };
        serde_json::to_string_pretty(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn flow_names(&self) -> Vec<String> {
        self.scenario.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    fn link_names(&self) -> Vec<String> {
        self.scenario.links.iter().map(|link| link.name.clone()).collect()
    }
}

#[pymethods]
impl PyRunResult {
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        Table::of_rows(&self.scenario, FlowResult::COLUMNS, &self.result.flow_rows().collect::<Vec<_>>())
    }

    #[getter]
    fn links(&self) -> PyResult<Table> {
        let columns = LinkResult::columns(&self.scenario.further_reasons());
        Table::of_rows(&self.scenario, &columns, &self.result.link_rows().collect::<Vec<_>>())
    }

    /// The transfers of applications: responses, bursts, segments and frames.
    #[getter]
    fn transfers(&self) -> PyResult<Table> {
        Table::of_rows(&self.scenario, Transfer::COLUMNS, &self.result.transfer_rows().collect::<Vec<_>>())
    }

    /// The pages that clients began to load, and exchanges of one request and response.
    #[getter]
    fn pages(&self) -> PyResult<Table> {
        Table::of_rows(&self.scenario, Page::COLUMNS, &self.result.page_rows().collect::<Vec<_>>())
    }

    /// The players of videos, and the sources of frames.
    #[getter]
    fn media(&self) -> PyResult<Table> {
        Table::of_rows(&self.scenario, Media::COLUMNS, &self.result.media_rows().collect::<Vec<_>>())
    }

    /// Signs that the run says little about congestion control: name, names of the flows, and a sentence.
    #[getter]
    fn warnings(&self) -> Vec<(&'static str, Vec<String>, String)> {
        self.result.warnings(&self.scenario).into_iter().map(|it| (it.name, it.flows, it.text)).collect()
    }

    /// The whole result except traces, as JSON.
    #[pyo3(name = "summary")]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn py_summary(&self, py: Python<'_>, classes: Vec<u64>, byte_classes: Vec<u64>) -> PyResult<String> {
        py.detach(|| self.summary(&classes, &byte_classes))
    }

    #[getter]
    fn traces(&self) -> Vec<&'static str> {
        let recorded = |kind| self.scenario.record.contains(&kind);
        TraceKind::ALL.iter().filter(|(_, kind)| recorded(*kind)).map(|(name, _)| *name).collect()
    }

    fn trace(&self, name: &str) -> PyResult<Table> {
        let columns = self.result.traces.columns(trace_kind(name)?);
        let columns = columns.ok_or_else(|| PyKeyError::new_err(format!("\"{name}\" was not recorded; name it in `record`")))?;
        Table::of_trace(&columns, &self.flow_names(), &self.link_names())
    }

    /// Names of the links and hosts at which packets were captured.
    #[getter]
    fn captured(&self) -> Vec<&str> {
        self.result.capture.iter().flat_map(Capture::places).collect()
    }

    /// The captured TCP packets.
    #[getter]
    fn packets(&self, py: Python<'_>) -> PyResult<Table> {
        let capture = self.capture()?;
        let packets = py.detach(|| capture.packets());
        let rows: Vec<_> = packets.iter().map(|(flow, packet)| (*flow, packet)).collect();
        Table::of_rows(capture, CapturedPacket::COLUMNS, &rows)
    }

    /// The captured packets as a pcapng file.
    #[pyo3(signature = (at=None, snaplen=None))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn pcapng<'py>(&self, py: Python<'py>, at: Option<Vec<String>>, snaplen: Option<u32>) -> PyResult<Bound<'py, PyBytes>> {
        let capture = self.capture()?;
        let program = concat!("ackclock ", env!("CARGO_PKG_VERSION"));
        Ok(PyBytes::new(py, &py.detach(|| capture.pcapng(program, at.as_deref(), snaplen))))
    }

    #[getter]
    fn events(&self) -> u64 {
        self.result.events
    }

    #[getter]
    fn cpu_seconds(&self) -> f64 {
        self.cpu_seconds
    }

    #[getter]
    fn setup_seconds(&self) -> f64 {
        self.setup_seconds
    }

    #[getter]
    fn trace_hash(&self, py: Python<'_>) -> String {
        py.detach(|| self.result.digest())
    }
}
