//! The axes of `[sweep]`.

use std::path::Path;
use std::sync::Arc;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::setting::Setting;
use crate::scenario::spec::ROOT;
use crate::scenario::sweep::sample::Sample;
use crate::scenario::sweep::series::{MAX_VARIANTS, Series, is_range, repeated};
use crate::scenario::sweep::table::Table;
use crate::scenario::text::quoted;
use crate::scenario::value::{Data, Node};

/// One axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its key, for messages.
    pub(super) key: String,
    /// Where it was written.
    pub(super) origin: Origin,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Named values. The axis has a name of its own.
    Named(String, Vec<Value>),
    /// Keys that advance together; an axis over a single key has one.
    Together(Vec<Series>),
    Sample(Sample),
    Table(Table),
}

/// A named value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) label: String,
    pub(super) settings: Vec<Arc<Setting>>,
}

/// Checks `sweep`. `base` is the scenario without `[sweep]`; each path is tried on it.
pub(crate) fn check(sweep: &Node, base: &Node, folder: &Path, problems: &mut Problems) {
    read(sweep, base, folder, problems);
}

/// The axes of `sweep`.
pub(super) fn read(sweep: &Node, base: &Node, folder: &Path, problems: &mut Problems) -> Vec<Axis> {
    let Data::Table(entries) = &sweep.data else {
        problems.add(&sweep.origin, "sweep", format!("must be a table, but is {}", sweep.data.noun()));
        return Vec::new();
    };
    let mut axes = Vec::new();
    for (name, node) in entries {
        read_axis(name, node, folder, &mut axes, problems);
    }
    for axis in &axes {
        axis.check(problems);
        try_settings(&axis.examples(), "sweep.", base, problems);
    }
    check_paths(&axes, problems);
    if count(&axes) > MAX_VARIANTS {
        problems.add(&sweep.origin, "sweep", format!("makes more than {MAX_VARIANTS} variants"));
    }
    axes
}

/// Number of combinations; a table that was not read yet counts as one.
pub(super) fn count(axes: &[Axis]) -> usize {
    axes.iter().fold(1_usize, |product, axis| product.saturating_mul(axis.len().max(1)))
}

/// The axis of `sweep` that sets `key` or a table that contains it, if there is one.
pub(crate) fn axis_over(sweep: &Node, key: &str) -> Option<String> {
    // Problems of an axis are reported when the scenario is built.
    let Data::Table(entries) = &sweep.data else { return None };
    let (mut axes, mut ignored) = (Vec::new(), Problems::default());
    for (name, node) in entries {
        read_axis(name, node, Path::new(""), &mut axes, &mut ignored);
    }
    let covers = |path: &str| key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    axes.into_iter().find(|axis| axis.paths().any(covers)).map(|axis| axis.key["sweep.".len()..].to_owned())
}

/// Tries each path on the scenario. Its validity does not depend on the value, so one value for each path is enough.
pub(super) fn try_settings(settings: &[Arc<Setting>], prefix: &str, base: &Node, problems: &mut Problems) {
    for setting in settings {
        if let Err(message) = setting.apply(&mut base.clone()) {
            problems.add(&setting.value.origin, format!("{prefix}{}", setting.path), message);
        }
    }
}

/// Reports keys that two axes set. A named value may override an earlier one for some runs, so these are left out.
pub(super) fn check_paths(axes: &[Axis], problems: &mut Problems) {
    let plain: Vec<&Axis> = axes.iter().filter(|axis| !matches!(axis.form, Form::Named(..))).collect();
    for (index, axis) in plain.iter().enumerate() {
        for path in axis.paths() {
            if let Some(other) = plain[..index].iter().find(|other| other.paths().any(|earlier| earlier == path)) {
                problems.add(
                    &axis.origin,
                    axis.key.as_str(),
                    format!("sets {path}, which {}{} sets already", other.key, line(&other.origin)),
                );
            }
        }
    }
}

/// Reports keys of a table that `--set` sets too.
pub(super) fn overridden<'a>(paths: impl Iterator<Item = &'a str>, base: &Node, problems: &mut Problems) {
    for path in paths {
        let found = path.split('.').try_fold(base, |node, step| match &node.data {
            Data::List(items) => step.parse::<usize>().map_or_else(|_| items.first()?.get(step), |index| items.get(index)),
            _ => node.get(step),
        });
        if let Some(Node { origin: origin @ Origin::Elsewhere(_), .. }) = found {
            problems.add(origin, path, "is set by the table of [sweep.paths], which would override this value");
        }
    }
}

/// ` (line 3)`, if there is a line.
fn line(origin: &Origin) -> String {
    if let Origin::Line(line) = origin { format!(" (line {line})") } else { String::new() }
}

impl Axis {
    pub(super) fn len(&self) -> usize {
        match &self.form {
            Form::Named(_, values) => values.len(),
            Form::Together(series) => series.first().map_or(0, Series::len),
            Form::Sample(sample) => sample.request.count,
            Form::Table(table) => table.len(),
        }
    }

    /// Adds the labels and settings of the value `index` to those of a run.
    pub(super) fn add(&self, index: usize, labels: &mut Vec<(String, String)>, settings: &mut Vec<Arc<Setting>>) {
        let mut add = |setting: Arc<Setting>| {
            labels.push((setting.path.clone(), setting.value.label()));
            settings.push(setting);
        };
        match &self.form {
            Form::Named(name, values) => {
                labels.push((name.clone(), values[index].label.clone()));
                settings.extend(values[index].settings.iter().cloned());
            }
            Form::Together(series) => series.iter().for_each(|series| add(series.get(index))),
            Form::Sample(sample) => sample.get(index).for_each(add),
            Form::Table(table) => {
                table.get(index).for_each(add);
                if let Some(label) = table.label(index) {
                    labels.push(("paths".to_owned(), label.to_owned()));
                }
            }
        }
    }

    /// Paths of the keys that it sets; repeated if several values set a key.
    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.form {
            Form::Named(_, values) => Box::new(values.iter().flat_map(|value| &value.settings).map(|setting| setting.path.as_str())),
            Form::Together(series) => Box::new(series.iter().map(|series| series.path.as_str())),
            Form::Sample(sample) => Box::new(sample.paths()),
            Form::Table(table) => Box::new(table.paths()),
        }
    }

    /// A setting of each key, for a trial; a table is not read yet.
    fn examples(&self) -> Vec<Arc<Setting>> {
        match &self.form {
            Form::Named(_, values) => {
                let mut settings: Vec<_> = values.iter().flat_map(|value| &value.settings).cloned().collect();
                settings.sort_by(|a, b| a.path.cmp(&b.path));
                settings.dedup_by(|a, b| a.path == b.path);
                settings
            }
            Form::Together(series) => series.iter().filter(|series| series.len() > 0).map(|series| series.get(0)).collect(),
            Form::Sample(sample) => sample.examples().collect(),
            Form::Table(_) => Vec::new(),
        }
    }

    fn check(&self, problems: &mut Problems) {
        let mut refuse = |message: String| problems.add(&self.origin, self.key.as_str(), message);
        let labels = match &self.form {
            _ if self.len() == 0 && !matches!(self.form, Form::Table(_)) => return refuse("has no values".to_owned()),
            Form::Named(_, values) => repeated(values.iter().map(|value| value.label.clone()).collect()),
            Form::Together(series) if series.len() == 1 => series[0].repeated(),
            Form::Together(series) => {
                let row = |index| series.iter().map(|series| series.get(index).value.label()).collect::<Vec<_>>().join(", ");
                repeated((0..self.len()).map(row).collect())
            }
            Form::Sample(_) | Form::Table(_) => None,
        };
        if let Some(twice) = labels {
            refuse(format!("has {} twice", quoted(&twice)));
        }
    }
}

/// Reads the axis `name`. A key's path can also be nested tables: TOML reads an unquoted path this way.
fn read_axis(name: &str, node: &Node, folder: &Path, axes: &mut Vec<Axis>, problems: &mut Problems) {
    let key = format!("sweep.{name}");
    let of_run = ROOT.iter().any(|key| name.split('.').next() == Some(key.name));
    let mut add = |form| axes.push(Axis { key: key.clone(), origin: node.origin.clone(), form });
    match &node.data {
        _ if name == "sample" => {
            if let Some(sample) = Sample::read(node, problems) {
                add(Form::Sample(sample));
            }
        }
        _ if name == "paths" => {
            if let Some(table) = Table::read(node, folder, problems) {
                add(Form::Table(table));
            }
        }
        Data::Table(zips) if name == "zip" => {
            for (name, node) in zips {
                read_zip(name, node, axes, problems);
            }
        }
        _ if name == "zip" => {
            let example = "[sweep.zip.NAME] with a list for each key";
            problems.add(&node.origin, key, format!("must be a table of tables, {example}, but is {}", node.data.noun()));
        }
        Data::Table(entries) if of_run && !is_range(node) => {
            for (step, below) in entries {
                read_axis(&format!("{name}.{step}"), below, folder, axes, problems);
            }
        }
        Data::Table(entries) if !is_range(node) => add(Form::Named(name.to_owned(), named(name, entries, problems))),
        _ => match Series::read(name, node) {
            Ok(series) => add(Form::Together(vec![series])),
            Err(message) => problems.add(&node.origin, key, message),
        },
    }
}

/// Named values, each a table of settings.
fn named(name: &str, entries: &[(String, Node)], problems: &mut Problems) -> Vec<Value> {
    let mut values = Vec::new();
    for (label, settings) in entries {
        if let Data::Table(settings) = &settings.data {
            let mut found = Vec::new();
            for (path, value) in settings {
                flatten(path, value, &mut found);
            }
            values.push(Value { label: label.clone(), settings: found });
        } else {
            let message =
                format!("must be a table of settings such as {{ \"flow.rwnd\" = \"20 packets\" }}, but is {}", settings.data.noun());
            problems.add(&settings.origin, format!("sweep.{name}.{label}"), message);
        }
    }
    values
}

/// Reads `[sweep.zip.NAME]`: keys that advance together.
fn read_zip(name: &str, node: &Node, axes: &mut Vec<Axis>, problems: &mut Problems) {
    let key = format!("sweep.zip.{name}");
    let Data::Table(entries) = &node.data else {
        let message = format!("must be a table with a list or range for each key, but is {}", node.data.noun());
        return problems.add(&node.origin, key, message);
    };
    let mut zipped = Vec::new();
    for (path, node) in entries {
        read_zipped(path, node, &key, &mut zipped, problems);
    }
    if let [first, rest @ ..] = &zipped[..] {
        for series in rest.iter().filter(|series| series.len() != first.len()) {
            let (own, other) = (series.len(), first.len());
            let message = format!("has {own} values, but {}{} has {other}: zipped keys advance together", first.path, line(&first.origin));
            problems.add(&series.origin, format!("{key}.{}", series.path), message);
        }
        // The other problems of lists with different lengths would only repeat this one.
        if rest.iter().any(|series| series.len() != first.len()) {
            return;
        }
    }
    axes.push(Axis { key, origin: node.origin.clone(), form: Form::Together(zipped) });
}

fn read_zipped(path: &str, node: &Node, key: &str, zipped: &mut Vec<Series>, problems: &mut Problems) {
    match &node.data {
        Data::Table(entries) if !is_range(node) && !entries.is_empty() => {
            for (step, below) in entries {
                read_zipped(&format!("{path}.{step}"), below, key, zipped, problems);
            }
        }
        _ => match Series::read(path, node) {
            Ok(series) => zipped.push(series),
            Err(message) => problems.add(&node.origin, format!("{key}.{path}"), message),
        },
    }
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
