//! One end of a connection in a stack, whichever it is.

use std::borrow::Cow;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::PacketSizes;
use bytes::Bytes;

use crate::control::Control;
#[cfg(doc)]
use crate::control::Own;
use crate::settings::Settings;
use crate::watch::Watch;

/// Addresses of client and server (RFC 5737).
pub(crate) const ADDRESSES: [SocketAddr; 2] =
    [SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 49_152), SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443)];

/// The UDP payload that an Ethernet frame holds, and that both stacks accept by default.
pub(crate) const PAYLOAD: u16 = 1472;

/// Data for streams, which stacks share instead of copying it.
static DATA: Bytes = Bytes::from_static(&[0; 1 << 20]);

/// Up to `bytes` of data.
pub(crate) fn zeros(bytes: u64) -> Bytes {
    DATA.slice(..DATA.len().min(bytes as usize))
}

/// The ECN field of these two bits.
pub(crate) fn ecn(bits: u8) -> Ecn {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bits & 3)]
}

/// What a stack reports to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The handshake is over.
    Connected,
    /// The connection is lost, for this reason.
    Lost(String),
    /// Data can be read from a stream.
    Readable(u64),
}

/// Datagrams that a stack sends together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// Size of each datagram; the last one may be smaller.
    pub(crate) segment: usize,
    /// Their ECN field.
    pub(crate) ecn: Ecn,
}

/// One end of a connection in a stack without I/O. Streams have the identifiers of RFC 9000 §2.1.
pub(crate) trait Stack: Debug + Send + Sized {
    /// The names of the stack's own controls in results, in the order of [`Own`].
    const OWN: [&'static str; 2];
    /// UDP payloads of a full datagram.
    const PACKETS: PacketSizes;

    /// An end with a control, the client or the server, with UDP payloads of `datagram` bytes. `watch` sees the control.
    fn new(end: (bool, Control), datagram: u16, settings: &Settings, watch: Watch, seed: u64) -> Self;

    /// Opens the connection.
    fn connect(&mut self, now: Instant);

    /// A datagram as it was before its packets were protected.
    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]>;

    /// Handles a datagram.
    fn receive(&mut self, now: Instant, ecn: Ecn, datagram: &[u8]);

    /// Appends the next datagrams to `buffer`.
    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Burst>;

    /// When [`Stack::expire`] has to be called.
    fn timeout(&mut self) -> Option<Instant>;

    /// A timer has expired.
    fn expire(&mut self, now: Instant);

    /// The next event for the application.
    fn event(&mut self) -> Option<Event>;

    /// Opens a stream in both directions; `None`: the peer allows no more at present.
    fn open(&mut self) -> Option<u64>;

    /// Writes up to `bytes` on a stream; returns how many the stack has taken.
    fn write(&mut self, stream: u64, bytes: u64) -> u64;

    /// Nothing more is written on a stream.
    fn finish(&mut self, stream: u64);

    /// Reads what has arrived in order on a stream; returns the number of bytes.
    fn read(&mut self, stream: u64) -> u64;

    /// The smoothed round-trip time; `None` before the handshake is over.
    fn srtt(&self) -> Option<Duration>;
}
