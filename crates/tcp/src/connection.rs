//! The interface of all host profiles: both ends of a connection, and what goes between them.

use std::fmt::Debug;

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Ecn, Notice};
use ackclock_core::units::{Duration, Instant, Segments};

use crate::checkpoints::CHECKPOINTS;
use crate::slow_start_exit::{ExitReason, SlowStartExit};

/// An end of a connection. Data goes from the sender to the receiver; requests of an application go the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends data: the server of an exchange of requests and responses.
    Sender,
    /// Receives it: the client.
    Receiver,
}

impl Side {
    /// Both.
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

/// A packet, as an end sends it and as the network delivers it. `P` is what a profile puts into it beyond what all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<P> {
    /// Number of the segment; of an ACK, of the next one expected. The SYN has 0, the first with data 1.
    pub number: u32,
    /// Bytes with all headers.
    pub size: u16,
    /// When it was sent; on an ACK that echoes a time, that time.
    pub sent: Instant,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// On data whether the window has been reduced (CWR), on an ACK whether a mark is echoed (ECE), where the fields of the profile do not
    /// say it (RFC 3168 §6.1).
    pub echo: bool,
    /// What the profile adds.
    pub payload: Option<P>,
}

/// What kind of transmission a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// SYN, data or FIN for the first time.
    New,
    /// The same again.
    Again,
    /// An ACK and nothing else.
    Ack,
}

/// What a sender is told of a data packet that a queue dropped: which transmission of which segment it was, as the header and the timestamp
/// of a packet show it, and which timer is to expire.
#[derive(Clone, Copy, Debug)]
pub struct DropNotice {
    /// What [`Connection::noticed`] said of the packet.
    pub key: u32,
    /// When it was sent.
    pub sent: Instant,
    /// Which timer is to expire.
    pub notice: Notice,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets sent, the SYN and retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Reductions of the window.
    pub reductions: u64,
    /// Largest congestion window.
    pub cwnd_max: Segments,
}

/// What a connection has done, at the end of a run.
#[derive(Clone, Debug)]
pub struct Tally {
    /// What the sender counted.
    pub counters: Counters,
    /// The last window; `None`: there is no congestion control.
    pub window: Option<Window>,
    /// Bytes delivered in order at the receiver, as the profile counts them.
    pub delivered_bytes: u64,
    /// Data segments delivered in order.
    pub delivered_packets: u64,
    /// Bytes of data delivered in order, without headers.
    pub payload: u64,
    /// When the last of them were.
    pub delivered_at: Instant,
    /// Delivered bytes at each checkpoint that had passed.
    pub delivered_after: [Option<u64>; CHECKPOINTS.len()],
    /// Why and when the first slow start ended, and the window at which it did.
    pub slow_start_exit: Option<(ExitReason, Instant, Segments)>,
    /// Smallest round-trip time measured.
    pub min_rtt: Option<Duration>,
}

/// Both ends of a flow. Whoever drives it hands in what happens to an end, asks that end for packets until there are none, and calls it when
/// its timer is due.
pub trait Connection: Debug + Send {
    /// What a packet carries beyond what all packets have.
    type Payload;

    /// Takes a packet at an end; tells whether data was delivered to the application there.
    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Self::Payload>) -> bool;

    /// The next packet that an end sends, if it sends one now.
    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Self::Payload>, Transmission)>;

    /// When an end wants [`Connection::handle_timeout`] to be called.
    fn poll_timeout(&self, side: Side) -> Option<Instant>;

    /// The time that an end asked for has come: its start, or a timer's.
    fn handle_timeout(&mut self, now: Instant, side: Side);

    /// By which number a notice tells of a lost packet that `side` had sent; `None`: of this one it cannot, since no retransmission timer
    /// waits for it.
    fn noticed(&self, _number: u32, _side: Side, _payload: Option<&Self::Payload>) -> Option<u32> {
        None
    }

    /// A queue has dropped a packet that `side` had sent.
    fn handle_notice(&mut self, _now: Instant, _side: Side, _dropped: &DropNotice) {}

    /// An application opens the connection, from its receiver.
    fn open(&mut self, _now: Instant) {
        debug_assert!(false, "this connection starts by itself");
    }

    /// An application writes at an end.
    fn write(&mut self, _side: Side, _bytes: u64) {
        debug_assert!(false, "this connection counts packets");
    }

    /// An application writes no more at an end.
    fn close(&mut self, _side: Side) {
        debug_assert!(false, "this connection has no end");
    }

    /// An application has so many packets more for a sender that counts packets.
    fn offer(&mut self, _packets: u64) {
        debug_assert!(false, "this connection does not count packets");
    }

    /// Earlier connections to the peer have arrived at the initial window `learned`. Nothing changes once the SYN is sent.
    fn recall(&mut self, _learned: Segments) {}

    /// Whether [`Connection::settle`] has something to tell.
    fn is_first_flight_over(&self) -> bool {
        false
    }

    /// The first flight is over: what the next connection to the peer shall know, if it shall know something new. `learned`: what it knows
    /// by now. To be asked once.
    fn settle(&mut self, _learned: Option<Segments>) -> Option<Segments> {
        None
    }

    /// Bytes of data delivered in order at an end, as its application counts them.
    fn delivered(&self, side: Side) -> u64;

    /// Bytes delivered in order at the receiver, as the profile counts them.
    fn delivered_bytes(&self) -> u64;

    /// The congestion window and threshold of the sender, if it has a congestion control.
    fn window(&self) -> Option<Window> {
        None
    }

    /// The congestion control of the sender, for its own quantities.
    fn control(&self) -> Option<&dyn CongestionControl> {
        None
    }

    /// Smoothed round-trip time, and the retransmission timeout.
    fn timing(&self) -> (Option<Duration>, Duration) {
        (None, Duration::ZERO)
    }

    /// The last round-trip time measured.
    fn latest_rtt(&self) -> Option<Duration> {
        None
    }

    /// How the first slow start ended, if there is a congestion control.
    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        None
    }

    /// What was done up to the end of the run.
    fn tally(&mut self, end: Instant) -> Tally;
}
