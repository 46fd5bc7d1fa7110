//! Flows whose hosts are a Linux kernel, beside simulated ones: `profile = "kernel"` and the table `kernel`.

use serde_json::{Map, Value as Json, json};

use crate::scenario::check::Record;
use crate::scenario::error::{Origin, Problems};
use crate::scenario::flow_keys::is_kernel;
use crate::scenario::hosts;
use crate::scenario::model::{Given, KernelSpec};
use crate::scenario::text::quoted;

/// The kernel of a flow in the file `file`.
pub(crate) fn read(table: &Record, file: &str) -> Option<KernelSpec> {
    if !is_kernel(table) {
        return None;
    }
    let keys = table.table("kernel")?;
    let given = |value: &str, origin: &Origin, key: &str| {
        let place = match origin {
            Origin::Nowhere | Origin::Row(_) => file.to_owned(),
            Origin::Line(line) => format!("{file}:{line}"),
            Origin::Elsewhere(setting) => setting.to_string(),
        };
        Given { value: value.to_owned(), place: format!("{place}: {key}") }
    };
    let text = |name| keys.text(name).map(|value| given(value, &keys.field(name).origin, &keys.key(name)));
    let named = |name: &str| {
        let found = keys.names(name).iter();
        let path = keys.key(name);
        found.map(|(parameter, value, origin)| (parameter.clone(), given(value, origin, &format!("{path}.{parameter}")))).collect()
    };
    Some(KernelSpec { version: text("version"), control: text("control"), sysctl: named("sysctl"), module: named("module") })
}

/// The table `kernel` of a frozen scenario.
pub(crate) fn write(kernel: &KernelSpec) -> Json {
    let texts = [("version", &kernel.version), ("control", &kernel.control)];
    let texts = texts.into_iter().filter_map(|(key, given)| Some((key.to_owned(), json!(given.as_ref()?.value))));
    let tables = [("sysctl", &kernel.sysctl), ("module", &kernel.module)].into_iter().filter(|(_, named)| !named.is_empty());
    let table = |named: &[(String, Given)]| named.iter().map(|(name, given)| (format!("{name:?}"), json!(given.value))).collect();
    let tables = tables.map(|(key, named)| (key.to_owned(), Json::Object(table(named))));
    Json::Object(texts.chain(tables).collect::<Map<_, _>>())
}

/// Checks the keys of a kernel.
pub(crate) fn check(flow: &Record, problems: &mut Problems) {
    let Some(keys) = flow.table("kernel") else { return };
    if !is_kernel(flow) {
        if flow.field("kernel").given {
            problems.add(&flow.field("kernel").origin, flow.key("kernel"), "requires profile = \"kernel\"");
        }
        return;
    }
    if let Some(version) = keys.text("version")
        && let Err(message) = hosts::check_numbers(version, "6.12")
    {
        problems.add(&keys.field("version").origin, keys.key("version"), message);
    }
    if keys.field("control").given && flow.field("congestion_control").given {
        let what = "cannot be combined with kernel.control, which names a control of the kernel";
        problems.add(&flow.field("congestion_control").origin, flow.key("congestion_control"), what);
    }
}

/// Checks that the flows which share a kernel agree on it.
pub(crate) fn check_shared(flows: &[&Record], problems: &mut Problems) {
    let kernels: Vec<&Record> = flows.iter().filter(|flow| is_kernel(flow)).filter_map(|flow| flow.table("kernel")).collect();
    check_versions(&kernels, problems);
    check_modules(&kernels, problems);
}

fn check_versions(kernels: &[&Record], problems: &mut Problems) {
    let mut versions = kernels.iter().filter_map(|keys| Some((keys, keys.text("version")?)));
    let Some((first, version)) = versions.next() else { return };
    for (keys, other) in versions.filter(|(_, other)| *other != version) {
        let (key, other) = (first.key("version"), quoted(other));
        let what = format!("is {other}, but {key} is {}: all flows on a kernel share one", quoted(version));
        problems.add(&keys.field("version").origin, keys.key("version"), what);
    }
}

fn check_modules(kernels: &[&Record], problems: &mut Problems) {
    let mut modules: Vec<(&str, &str, String)> = Vec::new();
    for keys in kernels {
        for (name, value, origin) in keys.names("module") {
            let key = format!("{}.{name}", keys.key("module"));
            match modules.iter().find(|(known, ..)| known == name) {
                Some((_, known, first)) if known != value => {
                    let what = format!("is {}, but {first} is {}: all flows on a kernel share it", quoted(value), quoted(known));
                    problems.add(origin, key, what);
                }
                Some(_) => {}
                None => modules.push((name, value, key)),
            }
        }
    }
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
