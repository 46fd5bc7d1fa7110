//! The JSON Schema of a scenario file, for editors. It derives from the declared keys and the registry.

use ackclock_core::params::{self, Axis, Description, Param};
use serde_json::{Map, Value as Json, json};

use crate::scenario::keys::{Bounds, Fallback, Key, Kind, Variant};
use crate::scenario::part;
use crate::scenario::path_file::{FILE, in_file};
use crate::scenario::preset::HOSTS;
use crate::scenario::spec::ROOT;
use crate::scenario::sweep::{MAX_VARIANTS, METHODS};
use crate::scenario::unit::{TIME, write_time};

/// The JSON Schema (2020-12) of a scenario file.
pub fn schema() -> Json {
    let mut schema = table(ROOT, None);
    if let Json::Object(entries) = &mut schema {
        entries.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        entries.insert("title".to_owned(), json!("Ackclock scenario"));
        entries.insert("$defs".to_owned(), definitions());
    }
    schema
}

/// A table with `keys`. For a table with `kind`: its value, and whether it must be given.
fn table(keys: &[Key], kind: Option<(&str, bool)>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((kind, needed)) = kind {
        properties.insert("kind".to_owned(), json!({ "const": kind }));
        required.extend(needed.then_some("kind"));
    }
    for key in keys {
        properties.insert(key.name.to_owned(), property(key));
        required.extend(matches!(key.fallback, Fallback::Required(_)).then_some(key.name));
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn property(key: &Key) -> Json {
    let mut schema = value(&key.kind);
    let mut doc = key.doc.to_owned();
    let default = match key.fallback {
        Fallback::Text(text) => Some(json!(text)),
        Fallback::Time(time) => Some(json!(write_time(time))),
        Fallback::Integer(number) => Some(json!(number)),
        Fallback::Number(number) => Some(json!(number)),
        Fallback::Bool(value) => Some(json!(value)),
        Fallback::Empty => Some(json!([])),
        Fallback::Table => Some(json!({})),
        Fallback::Required(_) => None,
        Fallback::Absent(meaning) => {
            doc = format!("{doc} Default: {meaning}.");
            None
        }
    };
    if let Kind::Quantity(_, Bounds { low, above, high }) = key.kind {
        doc = format!("{doc} {} {low}, at most {high}.", if above { "Above" } else { "At least" });
    }
    let example = if let Fallback::Required(text) = key.fallback { example(text) } else { None };
    if let Json::Object(entries) = &mut schema {
        entries.insert("description".to_owned(), json!(doc));
        entries.extend(default.map(|default| ("default".to_owned(), default)));
        entries.extend(example.map(|example| ("examples".to_owned(), json!([example]))));
    }
    schema
}

/// The value that the example of a required key writes; `None` if it describes the value instead.
fn example(text: &str) -> Option<Json> {
    toml::from_str::<Map<String, Json>>(&format!("example = {text}")).ok()?.remove("example")
}

fn value(kind: &Kind) -> Json {
    match kind {
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Switch(words) => json!({ "oneOf": [{ "type": "boolean" }, { "enum": words }] }),
        Kind::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Number(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
        Kind::Quantity(dimension, _) => json!({ "type": "string", "pattern": dimension.pattern() }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Host => hosts(),
        Kind::Preset(presets) => json!({ "enum": presets.names }),
        Kind::List(kind) => json!({ "type": "array", "items": value(kind) }),
        Kind::Table(keys) => table(keys, None),
        Kind::Tables(keys) => json!({ "oneOf": [{ "type": "array", "items": table(keys, None), "minItems": 1 }, table(keys, None)] }),
        Kind::Variants(variants) => json!({ "oneOf": variant_tables(variants) }),
        Kind::Drawn(variants) => {
            let mean = variants.iter().find_map(|variant| variant.keys.first()).map(|mean| value(&mean.kind));
            json!({ "oneOf": mean.into_iter().chain(variant_tables(variants)).collect::<Vec<_>>() })
        }
        Kind::WordOrTable(word, keys) => json!({ "oneOf": [{ "const": word }, table(keys, None)] }),
        Kind::Part(axis, extra) => part(axis, extra),
        Kind::Parts(axis, extra) => json!({ "anyOf": [part(axis, extra), { "type": "array", "items": part(axis, extra) }] }),
        Kind::Names(_) => names(),
        Kind::Sweep => sweep(),
    }
}

/// The name of a preset, or a table; only some presets have versions.
fn hosts() -> Json {
    let properties = json!({ "kind": { "enum": HOSTS.names }, "version": { "type": "string", "minLength": 1 } });
    json!({ "oneOf": [{ "enum": HOSTS.names }, { "type": "object", "properties": properties, "required": ["kind"], "additionalProperties": false }] })
}

/// A table of chosen names, which a path without quotes nests.
fn names() -> Json {
    json!({ "type": "object", "additionalProperties": { "type": ["integer", "boolean", "string", "object"] } })
}

fn variant_tables(variants: &[Variant]) -> Vec<Json> {
    variants.iter().enumerate().map(|(index, variant)| variant_table(variant, index > 0)).collect()
}

fn variant_table(variant: &Variant, needs_kind: bool) -> Json {
    let mut schema = table(variant.keys, Some((variant.kind, needs_kind)));
    if let Json::Object(entries) = &mut schema {
        entries.insert("description".to_owned(), json!(variant.doc));
    }
    schema
}

/// The parts that can be inside other parts, by axis. They are definitions, because one can be inside itself.
fn definitions() -> Json {
    let params = part::axes().flat_map(Axis::parts).flat_map(|part| part.params);
    let inside = params.filter_map(|param| match param.kind {
        params::Kind::Part(axis) | params::Kind::Parts(axis) => Some(axis),
        _ => None,
    });
    Json::Object(
        inside
            .map(|axis| (axis.name.to_owned(), part_of(axis, &axis.parts().iter().map(|part| part.name).collect::<Vec<_>>(), &[])))
            .collect(),
    )
}

fn part(axis: &Axis, extra: &[Key]) -> Json {
    part_of(axis, &axis.words(), extra)
}

fn part_of(axis: &Axis, words: &[&str], extra: &[Key]) -> Json {
    let shorthand = part::short_dimension(axis).map(|dimension| json!({ "type": "string", "pattern": dimension.pattern() }));
    let tables = axis.parts().iter().map(|part| part_table(axis, part, extra));
    let forms: Vec<Json> = std::iter::once(json!({ "enum": words })).chain(shorthand).chain(tables).collect();
    json!({ "oneOf": forms })
}

fn part_table(axis: &Axis, part: &Description, extra: &[Key]) -> Json {
    let mut schema = table(extra, Some((part.name, part.name != axis.usual)));
    for param in part.params {
        schema["properties"][param.name] = parameter(param);
    }
    if let Some(one) = in_file(axis, part) {
        schema["properties"][FILE] = json!({ "type": "string", "minLength": 1, "description": one.doc() });
    }
    schema["description"] = json!(format!("{} ({})", part.summary, part.reference));
    schema
}

fn parameter(param: &Param) -> Json {
    let mut schema = parameter_value(param.kind);
    if param.default == params::Default::Auto {
        schema = json!({ "oneOf": [{ "const": part::AUTO }, schema] });
    }
    schema["description"] = json!(param.doc);
    schema["default"] = part::default(param);
    schema
}

fn parameter_value(kind: params::Kind) -> Json {
    let (low, high) = kind.bounds().unwrap_or_default();
    match kind {
        params::Kind::Number { .. } => json!({ "type": "number", "minimum": low, "maximum": high }),
        params::Kind::Integer { .. } => json!({ "type": "integer", "minimum": low, "maximum": high }),
        params::Kind::Numbers { .. } => json!({ "type": "array", "items": { "type": "number", "minimum": low, "maximum": high } }),
        params::Kind::Word(words) => {
            let numbers = words.iter().filter_map(|word| word.parse::<i64>().ok()).map(|number| json!(number));
            json!({ "enum": words.iter().map(|word| json!(word)).chain(numbers).collect::<Vec<_>>() })
        }
        params::Kind::Text => json!({ "type": "string", "minLength": 1 }),
        params::Kind::Bool => json!({ "type": "boolean" }),
        params::Kind::Series(of) => {
            let step = [json!({ "type": "string", "pattern": TIME.pattern() }), parameter_value(*of)];
            json!({ "type": "array", "minItems": 1, "items": { "type": "array", "prefixItems": step, "minItems": 2, "maxItems": 2 } })
        }
        params::Kind::Part(axis) => json!({ "$ref": format!("#/$defs/{}", axis.name) }),
        params::Kind::Parts(axis) => {
            let part = json!({ "$ref": format!("#/$defs/{}", axis.name) });
            json!({ "anyOf": [part, { "type": "array", "items": part }] })
        }
        kind => json!({ "type": "string", "pattern": part::dimension(kind).map(crate::scenario::unit::Dimension::pattern) }),
    }
}

fn sweep() -> Json {
    let end = json!({ "type": ["string", "number"] });
    let table = |properties: Json, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let whole = table(
        json!({ "from": { "type": "integer" }, "to": { "type": "integer" }, "step": { "type": "integer", "minimum": 1 } }),
        &["from", "to"],
    );
    let scale = json!({ "enum": ["linear", "log"], "default": "linear" });
    let count = |low: u32| json!({ "type": "integer", "minimum": low, "maximum": MAX_VARIANTS });
    let spaced = table(json!({ "from": end, "to": end, "count": count(2), "scale": scale }), &["from", "to", "count"]);
    let values = json!({ "anyOf": [{ "type": "array", "minItems": 1 }, whole, spaced] });
    // A path without quotes is nested tables.
    let nested = json!({ "type": "object", "minProperties": 1 });
    let drawn = json!({ "anyOf": [{ "type": "array", "minItems": 1 }, table(json!({ "from": end, "to": end, "scale": scale }), &["from", "to"]), nested] });
    let labelled = json!({ "type": "object", "additionalProperties": { "type": ["object", "array"] }, "minProperties": 1 });
    let zip = json!({ "type": "object", "additionalProperties": { "type": "object", "additionalProperties": { "anyOf": [values, nested] }, "minProperties": 1 } });
    let keys = json!({ "type": "object", "additionalProperties": drawn, "minProperties": 1 });
    let seed = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 1 });
    let sample = json!({ "method": { "enum": METHODS }, "count": count(1), "seed": seed.clone(), "keys": keys });
    let file = json!({ "file": { "type": "string", "minLength": 1, "description": "A .csv or .parquet file." } });
    let name = json!({ "type": "string", "minLength": 1, "description": "The name of a population, or its .toml file." });
    let drawn = json!({ "population": name, "count": count(1), "seed": seed });
    let paths = json!({ "oneOf": [table(file, &["file"]), table(drawn, &["population", "count"])] });
    json!({
        "type": "object",
        "properties": { "zip": zip, "sample": table(sample, &["method", "count", "keys"]), "paths": paths },
        "additionalProperties": { "anyOf": [values, labelled] },
    })
}
