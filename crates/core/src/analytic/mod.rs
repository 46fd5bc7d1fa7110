//! Analytic models: throughput, window and efficiency by formula, or by a Markov chain without a network.
//!
//! A [`Model`] is a pure function from parameters to named numbers; a simulated model has its seed among the parameters.

pub(crate) mod flow_sizes;
mod model;
pub(crate) mod params;
pub(crate) mod replicator;

pub use model::{Model, Numbers, Trace, TraceColumn};
pub(crate) use model::{column, columns};

use crate::entry::entries;
#[cfg(test)]
use crate::params::Params;

entries! { Model:
    mathis,
    pftk,
    response,
    bdp,
    rbt,
    rounds,
    initial_window,
    population,
    sliding_window,
    arq,
    growth,
}

/// Finds a model by name.
pub fn find(name: &str) -> Option<&'static Model> {
    ENTRIES.iter().copied().find(|model| model.name == name)
}

/// The defaults of `model`'s parameters with some values replaced.
#[cfg(test)]
pub(crate) fn with(model: &Model, settings: &[(&str, f64)]) -> Params {
    let mut params = Params::defaults(model.params);
    for (name, value) in settings {
        params.set(name, crate::params::Value::Number(*value));
    }
    params
}

/// The output `name` of `model` with these parameters.
#[cfg(test)]
pub(crate) fn compute(model: &Model, settings: &[(&str, f64)], name: &str) -> f64 {
    pick(model, &with(model, settings), name)
}

/// The output `name` of `model`.
#[cfg(test)]
pub(crate) fn pick(model: &Model, params: &Params, name: &str) -> f64 {
    let place = model.outputs.iter().position(|output| output.name == name);
    (model.evaluate)(params).unwrap()[place.unwrap_or_else(|| panic!("no output named {name}"))]
}
