//! A scenario's flows on a kernel, and what the kernel does not follow.

use std::collections::BTreeMap;

use ackclock_host::Side;
use ackclock_sim::engine::Warning;
use ackclock_sim::scenario::{FlowSpec, Given, KernelSpec, Scenario};

use crate::controls::{KernelControl, Offer};
use crate::flow::{FlowPlan, Parameters, named};
use crate::route::Terminal;

/// Which flows of a scenario are connections of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// All flows of TCP.
    #[default]
    All,
    /// Those with `profile = "kernel"`.
    Named,
}

/// The flows of a scenario on a kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Every flow; `None` for those that are simulated, such as datagrams.
    pub flows: Vec<Option<FlowPlan>>,
}

/// The message that a flow cannot run, with its name.
pub fn refused(scenario: &Scenario, flow: usize, reason: &str) -> String {
    format!("{}: flow {} cannot run on the kernel: {reason}", scenario.name, scenario.flows[flow].name)
}

/// The entries with the first value of each name.
fn first<'a>(named: impl Iterator<Item = &'a (String, Given)>) -> Vec<(&'a str, &'a Given)> {
    let mut found: Vec<(&str, &Given)> = Vec::new();
    for (name, given) in named {
        if found.iter().all(|(known, _)| known != name) {
            found.push((name, given));
        }
    }
    found
}

impl Plan {
    /// Plans the `chosen` flows of `scenario` on a kernel with these congestion controls.
    ///
    /// # Errors
    /// The first flow that cannot be a connection of the kernel, and why; if all flows were chosen, none is TCP, and no
    /// queue is the kernel's.
    pub fn new(scenario: &Scenario, chosen: Chosen, offer: &Offer<'_>) -> Result<Self, String> {
        let plan = |(index, spec): (usize, &FlowSpec)| {
            if chosen == Chosen::Named && spec.kernel.is_none() {
                return Ok(None);
            }
            if let Some(Given { value, place }) = named(spec, offer) {
                offer.own(value).map_err(|reason| format!("{place}: {reason}"))?;
            }
            FlowPlan::new(spec, offer).map_err(|reason| refused(scenario, index, &reason))
        };
        let flows: Vec<Option<FlowPlan>> = scenario.flows.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
        if chosen == Chosen::All && flows.iter().all(Option::is_none) && scenario.needs_kernel().is_none() {
            return Err(format!("{}: has no TCP flow, so that nothing runs on the kernel", scenario.name));
        }
        let plan = Self { flows };
        if let Some(without) = plan.first(&KernelControl::CubicWithoutHystart)
            && let Some(with) = plan.first(&KernelControl::Own("cubic"))
        {
            let with = &scenario.flows[with].name;
            let reason = format!("it needs HyStart off and flow {with} needs it on; the kernel has one switch for all");
            return Err(refused(scenario, without, &reason));
        }
        Ok(plan)
    }

    /// The first flow with this control.
    pub fn first(&self, control: &KernelControl) -> Option<usize> {
        self.flows.iter().position(|plan| plan.as_ref().is_some_and(|plan| plan.control == *control))
    }

    /// Whether the kernel's switch of HyStart must be on (true) or off (false); `None` if no flow has the kernel's CUBIC.
    pub fn hystart(&self) -> Option<bool> {
        let with = self.first(&KernelControl::Own("cubic")).map(|_| true);
        with.or_else(|| self.first(&KernelControl::CubicWithoutHystart).map(|_| false))
    }

    /// The ends of all flows with their nodes and routes.
    pub fn terminals(&self, scenario: &Scenario) -> Vec<Terminal> {
        let planned = self.flows.iter().enumerate().filter_map(|(flow, plan)| Some((flow, plan.as_ref()?)));
        let ends = |(flow, plan): (usize, &FlowPlan)| {
            let spec = &scenario.flows[flow];
            [(Side::Sender, spec.from), (Side::Receiver, spec.to)].map(|(side, node)| Terminal { node, flow, side, route: plan.route })
        };
        planned.flat_map(ends).collect()
    }

    /// The parameters of a node's namespace: those of its first flow.
    pub fn parameters(&self, scenario: &Scenario, node: usize) -> Option<&Parameters> {
        let here = self.flows.iter().zip(&scenario.flows).filter(|(_, spec)| [spec.from, spec.to].contains(&node));
        here.filter_map(|(plan, _)| plan.as_ref()).map(|plan| &plan.parameters).next()
    }

    /// The kernels that flows name, with these flows.
    fn named<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = (usize, &'a KernelSpec)> {
        let planned = scenario.flows.iter().zip(&self.flows).enumerate().filter(|(_, (_, plan))| plan.is_some());
        planned.filter_map(|(index, (spec, _))| Some((index, spec.kernel.as_ref()?)))
    }

    /// The parameters below `net.` that flows at a node name, with dots; of several values the first.
    pub fn sysctls<'a>(&'a self, scenario: &'a Scenario, node: usize) -> Vec<(&'a str, &'a Given)> {
        let here = self.named(scenario).filter(|(index, _)| [scenario.flows[*index].from, scenario.flows[*index].to].contains(&node));
        first(here.flat_map(|(_, kernel)| &kernel.sysctl))
    }

    /// The parameters of modules that flows name, as `MODULE.PARAMETER`; all flows share them.
    pub fn modules<'a>(&'a self, scenario: &'a Scenario) -> Vec<(&'a str, &'a Given)> {
        first(self.named(scenario).flat_map(|(_, kernel)| &kernel.module))
    }

    /// The kernel's control of each flow, for people.
    pub fn controls(&self) -> Vec<Option<String>> {
        let word = |plan: &FlowPlan| match &plan.control {
            KernelControl::Own(name) => (*name).to_owned(),
            KernelControl::CubicWithoutHystart => "cubic without HyStart".to_owned(),
            KernelControl::Ebpf(_) => "eBPF".to_owned(),
            KernelControl::Outside => "ackclock".to_owned(),
        };
        self.flows.iter().map(|plan| plan.as_ref().map(word)).collect()
    }

    /// Settings that the kernel does not follow, by their keys; flows with the same keys share a warning.
    pub fn warnings(&self, scenario: &Scenario) -> Vec<Warning> {
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
            if let Some(text) = plan.control.difference(&scenario.flows[index].control) {
                note("kernel_control", text.to_owned());
            }
            let others = self.others(scenario, index);
            if !others.is_empty() {
                let text = format!("{} of another flow at the node applies too, because all flows of a node share them", others.join(", "));
                note("kernel_shared", text);
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

    /// The parameters of its nodes, with their values, that another flow names and this one does not.
    fn others(&self, scenario: &Scenario, index: usize) -> Vec<String> {
        let spec = &scenario.flows[index];
        let own = spec.kernel.as_ref().map(|kernel| &kernel.sysctl[..]).unwrap_or_default();
        let mut found: Vec<String> = [spec.from, spec.to]
            .into_iter()
            .flat_map(|node| self.sysctls(scenario, node))
            .filter(|(name, given)| !own.iter().any(|(known, own)| known == name && own.value == given.value))
            .map(|(name, given)| format!("{name} = {}", given.value))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
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
