//! Queue disciplines: what a link does with a packet that has to wait.

pub use crate::registry::qdisc::*;

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Instant};

/// The capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes, headers included.
    Bytes(u64),
}

/// What waits in a queue; the packet in transmission does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: u64,
}

/// A packet at the entrance of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Instant,
    /// Its size, headers included.
    pub size: Bytes,
    /// The flow it belongs to.
    pub flow: u32,
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the end of the queue.
    Accept,
    /// It is dropped.
    Drop(DropReason),
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The queue was full.
    Overflow,
    /// A loss model took it, not the queue.
    Random,
}

impl DropReason {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Random => "random",
        }
    }
}

/// A first-in, first-out discipline: it decides on arrival, from the backlog, and never reorders. The departure of an accepted packet is
/// then known at once, which is what lets the engine run a link without an event for each departure.
pub trait Admission: Debug + Send + Sync {
    /// Decides on `arrival` when `backlog` waits.
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict;
}
