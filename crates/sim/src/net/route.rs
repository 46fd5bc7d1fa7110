//! Static shortest-path routes by number of links.
//!
//! Most nodes are leaves with one neighbour, so a search runs only over the nodes in between, once for each of them that some flow
//! leads to: set-up is linear in flows.

use std::collections::{BTreeMap, VecDeque};

use crate::scenario::Scenario;

/// Which links every packet of a flow crosses.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Where a route begins in `hops`; the next one's beginning is its end.
    begins: Vec<u32>,
    hops: Vec<u32>,
}

impl Routes {
    /// The links of route `route`: 2·flow for its data, 2·flow + 1 for its ACKs.
    pub(crate) fn hops(&self, route: usize) -> &[u32] {
        &self.hops[self.begins[route] as usize..self.begins[route + 1] as usize]
    }

    /// Finds the routes of all flows; `Err` names the nodes that no route joins.
    pub(crate) fn find(scenario: &Scenario) -> Result<Self, (usize, usize)> {
        let mut finder = Finder::new(scenario);
        let mut routes = Self { begins: vec![0], hops: Vec::new() };
        for flow in &scenario.flows {
            for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
                finder.append(from, to, &mut routes.hops).ok_or((from, to))?;
                routes.begins.push(routes.hops.len() as u32);
            }
        }
        Ok(routes)
    }
}

struct Finder<'a> {
    scenario: &'a Scenario,
    /// Links that leave a node.
    out: Vec<Vec<u32>>,
    /// Links that reach a node.
    into: Vec<Vec<u32>>,
    /// For a destination, the next link from every node.
    tables: BTreeMap<usize, Vec<Option<u32>>>,
}

impl<'a> Finder<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let nodes = scenario.nodes.len();
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (index, link) in scenario.links.iter().enumerate() {
            out[link.from].push(index as u32);
            into[link.to].push(index as u32);
        }
        Self { scenario, out, into, tables: BTreeMap::new() }
    }

    fn append(&mut self, from: usize, to: usize, hops: &mut Vec<u32>) -> Option<()> {
        let begin = hops.len();
        let mut node = from;
        // A leaf is left and reached by its only link.
        if let [only] = self.out[from][..] {
            hops.push(only);
            node = self.scenario.links[only as usize].to;
        }
        let last = match self.into[to][..] {
            [only] if node != to => Some(only),
            _ => None,
        };
        let target = last.map_or(to, |link| self.scenario.links[link as usize].from);
        if node != target {
            let (scenario, out, into) = (self.scenario, &self.out, &self.into);
            let table = self.tables.entry(target).or_insert_with(|| search(scenario, out, into, target));
            while node != target {
                let link = table[node].or_else(|| {
                    hops.truncate(begin);
                    None
                })?;
                hops.push(link);
                node = scenario.links[link as usize].to;
            }
        }
        hops.extend(last);
        Some(())
    }
}

/// Breadth-first search backwards from `target` over the nodes that are no leaves: the next link from each of them.
fn search(scenario: &Scenario, out: &[Vec<u32>], into: &[Vec<u32>], target: usize) -> Vec<Option<u32>> {
    let mut next = vec![None; scenario.nodes.len()];
    let mut reached = VecDeque::from([target]);
    while let Some(node) = reached.pop_front() {
        for &link in &into[node] {
            let from = scenario.links[link as usize].from;
            if from != target && next[from].is_none() {
                next[from] = Some(link);
                // Nothing leads through a leaf.
                if out[from].len() > 1 || into[from].len() > 1 {
                    reached.push_back(from);
                }
            }
        }
    }
    next
}
