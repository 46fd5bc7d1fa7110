//! Learning between connections: the initial window between two end hosts, and what a connection has measured of the path (RFC 9959). Both
//! persist between connections, as in a host's cache (RFC 9040 §4). Besides, what the routers of the path approve (RFC 4782).

use ackclock_core::events::{Learned, SavedPath};
use ackclock_core::units::Rate;

use super::simulation::Simulation;
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Sender and receiver of `flow`, by their nodes.
    fn peers(&self, flow: usize) -> (usize, usize) {
        let spec = &self.scenario.flows[flow];
        (spec.from, spec.to)
    }

    /// Gives a starting connection what earlier connections between the same hosts learned, and what its routers approve.
    pub(super) fn apply_learned(&mut self, flow: usize) {
        let window = self.learned.get(&self.peers(flow)).copied();
        let learned = Learned { window, path: self.saved_path(flow), approved: self.approved(flow) };
        if learned != Learned::default() {
            self.flows[flow].hosts.set_learned(learned);
        }
    }

    /// The rate that all routers on the way of the data of `flow` approve of a Quick-Start request.
    fn approved(&self, flow: usize) -> Option<Rate> {
        let links = self.routes.hops(2 * flow).iter().map(|hop| self.scenario.links[hop.link as usize].quick_start);
        links.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    /// What the connections between the hosts of `flow` measured last, if its control wants to know.
    fn saved_path(&self, flow: usize) -> Option<SavedPath> {
        let mut wants = false;
        self.flows[flow].hosts.with_control(&mut |control| wants = control.wants().saved_path);
        if !wants {
            return None;
        }
        let peers = self.peers(flow);
        let others = (0..self.flows.len()).filter(|&other| other != flow && self.peers(other) == peers);
        let saved = |other: usize| {
            let mut path = None;
            self.flows[other].hosts.with_control(&mut |control| path = control.saved_path());
            path
        };
        others.filter_map(saved).max_by_key(|path| path.at)
    }

    /// If the first flight of `flow` is over, stores the window that the control learned from it.
    pub(super) fn learn(&mut self, flow: usize) {
        if !self.flows[flow].hosts.is_first_flight_over() {
            return;
        }
        let peers = self.peers(flow);
        let learned = self.learned.get(&peers).copied();
        let next = self.flows[flow].hosts.finish_first_flight(learned);
        if let Some(next) = next {
            self.learned.insert(peers, next);
        }
    }
}
