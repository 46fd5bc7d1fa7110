//! The settings of a `modern` host, with the defaults of today's systems.

use ackclock_core::units::{Bytes, Duration, Segments};
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
    },
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
    /// Longest delay of an ACK; [`Config::delayed_ack`] is the shortest.
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

/// Settings of an end host.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub struct Config {
    /// Largest segment that the host announces, without headers and options (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Loss recovery; always [`Recovery::NewReno`] if one end does not use SACK.
    pub recovery: Recovery,
    /// Whether the host offers timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// Whether the host offers window scaling (RFC 7323 §2).
    pub window_scaling: bool,
    /// The feedback of ECN that the host offers; `None`: it uses no ECN.
    pub ecn: Option<Feedback>,
    /// Whether accurate feedback also counts bytes, in an option of pure ACKs (RFC 9768 §3.2.3).
    pub ecn_option: bool,
    /// The receive window.
    pub buffer: ReceiveBuffer,
    /// When the receiver sends an ACK.
    pub acks: AckRules,
    /// Maximum delay of an ACK, or shortest with [`AckRules::Adaptive`] (RFC 5681 §4.2: below 500 ms).
    pub delayed_ack: Duration,
    /// Number of segments at the start that are acknowledged at once, for the peer's slow start.
    pub quick_acks: u32,
    /// Whether the first two duplicate ACKs release new data (RFC 3042).
    pub limited_transmit: bool,
    /// Whether recovery with SACK uses Proportional Rate Reduction (RFC 9937). Otherwise the control's reduced window applies at once.
    pub prr: bool,
    /// Whether the sender uses tail loss probes (RFC 8985 §7; needs [`Recovery::Rack`]).
    pub tlp: bool,
    /// Whether F-RTO checks timeouts (RFC 5682).
    pub frto: bool,
    /// Whether the sender undoes a recovery that timestamps or D-SACKs show as spurious (RFC 4015).
    pub undo: bool,
    /// Whether the window returns to the restart window after an idle retransmission timeout (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// Whether the FIN of a bulk transfer follows alone if all data has left in the first flight.
    pub fin_alone: bool,
    /// Maximum number of segments that one ACK counts in slow start (RFC 3465 §2.2, L).
    pub abc_limit: Segments,
    /// Whether window and threshold are whole segments, and an ACK counts whole segments (Linux).
    pub whole_segments: bool,
    /// Pacing.
    pub pacing: Pacing,
    /// Whether the first flight is paced over the first round trip with any initial window.
    pub initial_pacing: bool,
    /// Retransmission timeout.
    pub rto: RtoBounds,
    /// Whether SACKed segments that were sent once give a round-trip time although the ACK also covers retransmissions. Any other ACK that
    /// advances then gives the control the time between timestamps, and the minimum considers the last segment that an ACK covers.
    pub rtt_of_sacked: bool,
    /// Whether a loss among the data sent during recovery begins another recovery and reduces the window again although it is already
    /// repaired. Evidence against the second reduction then counts the retransmissions in flight at its start.
    pub recover_again: bool,
    /// Whether a timer that expires in recovery leaves the threshold as the recovery has set it.
    pub reduce_once: bool,
    /// Whether a timeout is spurious as soon as a segment that was sent once before it is acknowledged. Otherwise only the second ACK decides
    /// (RFC 5682 §3.1).
    pub frto_at_once: bool,
    /// Whether D-SACKs that arrive after recovery still undo its reduction.
    pub late_undo: bool,
    /// Whether an ECN echo reduces the window gradually, by PRR, over the round trip (Linux, state CWR). Otherwise the window shrinks at once.
    pub gradual_marks: bool,
    /// Which use of the window lets it grow.
    pub growth: Growth,
    /// Segmentation offload, which determines the segments that carry PSH. `None`: segments leave one by one, and the last one that the
    /// application has written carries PSH.
    pub offload: Option<Offload>,
    /// Whether a small segment waits while another small one is outstanding (Nagle's algorithm, RFC 9293 §3.7.4, as modified by Minshall).
    pub nagle: bool,
    /// Time between two ticks of the clock at which timers expire; zero: timers are exact.
    pub timer_tick: Duration,
    /// Addition to the delay of the timer that waits for reordered segments (RFC 8985 §6.2).
    pub reordering_margin: Duration,
    /// Addition to the probe timeout of twice `srtt` (RFC 8985 §7.2).
    pub probe_margins: ProbeMargins,
    /// Number of SYNs that may be lost before the initial window becomes the loss window (RFC 6928 §2: none).
    pub lost_syns_tolerated: u32,
    /// Number of SYNs whose timeout does not double the next one (Linux: `tcp_syn_linear_timeouts`). A SYN-ACK's timeout always does.
    pub syn_linear_timeouts: u32,
    /// Whether the doubled timeout stays until a round-trip time is measured (RFC 6298 §5, note). Otherwise any progress ends the backoff.
    pub backoff_until_measured: bool,
    /// Initial sequence number.
    pub initial_sequence: u32,
    /// Value of the timestamp clock at the start of the run.
    pub initial_timestamp: u32,
}

/// Size of the timestamps option in every segment, in bytes, including padding (RFC 7323 appendix A).
pub const TIMESTAMPS: u16 = 12;

impl Config {
    /// Data in a full segment, if both ends have the same settings.
    pub fn packet_size(&self) -> Bytes {
        Bytes(u64::from(self.mss - if self.timestamps { TIMESTAMPS } else { 0 }))
    }
}

impl Default for Config {
    fn default() -> Self {
        let millis = Duration::from_millis;
        Self {
            mss: 1460,
            recovery: Recovery::Rack,
            timestamps: true,
            window_scaling: true,
            ecn: None,
            ecn_option: true,
            buffer: ReceiveBuffer::Autotuned { initial: 64 * 1024, max: 6 * 1024 * 1024 },
            acks: AckRules::EverySecond,
            delayed_ack: millis(40),
            quick_acks: 16,
            limited_transmit: true,
            prr: true,
            tlp: true,
            frto: true,
            undo: true,
            idle_restart: true,
            fin_alone: false,
            abc_limit: 2.0,
            whole_segments: false,
            pacing: Pacing::Control,
            initial_pacing: false,
            rto: RtoBounds { initial: millis(1000), min: millis(200), max: millis(60_000), margin: millis(200), per_round: false },
            rtt_of_sacked: false,
            recover_again: false,
            reduce_once: false,
            late_undo: false,
            frto_at_once: false,
            gradual_marks: false,
            growth: Growth::Full,
            offload: None,
            nagle: false,
            timer_tick: Duration::ZERO,
            reordering_margin: Duration::ZERO,
            probe_margins: ProbeMargins { several: Duration::ZERO, single: millis(40) },
            lost_syns_tolerated: 0,
            syn_linear_timeouts: 0,
            backoff_until_measured: false,
            initial_sequence: 0,
            initial_timestamp: 0,
        }
    }
}
