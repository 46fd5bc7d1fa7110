//! What a flow needs of a kernel.

use std::fmt::Debug;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::Side;

use crate::info::Info;

/// What the application at an end does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Writes so many bytes more.
    Write(u64),
    /// Writes without end.
    Endless,
    /// Writes nothing more, not even what it has not yet written of earlier orders.
    Stop,
    /// Closes after the last byte.
    Close,
}

/// The two sockets of a flow on a kernel, and the network interfaces of their packets.
///
/// A packet is a frame: bytes that begin with an IPv4 header. `now` never goes back. A kernel in virtual time runs until `now` before it
/// obeys; a kernel in real time does so at once, because `now` is the present.
pub trait Ends: Debug + Send {
    /// A packet arrives at an end, with this ECN field: a queue on the path may have marked it. The kernel has processed the packet when this
    /// returns.
    fn deliver(&mut self, now: Instant, side: Side, frame: &[u8], ecn: Ecn);

    /// The next packet that the kernel has sent at an end.
    fn sent(&mut self, side: Side) -> Option<Vec<u8>>;

    /// The end that opens the connection connects.
    fn connect(&mut self, now: Instant, side: Side);

    /// The application at an end gives an order, perhaps before the connection is established. Data enters the socket as soon as there is
    /// room.
    fn order(&mut self, now: Instant, side: Side, order: Order);

    /// The application at an end reads all data that has arrived in order. Returns the number of bytes. When the other end has closed,
    /// the application closes too.
    fn read(&mut self, now: Instant, side: Side) -> u64;

    /// The state of the sender's socket; `None` if it has none yet.
    fn info(&mut self, now: Instant) -> Option<Info>;
}
