//! Static routes with the fewest links. Among equally short routes, the one whose links come first in the scenario is chosen.
//!
//! A host with one link shares the search of its router, so that set-up is linear in flows. A dumbbell with a million pairs needs two
//! searches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Two nodes: the ends of a route or a link.
pub(crate) type Ends = (usize, usize);

/// The links of the routes between two nodes; `None` if there is no route.
pub(crate) type Found = BTreeMap<Ends, Option<Vec<u32>>>;

/// Longest route in links.
const MAX_HOPS: usize = u16::MAX as usize;

/// The links that every packet of a flow crosses.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Start of each route in `hops`; it is the end of the previous route.
    begins: Vec<u32>,
    hops: Vec<Hop>,
}

/// A link on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    pub(crate) then: Then,
}

/// The next step of a packet that has crossed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It crosses the next link at once, at a future time.
    Follow,
    /// It waits for its arrival at the next link.
    Wait,
    /// It waits for its arrival at its end host.
    Arrive,
}

/// Why a flow cannot be routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unroutable {
    /// No route joins these nodes.
    Apart(Ends),
    /// The shortest route between these nodes has more than [`MAX_HOPS`] links.
    TooLong(Ends),
}

impl Routes {
    /// The links of route `route`: 2·flow for its data, 2·flow + 1 for its ACKs.
    pub(crate) fn hops(&self, route: usize) -> &[Hop] {
        &self.hops[self.begins[route] as usize..self.begins[route + 1] as usize]
    }

    /// The next link of a packet on `route` that has crossed `crossed` links.
    pub(crate) fn hop(&self, route: usize, crossed: u16) -> Hop {
        self.hops[self.begins[route] as usize + usize::from(crossed)]
    }

    /// The next links of a packet on `route` that has crossed `crossed` links. They continue beyond the end of the route.
    pub(crate) fn ahead(&self, route: usize, crossed: u16) -> &[Hop] {
        &self.hops[self.begins[route] as usize + usize::from(crossed)..]
    }

    /// Marks the links that a packet enters at once, because they follow the previous link.
    pub(super) fn join(&mut self, follows: impl Fn(u32) -> bool) {
        for hop in 1..self.hops.len() {
            if self.hops[hop - 1].then == Then::Wait && follows(self.hops[hop].link) {
                self.hops[hop - 1].then = Then::Follow;
            }
        }
    }

    /// Finds the routes between the ends of every flow over one-way `links`.
    pub(crate) fn find(nodes: usize, links: &[Ends], flows: &[Ends]) -> Result<Self, Unroutable> {
        let found = shortest_routes(nodes, links, flows.iter().copied());
        let mut routes = Self { begins: vec![0], hops: Vec::new() };
        for &(from, to) in flows {
            for ends in [(from, to), (to, from)] {
                let hops = found.get(&ends).and_then(Option::as_ref).ok_or(Unroutable::Apart(ends))?;
                if hops.len() > MAX_HOPS {
                    return Err(Unroutable::TooLong(ends));
                }
                let last = hops.len().saturating_sub(1);
                let then = |place| if place == last { Then::Arrive } else { Then::Wait };
                routes.hops.extend(hops.iter().enumerate().map(|(place, &link)| Hop { link, then: then(place) }));
                routes.begins.push(routes.hops.len() as u32);
            }
        }
        Ok(routes)
    }
}

/// The shortest routes of `pairs`, in both directions, over one-way `links`.
pub(crate) fn shortest_routes(nodes: usize, links: &[Ends], pairs: impl Iterator<Item = Ends>) -> Found {
    let mut graph = Graph::new(nodes, links);
    let mut targets: BTreeMap<usize, BTreeSet<Ends>> = BTreeMap::new();
    for ends in pairs.flat_map(|(from, to)| [(from, to), (to, from)]) {
        targets.entry(graph.gateway(ends.0)).or_default().insert(ends);
    }
    let mut found = BTreeMap::new();
    for (gateway, ends) in targets {
        graph.search(gateway, ends.iter().map(|ends| ends.1).collect());
        found.extend(ends.into_iter().map(|ends| (ends, graph.route(gateway, ends))));
    }
    found
}

struct Graph<'a> {
    links: &'a [Ends],
    /// Links that leave each node.
    out: Vec<Vec<u32>>,
    /// The link by which the last search reached each node, and the number of that search.
    reached: Vec<(u32, usize)>,
    searches: usize,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, links: &'a [Ends]) -> Self {
        let mut out = vec![Vec::new(); nodes];
        for (index, &(from, _)) in links.iter().enumerate() {
            out[from].push(index as u32);
        }
        Self { links, out, reached: vec![(0, 0); nodes], searches: 0 }
    }

    /// The node where the search for routes from `node` begins: `node` itself, or the neighbour at its only link.
    fn gateway(&self, node: usize) -> usize {
        match self.out[node][..] {
            [only] => self.links[only as usize].1,
            _ => node,
        }
    }

    /// Breadth-first search from `start` until all `targets` are reached.
    fn search(&mut self, start: usize, mut targets: BTreeSet<usize>) {
        self.searches += 1;
        self.reached[start].1 = self.searches;
        targets.remove(&start);
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if targets.is_empty() {
                return;
            }
            for &link in &self.out[node] {
                let next = self.links[link as usize].1;
                if self.reached[next].1 != self.searches {
                    self.reached[next] = (link, self.searches);
                    targets.remove(&next);
                    queue.push_back(next);
                }
            }
        }
    }

    fn route(&self, gateway: usize, (from, to): Ends) -> Option<Vec<u32>> {
        if self.reached[to].1 != self.searches {
            return None;
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != gateway {
            let link = self.reached[node].0;
            route.push(link);
            node = self.links[link as usize].0;
        }
        if from != gateway {
            route.extend(self.out[from].first());
        }
        route.reverse();
        Some(route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(links: &[Ends], ends: Ends) -> Option<Vec<u32>> {
        shortest_routes(8, links, [ends].into_iter()).remove(&ends).flatten()
    }

    #[test]
    fn a_one_way_ring_leads_through_nodes_with_one_link_each_way() {
        let ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
        assert_eq!(route(&ring, (0, 4)), Some(vec![0, 1, 2, 3]));
        assert_eq!(route(&ring, (4, 0)), Some(vec![4]));
    }

    #[test]
    fn of_equal_routes_the_first_links_win() {
        assert_eq!(route(&[(0, 1), (0, 2), (2, 3), (1, 3)], (0, 3)), Some(vec![0, 3]));
    }

    #[test]
    fn a_packet_follows_where_the_next_link_does() {
        let mut routes = Routes::find(4, &[(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)], &[(0, 3)]).unwrap();
        routes.join(|link| [0, 2, 3].contains(&link));
        let then = |route: usize| routes.hops(route).iter().map(|hop| hop.then).collect::<Vec<Then>>();
        assert_eq!([then(0), then(1)], [[Then::Wait, Then::Follow, Then::Arrive], [Then::Wait, Then::Wait, Then::Arrive]]);
        assert_eq!(routes.hop(1, 2).link, 5);
    }

    #[test]
    fn there_may_be_no_route() {
        assert_eq!(route(&[(0, 1), (2, 3)], (0, 3)), None);
    }
}
