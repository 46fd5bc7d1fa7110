//! Which links can be treated as one.
//!
//! Where all packets of a link come from one other link, it *follows* that link: a packet that crosses the first can cross the second at
//! once, in a time still to come, and no event is needed in between. Links of one *kind* have the same rate and delay. A *lane* is a
//! first-in, first-out queue of packets in flight that several links share because their packets mostly arrive in the order in which they
//! were sent: the link they all follow, or the kind of the link they enter first. The fewer lanes, the cheaper the next event.

use std::collections::BTreeMap;

use super::link::Link;
use super::port::LinkKind;
use super::route::Routes;
use crate::scenario::Scenario;

/// Kinds, lanes and followers of all links.
#[derive(Debug)]
pub(crate) struct Lanes {
    kind: Vec<u32>,
    lane: Vec<u32>,
    follows: Vec<bool>,
    count: usize,
    /// A link of each kind.
    examples: Vec<usize>,
}

/// Where a link's packets come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feeder {
    /// No packet crosses it.
    Nothing,
    /// Hosts that it starts from.
    Hosts,
    /// One other link.
    Link(u32),
    /// Several of these; or any, for a link whose queue decides on departure and must see each packet in its time.
    Several,
}

impl Lanes {
    /// Sorts out the links of `scenario`, which `links` are.
    pub(crate) fn new(scenario: &Scenario, links: &[Link], routes: &Routes) -> Self {
        let feeders = find_feeders(scenario, links, routes);
        let (mut kinds, mut examples) = (BTreeMap::new(), Vec::new());
        let mut kind = Vec::with_capacity(scenario.links.len());
        for (index, link) in scenario.links.iter().enumerate() {
            let next = examples.len() as u32;
            let number = *kinds.entry((link.rate, link.delay)).or_insert(next);
            if number == next {
                examples.push(index);
            }
            kind.push(number);
        }
        let mut lanes = Self { lane: Vec::new(), follows: Vec::new(), count: 0, kind, examples };
        lanes.follows = feeders.iter().map(|feeder| matches!(feeder, Feeder::Link(_))).collect();
        lanes.assign(&feeders);
        lanes
    }

    /// Gives the links that packets enter first a lane for each kind, and the others, with what follows them, lanes of their own.
    fn assign(&mut self, feeders: &[Feeder]) {
        let first = self.examples.len() as u32;
        let mut next = first;
        self.lane = feeders
            .iter()
            .zip(&self.kind)
            .map(|(feeder, kind)| {
                if *feeder == Feeder::Several {
                    next += 1;
                    next - 1
                } else {
                    *kind
                }
            })
            .collect();
        for link in 0..feeders.len() {
            let mut root = link;
            while let Feeder::Link(upstream) = feeders[root] {
                root = upstream as usize;
            }
            self.lane[link] = self.lane[root];
        }
        self.count = next as usize;
    }

    /// How many lanes there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The lane of packets that have crossed `link`.
    pub(crate) fn lane(&self, link: usize) -> usize {
        self.lane[link] as usize
    }

    /// The kind of `link`.
    pub(crate) fn kind(&self, link: usize) -> usize {
        self.kind[link] as usize
    }

    /// Whether all packets of `link` come from one other link.
    pub(crate) fn follows(&self, link: u32) -> bool {
        self.follows[link as usize]
    }

    /// The kinds.
    pub(crate) fn kinds(&self, scenario: &Scenario) -> Vec<LinkKind> {
        self.examples.iter().map(|&link| LinkKind::new(&scenario.links[link])).collect()
    }
}

fn find_feeders(scenario: &Scenario, links: &[Link], routes: &Routes) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nothing; scenario.links.len()];
    for route in 0..2 * scenario.flows.len() {
        let mut source = Feeder::Hosts;
        for &link in routes.hops(route) {
            let feeder = &mut feeders[link as usize];
            let alone = *feeder == Feeder::Nothing || *feeder == source;
            *feeder = if alone && !links[link as usize].is_scheduled() { source } else { Feeder::Several };
            source = Feeder::Link(link);
        }
    }
    feeders
}
