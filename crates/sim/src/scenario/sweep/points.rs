//! The runs of a sweep.

use std::sync::Arc;

use crate::scenario::document::{Document, Variant};
use crate::scenario::error::{Origin, Problems, ScenarioError};
use crate::scenario::sweep::axis::{Axis, Form, check_paths, count, overridden, read, try_settings};
use crate::scenario::sweep::sample::SampleRequest;
use crate::scenario::sweep::series::MAX_VARIANTS;
use crate::scenario::sweep::table::{TableColumn, TableRequest};
use crate::scenario::value::{Data, Node};

/// What a sweep needs from outside: drawn points, and the columns of a table.
#[derive(Clone, Debug, Default)]
pub struct SweepData {
    /// The points for [`SweepNeeds::sample`], one after the other.
    pub sample: Option<Arc<[f64]>>,
    /// The columns of [`SweepNeeds::table`].
    pub table: Option<Vec<Arc<TableColumn>>>,
}

/// What a sweep needs as [`SweepData`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepNeeds {
    /// The points to draw for `[sweep.sample]`.
    pub sample: Option<SampleRequest>,
    /// The rows of `[sweep.paths]`.
    pub table: Option<TableRequest>,
}

/// The runs of `[sweep]`: every combination of the axes' values in the order of the file; the last axis changes fastest. Each is made when
/// it is asked for, so that their number takes no memory.
#[derive(Clone, Debug)]
pub struct Points {
    /// The scenario without `[sweep]`.
    base: Document,
    axes: Vec<Axis>,
    len: usize,
}

impl Points {
    /// Number of runs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none; a sweep has at least one run.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The run `index`. [`Document::scenario`] checks it.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Variant> {
        if index >= self.len {
            return None;
        }
        let mut variant = Variant { labels: Vec::new(), document: self.base.clone() };
        let mut below = self.len;
        for axis in &self.axes {
            below /= axis.len();
            axis.add(index / below % axis.len(), &mut variant.labels, &mut variant.document.settings);
        }
        Some(variant)
    }

    /// All runs.
    pub fn iter(&self) -> impl Iterator<Item = Variant> {
        (0..self.len).filter_map(|index| self.get(index))
    }
}

impl Document {
    /// What the runs of `[sweep]` need as [`SweepData`].
    ///
    /// # Errors
    /// If `[sweep]` is wrong.
    pub fn sweep_needs(&self) -> Result<SweepNeeds, ScenarioError> {
        let mut problems = Problems::default();
        let (_, axes) = self.axes(&mut problems);
        let axes = problems.unless_any(&self.file, axes)?;
        let sample = |axis: &Axis| if let Form::Sample(sample) = &axis.form { Some(sample.request.clone()) } else { None };
        let table = |axis: &Axis| if let Form::Table(table) = &axis.form { Some(table.request.clone()) } else { None };
        Ok(SweepNeeds { sample: axes.iter().find_map(sample), table: axes.iter().find_map(table) })
    }

    /// The runs of `[sweep]`. Without `[sweep]`: one run without labels.
    ///
    /// # Errors
    /// If `[sweep]` is wrong, makes more than a million runs, or needs data that is not given.
    pub fn points(&self, data: &SweepData) -> Result<Points, ScenarioError> {
        let mut problems = Problems::default();
        let (base, mut axes) = self.axes(&mut problems);
        for axis in &mut axes {
            let place = Node { origin: axis.origin.clone(), data: Data::Bool(false) };
            match &mut axis.form {
                Form::Sample(sample) => {
                    if let Err(message) = sample.take(data.sample.as_ref()) {
                        problems.add(&axis.origin, axis.key.as_str(), message);
                    }
                }
                Form::Table(table) => {
                    table.take(&place, data.table.as_deref(), &mut problems);
                    let settings: Vec<_> = if table.len() == 0 { Vec::new() } else { table.get(0).collect() };
                    try_settings(&settings, "", &base, &mut problems);
                    overridden(table.paths(), &base, &mut problems);
                }
                Form::Named(..) | Form::Together(_) => {}
            }
        }
        // Only now the columns of a table are known.
        check_paths(&axes, &mut problems);
        let len = count(&axes);
        if len > MAX_VARIANTS {
            let origin = self.tree(&mut Problems::default()).get("sweep").map_or(Origin::Nowhere, |sweep| sweep.origin.clone());
            problems.add(&origin, "sweep", format!("makes more than {MAX_VARIANTS} variants"));
        }
        let base = Self { file: self.file.clone(), python: self.python, files: self.files, tree: Arc::new(base), settings: Vec::new() };
        problems.unless_any(&self.file, Points { base, axes, len })
    }

    /// The scenario without `[sweep]`, and its axes.
    fn axes(&self, problems: &mut Problems) -> (Node, Vec<Axis>) {
        let mut base = self.tree(problems);
        let sweep = base.remove("sweep");
        let axes = sweep.map_or_else(Vec::new, |sweep| read(&sweep, &base, self.folder(), problems));
        (base, axes)
    }
}
