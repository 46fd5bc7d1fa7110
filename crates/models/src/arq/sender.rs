//! What the simulation of ARQ asks of a retransmission scheme.

/// A sender, which the model calls once per slot.
pub(super) trait Sender {
    /// The number of the frame to send in this slot, if any.
    fn send(&mut self) -> Option<u64>;

    /// Handles the result of a frame sent a round trip ago.
    fn on_result(&mut self, frame: u64, accepted: bool);
}
