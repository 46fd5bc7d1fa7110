//! What a transport tells a congestion control: everything an algorithm may need, computed once.

use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// The connection is established: the SYN has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Established {
    /// When the acknowledgement of the SYN arrived.
    pub now: Instant,
    /// Sender maximum segment size (RFC 5681 §2), headers excluded.
    pub smss: Bytes,
    /// How often the SYN had to be sent again.
    pub lost_syns: u32,
    /// Round-trip time of the handshake, where it could be measured.
    pub rtt: Option<Duration>,
    /// The receiver's window, in segments, where it is known.
    pub rwnd: Option<Segments>,
    /// Data that the application has to send, in segments; unknown where it is without end.
    pub available: Option<Segments>,
    /// The initial window that earlier connections to the same peer arrived at, where there were any: see [`FirstWindow`].
    pub learned: Option<Segments>,
}

impl Established {
    /// A handshake of which nothing is known but the segment size.
    pub const fn new(now: Instant, smss: Bytes) -> Self {
        Self { now, smss, lost_syns: 0, rtt: None, rwnd: None, available: None, learned: None }
    }

    /// Whether the SYN had to be sent again.
    pub const fn syn_lost(&self) -> bool {
        self.lost_syns > 0
    }
}

/// What became of the initial window: told once, when all that was sent in it has been acknowledged, or when congestion was noticed before.
/// Not told after a lost SYN, when the initial window is not the policy's own choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstWindow {
    /// The initial window.
    pub window: Segments,
    /// Whether it was used up: application and receiver let so much be sent.
    pub filled: bool,
    /// Whether a loss or a mark was noticed before all of it was acknowledged.
    pub congested: bool,
    /// What connections to the same peer have learned by now, this one not included.
    pub learned: Option<Segments>,
}

/// A segment was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it was sent.
    pub now: Instant,
    /// Segments outstanding, this one included.
    pub flight_size: u32,
    /// Whether it had been sent before.
    pub retransmission: bool,
}

/// An acknowledgement of new data arrived.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Segments it newly acknowledges.
    pub acked: u32,
    /// Segments by which it counts for growth: 1 where every ACK counts alike (ns-2), or the acknowledged segments within the limit of
    /// appropriate byte counting (RFC 3465). The host decides; a growth rule multiplies by it.
    pub counted: Segments,
    /// Segments outstanding after it; where the sender went back, only those that it has sent again.
    pub flight_size: u32,
    /// Round-trip time of the segment that caused it, where it was measured.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// Smallest round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// Delivery rate over the last round trip, where the host samples it.
    pub delivery_rate: Option<Rate>,
    /// Whether that rate was sampled while the application had too little to send, so that the path may be faster
    /// (draft-cheng-iccrg-delivery-rate-estimation-02 §3.4).
    pub app_limited: bool,
    /// Round trips since the start of the connection.
    pub round: u64,
    /// Whether the congestion window was what limited sending. A window that is not used must not grow (RFC 9002 §7.8, RFC 7661);
    /// ns-2 lets it grow all the same, so its host profile always says yes.
    pub cwnd_limited: bool,
    /// Whether the ACK carries an ECN echo (RFC 3168).
    pub ecn_echo: bool,
    /// Whether it acknowledges the SYN, alone or with data, which `acked` then counts. Only a host whose initial window opens later tells
    /// of that ACK (ns-2's Vegas).
    pub handshake: bool,
}

/// Why the network is thought to be congested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate acknowledgements reached the threshold.
    DupAck,
    /// The retransmission timer expired.
    Timeout,
    /// An ECN echo arrived.
    EcnCe,
}

/// Smallest window of a host that halves windows of one segment too: what is less than a segment lets nothing new go until an ACK makes it
/// grow or the timer expires. RFC 3168 §6.1.2 has the sender wait so after a mark; ns-2 does after a loss too.
pub const PART_OF_A_SEGMENT: Segments = 1.0 / 1024.0;

/// A sign of congestion: at most one in a recovery period.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now: Instant,
    /// What it was.
    pub cause: Cause,
    /// The window in force: `cwnd` with its inflation by duplicate ACKs, at most the receiver's window.
    pub window: Segments,
    /// Segments outstanding.
    pub flight_size: u32,
    /// Whether the host's recovery starts over from one segment (Tahoe after duplicate ACKs; every host after a timeout).
    pub restart: bool,
    /// Window from which it starts over, in segments: the loss window of RFC 5681 §3.1, which is 1; Vegas' 2.
    pub loss_window: Segments,
    /// Smallest window that the reduction may leave, in segments: 1, or [`PART_OF_A_SEGMENT`].
    pub least: Segments,
    /// Whether the missing segment had already been sent again: its retransmission was lost too.
    pub resent: bool,
    /// Smallest round-trip time so far.
    pub min_rtt: Option<Duration>,
}
