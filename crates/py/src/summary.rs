//! Completion times for Python, summarised, and the whole result of a run as JSON.

use std::sync::Arc;

use ackclock_sim::completion::{Class, Statistics, Times, by_group, by_size};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::rows::Rows;
use crate::table::Table;

/// The whole result of a run except traces, in the order of the JSON.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) seed: u64,
    pub(crate) hash: String,
    pub(crate) flows: Rows<'a>,
    pub(crate) links: Rows<'a>,
    pub(crate) completion: Rows<'a>,
    pub(crate) transfers: Rows<'a>,
    pub(crate) pages: Rows<'a>,
    pub(crate) warnings: Vec<serde_json::Value>,
    pub(crate) events: u64,
    pub(crate) cpu_seconds: f64,
}

impl Summary<'_> {
    /// The result as JSON, indented by two spaces.
    pub(crate) fn json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(self).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// A row for all sizes and one for each nonempty class. `size` names the column of the classes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn completion(rows: Vec<(u64, Option<f64>)>, starts: Vec<u64>, size: &str) -> PyResult<Table> {
    completion_table(&rows, &starts, size)
}

/// A row for each application.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn page_loads(rows: Vec<(String, Option<f64>)>) -> PyResult<Table> {
    let rows: Vec<_> = rows.iter().map(|(application, time)| (application.as_str(), *time)).collect();
    page_table(&rows)
}

pub(crate) fn completion_table(rows: &[(u64, Option<f64>)], starts: &[u64], size: &str) -> PyResult<Table> {
    let found = by_size(rows, starts);
    let labels: StringArray = found.iter().map(|(class, _)| Some(label(*class))).collect();
    let times = found.iter().map(|(_, times)| *times).collect::<Vec<_>>();
    Table::new([vec![(size, Arc::new(labels) as ArrayRef)], columns("flows", &times)].concat())
}

pub(crate) fn page_table(rows: &[(&str, Option<f64>)]) -> PyResult<Table> {
    let found = by_group(rows);
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

/// `all`, `10 to 99` or `10,000 and more`.
fn label(class: Class) -> String {
    match class {
        Class { low: None, .. } => "all".to_owned(),
        Class { low: Some(low), high: None } => format!("{} and more", grouped(low)),
        Class { low: Some(low), high: Some(high) } => format!("{} to {}", grouped(low), grouped(high - 1)),
    }
}

/// A number with commas as thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
