//! The axes of the registry as keys of a scenario: "staged", or { kind = "staged", algorithm = "3" }, or a shorthand such as "50 packets".

use ackclock_core::params::{Axis, Default, Description, Kind, Param, Quantity as Measured, Value};
use ackclock_core::registry;
use ackclock_core::units::{Duration, Limit, Rate};
use serde_json::{Value as Json, json};

use crate::scenario::keys::KERNEL;
use crate::scenario::model::PartSpec;
use crate::scenario::profiles::{self, Need};
use crate::scenario::spec::{LISTED_BY_LINKS, keys_of};
use crate::scenario::unit::{self, Dimension, Quantity};
use crate::scenario::value::{Data, Node};

/// The word for a parameter that the part computes.
pub(crate) const AUTO: &str = "auto";

/// The axes of each crate, in the order of listings.
static AXES: [&[&Axis]; 3] = [registry::AXES, &[&profiles::AXIS], ackclock_tcp::AXES];

/// The kind of distribution that a single quantity stands for; its first key is the quantity.
pub(crate) const FIXED: &str = "fixed";

/// The axes of a composed congestion control.
pub(crate) const CONTROL_AXES: [&str; 4] = ["initial_window", "slow_start", "avoidance", "loss_response"];

/// Every axis.
pub(crate) fn axes() -> impl Iterator<Item = &'static Axis> {
    AXES.iter().copied().flatten().copied()
}

/// The axis whose key is `name`.
pub(crate) fn axis(name: &str) -> Option<&'static Axis> {
    axes().find(|axis| axis.name == name)
}

/// The dimension of the quantity that alone stands for a part of `axis`.
pub(crate) fn short_dimension(axis: &Axis) -> Option<&'static Dimension> {
    let (part, param) = axis.shorthand?;
    let param = axis.part(part)?.params.iter().find(|known| known.name == param)?;
    dimension(param.kind)
}

/// The table for which `text`, as the value of a key of `axis`, is short.
pub(crate) fn promote(axis: &Axis, text: &str) -> Data {
    let entry = |key: &str, text: &str| (key.to_owned(), Node::text(text));
    let text = text.trim();
    if axis.none == Some(text) {
        return Data::Table(Vec::new());
    }
    match axis.shorthand {
        Some((part, param)) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            Data::Table(vec![entry("kind", part), entry(param, text)])
        }
        _ => Data::Table(vec![entry("kind", text)]),
    }
}

/// `part` of `axis` as a table, from which the same part can be read.
pub(crate) fn write_part(axis: &Axis, part: &PartSpec) -> Json {
    let declared = axis.part(part.name).map_or(&[][..], |part| part.params);
    let mut table = serde_json::Map::new();
    table.insert("kind".to_owned(), json!(part.name));
    for ((name, value), param) in part.params.0.iter().zip(declared) {
        // Without an inner part there is nothing to write.
        if !matches!((value, param.kind), (Value::Auto, Kind::Part(_))) {
            table.insert((*name).to_owned(), write(value, param.kind));
        }
    }
    Json::Object(table)
}

/// The dimension of a parameter with a unit.
pub(crate) fn dimension(kind: Kind) -> Option<&'static Dimension> {
    match kind {
        Kind::Segments { .. } => Some(&unit::SEGMENTS),
        Kind::Duration { .. } => Some(&unit::TIME),
        Kind::Probability { .. } => Some(&unit::PROBABILITY),
        Kind::Size { .. } | Kind::WireSize { .. } => Some(&unit::SIZE),
        Kind::Rate { .. } => Some(&unit::RATE),
        Kind::Limit { .. } | Kind::ByteLimit { .. } => Some(&unit::LIMIT),
        Kind::Number { .. }
        | Kind::Integer { .. }
        | Kind::Numbers { .. }
        | Kind::Bool
        | Kind::Word(_)
        | Kind::Text
        | Kind::Series(_)
        | Kind::Part(_)
        | Kind::Parts(_) => None,
    }
}

/// The parameter's value for `quantity`; `None` for multiples of the bandwidth-delay product, which depend on the network.
pub(crate) fn value(kind: Kind, quantity: Quantity) -> Option<Value> {
    match (kind, quantity) {
        (Kind::Duration { .. }, Quantity::Whole(_, nanos)) => Some(Value::Number(Duration::from_nanos(nanos).as_secs_f64())),
        (Kind::Size { .. } | Kind::WireSize { .. }, Quantity::Whole(_, bytes)) => Some(Value::Number(bytes as f64)),
        (Kind::Limit { .. } | Kind::ByteLimit { .. }, Quantity::Whole(unit::Measure::Bytes, bytes)) => {
            Some(Value::Limit(Limit::Bytes(bytes)))
        }
        (Kind::Limit { .. } | Kind::ByteLimit { .. }, Quantity::Whole(_, packets)) => Some(Value::Limit(Limit::Packets(packets))),
        (Kind::Limit { .. } | Kind::ByteLimit { .. }, _) => None,
        _ => quantity.magnitude().map(Value::Number),
    }
}

/// A parameter's value in the form of a scenario file.
fn write(value: &Value, kind: Kind) -> Json {
    match (value, kind) {
        (Value::Number(number), Kind::Segments { .. }) => {
            json!(format!("{number} segment{}", if number.to_string() == "1" { "" } else { "s" }))
        }
        (Value::Number(seconds), Kind::Duration { .. }) => json!(unit::write_time(Duration::from_secs_f64(*seconds))),
        (Value::Number(number), Kind::Probability { .. }) => json!(unit::write_probability(*number)),
        (Value::Number(number), Kind::Integer { .. }) => json!(*number as i64),
        (Value::Number(bytes), Kind::Size { .. } | Kind::WireSize { .. }) => json!(format!("{bytes} B")),
        (Value::Number(rate), Kind::Rate { .. }) => {
            json!(Rate::from_bits_per_sec(*rate as u64).map_or_else(|| "0 bit/s".to_owned(), unit::write_rate))
        }
        (Value::Number(number), _) => json!(number),
        (Value::Numbers(numbers), _) => json!(numbers),
        (Value::Word(word), _) => json!(word),
        (Value::Limit(Limit::Packets(packets)), _) => json!(format!("{packets} packets")),
        (Value::Limit(Limit::Bytes(bytes)), _) => json!(format!("{bytes} B")),
        (Value::Bool(value), _) => json!(value),
        (Value::Series(steps), kind) => {
            let of = if let Kind::Series(of) = kind { *of } else { kind };
            let time = |seconds: f64| json!(unit::write_time(Duration::from_secs_f64(seconds)));
            steps.iter().map(|(at, value)| json!([time(*at), write(&Value::Number(*value), of)])).collect()
        }
        (Value::Part(part), Kind::Part(axis)) => write_part(axis, part),
        (Value::Part(part), _) => json!(part.name),
        (Value::Parts(parts), Kind::Parts(axis)) => parts.iter().map(|part| write_part(axis, part)).collect(),
        (Value::Parts(parts), _) => parts.iter().map(|part| json!(part.name)).collect(),
        (Value::Auto, _) => json!(AUTO),
    }
}

/// The default of a parameter in the form of a scenario file.
pub(crate) fn default(param: &Param) -> Json {
    match param.default {
        Default::Part(name) => json!(name),
        Default::Parts(names) => json!(names),
        _ => write(&param.usual(), param.kind),
    }
}

/// The bounds of a kind of parameter in the scenario's unit: seconds, percent, or a plain number.
pub(crate) fn bounds(kind: Kind) -> Option<(f64, f64)> {
    match kind {
        Kind::Series(of) => bounds(*of),
        Kind::Probability { min, max } => Some((min * 100.0, max * 100.0)),
        kind => kind.bounds(),
    }
}

/// The unit of a kind of parameter, for listings: of a series that of its values.
pub(crate) fn unit(kind: Kind) -> Option<&'static str> {
    dimension(if let Kind::Series(of) = kind { *of } else { kind }).map(|dimension| dimension.unit)
}

/// All parts: for each axis its parts with name, summary, reference, parameters and the header of their file.
pub fn registry_json() -> Json {
    let axes = axes().map(|axis| {
        let parts = axis.parts().iter().map(|part| {
            let mut json = describe(part);
            let quantities = part.quantities.iter().map(|quantity| {
                let mut json = describe_quantity(quantity);
                json["axis"] = json!(quantity.axis);
                json
            });
            json["quantities"] = quantities.collect();
            json
        });
        (axis.name.to_owned(), parts.collect())
    });
    Json::Object(axes.collect())
}

/// How axes and keys relate, for menus. Of each axis: its noun, the part of a table without `kind`, the word for none, and the part and
/// parameter that a quantity alone stands for. The kind of distribution that a quantity alone stands for. Of the profiles: the keys that
/// only they have. The axes that a whole control replaces, the keys of a chain that its `links` replace, and the profiles whose
/// connections have several streams.
pub fn relations_json() -> Json {
    let axes = axes().map(|axis| {
        let shorthand = axis.shorthand.map(|(part, parameter)| json!({ "part": part, "parameter": parameter }));
        (axis.name.to_owned(), json!({ "noun": axis.noun, "usual": axis.usual, "none": axis.none, "shorthand": shorthand }))
    });
    let only = |profile| keys_of(profile).collect::<Vec<_>>();
    json!({
        "axes": axes.collect::<serde_json::Map<_, _>>(),
        "drawn": FIXED,
        "profiles": { "ns2": only("ns2"), "modern": only("modern"), "kernel": only(KERNEL) },
        "replaced": CONTROL_AXES,
        "listed": LISTED_BY_LINKS,
        "streams": Need::STREAMS.able(),
    })
}

/// The keys and texts of the table for which `text`, as the value of `key`, is short; `None`: the key names no part.
///
/// The queue `100 packets` is short for a table with `kind` and `limit`.
pub fn shorthand(key: &str, text: &str) -> Option<Vec<(String, String)>> {
    let Data::Table(entries) = promote(axis(key)?, text) else { return None };
    let texts = entries.into_iter().map(|(key, node)| match node.data {
        Data::Text(text) => Some((key, text)),
        _ => None,
    });
    texts.collect()
}

/// The entry of a part or model in a listing.
pub(crate) fn describe(part: &Description) -> Json {
    let params: Vec<Json> = part.params.iter().map(describe_param).collect();
    let header: Vec<&str> = part.header.lines().map(|line| line.trim_start_matches("//!")).collect();
    json!({
        "name": part.name,
        "summary": part.summary,
        "reference": part.reference,
        "params": params,
        "header": header.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n"),
    })
}

/// The entry of a quantity in a listing.
pub(crate) fn describe_quantity(quantity: &Measured) -> Json {
    json!({ "name": quantity.name, "unit": quantity.unit, "doc": quantity.doc })
}

/// The name of a kind of parameter.
const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Segments { .. } => "segments",
        Kind::Number { .. } => "number",
        Kind::Integer { .. } => "integer",
        Kind::Duration { .. } => "duration",
        Kind::Probability { .. } => "probability",
        Kind::Numbers { .. } => "numbers",
        Kind::Word(_) => "word",
        Kind::Text => "text",
        Kind::Limit { .. } | Kind::ByteLimit { .. } => "limit",
        Kind::Bool => "bool",
        Kind::Size { .. } | Kind::WireSize { .. } => "size",
        Kind::Rate { .. } => "rate",
        Kind::Series(_) => "series",
        Kind::Part(_) => "part",
        Kind::Parts(_) => "parts",
    }
}

fn describe_param(param: &Param) -> Json {
    let words = if let Kind::Word(words) = param.kind { Some(words) } else { None };
    let mut json = json!({
        "name": param.name,
        "kind": kind_name(param.kind),
        "words": words,
        "headers": matches!(param.kind, Kind::WireSize { .. }),
        "unit": unit(param.kind),
        "default": default(param),
        "bounds": bounds(param.kind).map(|(low, high)| [low, high]),
        "doc": param.doc,
    });
    match param.kind {
        Kind::Part(axis) => json["axis"] = json!(axis.name),
        Kind::Parts(axis) => json["of"] = json!(axis.name),
        Kind::Series(of) => json["of"] = json!(kind_name(*of)),
        _ => {}
    }
    json
}

#[cfg(test)]
#[path = "part_tests.rs"]
mod tests;
