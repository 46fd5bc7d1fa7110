//! Notices of drops: a queue has dropped a segment, and a retransmission timer is to expire at once.
//!
//! What of RFC 6298 §5 and RFC 5681 §3.1 applies to an expired timer applies here: `ssthresh` is half of what was in flight, the window
//! one segment, the timeout doubles. But once in a recovery period: drops of segments that were sent before the sender noticed congestion
//! tell of the same congestion, and are only repaired. A dropped retransmission is a timer that expires again (RFC 5681 §3.1): the window is
//! one segment and the timeout doubles, `ssthresh` stays.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;

use super::{Permit, Sender, State};
use crate::tcp::packet::DropNotice;

impl Sender {
    /// A queue has dropped a segment. Then [`Sender::poll_transmit`] gives what to send.
    pub(crate) fn handle_notice(&mut self, now: Instant, dropped: &DropNotice) {
        let state = &mut self.state;
        state.permit = Permit::None;
        if !state.awaits(dropped) {
            return;
        }
        // A SYN is alone, so that its timer is the connection's.
        let connection = dropped.notice == Notice::Connection || dropped.seq == 0;
        let told = dropped.seq > 0 && dropped.seq < state.recovery_point;
        let snd_nxt = state.snd_nxt;
        if !told || connection || state.resent.contains_key(&dropped.seq) {
            self.policy.on_timeout(state, now);
            state.expire_on_notice(now, told);
        }
        if !connection {
            state.snd_nxt = snd_nxt;
            state.retransmit = Some(dropped.seq);
            // Karn: what is timed may now wait for the segment that is sent again.
            state.timed = None;
        }
    }
}

impl State {
    /// Whether what was dropped is the last transmission of a segment that is outstanding, and is not going to be sent again anyway.
    fn awaits(&self, dropped: &DropNotice) -> bool {
        let outstanding = (self.snd_una..self.snd_nxt).contains(&dropped.seq);
        outstanding && self.resent.get(&dropped.seq).is_none_or(|last| *last == dropped.sent)
    }

    /// The timer expires. `told`: the sender has reduced its window since the dropped segment was first sent.
    fn expire_on_notice(&mut self, now: Instant, told: bool) {
        self.lost_syns += u32::from(self.snd_una == 0);
        if told {
            self.restart_window();
            self.last_cause = Some(Cause::Timeout);
            self.recovery_point = self.snd_max;
        } else {
            self.reduce(now, Cause::Timeout, true);
        }
        self.start_over(now);
    }
}
