//! The packets of an `ns2` connection, as its ends pass them on.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::blocks::SackBlocks;

/// A packet of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) seq: u32,
    /// Bytes with headers.
    pub(super) size: u16,
    pub(super) sent: Instant,
    pub(super) ecn: Ecn,
    /// Whether the window has been reduced (CWR); on the SYN, whether it requests ECN.
    pub(super) cwr: bool,
}

/// An ACK, as passed to the recovery policies.
pub(super) struct Ack<'a> {
    pub(super) seq: u32,
    /// Round-trip time, if it was measured.
    pub(super) rtt: Option<Duration>,
    /// One-way delay, if the control wants it.
    pub(super) delay: Option<Duration>,
    pub(super) sack: &'a SackBlocks,
    /// Whether the ACK echoes a mark (ECE).
    pub(super) ecn_echo: bool,
}

/// An ACK to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// Next expected number.
    pub(super) seq: u32,
    /// Sending time of the segment that caused the ACK.
    pub(super) echo: Instant,
    /// SACK blocks.
    pub(super) sack: SackBlocks,
    /// Whether the ACK echoes a mark (ECE).
    pub(super) ecn_echo: bool,
}
