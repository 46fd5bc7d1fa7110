//! Frames: a header as JSON, and columns of numbers.

use serde_json::{Value as Json, json};

/// Columns and headers begin at multiples of this.
const ALIGNMENT: usize = 8;

/// The columns of a frame.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Adds a column of doubles, and describes it.
    pub(crate) fn doubles(&mut self, name: &str, values: impl Iterator<Item = f64>) -> Json {
        self.add(name, "f64", values.map(f64::to_le_bytes))
    }

    /// Adds a column of whole numbers.
    pub(crate) fn wholes(&mut self, name: &str, values: impl Iterator<Item = u32>) -> Json {
        self.add(name, "u32", values.map(u32::to_le_bytes))
    }

    /// Adds a column of bytes.
    pub(crate) fn bytes(&mut self, name: &str, values: impl Iterator<Item = u8>) -> Json {
        self.add(name, "u8", values.map(u8::to_le_bytes))
    }

    fn add<const N: usize>(&mut self, name: &str, kind: &str, values: impl Iterator<Item = [u8; N]>) -> Json {
        let offset = self.bytes.len();
        self.bytes.reserve(values.size_hint().0 * N);
        values.for_each(|value| self.bytes.extend_from_slice(&value));
        pad(&mut self.bytes);
        json!({ "name": name, "type": kind, "offset": offset })
    }
}

/// The description of a column with a further member.
pub(crate) fn with(mut described: Json, key: &str, value: Json) -> Json {
    described[key] = value;
    described
}

/// Adds zeros up to a multiple of the alignment.
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

/// The bytes of a frame.
pub(crate) fn frame(header: &Json, columns: &Columns) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = Vec::with_capacity(4 + header.len() + ALIGNMENT + columns.bytes.len());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    pad(&mut bytes);
    bytes.extend_from_slice(&columns.bytes);
    bytes
}
