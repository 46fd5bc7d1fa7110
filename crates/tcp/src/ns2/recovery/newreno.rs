//! NewReno.
//!
//! ## What it does
//! Reno's fast recovery that goes on until all that was outstanding at the loss is acknowledged. Each partial ACK retransmits the next missing
//! segment and deflates the window by what has left the network.
//!
//! ## References
//! RFC 6582; ns-2.35's Newreno agent, read off its runs.
//!
//! ## Differs from the document
//! A duplicate ACK in recovery releases at most two segments, and only the first partial ACK restarts the timer (the "impatient" variant).
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::Policy;
use super::reno::{duplicate, give_up, leave};
use crate::ns2::{Ack, DUP_THRESH, Permit, State};

/// Most segments a duplicate ACK may release in recovery.
const RECOVERY_BURST: u32 = 2;

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "newreno",
    summary: "Fast recovery that partial ACKs continue",
    reference: "RFC 6582",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(NewReno::default())),
};

#[derive(Debug, Default)]
struct NewReno {
    /// Whether this recovery has seen a partial ACK: only the first restarts the timer (RFC 6582 §3.2, the "impatient" variant).
    seen: bool,
}

impl Policy for NewReno {
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
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

    fn on_timeout(&mut self, state: &mut State, _now: Instant) {
        give_up(state);
    }
}

impl NewReno {
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
