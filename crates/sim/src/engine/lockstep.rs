//! Runs whose hosts are partly outside the engine, with clocks of their own, and advance in lock-step with it.

use ackclock_core::qdisc::Scheduler;
use ackclock_core::units::Instant;
use ackclock_host::Side;

use super::error::RunError;
use super::live::{FrameConnection, Live};
use super::outside::{OutsideHost, OutsideInterface, OutsideNode, Shared};
use super::passage::Passage;
use super::result::RunResult;
use super::simulation::Queues;
use crate::scenario::text::unknown;
use crate::scenario::{FlowSpec, Scenario, Traffic};

/// A simulation in which some nodes are [outside hosts](OutsideHost). Links, queues, other flows and results are those of
/// [`Prepared`](super::Prepared).
///
/// The engine is conservative: it processes events up to the next event of a host, and a host runs up to the next event of the engine or of
/// another host. Of events at the same time, the engine's come first, then those of the hosts in the order of the scenario's nodes (of the
/// first node, for a host with several). A packet is handed over within the event of its arrival, so an answer leaves before the engine goes
/// on.
///
/// Hosts know the addresses and ports of their flows. The engine routes packets by the flow's number, whatever they contain.
#[derive(Debug)]
pub struct Lockstep {
    live: Live,
    /// The outside hosts, in the order of the scenario's nodes.
    nodes: Vec<Shared>,
}

/// Makes both ends of a flow, by its index, from its interfaces at the sender and the receiver; `None`: the flow is simulated.
pub type Connect<'a> = dyn FnMut(usize, &FlowSpec, [OutsideInterface; 2]) -> Option<FrameConnection> + 'a;

/// An outside host, and the names of its nodes.
#[derive(Debug)]
pub struct Outside {
    /// The nodes.
    pub nodes: Vec<String>,
    /// The indices of the links whose queues the host has.
    pub queues: Vec<usize>,
    /// The host.
    pub host: Box<dyn OutsideHost>,
}

impl Lockstep {
    /// A run of `scenario` that captures packets at the links and hosts called `captured`. Both ends of a flow are outside, or neither is.
    /// Outside hosts start their flows and send what they like; the rows of the flows count packets and bytes of data, as [`Passage`] does.
    ///
    /// # Errors
    /// As [`run`](super::run); if a place to capture does not exist; if no flow begins or ends at a named node, a flow has only one end
    /// outside, or an application of the scenario drives it.
    pub fn new(scenario: Scenario, captured: &[String], hosts: Vec<Outside>) -> Result<Self, RunError> {
        let named: Vec<&str> = hosts.iter().flat_map(|outside| &outside.nodes).map(String::as_str).collect();
        check(&scenario, &named).map_err(RunError::Outside)?;
        Self::between(scenario, captured, hosts, &mut |_, flow, interfaces| {
            Some(Box::new(Passage::new(interfaces, flow.start)) as FrameConnection)
        })
    }

    /// As [`Lockstep::new`], but `connection` makes both ends of each flow between outside hosts from its interfaces, so that the scenario's
    /// applications can drive them.
    ///
    /// # Errors
    /// As [`run`](super::run); if a place to capture does not exist.
    pub fn between(
        scenario: Scenario,
        captured: &[String],
        mut hosts: Vec<Outside>,
        connection: &mut Connect<'_>,
    ) -> Result<Self, RunError> {
        let place = |name: &String| scenario.nodes.iter().position(|node| node == name);
        hosts.sort_by_key(|outside| outside.nodes.iter().filter_map(place).min());
        // The host of each node.
        let mut outside: Vec<Option<Shared>> = vec![None; scenario.nodes.len()];
        let mut nodes = Vec::with_capacity(hosts.len());
        let mut queues = Queues::new();
        for Outside { nodes: names, queues: links, host } in hosts {
            let places: Vec<usize> = names.iter().filter_map(place).collect();
            let ends = scenario.flows.iter().enumerate().flat_map(|(index, flow)| {
                let ends = [(flow.from, Side::Sender), (flow.to, Side::Receiver)];
                ends.into_iter().filter(|(node, _)| places.contains(node)).map(move |(_, side)| (index, side))
            });
            let shared = OutsideNode::shared(names.join(", "), host, ends.collect());
            for node in &places {
                outside[*node] = Some(shared.clone());
            }
            queues.extend(links.into_iter().map(|link| (link, Box::new(shared.queue(link)) as Box<dyn Scheduler>)));
            nodes.push(shared);
        }
        let mut connect = |index: usize, flow: &FlowSpec| {
            let interface = |node: usize, side| Some(outside[node].as_ref()?.interface(index, side));
            connection(index, flow, [interface(flow.from, Side::Sender)?, interface(flow.to, Side::Receiver)?])
        };
        let live = Live::between(scenario, captured, &mut connect, queues)?;
        Ok(Self { live, nodes })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        self.live.scenario()
    }

    /// Processes all events of the engine and of the hosts before `until` and before the end of the run. The result does not depend on such
    /// divisions. `interrupted` is called from time to time; if it returns true, the run stops.
    ///
    /// # Errors
    /// If `interrupted` returned true, or a host has failed or broken its contract.
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
            if let Some(end) = self.nodes.iter().find_map(|node| node.lock().ended()) {
                self.live.cut(end);
                return Ok(());
            }
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
        Ok(self.finish())
    }

    /// Ends the run at `end` instead of the scenario's end, if that is earlier.
    pub fn cut(&mut self, end: Instant) {
        self.live.cut(end);
    }

    /// The result, after [`Lockstep::advance`] has come to the end.
    pub fn finish(self) -> RunResult {
        self.live.finish()
    }
}

/// Checks that every outside host has flows, and that their packets can be frames.
fn check(scenario: &Scenario, hosts: &[&str]) -> Result<(), String> {
    let ends: Vec<&str> = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).map(|node| scenario.nodes[node].as_str()).collect();
    for name in hosts {
        if !ends.contains(name) {
            let mut known = ends.clone();
            known.sort_unstable();
            known.dedup();
            return Err(format!("outside host: {}", unknown("end of a flow", name, &known)));
        }
    }
    for flow in &scenario.flows {
        let [from, to] = [flow.from, flow.to].map(|node| scenario.nodes[node].as_str());
        match [from, to].map(|name| hosts.contains(&name)) {
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
