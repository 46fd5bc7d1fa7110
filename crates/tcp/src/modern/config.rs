//! The types of the settings of a `modern` host.

use ackclock_core::units::Duration;
pub use ackclock_host::{Growth, Pacing};

/// Method of loss detection and recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RACK-TLP: detection by time, with SACK (RFC 8985).
    Rack,
    /// Detection by counting SACKed segments (RFC 6675).
    Sack,
    /// Detection by duplicate ACKs, without SACK (RFC 6582).
    NewReno,
}

impl Recovery {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Rack, Self::Sack, Self::NewReno];

    /// Its word in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rack => "rack",
            Self::Sack => "sack",
            Self::NewReno => "newreno",
        }
    }
}

/// Size of the receive buffer, and thus of the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// A fixed number of bytes.
    Fixed(u64),
    /// Dynamic right-sizing between these bytes.
    Autotuned {
        /// Initial size, in bytes.
        initial: u64,
        /// Maximum size, in bytes.
        max: u64,
    },
    /// A buffer that counts the memory of packets, and grows with the application's rate.
    Memory {
        /// Initial size, in bytes of memory.
        initial: u64,
        /// Maximum size, in bytes of memory.
        max: u64,
        /// Upper bound of the first window, in bytes of data.
        first_window: u64,
        /// The size that the application has set, in bytes of data (`SO_RCVBUF`); the window scale need not express more.
        asked: Option<u64>,
    },
}

impl ReceiveBuffer {
    /// Initial size, in bytes.
    pub const fn initial(self) -> u64 {
        match self {
            Self::Fixed(initial) | Self::Autotuned { initial, .. } | Self::Memory { initial, .. } => initial,
        }
    }

    /// Maximum size, in bytes.
    pub const fn max(self) -> u64 {
        match self {
            Self::Fixed(max) | Self::Autotuned { max, .. } | Self::Memory { max, .. } => max,
        }
    }
}

/// Size of the send buffer, in bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendBufferSize {
    /// Initial size.
    pub initial: u64,
    /// Largest size to which the congestion window makes it grow.
    pub max: u64,
    /// Room for headers in each packet.
    pub headers: u64,
}

impl SendBufferSize {
    /// Room for headers on a host without wireless devices and tunnels.
    pub const HEADERS: u64 = 192;
    /// Room for headers on a host with them, as distributions build Linux.
    pub const MORE_HEADERS: u64 = 320;
}

/// How a receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// One sign per round trip: the receiver repeats the echo until the sender has reduced its window (RFC 3168).
    Classic,
    /// Counters in each ACK (AccECN, RFC 9768). A peer without them gets classic feedback.
    Accurate,
    /// The echo says whether the acknowledged data was marked (RFC 8257 §3.2). Nothing negotiates it: both ends must be set to it.
    Dctcp,
}

impl Feedback {
    /// Every feedback.
    pub const ALL: [Self; 3] = [Self::Classic, Self::Accurate, Self::Dctcp];

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Accurate => "accurate",
            Self::Dctcp => "dctcp",
        }
    }
}

/// The memory of a received packet, as the driver of the network device allocates it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketMemory {
    /// A buffer that fits the packet, as drivers of Ethernet cards take from a page.
    #[default]
    Fitted,
    /// A buffer of a power of two, as the device TUN takes it.
    PowerOfTwo,
}

/// When the receiver sends an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckRules {
    /// For every second full segment, or after a fixed delay (RFC 5681 §4.2).
    EverySecond,
    /// When the state of the connection suggests it.
    Adaptive(AdaptiveAcks),
}

/// Settings of [`AckRules::Adaptive`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveAcks {
    /// Longest delay of an ACK; the setting `delayed_ack` is the shortest.
    pub delay_max: Duration,
    /// Whether a step by which the receive window grows makes the next ACK immediate.
    pub on_growth: bool,
    /// Whether the last segment of a write is acknowledged as soon as the application has read everything.
    pub on_read: bool,
    /// Whether an end that answers data with data leaves ACKs to its answers.
    pub interactive: bool,
    /// Longest delay by which ACKs of out-of-order segments are compressed; zero: each has its ACK.
    pub compression: Duration,
    /// Largest number of ACKs that compression saves in a row.
    pub compressed_max: u32,
    /// Per cent of a round trip for which a compressed ACK waits at most.
    pub compression_percent: u32,
    /// By how much later a compressed ACK leaves: its timer may be late by that much, and is.
    pub compression_slack: Duration,
}

/// Bounds of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoBounds {
    /// Timeout before the first measurement (RFC 6298 §2.1).
    pub initial: Duration,
    /// Minimum (RFC 6298 §2.4 requires 1 s; today's systems use less).
    pub min: Duration,
    /// Maximum (RFC 6298 §2.5).
    pub max: Duration,
    /// Minimum distance from `srtt`; it replaces the clock granularity G of RFC 6298 §2.3. The default equals `min`, so that a delayed ACK
    /// on a steady path does not let the timer expire. Linux bounds the variance alike.
    pub margin: Duration,
    /// Whether the largest deviation of a round trip counts, and decays slowly from one round trip to the next (Sarolahti and Kuznetsov,
    /// 2002). Otherwise the deviation of every sample counts (RFC 6298 §2.3).
    pub per_round: bool,
}

/// How the host hands segments to its network device, which splits packets (segmentation offload).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// Smallest number of segments in a packet that neither data nor window limits (Linux: `tcp_min_tso_segs`).
    pub min_segments: u32,
    /// A packet that fills this part of the window is not deferred: a third for 3; 0: no packet is (Linux: `tcp_tso_win_divisor`).
    pub window_divisor: u32,
}

/// Additions to the probe timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeMargins {
    /// With several outstanding segments.
    pub several: Duration,
    /// With one outstanding segment, whose ACK the peer may delay. RFC 8985 §7.2: the peer's longest delay.
    pub single: Duration,
}

/// Size of the timestamps option in every segment, in bytes, including padding (RFC 7323 appendix A).
pub const TIMESTAMPS: u16 = 12;
/// Size of the AccECN option in bytes, with all counters and padding.
pub(super) const ECN_COUNTS: u16 = 12;
