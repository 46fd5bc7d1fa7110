//! Batches of runs for Python: many scenarios in one call, and one table of each kind for all of them.

use std::time::Instant;

use ackclock_sim::columns::{Cell, Column, Kind};
use ackclock_sim::engine::{Attempt, FlowResult, LinkResult, Measures, Media, Page, RunError, RunRow, Transfer};
use ackclock_sim::scenario::Scenario;
use cpu_time::ThreadTime;
use pyo3::prelude::*;

use crate::memory::Mark;
use crate::run::Cancel;
use crate::scenario::PyScenario;
use crate::table::{Growing, Table};

/// The finished runs of a batch.
#[pyclass(module = "ackclock._core", frozen, get_all)]
pub(crate) struct Batch {
    runs: Table,
    flows: Table,
    links: Table,
    transfers: Table,
    pages: Table,
    media: Table,
}

/// Runs scenarios one after the other on this thread. A run that fails is a row with its error. After `cancel`, the batch has the runs
/// that were finished before.
#[pyfunction]
#[pyo3(signature = (scenarios, max_events=None, max_memory=None, cancel=None))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn run_batch(
    py: Python<'_>,
    scenarios: Vec<Py<PyScenario>>,
    max_events: Option<u64>,
    max_memory: Option<u64>,
    cancel: Option<&Cancel>,
) -> PyResult<Batch> {
    let cancel = cancel.cloned().unwrap_or_default();
    py.detach(|| {
        let mut tables = Tables::new();
        for (task, scenario) in scenarios.iter().enumerate() {
            if !tables.add(task as u64, scenario.get().scenario(), (max_events, max_memory), &cancel) {
                break;
            }
        }
        tables.finish()
    })
}

/// The tables of a batch, which grow with every run.
struct Tables {
    runs: Rows<Scenario, RunRow>,
    flows: Rows<Scenario, FlowResult>,
    links: Rows<Scenario, LinkResult>,
    transfers: Rows<Scenario, Transfer>,
    pages: Rows<Scenario, Page>,
    media: Rows<Scenario, Media>,
}

impl Tables {
    fn new() -> Self {
        Self {
            runs: Rows::new(RunRow::COLUMNS.to_vec(), false),
            flows: Rows::new(FlowResult::COLUMNS.to_vec(), true),
            // All batches of a sweep have the same columns, whatever their queues.
            links: Rows::new(LinkResult::columns(&[]), true),
            transfers: Rows::new(Transfer::COLUMNS.to_vec(), true),
            pages: Rows::new(Page::COLUMNS.to_vec(), true),
            media: Rows::new(Media::COLUMNS.to_vec(), true),
        }
    }

    /// Runs a scenario and adds its rows. False: it was cancelled.
    #[expect(clippy::disallowed_methods, reason = "the elapsed time of a run is a column")]
    fn add(&mut self, task: u64, scenario: &Scenario, budget: (Option<u64>, Option<u64>), cancel: &Cancel) -> bool {
        let (max_events, max_memory) = budget;
        let before = Mark::now();
        // Memory beyond the budget, if the run was stopped for it.
        let mut excess = None;
        let mut interrupted = || {
            excess = Some(before.grown()).filter(|held| max_memory.is_some_and(|max| *held > max));
            excess.is_some() || cancel.is_set()
        };
        let (wall, cpu) = (Instant::now(), ThreadTime::now());
        let Attempt { outcome, events } = Attempt::new(scenario, max_events.unwrap_or(u64::MAX), &mut interrupted);
        let (cpu_s, wall_s) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
        let measures = match (&outcome, excess) {
            (Ok(result), _) => Ok(Measures::of(scenario, result)),
            (Err(RunError::Interrupted), None) => return false,
            (Err(_), Some(held)) => Err(format!(
                "exceeds the budget of {} bytes of memory (max_memory): stopped at {held} bytes",
                max_memory.unwrap_or_default()
            )),
            (Err(error), None) => Err(error.to_string()),
        };
        self.runs.add(task, scenario, [(0, &RunRow { task, events, cpu_s, wall_s, measures })]);
        if let Ok(result) = &outcome {
            self.flows.add(task, scenario, result.flow_rows());
            self.links.add(task, scenario, result.link_rows());
            self.transfers.add(task, scenario, result.transfer_rows());
            self.pages.add(task, scenario, result.page_rows());
            self.media.add(task, scenario, result.media_rows());
        }
        true
    }

    fn finish(self) -> PyResult<Batch> {
        Ok(Batch {
            runs: self.runs.finish()?,
            flows: self.flows.finish()?,
            links: self.links.finish()?,
            transfers: self.transfers.finish()?,
            pages: self.pages.finish()?,
            media: self.media.finish()?,
        })
    }
}

/// A table of rows of many runs.
struct Rows<S: 'static, R: 'static> {
    columns: Vec<Column<S, R>>,
    /// The run of each row, unless the rows have such a column.
    task: Option<Growing>,
    values: Vec<Growing>,
}

impl<S, R> Rows<S, R> {
    fn new(columns: Vec<Column<S, R>>, task: bool) -> Self {
        let values = columns.iter().map(|column| Growing::new(column.kind)).collect();
        Self { columns, task: task.then(|| Growing::new(Kind::Whole)), values }
    }

    /// Adds rows of a run, each with its index in `run`.
    fn add<'a>(&mut self, task: u64, run: &S, rows: impl IntoIterator<Item = (usize, &'a R)>) {
        for (index, row) in rows {
            if let Some(column) = &mut self.task {
                column.push(Cell::Whole(task));
            }
            for (column, values) in self.columns.iter().zip(&mut self.values) {
                values.push(column.cell(run, index, row));
            }
        }
    }

    fn finish(mut self) -> PyResult<Table> {
        let task = self.task.iter_mut().map(|column| ("task", column.finish()));
        let values = self.columns.iter().zip(&mut self.values).map(|(column, values)| (column.name, values.finish()));
        Table::new(task.chain(values).collect())
    }
}
