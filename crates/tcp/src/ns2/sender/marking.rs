//! Explicit Congestion Notification (RFC 3168) at the sender: the reduction after an echoed mark, and the restart if less than one segment
//! of window remains. The rules are ns-2.35's, inferred from its runs.

use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::state::{Permit, State};

impl State {
    /// An ACK of all segments below `seq` echoes a mark: the window is reduced, at most once per window of data (RFC 3168 §6.1.2).
    ///
    /// At a window of one segment or less, the second and later marks in a row also back off the timer.
    pub(super) fn handle_mark(&mut self, now: Instant, seq: u32) {
        if seq > self.episode.recovery_point() || self.episode.cause() == Some(Cause::Timeout) {
            let smallest = self.seat.window().cwnd <= 1.0;
            if smallest && self.ecn.at_one {
                self.timing.back_off();
            }
            self.ecn.at_one = smallest;
            self.reduce(now, Cause::EcnCe, false);
        }
    }

    /// The timer has expired with no segment outstanding, because a mark left less than one segment of window. The sender restarts with one
    /// segment.
    pub(super) fn wake(&mut self) {
        self.restart_window();
        self.episode.begin(Cause::Timeout, self.window.max());
        self.timing.forget();
        // The next packet sets the timer again; without a packet no timer is needed.
        self.timing.stop();
        self.permit = Permit::Window(u32::MAX);
    }

    /// Sets the window to one segment and leaves the threshold.
    pub(super) fn restart_window(&mut self) {
        self.seat.restart();
        self.note_restart();
    }

    /// Counts a reduction to one segment.
    pub(super) fn note_restart(&mut self) {
        self.counters.reductions += 1;
        self.ecn.reduced = true;
    }
}
