//! The tables of a result with their columns, for listings.

use serde_json::{Value as Json, json};

use super::attempt::RunRow;
use super::result::{FlowResult, LinkResult};
use crate::app::{Media, Page, Transfer};
use crate::columns::traces::{TraceKind, Traces};
use crate::columns::{Column, Kind};
use crate::trace::CapturedPacket;

/// Every table: its name, the meaning of a row, and name, unit, kind and meaning of every column. A trace also has its name in `record`.
pub fn tables_json() -> Json {
    let mut tables = vec![
        rows("flows", "every flow", FlowResult::COLUMNS),
        rows(
            "links",
            "every link in each direction, named `from>to`. Queue columns do not include the packet in transmission. \
             A queue with a reason of drops of its own adds a column, such as `drops_chance` of `bernoulli`",
            &LinkResult::columns(&[]),
        ),
        rows(
            "transfers",
            "every response of a client, every burst, and every segment and frame of a video. Time runs from `queued_s` over `requested_s` to `completed_s`",
            Transfer::COLUMNS,
        ),
        rows("pages", "every page that a client began to load and every exchange of a request and a response", Page::COLUMNS),
        rows("media", "every player and every source of frames", Media::COLUMNS),
        rows("packets", "every TCP packet of IPv4 that was captured, at each place", CapturedPacket::COLUMNS),
        rows("runs", "every run of a sweep. A run that failed has its `error` and no measures", RunRow::COLUMNS),
    ];
    tables.extend(TraceKind::ALL.map(|(name, kind)| {
        let empty = Traces::new(&[kind]);
        let columns = empty.columns(kind).into_iter().flatten();
        let columns: Vec<Json> = columns.map(|column| describe(column.name, column.unit, column.values.kind(), column.doc)).collect();
        json!({ "name": format!("trace {name}"), "trace": name, "row": kind.about(), "columns": columns })
    }));
    Json::Array(tables)
}

fn rows<S, R>(name: &str, row: &str, columns: &[Column<S, R>]) -> Json {
    let columns: Vec<Json> = columns.iter().map(|column| describe(column.name, column.unit, column.kind, column.doc)).collect();
    json!({ "name": name, "trace": null, "row": row, "columns": columns })
}

fn describe(name: &str, unit: &str, kind: Kind, doc: &str) -> Json {
    json!({ "name": name, "unit": unit, "kind": kind.name(), "doc": doc })
}
