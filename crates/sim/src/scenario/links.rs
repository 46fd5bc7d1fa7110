//! Presets of links: `preset = "NAME"` on a link stands for the keys in `src/links/NAME.toml`. Keys of the link itself override them.
//! `path = "NAME"` of a topology is such a bottleneck, whose access links neither limit nor delay.

use serde_json::Value as Json;

use crate::scenario::error::Origin;
use crate::scenario::preset::{LINKS, fill, placed};
use crate::scenario::value::{Data, Node};

/// The table of a link that the preset sets key by key.
const REVERSE: &str = "reverse";
/// Access links of a path: faster than every preset.
const ACCESS: [(&str, &str); 2] = [("rate", "1 Tbit/s"), ("delay", "0 s")];

/// Adds the presets' keys to every link that names one. The check of the keys reports unknown presets.
pub(crate) fn apply(root: &mut Node) {
    let Data::Table(entries) = &mut root.data else { return };
    let Some((_, topology)) = entries.iter_mut().find(|(name, _)| name == "topology") else { return };
    expand_path(topology);
    let Data::Table(entries) = &mut topology.data else { return };
    for (name, node) in entries {
        match (name.as_str(), &mut node.data) {
            ("access" | "bottleneck" | "links" | "link", Data::Table(_)) => apply_to(node),
            ("links" | "link", Data::List(links)) => links.iter_mut().for_each(apply_to),
            _ => {}
        }
    }
}

/// Adds the links for which the topology's `path` stands.
fn expand_path(topology: &mut Node) {
    let Some(Node { origin, data: Data::Text(name) }) = topology.get("path").cloned() else { return };
    // Links listed one by one cannot be combined with a path, which the check reports.
    if topology.get("links").is_some() || topology.get("link").is_some() {
        return;
    }
    let text = |text: &str| Node { origin: origin.clone(), data: Data::Text(text.to_owned()) };
    let table = |entries: Vec<(String, Node)>| Node { origin: origin.clone(), data: Data::Table(entries) };
    let access = table(ACCESS.map(|(key, value)| (key.to_owned(), text(value))).to_vec());
    let bottleneck = if LINKS.check_name(&name).is_ok() { vec![("preset".to_owned(), text(&name))] } else { Vec::new() };
    for (key, defaults) in [("access", access), ("bottleneck", table(bottleneck))] {
        let Data::Table(entries) = &mut topology.data else { return };
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, given)) => fill(given, defaults, REVERSE),
            None => entries.push((key.to_owned(), defaults)),
        }
    }
}

fn apply_to(link: &mut Node) {
    let Some(Node { origin, data: Data::Text(name) }) = link.get("preset") else { return };
    let origin: Origin = origin.clone();
    let Some(preset) = LINKS.read(name) else { return };
    fill(link, placed(preset, &origin), REVERSE);
}

/// Every preset as JSON: summary, notes, and settings with their sources.
pub fn links_json() -> Json {
    LINKS.describe().collect()
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
