//! Answers about scenarios in general, and about one scenario.

use ackclock_core::qdisc;
use ackclock_sim::engine::{bottleneck, digest, tables_json};
use ackclock_sim::scenario::{Document, LinkSpec, Scenario, hosts_json, links_json, registry_json, relations_json, schema};
use serde_json::{Map, Value as Json, json};

use crate::error::Refusal;
use crate::request::Source;

/// The file name of a scenario without one.
const NAME: &str = "scenario.toml";

/// What scenarios can say, and what runs give.
pub(crate) fn describe() -> Json {
    let (mut traces, mut tables) = (Map::new(), Map::new());
    if let Json::Array(all) = tables_json() {
        for table in all {
            let about = json!({ "row": table["row"], "columns": table["columns"] });
            match (&table["trace"], &table["name"]) {
                (Json::String(name), _) => traces.insert(name.clone(), about),
                (_, Json::String(name)) => tables.insert(name.clone(), about),
                _ => None,
            };
        }
    }
    let mut parts = registry_json();
    // No page has a kernel, so that its menus do not offer what only a kernel can build.
    if let Some(queues) = parts.get_mut(qdisc::AXIS.name).and_then(Json::as_array_mut) {
        queues.retain(|part| part["name"] != qdisc::qdisc::NAME);
    }
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "build": std::env::consts::ARCH,
        "schema": schema(),
        "parts": parts,
        "hosts": hosts_json(),
        "links": links_json(),
        "relations": relations_json(),
        "traces": traces,
        "tables": tables,
    })
}

/// The document of a request.
pub(crate) fn read(source: &Source) -> Result<Document, Refusal> {
    let name = source.name.as_deref().unwrap_or(NAME);
    let mut document = Document::from_toml(&source.text, name)?.without_files();
    for (key, value) in &source.settings {
        document.set(key, value)?;
    }
    Ok(document)
}

/// Checks a scenario.
pub(crate) fn check(source: &Source) -> Result<Json, Refusal> {
    let document = read(source)?;
    let (scenario, frozen) = document.scenario_and_frozen()?;
    Ok(json!({
        "scenario": outline(&scenario),
        "values": document.values(),
        "resolved": document.resolved(),
        "hash": digest(&frozen),
        "frozen": frozen,
    }))
}

/// The parts of a scenario that a page shows.
pub(crate) fn outline(scenario: &Scenario) -> Json {
    let node = |index: usize| scenario.nodes[index].as_str();
    let link = |link: &LinkSpec| {
        json!({
            "name": link.name,
            "from": node(link.from),
            "to": node(link.to),
            "rate": link.rate.mean().as_bits_per_sec(),
            "delay": link.delay.mean().as_secs_f64(),
            "queue": link.queue.as_ref().map(|queue| queue.discipline.name),
        })
    };
    json!({
        "name": scenario.name,
        "duration": scenario.duration.as_secs_f64(),
        "seed": scenario.seed,
        "flows": scenario.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        "links": scenario.links.iter().map(link).collect::<Vec<_>>(),
        "bottleneck": bottleneck(scenario).ok(),
        "record": scenario.record.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
    })
}
