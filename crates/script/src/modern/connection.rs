//! One connection of the host: an endpoint, its socket options, and its errors.

use ackclock_core::units::Instant;
use ackclock_tcp::modern::{Endpoint, State};

use super::options::SocketOptions;
use super::segments;
use crate::errno::Errno;
use crate::packet::Packet;
use crate::stack::{Ends, Refusal, Socket, Status};

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    pub(super) ends: Ends,
    pub(super) options: SocketOptions,
    /// The listening socket, until the application has accepted the connection.
    pub(super) listener: Option<Socket>,
    /// Whether the application has closed the socket.
    pub(super) closed: bool,
    /// Whether the application has ended writing and reading.
    shut: (bool, bool),
    /// The error that the next call returns.
    pub(super) error: Option<Errno>,
    /// Whether the connection ended by a reset or by giving up.
    broken: bool,
    /// A reset to send.
    reset: Option<Packet>,
}

impl Connection {
    /// A connection of `endpoint`.
    pub(super) fn new(endpoint: Endpoint, ends: Ends, options: SocketOptions, listener: Option<Socket>) -> Self {
        Self { endpoint, ends, options, listener, closed: false, shut: (false, false), error: None, broken: false, reset: None }
    }

    /// A packet arrives.
    pub(super) fn handle(&mut self, now: Instant, packet: &Packet) {
        let before = self.endpoint.state();
        self.endpoint.handle_segment(now, &packet.segment());
        if self.endpoint.state() == State::Closed && !matches!(before, State::Closed | State::LastAck | State::Closing | State::TimeWait) {
            self.broken = true;
            self.error = Some(match before {
                State::SynSent => Errno::ECONNREFUSED,
                State::CloseWait => Errno::EPIPE,
                _ => Errno::ECONNRESET,
            });
        }
        // Nobody will read data that arrives after the socket was closed (RFC 9293 §3.10.7.4; RFC 2525 §2.17).
        if self.closed && self.endpoint.readable() > 0 {
            self.abort(now);
        }
    }

    /// Aborts the connection with a reset.
    pub(super) fn abort(&mut self, now: Instant) {
        let (ends, tos) = (self.ends, self.options.tos);
        self.reset = self.endpoint.abort(now).map(|segment| segments::packet(&segment, ends, tos)).or(self.reset.take());
        self.broken = true;
    }

    /// The next packet to send.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let (ends, tos) = (self.ends, self.options.tos);
        self.reset.take().or_else(|| self.endpoint.poll_transmit(now).map(|segment| segments::packet(&segment, ends, tos)))
    }

    /// Whether the handshake is over.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.endpoint.state(), State::Listen | State::SynSent | State::SynReceived)
    }

    /// The connection can be forgotten: closed by the application, and over. In TIME-WAIT it still answers the peer's FIN.
    pub(super) fn is_over(&self) -> bool {
        self.closed && self.reset.is_none() && self.endpoint.state() == State::Closed
    }

    /// The application writes.
    pub(super) fn write(&mut self, bytes: u64) -> Result<u64, Refusal> {
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        if self.shut.0 || self.broken {
            return Err(Errno::EPIPE.into());
        }
        if !self.is_open() {
            return Ok(0);
        }
        self.endpoint.write(bytes);
        Ok(bytes)
    }

    /// The application reads.
    pub(super) fn read(&mut self, now: Instant, most: u64) -> Result<Option<u64>, Refusal> {
        let (start, end) = self.endpoint.read(now, most);
        if end > start {
            return Ok(Some(end - start));
        }
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        Ok((self.shut.1 || self.broken || self.endpoint.has_heard_fin() || most == 0).then_some(0))
    }

    /// The application ends reading or writing.
    pub(super) fn shutdown(&mut self, read: bool, write: bool) -> Result<(), Refusal> {
        if !self.is_open() || self.broken {
            return Err(Errno::ENOTCONN.into());
        }
        self.shut = (self.shut.0 || write, self.shut.1 || read);
        if write {
            self.endpoint.close();
        }
        Ok(())
    }

    /// The application closes the socket.
    pub(super) fn close(&mut self, now: Instant) {
        self.closed = true;
        let unread = self.endpoint.readable() > 0;
        // RFC 2525 §2.17: closing with unread data resets; so does SO_LINGER with 0 s, and so does closing during the handshake.
        if unread || self.options.linger == Some(0) || self.endpoint.state() == State::SynSent {
            self.abort(now);
        } else {
            self.endpoint.close();
        }
    }

    /// What the socket can do.
    pub(super) fn status(&self) -> Status {
        let state = self.endpoint.state();
        let peer_closed = self.endpoint.has_heard_fin();
        let open = self.is_open() && !self.broken;
        Status {
            connecting: state == State::SynSent || state == State::SynReceived && self.listener.is_none(),
            readable: self.endpoint.readable() > 0 || peer_closed || self.broken,
            writable: open && !self.shut.0 || self.broken,
            peer_closed: peer_closed || self.broken,
            hung_up: self.broken || peer_closed && self.shut.0,
            error: self.error,
        }
    }
}
