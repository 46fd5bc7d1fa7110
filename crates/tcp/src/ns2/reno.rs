//! Reno and NewReno: fast retransmit and fast recovery with a window inflated by duplicate ACKs.
//!
//! ## References
//! RFC 2581 §3.2 (Reno); RFC 6582 (NewReno: partial ACKs); ns-2.35's agents, read off their runs.

use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::{Ack, DUP_THRESH, Permit, State};

/// Most segments a duplicate ACK may release in NewReno's recovery.
const RECOVERY_BURST: u32 = 2;

/// Reno.
pub(super) fn handle_ack(state: &mut State, now: Instant, ack: &Ack<'_>) {
    if ack.seq > state.snd_una {
        leave(state, now);
        state.acknowledge_and_grow(now, ack);
    } else if ack.seq == state.snd_una {
        duplicate(state, now, ack);
    }
    if state.dupacks == 0 || state.dupacks >= DUP_THRESH {
        state.permit = Permit::Window(u32::MAX);
    }
}

/// Ends fast recovery, if the sender is in it.
fn leave(state: &mut State, now: Instant) {
    if state.inflation > 0 {
        state.inflation = 0;
        state.last_cause = state.last_cause.filter(|cause| *cause != Cause::DupAck);
        state.control.on_recovery_end(now);
    }
}

/// A duplicate ACK: the third starts fast retransmit, later ones inflate the window.
fn duplicate(state: &mut State, now: Instant, ack: &Ack<'_>) {
    state.dupacks += 1;
    state.observe(now, 0, ack);
    if state.dupacks < DUP_THRESH {
        state.permit_limited_transmit();
    } else if state.dupacks == DUP_THRESH && state.start_fast_retransmit(now, false) {
        state.reset_timer(now);
        state.retransmit = Some(state.snd_una);
        state.inflation = DUP_THRESH;
    } else if state.dupacks > DUP_THRESH && state.last_cause == Some(Cause::DupAck) {
        state.inflation += 1;
    }
}

/// NewReno, with what it remembers of partial ACKs.
#[derive(Debug, Default)]
pub(super) struct Partial {
    /// Whether this recovery has seen a partial ACK: only the first restarts the timer (RFC 6582 §3.2, the "impatient" variant).
    seen: bool,
}

impl Partial {
    pub(super) fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        if ack.seq > state.snd_una {
            if ack.seq >= state.recovery_point || state.last_cause != Some(Cause::DupAck) {
                self.full_ack(state, now, ack);
            } else {
                self.partial_ack(state, now, ack);
            }
        } else if ack.seq == state.snd_una {
            duplicate(state, now, ack);
        }
        if state.dupacks == 0 {
            state.permit = Permit::Window(u32::MAX);
        } else if state.dupacks >= DUP_THRESH {
            state.permit = Permit::Window(RECOVERY_BURST);
        }
    }

    fn full_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        leave(state, now);
        self.seen = false;
        state.acknowledge_and_grow(now, ack);
    }

    /// RFC 6582 §3.2 step 3: the next segment is missing as well; deflate by what left the network, send it, stay in recovery.
    fn partial_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        let acked = ack.seq - state.snd_una;
        state.advance(ack.seq);
        if state.inflation > acked {
            state.inflation -= acked - 1;
            // Less than a segment, after a mark, becomes a whole one.
            state.control.deflate(0.0);
        } else {
            state.control.deflate(f64::from(acked - state.inflation));
            state.inflation = 1;
        }
        state.observe(now, acked, ack);
        if !self.seen {
            self.seen = true;
            state.restart_timer(now);
        }
        if state.timed.take_if(|timed| ack.seq > timed.seq).is_some() {
            state.rto.end_backoff();
        }
        state.retransmit = Some(ack.seq);
    }
}
