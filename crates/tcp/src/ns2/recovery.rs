//! Loss recovery: what the sender does with ACKs when segments are missing. Apart from congestion control, which only decides the window.

use ackclock_core::units::Instant;

use super::{Ack, Permit, State, reno, sack, tahoe, vegas};

/// One of the recoveries, with its state.
#[derive(Debug)]
pub(super) enum Policy {
    Tahoe,
    Reno,
    NewReno(reno::Partial),
    Sack(Box<sack::Sack>),
    Vegas(Box<vegas::Vegas>),
}

impl Policy {
    /// Takes an ACK.
    pub(super) fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        match self {
            Self::Tahoe => tahoe::handle_ack(state, now, ack),
            Self::Reno => reno::handle_ack(state, now, ack),
            Self::NewReno(partial) => partial.handle_ack(state, now, ack),
            Self::Sack(sack) => sack.handle_ack(state, now, ack),
            Self::Vegas(vegas) => vegas.handle_ack(state, now, ack),
        }
    }

    /// The retransmission timer has expired: recovery is over.
    pub(super) fn on_timeout(&mut self, state: &mut State, now: Instant) {
        match self {
            Self::Tahoe => {}
            Self::Reno | Self::NewReno(_) => {
                state.inflation = 0;
                state.dupacks = 0;
            }
            Self::Sack(sack) => sack.on_timeout(state),
            Self::Vegas(vegas) => vegas.on_timeout(state, now),
        }
    }

    /// Segment `seq` is about to be sent.
    pub(super) fn on_sent(&mut self, now: Instant, seq: u32) {
        if let Self::Vegas(vegas) = self {
            vegas.on_sent(now, seq);
        }
    }

    /// How much may go when the application has more.
    pub(super) fn permit(&self) -> Permit {
        match self {
            Self::Sack(sack) if sack.is_recovering() => Permit::Pipe,
            _ => Permit::Window(u32::MAX),
        }
    }

    /// The next segment that the pipe allows.
    pub(super) fn next_by_pipe(&mut self, state: &mut State, now: Instant) -> Option<u32> {
        match self {
            Self::Sack(sack) => sack.next_by_pipe(state, now),
            _ => None,
        }
    }
}
