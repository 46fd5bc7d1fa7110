//! A scenario as it was written: a tree of values, and the way from it to a [`Scenario`].

use std::path::Path;
use std::sync::Arc;

use crate::scenario::build::{self, Built, Context, Python, build};
use crate::scenario::error::{Origin, Problems, ScenarioError};
use crate::scenario::model::{ControlSpec, Makers, Scenario, SlowStartSpec};
use crate::scenario::setting::{self, Setting};
use crate::scenario::toml_reader::read_toml;
use crate::scenario::value::{Node, read_json};
use crate::scenario::{amount, freeze, hosts, links, sweep, text};

/// Largest number of settings that a document keeps beside its tree.
const MAX_SETTINGS: usize = 16;

/// A parsed, not yet validated scenario: a tree of values. Each value knows where it was written.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the file, for messages.
    pub(super) file: Arc<str>,
    /// Whether the document comes from the Python API.
    pub(super) python: bool,
    /// Whether it may name files, which are then read.
    pub(super) files: bool,
    /// Shared by the variants of a sweep, which differ only in their settings.
    pub(super) tree: Arc<Node>,
    /// Settings not yet applied to the tree.
    pub(super) settings: Vec<Arc<Setting>>,
}

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name of each axis of the sweep, with the label of this run's value.
    pub labels: Vec<(String, String)>,
    /// The scenario, without `[sweep]`.
    pub document: Document,
}

impl Document {
    /// Reads TOML. `name` is the file name in messages.
    ///
    /// # Errors
    /// If `text` is not TOML; reports every wrong line.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        // Counted in the text, because its tree takes up to 180 times as much memory.
        let tables = text.lines().filter(|line| line.trim_start().starts_with("[[flow]]")).count() as u64;
        let large = build::has_too_many_tables(tables, &mut problems) || amount::is_too_much(text, &mut problems);
        let text = if large { "" } else { text };
        let tree = Arc::new(read_toml(text, &mut problems));
        problems.unless_any(name, Self { file: name.into(), python: false, files: true, tree, settings: Vec::new() })
    }

    /// Reads JSON, the form in which the Python API passes scenarios. `name` is the file name in messages.
    ///
    /// # Errors
    /// If `text` is not a JSON object.
    pub fn from_json(text: &str, name: &str) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        let tree = Arc::new(read_json(text, &mut problems));
        problems.unless_any(name, Self { file: name.into(), python: true, files: true, tree, settings: Vec::new() })
    }

    /// The document, in which a key that names a file to read is a problem.
    #[must_use]
    pub fn without_files(self) -> Self {
        Self { files: false, ..self }
    }

    /// The values that are written, with all settings, as JSON. Infinities and NaN are null.
    #[must_use]
    pub fn values(&self) -> serde_json::Value {
        self.tree(&mut Problems::default()).to_json()
    }

    /// The values that are written, with all settings and those of the presets of links, as JSON. Infinities and NaN are null.
    #[must_use]
    pub fn resolved(&self) -> serde_json::Value {
        let mut tree = self.tree(&mut Problems::default());
        links::apply(&mut tree);
        tree.to_json()
    }

    /// Sets the value at a dotted path: `flow.0.rwnd`, `flow.rwnd` (of every flow), `topology.bottleneck.queue.limit`. `value` is read as
    /// TOML or, failing that, as text.
    ///
    /// # Errors
    /// If the path passes through a value that is neither table nor list, or if `[sweep]` sets the key. [`Document::scenario`] later checks
    /// whether the key exists and accepts the value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ScenarioError> {
        self.set_all([(key, value)])
    }

    /// Sets several values in order, each as [`Document::set`] does.
    ///
    /// # Errors
    /// As [`Document::set`], for the first wrong value; the document is then as before.
    pub fn set_all<'a>(&mut self, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ScenarioError> {
        let mut problems = Problems::default();
        let (mut tree, mut set) = (self.tree(&mut problems), self.settings.clone());
        for (key, value) in settings {
            let origin = Origin::Elsewhere(format!("--set {key}={value}").into());
            let value = setting::value(key, value, &origin, &mut problems);
            let setting = Setting { path: key.to_owned(), value };
            if let Err(message) = setting.apply(&mut tree) {
                problems.add(&origin, key, message);
            }
            if let Some(axis) = tree.get("sweep").and_then(|sweep| sweep::axis_over(sweep, key)) {
                problems.add(
                    &origin,
                    key,
                    format!("is set by the axis {} of [sweep], which would override this value", text::quoted(&axis)),
                );
            }
            if !problems.is_empty() {
                break;
            }
            set.push(Arc::new(setting));
        }
        let tree = problems.unless_any(&self.file, tree)?;
        // A plan has hundreds of thousands of scenarios that differ in some values: these share a tree. Whoever sets value after value gets a
        // tree of his own.
        if set.len() <= MAX_SETTINGS {
            self.settings = set;
        } else {
            self.tree = Arc::new(tree);
            self.settings.clear();
        }
        Ok(())
    }

    /// Validates the document, fills in all defaults, and expands shorthands. `[sweep]` is checked but not expanded.
    ///
    /// # Errors
    /// All problems of the scenario.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        self.build().map(|built| built.scenario)
    }

    /// Like [`Document::scenario`], with the congestion controls and slow starts that are not in the registry.
    ///
    /// # Errors
    /// As [`Document::scenario`].
    pub fn scenario_with(&self, makers: &impl Makers) -> Result<Scenario, ScenarioError> {
        let Built { mut scenario, python, .. } = self.build()?;
        scenario.placeholder = false;
        for (flow, made) in scenario.flows.iter_mut().zip(python) {
            let Some((index, what)) = made else { continue };
            let found = match (what, &mut flow.control) {
                (Python::SlowStart, ControlSpec::Composed(parts)) => {
                    makers.slow_start(index).map(|made| parts.slow_start = SlowStartSpec::Custom(made))
                }
                (_, control) => makers.control(index).map(|made| *control = ControlSpec::Custom(made)),
            };
            scenario.placeholder |= found.is_none();
        }
        Ok(scenario)
    }

    /// The scenario as TOML, with every default, and with shorthands expanded to nodes, links and flows. Random arrivals stay as they are:
    /// with the seed, they determine their flows. Reading the text gives an equal scenario, unless a congestion control is a Python object,
    /// which no file can hold.
    ///
    /// # Errors
    /// As [`Document::scenario`].
    pub fn frozen(&self) -> Result<String, ScenarioError> {
        self.build().map(|built| freeze::to_toml(&freeze::freeze(&built, false)))
    }

    /// Like [`Document::frozen`], with a table for every flow that arrives.
    ///
    /// # Errors
    /// As [`Document::scenario`].
    pub fn expanded(&self) -> Result<String, ScenarioError> {
        self.build().map(|built| freeze::to_toml(&freeze::freeze(&built, true)))
    }

    /// The same as JSON, which is read faster.
    ///
    /// # Errors
    /// As [`Document::scenario`].
    pub fn expanded_json(&self) -> Result<String, ScenarioError> {
        self.build().map(|built| freeze::freeze(&built, true).to_string())
    }

    /// The scenario, and its text as of [`Document::frozen`]: one check for both.
    ///
    /// # Errors
    /// As [`Document::scenario`].
    pub fn scenario_and_frozen(&self) -> Result<(Scenario, String), ScenarioError> {
        self.build().map(|built| {
            let text = freeze::to_toml(&freeze::freeze(&built, false));
            (built.scenario, text)
        })
    }

    /// The tree with all settings applied.
    pub(super) fn tree(&self, problems: &mut Problems) -> Node {
        let mut tree = Node::clone(&self.tree);
        for setting in &self.settings {
            if let Err(message) = setting.apply(&mut tree) {
                problems.add(&setting.value.origin, setting.path.as_str(), message);
            }
        }
        tree
    }

    /// Folder of the files that the document names: that of its own file or, if it has none, the current directory.
    pub(super) fn folder(&self) -> &Path {
        if self.python { None } else { Path::new(&*self.file).parent() }.unwrap_or_else(|| Path::new(""))
    }

    fn build(&self) -> Result<Built, ScenarioError> {
        let mut problems = Problems::default();
        let mut tree = self.tree(&mut problems);
        if let Some(sweep) = tree.remove("sweep") {
            sweep::check(&sweep, &tree, self.folder(), &mut problems);
        }
        let stem = Path::new(&*self.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("scenario");
        hosts::apply(&mut tree);
        links::apply(&mut tree);
        let folder = self.files.then(|| self.folder());
        let built = build(&tree, Context { name: stem, file: &self.file, python: self.python, folder }, &mut problems);
        // `build` returns `None` only together with problems.
        match problems.unless_any(&self.file, built)? {
            Some(built) => Ok(built),
            None => unreachable!("a scenario without problems is built"),
        }
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
