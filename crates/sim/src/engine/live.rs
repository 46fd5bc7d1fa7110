//! A run whose packets come from hosts outside the simulation and return to them as time passes, such as those of the kernel's TCP.

use std::borrow::Cow;

use ackclock_core::units::{Instant, Moment};
use ackclock_host::{Connection, Side};

use super::error::RunError;
use super::flow::Flow;
use super::hosts::Hosts;
use super::prepared::{recorded, recorder};
use super::result::RunResult;
use super::simulation::{Queues, Simulation};
use crate::scenario::{FlowSpec, Scenario};
use crate::trace::Recording;

/// Both ends of a flow whose packets are frames: bytes that begin with an IP header.
pub type FrameConnection = Box<dyn Connection<Payload = Vec<u8>>>;

/// A simulation that the caller drives. Links, queues, applications and results are those of [`Prepared`](super::Prepared); time passes as
/// the caller says.
///
/// This is the only way of packets into a run and out of it. Two drivers use it: [`Lockstep`](super::Lockstep), for hosts with clocks of
/// their own, and the emulator, which follows the wall clock.
///
/// All times are virtual, since the start of the run. They must not decrease from call to call. Packets that arrive while the caller
/// sleeps are delivered by the next call of [`Live::advance`], at their own times.
pub struct Live(Box<Simulation<'static, Recording>>);

impl Live {
    /// A run of `scenario` that captures packets at the links and hosts called `captured`. `connection` makes both ends of the flow with
    /// this index; `None`: the flow is simulated.
    ///
    /// # Errors
    /// As [`run`](super::run); also if a place to capture does not exist.
    pub fn new(
        scenario: Scenario,
        captured: &[String],
        connection: &mut dyn FnMut(usize, &FlowSpec) -> Option<FrameConnection>,
    ) -> Result<Self, RunError> {
        Self::between(scenario, captured, connection, Queues::new())
    }

    /// As [`Live::new`], with these queues outside the engine.
    pub(super) fn between(
        scenario: Scenario,
        captured: &[String],
        connection: &mut dyn FnMut(usize, &FlowSpec) -> Option<FrameConnection>,
        queues: Queues,
    ) -> Result<Self, RunError> {
        let mut recorder = recorder(&scenario, captured)?;
        let mut connections: Vec<Option<FrameConnection>> =
            scenario.flows.iter().enumerate().map(|(index, spec)| connection(index, spec)).collect();
        if let Some(capture) = &mut recorder.capture {
            let outside = connections.iter().enumerate().filter(|(_, connection)| connection.is_some());
            outside.for_each(|(flow, _)| capture.set_frames(flow));
        }
        let mut flow = |scenario: &Scenario, index: usize| match connections[index].take() {
            Some(connection) => Ok(Flow::between(Hosts::Other(connection), &scenario.flows[index])),
            None => Flow::new(scenario, index),
        };
        let simulation = Simulation::between(Cow::Owned(scenario), recorder, &mut flow, queues)?;
        Ok(Self(Box::new(simulation)))
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    /// End of the run.
    pub fn end(&self) -> Instant {
        self.0.end
    }

    /// Ends the run at `end` instead of the scenario's end, if that is earlier. Rows then describe the time until `end`; sojourn times include
    /// those of packets that still wait.
    pub fn cut(&mut self, end: Instant) {
        self.0.cut(end);
    }

    /// Time of the next event; [`Instant::MAX`] or later if there is none. The end of the run is not an event.
    pub fn next(&self) -> Instant {
        self.0.next()
    }

    /// Processes all events before `until` and before the end of the run. Packets that arrive are passed to [`Connection::handle`].
    ///
    /// # Errors
    /// Only faults of the engine.
    pub fn advance(&mut self, until: Instant) -> Result<(), RunError> {
        self.0.advance(until, &mut || false)
    }

    /// Processes the events at the time of the next one. `interrupted` is called from time to time; if it returns true, the run stops.
    pub(super) fn step(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        let after = Instant::from_bits(self.next().to_bits() + 1);
        self.0.advance(after, interrupted)
    }

    /// An end of `flow` has packets: polls it for all of them, and reads its timer again.
    ///
    /// # Errors
    /// As [`Live::advance`], which this calls first.
    pub fn transmit(&mut self, now: Instant, flow: usize, side: Side) -> Result<(), RunError> {
        self.advance(now)?;
        if now < self.0.end {
            self.0.transmit(Moment::now(now), flow, side);
        }
        Ok(())
    }

    /// Adds a quantity of the sender's control to the trace `internals`.
    pub fn record_internal(&mut self, at: Instant, flow: usize, name: &'static str, value: f64) {
        self.0.recorder.traces.internal(at, flow as u32, name, value);
    }

    /// Ends the run, and returns its result.
    pub fn finish(self) -> RunResult {
        let end = self.end();
        let mut result = recorded(*self.0);
        // Links write rows ahead of time, and rows from outside can be of any time.
        result.traces.cut(end);
        result
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("scenario", &self.0.scenario.name).field("next", &self.next()).finish_non_exhaustive()
    }
}
