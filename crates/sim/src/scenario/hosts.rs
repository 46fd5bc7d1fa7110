//! Presets of end hosts: `host = "NAME"` on a flow stands for the keys in `src/hosts/NAME.toml`. Keys of the flow itself override them.
//!
//! A preset is a part of a `[[flow]]`.
//!
//! A system with several versions has the values of the newest, which `versions` names together with the oldest, and a list `before`, from
//! the newest to the oldest: the values that applied before each version. `host = { kind = "NAME", version = "VERSION" }` selects one. A
//! preset can also be a version of another: its only key is then `host`.

use serde_json::{Value as Json, json};

use crate::scenario::keys::KERNEL;
use crate::scenario::part::CONTROL_AXES;
use crate::scenario::preset::{HOSTS, fill, placed};
use crate::scenario::text::quoted;
use crate::scenario::value::{Data, Node};

/// The table of a flow that a preset sets key by key.
const MODERN: &str = "modern";

/// Adds the preset's keys to every flow that names one. The check of the keys reports unknown presets and versions.
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
    let kernel = flow.get("profile").filter(|profile| matches!(&profile.data, Data::Text(word) if word.trim() == KERNEL));
    // A kernel's own preset is that of its system.
    let usual = kernel.map(|profile| Node { origin: profile.origin.clone(), data: Data::Text("linux".to_owned()) });
    let Some((host, origin)) = flow.get("host").or(usual.as_ref()).map(|host| (host, host.origin.clone())) else { return };
    let Some(preset) = resolve(host) else { return };
    let mut preset = placed(preset, &origin);
    if flow.get("congestion_control").is_some_and(|control| !matches!(&control.data, Data::Text(word) if word == "composed")) {
        for axis in CONTROL_AXES {
            preset.remove(axis);
        }
    }
    if let Data::Table(entries) = &mut preset.data {
        entries.push(("profile".to_owned(), Node { origin, data: Data::Text("modern".to_owned()) }));
    }
    fill(flow, preset, MODERN);
}

/// The name and the version in a flow's `host`.
fn named(host: &Node) -> Option<(&str, Option<&str>)> {
    fn text(node: &Node) -> Option<&str> {
        if let Data::Text(text) = &node.data { Some(text) } else { None }
    }
    if let Some(name) = text(host) {
        return Some((name, None));
    }
    let name = text(host.get("kind")?)?;
    match host.get("version") {
        None => Some((name, None)),
        Some(version) => Some((name, Some(text(version)?))),
    }
}

/// The keys for which `host` stands; `None` if there is no such preset or version.
fn resolve(host: &Node) -> Option<Node> {
    let (name, version) = named(host)?;
    let mut preset = HOSTS.read(name)?;
    if let Some(other) = preset.remove("host") {
        return resolve(&other).filter(|_| version.is_none());
    }
    preset.remove("versions");
    let changes = preset.remove("before");
    if let Some(version) = version {
        check_version(name, version).ok()?;
        let wanted = numbers(version)?;
        if let Some(Node { data: Data::List(changes), .. }) = changes {
            for mut change in changes {
                let Some(Node { data: Data::Text(before), .. }) = change.remove("version") else { continue };
                if numbers(&before).is_some_and(|before| wanted < before) {
                    replace(&mut preset, change);
                }
            }
        }
    }
    Some(preset)
}

/// The numbers of a version such as "6.18".
fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|number| number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))).collect()
}

/// The oldest and the newest version of the preset `name`, if it has versions.
fn versions(name: &str) -> Option<[String; 2]> {
    let preset = HOSTS.read(name)?;
    let Data::List(ends) = &preset.get("versions")?.data else { return None };
    match &ends[..] {
        [Node { data: Data::Text(oldest), .. }, Node { data: Data::Text(newest), .. }] => Some([oldest.clone(), newest.clone()]),
        _ => None,
    }
}

/// Checks that the known preset `name` has the version `version`.
pub(crate) fn check_version(name: &str, version: &str) -> Result<(), String> {
    let Some([oldest, newest]) = versions(name) else {
        let others: Vec<&str> = HOSTS.names.iter().copied().filter(|name| versions(name).is_some()).collect();
        return Err(format!("the host {} has no versions; hosts that have: {}", quoted(name), others.join(", ")));
    };
    let wanted = check_numbers(version, &newest)?;
    for (end, is_beyond, word) in
        [(&oldest, numbers(&oldest) > Some(wanted.clone()), "oldest"), (&newest, is_newer(&wanted, &newest), "newest")]
    {
        if is_beyond {
            return Err(format!("there is no host {} {}; the {word} version is {end:?}", quoted(name), quoted(version)));
        }
    }
    Ok(())
}

/// The numbers of a version; `usual` is one to suggest.
pub(crate) fn check_numbers(version: &str, usual: &str) -> Result<Vec<u32>, String> {
    numbers(version).ok_or_else(|| {
        let digits = version.trim_start_matches(|byte: char| !byte.is_ascii_digit());
        let end = digits.find(|byte: char| !byte.is_ascii_digit() && byte != '.').unwrap_or(digits.len());
        let right = Some(digits[..end].trim_end_matches('.')).filter(|right| !right.is_empty()).unwrap_or(usual);
        format!("must be the numbers of a version, but is {}; did you mean {right:?}?", quoted(version))
    })
}

/// Whether the version `wanted` is newer than `newest`, whose patch releases it may be.
fn is_newer(wanted: &[u32], newest: &str) -> bool {
    numbers(newest).is_some_and(|newest| wanted.iter().take(newest.len()).gt(newest.iter()))
}

/// Replaces entries of `table`, and of its table `modern`, by those of `changes`.
fn replace(table: &mut Node, changes: Node) {
    let (Data::Table(entries), Data::Table(changes)) = (&mut table.data, changes.data) else { return };
    for (key, value) in changes {
        match entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) if key == MODERN => replace(old, value),
            Some((_, old)) => *old = value,
            None => entries.push((key, value)),
        }
    }
}

/// Every preset as JSON: summary, notes, and settings with their sources.
pub fn hosts_json() -> Json {
    let described = HOSTS.describe().zip(HOSTS.names).map(|(mut host, name)| {
        host["versions"] = json!(versions(name));
        host
    });
    described.collect()
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
