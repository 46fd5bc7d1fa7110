//! Tahoe: after three duplicate ACKs it starts over from one segment and sends everything again.

use ackclock_core::units::Instant;

use super::{Ack, DUP_THRESH, Permit, State};

pub(super) fn handle_ack(state: &mut State, now: Instant, ack: &Ack<'_>) {
    state.permit = Permit::Window(u32::MAX);
    if ack.seq > state.snd_una {
        state.acknowledge_and_grow(now, ack);
    } else if ack.seq == state.snd_una {
        state.dupacks += 1;
        state.observe(now, 0, ack);
        if state.dupacks == DUP_THRESH {
            fast_retransmit(state, now);
        } else {
            state.permit_limited_transmit();
        }
    }
}

fn fast_retransmit(state: &mut State, now: Instant) {
    if !state.start_fast_retransmit(now, true) {
        return;
    }
    state.snd_nxt = state.snd_una;
    state.reset_timer(now);
}
