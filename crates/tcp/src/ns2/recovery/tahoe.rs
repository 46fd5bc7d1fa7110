//! Tahoe.
//!
//! ## What it does
//! The third duplicate ACK indicates a loss. The sender restarts slow start from one segment and retransmits from the first unacknowledged
//! segment on.
//!
//! ## References
//! Jacobson, *Congestion avoidance and control*, 1988; ns-2.35's Tahoe agent, inferred from its runs.
//!
//! ## Differs from the document
//! Limited transmit (RFC 3042) is a setting of the host.
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::units::Instant;

use super::Policy;
use crate::ns2::packets::Ack;
use crate::ns2::sender::{DUP_THRESH, Permit, State};

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "tahoe",
    summary: "Fast retransmit, then slow start from one segment",
    reference: "Jacobson 1988",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Tahoe)),
};

#[derive(Debug)]
struct Tahoe;

impl Policy for Tahoe {
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        state.permit(Permit::Window(u32::MAX));
        if ack.seq > state.una() {
            state.acknowledge_and_grow(now, ack);
        } else if ack.seq == state.una() {
            state.count_duplicate();
            state.observe(now, 0, ack);
            if state.dupacks() == DUP_THRESH {
                fast_retransmit(state, now);
            } else {
                state.permit_limited_transmit();
            }
        }
    }

    fn on_timeout(&mut self, _state: &mut State, _now: Instant) {}
}

fn fast_retransmit(state: &mut State, now: Instant) {
    if !state.start_fast_retransmit(now, true) {
        return;
    }
    state.go_back();
    state.reset_timer(now);
}
