//! The packets on all links in a part of a run.

use std::borrow::Cow;

use ackclock_core::units::{Duration, Instant};

use super::error::RunError;
use super::simulation::Simulation;
use crate::scenario::Scenario;
use crate::trace::{Crossings, Recording, Span, Traces, Watch};

/// Time by which a run goes on at first, until the packets that wait at the end of the span have left.
const STEP: Duration = Duration::from_nanos(10_000_000);

/// Runs `scenario` until the packets of `span` have left their queues, and returns their crossings of links. The run is the same as without
/// this. It needs at most `max_events` events.
///
/// # Errors
/// As [`run`](super::run); also if it needs more events.
pub fn crossings(scenario: &Scenario, span: Span, max_events: u64, interrupted: &mut dyn FnMut() -> bool) -> Result<Crossings, RunError> {
    let end = Instant::ZERO + scenario.duration;
    let watch = Watch::new(span, scenario);
    let recorder = Recording { traces: Traces::default(), capture: None, watch: Some(watch) };
    let mut simulation = Simulation::new(Cow::Borrowed(scenario), recorder)?;
    simulation.limit(max_events);
    let (mut until, mut step) = (span.to, STEP);
    simulation.advance(until, interrupted)?;
    while until < end && simulation.recorder.watch.as_ref().is_some_and(Watch::is_open) {
        until += step;
        step = step * 2.0;
        simulation.advance(until, interrupted)?;
    }
    Ok(simulation.recorder.watch.map_or(Crossings { rows: Vec::new(), missing_from: None }, Watch::finish))
}
