//! Rows of Arrow tables: as Python dictionaries, and as JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// One value of a table.
#[derive(Clone, Copy, IntoPyObject, Serialize)]
#[serde(untagged)]
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

/// Keys and columns.
type Columns<'a> = Vec<(&'a str, &'a dyn Array)>;

/// All rows of a table as JSON objects.
pub(crate) struct Rows<'a> {
    batch: &'a RecordBatch,
    /// Keys and columns of the object for each row.
    plain: Columns<'a>,
    /// Key, keys and columns of a nested object. It is null if its first column is.
    nested: Option<(&'static str, Columns<'a>)>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(batch: &'a RecordBatch) -> Self {
        let names = batch.schema_ref().fields().iter().map(|field| field.name().as_str());
        Self { batch, plain: names.zip(batch.columns().iter().map(AsRef::as_ref)).collect(), nested: None }
    }

    /// Nests the columns named `key`, an underscore, and a further key: they become one object at the end of each row.
    pub(crate) fn nesting(mut self, key: &'static str) -> Self {
        let inner = |name: &'a str| name.strip_prefix(key).and_then(|rest| rest.strip_prefix('_'));
        let columns = self.plain.iter().filter_map(|(name, column)| Some((inner(name)?, *column))).collect();
        self.plain.retain(|(name, _)| inner(name).is_none());
        Self { nested: Some((key, columns)), ..self }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.batch.num_rows()).map(|row| Row { rows: self, row }))
    }
}

struct Row<'a> {
    rows: &'a Rows<'a>,
    row: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { rows, row } = *self;
        let mut object = serializer.serialize_map(None)?;
        for (key, column) in &rows.plain {
            object.serialize_entry(key, &cell(*column, row))?;
        }
        if let Some((key, columns)) = &rows.nested {
            let there = columns.first().is_some_and(|(_, column)| !column.is_null(row));
            object.serialize_entry(key, &there.then_some(Object { columns, row }))?;
        }
        object.end()
    }
}

struct Object<'a> {
    columns: &'a [(&'a str, &'a dyn Array)],
    row: usize,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|(key, column)| (key, cell(*column, self.row))))
    }
}
