//! What a segment keeps of the moment in which it was sent, for the delivery rate.

use ackclock_core::units::Instant;

/// The state of the connection when a segment was sent (draft §3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    /// Bytes that had been delivered.
    pub(super) delivered: u64,
    /// When the last of them were.
    pub(super) delivered_at: Instant,
    /// When the segment was sent whose delivery had been noticed last, or the first of the flight.
    pub(super) first_sent: Instant,
    /// Whether the application had too little to send.
    pub(super) app_limited: bool,
}
