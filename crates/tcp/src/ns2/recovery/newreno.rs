//! NewReno.
//!
//! ## What it does
//! Fast recovery as in Reno that lasts until all data outstanding at the loss is acknowledged. Each partial ACK retransmits the next
//! missing segment and deflates the window by the segments that have left the network.
//!
//! ## References
//! RFC 6582; ns-2.35's Newreno agent, inferred from its runs.
//!
//! ## Differs from the document
//! A duplicate ACK in recovery releases at most two segments. Only the first partial ACK restarts the timer (the "impatient" variant).
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::Policy;
use super::reno::{duplicate, leave, reset};
use crate::ns2::packets::Ack;
use crate::ns2::sender::{DUP_THRESH, Permit, State};

/// Maximum number of segments that a duplicate ACK releases in recovery.
const RECOVERY_BURST: u32 = 2;

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "newreno",
    summary: "Fast recovery that continues after partial ACKs",
    reference: "RFC 6582",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(NewReno::default())),
};

#[derive(Debug, Default)]
struct NewReno {
    /// Whether this recovery has seen a partial ACK. Only the first one restarts the timer (RFC 6582 §3.2, the "impatient" variant).
    seen: bool,
}

impl Policy for NewReno {
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        if ack.seq > state.una() {
            if ack.seq >= state.recovery_point() || state.last_cause() != Some(Cause::DupAck) {
                self.full_ack(state, now, ack);
            } else {
                self.partial_ack(state, now, ack);
            }
        } else if ack.seq == state.una() {
            duplicate(state, now, ack);
        }
        if state.dupacks() == 0 {
            state.permit(Permit::Window(u32::MAX));
        } else if state.dupacks() >= DUP_THRESH {
            state.permit(Permit::Window(RECOVERY_BURST));
        }
    }

    fn on_timeout(&mut self, state: &mut State, _now: Instant) {
        reset(state);
    }
}

impl NewReno {
    fn full_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        leave(state, now);
        self.seen = false;
        state.acknowledge_and_grow(now, ack);
    }

    /// RFC 6582 §3.2 step 3: deflates the window by the segments that left the network, retransmits the next missing segment, and stays in
    /// recovery.
    fn partial_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        let (acked, inflation) = (ack.seq - state.una(), state.inflation());
        state.advance(ack.seq);
        if inflation > acked {
            state.set_inflation(inflation - (acked - 1));
            // After a mark the window can be below one segment: raise it to one.
            state.seat().deflate(0.0);
        } else {
            state.seat().deflate(f64::from(acked - inflation));
            state.set_inflation(1);
        }
        state.observe(now, acked, ack);
        if !self.seen {
            self.seen = true;
            state.restart_timer(now);
        }
        if state.end_measurement(ack.seq) {
            state.end_backoff();
        }
        state.lose(now, ack.seq);
        state.retransmit(ack.seq);
    }
}
