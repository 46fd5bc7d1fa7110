//! The contract between a link and its loss models.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Instant};

/// A packet that arrives at a loss model.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time at which the packet reaches the queue (position `before`) or leaves the transmitter (position `after`). It never decreases.
    pub now: Instant,
    /// Size, headers included.
    pub size: Bytes,
    /// The packet's flow.
    pub flow: u32,
    /// The packet's number among those that this model sees; the first is 1.
    pub number: u64,
}

/// A loss model's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet passes.
    Pass,
    /// The packet is lost.
    Lose,
    /// The packet passes, and so does a copy.
    Duplicate,
}

impl Fate {
    /// A loss if `lost`, else a pass.
    pub const fn lost_if(lost: bool) -> Self {
        if lost { Self::Lose } else { Self::Pass }
    }
}

/// Decides which packets are lost or duplicated. Asked once for each packet.
pub trait LossModel: Debug + Send + Sync {
    /// What becomes of `arrival`.
    fn fate(&mut self, arrival: &Arrival, random: &mut Generator) -> Fate;
}
