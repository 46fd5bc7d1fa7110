//! Runs of a scenario on the kernel.

use std::path::Path;

use ackclock_core::units::Duration;
use ackclock_host::Side;
use ackclock_kernel::{KernelConnection, Plan, is_old};
use ackclock_sim::engine::{FrameConnection, Live, RunResult, Warning};
use ackclock_sim::scenario::Scenario;

use super::controls::Controls;
use super::ends::MachineEnds;
use super::error::Failure;
use super::hystart::Hystart;
use super::memory;
use super::plan::plan;
use super::sockets;
use super::writer::{Writer, WriterThread};
use crate::check::release;
use crate::emulator::{Emulator, Lateness, Outcome, Ports};
use crate::space::{Space, missing};
use ackclock_kernel::KernelError;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Links and hosts at which packets are captured.
    pub captured: &'a [String],
    /// Most attempts to get a run without late releases.
    pub attempts: u32,
    /// Whether HyStart may be switched off for the whole machine while the run lasts.
    pub change_hystart: bool,
}

/// A run on the kernel.
#[derive(Debug)]
pub struct Run {
    /// The result, as of a simulation.
    pub result: RunResult,
    /// What only a run on the kernel has.
    pub facts: Facts,
}

/// What only a run on the kernel has.
#[derive(Debug)]
pub struct Facts {
    /// Release of the kernel, as `uname -r` prints it.
    pub release: String,
    /// The kernel's control of each flow; `None` for datagrams.
    pub controls: Vec<Option<String>>,
    /// Attempts made.
    pub attempts: u32,
    /// Why the run must not be used: packets were late in every attempt.
    pub taint: Option<String>,
    /// Lateness of the attempt that is returned.
    pub lateness: Lateness,
    /// Processor time of the emulator in that attempt.
    pub cpu: Duration,
    /// Whether the emulator had a real-time priority.
    pub real_time: bool,
    /// Settings of the scenario that the kernel does not follow.
    pub warnings: Vec<Warning>,
}

/// Runs `scenario` in real time: its TCP flows are connections of the kernel, datagrams are simulated. A run in which packets were released
/// late is repeated; if all are, the least late is returned, with the reason. `interrupted` is called from time to time; if it returns
/// true, the run stops.
///
/// # Errors
/// If the scenario cannot run on the kernel, or this machine cannot run it; or if the caller interrupted the run.
pub fn run(scenario: &Scenario, options: Options<'_>, interrupted: &mut dyn FnMut() -> bool) -> Result<Run, KernelError> {
    let plan = plan(scenario, options.change_hystart)?;
    let mut attempts = 1;
    let mut best = attempt(scenario, &plan, options.captured, interrupted)?;
    while best.taint.is_some() && attempts < options.attempts {
        attempts += 1;
        let next = match attempt(scenario, &plan, options.captured, interrupted) {
            Ok(next) => next,
            Err(KernelError::Interrupted) => return Err(KernelError::Interrupted),
            // The late run is better than none.
            Err(KernelError::Refused(_)) => break,
        };
        if next.taint.is_none() || next.lateness.max < best.lateness.max {
            best = next;
        }
    }
    let Attempt { result, taint, lateness, cpu, real_time } = best;
    let (controls, warnings) = (plan.controls(), plan.warnings(scenario));
    Ok(Run { result, facts: Facts { release: release(), controls, attempts, taint, lateness, cpu, real_time, warnings } })
}

/// A run that may be late.
struct Attempt {
    result: RunResult,
    taint: Option<String>,
    lateness: Lateness,
    cpu: Duration,
    real_time: bool,
}

/// Says why `scenario` cannot run on the kernel of any machine. Needs no rights, and starts nothing. `change_hystart` is as in [`Options`].
pub fn refusal(scenario: &Scenario, change_hystart: bool) -> Option<String> {
    plan(scenario, change_hystart).err()
}

fn attempt(scenario: &Scenario, plan: &Plan, captured: &[String], interrupted: &mut dyn FnMut() -> bool) -> Result<Attempt, KernelError> {
    let _hystart = plan.hystart().map(|on| Hystart::hold(on, interrupted)).transpose()?;
    let mut controls = Controls::load(plan, scenario)?;
    let space = Space::new(&plan.terminals(scenario))?;
    for node in &space.nodes {
        if let Some(parameters) = plan.parameters(scenario, node.index) {
            // A kernel without a parameter may do what it says anyway.
            let present = |name: &str| Path::new("/proc/sys/net").join(name).exists();
            let parameters: Vec<(&str, &str)> = parameters
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .filter(|(name, value)| present(name) || !is_old(name, value))
                .collect();
            node.set(&parameters)?;
        }
        for (name, given) in plan.sysctls(scenario, node.index) {
            let name = name.strip_prefix("net.").unwrap_or(name).replace('.', "/");
            node.set(&[(name.as_str(), given.value.as_str())]).map_err(|reason| format!("{}: {reason}", given.place))?;
        }
    }
    for node in &space.nodes {
        sockets::warm_up(node)?;
    }
    let mut pairs = Vec::with_capacity(plan.flows.len());
    for (index, flow) in plan.flows.iter().enumerate() {
        let pair = flow.as_ref().map(|flow| sockets::open(&space, index, flow, controls.name(index)));
        pairs.push(pair.transpose()?);
    }
    let no_descriptor = |error: std::io::Error| missing(format_args!("no further descriptor: {error}"));
    let ports = Ports::new(&space).map_err(no_descriptor)?;
    let failure = Failure::default();
    let thread = WriterThread::start(2 * plan.flows.len(), failure.clone()).map_err(no_descriptor)?;
    let writer: &Writer = thread.writer();
    let mut connect = |index: usize, _: &_| -> Option<FrameConnection> {
        let flow = plan.flows[index].as_ref()?;
        let [Some(near), Some(far)] = Side::ALL.map(|side| ports.port(index, side)) else { return None };
        let ends = MachineEnds {
            flow: index,
            sockets: pairs[index].take()?,
            ports: [near, far],
            closed: [false; 2],
            writer: writer.clone(),
            failure: failure.clone(),
        };
        Some(Box::new(KernelConnection::new(flow, ends)))
    };
    let live = Live::new(scenario.clone(), captured, &mut connect)?;
    let clock = ports.clock().clone();
    let emulator = Emulator::new(live, ports).map_err(no_descriptor)?;
    let outcome = emulator.run(&mut || failure.get().is_some() || interrupted())?;
    if outcome.interrupted && failure.get().is_none() {
        return Err(KernelError::Interrupted);
    }
    let taint = outcome.taint().or_else(memory::pressure);
    let Outcome { mut live, lateness, cpu, real_time, .. } = outcome;
    controls.record(&mut live, &clock)?;
    // The rows of flows read the sockets' last state, which must not grow older.
    let result = live.finish();
    if let Some((end, what)) = failure.get() {
        let (flow, side) = (&scenario.flows[end / 2].name, if end % 2 == 0 { "sender" } else { "receiver" });
        return Err(KernelError::Refused(format!("flow {flow}, {side}: the kernel's connection failed: {what}")));
    }
    Ok(Attempt { result, taint, lateness, cpu, real_time })
}
