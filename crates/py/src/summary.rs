//! Completion times for Python, summarised.

use std::sync::Arc;

use ackclock_sim::completion::{Statistics, Times, by_group, by_size};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use pyo3::prelude::*;

use crate::table::Table;

/// A row for all sizes and one for each nonempty class. `size` names the column of the classes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn completion(rows: Vec<(u64, Option<f64>)>, starts: Vec<u64>, size: &str) -> PyResult<Table> {
    let found = by_size(&rows, &starts);
    let labels: StringArray = found.iter().map(|(class, _)| Some(class.to_string())).collect();
    let times = found.iter().map(|(_, times)| *times).collect::<Vec<_>>();
    Table::new([vec![(size, Arc::new(labels) as ArrayRef)], columns("flows", &times)].concat())
}

/// A row for each application.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn page_loads(rows: Vec<(String, Option<f64>)>) -> PyResult<Table> {
    let rows: Vec<_> = rows.iter().map(|(application, time)| (application.as_str(), *time)).collect();
    let found = by_group(&rows);
    let names: StringArray = found.iter().map(|(name, _)| Some(*name)).collect();
    let times = found.iter().map(|(_, times)| *times).collect::<Vec<_>>();
    Table::new([vec![("application", Arc::new(names) as ArrayRef)], columns("pages", &times)].concat())
}

fn columns(what: &'static str, rows: &[Times]) -> Vec<(&'static str, ArrayRef)> {
    let counts = |read: fn(&Times) -> usize| -> ArrayRef {
        Arc::new(rows.iter().map(|times| i64::try_from(read(times)).ok()).collect::<Int64Array>())
    };
    let seconds = |read: fn(Statistics) -> f64| -> ArrayRef {
        Arc::new(rows.iter().map(|times| times.statistics.map(read)).collect::<Float64Array>())
    };
    vec![
        (what, counts(|times| times.count)),
        ("unfinished", counts(|times| times.unfinished)),
        ("mean", seconds(|statistics| statistics.mean)),
        ("median", seconds(|statistics| statistics.median)),
        ("p95", seconds(|statistics| statistics.p95)),
        ("p99", seconds(|statistics| statistics.p99)),
    ]
}
