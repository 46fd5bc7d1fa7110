//! Runs whose hosts are partly outside the engine, with clocks of their own, and advance in lock-step with it.

use std::collections::BTreeMap;

use ackclock_core::units::Instant;
use ackclock_host::Side;

use super::error::RunError;
use super::live::{FrameConnection, Live};
use super::outside::{OutsideHost, OutsideNode, Shared};
use super::passage::Passage;
use super::result::RunResult;
use crate::scenario::text::unknown;
use crate::scenario::{FlowSpec, Scenario, Traffic};

/// A simulation in which some nodes are [outside hosts](OutsideHost). Links, queues, other flows and results are those of
/// [`Prepared`](super::Prepared).
///
/// The engine is conservative: it processes events up to the next event of a host, and a host runs up to the next event of the engine or of
/// another host. Of events at the same time, the engine's come first, then those of the hosts in the order of the scenario's nodes. A packet
/// is handed over within the event of its arrival, so an answer leaves before the engine goes on.
///
/// The hosts of a flow start it, send what they like, and know its addresses and ports. The engine routes its packets by the flow's number,
/// whatever they contain. Its row counts packets and bytes of data, as [`Passage`] does.
#[derive(Debug)]
pub struct Lockstep {
    live: Live,
    /// The outside hosts, in the order of the scenario's nodes.
    nodes: Vec<Shared>,
}

impl Lockstep {
    /// A run of `scenario` that captures packets at the links and hosts called `captured`. `hosts`: the outside hosts by the names of their
    /// nodes. Both ends of a flow are outside, or neither is.
    ///
    /// # Errors
    /// As [`run`](super::run); if a place to capture does not exist; if no flow begins or ends at a named node, a flow has only one end
    /// outside, or an application of the scenario drives it.
    pub fn new(scenario: Scenario, captured: &[String], mut hosts: BTreeMap<String, Box<dyn OutsideHost>>) -> Result<Self, RunError> {
        check(&scenario, &hosts).map_err(RunError::Outside)?;
        let ends = |node: usize| {
            let flows = scenario.flows.iter().enumerate();
            flows.filter_map(move |(index, flow)| match node {
                _ if node == flow.from => Some((index, Side::Sender)),
                _ if node == flow.to => Some((index, Side::Receiver)),
                _ => None,
            })
        };
        let named = scenario.nodes.iter().enumerate().filter_map(|(node, name)| Some((node, hosts.remove_entry(name)?)));
        let nodes: BTreeMap<usize, Shared> =
            named.map(|(node, (name, host))| (node, OutsideNode::shared(name, host, ends(node).collect()))).collect();
        let mut connection = |index: usize, flow: &FlowSpec| {
            let [sender, receiver] = [flow.from, flow.to].map(|node| Some(nodes.get(&node)?.interface(index)));
            Some(Box::new(Passage::new([sender?, receiver?], flow.start)) as FrameConnection)
        };
        let live = Live::new(scenario, captured, &mut connection)?;
        Ok(Self { live, nodes: nodes.into_values().collect() })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        self.live.scenario()
    }

    /// Processes all events of the engine and of the hosts before `until` and before the end of the run. The result does not depend on such
    /// divisions. `interrupted` is called from time to time; if it returns true, the run stops.
    ///
    /// # Errors
    /// If `interrupted` returned true, or a host has broken its contract.
    pub fn advance(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        let until = until.min(self.live.end());
        loop {
            let engine = self.live.next();
            // The next of the hosts' events before the engine's, and the earliest time at which anything else happens.
            let (mut first, mut least) = (None, engine.min(until));
            let mut horizon = least;
            for (index, node) in self.nodes.iter().enumerate() {
                let next = node.lock().next();
                if next < least {
                    (first, least, horizon) = (Some(index), next, least);
                } else {
                    horizon = horizon.min(next);
                }
            }
            let now = if let Some(node) = first {
                self.nodes[node].lock().run(horizon)
            } else if engine < until {
                self.live.step(interrupted)?;
                Some(engine)
            } else {
                return Ok(());
            };
            self.settle(now)?;
        }
    }

    /// Sends the packets that leave at `now`, and checks the hosts.
    fn settle(&mut self, now: Option<Instant>) -> Result<(), RunError> {
        for node in &self.nodes {
            // The node is locked only while it is asked: its interfaces need it too.
            let leaving = || node.lock().leaving();
            while let Some((now, (flow, side))) = now.zip(leaving()) {
                self.live.transmit(now, flow, side)?;
            }
            if let Some(fault) = node.lock().fault() {
                return Err(RunError::Outside(fault.to_owned()));
            }
        }
        Ok(())
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Lockstep::advance`].
    pub fn run(mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
        self.advance(Instant::MAX, interrupted)?;
        Ok(self.live.finish())
    }
}

/// Checks that every outside host has flows, and that their packets can be frames.
fn check(scenario: &Scenario, hosts: &BTreeMap<String, Box<dyn OutsideHost>>) -> Result<(), String> {
    let ends: Vec<&str> = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).map(|node| scenario.nodes[node].as_str()).collect();
    for name in hosts.keys() {
        if !ends.contains(&name.as_str()) {
            let mut known = ends.clone();
            known.sort_unstable();
            known.dedup();
            return Err(format!("outside host: {}", unknown("end of a flow", name, &known)));
        }
    }
    for flow in &scenario.flows {
        let [from, to] = [flow.from, flow.to].map(|node| scenario.nodes[node].as_str());
        match [from, to].map(|name| hosts.contains_key(name)) {
            [false, false] => {}
            [true, true] if flow.traffic == Traffic::Bulk => {}
            [true, true] => {
                return Err(format!("outside host: flow {} has an application of the scenario, but its hosts run their own", flow.name));
            }
            [sender, _] => {
                let (outside, inside) = if sender { (from, to) } else { (to, from) };
                return Err(format!(
                    "outside host: flow {} has an end at {outside}, so its end at {inside} must be outside too",
                    flow.name
                ));
            }
        }
    }
    Ok(())
}
