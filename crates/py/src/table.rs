//! Arrow tables for Python, passed through the PyCapsule interface.

use std::sync::Arc;

use ackclock_sim::columns::traces::{TraceColumn, Values};
use ackclock_sim::columns::{Cell, Column, Kind, seconds};
use arrow_array::builder::{Float64Builder, StringBuilder, StringDictionaryBuilder, UInt64Builder};
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::rows::dictionaries;

/// An Arrow table.
#[pyclass(module = "ackclock._core", frozen)]
#[derive(Clone)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table of named columns of equal length.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>) -> PyResult<Self> {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
        Ok(Self { batch: batch.map_err(to_python)? })
    }

    /// A table of rows declared in Rust, each with its index in `run`.
    pub(crate) fn of_rows<S, R>(run: &S, columns: &[Column<S, R>], rows: &[(usize, &R)]) -> PyResult<Self> {
        Self::new(columns.iter().map(|column| (column.name, array(run, column, rows))).collect())
    }

    /// A trace. `flows` and `links` are the names for the indices in its columns.
    pub(crate) fn of_trace(columns: &[TraceColumn<'_>], flows: &[String], links: &[String]) -> PyResult<Self> {
        Self::new(columns.iter().map(|column| (column.name, trace_array(&column.values, flows, links))).collect())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn to_python(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A column of a table of rows that grows.
pub(crate) enum Growing {
    Text(StringBuilder),
    Whole(UInt64Builder),
    Number(Float64Builder),
}

impl Growing {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Whole => Self::Whole(UInt64Builder::new()),
            Kind::Number => Self::Number(Float64Builder::new()),
        }
    }

    /// Appends a value. A column has values of its kind only.
    pub(crate) fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Self::Text(column), Cell::Text(text)) => column.append_value(text),
            (Self::Text(column), _) => column.append_null(),
            (Self::Whole(column), cell) => column.append_option(if let Cell::Whole(number) = cell { Some(number) } else { None }),
            (Self::Number(column), cell) => column.append_option(if let Cell::Number(number) = cell { Some(number) } else { None }),
        }
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Whole(column) => Arc::new(column.finish()),
            Self::Number(column) => Arc::new(column.finish()),
        }
    }
}

/// A column of a table of rows.
fn array<S, R>(run: &S, column: &Column<S, R>, rows: &[(usize, &R)]) -> ArrayRef {
    let mut growing = Growing::new(column.kind);
    for (index, row) in rows {
        growing.push(column.cell(run, *index, row));
    }
    growing.finish()
}

/// A column of a trace.
fn trace_array(values: &Values<'_>, flows: &[String], links: &[String]) -> ArrayRef {
    match values {
        Values::Seconds(nanos) => Arc::new(nanos.iter().map(|&nanos| seconds(nanos)).collect::<Float64Array>()),
        Values::MaybeSeconds(nanos) => Arc::new(nanos.iter().map(|nanos| nanos.map(seconds)).collect::<Float64Array>()),
        Values::Flows(indices) => words(indices.iter().map(|&index| flows[index as usize].as_str())),
        Values::Links(indices) => words(indices.iter().map(|&index| links[index as usize].as_str())),
        Values::Whole(numbers) => Arc::new(UInt64Array::from(numbers.to_vec())),
        Values::Short(numbers) => Arc::new(UInt32Array::from(numbers.to_vec())),
        Values::Numbers(numbers) => Arc::new(Float64Array::from(numbers.to_vec())),
        Values::Words(found) => words(found.iter().copied()),
    }
}

/// A dictionary-encoded column of words from a small set.
fn words<'a>(words: impl Iterator<Item = &'a str>) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for word in words {
        builder.append_value(word);
    }
    Arc::new(builder.finish())
}

#[pymethods]
impl Table {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The table in a notebook, as polars shows it.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))?.call_method0("_repr_html_")
    }

    /// The first `most` rows (by default all) as dictionaries. None replaces NaN and infinities.
    #[pyo3(signature = (most=None))]
    fn rows<'py>(&self, py: Python<'py>, most: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        dictionaries(py, &self.batch, most.unwrap_or(usize::MAX))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<ackclock table: {} rows; {}>", self.batch.num_rows(), self.column_names().join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(to_python)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    #[expect(unused_variables, reason = "the interface lets a producer ignore the request")]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}
