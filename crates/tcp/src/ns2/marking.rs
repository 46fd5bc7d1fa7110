//! Explicit Congestion Notification (RFC 3168) at the sender: what a mark, echoed by an ACK, does to the window, and how the sender goes on
//! when it leaves less than one segment of it. As in ns-2.35, read off its runs.

use ackclock_core::events::Cause;
use ackclock_core::units::Instant;

use super::{Permit, State};

/// What the sender knows of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marking {
    /// Whether it uses ECN.
    pub(super) capable: bool,
    /// The last mark came at a window of one segment or less.
    pub(super) at_one: bool,
    /// The window was reduced and the receiver does not know it yet (CWR).
    pub(super) reduced: bool,
}

impl Marking {
    /// No mark yet.
    pub(super) const fn new(capable: bool) -> Self {
        Self { capable, at_one: false, reduced: false }
    }
}

impl State {
    /// An ACK of everything below `seq` echoes a mark: a reason to reduce the window, but once in a window of data (RFC 3168 §6.1.2).
    ///
    /// Below two segments there is little left to reduce: from the second such mark in a row on, the timer backs off instead.
    pub(super) fn hear_of_mark(&mut self, now: Instant, seq: u32) {
        if seq > self.recovery_point || self.last_cause == Some(Cause::Timeout) {
            let smallest = self.window.cwnd <= 1.0;
            if smallest && self.ecn.at_one {
                self.rto.back_off();
            }
            self.ecn.at_one = smallest;
            self.reduce(now, Cause::EcnCe, false);
        }
    }

    /// The timer has expired with nothing outstanding, because a mark left less than a segment of window: go on with one.
    pub(super) fn wake(&mut self) {
        self.restart_window();
        self.last_cause = Some(Cause::Timeout);
        self.recovery_point = self.snd_max;
        self.timed = None;
        // The packet that is sent now sets the timer again; without one there is nothing to wait for.
        self.deadline = None;
        self.permit = Permit::Window(u32::MAX);
    }

    /// The timer goes back to a window of one segment and leaves the threshold.
    pub(super) fn restart_window(&mut self) {
        self.control.on_restart();
        self.note_restart();
    }

    /// Counts that the window has gone back to one segment.
    pub(super) fn note_restart(&mut self) {
        self.counters.reductions += 1;
        self.read_window();
        self.ecn.reduced = true;
    }
}
