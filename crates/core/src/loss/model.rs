//! The trait of loss models.

use std::fmt::Debug;

use crate::rng::Generator;

/// Decides which packets are lost.
pub trait LossModel: Debug + Send + Sync {
    /// Whether the next packet is lost.
    fn drops(&mut self, random: &mut Generator) -> bool;
}
