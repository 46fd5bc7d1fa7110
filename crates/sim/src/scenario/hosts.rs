//! Presets of end hosts: `host = "NAME"` on a flow stands for the keys in `src/hosts/NAME.toml`. Keys of the flow itself override them.
//!
//! A preset is a part of a `[[flow]]`. The first line of the comment at its top is the summary; the rest lists features that it cannot
//! express. The comment behind each value gives its source.

use serde_json::{Value as Json, json};

use crate::scenario::error::{Origin, Problems};
use crate::scenario::part::CONTROL_AXES;
use crate::scenario::value::{Data, Node, read_toml};

include!(concat!(env!("OUT_DIR"), "/hosts.rs"));

/// The file of the preset `name`.
fn text(name: &str) -> Option<&'static str> {
    NAMES.iter().position(|known| *known == name).map(|index| TEXTS[index])
}

/// Adds the preset's keys to every flow that names one. The check of the keys reports unknown preset names.
pub(crate) fn apply(root: &mut Node) {
    let Data::Table(entries) = &mut root.data else { return };
    let flows = entries.iter_mut().filter(|(name, _)| name == "flow").map(|(_, flow)| flow);
    for node in flows {
        match &mut node.data {
            Data::List(items) => items.iter_mut().for_each(apply_to),
            _ => apply_to(node),
        }
    }
}

fn apply_to(flow: &mut Node) {
    let Some((Data::Text(name), origin)) = flow.get("host").map(|host| (&host.data, host.origin.clone())) else { return };
    let Some(text) = text(name) else { return };
    // Tests read every preset, so it has no problems.
    let mut preset = placed(read_toml(text, &mut Problems::default()), &origin);
    if flow.get("congestion_control").is_some_and(|control| !matches!(&control.data, Data::Text(word) if word == "composed")) {
        for axis in CONTROL_AXES {
            preset.remove(axis);
        }
    }
    if let Data::Table(entries) = &mut preset.data {
        entries.push(("profile".to_owned(), Node { origin, data: Data::Text("modern".to_owned()) }));
    }
    fill(flow, preset);
}

/// The same values, with the place where the flow names the preset.
fn placed(node: Node, origin: &Origin) -> Node {
    let data = match node.data {
        Data::Table(entries) => Data::Table(entries.into_iter().map(|(key, value)| (key, placed(value, origin))).collect()),
        other => other,
    };
    Node { origin: origin.clone(), data }
}

/// Adds missing keys from `defaults` to `table` and to its table `modern`. Parts are not merged.
fn fill(table: &mut Node, defaults: Node) {
    let (Data::Table(entries), Data::Table(defaults)) = (&mut table.data, defaults.data) else { return };
    for (key, value) in defaults {
        match entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, given)) if key == "modern" => fill(given, value),
            Some(_) => {}
            None => entries.push((key, value)),
        }
    }
}

/// Every preset as JSON: summary, notes, and settings with their sources.
pub fn hosts_json() -> Json {
    NAMES.iter().zip(TEXTS).map(|(name, text)| describe(name, text)).collect()
}

fn describe(name: &str, text: &str) -> Json {
    let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    let (summary, notes) = header.split_first().map_or(("", String::new()), |(first, rest)| (*first, rest.join("\n").trim().to_owned()));
    let mut table = "";
    let mut settings = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        } else if let Some((key, rest)) = line.split_once(" = ") {
            if key.starts_with('#') {
                continue;
            }
            let (value, source) = rest.split_once(" # ").unwrap_or((rest, ""));
            let key = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            settings.push(json!({ "name": key, "value": value.trim(), "source": source.trim() }));
        }
    }
    json!({ "name": name, "summary": summary, "notes": notes, "settings": settings })
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
