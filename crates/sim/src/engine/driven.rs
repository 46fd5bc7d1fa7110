//! An application with its state in the engine.

use ackclock_core::units::Instant;

use crate::app::Application;
use crate::scenario::Scenario;

/// An application and the time of its event in the queue.
#[derive(Debug)]
pub(super) struct Driven {
    pub(super) application: Application,
    pub(super) armed: Option<Instant>,
    /// Its first flow.
    pub(super) first: usize,
}

impl Driven {
    /// The applications of a scenario, not yet armed.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        let specs = scenario.applications.iter();
        specs.map(|spec| Self { application: Application::new(spec, scenario.seed), armed: None, first: spec.flows.start }).collect()
    }

    /// The application.
    pub(super) fn into_application(self) -> Application {
        self.application
    }
}
