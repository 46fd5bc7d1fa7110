//! Loss recovery: decides what to send when segments are missing. Congestion control is separate and decides only the window.
//!
//! A recovery does not send: it sets a [`Permit`], which the sender uses up.

use std::fmt::Debug;

use ackclock_core::entries;
use ackclock_core::entry::{Entry, try_build};
use ackclock_core::params::Axis;
use ackclock_core::units::{Instant, Segments};

use super::sender::{Ack, Permit, State};

entries! { Entry<dyn Policy>:
    tahoe,
    reno,
    newreno,
    sack,
    vegas,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "recovery",
    noun: "recovery",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "sack",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};

/// A recovery and its state.
pub(crate) trait Policy: Debug + Send + Sync {
    /// Receives the receiver's window in packets, once before the first event.
    fn begin(&mut self, _rwnd: u32) {}

    /// Processes an ACK.
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>);

    /// The retransmission timer has expired, which ends recovery.
    fn on_timeout(&mut self, state: &mut State, now: Instant);

    /// Segment `seq` is about to be sent.
    fn on_sent(&mut self, _now: Instant, _seq: u32) {}

    /// The permit when the application supplies more data or a pacing timer expires.
    fn permit(&self) -> Permit {
        Permit::Window(u32::MAX)
    }

    /// The next segment that the pipe allows, while [`Policy::permit`] is [`Permit::Pipe`].
    fn next_by_pipe(&mut self, _state: &mut State, _now: Instant) -> Option<u32> {
        None
    }

    /// Whether the receiver sends SACK blocks.
    fn uses_sack(&self) -> bool {
        false
    }

    /// The window after a timeout.
    fn loss_window(&self) -> Segments {
        1.0
    }

    /// Whether a timer that expires with no segment outstanding also counts as a timeout.
    fn expires_when_idle(&self) -> bool {
        false
    }
}
