//! Drop notices: a queue has dropped a segment, and a retransmission timer expires at once.
//!
//! The rules of RFC 6298 §5 and RFC 5681 §3.1 for an expired timer apply once per congestion episode, as in the profile `ns2`. The dropped
//! segment is marked as lost and retransmitted at once; further ones of the same episode follow as window and pipe allow. The loss is
//! certain, so ACKs of segments sent before the dropped one do not undo the reduction.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;
use ackclock_host::DropNotice;

use super::Sender;

impl Sender {
    /// A queue has dropped the segment that begins at `position`.
    pub(in super::super) fn handle_notice(&mut self, now: Instant, position: u64, dropped: &DropNotice) {
        let Some(segment) = self.board.segment_at(position) else { return };
        // The notice must match the latest transmission.
        if segment.start != position || segment.sent_at() != dropped.sent || !segment.is_awaited() {
            return;
        }
        let again = segment.is_retransmitted();
        let reduced = self.marks.has_answered(position);
        match dropped.notice {
            Notice::Connection if reduced && !again => {}
            Notice::Connection => self.expire_timer(now),
            Notice::Segment => self.expire_segment(now, position, (reduced, again)),
        }
    }

    /// Lets the timer of the segment at `position` expire. `reduced`: the window has been reduced since the segment was first sent;
    /// `again`: the segment was retransmitted.
    fn expire_segment(&mut self, now: Instant, position: u64, (reduced, again): (bool, bool)) {
        self.board.mark_lost_at(position);
        self.notify_losses(now);
        if !reduced {
            self.reduce(now, Cause::Timeout);
            self.start_over(now);
        } else if again {
            // RFC 5681 §3.1: the threshold stays, the window is the loss window.
            self.seat.deflate_to(1.0);
            self.start_over(now);
        } else if self.repair.is_open() {
            // A mark has reduced the window for the same congestion episode (RFC 3168 §6.1.2).
            self.enter_recovery(now, self.board.unsacked());
        }
        self.undo.rule_out();
    }
}
