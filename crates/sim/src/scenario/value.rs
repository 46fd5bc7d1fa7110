//! A tree of values, read from TOML or JSON, in which each value knows where it was written.

use crate::scenario::error::{Origin, Problems};
use crate::scenario::text::quoted;

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it was written.
    pub(crate) origin: Origin,
    /// The value itself.
    pub(crate) data: Data,
}

/// The data of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// A real number.
    Float(f64),
    /// Text; also a date, which no key accepts.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<(String, Node)>),
}

impl PartialEq for Node {
    /// Compares data only, not places.
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Data {
    /// A noun phrase for messages: `the text "yes"`, "a table".
    pub(crate) fn noun(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(number) => format!("the number {number}"),
            Self::Float(number) => format!("the number {number}"),
            Self::Text(text) => format!("the text {}", quoted(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

impl Node {
    /// A value without a place.
    pub(crate) const fn new(data: Data) -> Self {
        Self { origin: Origin::Nowhere, data }
    }

    /// A text without a place.
    pub(crate) fn text(text: &str) -> Self {
        Self::new(Data::Text(text.to_owned()))
    }

    /// The entry `key` of a table.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.data {
            Data::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Removes the entry `key` from a table and returns it.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Self> {
        match &mut self.data {
            Data::Table(entries) => entries.iter().position(|(name, _)| name == key).map(|index| entries.remove(index).1),
            _ => None,
        }
    }

    /// Removes the places of this value and of all values in it.
    pub(crate) fn clear_origins(&mut self) {
        self.origin = Origin::Nowhere;
        match &mut self.data {
            Data::List(items) => items.iter_mut().for_each(Self::clear_origins),
            Data::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.clear_origins()),
            _ => {}
        }
    }

    /// The value as JSON, without places. Infinities and NaN become null.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::{Number, Value};
        match &self.data {
            Data::Bool(value) => Value::Bool(*value),
            Data::Integer(value) => {
                Number::from_i128(*value).or_else(|| Number::from_f64(*value as f64)).map_or(Value::Null, Value::Number)
            }
            Data::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => items.iter().map(Self::to_json).collect(),
            Data::Table(entries) => Value::Object(entries.iter().map(|(key, node)| (key.clone(), node.to_json())).collect()),
        }
    }

    /// The value as a label: a text as it is, any other value as TOML.
    pub(crate) fn label(&self) -> String {
        match &self.data {
            Data::Bool(value) => value.to_string(),
            Data::Integer(value) => value.to_string(),
            Data::Float(value) => value.to_string(),
            Data::Text(value) => value.clone(),
            Data::List(items) => items.iter().map(Self::label).collect::<Vec<_>>().join(", "),
            Data::Table(entries) => entries.iter().map(|(key, node)| format!("{key} = {}", node.label())).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Reads JSON.
pub(crate) fn read_json(text: &str, problems: &mut Problems) -> Node {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value @ serde_json::Value::Object(_)) => from_json(&value),
        Ok(_) => {
            problems.add(&Origin::Nowhere, "", "a scenario must be a table (a JSON object)");
            Node::new(Data::Table(Vec::new()))
        }
        Err(error) => {
            problems.add_syntax((error.line(), error.column()), format!("this is not JSON: {error}"));
            Node::new(Data::Table(Vec::new()))
        }
    }
}

/// `serde_json` limits the depth to 128.
fn from_json(value: &serde_json::Value) -> Node {
    use serde_json::Value;
    Node::new(match value {
        // Python's None. Tables below omit it; in a list it becomes a text that no key accepts.
        Value::Null => Data::Text("null".to_owned()),
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => match number.as_i128() {
            Some(integer) => Data::Integer(integer),
            None => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Data::Text(text.clone()),
        Value::Array(items) => Data::List(items.iter().map(from_json).collect()),
        Value::Object(entries) => {
            let given = entries.iter().filter(|(_, value)| !value.is_null());
            Data::Table(given.map(|(key, value)| (key.clone(), from_json(value))).collect())
        }
    })
}
