//! Runs for Python: the GIL is released while the engine works.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Duration, Instant};
use ackclock_sim::engine::{ApplicationResult, FlowResult, LinkResult, Page, Prepared, RunError, RunResult, Transfer, digest};
use ackclock_sim::scenario::{
    ComposedSpec, ControlSpec, Document, FlowSpec, LinkSpec, ModernRecovery, Recovery, Scenario, TraceKind, Traffic,
};
use ackclock_sim::trace::{Capture, FatesTrace};
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt32Array, UInt64Array};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::object::Failure;
use crate::scenario::{PyScenario, PythonMakers};
use crate::summary::{Summary, completion_table, page_table};
use crate::table::{Table, names, words};
use crate::{Interrupted, ScenarioError};

/// A switch that stops runs from another thread.
#[pyclass(module = "ackclock._core", frozen)]
#[derive(Clone, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

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

/// What a run produced.
#[pyclass(name = "RunResult", module = "ackclock._core", frozen)]
pub(crate) struct PyRunResult {
    /// What the scenario was made from, which names it.
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
    let seconds = || thread_time.call0()?.extract::<f64>();
    let begin = seconds()?;
    let document = scenario.document().clone();
    let mut scenario = scenario.with(&makers)?;
    if let Some(record) = record {
        scenario.record = record.iter().map(|name| trace_kind(name)).collect::<PyResult<_>>()?;
    }
    let prepared = py.detach(|| Prepared::capturing(&scenario, &capture)).map_err(to_python)?;
    let ready = seconds()?;
    let mut interrupted = || cancel.0.load(Ordering::Relaxed) || failure.happened();
    let result = py.detach(|| prepared.run(&mut interrupted));
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let result = result.map_err(to_python)?;
    Ok(PyRunResult { document, scenario, result, cpu_seconds: seconds()? - ready, setup_seconds: ready - begin })
}

fn trace_kind(name: &str) -> PyResult<TraceKind> {
    let known = || TraceKind::ALL.map(|(name, _)| name).join(", ");
    let found = TraceKind::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, kind)| *kind).ok_or_else(|| ScenarioError::new_err(format!("there is no trace \"{name}\" (known: {})", known())))
}

fn to_python(error: RunError) -> PyErr {
    match error {
        RunError::Interrupted => Interrupted::new_err("the run was cancelled before its end"),
        other => ScenarioError::new_err(other.to_string()),
    }
}

/// Reads a column out of rows.
fn numbers<T>(rows: &[T], read: impl Fn(&T) -> f64) -> ArrayRef {
    Arc::new(rows.iter().map(read).collect::<Float64Array>())
}

fn maybe_numbers<T>(rows: &[T], read: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(read).collect::<Float64Array>())
}

/// A number that is one.
fn some_number(number: f64) -> Option<f64> {
    Some(number).filter(|number| !number.is_nan())
}

fn counts<T>(rows: &[T], read: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(rows.iter().map(read).collect::<UInt64Array>())
}

fn maybe_counts<T>(rows: &[T], read: impl Fn(&T) -> Option<u64>) -> ArrayRef {
    Arc::new(rows.iter().map(read).collect::<UInt64Array>())
}

fn texts<T>(rows: &[T], read: impl Fn(&T) -> String) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(read(row))).collect::<StringArray>())
}

/// A time as tables have it: to the nanosecond, like those of traces.
fn seconds_at(at: Instant) -> f64 {
    Instant::from_nanos(at.as_nanos()).as_secs_f64()
}

/// A span as tables have it.
fn seconds_of(span: Duration) -> f64 {
    Duration::from_nanos(span.as_nanos()).as_secs_f64()
}

fn times(nanos: &[u64]) -> ArrayRef {
    Arc::new(nanos.iter().map(|&nanos| Instant::from_nanos(nanos).as_secs_f64()).collect::<Float64Array>())
}

fn optional_times(nanos: &[Option<u64>]) -> ArrayRef {
    Arc::new(nanos.iter().map(|nanos| nanos.map(|nanos| Instant::from_nanos(nanos).as_secs_f64())).collect::<Float64Array>())
}

/// Seconds from when a transfer was needed to its last byte.
fn completion_time(transfer: &Transfer) -> Option<f64> {
    Some(seconds_of(transfer.completed?.since(transfer.queued)))
}

/// Seconds from when a page was begun to its last byte.
fn load_time(page: &Page) -> Option<f64> {
    Some(seconds_of(page.completed?.since(page.started)))
}

/// The parts of a flow's control in a few words.
fn control_label(flow: &FlowSpec) -> String {
    if let Traffic::Datagrams(_) = flow.traffic {
        return "none".to_owned();
    }
    let ControlSpec::Composed(ComposedSpec { initial_window, slow_start, avoidance, loss_response }) = &flow.control else {
        return "python".to_owned();
    };
    let response = loss_response.as_ref().map_or("own", |part| part.name);
    [initial_window.name, slow_start.name(), avoidance.name, response].join(" + ")
}

const fn recovery_name(flow: &FlowSpec) -> &'static str {
    if let Traffic::Datagrams(_) = flow.traffic {
        return "none";
    }
    if let Some(host) = &flow.modern {
        return match host.recovery {
            ModernRecovery::Rack => "rack",
            ModernRecovery::Sack => "sack",
            ModernRecovery::NewReno => "newreno",
        };
    }
    match flow.host.recovery {
        Recovery::Tahoe => "tahoe",
        Recovery::Reno => "reno",
        Recovery::NewReno => "newreno",
        Recovery::Sack => "sack",
        Recovery::Vegas => "vegas",
    }
}

impl PyRunResult {
    fn flow_identity(&self) -> Vec<(&'static str, ArrayRef)> {
        let specs = &self.scenario.flows;
        let node = |index: usize| self.scenario.nodes[index].clone();
        vec![
            ("name", texts(specs, |flow| flow.name.clone())),
            ("from", texts(specs, |flow| node(flow.from))),
            ("to", texts(specs, |flow| node(flow.to))),
            ("control", texts(specs, control_label)),
            ("recovery", texts(specs, |flow| recovery_name(flow).to_owned())),
            ("start_s", maybe_numbers(&self.result.flows, |flow| flow.started.map(seconds_at))),
            ("size_packets", maybe_counts(specs, |flow: &FlowSpec| flow.packets)),
        ]
    }

    fn flow_counters(&self) -> Vec<(&'static str, ArrayRef)> {
        let flows = &self.result.flows;
        vec![
            ("delivered_bytes", counts(flows, |flow| flow.delivered_bytes)),
            ("delivered_packets", counts(flows, |flow| flow.delivered_packets)),
            ("goodput_bps", numbers(flows, |flow| flow.goodput_bps)),
            ("sent_packets", counts(flows, |flow| flow.sent_packets)),
            ("retransmitted_packets", counts(flows, |flow| flow.retransmitted_packets)),
            ("timeouts", counts(flows, |flow| flow.timeouts)),
            ("window_reductions", counts(flows, |flow| flow.window_reductions)),
            ("dropped_packets", counts(flows, |flow| flow.dropped_packets)),
            ("notices", counts(flows, |flow| flow.notices)),
            ("cwnd_max", maybe_numbers(flows, |flow| some_number(flow.cwnd_max))),
            ("cwnd_final", maybe_numbers(flows, |flow| some_number(flow.cwnd_final))),
            ("ssthresh_final", maybe_numbers(flows, |flow| some_number(flow.ssthresh_final))),
            ("min_rtt", maybe_numbers(flows, |flow| flow.min_rtt.map(seconds_of))),
        ]
    }

    fn slow_start(&self) -> Vec<(&'static str, ArrayRef)> {
        let flows = &self.result.flows;
        let ratio = |flow: &FlowResult| {
            let (_, _, cwnd) = flow.slow_start_exit?;
            Some(cwnd / (flow.bdp_packets + flow.queue_packets?))
        };
        let reasons: StringArray = flows.iter().map(|flow| flow.slow_start_exit.map(|(reason, _, _)| reason.name())).collect();
        vec![
            ("slow_start_exit_reason", Arc::new(reasons)),
            ("slow_start_exit_time", maybe_numbers(flows, |flow| flow.slow_start_exit.map(|(_, at, _)| seconds_at(at)))),
            ("slow_start_exit_cwnd", maybe_numbers(flows, |flow| flow.slow_start_exit.map(|(_, _, cwnd)| cwnd))),
            ("slow_start_exit_ratio", maybe_numbers(flows, ratio)),
            ("bdp_packets", numbers(flows, |flow| flow.bdp_packets)),
            ("queue_packets", maybe_numbers(flows, |flow| flow.queue_packets)),
            ("first_overshoot_losses", counts(flows, |flow| flow.first_overshoot_losses)),
            ("delivered_1s", maybe_counts(flows, |flow| flow.delivered_after[0])),
            ("delivered_2s", maybe_counts(flows, |flow| flow.delivered_after[1])),
            ("delivered_5s", maybe_counts(flows, |flow| flow.delivered_after[2])),
            ("delivered_10s", maybe_counts(flows, |flow| flow.delivered_after[3])),
            ("completion_time", maybe_numbers(flows, |flow| flow.completion_time.map(seconds_of))),
        ]
    }

    /// The rows of all applications, each with its application's index.
    fn of_applications<T: Copy>(&self, rows: impl Fn(&ApplicationResult) -> &[T]) -> Vec<(usize, T)> {
        let results = self.result.applications.iter().enumerate();
        results.flat_map(|(index, result)| rows(result).iter().map(move |row| (index, *row))).collect()
    }

    fn completion(&self, classes: &[u64]) -> PyResult<Table> {
        let flows = self.scenario.flows.iter().zip(&self.result.flows);
        let sized = |(spec, flow): (&FlowSpec, &FlowResult)| Some((spec.packets?, flow.completion_time.map(seconds_of)));
        completion_table(&flows.filter_map(sized).collect::<Vec<_>>(), classes, "packets")
    }

    fn transfer_times(&self, classes: &[u64]) -> PyResult<Table> {
        let transfers = self.of_applications(|result| &result.transfers);
        let rows: Vec<_> = transfers.iter().map(|(_, transfer)| (transfer.bytes, completion_time(transfer))).collect();
        completion_table(&rows, classes, "bytes")
    }

    fn page_loads(&self) -> PyResult<Table> {
        let pages = self.of_applications(|result| &result.pages);
        let name = |index: usize| self.scenario.applications[index].name.as_str();
        page_table(&pages.iter().map(|(index, page)| (name(*index), load_time(page))).collect::<Vec<_>>())
    }

    fn summary(&self, classes: &[u64], byte_classes: &[u64]) -> PyResult<String> {
        let frozen = self.document.frozen().map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let (flows, links) = (self.flows()?, self.links()?);
        let (completion, transfers, pages) = (self.completion(classes)?, self.transfer_times(byte_classes)?, self.page_loads()?);
        let summary = Summary {
            scenario: &self.scenario.name,
            seed: self.scenario.seed,
            hash: digest(&frozen),
            flows: flows.json_rows().nesting("slow_start_exit"),
            links: links.json_rows(),
            completion: completion.json_rows(),
            transfers: transfers.json_rows(),
            pages: pages.json_rows(),
            events: self.result.events,
            cpu_seconds: self.cpu_seconds,
        };
        summary.json()
    }

    fn flow_names(&self) -> Vec<String> {
        self.scenario.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    fn link_names(&self) -> Vec<String> {
        self.scenario.links.iter().map(|link| link.name.clone()).collect()
    }

    fn trace_columns(&self, kind: TraceKind) -> Option<Vec<(&'static str, ArrayRef)>> {
        let traces = &self.result.traces;
        let flows = |indices: &[u32]| names(indices, &self.flow_names());
        let links = |indices: &[u32]| names(indices, &self.link_names());
        let floats = |column: &[f64]| -> ArrayRef { Arc::new(Float64Array::from(column.to_vec())) };
        let whole = |column: &[u64]| -> ArrayRef { Arc::new(UInt64Array::from(column.to_vec())) };
        let seqs = |column: &[u32]| -> ArrayRef { Arc::new(UInt32Array::from(column.to_vec())) };
        let fates = |t: &FatesTrace| {
            let reasons = words(t.reason.iter().copied());
            vec![("time", times(&t.time)), ("link", links(&t.link)), ("flow", flows(&t.flow)), ("seq", seqs(&t.seq)), ("reason", reasons)]
        };
        Some(match kind {
            TraceKind::Cwnd => traces.cwnd.as_ref().map(|t| {
                vec![("time", times(&t.time)), ("flow", flows(&t.flow)), ("cwnd", floats(&t.cwnd)), ("ssthresh", floats(&t.ssthresh))]
            })?,
            TraceKind::Delivered => {
                traces.delivered.as_ref().map(|t| vec![("time", times(&t.time)), ("flow", flows(&t.flow)), ("bytes", whole(&t.bytes))])?
            }
            TraceKind::Queue => traces.queue.as_ref().map(|t| {
                vec![("time", times(&t.time)), ("link", links(&t.link)), ("packets", whole(&t.packets)), ("bytes", whole(&t.bytes))]
            })?,
            TraceKind::Drops => traces.drops.as_ref().map(fates)?,
            TraceKind::Marks => traces.marks.as_ref().map(fates)?,
            TraceKind::Sojourn => traces.sojourn.as_ref().map(|t| {
                vec![("time", times(&t.time)), ("link", links(&t.link)), ("flow", flows(&t.flow)), ("sojourn", times(&t.sojourn))]
            })?,
            TraceKind::Discipline => traces.discipline.as_ref().map(|t| {
                let quantities = words(t.name.iter().copied());
                vec![("time", times(&t.time)), ("link", links(&t.link)), ("name", quantities), ("value", floats(&t.value))]
            })?,
            TraceKind::Sequence => traces.sequence.as_ref().map(|t| {
                let kinds = words(t.kind.iter().map(|kind| kind.name()));
                vec![("time", times(&t.time)), ("flow", flows(&t.flow)), ("seq", seqs(&t.seq)), ("kind", kinds)]
            })?,
            TraceKind::Rtt => traces.rtt.as_ref().map(|t| {
                let spans = [("rtt", times(&t.rtt)), ("srtt", optional_times(&t.srtt)), ("rto", times(&t.rto))];
                [("time", times(&t.time)), ("flow", flows(&t.flow))].into_iter().chain(spans).collect()
            })?,
            TraceKind::Internals => traces.internals.as_ref().map(|t| {
                let quantities = words(t.name.iter().copied());
                vec![("time", times(&t.time)), ("flow", flows(&t.flow)), ("name", quantities), ("value", floats(&t.value))]
            })?,
        })
    }
}

#[pymethods]
impl PyRunResult {
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        Table::new([self.flow_identity(), self.flow_counters(), self.slow_start()].concat())
    }

    #[getter]
    fn links(&self) -> PyResult<Table> {
        let (specs, links) = (&self.scenario.links, &self.result.links);
        let by_reason = |reason: Reason| counts(links, move |link| link.drops_by_reason[reason as usize]);
        let discipline = |link: &LinkSpec| link.queue.as_ref().map_or("unlimited", |queue| queue.discipline.name).to_owned();
        Table::new(vec![
            ("name", texts(specs, |link| link.name.clone())),
            ("rate_bps", counts(specs, |link| link.rate.as_bits_per_sec())),
            ("delay_s", numbers(specs, |link| seconds_of(link.delay))),
            ("queue", texts(specs, discipline)),
            ("arrivals", counts(links, |link: &LinkResult| link.arrivals)),
            ("delivered_packets", counts(links, |link| link.delivered)),
            ("drops", counts(links, |link| link.drops)),
            ("drops_overflow", by_reason(Reason::Overflow)),
            ("drops_early", by_reason(Reason::Early)),
            ("drops_forced", by_reason(Reason::Forced)),
            ("drops_virtual", by_reason(Reason::Virtual)),
            ("drops_sojourn", by_reason(Reason::Sojourn)),
            ("marks", counts(links, |link| link.marks)),
            ("losses", counts(links, |link| link.losses)),
            ("utilisation", numbers(links, |link| link.utilisation)),
            ("queue_mean", numbers(links, |link| link.queue_mean)),
            ("queue_max", counts(links, |link| link.queue_max)),
            ("sojourn_mean", numbers(links, |link| seconds_of(link.sojourn_mean))),
            ("sojourn_max", numbers(links, |link| seconds_of(link.sojourn_max))),
            ("first_drop_time", maybe_numbers(links, |link| link.first_drop.map(seconds_at))),
        ])
    }

    /// What the applications transferred: responses and bursts.
    #[getter]
    fn transfers(&self) -> PyResult<Table> {
        let transfers = self.of_applications(|result| &result.transfers);
        let time = |read: fn(&Transfer) -> Option<Instant>| maybe_numbers(&transfers, move |(_, transfer)| read(transfer).map(seconds_at));
        let flow = |(index, transfer): &(usize, Transfer)| {
            let first = self.scenario.applications[*index].flows.start;
            Some(self.scenario.flows[first + transfer.connection? as usize].name.clone())
        };
        Table::new(vec![
            ("application", texts(&transfers, |(index, _)| self.scenario.applications[*index].name.clone())),
            ("page", counts(&transfers, |(_, transfer)| transfer.page.into())),
            ("object", counts(&transfers, |(_, transfer)| transfer.object.into())),
            ("flow", Arc::new(transfers.iter().map(flow).collect::<StringArray>())),
            ("bytes", counts(&transfers, |(_, transfer)| transfer.bytes)),
            ("queued_s", time(|transfer| Some(transfer.queued))),
            ("requested_s", time(|transfer| transfer.requested)),
            ("first_byte_s", time(|transfer| transfer.first_byte)),
            ("completed_s", time(|transfer| transfer.completed)),
            ("completion_time", maybe_numbers(&transfers, |(_, transfer)| completion_time(transfer))),
        ])
    }

    /// The pages that clients began to load, and their exchanges of one request and response.
    #[getter]
    fn pages(&self) -> PyResult<Table> {
        let pages: Vec<(usize, Page)> = self.of_applications(|result| &result.pages);
        Table::new(vec![
            ("application", texts(&pages, |(index, _)| self.scenario.applications[*index].name.clone())),
            ("page", counts(&pages, |(_, page)| page.page.into())),
            ("objects", counts(&pages, |(_, page)| page.objects.into())),
            ("bytes", counts(&pages, |(_, page)| page.bytes)),
            ("start_s", numbers(&pages, |(_, page)| seconds_at(page.started))),
            ("completed_s", maybe_numbers(&pages, |(_, page)| page.completed.map(seconds_at))),
            ("load_time", maybe_numbers(&pages, |(_, page)| load_time(page))),
        ])
    }

    /// The whole result but its traces, as JSON.
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
        let columns = self.trace_columns(trace_kind(name)?);
        let columns = columns.ok_or_else(|| PyKeyError::new_err(format!("\"{name}\" was not recorded; name it in `record`")))?;
        Table::new(columns)
    }

    /// Names of the links and hosts at which packets were captured.
    #[getter]
    fn captured(&self) -> Vec<&str> {
        self.result.capture.iter().flat_map(Capture::places).collect()
    }

    /// The captured packets as a file in the format pcapng.
    #[pyo3(signature = (at=None, snaplen=None))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn pcapng<'py>(&self, py: Python<'py>, at: Option<Vec<String>>, snaplen: Option<u32>) -> PyResult<Bound<'py, PyBytes>> {
        let none = || PyKeyError::new_err("no packets were captured; name links or hosts in `capture`");
        let capture = self.result.capture.as_ref().ok_or_else(none)?;
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
