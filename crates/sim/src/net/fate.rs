//! What becomes of a packet on a link.

use ackclock_core::qdisc::Notice;
use ackclock_core::units::{Instant, Moment};

/// The loss of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) at: Instant,
    /// The notice for the sender, if the queue sends one.
    pub(crate) notice: Option<Notice>,
}

impl Loss {
    /// A loss without a notice.
    pub(crate) const fn silent(at: Instant) -> Self {
        Self { at, notice: None }
    }
}

/// The fate of a packet on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Crossing {
    /// It reaches the other end.
    Through {
        /// Time of arrival there.
        arrival: Moment,
        /// Whether the queue marked it.
        marked: bool,
    },
    /// It is lost.
    Lost(Loss),
    /// In front of the queue, loss models have copied it: see [`Port::copies`](super::port::Port::copies).
    Entering,
    /// It reaches the other end as several packets, as none, or out of order.
    Leaving {
        /// Time of arrival there.
        arrival: Moment,
        /// Whether the queue marked it.
        marked: bool,
    },
}
