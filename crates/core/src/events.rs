//! The events that a transport reports to a congestion control: facts that an algorithm may need, computed once.
//!
//! Data is counted in bytes, windows in segments. Positions (`snd_una`, `snd_nxt`) are bytes of the stream since the start of the
//! connection.

use crate::units::{Bytes, Duration, Instant, Rate, Segments};

// Later versions may know more facts: other crates make events by `new` and set what they know.
macro_rules! with {
    ($($event:ident),+) => {
        $(impl $event {
            /// With other facts: `with(|it| it.now = now)`.
            #[must_use]
            #[inline]
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        })+
    };
}

with! { Established, FirstWindow, Totals, Snapshot, RateSample, Sent, Lost, Delivered, Idle, Ack, CongestionEvent, Timing }

/// The connection is established: the SYN has been acknowledged.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Established {
    /// When the acknowledgement of the SYN arrived.
    pub now: Instant,
    /// Sender maximum segment size (RFC 5681 §2), headers excluded.
    pub smss: Bytes,
    /// Number of retransmissions of the SYN.
    pub lost_syns: u32,
    /// Round-trip time of the handshake, if it was measured.
    pub rtt: Option<Duration>,
    /// The receiver's window in segments, if known.
    pub rwnd: Option<Segments>,
    /// Data that the application has to send, in segments; `None` for endless data.
    pub available: Option<Segments>,
    /// The initial window learned from earlier connections to the same peer, if any: see [`FirstWindow`].
    pub learned: Option<Segments>,
    /// What the latest of the earlier connections to the same peer has measured, for a control that wants it: see
    /// [`Wants::saved_path`](crate::cc::Wants).
    pub saved: Option<SavedPath>,
    /// The rate that all routers of the path approve, if all take part (RFC 4782).
    pub approved: Option<Rate>,
    /// Whether the receiver reports data that arrived out of order (SACK, QUIC), so that the sender can detect more than one loss per round
    /// trip.
    pub selective: bool,
    /// Headers of each segment in bytes: a pacing rate includes them, a window does not.
    pub header: Bytes,
    /// Whether the host spreads the segments of a window over the round trip, so that ACKs that arrive at once show nothing about the path.
    pub paced: bool,
    /// Seed of the control's random decisions; differs between connections and between runs.
    pub seed: u64,
    /// Whether window and threshold are whole segments (Linux). Growth then counts segments until they amount to a whole one, and
    /// reductions are rounded down.
    pub whole_segments: bool,
    /// Time from the latest tick of the host's clock to the start of the run, for a control that counts in ticks of that clock.
    pub clock_phase: Duration,
    /// How the feedback on which both ends have agreed counts marks; `None` without ECN. A single ACK can say less: see [`Ack::mark_count`].
    pub marks: Option<MarkCount>,
}

impl Established {
    /// A handshake with only the segment size known.
    pub const fn new(now: Instant, smss: Bytes) -> Self {
        Self {
            now,
            smss,
            lost_syns: 0,
            rtt: None,
            rwnd: None,
            available: None,
            learned: None,
            saved: None,
            approved: None,
            selective: false,
            header: Bytes(0),
            paced: false,
            seed: 0,
            whole_segments: false,
            clock_phase: Duration::ZERO,
            marks: None,
        }
    }

    /// Whether the SYN was retransmitted.
    pub const fn syn_lost(&self) -> bool {
        self.lost_syns > 0
    }
}

/// What a connection has measured of its path, for later ones to the same peer (RFC 9959).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedPath {
    /// Bytes delivered in a round trip.
    pub bytes: f64,
    /// The smallest round-trip time.
    pub rtt: Duration,
    /// When this was measured.
    pub at: Instant,
}

/// What is known of the path before a connection begins: what earlier ones to the peer have learned, the initial window
/// ([`Established::learned`]) and the path ([`Established::saved`]), and what its routers approve ([`Established::approved`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learned {
    /// The initial window.
    pub window: Option<Segments>,
    /// The path.
    pub path: Option<SavedPath>,
    /// The rate that all routers approve.
    pub approved: Option<Rate>,
}

/// The fate of the initial window. Reported once: when all data sent in it has been acknowledged, or at the first congestion before that.
/// Not reported after a lost SYN, when the initial window is not the policy's own choice.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FirstWindow {
    /// The initial window.
    pub window: Segments,
    /// Whether the whole window was sent: application and receiver allowed it.
    pub filled: bool,
    /// Whether a loss or a mark was detected before all of it was acknowledged.
    pub congested: bool,
    /// The window that connections to the same peer have learned so far, without this one.
    pub learned: Option<Segments>,
}

impl FirstWindow {
    /// A window that was sent whole and acknowledged without congestion; other connections have learned nothing.
    pub const fn new(window: Segments) -> Self {
        Self { window, filled: true, congested: false, learned: None }
    }
}

/// Totals of a connection so far, in bytes; each retransmission counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Sent, including while the application or recovery limits the sender.
    pub sent: u64,
    /// Delivered: acknowledged cumulatively or selectively. Data that was sent twice and arrived twice counts once.
    pub delivered: u64,
    /// Declared lost; a loss that proves spurious stays counted.
    pub lost: u64,
}

impl Totals {
    /// These amounts, in bytes.
    pub const fn new(sent: u64, delivered: u64, lost: u64) -> Self {
        Self { sent, delivered, lost }
    }
}

/// The state of the connection when a packet was sent (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Time of the packet's latest transmission.
    pub sent_at: Instant,
    /// Bytes delivered by then.
    pub delivered: u64,
    /// Time of the latest delivery among them.
    pub delivered_at: Instant,
    /// Transmission time of the packet whose delivery was detected last. In a flight that began from idle, the transmission time of its
    /// first packet.
    pub first_sent: Instant,
    /// Bytes declared lost by then.
    pub lost: u64,
    /// Bytes in flight, including the packet.
    pub inflight: u64,
    /// Whether the application had too little data to send.
    pub app_limited: bool,
}

impl Snapshot {
    /// The first packet of a connection, sent at this time.
    pub const fn new(sent_at: Instant) -> Self {
        Self { sent_at, delivered: 0, delivered_at: sent_at, first_sent: sent_at, lost: 0, inflight: 0, app_limited: false }
    }
}

/// The delivery rate over the flight of one packet: the one sent last among those just delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// The packet's snapshot.
    pub packet: Snapshot,
    /// Bytes delivered since the packet was sent.
    pub delivered: u64,
    /// The longer of two times: in which these bytes were sent, and in which they were acknowledged.
    pub interval: Duration,
    /// The rate; `None` if the interval is shorter than any round trip so far.
    pub rate: Option<Rate>,
}

impl RateSample {
    /// A sample without a rate.
    pub const fn new(packet: Snapshot, delivered: u64, interval: Duration) -> Self {
        Self { packet, delivered, interval, rate: None }
    }
}

/// A segment was sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// Time of the transmission.
    pub now: Instant,
    /// Data in bytes.
    pub size: u64,
    /// Segments outstanding, including this one.
    pub flight_size: u32,
    /// Bytes in flight, including this segment; equal to `size` after an idle time.
    pub inflight: u64,
    /// Next position that has never been sent.
    pub snd_nxt: u64,
    /// Totals so far, including this segment.
    pub total: Totals,
    /// Whether the segment had been sent before.
    pub retransmission: bool,
    /// Whether the application had too little data to send before it.
    pub app_limited: bool,
}

impl Sent {
    /// The first segment of a connection, which had enough data to send.
    pub const fn new(now: Instant, size: u64) -> Self {
        Self {
            now,
            size,
            flight_size: 1,
            inflight: size,
            snd_nxt: size,
            total: Totals::new(size, 0, 0),
            retransmission: false,
            app_limited: false,
        }
    }
}

/// A segment was declared lost. Reported once per transmission, before the congestion event that the loss causes, or before the
/// retransmission. A loss that a tail loss probe has repaired is congestion without this event: its segment has arrived. An undo withdraws
/// losses, so that the same transmission can be declared lost again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lost {
    /// Time of the detection.
    pub now: Instant,
    /// First position of the segment.
    pub start: u64,
    /// One past its last position.
    pub end: u64,
    /// The connection at the segment's latest transmission, if the host takes samples: see [`Wants::samples`](crate::cc::Wants).
    pub packet: Option<Snapshot>,
    /// Bytes in flight, without this segment.
    pub inflight: u64,
    /// Totals so far, including this loss.
    pub total: Totals,
}

impl Lost {
    /// A segment between these positions, with nothing else in flight.
    pub const fn new(now: Instant, start: u64, end: u64) -> Self {
        Self { now, start, end, packet: None, inflight: 0, total: Totals::new(end, start, end - start) }
    }
}

/// A segment was delivered. Reported for each segment that an ACK delivers, before the ACK, in ascending order of the ACK's ranges, to a
/// control that wants it: see [`Wants::deliveries`](crate::cc::Wants). Each byte is reported once, unless the receiver discards what it has
/// selectively acknowledged (RFC 2018 §8). If an ACK delivers a part of a segment, the rest follows later with the same snapshot.
///
/// A host that can tell which segments a duplicate ACK stands for reports exactly the bytes of [`Ack::delivered`]. Others (`ns2`) report a
/// segment when it is acknowledged cumulatively: the sum of all reports is [`Ack::snd_una`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Delivered {
    /// Time of the ACK.
    pub now: Instant,
    /// First position of the segment.
    pub start: u64,
    /// One past its last position.
    pub end: u64,
    /// The connection at the segment's latest transmission.
    pub packet: Snapshot,
    /// Whether that transmission was a retransmission. Which of the transmissions has arrived is unknown.
    pub retransmission: bool,
}

impl Delivered {
    /// A segment between these positions that was sent once, at the start of the run.
    pub const fn new(now: Instant, start: u64, end: u64) -> Self {
        Self { now, start, end, packet: Snapshot::new(Instant::ZERO), retransmission: false }
    }

    /// Bytes of data.
    pub const fn size(&self) -> u64 {
        self.end - self.start
    }
}

/// The connection was idle: all data sent was acknowledged, and nothing could follow, because the application had no more or the receiver's
/// window was closed. Reported once there is data to send again, before its first segment. A pacer that holds back data does not make the
/// connection idle.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Idle {
    /// When there was data to send again; on `ns2`, whose window can be below one segment, when the window allowed it.
    pub now: Instant,
    /// When the idle time began: the last data was acknowledged, or the connection was established without data to send.
    pub since: Instant,
    /// The restart window of RFC 5681 §4.1, if the host asks for it: no segment was sent for longer than the retransmission timeout. The
    /// window shall not be larger. A host may ask for more: the window, halved for each such timeout (RFC 2861).
    pub restart_window: Option<Segments>,
    /// The threshold shall not be lower: the part of the window before the idle time that the host remembers (RFC 2861).
    pub threshold: Option<Segments>,
}

impl Idle {
    /// An idle time after which the window stays as it is.
    pub const fn new(now: Instant, since: Instant) -> Self {
        Self { now, since, restart_window: None, threshold: None }
    }

    /// How long the connection was idle. It is zero only if the application reacts to the last ACK at once and the window restarts.
    pub const fn duration(&self) -> Duration {
        self.now.since(self.since)
    }
}

/// An ACK arrived with new information: it acknowledges data or, as a duplicate, shows that a segment has left the network.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
#[non_exhaustive]
pub struct Ack {
    /// Time of arrival.
    pub now: Instant,
    /// Segments newly acknowledged cumulatively.
    pub acked: u32,
    /// Segments that the ACK counts as for growth. Either 1 for every ACK (ns-2), or the acknowledged segments within the limit of
    /// appropriate byte counting (RFC 3465). The host decides; a growth rule multiplies by it.
    pub counted: Segments,
    /// Whether the window may grow: false for a duplicate, in loss recovery, and for an ECN echo (RFC 5681 §3.2, RFC 3168 §6.1.2). If marks
    /// are counted exactly, only what was not marked counts, and the window may not grow if all of it was.
    pub may_grow: bool,
    /// Whether the congestion window limited the sender. An unused window must not grow (RFC 9002 §7.8, RFC 7661). ns-2 lets it grow, so
    /// its host profile always sets true.
    pub cwnd_limited: bool,
    /// Segments outstanding after this ACK; if the sender went back, only those that it has retransmitted.
    pub flight_size: u32,
    /// Bytes newly delivered: acknowledged cumulatively, or selectively for the first time; also what ACKs that others had overtaken have
    /// delivered since the last event of this kind.
    pub delivered: u64,
    /// Bytes that have arrived marked, as far as the ACK shows: see [`Ack::mark_count`]. If they are counted exactly, they may include
    /// bytes that had been delivered before; otherwise they are part of `delivered`.
    pub marked: u64,
    /// Bytes declared lost since the last ACK.
    pub lost: u64,
    /// Bytes in flight before the ACK: sent, and neither delivered nor lost.
    pub inflight_before: u64,
    /// When the pacer releases the next segment; not after `now` if it holds nothing back.
    pub release: Instant,
    /// Bytes in flight after the ACK.
    pub inflight: u64,
    /// First position not yet acknowledged.
    pub snd_una: u64,
    /// Next position that has never been sent.
    pub snd_nxt: u64,
    /// Totals so far.
    pub total: Totals,
    /// The delivery rate sample, if the host takes samples: see [`Wants::samples`](crate::cc::Wants).
    pub sample: Option<RateSample>,
    /// Round-trip time of the segment that caused the ACK, if measured; it includes the receiver's delay.
    pub rtt: Option<Duration>,
    /// The one-way delay of the segment that caused the ACK, in the direction of the data: from its transmission by the sender's clock to
    /// the transmission of the ACK by the receiver's. It includes the receiver's delay of the ACK. In a simulation both clocks show the time
    /// of the run; between other clocks the delay includes the unknown difference, so that only changes of the delay mean anything (RFC
    /// 6817, appendix A.1).
    ///
    /// Given to a control that wants it ([`Wants::one_way_delay`](crate::cc::Wants)), if the host's packets have timestamps: on `ns2` with
    /// every ACK, exactly; on `modern` with the timestamp option, with ACKs that acknowledge new data and report no duplicate, as the
    /// difference of the two timestamps (RFC 7323 §4.3), which is within a tick of 1 ms of the delay and counts modulo 2³² ticks. A delayed
    /// ACK echoes the first segment that it acknowledges, or, after a mark with DCTCP's feedback, the one before.
    pub one_way_delay: Option<Duration>,
    /// Smoothed round-trip time, once known.
    pub srtt: Option<Duration>,
    /// Smallest round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// Round trips since the start of the connection.
    pub round: u64,
    /// Whether the ACK reports marks: it carries an ECN echo (RFC 3168), or a count of marks has increased (RFC 9768).
    pub ecn_echo: bool,
    /// Whether the ACK acknowledges the SYN, alone or with data, which `acked` then counts. Only a host whose initial window opens later
    /// reports this ACK (ns-2's Vegas).
    pub handshake: bool,
    /// What `marked` is.
    pub mark_count: MarkCount,
}

/// How a count of marked bytes relates to those that have arrived marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkCount {
    /// The sum over all ACKs is the number of bytes that have arrived marked (accurate feedback, RFC 9768). A marked FIN may count as one.
    /// Without the option, eight marked copies of delivered data are missing if the ACKs between them were lost: the field is as before.
    Exact,
    /// An upper bound. With classic feedback the receiver repeats the echo until the sender responds (RFC 3168), and all bytes that an echo
    /// covers count. Accurate feedback is ambiguous if an ACK covers too many packets for the three bits of its counter.
    AtMost,
    /// Exact unless ACKs were lost (the feedback of DCTCP, RFC 8257 §3.2), or out-of-order data was marked (accurate feedback without SACK
    /// and option). Also for marked copies of data that had arrived before (accurate feedback without option): ACKs deliver fewer bytes than
    /// were marked, or segments of another size.
    Estimate,
}

impl MarkCount {
    /// Its name for Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::AtMost => "at_most",
            Self::Estimate => "estimate",
        }
    }
}

impl Ack {
    /// An ACK of `acked` segments of `smss` bytes at which the window may grow; all other facts are unknown.
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
            release: Instant::ZERO,
            inflight: 0,
            snd_una: delivered,
            snd_nxt: delivered,
            total: Totals { sent: delivered, delivered, lost: 0 },
            sample: None,
            rtt: None,
            one_way_delay: None,
            srtt: None,
            min_rtt: None,
            round: 0,
            ecn_echo: false,
            handshake: false,
            mark_count: MarkCount::Exact,
        }
    }

    /// Delivery rate over the last round trip, if the host takes samples.
    pub fn delivery_rate(&self) -> Option<Rate> {
        self.sample.and_then(|sample| sample.rate)
    }

    /// Whether that rate was sampled while the application had too little data to send, so that the path may be faster.
    pub fn app_limited(&self) -> bool {
        self.sample.is_some_and(|sample| sample.packet.app_limited)
    }
}

/// The sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate acknowledgements reached the threshold.
    DupAck,
    /// The retransmission timer expired.
    Timeout,
    /// An ECN echo arrived.
    EcnCe,
}

/// Smallest window of a host that also halves windows of one segment. With less than one segment no new data leaves until an ACK makes the
/// window grow or the timer expires. RFC 3168 §6.1.2 makes the sender wait so after a mark; ns-2 also does after a loss.
pub const PART_OF_A_SEGMENT: Segments = 1.0 / 1024.0;

/// A sign of congestion: at most one per recovery period. The timer's sign may come while what is outstanding was lost before.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CongestionEvent {
    /// Time of the detection.
    pub now: Instant,
    /// The sign.
    pub cause: Cause,
    /// The window in force: `cwnd`, including its inflation by duplicate ACKs, and at most the receiver's window.
    pub window: Segments,
    /// Segments outstanding.
    pub flight_size: u32,
    /// Bytes in flight: sent, and neither delivered nor lost.
    pub inflight: u64,
    /// First unacknowledged position.
    pub snd_una: u64,
    /// Next position to send.
    pub snd_nxt: u64,
    /// Whether the host's recovery restarts from the loss window (Tahoe after duplicate ACKs; every host after a timeout).
    pub restart: bool,
    /// Window after a restart, in segments: the loss window of RFC 5681 §3.1, which is 1; 2 in Vegas.
    pub loss_window: Segments,
    /// Smallest window that the reduction may leave, in segments: 2 or 1, or [`PART_OF_A_SEGMENT`]. Only [`crate::cc::CongestionControl::resize`]
    /// can leave nothing.
    pub least: Segments,
    /// Whether the missing segment had already been retransmitted, so that its retransmission was lost too.
    pub resent: bool,
    /// Smallest round-trip time so far.
    pub min_rtt: Option<Duration>,
}

/// A round-trip time that an ACK has measured.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timing {
    /// Time of the ACK.
    pub now: Instant,
    /// Round-trip time of the last delivered segment.
    pub rtt: Duration,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// First unacknowledged position.
    pub snd_una: u64,
    /// Next position to send.
    pub snd_nxt: u64,
}

impl Timing {
    /// A round-trip time, with all that was sent acknowledged.
    pub const fn new(now: Instant, rtt: Duration) -> Self {
        Self { now, rtt, srtt: Some(rtt), snd_una: 0, snd_nxt: 0 }
    }
}

impl CongestionEvent {
    /// Congestion with `window` segments in force; a timeout restarts from one segment.
    pub fn new(now: Instant, cause: Cause, window: Segments) -> Self {
        let restart = matches!(cause, Cause::Timeout);
        Self {
            now,
            cause,
            window,
            flight_size: window as u32,
            inflight: 0,
            snd_una: 0,
            snd_nxt: 0,
            restart,
            loss_window: 1.0,
            least: 1.0,
            resent: false,
            min_rtt: None,
        }
    }
}
