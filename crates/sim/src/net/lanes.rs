//! Groups of links that share state: links that follow others, kinds, and lanes.
//!
//! - A link *follows* another if all its packets come from that link. A packet that crosses the first link can cross the second at once, at
//!   a future time, without an event in between.
//! - Links of one *kind* have the same constant rate and delay. A link with a model of either is a kind of its own.
//! - A *lane* is a first-in, first-out queue of packets in flight. Several links share it because their packets mostly arrive in the order
//!   in which they were sent. These are the links that follow one link, or the links of one kind that packets enter first. Fewer lanes make
//!   it cheaper to find the next event.

use std::collections::{BTreeMap, BTreeSet};

use super::link::Link;
use super::port::LinkKind;
use super::route::{Hop, Routes};
use crate::scenario::Scenario;

/// The lanes and kinds of all links.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// Number of lanes.
    pub(crate) count: usize,
    pub(crate) kinds: Vec<LinkKind>,
}

/// The source of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feeder {
    /// No packet crosses it.
    Nothing,
    /// The hosts at its start.
    Hosts,
    /// One other link.
    Link(u32),
    /// Several of these. Also used for a link whose queue decides on departure, which must process each packet at its time, and behind a
    /// link on which packets overtake, because their arrivals are then known out of order.
    Several,
}

impl Lanes {
    /// Groups `links`, the links of `scenario`: assigns each its kind and lane, and marks in the routes the links that follow others.
    pub(crate) fn new(scenario: &Scenario, links: &mut [Link], routes: &mut Routes) -> Self {
        let feeders = find_feeders(scenario, links, routes);
        let (mut numbers, mut kinds) = (BTreeMap::new(), Vec::new());
        for (index, (link, spec)) in links.iter_mut().zip(&scenario.links).enumerate() {
            let next = kinds.len() as u32;
            let constant = spec.rate.models().is_empty() && spec.delay.models().is_empty();
            let alone = (!constant).then_some(index);
            link.port.kind = *numbers.entry((spec.rate.mean(), spec.delay.mean(), alone)).or_insert(next);
            if link.port.kind == next {
                kinds.push(LinkKind::new(spec));
            }
        }
        routes.join(|link| matches!(feeders[link as usize], Feeder::Link(_)));
        Self { count: assign(links, &feeders), kinds }
    }
}

/// Assigns lanes: one per kind to the links that packets enter first, and one to each other link together with the links that follow it.
/// Returns the number of lanes.
fn assign(links: &mut [Link], feeders: &[Feeder]) -> usize {
    let entered = links.iter().zip(feeders).filter(|(_, feeder)| **feeder == Feeder::Hosts);
    let kinds: BTreeSet<u32> = entered.map(|(link, _)| link.port.kind).collect();
    let lanes: BTreeMap<u32, u32> = kinds.into_iter().zip(0..).collect();
    let mut count = lanes.len();
    for (link, feeder) in links.iter_mut().zip(feeders) {
        match feeder {
            Feeder::Hosts => link.port.lane = lanes[&link.port.kind],
            Feeder::Several => {
                link.port.lane = count as u32;
                count += 1;
            }
            Feeder::Nothing | Feeder::Link(_) => {}
        }
    }
    for link in 0..links.len() {
        let mut root = link;
        while let Feeder::Link(upstream) = feeders[root] {
            root = upstream as usize;
        }
        links[link].port.lane = links[root].port.lane;
    }
    count
}

fn find_feeders(scenario: &Scenario, links: &[Link], routes: &Routes) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nothing; scenario.links.len()];
    for route in 0..2 * scenario.flows.len() {
        let mut source = Feeder::Hosts;
        for &Hop { link, .. } in routes.hops(route) {
            let feeder = &mut feeders[link as usize];
            let alone = *feeder == Feeder::Nothing || *feeder == source;
            *feeder = if alone && !links[link as usize].is_scheduled() { source } else { Feeder::Several };
            source = if links[link as usize].port.reorders() { Feeder::Several } else { Feeder::Link(link) };
        }
    }
    feeders
}
