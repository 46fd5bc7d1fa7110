//! Notices of drops: a queue has dropped a segment, and a retransmission timer is to expire at once.
//!
//! What of RFC 6298 §5 and RFC 5681 §3.1 applies to an expired timer applies here, once in a recovery period, as in the profile `ns2`. The
//! dropped segment is marked as lost and goes at once; further ones of the same period go as the window and the pipe let them. Nothing is
//! in doubt, so that the reduction is not undone when what was sent before the dropped segment arrives.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;

use super::Sender;
use crate::connection::DropNotice;

impl Sender {
    /// A queue has dropped the segment that begins at `position`.
    pub(in super::super) fn handle_notice(&mut self, now: Instant, position: u64, dropped: &DropNotice) {
        let Some(segment) = self.board.segment_at(position) else { return };
        // A later transmission, if there is one, is not what was dropped.
        if segment.start != position || segment.sent_at() != dropped.sent || !segment.is_awaited() {
            return;
        }
        let again = segment.retransmitted;
        let told = self.marks.has_answered(position);
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
            self.governor.deflate_to(1.0);
            self.start_over(now);
        } else if self.repair.is_open() {
            // A mark has reduced the window for the same congestion (RFC 3168 §6.1.2).
            self.enter_recovery(now, self.board.unsacked());
        }
        self.undo.rule_out();
    }
}
