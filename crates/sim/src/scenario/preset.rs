//! Presets: a name stands for the keys in a file of this crate. Keys that the scenario itself sets override them.
//!
//! The first line of the comment at a file's top is the preset's summary; the rest lists what it cannot express. The comment behind each
//! value gives its source.

use serde_json::{Value as Json, json};

use crate::scenario::error::{Origin, Problems};
use crate::scenario::text::unknown;
use crate::scenario::toml_reader::read_toml;
use crate::scenario::value::{Data, Node};

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// The presets of a folder.
#[derive(Debug)]
pub(crate) struct Presets {
    /// What one of them is, for messages.
    noun: &'static str,
    /// Their names, sorted.
    pub(crate) names: &'static [&'static str],
    /// The texts of their files, in the same order.
    pub(crate) texts: &'static [&'static str],
}

impl Presets {
    /// The keys of the preset `name`. Tests read every file, so it has no problems.
    pub(crate) fn read(&self, name: &str) -> Option<Node> {
        let index = self.names.iter().position(|known| *known == name)?;
        Some(read_toml(self.texts[index], &mut Problems::default()))
    }

    /// Checks that the preset `name` is known.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), String> {
        if self.names.contains(&name) { Ok(()) } else { Err(unknown(self.noun, name, self.names)) }
    }

    /// Every preset as JSON: name, summary, notes, settings with their sources, and the settings before each version.
    pub(crate) fn describe(&self) -> impl Iterator<Item = Json> {
        self.names.iter().zip(self.texts).map(|(name, text)| describe(name, text))
    }
}

/// The same values, with the place where the scenario names the preset.
pub(crate) fn placed(node: Node, origin: &Origin) -> Node {
    let data = match node.data {
        Data::Table(entries) => Data::Table(entries.into_iter().map(|(key, value)| (key, placed(value, origin))).collect()),
        other => other,
    };
    Node { origin: origin.clone(), data }
}

/// Adds missing keys from `defaults` to `table` and to its table `inner`. Parts are not merged.
pub(crate) fn fill(table: &mut Node, defaults: Node, inner: &str) {
    let (Data::Table(entries), Data::Table(defaults)) = (&mut table.data, defaults.data) else { return };
    for (key, value) in defaults {
        match entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, given)) if key == inner => fill(given, value, inner),
            Some(_) => {}
            None => entries.push((key, value)),
        }
    }
}

fn describe(name: &str, text: &str) -> Json {
    let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    let (summary, notes) = header.split_first().map_or(("", String::new()), |(first, rest)| (*first, rest.join("\n").trim().to_owned()));
    let mut table = "";
    let mut lists = vec![("", Vec::new())];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line == "[[before]]" {
            table = "";
        } else if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        } else if let Some((key, rest)) = line.split_once(" = ") {
            let (value, source) = rest.split_once(" # ").unwrap_or((rest, ""));
            match (key, lists.last_mut()) {
                ("versions", _) | (_, None) => {}
                ("version", _) => lists.push((value.trim_matches('"'), Vec::new())),
                (_, Some((_, settings))) => {
                    let key = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
                    settings.push(json!({ "name": key, "value": value.trim(), "source": source.trim() }));
                }
            }
        }
    }
    let (_, settings) = lists.remove(0);
    let changes: Vec<Json> = lists.into_iter().map(|(version, settings)| json!({ "before": version, "settings": settings })).collect();
    json!({ "name": name, "summary": summary, "notes": notes, "settings": settings, "changes": changes })
}
