//! The capabilities that a host profile declares.

/// What connections of a profile can do besides a bulk transfer. A driver calls a method of [`Connection`](crate::Connection) that belongs to a capability only
/// if the profile declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// An application may add data to a bulk transfer: [`Connection::offer`](crate::Connection::offer), [`Bulk::grows`](crate::Bulk::grows).
    pub supply: bool,
    /// An application may open the connection at the receiver and write at both ends: [`Connection::open`](crate::Connection::open), [`Connection::write`](crate::Connection::write),
    /// [`Connection::close`](crate::Connection::close), [`Traffic::Dialogue`](crate::Traffic::Dialogue).
    pub both_ways: bool,
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
