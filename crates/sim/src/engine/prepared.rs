//! Sets up runs and executes them, with or without a recorder.

use std::borrow::Cow;

use ackclock_core::units::Instant;

use super::error::RunError;
use super::result::RunResult;
use super::routing::{routes, slowest};
use super::simulation::Simulation;
use crate::net::busy::{BusyPart, busy};
use crate::scenario::text::unknown;
use crate::scenario::{LinkSpec, Scenario};
use crate::trace::{Capture, Off, Recording, Traces};

/// Runs `scenario` to its end. `interrupted` is called from time to time; if it returns true, the run stops.
///
/// # Errors
/// [`RunError`]: the scenario lacks a route or names a part that does not exist, or the caller stopped the run.
pub fn run(scenario: &Scenario, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
    Prepared::new(scenario)?.run(interrupted)
}

/// The name of the slowest link on the first flow's data path; the first one, if several are equally slow. Without flows, all links
/// count.
///
/// # Errors
/// If no route connects the ends of a flow.
pub fn bottleneck(scenario: &Scenario) -> Result<&str, RunError> {
    let slowest = slowest(scenario, &routes(scenario)?).map(|link| scenario.links[link].name.as_str());
    slowest.ok_or_else(|| RunError::Capture("capture: the first flow crosses no link".to_owned()))
}

/// The links that a picture of the path shows: the [`bottleneck`] and, if there is one, the link in the other direction.
///
/// # Errors
/// As [`bottleneck`].
pub fn both_ways(scenario: &Scenario) -> Result<Vec<&LinkSpec>, RunError> {
    let name = bottleneck(scenario)?;
    let there: Vec<&LinkSpec> = scenario.links.iter().filter(|link| link.name == name).take(1).collect();
    let back = scenario.links.iter().find(|link| there.iter().any(|other| (link.from, link.to) == (other.to, other.from)));
    Ok(there.into_iter().chain(back).collect())
}

/// Parts of the time in a picture of the path, unless the reader chooses others.
pub const BUSY_PARTS: usize = 300;

/// What the models of the link `name` do over time if it always has a packet to send: the run's time in `count` parts.
///
/// # Errors
/// [`RunError::Part`] if there is no such link, and [`RunError`] if a model cannot be built.
pub fn busy_link(scenario: &Scenario, name: &str, count: usize) -> Result<Vec<BusyPart>, RunError> {
    let Some(link) = scenario.links.iter().find(|link| link.name == name) else {
        let known: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
        return Err(RunError::Part(unknown("link", name, &known)));
    };
    busy(link, scenario.seed, scenario.duration, count).map_err(RunError::Part)
}

/// A run after its set-up.
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

    /// Like [`Prepared::new`], and keeps the scenario.
    ///
    /// # Errors
    /// As [`run`].
    pub fn owning(scenario: Scenario) -> Result<Prepared<'static>, RunError> {
        Prepared::recording(Cow::Owned(scenario), &[])
    }

    /// Like [`Prepared::new`], without the traces of the scenario.
    ///
    /// # Errors
    /// As [`run`].
    pub fn untraced(scenario: &'a Scenario) -> Result<Self, RunError> {
        Ok(Self(Kind::Off(Box::new(Simulation::new(Cow::Borrowed(scenario), Off)?))))
    }

    /// Like [`Prepared::new`], and captures packets at the links and hosts called `places`.
    ///
    /// # Errors
    /// As [`run`]; also if a place does not exist.
    pub fn capturing(scenario: &'a Scenario, places: &[String]) -> Result<Self, RunError> {
        Self::recording(Cow::Borrowed(scenario), places)
    }

    fn recording(scenario: Cow<'a, Scenario>, places: &[String]) -> Result<Self, RunError> {
        if scenario.record.is_empty() && places.is_empty() {
            return Ok(Self(Kind::Off(Box::new(Simulation::new(scenario, Off)?))));
        }
        let recorder = recorder(&scenario, places)?;
        Ok(Self(Kind::On(Box::new(Simulation::new(scenario, recorder)?))))
    }

    /// Limits the number of events. A run that needs more stops with [`RunError::Events`].
    pub fn limit(&mut self, max_events: u64) {
        match &mut self.0 {
            Kind::Off(simulation) => simulation.limit(max_events),
            Kind::On(simulation) => simulation.limit(max_events),
        }
    }

    /// Number of events processed so far.
    pub fn events(&self) -> u64 {
        match &self.0 {
            Kind::Off(simulation) => simulation.events(),
            Kind::On(simulation) => simulation.events(),
        }
    }

    /// The traces recorded so far. Rows of one link, and of one flow, are in the order of time. Links write theirs ahead of time, so a
    /// row can be later than the run is, and rows of different links and flows are only sorted at the end. Sorting by time, with rows of
    /// equal times in their order, gives the traces of the result.
    pub fn traces(&self) -> Option<&Traces> {
        match &self.0 {
            Kind::Off(_) => None,
            Kind::On(simulation) => Some(&simulation.recorder.traces),
        }
    }

    /// Processes all events before `until`, after which the run can be inspected and continued. The result does not depend on such
    /// divisions.
    ///
    /// # Errors
    /// If `interrupted` returned true, or the run needs more events than [`Prepared::limit`] permits.
    pub fn advance(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        match &mut self.0 {
            Kind::Off(simulation) => simulation.advance(until, interrupted),
            Kind::On(simulation) => simulation.advance(until, interrupted),
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// If `interrupted` returned true, or the run needs more events than [`Prepared::limit`] permits.
    pub fn run(mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
        self.advance(Instant::MAX, interrupted)?;
        match self.0 {
            Kind::Off(simulation) => Ok(simulation.finish().0),
            Kind::On(simulation) => Ok(recorded(*simulation)),
        }
    }
}

/// The recorder of the scenario's traces and of the packets at `places`.
pub(super) fn recorder(scenario: &Scenario, places: &[String]) -> Result<Recording, RunError> {
    let capture = if places.is_empty() { None } else { Some(Capture::new(scenario, places).map_err(RunError::Capture)?) };
    Ok(Recording { traces: Traces::new(&scenario.record), capture, watch: None })
}

/// The result of a run that was recorded.
pub(super) fn recorded(simulation: Simulation<'_, Recording>) -> RunResult {
    let (result, Recording { mut traces, capture, .. }) = simulation.finish();
    traces.sort();
    RunResult { traces, capture, ..result }
}
