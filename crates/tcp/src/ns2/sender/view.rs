//! What a recovery sees of the sender, besides the methods in `state`, `delivery` and `opening`.

use ackclock_core::events::Cause;
use ackclock_core::units::Instant;
use ackclock_host::{ControlSeat, Limit};

use super::state::{Permit, State};

impl State {
    /// First unacknowledged segment.
    pub(in super::super) fn una(&self) -> u32 {
        self.window.una()
    }

    /// Next segment to send.
    pub(in super::super) fn nxt(&self) -> u32 {
        self.window.nxt()
    }

    /// One past the highest segment sent.
    pub(in super::super) fn max(&self) -> u32 {
        self.window.max()
    }

    /// Receiver's window in packets.
    pub(in super::super) fn rwnd(&self) -> u32 {
        self.window.rwnd()
    }

    /// The congestion control's seat.
    pub(in super::super) fn seat(&mut self) -> &mut ControlSeat {
        &mut self.seat
    }

    /// Sets how much may be sent.
    pub(in super::super) fn permit(&mut self, permit: Permit) {
        self.permit = permit;
    }

    /// Segment `seq` leaves before all others.
    pub(in super::super) fn retransmit(&mut self, seq: u32) {
        self.retransmit = Some(seq);
    }

    /// Duplicate ACKs in a row, as the recovery counts them.
    pub(in super::super) fn dupacks(&self) -> u32 {
        self.dupacks
    }

    /// Counts a duplicate ACK; returns their number.
    pub(in super::super) fn count_duplicate(&mut self) -> u32 {
        self.dupacks += 1;
        self.dupacks
    }

    /// Sets the number of duplicate ACKs.
    pub(in super::super) fn set_dupacks(&mut self, dupacks: u32) {
        self.dupacks = dupacks;
    }

    /// Segments by which duplicate ACKs inflate the window.
    pub(in super::super) fn inflation(&self) -> u32 {
        self.inflation
    }

    /// Sets the segments by which duplicate ACKs inflate the window.
    pub(in super::super) fn set_inflation(&mut self, inflation: u32) {
        self.inflation = inflation;
    }

    /// One past the highest segment sent when congestion was last detected.
    pub(in super::super) fn recovery_point(&self) -> u32 {
        self.episode.recovery_point()
    }

    /// The latest sign of congestion since the last full recovery.
    pub(in super::super) fn last_cause(&self) -> Option<Cause> {
        self.episode.cause()
    }

    /// The recovery from a loss is over.
    pub(in super::super) fn end_loss(&mut self) {
        self.episode.end_loss();
    }

    /// All data of the last congestion episode is acknowledged.
    pub(in super::super) fn end_episode(&mut self) {
        self.episode.end();
    }

    /// The transmission has stopped because of `limit`.
    pub(in super::super) fn note_limit(&mut self, now: Instant, limit: Limit) {
        self.limits.note(now, limit);
    }

    /// Restarts the retransmission timer.
    pub(in super::super) fn restart_timer(&mut self, now: Instant) {
        self.timing.restart(now);
    }

    /// Restarts the timer for a retransmission and stops the RTT measurement (Karn).
    pub(in super::super) fn reset_timer(&mut self, now: Instant) {
        self.timing.reset(now);
    }

    /// Ends the RTT measurement without a sample, if an ACK of all segments below `seq` covers the timed segment; returns whether it does.
    pub(in super::super) fn end_measurement(&mut self, seq: u32) -> bool {
        self.timing.end_measurement(seq).is_some()
    }

    /// Ends the backoff of the timer.
    pub(in super::super) fn end_backoff(&mut self) {
        self.timing.end_backoff();
    }

    /// Doubles the timeout.
    pub(in super::super) fn back_off_timeout(&mut self) {
        self.timing.back_off();
    }

    /// Retransmissions of the SYN that count for the initial window.
    pub(in super::super) fn lost_syns(&self) -> u32 {
        self.lost_syns
    }

    /// Lost SYNs do not reduce the initial window.
    pub(in super::super) fn forgive_lost_syns(&mut self) {
        self.lost_syns = 0;
    }
}
