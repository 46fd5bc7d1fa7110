//! Tahoe: after three duplicate ACKs it starts over from one segment and sends everything again.

use ackclock_core::units::Instant;

use super::{DUP_THRESH, Permit, Segment, State};

pub(super) fn handle_ack(state: &mut State, now: Instant, segment: &Segment<'_>) {
    state.permit = Permit::Window(u32::MAX);
    if segment.seq > state.snd_una {
        state.acknowledge_and_grow(now, segment);
    } else if segment.seq == state.snd_una {
        state.dupacks += 1;
        state.observe(now, 0, segment);
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
