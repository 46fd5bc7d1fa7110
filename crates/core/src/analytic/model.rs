//! A model: parameters in, named numbers out.

use crate::entry::{Description, Quantity, header, quantity};
use crate::params::{Param, Params};

/// Every step of one run of a model.
#[derive(Debug)]
pub struct Trace {
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its columns.
    pub columns: &'static [TraceColumn],
    /// Checks what bounds of single parameters cannot say, and computes the columns in their order; a column for each number of a list
    /// stands once for each of them.
    pub evaluate: fn(&Params) -> Result<Vec<Vec<f64>>, String>,
}

/// A column of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceColumn {
    /// Name, unit and meaning.
    pub quantity: Quantity,
    /// What its numbers are.
    pub kind: Numbers,
    /// The parameter, a list, for each number of which there is such a column; its name is followed by `_` and the number.
    pub each: Option<&'static str>,
}

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Any.
    Real,
    /// Whole ones.
    Whole,
    /// 0 and 1: whether.
    Bool,
}

/// Declares a column of a trace.
pub(crate) const fn column(name: &'static str, unit: &'static str, doc: &'static str) -> TraceColumn {
    TraceColumn { quantity: quantity(name, unit, doc), kind: Numbers::Real, each: None }
}

impl TraceColumn {
    /// The same with numbers of another kind.
    #[must_use]
    pub(crate) const fn of(self, kind: Numbers) -> Self {
        Self { kind, ..self }
    }

    /// The same once for each number of a parameter.
    #[must_use]
    pub(crate) const fn for_each(self, list: &'static str) -> Self {
        Self { each: Some(list), ..self }
    }

    /// The names of its columns in a trace with such parameters.
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
    /// Its name, that of its file.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is described: paper or RFC.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// What it gives.
    pub outputs: &'static [Quantity],
    /// The parameter over which it is usually drawn.
    pub axis: &'static str,
    /// Whether it draws random numbers, so that an output is one of a sample.
    pub simulated: bool,
    /// Whether one evaluation takes longer than a thread does to start.
    pub slow: bool,
    /// Name of the paper that proposes it, if that is one of the laboratory's: its folder in `papers`.
    pub paper: Option<&'static str>,
    /// Checks what bounds of single parameters cannot say, and computes the outputs in their order. An output that is not defined for
    /// these parameters is NaN; one without limit is infinite.
    pub evaluate: fn(&Params) -> Result<Vec<f64>, String>,
    /// Every step of one run, if the model has a trace.
    pub trace: Option<Trace>,
}

/// Rows of numbers as columns.
pub(crate) fn columns<const N: usize>(rows: impl Iterator<Item = [f64; N]>) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(rows.size_hint().0); N];
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number));
    }
    columns
}

impl Model {
    /// Describes this model, whose file has the text `source`.
    pub fn describe(&self, source: &'static str) -> Description {
        let Self { name, summary, reference, params, outputs: quantities, .. } = *self;
        Description { name, summary, reference, params, quantities, header: header(source) }
    }
}
