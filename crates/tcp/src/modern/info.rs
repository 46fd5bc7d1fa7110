//! The state of a connection as Linux shows it to an application.
//!
//! ## References
//! tcp(7), `TCP_INFO`; ss(8). Each field has the name of `struct tcp_info` without its prefix. Counts are in segments.

use ackclock_core::units::Duration;

/// The state of the sender, with the numbers of `struct tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// No sign of loss or reordering.
    #[default]
    Open = 0,
    /// SACK blocks or duplicate ACKs have arrived, and nothing counts as lost.
    Disorder = 1,
    /// The window is being reduced after a mark or a loss that a probe has repaired.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// Recovery after a retransmission timeout.
    Loss = 4,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// State of the sender.
    pub ca_state: CaState,
    /// Number of doublings of the timeout.
    pub backoff: u32,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Data in a full segment, in bytes.
    pub snd_mss: u32,
    /// Outstanding segments.
    pub unacked: u32,
    /// Outstanding segments that the peer has selectively acknowledged; without SACK, the duplicate ACKs.
    pub sacked: u32,
    /// Outstanding segments that count as lost, whether or not they were sent again.
    pub lost: u32,
    /// Outstanding retransmissions.
    pub retrans: u32,
    /// Time since the last transmission of data; zero if there was none.
    pub last_data_sent: Duration,
    /// Smoothed round-trip time; zero if unknown.
    pub rtt: Duration,
    /// Mean deviation of the round-trip time.
    pub rttvar: Duration,
    /// Minimum round-trip time; zero if unknown.
    pub min_rtt: Duration,
    /// Slow start threshold; `None`: infinite.
    pub snd_ssthresh: Option<u32>,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// Number of SACKed segments by which data may arrive out of order without counting as lost.
    pub reordering: u32,
    /// Number of times that reordering was seen.
    pub reord_seen: u32,
    /// Retransmitted segments, including SYNs.
    pub total_retrans: u32,
    /// Pacing rate in bytes per second; `None`: unlimited.
    pub pacing_rate: Option<u64>,
    /// Latest delivery rate in bytes per second; 0 if unknown.
    pub delivery_rate: u64,
    /// Whether the application limited that sample.
    pub delivery_rate_app_limited: bool,
    /// Segments delivered, including SYN and FIN.
    pub delivered: u32,
    /// Segments whose ACK echoed a mark.
    pub delivered_ce: u32,
    /// Bytes of data acknowledged.
    pub bytes_acked: u64,
    /// Bytes of data sent, including retransmissions.
    pub bytes_sent: u64,
    /// Bytes of data retransmitted.
    pub bytes_retrans: u64,
    /// Bytes of data received in order.
    pub bytes_received: u64,
    /// Segments sent with data, including retransmissions.
    pub data_segs_out: u32,
    /// Bytes written and not yet sent.
    pub notsent_bytes: u32,
    /// Bytes that the peer allows to be outstanding.
    pub snd_wnd: u32,
    /// Number of D-SACK blocks received.
    pub dsack_dups: u32,
    /// Window scale of the peer.
    pub snd_wscale: u8,
    /// Window scale of this end.
    pub rcv_wscale: u8,
    /// Expired retransmission timers.
    pub total_rto: u32,
    /// Size of the peer's full segments, as estimated.
    pub rcv_mss: u32,
    /// Largest segment that this end announces.
    pub advmss: u32,
    /// Window probes without an answer.
    pub probes: u32,
    /// The options that both ends use: timestamps, SACK, window scale, ECN; and whether data travelled with a SYN.
    pub agreed: AgreedOptions,
    /// Bytes that have arrived at the peer, as accurate feedback counts them.
    pub delivered_bytes: EcnBytes,
    /// Bytes that have arrived.
    pub received_bytes: EcnBytes,
    /// Marked packets that have arrived.
    pub received_ce: u32,
}

/// Bytes by the codepoint with which they have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnBytes {
    /// ECT(1).
    pub ect1: u64,
    /// ECT(0).
    pub ect0: u64,
    /// CE.
    pub ce: u64,
}

impl EcnBytes {
    /// Bytes with ECT(1), ECT(0) and CE.
    pub(super) const fn of([ect1, ect0, ce]: [u64; 3]) -> Self {
        Self { ect1, ect0, ce }
    }
}

/// The options that both ends use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub struct AgreedOptions {
    /// Timestamps.
    pub timestamps: bool,
    /// SACK.
    pub sack: bool,
    /// Window scale.
    pub scaling: bool,
    /// ECN.
    pub ecn: bool,
    /// Data of a SYN was accepted.
    pub syn_data: bool,
}
