//! Bandwidth-delay products on the flows' routes. Links with models count with their mean rate and delay.

use std::collections::BTreeMap;

use ackclock_core::params::{Kind, Value};
use ackclock_core::units::{Duration, Limit};

use crate::net::route::{Ends, Found};
use crate::scenario::parameter::Multiple;
use crate::scenario::topology::Network;

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

/// Converts limits in multiples of the bandwidth-delay product to packets. `packets` gives the largest packet of the flows between two
/// ends.
pub(crate) fn resolve_bdp(network: &mut Network, routes: &Found, packets: &BTreeMap<Ends, u64>) {
    if network.links.iter().all(|link| link.bdp.is_empty()) {
        return;
    }
    let mut all = Load::default();
    let mut loads: Vec<Option<Load>> = vec![None; network.links.len()];
    for (&(from, to), &packet) in packets {
        let ways = [(from, to), (to, from)].map(|ends| routes.get(&ends).and_then(Option::as_deref).unwrap_or_default());
        let links = || ways.iter().copied().flatten().map(|&link| link as usize);
        let delay = links().fold(Duration::ZERO, |sum, link| sum + network.links[link].spec.delay.mean());
        let load = Load { delay, packet };
        all.include(load);
        links().for_each(|link| loads[link].get_or_insert_default().include(load));
    }
    for (link, load) in network.links.iter_mut().zip(loads) {
        let load = load.unwrap_or(all);
        for Multiple { path, param, multiples } in std::mem::take(&mut link.bdp) {
            let product = link.spec.rate.mean().bytes_in(load.delay) / load.packet.max(1) as f64;
            // A whole product must stay whole in spite of binary fractions: 25 packets, not 26.
            let limit = (multiples * product * (1.0 - 1e-12)).ceil().clamp(2.0, 1e15);
            if let Some(queue) = &mut link.spec.queue {
                let limit = limit as u64;
                let bytes = Limit::Bytes(limit * load.packet.max(1));
                let limit = if matches!(param.kind, Kind::ByteLimit { .. }) { bytes } else { Limit::Packets(limit) };
                let part = path.iter().try_fold(&mut queue.discipline, |part, (name, index)| part.params.part_mut(name, *index));
                if let Some(part) = part {
                    part.params.set(param.name, Value::Limit(limit));
                }
            }
        }
    }
}
