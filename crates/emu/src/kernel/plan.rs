//! A scenario's flows on the kernel, and what the kernel does not follow.

use std::collections::BTreeMap;

use ackclock_host::Side;
use ackclock_sim::engine::{Live, Warning};
use ackclock_sim::scenario::{Scenario, TraceKind};

use super::error::KernelError;
use super::hystart::Hystart;
use super::settings::FlowPlan;
use crate::controls::KernelControl;
use crate::ebpf::{self, Loaded};
use crate::emulator::Clock;
use crate::space::{Space, Terminal, missing, owner};

const NO_CHANGE: &str = "standard slow start with `cubic_linux` needs HyStart switched off, for all connections of the machine; permit it for the \
                         run with --change-hystart (Python: change_hystart=True), or use slow_start = \"hystart\"";

/// The flows of a scenario on the kernel.
#[derive(Debug)]
pub(super) struct Plan {
    /// Every flow; `None` for datagrams, which are simulated.
    pub(super) flows: Vec<Option<FlowPlan>>,
}

/// The controls of a run, registered with the kernel while this exists.
#[derive(Debug)]
pub(super) struct Controls {
    names: Vec<String>,
    programs: Vec<Registered>,
}

/// A program, with the places of its quantities in records.
#[derive(Debug)]
struct Registered {
    quantities: Vec<(usize, &'static str)>,
    loaded: Loaded,
}

impl Controls {
    /// The kernel's name of the control of a flow.
    pub(super) fn name(&self, flow: usize) -> &str {
        &self.names[flow]
    }

    /// Adds the programs' quantities at each ACK to the trace `internals`.
    ///
    /// # Errors
    /// If records were lost.
    pub(super) fn record(&mut self, live: &mut Live, clock: &Clock) -> Result<(), String> {
        for Registered { quantities, loaded } in &mut self.programs {
            let records = loaded.records()?;
            match loaded.lost() {
                0 => {}
                lost => return Err(format!("the trace `internals` lacks {lost} ACKs, because the ring buffer was full")),
            }
            for record in ebpf::per_ack(&records) {
                // The receiver's socket may use the program as well.
                let Some((flow, Side::Sender)) = owner(record.source.0.into()) else { continue };
                for &(place, name) in &*quantities {
                    if let Some(value) = record.quantities[place] {
                        live.record_internal(clock.at(record.time), flow, name, value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Name of a flow for messages.
fn named(scenario: &Scenario, index: usize, reason: &str) -> String {
    format!("{}: flow {} cannot run on the kernel: {reason}", scenario.name, scenario.flows[index].name)
}

impl Plan {
    /// Plans the flows of `scenario`. `change_hystart`: whether HyStart may be switched off for the whole machine.
    ///
    /// # Errors
    /// The first flow that cannot be a connection of the kernel, and why.
    pub(super) fn new(scenario: &Scenario, change_hystart: bool) -> Result<Self, String> {
        let plan = |(index, spec)| FlowPlan::new(spec).map_err(|reason| named(scenario, index, &reason));
        let flows: Vec<Option<FlowPlan>> = scenario.flows.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
        if flows.iter().all(Option::is_none) {
            return Err(format!("{}: has no TCP flow, so that nothing runs on the kernel", scenario.name));
        }
        let plan = Self { flows };
        if let Some(without) = plan.first(&KernelControl::CubicWithoutHystart) {
            if let Some(with) = plan.first(&KernelControl::Own("cubic")) {
                let with = &scenario.flows[with].name;
                return Err(named(
                    scenario,
                    without,
                    &format!("it needs HyStart off and flow {with} needs it on; the kernel has one switch for all"),
                ));
            }
            if !change_hystart {
                return Err(named(scenario, without, NO_CHANGE));
            }
        }
        Ok(plan)
    }

    /// The first flow with this control.
    fn first(&self, control: &KernelControl) -> Option<usize> {
        self.flows.iter().position(|plan| plan.as_ref().is_some_and(|plan| plan.control == *control))
    }

    /// Holds the switch of HyStart as the flows need it, if one has the kernel's CUBIC.
    pub(super) fn hold_hystart(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<Option<Hystart>, KernelError> {
        let with = self.first(&KernelControl::Own("cubic")).map(|_| true);
        let needed = with.or_else(|| self.first(&KernelControl::CubicWithoutHystart).map(|_| false));
        needed.map_or(Ok(None), |on| Hystart::hold(on, interrupted))
    }

    /// The ends of all flows with their nodes and routes.
    pub(super) fn terminals(&self, scenario: &Scenario) -> Vec<Terminal> {
        let planned = self.flows.iter().enumerate().filter_map(|(flow, plan)| Some((flow, plan.as_ref()?)));
        let ends = |(flow, plan): (usize, &FlowPlan)| {
            let spec = &scenario.flows[flow];
            [(Side::Sender, spec.from), (Side::Receiver, spec.to)].map(|(side, node)| Terminal { node, flow, side, route: plan.route })
        };
        planned.flat_map(ends).collect()
    }

    /// Sets the parameters of every namespace: those of its first flow.
    pub(super) fn set_parameters(&self, space: &Space) -> Result<(), String> {
        for node in &space.nodes {
            let first = node.terminals.iter().find_map(|(flow, _)| self.flows[*flow].as_ref());
            let parameters = first.iter().flat_map(|plan| &plan.parameters);
            let parameters: Vec<(&str, &str)> = parameters.map(|(name, value)| (*name, value.as_str())).collect();
            node.set(&parameters)?;
        }
        Ok(())
    }

    /// Registers the programs of the flows' controls. Equal controls share one.
    pub(super) fn load(&self, scenario: &Scenario) -> Result<Controls, String> {
        let recording = scenario.record.contains(&TraceKind::Internals);
        let mut known: Vec<(&KernelControl, String)> = Vec::new();
        let (mut names, mut programs) = (Vec::with_capacity(self.flows.len()), Vec::new());
        for plan in &self.flows {
            names.push(match plan.as_ref().map(|plan| &plan.control) {
                None => String::new(),
                Some(KernelControl::Own(name)) => (*name).to_owned(),
                Some(KernelControl::CubicWithoutHystart) => "cubic".to_owned(),
                Some(control @ KernelControl::Ebpf(program)) => {
                    if let Some((_, name)) = known.iter().find(|(other, _)| *other == control) {
                        name.clone()
                    } else {
                        let loaded = ebpf::load(program, recording).map_err(missing)?;
                        let name = loaded.name().to_owned();
                        known.push((control, name.clone()));
                        programs.push(Registered { quantities: program.quantities(), loaded });
                        name
                    }
                }
            });
        }
        Ok(Controls { names, programs })
    }

    /// The kernel's control of each flow, for people.
    pub(super) fn controls(&self) -> Vec<Option<String>> {
        let word = |plan: &FlowPlan| match &plan.control {
            KernelControl::Own(name) => (*name).to_owned(),
            KernelControl::CubicWithoutHystart => "cubic without HyStart".to_owned(),
            KernelControl::Ebpf(_) => "eBPF".to_owned(),
        };
        self.flows.iter().map(|plan| plan.as_ref().map(word)).collect()
    }

    /// Settings that the kernel does not follow, by their keys; flows with the same keys share a warning.
    pub(super) fn warnings(&self, scenario: &Scenario) -> Vec<Warning> {
        let mut groups: BTreeMap<(&'static str, String), Vec<String>> = BTreeMap::new();
        let shared = self.unshared(scenario);
        for (index, plan) in self.flows.iter().enumerate() {
            let Some(plan) = plan else { continue };
            let mut note = |name: &'static str, text: String| {
                groups.entry((name, text)).or_default().push(scenario.flows[index].name.clone());
            };
            if !plan.own.is_empty() {
                let keys: Vec<String> = plan.own.iter().map(|key| format!("flow.{key}")).collect();
                note("kernel_settings", format!("the kernel follows its own rules instead of {}", keys.join(", ")));
            }
            if let Some(text) = plan.control.difference() {
                note("kernel_control", text.to_owned());
            }
            if let Some(names) = shared.get(&index) {
                let text =
                    format!("{} have the values of the first flow at the node, because all flows of a node share them", names.join(", "));
                note("kernel_shared", text);
            }
        }
        let warning = |((name, what), flows): ((&'static str, String), Vec<String>)| {
            let listed = if flows.len() > 3 { format!("{}, … ({} flows)", flows[..3].join(", "), flows.len()) } else { flows.join(", ") };
            Warning { name, text: format!("{listed}: {what}"), flows }
        };
        groups.into_iter().map(warning).collect()
    }

    /// For each flow, the parameters in which it differs from the first flow at one of its nodes.
    fn unshared(&self, scenario: &Scenario) -> BTreeMap<usize, Vec<&'static str>> {
        let mut first: BTreeMap<usize, &FlowPlan> = BTreeMap::new();
        let mut found: BTreeMap<usize, Vec<&'static str>> = BTreeMap::new();
        for (index, plan) in self.flows.iter().enumerate() {
            let Some(plan) = plan else { continue };
            for node in [scenario.flows[index].from, scenario.flows[index].to] {
                let shared = *first.entry(node).or_insert(plan);
                let own = plan.parameters.iter().filter(|parameter| !shared.parameters.contains(parameter));
                let names = found.entry(index).or_default();
                names.extend(own.map(|(name, _)| *name));
                names.sort_unstable();
                names.dedup();
            }
        }
        found.retain(|_, names| !names.is_empty());
        found
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
