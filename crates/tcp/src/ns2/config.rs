//! The settings of an `ns2` host.

use ackclock_core::units::{Bytes, Duration};

/// The host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Config {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Data in a packet, without headers.
    pub packet_size: Bytes,
    /// Headers in every data packet; an ACK has 40 bytes of them in any case.
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
    /// Whether the first window is spread over the first round trip, whatever the initial window.
    pub initial_pacing: bool,
    /// Tick of the clock that measures round-trip times.
    pub clock_granularity: Duration,
    /// Phase of that clock: it ticks at multiples of the granularity less this.
    pub clock_phase: Duration,
    /// Smallest retransmission timeout.
    pub min_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Largest retransmission timeout.
    pub max_rto: Duration,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then start over.
    Tahoe,
    /// Fast recovery (RFC 2581).
    Reno,
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements with a pipe (RFC 3517, as ns-2's Sack1).
    Sack,
    /// Timeouts of fine grain (Brakmo & Peterson 1995, as ns-2's Vegas).
    Vegas,
}

impl Config {
    /// Size of a data packet in bytes, with headers.
    pub const fn wire_size(&self) -> u16 {
        (self.packet_size.0 + self.header.0) as u16
    }

    /// Size of the SYN in bytes: headers alone, or, where packets have none, as a data packet.
    pub const fn syn_size(&self) -> u16 {
        if self.header.0 == 0 { self.wire_size() } else { self.header.0 as u16 }
    }
}
