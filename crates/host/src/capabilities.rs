//! The capabilities that a host profile declares.

/// What connections of a profile can do besides a bulk transfer, and what they report to the control. A driver calls a method of
/// [`Connection`](crate::Connection) that belongs to a capability only if the profile declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate capability")]
pub struct Capabilities {
    /// An application may add data to a bulk transfer: [`Connection::offer`](crate::Connection::offer), [`Bulk::grows`](crate::Bulk::grows).
    pub supply: bool,
    /// An application may open the connection at the receiver and write at both ends: [`Connection::open`](crate::Connection::open), [`Connection::write`](crate::Connection::write),
    /// [`Connection::close`](crate::Connection::close), [`Traffic::Dialogue`](crate::Traffic::Dialogue).
    pub both_ways: bool,
    /// ACKs report one-way delays, if the connection has timestamps: [`Ack::one_way_delay`](ackclock_core::events::Ack).
    pub one_way_delay: bool,
    /// The sender can tell which segments a duplicate ACK stands for, so that a [`Delivered`](ackclock_core::events::Delivered) precedes the
    /// ACK that reports the delivery. Otherwise it comes with the cumulative acknowledgement.
    pub identifies: bool,
    /// The initial window can be spread over the first round trip: [`Flow::initial_pacing`](crate::Flow::initial_pacing).
    pub initial_pacing: bool,
    /// Streams of a connection on which an application may write.
    pub streams: Streams,
}

/// How many streams a connection has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// The first only, as TCP.
    #[default]
    One,
    /// As many as the application opens, with any number each.
    Many,
}
