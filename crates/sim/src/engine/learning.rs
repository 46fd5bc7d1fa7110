//! What connections learn from each other: the initial window between two end hosts, kept between connections as a host's cache would
//! (RFC 9040 §4).

use super::flow::Hosts;
use super::simulation::Simulation;
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Sender and receiver of `flow`, by their nodes.
    fn peers(&self, flow: usize) -> (usize, usize) {
        let spec = &self.scenario.flows[flow];
        (spec.from, spec.to)
    }

    /// A connection starts: it knows what earlier ones between the same hosts have learned.
    pub(super) fn recall(&mut self, flow: usize) {
        let Some(&learned) = self.learned.get(&self.peers(flow)) else { return };
        match &mut self.flows[flow].hosts {
            Hosts::Ns2 { sender, .. } => sender.recall(learned),
            Hosts::Modern(connection) => connection.recall(learned),
            Hosts::Datagrams(_) => {}
        }
    }

    /// If the first flight of `flow` is over, keeps what the control learned from it.
    pub(super) fn learn(&mut self, flow: usize) {
        let over = match &self.flows[flow].hosts {
            Hosts::Ns2 { sender, .. } => sender.is_first_flight_over(),
            Hosts::Modern(connection) => connection.is_first_flight_over(),
            Hosts::Datagrams(_) => false,
        };
        if !over {
            return;
        }
        let peers = self.peers(flow);
        let learned = self.learned.get(&peers).copied();
        let next = match &mut self.flows[flow].hosts {
            Hosts::Ns2 { sender, .. } => sender.settle(learned),
            Hosts::Modern(connection) => connection.settle(learned),
            Hosts::Datagrams(_) => None,
        };
        if let Some(next) = next {
            self.learned.insert(peers, next);
        }
    }
}
