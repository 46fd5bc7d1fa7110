//! Scenarios: from a TOML file to what the engine runs.

mod model;

pub use model::*;
