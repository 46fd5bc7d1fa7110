//! Learning between connections: the initial window between two end hosts. It persists between connections, as in a host's cache (RFC 9040
//! §4).

use super::simulation::Simulation;
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Sender and receiver of `flow`, by their nodes.
    fn peers(&self, flow: usize) -> (usize, usize) {
        let spec = &self.scenario.flows[flow];
        (spec.from, spec.to)
    }

    /// Gives a starting connection the window that earlier connections between the same hosts learned.
    pub(super) fn apply_learned(&mut self, flow: usize) {
        let Some(&learned) = self.learned.get(&self.peers(flow)) else { return };
        self.flows[flow].hosts.set_learned(learned);
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
