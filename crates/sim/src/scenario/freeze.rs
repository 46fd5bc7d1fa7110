//! Writes a scenario with every default and every expansion, so that the file alone describes the run.

use std::fmt::Write;

use ackclock_core::units::Duration;
use ackclock_tcp::modern::{self, Feedback};
use ackclock_tcp::ns2;
use serde_json::{Map, Value as Json, json};

use crate::net::route::Ends;
use crate::scenario::app_keys;
use crate::scenario::application::ApplicationSpec;
use crate::scenario::build::{Built, Python};
use crate::scenario::flow_keys;
use crate::scenario::flows::Drawn;
use crate::scenario::host_settings;
use crate::scenario::kernel;
use crate::scenario::keys::KERNEL;
use crate::scenario::model::{
    ComposedSpec, ControlSpec, FlowSpec, GeneratorSpec, HostSpec, LinkSpec, LossPosition, LossSpec, PartSpec, Scenario, TraceKind, Variable,
};
use crate::scenario::part::{axis, write_part};
use crate::scenario::unit::{write_rate, write_time};

/// The tables with a header of their own.
const TABLES: [&str; 3] = ["topology", "topology.link", "flow"];

/// The scenario as a document, from which an equal scenario can be read. Random arrivals are written as such or, if `expand`, flow by flow.
pub(crate) fn freeze(built: &Built, expand: bool) -> Json {
    let scenario = &built.scenario;
    let names = TraceKind::ALL.iter().filter(|(_, kind)| scenario.record.contains(kind)).map(|(name, _)| *name);
    let links: Vec<Json> = scenario.links.iter().map(|spec| link(spec, &scenario.nodes)).collect();
    let mut flows = Vec::new();
    let mut drawn = built.drawn.iter().filter(|_| !expand).peekable();
    let mut index = 0;
    loop {
        if let Some((drawn, python)) = drawn.next_if(|(drawn, _)| drawn.flows.start == index) {
            flows.push(arriving(drawn, scenario, *python));
            index = drawn.flows.end;
            continue;
        }
        let Some((spec, python)) = scenario.flows.get(index).zip(built.python.get(index)) else { break };
        let application = spec.traffic.application().map(|application| &scenario.applications[application]);
        // The connections of an application share one table.
        if application.is_none_or(|application| application.flows.start == index) {
            flows.push(flow(spec, application, scenario, python.map(|(_, what)| what)));
        }
        index += 1;
    }
    let mut topology = json!({ "kind": "explicit", "node": scenario.nodes });
    let mut root = json!({
        "name": scenario.name,
        "duration": write_time(scenario.duration),
        "seed": scenario.seed,
        "record": names.collect::<Vec<_>>(),
    });
    put_tables(&mut topology, "link", links);
    root["topology"] = topology;
    put_tables(&mut root, "flow", flows);
    root
}

/// Puts an array of tables into a table; TOML has none without tables.
fn put_tables(table: &mut Json, key: &str, tables: Vec<Json>) {
    if !tables.is_empty() {
        table[key] = Json::Array(tables);
    }
}

/// A frozen scenario as TOML: links and flows as arrays of tables, all else on one line.
pub(crate) fn to_toml(frozen: &Json) -> String {
    let mut text = String::new();
    table(&mut text, "", frozen);
    text
}

/// A table with random arrivals.
fn arriving(drawn: &Drawn, scenario: &Scenario, python: Option<Python>) -> Json {
    let Drawn { like, arrivals, pairs, .. } = drawn;
    let mut table = flow(like, None, scenario, python);
    let mut arrivals = arrivals.clone();
    let names = |&(from, to): &Ends| [&scenario.nodes[from], &scenario.nodes[to]];
    match &pairs[..] {
        [pair] => [table["from"], table["to"]] = names(pair).map(|name| json!(name)),
        _ => {
            arrivals.insert("pairs".to_owned(), json!(pairs.iter().map(names).collect::<Vec<_>>()));
        }
    }
    if let Json::Object(keys) = &mut table {
        keys.retain(|key, _| !(key == "name" && like.name.is_empty() || pairs.len() > 1 && ["from", "to"].contains(&key.as_str())));
        keys.insert("arrivals".to_owned(), Json::Object(arrivals));
    }
    table
}

/// Writes the table at `path`: first the keys with values, then the tables below it.
fn table(text: &mut String, path: &str, entries: &Json) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let entries = || entries.as_object().into_iter().flatten();
    for (key, value) in entries().filter(|(key, _)| !TABLES.contains(&below(key).as_str())) {
        let _ = write!(text, "{key} = ");
        inline(text, value);
        text.push('\n');
    }
    for (key, value) in entries() {
        let path = below(key);
        match value {
            _ if !TABLES.contains(&path.as_str()) => {}
            Json::Array(tables) => {
                for each in tables {
                    let _ = writeln!(text, "\n[[{path}]]");
                    table(text, &path, each);
                }
            }
            value => {
                let _ = writeln!(text, "\n[{path}]");
                table(text, &path, value);
            }
        }
    }
}

/// Writes a value as TOML on one line. Texts, numbers and lists are the same in JSON; only DEL needs an escape in TOML.
fn inline(text: &mut String, value: &Json) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                inline(text, item);
            }
            text.push(']');
        }
        Json::Object(entries) => {
            text.push_str("{ ");
            for (index, (key, value)) in entries.iter().enumerate() {
                let _ = write!(text, "{}{key} = ", if index == 0 { "" } else { ", " });
                inline(text, value);
            }
            text.push_str(" }");
        }
        Json::String(word) if word.contains('\u{7f}') => text.push_str(&value.to_string().replace('\u{7f}', "\\u007f")),
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

/// `part`, or the word for none.
fn part(key: &str, part: Option<&PartSpec>) -> Json {
    axis(key).map_or(Json::Null, |axis| part.map_or_else(|| json!(axis.none), |part| write_part(axis, part)))
}

fn link(spec: &LinkSpec, nodes: &[String]) -> Json {
    let losses = if spec.losses.is_empty() { part("loss", None) } else { alone_or_listed(spec.losses.iter().map(loss).collect()) };
    let mut queue = part("queue", spec.queue.as_ref().map(|queue| &queue.discipline));
    if let (Some(spec), Json::Object(table)) = (&spec.queue, &mut queue) {
        put_generator(table, spec.generator);
    }
    let mut medium = part("medium", spec.medium.as_ref().map(|medium| &medium.model));
    if let (Some(spec), Json::Object(table)) = (&spec.medium, &mut medium) {
        table.insert("channel".to_owned(), json!(spec.channel));
    }
    let mut link = json!({
        "from": nodes[spec.from],
        "to": nodes[spec.to],
        "rate": variable("rate", &spec.rate, write_rate),
        "delay": variable("delay", &spec.delay, write_time),
        "queue": queue,
        "loss": losses,
        "medium": medium,
        // Every direction is a separate link.
        "reverse": "none",
    });
    if let Some(rate) = spec.quick_start {
        link["quick_start"] = json!(write_rate(rate));
    }
    link
}

/// The only part, or a list of several.
fn alone_or_listed(parts: Vec<Json>) -> Json {
    <[Json; 1]>::try_from(parts).map_or_else(Json::Array, |[alone]| alone)
}

/// A quantity of a link: the constant that `write` writes, its model, or the list of its models.
fn variable<T: Copy>(axis: &str, variable: &Variable<T>, write: impl Fn(T) -> String) -> Json {
    match variable {
        Variable::Constant(value) => json!(write(*value)),
        Variable::Model(model) => alone_or_listed(model.parts.iter().map(|model| part(axis, Some(model))).collect()),
    }
}

fn loss(spec: &LossSpec) -> Json {
    let mut loss = part("loss", Some(&spec.model));
    if let Json::Object(table) = &mut loss {
        let position = if spec.position == LossPosition::BeforeQueue { "before" } else { "after" };
        table.insert("position".to_owned(), json!(position));
        put_generator(table, spec.generator);
    }
    loss
}

/// Adds the keys of a generator that is not the default.
fn put_generator(table: &mut Map<String, Json>, generator: GeneratorSpec) {
    let GeneratorSpec::Mrg32k3a { seed, stream, skip } = generator else { return };
    let keys = [("generator", json!("mrg32k3a")), ("seed", json!(seed)), ("stream", json!(stream)), ("skip", json!(skip))];
    table.extend(keys.map(|(key, value)| (key.to_owned(), value)));
}

fn flow(spec: &FlowSpec, application: Option<&ApplicationSpec>, scenario: &Scenario, python: Option<Python>) -> Json {
    let mut table = Map::new();
    let mut put = |key: &str, value: Json| table.insert(key.to_owned(), value);
    put("name", json!(application.map_or(&spec.name, |application| &application.name)));
    put("from", json!(scenario.nodes[spec.from]));
    put("to", json!(scenario.nodes[spec.to]));
    put("start", json!(write_time(Duration::from_nanos(spec.start.as_nanos()))));
    if let Some(application) = application {
        put("application", app_keys::write(&application.kind));
    }
    if let Some(stop) = application.map_or(spec.stop, |application| application.stop) {
        put("stop", json!(write_time(Duration::from_nanos(stop.as_nanos()))));
    }
    if let Some(packets) = spec.packets {
        put("size", json!(format!("{packets} packets")));
    }
    let (profile, ecn, initial_pacing) = match &spec.host {
        HostSpec::Ns2(host) => (json!("ns2"), json!(host.ecn), host.initial_pacing),
        HostSpec::Modern(host) => (json!("modern"), write_feedback(host.ecn), host.initial_pacing),
        HostSpec::Other(host) => (part("profile", Some(&host.profile)), json!(host.ecn), host.initial_pacing),
        HostSpec::Datagrams(data) => {
            put("packet_size", json!(format!("{} B", data.0)));
            return Json::Object(table);
        }
    };
    put("profile", if spec.kernel.is_some() { json!(KERNEL) } else { profile });
    if let Some(spec) = &spec.kernel {
        put("kernel", kernel::write(spec));
    }
    put("packet_size", json!(format!("{} B", flow_keys::packet_size(&spec.host).0)));
    let unlimited = spec.initial_ssthresh.is_infinite();
    put("initial_ssthresh", if unlimited { json!("unlimited") } else { json!(format!("{} segments", spec.initial_ssthresh)) });
    put("ecn", ecn);
    put("initial_pacing", json!(if initial_pacing { "rtt" } else { "none" }));
    match &spec.host {
        HostSpec::Modern(host) => {
            let mut settings = Map::new();
            host_settings::write(host, modern::SETTINGS, &mut settings);
            table.insert("modern".to_owned(), Json::Object(settings));
        }
        HostSpec::Ns2(host) => {
            table.insert("recovery".to_owned(), json!(host.recovery.name()));
            host_settings::write(host, ns2::SETTINGS, &mut table);
        }
        HostSpec::Datagrams(_) | HostSpec::Other(_) => {}
    }
    let mut put = |key: &str, value: Json| table.insert(key.to_owned(), value);
    match &spec.control {
        ControlSpec::Composed(ComposedSpec { initial_window, slow_start, avoidance, loss_response }) if python != Some(Python::Control) => {
            put("initial_window", part("initial_window", Some(initial_window)));
            if python.is_none() {
                put("slow_start", part("slow_start", slow_start.part()));
            }
            put("avoidance", part("avoidance", Some(avoidance)));
            put("loss_response", part("loss_response", loss_response.as_ref()));
        }
        ControlSpec::Whole(whole) if python.is_none() => drop(put("congestion_control", part("congestion_control", Some(whole)))),
        _ => {}
    }
    // No file can hold a Python object; reading this word reports that.
    if let Some(python) = python {
        put("congestion_control", json!(python.word()));
    }
    Json::Object(table)
}

/// The key `ecn`, whose `true` is classic feedback.
fn write_feedback(feedback: Option<Feedback>) -> Json {
    match feedback {
        None => json!(false),
        Some(Feedback::Classic) => json!(true),
        Some(other) => json!(other.name()),
    }
}
