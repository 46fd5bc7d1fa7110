//! Routes by the fewest hops, for what a scenario needs to know of them: whether there is one, and bandwidth-delay products.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ackclock_core::qdisc::Limit;
use ackclock_core::registry::Value;
use ackclock_core::units::Duration;

use crate::scenario::topology::{Network, Pipe};

/// Sender and receiver of flows.
pub(crate) type Ends = (usize, usize);

/// The links of the shortest routes of `pairs`, both ways each; `None` if there is no route.
pub(crate) fn routes(network: &Network, pairs: &BTreeSet<Ends>) -> BTreeMap<Ends, Option<Vec<usize>>> {
    let mut graph = Graph::new(network);
    let mut targets: BTreeMap<usize, Vec<Ends>> = BTreeMap::new();
    for ends in pairs.iter().flat_map(|&(from, to)| [(from, to), (to, from)]) {
        // Hosts with one link share the search of the router behind it: a million pairs of a dumbbell take two searches.
        targets.entry(graph.gateway(ends.0)).or_default().push(ends);
    }
    let mut found = BTreeMap::new();
    for (gateway, ends) in targets {
        graph.search(gateway, ends.iter().map(|ends| ends.1).collect());
        found.extend(ends.into_iter().map(|ends| (ends, graph.route(gateway, ends))));
    }
    found
}

struct Graph<'a> {
    links: &'a [Pipe],
    /// Links that leave each node.
    out: Vec<Vec<usize>>,
    /// The link by which the last search reached each node, and the number of that search.
    reached: Vec<(usize, usize)>,
    searches: usize,
}

impl<'a> Graph<'a> {
    fn new(network: &'a Network) -> Self {
        let mut out = vec![Vec::new(); network.nodes.len()];
        for (index, link) in network.links.iter().enumerate() {
            out[link.spec.from].push(index);
        }
        Self { links: &network.links, out, reached: vec![(usize::MAX, 0); network.nodes.len()], searches: 0 }
    }

    fn gateway(&self, node: usize) -> usize {
        match self.out[node][..] {
            [only] => self.links[only].spec.to,
            _ => node,
        }
    }

    /// Searches breadth first from `start` until all `targets` are reached.
    fn search(&mut self, start: usize, mut targets: BTreeSet<usize>) {
        self.searches += 1;
        self.reached[start] = (usize::MAX, self.searches);
        targets.remove(&start);
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if targets.is_empty() {
                return;
            }
            for &link in &self.out[node] {
                let next = self.links[link].spec.to;
                if self.reached[next].1 != self.searches {
                    self.reached[next] = (link, self.searches);
                    targets.remove(&next);
                    queue.push_back(next);
                }
            }
        }
    }

    fn route(&self, gateway: usize, (from, to): Ends) -> Option<Vec<usize>> {
        if self.reached[to].1 != self.searches {
            return None;
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != gateway {
            let link = self.reached[node].0;
            route.push(link);
            node = self.links[link].spec.from;
        }
        if from != gateway {
            route.extend(self.out[from].first());
        }
        route.reverse();
        Some(route)
    }
}

/// The longest two-way propagation delay and the largest packet of the flows on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    delay: Duration,
    packet: u64,
}

impl Load {
    fn include(&mut self, other: Self) {
        self.delay = self.delay.max(other.delay);
        self.packet = self.packet.max(other.packet);
    }
}

/// Turns limits in multiples of the bandwidth-delay product into packets; `packets` are the largest packets of the flows between two ends.
pub(crate) fn resolve_bdp(network: &mut Network, routes: &BTreeMap<Ends, Option<Vec<usize>>>, packets: &BTreeMap<Ends, u64>) {
    if network.links.iter().all(|link| link.bdp.is_empty()) {
        return;
    }
    let mut all = Load::default();
    let mut loads: Vec<Option<Load>> = vec![None; network.links.len()];
    for (&(from, to), &packet) in packets {
        let ways = [(from, to), (to, from)].map(|ends| routes.get(&ends).and_then(Option::as_deref).unwrap_or_default());
        let links = || ways.iter().copied().flatten().copied();
        let delay = links().fold(Duration::ZERO, |sum, link| sum + network.links[link].spec.delay);
        let load = Load { delay, packet };
        all.include(load);
        links().for_each(|link| loads[link].get_or_insert_default().include(load));
    }
    for (link, load) in network.links.iter_mut().zip(loads) {
        let load = load.unwrap_or(all);
        for (param, multiples) in std::mem::take(&mut link.bdp) {
            let product = link.spec.rate.bytes_in(load.delay) / load.packet.max(1) as f64;
            // A product that is whole must stay it in spite of binary fractions: 25 packets, not 26.
            let limit = (multiples * product * (1.0 - 1e-12)).ceil().clamp(2.0, 1e15);
            if let Some(queue) = &mut link.spec.queue {
                queue.params.set(param, Value::Limit(Limit::Packets(limit as u64)));
            }
        }
    }
}
