//! A model: a function from parameters to named numbers.

use ackclock_core::entry::{Description, Quantity, quantity};
use ackclock_core::params::{Param, Params};

/// A record of every step of a model's run.
#[derive(Debug)]
pub struct Trace {
    /// One-line description.
    pub summary: &'static str,
    /// The declared columns.
    pub columns: &'static [TraceColumn],
    /// Checks constraints between parameters and computes the columns in order. A column declared for a list parameter yields one column
    /// per number of the list.
    pub evaluate: fn(&Params) -> Result<Vec<Vec<f64>>, String>,
}

/// A column of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceColumn {
    /// Name, unit and meaning.
    pub quantity: Quantity,
    /// The kind of its numbers.
    pub kind: Numbers,
    /// A list parameter: the column exists once for each of its numbers, which follows the name after `_`.
    pub each: Option<&'static str>,
}

/// The kind of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Real numbers.
    Real,
    /// Whole numbers.
    Whole,
    /// Booleans, as 0 and 1.
    Bool,
}

/// Declares a column of a trace.
pub(crate) const fn column(name: &'static str, unit: &'static str, doc: &'static str) -> TraceColumn {
    TraceColumn { quantity: quantity(name, unit, doc), kind: Numbers::Real, each: None }
}

impl TraceColumn {
    /// The column with another kind of numbers.
    #[must_use]
    pub(crate) const fn of(self, kind: Numbers) -> Self {
        Self { kind, ..self }
    }

    /// The column once for each number of the parameter `list`.
    #[must_use]
    pub(crate) const fn for_each(self, list: &'static str) -> Self {
        Self { each: Some(list), ..self }
    }

    /// The column names in a trace with these parameters.
    pub fn names(&self, params: &Params) -> Vec<String> {
        let name = self.quantity.name;
        match self.each {
            None => vec![name.to_owned()],
            Some(list) => params.numbers(list).iter().map(|number| format!("{name}_{number}")).collect(),
        }
    }
}

/// A model in the registry.
#[derive(Debug)]
pub struct Model {
    /// Name of the model and of its file.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// The paper or RFC that describes it.
    pub reference: &'static str,
    /// The parameters.
    pub params: &'static [Param],
    /// The outputs.
    pub outputs: &'static [Quantity],
    /// The parameter on the horizontal axis of its usual plot.
    pub axis: &'static str,
    /// Whether the model draws random numbers, so an output is one sample.
    pub simulated: bool,
    /// Whether an evaluation takes longer than the start of a thread.
    pub slow: bool,
    /// The folder in `papers` of the paper that proposes the model, if the laboratory reproduces that paper.
    pub paper: Option<&'static str>,
    /// Checks constraints between parameters and computes the outputs in order. An undefined output is NaN; an unbounded one is infinite.
    pub evaluate: fn(&Params) -> Result<Vec<f64>, String>,
    /// The trace of a run, if the model has one.
    pub trace: Option<Trace>,
}

/// Transposes rows of numbers into columns.
pub(crate) fn columns<const N: usize>(rows: impl Iterator<Item = [f64; N]>) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(rows.size_hint().0); N];
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
    }
    columns
}

impl Model {
    /// Describes this model; `header` is the opening comment of its file.
    pub const fn describe(&self, header: &'static str) -> Description {
        let Self { name, summary, reference, params, outputs: quantities, .. } = *self;
        Description { name, summary, reference, params, quantities, header }
    }
}
