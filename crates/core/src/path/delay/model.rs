//! The contract between a link and a model of its propagation delay.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

/// The propagation delay of a link, packet by packet. Asked once for each packet, in the order of transmission.
pub trait DelayModel: Debug + Send + Sync {
    /// Delay of a packet of `size` bytes whose transmission ends at `now`.
    fn delay(&mut self, now: Instant, size: Bytes, random: &mut Generator) -> Duration;

    /// Whether a packet may overtake another. Otherwise the link holds a packet until the one before has arrived.
    fn reorders(&self) -> bool;

    /// Mean delay: it stands for the delay where one number is needed. Without the time for which the link holds packets.
    fn mean(&self) -> Duration;
}
