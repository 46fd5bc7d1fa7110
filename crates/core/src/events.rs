//! What a transport tells a congestion control: facts that an algorithm may need, computed once.
//!
//! Data is counted in bytes, windows in segments. Positions (`snd_una`, `snd_nxt`) are bytes of the stream since the connection began.

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
    /// Whether the receiver reports what arrived out of order (SACK, QUIC), so that more than one loss in a round trip can be told.
    pub selective: bool,
    /// Headers that every segment carries, in bytes: a pacing rate counts them, a window does not.
    pub header: Bytes,
    /// From which random decisions are drawn: another for each connection of a run, and for each run.
    pub seed: u64,
}

impl Established {
    /// A handshake of which nothing is known but the segment size.
    pub const fn new(now: Instant, smss: Bytes) -> Self {
        Self { now, smss, lost_syns: 0, rtt: None, rwnd: None, available: None, learned: None, selective: false, header: Bytes(0), seed: 0 }
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

/// Data of a connection so far, in bytes; retransmissions count each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sent, also while the application or recovery limits.
    pub sent: u64,
    /// Delivered: acknowledged cumulatively or selectively. What was sent twice and arrived twice counts once.
    pub delivered: u64,
    /// Thought to be lost; a loss that turns out to be spurious stays counted.
    pub lost: u64,
}

/// The state of the connection at the moment in which a packet was sent (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When the packet was sent last.
    pub sent_at: Instant,
    /// Bytes that had been delivered.
    pub delivered: u64,
    /// When the last of them were.
    pub delivered_at: Instant,
    /// When the packet was sent whose delivery had been noticed last; of a flight that began from idle, when its first was.
    pub first_sent: Instant,
    /// Bytes that had been lost.
    pub lost: u64,
    /// Bytes in flight, the packet included.
    pub inflight: u64,
    /// Whether the application had too little to send.
    pub app_limited: bool,
}

/// The rate of delivery over the flight of the packet that was sent last among those just delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// That packet's snapshot.
    pub packet: Snapshot,
    /// Bytes delivered since it was sent.
    pub delivered: u64,
    /// The longer of the time in which these were sent and the time in which they were acknowledged.
    pub interval: Duration,
    /// The rate; none where the interval is shorter than any round trip so far.
    pub rate: Option<Rate>,
}

/// A segment was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it was sent.
    pub now: Instant,
    /// Its data in bytes.
    pub size: u64,
    /// Segments outstanding, this one included.
    pub flight_size: u32,
    /// Bytes in flight, this segment included: equal to `size` after an idle time.
    pub inflight: u64,
    /// Next position that has never been sent.
    pub snd_nxt: u64,
    /// The connection so far, this segment included.
    pub total: Totals,
    /// Whether it had been sent before.
    pub retransmission: bool,
    /// Whether the application had too little to send before it.
    pub app_limited: bool,
}

/// A segment is thought to be lost: told once for each transmission, before the congestion event or the ACK that the loss belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was noticed.
    pub now: Instant,
    /// Its first position.
    pub start: u64,
    /// One past its last position.
    pub end: u64,
    /// The connection when it was sent last.
    pub packet: Snapshot,
    /// Bytes in flight without it.
    pub inflight: u64,
    /// The connection so far, this loss included.
    pub total: Totals,
}

/// An acknowledgement arrived that says something new: of data, or, as a duplicate, that something has left the network.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Segments it newly acknowledges cumulatively.
    pub acked: u32,
    /// Segments by which it counts for growth: 1 where every ACK counts alike (ns-2), or the acknowledged segments within the limit of
    /// appropriate byte counting (RFC 3465). The host decides; a growth rule multiplies by it.
    pub counted: Segments,
    /// Whether the window may grow: not at a duplicate, in loss recovery, or at an echoed mark (RFC 5681 §3.2, RFC 3168 §6.1.2).
    pub may_grow: bool,
    /// Whether the congestion window was what limited sending. A window that is not used must not grow (RFC 9002 §7.8, RFC 7661);
    /// ns-2 lets it grow all the same, so its host profile always says yes.
    pub cwnd_limited: bool,
    /// Segments outstanding after it; where the sender went back, only those that it has sent again.
    pub flight_size: u32,
    /// Bytes that it newly delivers: acknowledged or, for the first time, acknowledged selectively.
    pub delivered: u64,
    /// Bytes of them that a mark may have hit: all, if it carries an ECN echo. With a receiver that repeats the echo until it is answered
    /// (RFC 3168) that is an upper bound.
    pub marked: u64,
    /// Bytes that are thought to be lost since the last ACK.
    pub lost: u64,
    /// Bytes in flight before it: sent, and neither delivered nor lost.
    pub inflight_before: u64,
    /// Bytes in flight after it.
    pub inflight: u64,
    /// First position that is not acknowledged.
    pub snd_una: u64,
    /// Next position that has never been sent.
    pub snd_nxt: u64,
    /// The connection so far.
    pub total: Totals,
    /// The rate of delivery, where the host samples it: see [`CongestionControl::wants_samples`](crate::cc::CongestionControl).
    pub sample: Option<RateSample>,
    /// Round-trip time of the segment that caused it, where it was measured; the receiver's delay is part of it.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// Smallest round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// Round trips since the start of the connection.
    pub round: u64,
    /// Whether the ACK carries an ECN echo (RFC 3168).
    pub ecn_echo: bool,
    /// Whether it acknowledges the SYN, alone or with data, which `acked` then counts. Only a host whose initial window opens later tells
    /// of that ACK (ns-2's Vegas).
    pub handshake: bool,
}

impl Ack {
    /// An ACK of `acked` segments of `smss` bytes at which the window may grow, and of which nothing else is known.
    pub const fn new(now: Instant, acked: u32, smss: Bytes) -> Self {
        let delivered = acked as u64 * smss.0;
        Self {
            now,
            acked,
            counted: acked as Segments,
            may_grow: true,
            cwnd_limited: true,
            flight_size: 0,
            delivered,
            marked: 0,
            lost: 0,
            inflight_before: delivered,
            inflight: 0,
            snd_una: delivered,
            snd_nxt: delivered,
            total: Totals { sent: delivered, delivered, lost: 0 },
            sample: None,
            rtt: None,
            srtt: None,
            min_rtt: None,
            round: 0,
            ecn_echo: false,
            handshake: false,
        }
    }

    /// Delivery rate over the last round trip, where the host samples it.
    pub fn delivery_rate(&self) -> Option<Rate> {
        self.sample.and_then(|sample| sample.rate)
    }

    /// Whether that rate was sampled while the application had too little to send, so that the path may be faster.
    pub fn app_limited(&self) -> bool {
        self.sample.is_some_and(|sample| sample.packet.app_limited)
    }
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
    /// Bytes in flight: sent, and neither delivered nor lost.
    pub inflight: u64,
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

impl CongestionEvent {
    /// Congestion with `window` segments in force, after which a timeout starts over from one segment.
    pub fn new(now: Instant, cause: Cause, window: Segments) -> Self {
        let restart = matches!(cause, Cause::Timeout);
        Self {
            now,
            cause,
            window,
            flight_size: window as u32,
            inflight: 0,
            restart,
            loss_window: 1.0,
            least: 1.0,
            resent: false,
            min_rtt: None,
        }
    }
}
