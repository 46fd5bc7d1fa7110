//! Hashes of tables.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::columns::traces::{TraceColumn, Values};
use crate::columns::{Cell, Column, Source};

/// A hash over tables: names of tables and columns, and the bits of every value, column by column. Lengths precede texts and columns, and
/// kinds precede values, so that different tables cannot give the same bytes.
#[derive(Default)]
pub(super) struct TableHash(Sha256);

impl TableHash {
    /// Adds the measured columns of a table of rows.
    pub(super) fn rows<S, R>(&mut self, name: &str, columns: &[Column<S, R>], rows: &[R]) {
        self.text(name);
        self.length(rows.len());
        for column in columns {
            let get: &dyn Fn(&R) -> Cell = match &column.source {
                Source::Measured(get) => get,
                Source::Counted(get, thing) => &|row| get(row, *thing),
                Source::Given(_) => continue,
            };
            self.text(column.name);
            for row in rows {
                self.cell(&get(row));
            }
        }
    }

    /// Adds a trace. Times, flows and links are hashed in their recorded form: nanoseconds and indices.
    pub(super) fn trace(&mut self, name: &str, columns: &[TraceColumn<'_>]) {
        self.text(name);
        self.length(columns.len());
        for column in columns {
            self.text(column.name);
            match &column.values {
                Values::Seconds(values) | Values::Whole(values) => self.each(values, |hash, value| hash.number(*value)),
                Values::MaybeSeconds(values) => self.each(values, |hash, value| {
                    hash.cell(&value.map_or(Cell::Missing, Cell::Whole));
                }),
                Values::Flows(values) | Values::Links(values) | Values::Short(values) => {
                    self.each(values, |hash, value| hash.0.update(value.to_le_bytes()));
                }
                Values::Numbers(values) => self.each(values, |hash, value| hash.number(value.to_bits())),
                Values::Words(words) => self.each(words, |hash, word| hash.text(word)),
            }
        }
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// The hash, in hexadecimal.
    pub(super) fn finish(self) -> String {
        hexadecimal(self.0)
    }

    fn each<T>(&mut self, values: &[T], add: impl Fn(&mut Self, &T)) {
        self.length(values.len());
        for value in values {
            add(self, value);
        }
    }

    fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.update(text);
    }

    /// Adds a value of a table of rows.
    pub(super) fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Missing => self.0.update([0]),
            Cell::Text(text) => {
                self.0.update([1]);
                self.text(text);
            }
            Cell::Whole(number) => {
                self.0.update([2]);
                self.number(*number);
            }
            Cell::Number(number) => {
                self.0.update([3]);
                self.number(number.to_bits());
            }
        }
    }
}

/// A hash as hexadecimal text.
pub(super) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
