//! Analytic models for Python: inputs and outputs are arrays of doubles as bytes. The GIL is released during the evaluation.

use std::sync::Arc;

use ackclock_core::params::Value;
use ackclock_sim::analytic::{self, Input, Numbers, Traced};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::table::Table;

/// A parameter's value: a word, a truth value, the bytes of doubles, or a list as one value.
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

/// All analytic models, as JSON.
#[pyfunction]
pub(crate) fn models() -> String {
    analytic::models_json().to_string()
}

/// Reads a parameter's value from a text with its unit. The value is a number, a word, a truth value, a list of numbers, or None if the
/// model computes it.
#[pyfunction]
pub(crate) fn read_parameter(py: Python<'_>, model: &str, name: &str, text: &str) -> PyResult<Option<Py<PyAny>>> {
    Ok(match analytic::read(model, name, text).map_err(PyValueError::new_err)? {
        Value::Number(number) => Some(number.into_pyobject(py)?.into_any().unbind()),
        Value::Word(word) => Some(word.into_pyobject(py)?.into_any().unbind()),
        Value::Bool(value) => Some(value.into_pyobject(py)?.to_owned().into_any().unbind()),
        Value::Numbers(numbers) => Some(numbers.into_pyobject(py)?.into_any().unbind()),
        Value::Auto | Value::Limit(_) | Value::Series(_) | Value::Part(_) | Value::Parts(_) => None,
    })
}

/// Evaluates a model at `count` points. For each output, returns the bytes of its doubles.
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

/// All steps of one run of a model that has a trace.
#[pyfunction]
pub(crate) fn trace(py: Python<'_>, model: &str, inputs: Vec<(String, PyInput<'_>)>) -> PyResult<Table> {
    let inputs = read(inputs);
    let columns = py.detach(|| analytic::trace(model, inputs)).map_err(PyValueError::new_err)?;
    Table::new(columns.iter().map(|column| (column.name.as_str(), array(column))).collect())
}

fn array(Traced { kind, numbers, .. }: &Traced) -> ArrayRef {
    let numbers = numbers.iter();
    match kind {
        Numbers::Real => Arc::new(numbers.map(|&number| Some(number)).collect::<Float64Array>()),
        Numbers::Whole => Arc::new(numbers.map(|&number| Some(number as u64)).collect::<UInt64Array>()),
        Numbers::Bool => Arc::new(numbers.map(|&number| Some(number != 0.0)).collect::<BooleanArray>()),
    }
}
