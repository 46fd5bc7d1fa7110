//! The settings of an `ns2` host.

use std::fmt;
use std::sync::LazyLock;

use ackclock_core::entry::{Entry, find};
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Duration};

use super::recovery::{ENTRIES, Policy, sack};

/// The host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub struct Config {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Data in a packet, without headers.
    pub packet_size: Bytes,
    /// Headers of a data packet; an ACK always has 40 bytes of headers.
    pub header: Bytes,
    /// Receiver's window in packets.
    pub rwnd: u32,
    /// Whether the receiver delays ACKs (every second packet, or after `delayed_ack_timeout`).
    pub delayed_ack: bool,
    /// Longest delay of an ACK.
    pub delayed_ack_timeout: Duration,
    /// Whether sender and receiver use Explicit Congestion Notification (RFC 3168).
    pub ecn: bool,
    /// Whether the first two duplicate ACKs release a new packet each (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the first flight is paced over the first round trip with any initial window.
    pub initial_pacing: bool,
    /// Tick of the clock that measures round-trip times.
    pub clock_granularity: Duration,
    /// Phase of that clock: its ticks come at multiples of the granularity minus the phase.
    pub clock_phase: Duration,
    /// Smallest retransmission timeout.
    pub min_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Largest retransmission timeout.
    pub max_rto: Duration,
}

/// A loss recovery of the registry: a file in `recovery/`.
#[derive(Clone, Copy)]
pub struct Recovery(&'static Entry<dyn Policy>);

impl Recovery {
    /// The recovery `name`.
    pub fn find(name: &str) -> Option<Self> {
        find(ENTRIES, name).map(Self)
    }

    /// The names of all recoveries, in the registry's order.
    pub fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| ENTRIES.iter().map(|entry| entry.name).collect());
        &NAMES
    }

    /// The recovery's name.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether the recovery needs selective acknowledgements.
    pub fn uses_sack(self) -> bool {
        self.build().uses_sack()
    }

    pub(super) fn build(self) -> Box<dyn Policy> {
        (self.0.build)(&Params::defaults(self.0.params))
            .unwrap_or_else(|reason| unreachable!("{} refuses its defaults: {reason}", self.name()))
    }
}

impl Default for Recovery {
    /// SACK, as in today's systems.
    fn default() -> Self {
        Self(&sack::ENTRY)
    }
}

impl PartialEq for Recovery {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Config {
    /// Size of a data packet in bytes, with headers.
    pub const fn wire_size(&self) -> u16 {
        (self.packet_size.0 + self.header.0) as u16
    }

    /// Size of the SYN in bytes: the headers alone, or a whole data packet if `header` is zero.
    pub const fn syn_size(&self) -> u16 {
        if self.header.0 == 0 { self.wire_size() } else { self.header.0 as u16 }
    }
}
