//! Setting a run up, and running it with or without a recorder.

use ackclock_core::units::Instant;

use super::error::RunError;
use super::result::RunResult;
use super::routing::routes;
use super::simulation::Simulation;
use crate::scenario::Scenario;
use crate::trace::{Capture, Off, Recording, Traces};

/// Runs `scenario` to its end. `interrupted` is asked now and then whether to give up.
///
/// # Errors
/// [`RunError`]: the scenario joins no route or names a part that does not exist, or the caller stopped the run.
pub fn run(scenario: &Scenario, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
    Prepared::new(scenario)?.run(interrupted)
}

/// The name of the slowest link on the way of the first flow's data, the first of several.
///
/// # Errors
/// If no route joins the two ends of a flow.
pub fn bottleneck(scenario: &Scenario) -> Result<&str, RunError> {
    let routes = routes(scenario)?;
    let links = routes.hops(0).iter().map(|hop| &scenario.links[hop.link as usize]);
    let slowest = links.min_by_key(|link| link.rate);
    slowest.map(|link| link.name.as_str()).ok_or_else(|| RunError::Capture("capture: the first flow crosses no link".to_owned()))
}

/// A run that has been set up.
pub struct Prepared<'a>(Kind<'a>);

enum Kind<'a> {
    Off(Box<Simulation<'a, Off>>),
    On(Box<Simulation<'a, Recording>>),
}

impl<'a> Prepared<'a> {
    /// Finds the routes and builds links and hosts.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(scenario: &'a Scenario) -> Result<Self, RunError> {
        Self::capturing(scenario, &[])
    }

    /// The same, and captures packets at the links and hosts called `places`.
    ///
    /// # Errors
    /// As [`run`]; or one of the places does not exist.
    pub fn capturing(scenario: &'a Scenario, places: &[String]) -> Result<Self, RunError> {
        if scenario.record.is_empty() && places.is_empty() {
            return Ok(Self(Kind::Off(Box::new(Simulation::new(scenario, Off)?))));
        }
        let traces = Traces::new(&scenario.record);
        let capture = if places.is_empty() { None } else { Some(Capture::new(scenario, places).map_err(RunError::Capture)?) };
        Ok(Self(Kind::On(Box::new(Simulation::new(scenario, Recording { traces, capture })?))))
    }

    /// Lets everything happen that happens before `until`, so that the run can be looked at and go on. However a run is divided, its
    /// result is the same.
    ///
    /// # Errors
    /// If `interrupted` asked to stop.
    pub fn advance(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        match &mut self.0 {
            Kind::Off(simulation) => simulation.advance(until, interrupted),
            Kind::On(simulation) => simulation.advance(until, interrupted),
        }
    }

    /// Runs on to the end.
    ///
    /// # Errors
    /// If `interrupted` asked to stop.
    pub fn run(mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
        self.advance(Instant::MAX, interrupted)?;
        match self.0 {
            Kind::Off(simulation) => Ok(simulation.finish().0),
            Kind::On(simulation) => {
                let (result, Recording { mut traces, capture }) = simulation.finish();
                traces.sort();
                Ok(RunResult { traces, capture, ..result })
            }
        }
    }
}
