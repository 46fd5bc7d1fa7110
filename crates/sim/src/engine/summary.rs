//! The whole result of a run except traces, as JSON, and the JSON Schema of it.

use ackclock_core::qdisc::Reason;
use ackclock_core::units::Duration;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::result::{FlowResult, LinkResult, RunResult};
use crate::app::{Media, Page, Transfer};
use crate::columns::{Cell, Column, Kind, seconds};
use crate::completion::{Times, by_group, by_size};
use crate::scenario::Scenario;

/// Columns with this prefix and an underscore become one object.
const NESTED: &str = "slow_start_exit";

/// The whole result of a run except traces: its serialised form is the JSON of `ackclock run --json`.
#[derive(Clone, Debug)]
pub struct Summary<'a> {
    /// The scenario of the run.
    pub scenario: &'a Scenario,
    /// The scenario's hash.
    pub hash: String,
    /// Its result.
    pub result: &'a RunResult,
    /// Smallest sizes of the classes of flows, in packets, in increasing order.
    pub classes: &'a [u64],
    /// Smallest sizes of the classes of transfers, in bytes, in increasing order.
    pub byte_classes: &'a [u64],
    /// Processor time of the run, if it was measured.
    pub cpu_seconds: Option<f64>,
}

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { scenario, hash, result, .. } = self;
        let flows = result.flow_rows().collect();
        let links = &LinkResult::columns(&scenario.further_reasons());
        let warnings = result.warnings(scenario).into_iter();
        let warnings: Vec<Json> = warnings.map(|it| json!({ "name": it.name, "flows": it.flows, "text": it.text })).collect();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("scenario", &scenario.name)?;
        object.serialize_entry("seed", &scenario.seed)?;
        object.serialize_entry("hash", hash)?;
        object.serialize_entry("flows", &Objects { scenario, columns: FlowResult::COLUMNS, rows: flows })?;
        object.serialize_entry("links", &Objects { scenario, columns: links, rows: result.link_rows().collect() })?;
        object.serialize_entry("completion", &self.completion())?;
        object.serialize_entry("transfers", &self.transfers())?;
        object.serialize_entry("pages", &self.pages())?;
        object.serialize_entry("media", &Objects { scenario, columns: Media::COLUMNS, rows: result.media_rows().collect() })?;
        object.serialize_entry("warnings", &warnings)?;
        object.serialize_entry("events", &result.events)?;
        if let Some(cpu_seconds) = self.cpu_seconds {
            object.serialize_entry("cpu_seconds", &cpu_seconds)?;
        }
        object.end()
    }
}

impl Summary<'_> {
    /// The completion times of flows with a size.
    fn completion(&self) -> Vec<Json> {
        let flows = self.scenario.flows.iter().zip(&self.result.flows);
        let sized = flows.filter_map(|(spec, flow)| Some((spec.packets?, flow.completion_time.map(of_span))));
        classes(&sized.collect::<Vec<_>>(), self.classes, "packets")
    }

    fn transfers(&self) -> Vec<Json> {
        let transfers =
            self.result.transfer_rows().map(|(_, transfer): (_, &Transfer)| (transfer.bytes, transfer.completion_time().map(of_span)));
        classes(&transfers.collect::<Vec<_>>(), self.byte_classes, "bytes")
    }

    /// The load times of pages.
    fn pages(&self) -> Vec<Json> {
        let name = |application: usize| self.scenario.applications[application].name.as_str();
        let pages = self.result.page_rows().map(|(index, page): (_, &Page)| (name(index), page.load_time().map(of_span)));
        let groups = by_group(&pages.collect::<Vec<_>>());
        groups.into_iter().map(|(name, times)| times_row(("application", name), "pages", times)).collect()
    }
}

/// The JSON Schema (2020-12) of a summary. Its rows have the columns of the tables.
pub fn summary_schema() -> Json {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let mut link = row_schema(&LinkResult::columns(Reason::further()));
    if let Some(required) = link["required"].as_array_mut() {
        required.retain(|key| !Reason::further().iter().any(|reason| key == reason.column()));
    }
    let links = list(&link);
    let mut schema = object([
        ("scenario", text.clone()),
        ("seed", described(Kind::Whole, false, "")),
        ("hash", text.clone()),
        ("flows", list(&row_schema(FlowResult::COLUMNS))),
        ("links", links),
        ("completion", list(&times_schema("packets", "flows"))),
        ("transfers", list(&times_schema("bytes", "flows"))),
        ("pages", list(&times_schema("application", "pages"))),
        ("media", list(&row_schema(Media::COLUMNS))),
        ("warnings", list(&object([("name", text.clone()), ("flows", texts), ("text", text)]))),
        ("events", described(Kind::Whole, false, "")),
        ("cpu_seconds", described(Kind::Number, false, "processor time of the run, if it was measured")),
    ]);
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|key| key != "cpu_seconds");
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Summary of a run");
    schema
}

/// The schema of a row with these columns.
fn row_schema<R>(columns: &[Column<Scenario, R>]) -> Json {
    let chosen = |inside: bool| -> Vec<&Column<Scenario, R>> {
        columns.iter().filter(|column| nested_name(column.name).is_some() == inside).collect()
    };
    let (nested, own) = (chosen(true), chosen(false));
    let property = |column: &Column<Scenario, R>, optional| described(column.kind, optional, column.doc);
    let mut properties: Vec<_> = own.iter().map(|column| (column.name, property(column, column.optional))).collect();
    if let [first, others @ ..] = &nested[..] {
        let inside = |column: &Column<Scenario, R>| nested_name(column.name).unwrap_or_default();
        let there = [first].into_iter().map(|column| (inside(column), property(column, false)));
        let exit = object(there.chain(others.iter().map(|column| (inside(column), property(column, column.optional)))));
        properties.push((NESTED, json!({ "anyOf": [exit, { "type": "null" }] })));
    }
    object(properties)
}

fn times_schema(label: &'static str, what: &'static str) -> Json {
    let counts = [what, "unfinished"].map(|name| (name, described(Kind::Whole, false, "")));
    let times = ["mean", "median", "p95", "p99"].map(|name| (name, described(Kind::Number, true, "")));
    object([(label, described(Kind::Text, false, ""))].into_iter().chain(counts).chain(times))
}

fn list(items: &Json) -> Json {
    json!({ "type": "array", "items": items })
}

fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    let properties: serde_json::Map<String, Json> = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn described(kind: Kind, optional: bool, doc: &str) -> Json {
    let kind = match kind {
        Kind::Text => "string",
        Kind::Whole => "integer",
        Kind::Number => "number",
    };
    let mut schema = json!({ "type": if optional { json!([kind, "null"]) } else { json!(kind) } });
    if !doc.is_empty() {
        schema["description"] = json!(doc);
    }
    schema
}

/// A time span in the form of tables.
fn of_span(span: Duration) -> f64 {
    seconds(span.as_nanos())
}

fn classes(rows: &[(u64, Option<f64>)], starts: &[u64], size: &str) -> Vec<Json> {
    by_size(rows, starts).into_iter().map(|(class, times)| times_row((size, &class.to_string()), "flows", times)).collect()
}

fn times_row((key, label): (&str, &str), what: &str, times: Times) -> Json {
    let statistics = times.statistics;
    json!({
        key: label,
        what: times.count,
        "unfinished": times.unfinished,
        "mean": statistics.map(|it| it.mean),
        "median": statistics.map(|it| it.median),
        "p95": statistics.map(|it| it.p95),
        "p99": statistics.map(|it| it.p99),
    })
}

/// The rows of a table as objects.
struct Objects<'a, R: 'static> {
    scenario: &'a Scenario,
    columns: &'a [Column<Scenario, R>],
    /// Rows with their indices in the scenario.
    rows: Vec<(usize, &'a R)>,
}

impl<R> Serialize for Objects<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |&(index, row)| Object { scenario: self.scenario, columns: self.columns, index, row };
        serializer.collect_seq(self.rows.iter().map(row))
    }
}

struct Object<'a, R: 'static> {
    scenario: &'a Scenario,
    columns: &'a [Column<Scenario, R>],
    index: usize,
    row: &'a R,
}

impl<R> Serialize for Object<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        let mut nested: Option<serde_json::Map<String, Json>> = None;
        for column in self.columns {
            let cell = column.cell(self.scenario, self.index, self.row);
            match nested_name(column.name) {
                None => object.serialize_entry(column.name, &cell)?,
                Some(name) => drop(nested.get_or_insert_default().insert(name.to_owned(), to_json(cell))),
            }
        }
        if let Some(nested) = nested {
            // The first column says whether there is anything.
            let there = nested.values().next().is_some_and(|first| !first.is_null());
            object.serialize_entry(NESTED, &there.then_some(nested))?;
        }
        object.end()
    }
}

/// The name in the nested object of a column that belongs there.
fn nested_name(name: &str) -> Option<&str> {
    name.strip_prefix(NESTED)?.strip_prefix('_')
}

/// A cell as JSON, which has no infinities.
fn to_json(cell: Cell) -> Json {
    match cell {
        Cell::Missing => Json::Null,
        Cell::Text(text) => text.into(),
        Cell::Whole(number) => number.into(),
        Cell::Number(number) => number.into(),
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Whole(number) => serializer.serialize_u64(*number),
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(_) | Self::Missing => serializer.serialize_unit(),
        }
    }
}
