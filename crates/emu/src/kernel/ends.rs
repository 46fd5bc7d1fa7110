//! The ends of a flow on this machine's kernel.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::Side;
use ackclock_kernel::{Ends, Info, Order};
use ackclock_linux::{libc, socket};
use ackclock_sim::engine::Interface as _;

use super::error::Failure;
use super::socket::{Socket, discard_on_close};
use super::writer::{Message, Writer};
use crate::emulator::Port;

/// The sockets and devices of sender and receiver.
#[derive(Debug)]
pub(super) struct MachineEnds {
    /// Index of the flow.
    pub(super) flow: usize,
    pub(super) sockets: [Socket; 2],
    pub(super) ports: [Port; 2],
    /// Whether the application at each end has heard that the other end has closed.
    pub(super) closed: [bool; 2],
    pub(super) writer: Writer,
    pub(super) failure: Failure,
}

impl MachineEnds {
    /// The number of an end among all streams of the run.
    fn end(&self, side: Side) -> usize {
        2 * self.flow + side.index()
    }

    fn send(&self, side: Side, message: Message) {
        self.writer.send(self.end(side), message);
    }

    fn fail(&self, side: Side, what: &str, error: &io::Error) {
        self.failure.note(self.end(side), what, error);
    }

    /// Accepts the connection at the end that waits for it, as soon as it is there.
    fn accept(&mut self, side: Side) {
        let Socket::Listens(listener) = &self.sockets[side.index()] else { return };
        match socket::accept(listener.as_fd()) {
            Ok(accepted) => {
                if let Err(error) = discard_on_close(accepted.as_fd()) {
                    self.fail(side, "no SO_LINGER", &error);
                }
                let accepted = Arc::new(accepted);
                self.sockets[side.index()] = Socket::Accepted(accepted.clone());
                self.send(side, Message::Socket(accepted));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.fail(side, "cannot accept", &error),
        }
    }
}

impl Ends for MachineEnds {
    fn deliver(&mut self, now: Instant, side: Side, frame: &[u8], ecn: Ecn) {
        self.ports[side.index()].deliver(now, frame, ecn);
        self.accept(side);
    }

    fn sent(&mut self, side: Side) -> Option<Vec<u8>> {
        self.ports[side.index()].receive()
    }

    fn connect(&mut self, _now: Instant, side: Side) {
        let Socket::Opens(opened, peer) = &self.sockets[side.index()] else { return };
        let result = socket::connect(opened.as_fd(), *peer);
        let opened = opened.clone();
        match result {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => self.fail(side, "cannot connect", &error),
            _ => self.send(side, Message::Socket(opened)),
        }
    }

    fn order(&mut self, _now: Instant, side: Side, order: Order) {
        self.send(side, Message::Order(order));
    }

    fn read(&mut self, _now: Instant, side: Side) -> u64 {
        let Some(connected) = self.sockets[side.index()].connected().cloned() else { return 0 };
        let mut bytes = 0;
        loop {
            match socket::discard(connected.as_fd(), usize::MAX >> 1) {
                Ok(0) => {
                    if !std::mem::replace(&mut self.closed[side.index()], true) {
                        self.send(side, Message::Order(Order::Close));
                    }
                    return bytes;
                }
                Ok(count) => bytes += count as u64,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOTCONN)) => return bytes,
                Err(error) => {
                    self.fail(side, "cannot receive", &error);
                    return bytes;
                }
            }
        }
    }

    fn info(&mut self, _now: Instant) -> Option<Info> {
        let connected = self.sockets[Side::Sender.index()].connected()?;
        let mut bytes = [0; Info::SIZE];
        match socket::option(connected.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes) {
            Ok(_) => Some(Info::read(&bytes)),
            Err(error) => {
                self.fail(Side::Sender, "cannot read TCP_INFO", &error);
                None
            }
        }
    }
}
