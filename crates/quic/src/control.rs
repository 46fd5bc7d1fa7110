//! The congestion control of an end.

use ackclock_core::params::Params;
use ackclock_host::SharedSeat;

/// A congestion control that a stack brings with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// CUBIC.
    Cubic,
    /// NewReno.
    NewReno,
}

impl Own {
    /// The parameter `control` of a profile; `None`: the flow's control.
    pub(crate) fn chosen(params: &Params) -> Option<Self> {
        match params.word("control") {
            "cubic" => Some(Self::Cubic),
            "newreno" => Some(Self::NewReno),
            _ => None,
        }
    }
}

/// The congestion control of an end.
#[derive(Debug)]
pub(crate) enum Control {
    /// One of the stack.
    Own(Own),
    /// One of the contract, in its seat.
    Seat(SharedSeat),
}
