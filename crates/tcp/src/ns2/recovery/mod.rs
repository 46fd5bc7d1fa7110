//! Loss recovery: what the sender does with ACKs when segments are missing. Apart from congestion control, which only decides the window.
//!
//! A recovery does not send: it leaves a [`Permit`], which the sender uses up.

use std::fmt::Debug;

use ackclock_core::entries;
use ackclock_core::entry::Entry;
use ackclock_core::units::{Instant, Segments};

use super::{Ack, Permit, State};

entries! { Entry<dyn Policy>:
    tahoe,
    reno,
    newreno,
    sack,
    vegas,
}

/// A recovery with its state.
pub(crate) trait Policy: Debug + Send + Sync {
    /// The receiver's window in packets, told once before the first event.
    fn begin(&mut self, _rwnd: u32) {}

    /// Takes an ACK.
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>);

    /// The retransmission timer has expired: recovery is over.
    fn on_timeout(&mut self, state: &mut State, now: Instant);

    /// Segment `seq` is about to be sent.
    fn on_sent(&mut self, _now: Instant, _seq: u32) {}

    /// How much may go when the application has more.
    fn permit(&self) -> Permit {
        Permit::Window(u32::MAX)
    }

    /// The next segment that the pipe allows, while [`Policy::permit`] is [`Permit::Pipe`].
    fn next_by_pipe(&mut self, _state: &mut State, _now: Instant) -> Option<u32> {
        None
    }

    /// Whether the receiver reports what arrived out of order (SACK).
    fn uses_sack(&self) -> bool {
        false
    }

    /// The window from which the sender starts over after a timeout.
    fn loss_window(&self) -> Segments {
        1.0
    }

    /// Whether an expired timer counts as a timeout with nothing outstanding too.
    fn expires_when_idle(&self) -> bool {
        false
    }
}
