//! A seat that a stack and an observer hold together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_core::units::Instant;

use super::seat::StackSeat;
use crate::seat::ControlSeat;

/// A [`StackSeat`] that the stack's own object and those who watch the control share.
#[derive(Clone, Debug)]
pub struct SharedSeat(Arc<Mutex<StackSeat>>);

impl SharedSeat {
    /// Shares `seat`.
    pub fn new(seat: StackSeat) -> Self {
        Self(Arc::new(Mutex::new(seat)))
    }

    /// The seat, for the stack that reports to it. What has been reported may wait for the rest of its ACK.
    pub fn lock(&self) -> MutexGuard<'_, StackSeat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the control's seat: window, end of slow start, counters and the control itself, after all that the stack has reported.
    pub fn with<R>(&self, read: impl FnOnce(&mut ControlSeat) -> R) -> R {
        read(self.lock().seat())
    }

    /// When the control's timer expires; [`Instant::MAX`]: never.
    pub fn timer(&self) -> Instant {
        self.with(|seat| seat.timer())
    }

    /// Calls the control if its timer is due, for a driver that has timers; others need not, because the control is called with the next event.
    /// Returns whether it was due.
    pub fn handle_timeout(&self, now: Instant) -> bool {
        self.with(|seat| seat.handle_timeout(now))
    }

    /// An independent seat with a copy of the control, for another path: nothing is in flight there.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::new(self.lock().fork())
    }
}
