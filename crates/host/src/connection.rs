//! The interface of all host profiles: both ends of a connection, and the packets between them.

use std::fmt::Debug;

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::Learned;
use ackclock_core::qdisc::{Ecn, Notice};
use ackclock_core::units::{Duration, Instant, Rate, Segments};

#[cfg(doc)]
use crate::capabilities::Capabilities;
use crate::checkpoints::CHECKPOINTS;
use crate::limits::LimitedTimes;
use crate::recovery_phase::RecoveryPhase;
use crate::slow_start_exit::{ExitReason, SlowStartExit};

/// An end of a connection. Data flows from the sender to the receiver; an application's requests flow back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends data: the server of an exchange of requests and responses.
    Sender,
    /// Receives data: the client.
    Receiver,
}

impl Side {
    /// Both ends.
    pub const ALL: [Self; 2] = [Self::Sender, Self::Receiver];

    /// 0 for the sender, 1 for the receiver.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other end.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// A stream of a connection: bytes in order in each direction. Data that is missing on one stream delays no other stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId(pub u32);

impl StreamId {
    /// The first stream. A profile with one stream per connection has no other.
    pub const FIRST: Self = Self(0);
}

/// A packet as an end sends it and as the network delivers it. `P` holds the profile's own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<P> {
    /// Number of the segment; on an ACK, of the next expected segment. The SYN is 0, the first data segment 1.
    pub number: u32,
    /// Size in bytes, with all headers.
    pub size: u16,
    /// Time of sending; on an ACK that echoes a time, the echoed time.
    pub sent: Instant,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// On data: the window has been reduced (CWR). On an ACK: a mark is echoed (ECE). Unused if the profile's payload carries these flags
    /// (RFC 3168 §6.1).
    pub echo: bool,
    /// The profile's own fields.
    pub payload: Option<P>,
}

/// Kind of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// First transmission of a SYN, of data or of a FIN.
    New,
    /// Retransmission of a SYN, of data or of a FIN.
    Retransmission,
    /// A pure ACK.
    Ack,
}

/// A notice to the sender that a queue dropped a packet. As in the packet's header and timestamp, it identifies segment and transmission.
#[derive(Clone, Copy, Debug)]
pub struct DropNotice {
    /// The number that [`Connection::noticed`] returned for the packet.
    pub key: u32,
    /// When the packet was sent.
    pub sent: Instant,
    /// The timer that the notice lets expire.
    pub notice: Notice,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets sent, including the SYN and retransmissions.
    pub sent: u64,
    /// Retransmitted packets.
    pub retransmitted: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Reductions of the window.
    pub reductions: u64,
    /// Largest congestion window.
    pub cwnd_max: Segments,
}

/// What a sender has in flight, and how it goes on, for traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Bytes in flight: sent, and neither delivered nor lost, without headers.
    pub bytes: u64,
    /// Bytes of data in a full segment, as a window counts them.
    pub smss: u64,
    /// The rate at which segments leave; `None`: nothing paces.
    pub pacing: Option<Rate>,
    /// The phase of the control, if it tells.
    pub phase: Option<Phase>,
}

/// Results of a connection at the end of a run.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The sender's counters.
    pub counters: Counters,
    /// The final window; `None` without congestion control.
    pub window: Option<Window>,
    /// Bytes delivered in order at the receiver, as the profile counts them.
    pub delivered_bytes: u64,
    /// Data segments delivered in order.
    pub delivered_packets: u64,
    /// Bytes of data delivered in order, without headers.
    pub payload: u64,
    /// When data was last delivered in order.
    pub delivered_at: Instant,
    /// Delivered bytes at each checkpoint that has passed.
    pub delivered_after: [Option<u64>; CHECKPOINTS.len()],
    /// The window at the end of the handshake; `None` without congestion control, or if the handshake did not end.
    pub initial_window: Option<Segments>,
    /// How long each limit held back the sender; `None` if the profile does not measure it, or if the handshake did not end.
    pub limited: Option<LimitedTimes>,
    /// Reason, time and window at which the first slow start ended.
    pub slow_start_exit: Option<(ExitReason, Instant, Segments)>,
    /// Smallest round-trip time measured.
    pub min_rtt: Option<Duration>,
    /// When and why an end gave up the connection, if it did.
    pub failure: Option<(Instant, String)>,
}

/// Both ends of a flow. The driver passes each event to an end, polls that end for packets until none is left, and calls it when its timer
/// is due.
pub trait Connection: Debug + Send {
    /// The fields that a packet carries in addition to those of [`Datagram`].
    type Payload;

    /// Receives a packet at an end; returns whether data was delivered to the application there.
    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Self::Payload>) -> bool;

    /// The next packet that an end sends now, if any.
    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Self::Payload>, Transmission)>;

    /// Whether packets leave after everything else that happens at their time, since a stack takes a moment to answer. Otherwise they leave
    /// within the event that causes them, as in ns-2.
    fn answers_later(&self) -> bool {
        false
    }

    /// When an end needs a call of [`Connection::handle_timeout`].
    fn poll_timeout(&self, side: Side) -> Option<Instant>;

    /// The time from [`Connection::poll_timeout`] has come: the start of the flow or the expiry of a timer.
    fn handle_timeout(&mut self, now: Instant, side: Side);

    /// The number that identifies a packet of `side` in a [`DropNotice`]; `None` if no retransmission timer covers the packet, so that its
    /// drop causes no notice.
    fn noticed(&self, _number: u32, _side: Side, _payload: Option<&Self::Payload>) -> Option<u32> {
        None
    }

    /// A queue has dropped a packet of `side`.
    fn handle_notice(&mut self, _now: Instant, _side: Side, _dropped: &DropNotice) {}

    /// An application opens the connection at the receiver; with [`Capabilities::both_ways`] only.
    fn open(&mut self, _now: Instant) {
        unreachable!("the profile does not declare both_ways")
    }

    /// An application writes `bytes` on a stream at an end; with [`Capabilities::both_ways`] only. The first bytes of a stream open it;
    /// streams other than the first need [`Capabilities::streams`].
    fn write(&mut self, _now: Instant, _side: Side, _stream: StreamId, _bytes: u64) {
        unreachable!("the profile does not declare both_ways")
    }

    /// An application writes nothing more on a stream at an end; with [`Capabilities::both_ways`] only.
    fn close(&mut self, _now: Instant, _side: Side, _stream: StreamId) {
        unreachable!("the profile does not declare both_ways")
    }

    /// An application adds `packets` to a bulk transfer; with [`Capabilities::supply`] only.
    fn offer(&mut self, _now: Instant, _packets: u64) {
        unreachable!("the profile does not declare supply")
    }

    /// Sets what earlier connections to the peer have `learned`. The call has no effect once the SYN is sent.
    fn set_learned(&mut self, _learned: Learned) {}

    /// Whether the first flight is over, so that [`Connection::finish_first_flight`] can be called.
    fn is_first_flight_over(&self) -> bool {
        false
    }

    /// The initial window for the next connection to the peer, if the first flight changes it; called once, after that flight. `learned`:
    /// the window stored for the peer so far.
    fn finish_first_flight(&mut self, _learned: Option<Segments>) -> Option<Segments> {
        None
    }

    /// Bytes of data on a stream delivered in order to the application at an end.
    fn delivered(&self, side: Side, stream: StreamId) -> u64;

    /// The first stream, or the first above `after`, on which the packet just handled at an end delivered data. Asked only if
    /// [`Connection::handle`] returned true.
    fn next_delivered(&self, _side: Side, after: Option<StreamId>) -> Option<StreamId> {
        if after.is_none() { Some(StreamId::FIRST) } else { None }
    }

    /// Bytes delivered in order at the receiver, as the profile counts them.
    fn delivered_bytes(&self) -> u64;

    /// The sender's congestion window and threshold, if the sender has a congestion control.
    fn window(&self) -> Option<Window> {
        None
    }

    /// What the sender does about losses, if it tells.
    fn recovery(&self) -> Option<RecoveryPhase> {
        None
    }

    /// Shows the sender's congestion control, if it has one of the contract; traces record its quantities. A stack may keep the control
    /// where only a visitor reaches it.
    fn with_control(&self, _visit: &mut dyn FnMut(&dyn CongestionControl)) {}

    /// What the sender has in flight, if it tells.
    fn flight(&self) -> Option<Flight> {
        None
    }

    /// From now on, [`Connection::next_lost`] tells the segments that the sender deems lost.
    fn keep_lost(&mut self) {}

    /// The number of the next segment that the sender has deemed lost, in the order of detection.
    fn next_lost(&mut self) -> Option<u32> {
        None
    }

    /// Smoothed round-trip time and retransmission timeout.
    fn timing(&self) -> (Option<Duration>, Duration) {
        (None, Duration::ZERO)
    }

    /// The latest round-trip time sample.
    fn latest_rtt(&self) -> Option<Duration> {
        None
    }

    /// How the first slow start ended, if the sender has a congestion control.
    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        None
    }

    /// The results up to the end of the run.
    fn tally(&mut self, end: Instant) -> Tally;
}
