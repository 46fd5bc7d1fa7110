//! A transport stack of another project ([`toy`]), and the adapter that makes it a host profile ([`profile`]).

pub mod profile;
pub mod toy;

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{Document, PROFILES, Scenario};

/// Reads a scenario in which flows can have `profile = "toy"`; `name`: of the file, for messages.
///
/// # Errors
/// The scenario's fault, with its line and key.
pub fn read(text: &str, name: &str) -> Result<Scenario, String> {
    PROFILES.join(profile::PROFILES)?;
    Document::from_toml(text, name).and_then(|document| document.scenario()).map_err(|error| error.to_string())
}

/// Runs a scenario.
///
/// # Errors
/// Why it cannot run.
pub fn simulate(scenario: &Scenario) -> Result<RunResult, String> {
    run(scenario, &mut || false).map_err(|error| error.to_string())
}
