//! A model: parameters in, named numbers out.

use crate::params::{Param, Params};

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

/// Declares an output.
pub(crate) const fn output(name: &'static str, unit: &'static str, doc: &'static str) -> Output {
    Output { name, unit, doc }
}
