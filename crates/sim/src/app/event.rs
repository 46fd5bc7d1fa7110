//! What an application hears, and what it asks of the engine.

use ackclock_host::{Side, StreamId};

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The time of [`Application::poll_timeout`](super::Application::poll_timeout) has come.
    Wake,
    /// `total` bytes of a stream have been delivered so far, in order, at one end of a connection.
    Delivered {
        /// Number of the connection.
        connection: u32,
        /// The stream.
        stream: StreamId,
        /// The end.
        side: Side,
        /// Bytes since the stream began.
        total: u64,
    },
}

/// An action for the engine to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The receiver of a connection opens it.
    Open(u32),
    /// One end of a connection writes this many bytes on a stream.
    Write(u32, StreamId, Side, u64),
    /// One end of a connection finishes writing on a stream.
    Close(u32, StreamId, Side),
    /// The sender may send this many more packets or datagrams.
    Offer(u64),
}
