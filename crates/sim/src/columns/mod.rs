//! Columns: the declarations of all tables of a result, each column with its name, unit, meaning and value.
//!
//! Structs, Arrow tables, JSON, digests and the reference page derive from these declarations. Tables of rows (flows, links, transfers,
//! pages) are declared with `table!` next to their structs. Traces, which are written column by column, are declared in [`traces`].

pub mod traces;

use ackclock_core::units::{Duration, Instant};

/// The kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Texts.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
}

impl Kind {
    /// Name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "texts",
            Self::Whole => "whole numbers",
            Self::Number => "numbers",
        }
    }
}

/// A value in a table of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Missing,
    /// A text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
}

/// A column of a table with rows `R`. `S` is the input of the run.
#[derive(Debug)]
pub struct Column<S: 'static, R: 'static> {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for a text or plain number.
    pub unit: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Whether a row may have no value, which is null in JSON. JSON has no infinite number either.
    pub optional: bool,
    /// Source of its values.
    pub source: Source<S, R>,
}

/// The source of a column's values.
#[derive(Debug)]
pub enum Source<S: 'static, R: 'static> {
    /// The counts and measurements of a row.
    Measured(fn(&R) -> Cell),
    /// A count of a row that has one for each of several things, and the index of the thing.
    Counted(fn(&R, usize) -> Cell, usize),
    /// The run's input, in which the row has an index.
    Given(fn(&S, usize, &R) -> Cell),
}

impl<S, R> Clone for Column<S, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, R> Copy for Column<S, R> {}

impl<S, R> Clone for Source<S, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, R> Copy for Source<S, R> {}

impl<S, R> Column<S, R> {
    /// The value in the row with this index in `run`.
    pub fn cell(&self, run: &S, index: usize, row: &R) -> Cell {
        match self.source {
            Source::Measured(get) => get(row),
            Source::Counted(get, thing) => get(row, thing),
            Source::Given(get) => get(run, index, row),
        }
    }
}

/// A value of a table of rows. Times are in seconds, exact to the nanosecond, as in traces.
pub(crate) trait Value {
    /// Kind of these values.
    const KIND: Kind;
    /// Whether JSON may have null in its place.
    const OPTIONAL: bool = false;
    /// The value in a table.
    fn cell(self) -> Cell;
}

impl Value for String {
    const KIND: Kind = Kind::Text;
    fn cell(self) -> Cell {
        Cell::Text(self)
    }
}

impl Value for &'static str {
    const KIND: Kind = Kind::Text;
    fn cell(self) -> Cell {
        Cell::Text(self.to_owned())
    }
}

impl Value for u64 {
    const KIND: Kind = Kind::Whole;
    fn cell(self) -> Cell {
        Cell::Whole(self)
    }
}

impl Value for u32 {
    const KIND: Kind = Kind::Whole;
    fn cell(self) -> Cell {
        Cell::Whole(self.into())
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Number;
    const OPTIONAL: bool = true;
    fn cell(self) -> Cell {
        if self.is_nan() { Cell::Missing } else { Cell::Number(self) }
    }
}

impl Value for Instant {
    const KIND: Kind = Kind::Number;
    fn cell(self) -> Cell {
        Cell::Number(seconds(self.as_nanos()))
    }
}

impl Value for Duration {
    const KIND: Kind = Kind::Number;
    fn cell(self) -> Cell {
        Cell::Number(seconds(self.as_nanos()))
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn cell(self) -> Cell {
        self.map_or(Cell::Missing, Value::cell)
    }
}

/// Whole nanoseconds as seconds, the unit of tables.
pub fn seconds(nanos: u64) -> f64 {
    Instant::from_nanos(nanos).as_secs_f64()
}

/// Declares a struct and the columns of its table, in order:
///
/// - `name: Type [field], unit, doc;` is a field of the struct;
/// - `name: Type = getter, unit, doc;` is computed from the struct;
/// - `name: Type => getter, unit, doc;` is computed from the run's input, the row's index in it, and the struct.
///
/// Fields that are not columns follow under `besides`.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        pub struct $row:ident of $run:ty {
            $($name:ident: $type:ty $([$field:ident])? $(= $get:expr)? $(=> $given:expr)?, $unit:literal, $doc:literal;)+
        } $(besides { $($(#[$about:meta])* $other:ident: $kind:ty,)+ })?
    ) => {
        $(#[$attribute])*
        pub struct $row {
            $($(#[doc = $doc] pub $field: $type,)?)+
            $($($(#[$about])* pub $other: $kind,)+)?
        }

        impl $row {
            /// The columns of its table.
            pub const COLUMNS: &'static [$crate::columns::Column<$run, Self>] = &[$($crate::columns::Column {
                name: stringify!($name),
                unit: $unit,
                doc: $doc,
                kind: <$type as $crate::columns::Value>::KIND,
                optional: <$type as $crate::columns::Value>::OPTIONAL,
                source: {
                    $($crate::columns::Source::Measured(|row: &$row| $crate::columns::Value::cell(<$type as Clone>::clone(&row.$field))))?
                    $($crate::columns::Source::Measured(|row| {
                        const GET: fn(&$row) -> $type = $get;
                        $crate::columns::Value::cell(GET(row))
                    }))?
                    $($crate::columns::Source::Given(|run, index, row| {
                        const GET: fn(&$run, usize, &$row) -> $type = $given;
                        $crate::columns::Value::cell(GET(run, index, row))
                    }))?
                },
            }),+];
        }
    };
}
pub(crate) use table;
