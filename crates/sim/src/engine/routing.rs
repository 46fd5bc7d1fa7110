//! The routes of a scenario's flows.

use super::error::RunError;
use crate::net::route::{Routes, Unroutable};
use crate::scenario::Scenario;

/// Index of the link with the lowest mean rate on the first flow's data path; the first one, if several are equally slow. Without flows, all
/// links count. `None`: there is no such link.
pub(super) fn slowest(scenario: &Scenario, routes: &Routes) -> Option<usize> {
    let rate = |link: &usize| scenario.links[*link].rate.mean();
    if scenario.flows.is_empty() {
        return (0..scenario.links.len()).min_by_key(rate);
    }
    routes.hops(0).iter().map(|hop| hop.link as usize).min_by_key(rate)
}

/// The routes of all flows.
pub(super) fn routes(scenario: &Scenario) -> Result<Routes, RunError> {
    let name = |node: usize| scenario.nodes[node].clone();
    let links: Vec<_> = scenario.links.iter().map(|link| (link.from, link.to)).collect();
    let flows: Vec<_> = scenario.flows.iter().map(|flow| (flow.from, flow.to)).collect();
    Routes::find(scenario.nodes.len(), &links, &flows).map_err(|problem| match problem {
        Unroutable::Apart((from, to)) => RunError::NoRoute { from: name(from), to: name(to) },
        Unroutable::TooLong((from, to)) => RunError::RouteTooLong { from: name(from), to: name(to) },
    })
}
