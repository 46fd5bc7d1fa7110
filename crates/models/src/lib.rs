//! Analytic models: throughput, window and efficiency by formula, or by a Markov chain without a network.
//!
//! A [`Model`] is a pure function from parameters to named numbers; a simulated model has its seed among the parameters. Models declare
//! parameters and outputs as the parts of `ackclock-core` do, but are not parts of a scenario.
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "the documents' numbers are exact, so the tests compare exactly"))]

pub(crate) mod flow_sizes;
mod model;
pub(crate) mod params;
pub(crate) mod replicator;
#[cfg(test)]
mod testing;

pub use model::{Model, Numbers, Trace, TraceColumn};
pub(crate) use model::{column, columns};

use ackclock_core::entry::entries;

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
