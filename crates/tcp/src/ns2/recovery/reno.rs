//! Reno.
//!
//! ## What it does
//! The third duplicate ACK retransmits the first unacknowledged segment and halves the window. Each further duplicate ACK inflates the
//! window by one segment. The first ACK of new data ends recovery, even if other segments are missing.
//!
//! ## References
//! RFC 2581 §3.2; ns-2.35's Reno agent, inferred from its runs.
//!
//! ## Differs from the document
//! As in RFC 6582 §3.2, no fast retransmit starts for a segment sent before the last detected loss. One window of data thus causes one
//! reduction.
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::Policy;
use crate::ns2::packets::Ack;
use crate::ns2::sender::{DUP_THRESH, Permit, State};

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "reno",
    summary: "Fast retransmit, and fast recovery until the first ACK of new data",
    reference: "RFC 2581",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Reno)),
};

#[derive(Debug)]
struct Reno;

impl Policy for Reno {
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        if ack.seq > state.una() {
            leave(state, now);
            state.acknowledge_and_grow(now, ack);
        } else if ack.seq == state.una() {
            duplicate(state, now, ack);
        }
        if state.dupacks() == 0 || state.dupacks() >= DUP_THRESH {
            state.permit(Permit::Window(u32::MAX));
        }
    }

    fn on_timeout(&mut self, state: &mut State, _now: Instant) {
        reset(state);
    }
}

/// Ends fast recovery at a timeout.
pub(super) fn reset(state: &mut State) {
    state.set_inflation(0);
    state.set_dupacks(0);
}

/// Ends fast recovery, if the sender is in it.
pub(super) fn leave(state: &mut State, now: Instant) {
    if state.inflation() > 0 {
        state.set_inflation(0);
        state.end_loss();
        state.seat().end_recovery(now);
    }
}

/// Processes a duplicate ACK: the third starts fast retransmit, later ones inflate the window.
pub(super) fn duplicate(state: &mut State, now: Instant, ack: &Ack<'_>) {
    state.count_duplicate();
    state.observe(now, 0, ack);
    if state.dupacks() < DUP_THRESH {
        state.permit_limited_transmit();
    } else if state.dupacks() == DUP_THRESH && state.start_fast_retransmit(now, false) {
        state.reset_timer(now);
        state.retransmit(state.una());
        state.set_inflation(DUP_THRESH);
    } else if state.dupacks() > DUP_THRESH && state.last_cause() == Some(Cause::DupAck) {
        state.set_inflation(state.inflation() + 1);
    }
}
