//! SACK recovery with a pipe.
//!
//! ## What it does
//! The third duplicate ACK starts recovery. In recovery the sender counts the segments in the pipe. While the pipe is below the window, it
//! retransmits each hole once, lowest first, and then sends new data.
//!
//! ## References
//! Fall & Floyd, *Simulation-based comparisons of Tahoe, Reno, and SACK TCP*, 1996; RFC 3517; ns-2.35's Sack1 agent, inferred from its
//! runs.
//!
//! ## Differs from the document
//! Each ACK lowers the pipe by one segment, a partial ACK by two. No segment is retransmitted twice in one recovery.
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::units::Instant;
use ackclock_host::Limit;

use super::Policy;
use crate::ns2::blocks::SackBlocks;
use crate::ns2::packets::Ack;
use crate::ns2::scoreboard::Scoreboard;
use crate::ns2::sender::{DUP_THRESH, Permit, State};

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "sack",
    summary: "Selective acknowledgements with a pipe",
    reference: "RFC 3517",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Sack::default())),
};

/// SACK recovery.
#[derive(Debug, Default)]
struct Sack {
    scoreboard: Scoreboard,
    in_recovery: bool,
    /// Estimated segments in the network. It can become negative, because a partial ACK may subtract more than has left the network.
    pipe: i64,
    /// Holes below this number have been retransmitted; no hole is retransmitted twice.
    next_retransmit: u32,
    /// The timer has expired and no new data has been acknowledged since: duplicate ACKs are ignored.
    after_timeout: bool,
}

impl Policy for Sack {
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        if self.in_recovery {
            self.handle_ack_in_recovery(state, now, ack);
            return;
        }
        if ack.seq > state.una() {
            self.scoreboard.clear();
            self.after_timeout = false;
            state.acknowledge_and_grow(now, ack);
            self.scoreboard.advance(ack.seq);
        } else if ack.seq == state.una() {
            state.observe(now, 0, ack);
            if !self.after_timeout && self.mark(ack.sack) {
                state.count_duplicate();
                if state.dupacks() == DUP_THRESH {
                    self.enter(state, now);
                } else {
                    state.permit_limited_transmit();
                }
            }
        }
        if state.dupacks() == 0 {
            state.permit(Permit::Window(u32::MAX));
        }
    }

    fn on_timeout(&mut self, state: &mut State, _now: Instant) {
        state.set_dupacks(0);
        self.in_recovery = false;
        self.after_timeout = true;
        self.scoreboard.clear();
    }

    fn permit(&self) -> Permit {
        if self.in_recovery { Permit::Pipe } else { Permit::Window(u32::MAX) }
    }

    /// The next hole, or new data within the receiver's window, while the pipe is below the window.
    fn next_by_pipe(&mut self, state: &mut State, now: Instant) -> Option<u32> {
        if self.pipe >= state.seat().window().cwnd as i64 {
            state.note_limit(now, Limit::CongestionWindow);
            return None;
        }
        let hole = self.scoreboard.next_hole(self.next_retransmit.max(state.una()));
        if let Some(seq) = hole {
            self.next_retransmit = seq + 1;
            self.pipe += 1;
            state.lose(now, seq);
            return Some(seq);
        }
        let fits = u64::from(state.nxt()) < u64::from(state.una()) + u64::from(state.rwnd());
        if !fits || !state.is_available(now) {
            let limit = if fits { state.limit_without_data() } else { Limit::ReceiveWindow };
            state.note_limit(now, limit);
            return None;
        }
        self.pipe += 1;
        Some(state.take_next())
    }

    fn uses_sack(&self) -> bool {
        true
    }
}

impl Sack {
    fn mark(&mut self, sack: &SackBlocks) -> bool {
        let mut changed = false;
        for &(start, end) in sack.as_slice() {
            changed |= self.scoreboard.mark(start, end);
        }
        changed
    }

    fn enter(&mut self, state: &mut State, now: Instant) {
        if !state.start_fast_retransmit(now, false) {
            return;
        }
        self.pipe = i64::from(state.max() - state.una()) - i64::from(DUP_THRESH);
        state.reset_timer(now);
        self.in_recovery = true;
        state.retransmit(state.una());
        self.next_retransmit = state.una() + 1;
    }

    fn handle_ack_in_recovery(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        self.pipe -= 1;
        if ack.seq >= state.recovery_point() {
            self.leave(state, now, ack);
            return;
        }
        if ack.seq > state.una() {
            // A partial ACK: the retransmission and the lost original have both left the pipe.
            self.pipe -= 1;
            let acked = ack.seq - state.una();
            state.advance(ack.seq);
            self.scoreboard.advance(ack.seq);
            state.restart_timer(now);
            state.end_backoff();
            state.observe(now, acked, ack);
        } else {
            state.observe(now, 0, ack);
        }
        self.mark(ack.sack);
        state.permit(Permit::Pipe);
    }

    fn leave(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        let acked = ack.seq - state.una();
        self.in_recovery = false;
        state.end_episode();
        state.acknowledge(now, ack);
        self.scoreboard.clear();
        self.scoreboard.advance(ack.seq);
        state.observe(now, acked, ack);
        state.seat().end_recovery(now);
        state.permit(Permit::Window(u32::MAX));
    }
}
