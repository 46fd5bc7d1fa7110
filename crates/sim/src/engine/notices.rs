//! Notices: what queues tell the senders of packets that they dropped.
//!
//! A notice needs no bandwidth, is never lost, and takes the propagation delays of the links that the packet had crossed. So what is
//! measured is the most that telling can gain; a message of its own on the way back would wait in queues and could be dropped in turn. Only
//! data is told of: who sends ACKs has no timer for them.

use std::collections::BTreeMap;

use ackclock_core::units::{Duration, Instant};

use super::events::Key;
use super::flow::Hosts;
use super::simulation::{Arrival, Simulation};
use crate::tcp::packet::{DropNotice, Packet};
use crate::trace::Recorder;

/// A notice on its way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    flow: usize,
    dropped_at: Instant,
    dropped: DropNotice,
}

/// The notices on their way, by their arrival; of equal times in the order of the drops.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pending: BTreeMap<(Instant, u64), Pending>,
    count: u64,
}

impl<R: Recorder> Simulation<'_, R> {
    /// Sends a notice of `packet`, dropped at `dropped_at`, back to its sender.
    pub(super) fn notify(&mut self, packet: &Packet, dropped_at: Instant, dropped: DropNotice) {
        if packet.is_ack() {
            return;
        }
        let crossed = &self.routes.hops(packet.route())[..usize::from(packet.hop)];
        let back = crossed.iter().fold(Duration::ZERO, |sum, &link| sum + self.scenario.links[link as usize].delay);
        let at = dropped_at + back;
        if at < self.end {
            self.notices.count += 1;
            self.notices.pending.insert((at, self.notices.count), Pending { flow: packet.flow(), dropped_at, dropped });
            self.events.push(Key::new(at, dropped_at, self.notice_subject()));
        }
    }

    /// A notice arrives.
    pub(super) fn notice_event(&mut self, now: Instant) {
        let Some((_, Pending { flow, dropped_at, dropped })) = self.notices.pending.pop_first() else { return };
        let here = Arrival { at: now, tiebreak: now.as_secs_f64(), scheduled: dropped_at };
        let state = &mut self.flows[flow];
        state.notices += 1;
        let window = match &mut state.hosts {
            Hosts::Ns2 { sender, .. } => {
                sender.handle_notice(now, &dropped);
                sender.window()
            }
            Hosts::Modern(connection) => {
                connection.handle_notice(now, &dropped);
                connection.sender().window()
            }
        };
        if R::ON {
            self.recorder.window(now, flow as u32, window);
        }
        match self.flows[flow].hosts {
            Hosts::Ns2 { .. } => self.transmit(here, flow),
            Hosts::Modern(_) => self.transmit_segments(here, flow, 0),
        }
    }
}
