//! Rows of Arrow tables as Python dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// One value of a table.
#[derive(Clone, Copy, IntoPyObject)]
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Number(f64),
    Whole(u64),
    Signed(i64),
    Bool(bool),
}

/// The value of a column in a row; `None` for missing values, and for NaN and infinities, which JSON does not have.
fn cell(column: &dyn Array, row: usize) -> Option<Cell<'_>> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(row)),
        DataType::Float64 => Cell::Number(Some(column.as_primitive::<Float64Type>().value(row)).filter(|value| value.is_finite())?),
        DataType::UInt64 => Cell::Whole(column.as_primitive::<UInt64Type>().value(row)),
        DataType::UInt32 => Cell::Whole(column.as_primitive::<UInt32Type>().value(row).into()),
        DataType::Int64 => Cell::Signed(column.as_primitive::<Int64Type>().value(row)),
        DataType::Boolean => Cell::Bool(column.as_boolean().value(row)),
        DataType::Dictionary(_, _) => {
            let words = column.as_dictionary::<Int32Type>();
            Cell::Text(words.values().as_string::<i32>().value(words.keys().value(row) as usize))
        }
        other => unreachable!("no table has columns of the type {other}"),
    })
}

/// The first `most` rows as dictionaries.
pub(crate) fn dictionaries<'py>(py: Python<'py>, batch: &RecordBatch, most: usize) -> PyResult<Bound<'py, PyList>> {
    let schema = batch.schema();
    let keys: Vec<_> = schema.fields().iter().map(|field| PyString::intern(py, field.name())).collect();
    let rows = PyList::empty(py);
    for row in 0..batch.num_rows().min(most) {
        let entries = PyDict::new(py);
        for (key, column) in keys.iter().zip(batch.columns()) {
            entries.set_item(key, cell(column, row))?;
        }
        rows.append(entries)?;
    }
    Ok(rows)
}
