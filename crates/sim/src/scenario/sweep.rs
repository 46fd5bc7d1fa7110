//! `[sweep]`: the grid of all combinations of the axes' values.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::scenario::error::Problems;
use crate::scenario::setting::Setting;
use crate::scenario::spec::ROOT;
use crate::scenario::text::quoted;
use crate::scenario::value::{Data, Node};

/// One axis: its name, and its values with their labels.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Name in tables and plots.
    pub(crate) name: String,
    /// At least one value.
    pub(crate) values: Vec<Value>,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Name in tables and plots.
    pub(crate) label: String,
    /// Settings of this value.
    pub(crate) settings: Vec<Arc<Setting>>,
}

/// Largest number of variants of a sweep.
pub(crate) const MAX_VARIANTS: usize = 1_000_000;

/// The axes of `sweep`. `base` is the scenario without `[sweep]`; each path is tried on it.
pub(crate) fn axes(sweep: &Node, base: &Node, problems: &mut Problems) -> Vec<Axis> {
    let Data::Table(entries) = &sweep.data else {
        problems.add(&sweep.origin, "sweep", format!("must be a table, but is {}", sweep.data.noun()));
        return Vec::new();
    };
    let mut axes = Vec::new();
    for (name, node) in entries {
        read_axis(name, node, &mut axes, problems);
    }
    for axis in &axes {
        check_axis(axis, sweep, problems);
        // The validity of a path does not depend on the value, so one value per path is tried.
        let mut tried = BTreeSet::new();
        for setting in axis.values.iter().flat_map(|value| &value.settings).filter(|setting| tried.insert(setting.path.as_str())) {
            if let Err(message) = setting.apply(&mut base.clone()) {
                problems.add(&setting.value.origin, format!("sweep.{}", setting.path), message);
            }
        }
    }
    let count = axes.iter().fold(1_usize, |product, axis| product.saturating_mul(axis.values.len()));
    if count > MAX_VARIANTS {
        problems.add(&sweep.origin, "sweep", format!("makes more than {MAX_VARIANTS} variants"));
    }
    axes
}

/// The axis of `sweep` that sets `key` or a table that contains it, if there is one.
pub(crate) fn axis_over(sweep: &Node, key: &str) -> Option<String> {
    let Data::Table(entries) = &sweep.data else { return None };
    let mut axes = Vec::new();
    for (name, node) in entries {
        // Problems of an axis are reported when the scenario is built.
        read_axis(name, node, &mut axes, &mut Problems::default());
    }
    let covers = |path: &str| key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let sets = |axis: &Axis| axis.values.iter().flat_map(|value| &value.settings).any(|setting| covers(&setting.path));
    axes.into_iter().find(|axis| sets(axis)).map(|axis| axis.name)
}

fn check_axis(axis: &Axis, sweep: &Node, problems: &mut Problems) {
    let key = format!("sweep.{}", axis.name);
    let origin = sweep.get(&axis.name).map_or(&sweep.origin, |node| &node.origin);
    if axis.values.is_empty() {
        problems.add(origin, key.as_str(), "has no values");
    }
    let mut labels: Vec<&str> = axis.values.iter().map(|value| value.label.as_str()).collect();
    labels.sort_unstable();
    if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
        problems.add(origin, key, format!("has {} twice", quoted(twice[0])));
    }
}

/// Reads the axis `name`. A key's path can also be nested tables: TOML reads an unquoted path this way.
fn read_axis(name: &str, node: &Node, axes: &mut Vec<Axis>, problems: &mut Problems) {
    let key = || format!("sweep.{name}");
    let of_run = ROOT.iter().any(|key| name.split('.').next() == Some(key.name));
    match &node.data {
        Data::List(items) => {
            axes.push(Axis { name: name.to_owned(), values: items.iter().map(|item| value(name, item.clone())).collect() });
        }
        Data::Table(entries) if is_range(entries) => match range(node) {
            Ok(items) => axes.push(Axis { name: name.to_owned(), values: items.into_iter().map(|item| value(name, item)).collect() }),
            Err(message) => problems.add(&node.origin, key(), message),
        },
        Data::Table(entries) if of_run => {
            for (step, below) in entries {
                read_axis(&format!("{name}.{step}"), below, axes, problems);
            }
        }
        Data::Table(entries) => {
            let mut values = Vec::new();
            for (label, settings) in entries {
                if let Data::Table(settings) = &settings.data {
                    let mut found = Vec::new();
                    for (path, value) in settings {
                        flatten(path, value, &mut found);
                    }
                    values.push(Value { label: label.clone(), settings: found });
                } else {
                    let message = format!(
                        "must be a table of settings such as {{ \"flow.rwnd\" = \"20 packets\" }}, but is {}",
                        settings.data.noun()
                    );
                    problems.add(&settings.origin, format!("sweep.{name}.{label}"), message);
                }
            }
            axes.push(Axis { name: name.to_owned(), values });
        }
        other => problems.add(
            &node.origin,
            key(),
            format!("must be a list of values or a range {{ from = 1, to = 30 }}, but is {}", other.noun()),
        ),
    }
}

fn value(path: &str, value: Node) -> Value {
    Value { label: value.label(), settings: vec![Arc::new(Setting { path: path.to_owned(), value })] }
}

/// Collects settings, which are nested if a path was written without quotes. A table with a `kind` is a value.
fn flatten(path: &str, value: &Node, found: &mut Vec<Arc<Setting>>) {
    match &value.data {
        Data::Table(entries) if value.get("kind").is_none() && !entries.is_empty() => {
            for (step, below) in entries {
                flatten(&format!("{path}.{step}"), below, found);
            }
        }
        _ => found.push(Arc::new(Setting { path: path.to_owned(), value: value.clone() })),
    }
}

fn is_range(entries: &[(String, Node)]) -> bool {
    let known = |(key, node): &(String, Node)| {
        ["from", "to", "step"].contains(&key.as_str()) && !matches!(node.data, Data::Table(_) | Data::List(_))
    };
    !entries.is_empty() && entries.iter().all(known)
}

fn range(node: &Node) -> Result<Vec<Node>, String> {
    let number = |key| match node.get(key).map(|node| &node.data) {
        Some(Data::Integer(number)) => i64::try_from(*number).ok(),
        None if key == "step" => Some(1),
        _ => None,
    };
    let (Some(from), Some(to), Some(step)) = (number("from"), number("to"), number("step")) else {
        return Err("a range needs whole numbers: { from = 1, to = 30 }".to_owned());
    };
    if step < 1 || to < from {
        return Err("a range must increase: from ≤ to, step ≥ 1".to_owned());
    }
    if (i128::from(to) - i128::from(from)) / i128::from(step) >= MAX_VARIANTS as i128 {
        return Err(format!("has more than {MAX_VARIANTS} values"));
    }
    let numbers = (from..=to).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    Ok(numbers.map(|number| Node { origin: node.origin.clone(), data: Data::Integer(number.into()) }).collect())
}

/// Every combination of the axes' values; the last axis changes fastest.
pub(crate) fn grid(axes: &[Axis]) -> Vec<Vec<&Value>> {
    let mut rows = vec![Vec::with_capacity(axes.len())];
    for axis in axes {
        let longer = |row: &Vec<_>| axis.values.iter().map(|value| row.iter().copied().chain([value]).collect()).collect::<Vec<_>>();
        rows = rows.iter().flat_map(longer).collect();
    }
    rows
}
