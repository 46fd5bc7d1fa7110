//! A packet at a link.

use ackclock_core::units::Moment;

use super::packet::Packet;

/// A packet at the entrance of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    /// Time of arrival. It was determined when the packet's transmission on the previous link started.
    pub(crate) now: Moment,
    pub(crate) packet: Packet,
}
