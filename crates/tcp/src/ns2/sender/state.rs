//! The state of the sender, shared by all recoveries.

use std::collections::BTreeMap;

use ackclock_core::units::{Bytes, Instant, Segments};
use ackclock_host::{Bulk, ControlSeat, Counters, Limits};

use super::episode::{Episode, Marking};
use super::ledger::{Ledger, Sampling};
use super::timing::Timing;
use super::window::SendWindow;

/// Duplicate ACKs that indicate a loss (RFC 5681 §3.2).
pub(in super::super) const DUP_THRESH: u32 = 3;

/// How much the sender may transmit after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Permit {
    /// Nothing.
    None,
    /// One new segment beyond the window (RFC 3042).
    LimitedTransmit,
    /// As much as the window allows, but at most this many segments.
    Window(u32),
    /// As much as the pipe allows (SACK recovery).
    Pipe,
}

/// The settings of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) limited_transmit: bool,
    /// Window after a timeout.
    pub(super) loss_window: Segments,
    /// Whether the receiver sends SACK blocks.
    pub(super) selective: bool,
    /// Seeds the control's random decisions.
    pub(super) seed: u64,
    pub(super) smss: Bytes,
    pub(super) data_size: u16,
    pub(super) syn_size: u16,
}

/// The sender's state, shared by all recovery policies.
#[derive(Debug)]
pub(in super::super) struct State {
    pub(super) seat: ControlSeat,
    pub(super) window: SendWindow,
    pub(super) timing: Timing,
    pub(super) episode: Episode,
    pub(super) ecn: Marking,
    pub(super) ledger: Ledger,
    pub(super) sampling: Option<Box<Sampling>>,
    pub(super) setup: Setup,
    pub(super) bulk: Bulk,
    pub(super) counters: Counters,
    pub(super) limits: Limits,
    /// How much may be sent.
    pub(super) permit: Permit,
    /// A segment to send before all others.
    pub(super) retransmit: Option<u32>,
    pub(super) dupacks: u32,
    /// Inflation of the window by duplicate ACKs (Reno, NewReno).
    pub(super) inflation: u32,
    /// Outstanding retransmitted segments, with the time of their latest transmission.
    pub(super) resent: BTreeMap<u32, Instant>,
    pub(super) lost_syns: u32,
    /// When the pacer releases the segment that waits for it.
    pub(super) held: Option<Instant>,
}
