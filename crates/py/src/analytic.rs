//! Analytic models for Python: arrays of doubles as bytes in, bytes out, the interpreter's lock free meanwhile.

use std::sync::Arc;

use ackclock_core::params::Value;
use ackclock_sim::analytic::{self, Input};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::table::Table;

/// A parameter's value: a word, whether, the bytes of doubles, or a list that is one value.
#[derive(FromPyObject)]
pub(crate) enum PyInput<'py> {
    Bool(bool),
    Word(String),
    Numbers(Bound<'py, PyBytes>),
    List(Vec<f64>),
}

impl PyInput<'_> {
    fn read(self) -> Input {
        match self {
            Self::Bool(value) => Input::Bool(value),
            Self::Word(word) => Input::Word(word),
            Self::Numbers(bytes) => Input::Numbers(doubles(bytes.as_bytes())),
            Self::List(numbers) => Input::List(numbers),
        }
    }
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect()
}

fn read(inputs: Vec<(String, PyInput<'_>)>) -> Vec<(String, Input)> {
    inputs.into_iter().map(|(name, input)| (name, input.read())).collect()
}

/// Every analytic model there is, as JSON.
#[pyfunction]
pub(crate) fn models() -> String {
    analytic::models_json().to_string()
}

/// A parameter's value from a text with its unit: a number, a word, whether, a list of numbers, or None if the model computes it.
#[pyfunction]
pub(crate) fn read_parameter(py: Python<'_>, model: &str, name: &str, text: &str) -> PyResult<Option<Py<PyAny>>> {
    Ok(match analytic::read(model, name, text).map_err(PyValueError::new_err)? {
        Value::Number(number) => Some(number.into_pyobject(py)?.into_any().unbind()),
        Value::Word(word) => Some(word.into_pyobject(py)?.into_any().unbind()),
        Value::Bool(value) => Some(value.into_pyobject(py)?.to_owned().into_any().unbind()),
        Value::Numbers(numbers) => Some(numbers.into_pyobject(py)?.into_any().unbind()),
        Value::Auto | Value::Limit(_) => None,
    })
}

/// Evaluates a model at `count` points; for each output the bytes of its doubles.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    model: &str,
    inputs: Vec<(String, PyInput<'py>)>,
    count: usize,
    jobs: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let inputs = read(inputs);
    let outputs = py.detach(|| analytic::evaluate(model, inputs, count, jobs)).map_err(PyValueError::new_err)?;
    let bytes = |output: Vec<f64>| PyBytes::new(py, &output.into_iter().flat_map(f64::to_ne_bytes).collect::<Vec<_>>());
    Ok(outputs.into_iter().map(bytes).collect())
}

/// Every round of one run of the model `rounds`.
#[pyfunction]
pub(crate) fn trace_rounds(py: Python<'_>, inputs: Vec<(String, PyInput<'_>)>) -> PyResult<Table> {
    let inputs = read(inputs);
    let rounds = py.detach(|| analytic::trace_rounds(inputs)).map_err(PyValueError::new_err)?;
    let numbers = |read: fn(&analytic::Round) -> f64| -> ArrayRef {
        Arc::new(rounds.iter().map(|round| Some(read(round))).collect::<Float64Array>())
    };
    Table::new(vec![
        ("round", Arc::new((1..=rounds.len() as u64).map(Some).collect::<UInt64Array>())),
        ("time", numbers(|round| round.time)),
        ("cwnd", numbers(|round| round.cwnd)),
        ("ssthresh", numbers(|round| round.ssthresh)),
        ("acked", Arc::new(rounds.iter().map(|round| Some(round.acked)).collect::<BooleanArray>())),
        ("window_rate", numbers(|round| round.window_rate)),
        ("acked_window_rate", numbers(|round| round.acked_window_rate)),
        ("packet_rate", numbers(|round| round.packet_rate)),
    ])
}

/// The shares after every step of one run of the model `population`.
#[pyfunction]
pub(crate) fn trace_population(py: Python<'_>, inputs: Vec<(String, PyInput<'_>)>) -> PyResult<Table> {
    let inputs = read(inputs);
    let (windows, moments) = py.detach(|| analytic::trace_population(inputs)).map_err(PyValueError::new_err)?;
    let numbers = |read: &dyn Fn(&analytic::Moment) -> f64| -> ArrayRef {
        Arc::new(moments.iter().map(|moment| Some(read(moment))).collect::<Float64Array>())
    };
    let names: Vec<String> = windows.iter().map(|window| format!("share_{window}")).collect();
    let mut columns = vec![
        ("time", numbers(&|moment| moment.time)),
        ("mean_window", numbers(&|moment| moment.mean_window)),
        ("mean_loss", numbers(&|moment| moment.mean_loss)),
        ("rounds", numbers(&|moment| moment.rounds)),
    ];
    columns.extend(names.iter().enumerate().map(|(place, name)| (name.as_str(), numbers(&|moment| moment.shares[place]))));
    Table::new(columns)
}
