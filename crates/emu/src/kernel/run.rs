//! Runs of a scenario.

use std::sync::{Arc, Mutex};
use ackclock_sim::engine::{Live, RunResult};
use ackclock_sim::scenario::{ControlSpec, Scenario};
use ackclock_tcp::Side;
use ackclock_linux::scheduling;

use super::Failure;
use super::connection::{KernelConnection, Parts};
use super::settings::FlowPlan;
use super::sockets;
use super::writer::WriterThread;
use crate::emulator::{self, Port};
use crate::space::{Space, Terminal};

pub fn run(scenario: &Scenario) -> Result<(RunResult, [f64; 3]), String> {
    let plans: Vec<Option<FlowPlan>> = scenario.flows.iter().map(FlowPlan::new).collect::<Result<_, _>>()?;
    let mut terminals = Vec::new();
    for (flow, plan) in plans.iter().enumerate() {
        let Some(plan) = plan else { continue };
        for side in Side::ALL {
            let node = if side == Side::Sender { scenario.flows[flow].from } else { scenario.flows[flow].to };
            terminals.push(Terminal { node, flow, side, route: plan.route });
        }
    }
    let mut space = Space::new(&terminals)?;
    for node in &space.nodes {
        for &(flow, _) in &node.terminals {
            let plan = plans[flow].as_ref().unwrap();
            let parameters: Vec<(&str, &str)> = plan.parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
            node.set(&parameters)?;
        }
    }
    let failure = Failure::default();
    let writer = WriterThread::start(2 * scenario.flows.len(), failure.clone()).map_err(|e| e.to_string())?;
    let control = |spec: &ControlSpec| match spec {
        ControlSpec::Composed(parts) if parts.avoidance.name == "reno" => "reno",
        ControlSpec::Composed(_) => "cubic",
        _ => "bbr",
    };
    for node in &space.nodes {
        sockets::warm_up(node, "reno")?;
    }
    let mut made: Vec<_> = plans.iter().enumerate().map(|(flow, plan)| plan.as_ref().map(|plan| sockets::open(&space, flow, plan, control(&scenario.flows[flow].control))).transpose()).collect::<Result<Vec<_>, _>>()?;
    let nodes = std::mem::take(&mut space.nodes);
    let late = Arc::new(Mutex::new(Vec::new()));
    let zero = scheduling::clock() + 50_000_000;
    let tuns: Vec<_> = nodes.iter().map(|node| Arc::new(node.tun.try_clone().unwrap())).collect();
    let port = |flow, side| {
        let at = nodes.iter().position(|node| node.terminals.contains(&(flow, side))).unwrap();
        Port::new(tuns[at].clone(), zero, late.clone())
    };
    let ports: Vec<[Port; 2]> = (0..plans.len()).map(|flow| Side::ALL.map(|side| port(flow, side))).collect();
    let live = Live::new(scenario.clone(), &[], &mut |flow, _| {
        let plan = plans[flow].as_ref()?;
        Some(Box::new(KernelConnection::new(Parts {
            flow,
            bulk: plan.bulk,
            segment: plan.segment,
            threshold: f64::INFINITY,
            sockets: made[flow].take()?,
            ports: ports[flow].clone(),
            writer: writer.writer()?.clone(),
            failure: failure.clone(),
        })))
    })
    .map_err(|e| e.to_string())?;
    let live = std::thread::scope(|scope| scope.spawn(|| emulator::run(live, &tuns, &ports, zero)).join().unwrap());
    if let Some((stream, what)) = failure.get() {
        return Err(format!("flow {}: {what}", scenario.flows[stream / 2].name));
    }
    let result = live.finish();
    drop(nodes);
    let mut late = late.lock().unwrap().clone();
    late.sort_unstable();
    let q = |p: usize| late.get((late.len() * p / 1000).min(late.len().saturating_sub(1))).copied().unwrap_or(0) as f64 / 1e6;
    Ok((result, [q(500), q(990), q(1000)]))
}
