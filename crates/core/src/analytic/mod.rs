//! Analytic models: throughputs, windows and efficiencies by formula, or by a chain so simple that it needs no network.
//!
//! A [`Model`] is a pure function from parameters to named numbers; a simulated one has its seed among the parameters.

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

/// The parameters of `model` with their defaults, and some of them set.
#[cfg(test)]
pub(crate) fn with(model: &Model, settings: &[(&str, f64)]) -> Params {
    let mut params = Params::defaults(model.params);
    for (name, value) in settings {
        params.set(name, crate::params::Value::Number(*value));
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
