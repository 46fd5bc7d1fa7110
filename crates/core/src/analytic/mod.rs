//! Analytic models: throughputs, windows and efficiencies by formula, or by a chain so simple that it needs no network.
//!
//! A [`Model`] is a pure function from parameters to named numbers; a simulated one has its seed among the parameters.

pub use crate::registry::analytic::*;

pub(crate) mod flow_sizes;
pub(crate) mod params;
pub(crate) mod replicator;

use crate::registry::{Param, Params};

/// One number that a model gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// Its unit as people write it; empty for a plain number.
    pub unit: &'static str,
    /// What it is: one line.
    pub doc: &'static str,
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
    pub outputs: &'static [Output],
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
}

/// Finds a model by name.
pub fn find(name: &str) -> Option<&'static Model> {
    ENTRIES.iter().copied().find(|model| model.name == name)
}

/// Declares an output.
pub(crate) const fn output(name: &'static str, unit: &'static str, doc: &'static str) -> Output {
    Output { name, unit, doc }
}

/// The parameters of `model` with their defaults, and some of them set.
#[cfg(test)]
pub(crate) fn with(model: &Model, settings: &[(&str, f64)]) -> Params {
    let mut params = Params::defaults(model.params);
    for (name, value) in settings {
        params.set(name, crate::registry::Value::Number(*value));
    }
    params
}

/// The output `name` of `model` for such parameters.
#[cfg(test)]
pub(crate) fn compute(model: &Model, settings: &[(&str, f64)], name: &str) -> f64 {
    pick(model, &with(model, settings), name)
}

/// The output `name` of `model`.
#[cfg(test)]
pub(crate) fn pick(model: &Model, params: &Params, name: &str) -> f64 {
    let place = model.outputs.iter().position(|output| output.name == name);
    (model.evaluate)(params).unwrap()[place.unwrap_or_else(|| panic!("there is no output {name}"))]
}
