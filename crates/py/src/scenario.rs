//! Scenarios for Python.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ackclock_sim::engine::{BUSY_PARTS, BusyPart, both_ways, bottleneck, busy_link, digest, foreign};
use ackclock_sim::scenario::{
    ControlFactory, Document, Makers, Points, Scenario, SlowStartFactory, SweepData, TableColumn, TableRequest, TraceKind, Variant,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

use crate::control::control_factory;
use crate::error::ScenarioError;
use crate::object::Failure;
use crate::slow_start::slow_start_factory;

/// A scenario document. It is checked after reading and after every change.
#[pyclass(name = "Scenario", module = "ackclock._core", frozen)]
pub(crate) struct PyScenario {
    source: Source,
    scenario: Scenario,
    hash: String,
}

/// What a scenario was made from. The tree of a document takes about ten times the memory of its text, and a plan has thousands of scenarios.
enum Source {
    Tree(Document),
    /// The JSON of a document without settings, and its name.
    Json(Box<str>, Box<str>),
}

impl Source {
    fn document(&self) -> Cow<'_, Document> {
        match self {
            Self::Tree(document) => Cow::Borrowed(document),
            Self::Json(text, name) => match Document::from_json(text, name) {
                Ok(document) => Cow::Owned(document),
                Err(_) => unreachable!("this text was read before"),
            },
        }
    }
}

/// The runs of `[sweep]`, each made when it is asked for.
#[pyclass(name = "SweepPoints", module = "ackclock._core", frozen)]
pub(crate) struct PySweepPoints {
    points: Points,
    /// The document with `[sweep]`, and the data that it needs: both are shared with the points.
    document: Document,
    data: SweepData,
}

/// Method, number, seed and dimensions of the points to draw.
type SampleNeeds = (&'static str, usize, u64, usize);
/// A part of the time of a busy link: bits per second; mean, least and largest delay in seconds; share of lost packets.
type BusyRow = (f64, f64, f64, f64, f64);
/// Name, count and seed of a population to draw.
type PopulationNeeds = (String, usize, u64);
/// Header of a table's column, its cells as one text, and their lengths as little-endian whole numbers of four bytes.
type Column<'py> = (String, String, Bound<'py, PyBytes>);
/// Text, file name and origin of a document, drawn points, and the columns of a table.
type PointsState<'py> = (String, String, bool, Option<Bound<'py, PyBytes>>, Option<Vec<Column<'py>>>);

/// The callables that make controls and slow starts, by the index of their flow, and the store of their exceptions.
pub(crate) struct PythonMakers {
    pub(crate) made: BTreeMap<usize, Py<PyAny>>,
    pub(crate) failure: Failure,
}

impl PythonMakers {
    fn find(&self, flow: usize) -> Option<Py<PyAny>> {
        self.made.get(&flow).map(|made| Python::attach(|py| made.clone_ref(py)))
    }
}

impl Makers for PythonMakers {
    fn control(&self, flow: usize) -> Option<ControlFactory> {
        Some(control_factory(self.find(flow)?, self.failure.clone()))
    }

    fn slow_start(&self, flow: usize) -> Option<SlowStartFactory> {
        Some(slow_start_factory(self.find(flow)?, self.failure.clone()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn to_python(error: ackclock_sim::scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

impl PyScenario {
    fn new(mut document: Document, settings: &[(String, String)]) -> PyResult<Self> {
        if !settings.is_empty() {
            document.set_all(settings.iter().map(|(key, value)| (key.as_str(), value.as_str()))).map_err(to_python)?;
        }
        Self::checked(document, Source::Tree)
    }

    /// Checks a document; `source` makes what is kept of it.
    fn checked(document: Document, source: impl FnOnce(Document) -> Source) -> PyResult<Self> {
        let (scenario, frozen) = document.scenario_and_frozen().map_err(to_python)?;
        Ok(Self { source: source(document), scenario, hash: digest(&frozen) })
    }

    /// The document of the scenario.
    pub(crate) fn document(&self) -> Cow<'_, Document> {
        self.source.document()
    }

    /// The scenario, with registered parts instead of those made in Python.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The scenario with controls and slow starts made in Python.
    pub(crate) fn with(&self, makers: &PythonMakers) -> PyResult<Scenario> {
        if makers.made.is_empty() {
            return Ok(self.scenario.clone());
        }
        self.document().scenario_with(makers).map_err(to_python)
    }
}

#[pymethods]
impl PyScenario {
    #[staticmethod]
    #[pyo3(signature = (text, name, settings=Vec::new()), text_signature = "(text, name, settings=())")]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn from_toml(py: Python<'_>, text: &str, name: &str, settings: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| Self::new(Document::from_toml(text, name).map_err(to_python)?, &settings))
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, settings=Vec::new()), text_signature = "(text, name, settings=())")]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn from_json(py: Python<'_>, text: &str, name: &str, settings: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| {
            let document = Document::from_json(text, name).map_err(to_python)?;
            if settings.is_empty() {
                return Self::checked(document, |_| Source::Json(text.into(), name.into()));
            }
            Self::new(document, &settings)
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    #[getter]
    fn duration(&self) -> f64 {
        self.scenario.duration.as_secs_f64()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    #[getter]
    fn flows(&self) -> Vec<&str> {
        self.scenario.flows.iter().map(|flow| flow.name.as_str()).collect()
    }

    #[getter]
    fn links(&self) -> Vec<&str> {
        self.scenario.links.iter().map(|link| link.name.as_str()).collect()
    }

    #[getter]
    fn bottleneck(&self) -> PyResult<&str> {
        bottleneck(&self.scenario).map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// The names of the bottleneck and, if there is one, of the link in the other direction.
    #[getter]
    fn both_ways(&self) -> PyResult<Vec<&str>> {
        let links = both_ways(&self.scenario).map_err(|error| ScenarioError::new_err(error.to_string()))?;
        Ok(links.into_iter().map(|link| link.name.as_str()).collect())
    }

    /// What the models of a link do over time if it always has a packet to send: for each of `count` parts of the run its rate, the mean,
    /// the least and the largest delay, and the share of lost packets; NaN without packets.
    #[pyo3(signature = (name, count = BUSY_PARTS))]
    fn busy_link(&self, py: Python<'_>, name: &str, count: usize) -> PyResult<Vec<BusyRow>> {
        let parts = py.detach(|| busy_link(&self.scenario, name, count));
        let parts = parts.map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let row = |BusyPart { rate, delay, least, largest, loss }| (rate, delay, least, largest, loss);
        Ok(parts.into_iter().map(row).collect())
    }

    #[getter]
    fn record(&self) -> Vec<&str> {
        let name = |kind| TraceKind::ALL.iter().find(|(_, known)| *known == kind).map(|(name, _)| *name);
        self.scenario.record.iter().filter_map(|kind| name(*kind)).collect()
    }

    /// What in the scenario is a kernel in virtual time; `None`: the simulation has all that it needs.
    #[getter]
    fn needs_kernel(&self) -> Option<String> {
        self.scenario.needs_kernel()
    }

    /// The name and text of the warning about congestion controls that mainline kernels have in another version.
    #[getter]
    fn foreign(&self) -> Option<(&'static str, String)> {
        foreign(self.scenario()).map(|warning| (warning.name, warning.text))
    }

    /// The version of the kernel that the scenario names, and its place for a message.
    #[getter]
    fn kernel_version(&self) -> Option<(&str, &str)> {
        self.scenario.kernel_version().map(|given| (&*given.value, &*given.place))
    }

    /// `[sweep]` as TOML; empty if there is none.
    #[getter]
    fn sweep(&self) -> String {
        self.document().sweep()
    }

    /// The files that the scenario names.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.document().files()
    }

    /// Text, file name and origin, from which `restore` makes an equal scenario.
    fn state(&self) -> (String, String, bool) {
        let document = self.document();
        let (file, python) = document.origin();
        (document.state(), file.to_owned(), python)
    }

    #[staticmethod]
    fn restore(py: Python<'_>, text: &str, file: &str, python: bool) -> PyResult<Self> {
        py.detach(|| Self::checked(Document::restore(text, file, python).map_err(to_python)?, Source::Tree))
    }

    #[getter]
    fn hash(&self) -> &str {
        &self.hash
    }

    fn to_toml(&self) -> PyResult<String> {
        self.document().frozen().map_err(to_python)
    }

    fn expanded(&self) -> PyResult<String> {
        self.document().expanded().map_err(to_python)
    }

    fn expanded_json(&self) -> PyResult<String> {
        self.document().expanded_json().map_err(to_python)
    }

    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn set(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| Self::new(self.document().into_owned(), &settings))
    }

    /// What `sweep_points` needs: the points to draw, the file of a table, and the name, count and seed of a population.
    fn sweep_needs(&self) -> PyResult<(Option<SampleNeeds>, Option<PathBuf>, Option<PopulationNeeds>)> {
        let needs = self.document().sweep_needs().map_err(to_python)?;
        let (file, population) = match needs.table {
            Some(TableRequest::File(file)) => (Some(file), None),
            Some(TableRequest::Population { name, count, seed }) => (None, Some((name, count, seed))),
            _ => (None, None),
        };
        Ok((needs.sample.map(|sample| (sample.method, sample.count, sample.seed, sample.dimensions)), file, population))
    }

    /// The runs of `[sweep]`. `sample` has the drawn points as little-endian doubles, `table` the columns of the table.
    #[pyo3(signature = (sample=None, table=None))]
    fn sweep_points(&self, py: Python<'_>, sample: Option<&[u8]>, table: Option<Vec<Column<'_>>>) -> PyResult<PySweepPoints> {
        let table = columns(table)?;
        py.detach(|| PySweepPoints::new(self.document().into_owned(), sample, table))
    }

    fn __repr__(&self) -> String {
        let flows = self.scenario.flows.len();
        let noun = if flows == 1 { "flow" } else { "flows" };
        format!("<scenario {}: {flows} {noun}, {} s>", self.scenario.name, self.scenario.duration.as_secs_f64())
    }
}

/// The columns of a table.
fn columns(table: Option<Vec<Column<'_>>>) -> PyResult<Option<Vec<Arc<TableColumn>>>> {
    let column = |(header, text, lengths): Column<'_>| {
        let lengths = lengths.as_bytes().as_chunks().0.iter().map(|chunk| u32::from_le_bytes(*chunk));
        let wrong = || PyValueError::new_err("expected the lengths of the cells of a column");
        TableColumn::new(header, text, lengths).map(Arc::new).ok_or_else(wrong)
    };
    table.map(|columns| columns.into_iter().map(column).collect()).transpose()
}

impl PySweepPoints {
    /// `sample` has the drawn points as little-endian doubles.
    fn new(document: Document, sample: Option<&[u8]>, table: Option<Vec<Arc<TableColumn>>>) -> PyResult<Self> {
        let sample = sample.map(|bytes| bytes.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect());
        let data = SweepData { sample, table };
        Ok(Self { points: document.points(&data).map_err(to_python)?, document, data })
    }

    fn variant(&self, index: usize) -> PyResult<Variant> {
        self.points.get(index).ok_or_else(|| PyIndexError::new_err(format!("there is no run {index}: there are {}", self.points.len())))
    }
}

#[pymethods]
impl PySweepPoints {
    fn __len__(&self) -> usize {
        self.points.len()
    }

    /// Labels and scenario of a run, with further settings.
    #[pyo3(signature = (index, settings=Vec::new()), text_signature = "($self, index, settings=())")]
    fn point<'py>(&self, py: Python<'py>, index: usize, settings: Vec<(String, String)>) -> PyResult<(Bound<'py, PyDict>, PyScenario)> {
        let (labels, scenario) = py.detach(|| {
            let Variant { labels, mut document } = self.variant(index)?;
            for (key, value) in settings {
                document.set(&key, &value).map_err(to_python)?;
            }
            // One check serves the scenario and its hash, which the caller needs to find equal runs.
            let (scenario, frozen) = document.scenario_and_frozen().map_err(to_python)?;
            Ok::<_, PyErr>((labels, PyScenario { source: Source::Tree(document), scenario, hash: digest(&frozen) }))
        })?;
        Ok((labels.into_py_dict(py)?, scenario))
    }

    /// From this, `restore` makes equal runs, also where the table of `[sweep.paths]` cannot be read.
    fn state<'py>(&self, py: Python<'py>) -> PointsState<'py> {
        let (file, python) = self.document.origin();
        let sample = self.data.sample.as_ref().map(|points| points.iter().flat_map(|point| point.to_le_bytes()).collect::<Vec<_>>());
        let column = |column: &Arc<TableColumn>| {
            let lengths: Vec<u8> = column.lengths().flat_map(u32::to_le_bytes).collect();
            (column.header().to_owned(), column.text().to_owned(), PyBytes::new(py, &lengths))
        };
        let table = self.data.table.as_ref().map(|columns| columns.iter().map(column).collect());
        (self.document.state(), file.to_owned(), python, sample.map(|bytes| PyBytes::new(py, &bytes)), table)
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the state, in which nothing has a default")]
    fn restore(
        py: Python<'_>,
        text: &str,
        file: &str,
        python: bool,
        sample: Option<&[u8]>,
        table: Option<Vec<Column<'_>>>,
    ) -> PyResult<Self> {
        let table = columns(table)?;
        py.detach(|| Self::new(Document::restore(text, file, python).map_err(to_python)?, sample, table))
    }

    /// Labels of a run, without the check of its scenario.
    fn labels<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        self.variant(index)?.labels.into_py_dict(py)
    }

    /// Hash of a run's scenario.
    fn hash(&self, py: Python<'_>, index: usize) -> PyResult<String> {
        py.detach(|| Ok(digest(&self.variant(index)?.document.frozen().map_err(to_python)?)))
    }
}
