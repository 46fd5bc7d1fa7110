//! Notices of drops: a queue has dropped a segment, and a retransmission timer is to expire at once.
//!
//! What of RFC 6298 §5 and RFC 5681 §3.1 applies to an expired timer applies here, once in a recovery period, as in the profile `ns2`. The
//! dropped segment is marked as lost and goes at once; further ones of the same period go as the window and the pipe let them. Nothing is
//! in doubt, so that the reduction is not undone when what was sent before the dropped segment arrives.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;

use super::endpoint::Endpoint;
use super::handshake::Stage;
use super::segment::to_position;
use super::sender::{Phase, Sender};
use crate::connection::DropNotice;

impl Endpoint {
    /// A queue has dropped a segment. Then [`Endpoint::poll_transmit`] gives what to send.
    pub(crate) fn handle_notice(&mut self, now: Instant, dropped: &DropNotice) {
        let Some(position) = to_position(dropped.key, self.handshake.iss, self.sender.snd_una) else { return };
        match self.handshake.stage {
            Stage::SynSent | Stage::SynReceived => {
                if self.handshake.expire_at(now, dropped.sent) {
                    self.handle_timeout(now);
                }
            }
            Stage::Established => self.sender.handle_notice(now, position, dropped),
            Stage::Listen | Stage::Reset => {}
        }
    }
}

impl Sender {
    fn handle_notice(&mut self, now: Instant, position: u64, dropped: &DropNotice) {
        let Some(segment) = self.board.segment_at(position) else { return };
        // A later transmission, if there is one, is not what was dropped.
        if segment.start != position || segment.sent_at() != dropped.sent || !segment.is_awaited() {
            return;
        }
        let again = segment.retransmitted;
        let told = position < self.cwr_point;
        match dropped.notice {
            Notice::Connection if told && !again => {}
            Notice::Connection => self.expire_timer(now),
            Notice::Segment => self.expire_segment(now, position, (told, again)),
        }
    }

    /// The timer of the segment at `position` expires. `told`: the window has been reduced since it was first sent; `again`: it was sent
    /// again.
    fn expire_segment(&mut self, now: Instant, position: u64, (told, again): (bool, bool)) {
        self.board.mark_lost_at(position);
        self.tell_losses(now);
        if !told {
            self.reduce(now, Cause::Timeout);
            self.start_over(now);
        } else if again {
            // RFC 5681 §3.1: the threshold is held, the window is the loss window.
            let excess = self.control.window().cwnd - 1.0;
            if excess > 0.0 {
                self.control.deflate(excess);
            }
            self.start_over(now);
        } else if self.phase == Phase::Open {
            // A mark has reduced the window for the same congestion (RFC 3168 §6.1.2).
            self.enter_recovery(now, self.unsacked());
        }
        self.undo.rule_out();
    }
}
