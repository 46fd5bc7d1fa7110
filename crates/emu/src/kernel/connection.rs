//! Both ends of a flow as sockets of the kernel.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use ackclock_core::cc::Window;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Bulk, Checkpoints, Connection, Datagram, Side, SlowStartExit, StreamId, Tally, Transmission};
use ackclock_linux::{libc, socket};
use ackclock_sim::engine::Interface as _;
use ackclock_wire::frame::Headers;
use ackclock_wire::segment::Flags;

use super::error::Failure;
use super::info::Info;
use super::sender::Sender;
use super::socket::{Socket, discard_on_close};
use super::stream::Stream;
use super::writer::{Order, Writer};
use crate::emulator::Port;

/// What a flow is made of.
#[derive(Debug)]
pub(super) struct Parts {
    /// Index of the flow.
    pub(super) flow: usize,
    /// Bulk transfer of the sender; `None`: an application opens the connection at the receiver.
    pub(super) bulk: Option<Bulk>,
    /// Bytes of data in a full segment.
    pub(super) segment: u64,
    /// Window after the handshake, by the flow's route.
    pub(super) initial_window: Segments,
    /// Threshold that the kernel has from the start; infinite if none.
    pub(super) threshold: Segments,
    /// The sockets and devices of sender and receiver.
    pub(super) sockets: [Socket; 2],
    pub(super) ports: [Port; 2],
    pub(super) writer: Writer,
    pub(super) failure: Failure,
}

/// Both ends of a flow.
#[derive(Debug)]
pub(super) struct KernelConnection {
    parts: Parts,
    started: bool,
    /// Whether the bulk transfer was told to stop.
    stopped: bool,
    /// What the packets of each end show.
    streams: [Stream; 2],
    sender: Sender,
    latest_rtt: Option<Duration>,
    /// Bytes read at each end, and whether the other end has closed.
    read: [u64; 2],
    closed: [bool; 2],
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl KernelConnection {
    pub(super) fn new(parts: Parts) -> Self {
        let start = parts.bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Self {
            started: false,
            stopped: false,
            streams: [parts.segment; 2].map(Stream::new),
            sender: Sender::new(parts.threshold),
            latest_rtt: None,
            read: [0; 2],
            closed: [false; 2],
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
            parts,
        }
    }

    /// The number of an end among all streams of the run.
    fn end(&self, side: Side) -> usize {
        2 * self.parts.flow + side.index()
    }

    fn order(&self, side: Side, order: Order) {
        self.parts.writer.order(self.end(side), order);
    }

    fn fail(&self, side: Side, what: &str, error: &io::Error) {
        self.parts.failure.note(self.end(side), what, error);
    }

    /// Connects the end that opens the connection.
    fn connect(&mut self, side: Side) {
        self.started = true;
        let Socket::Opens(opened, peer) = &self.parts.sockets[side.index()] else { return };
        let result = socket::connect(opened.as_fd(), *peer);
        let opened = opened.clone();
        match result {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => self.fail(side, "cannot connect", &error),
            _ => self.order(side, Order::Socket(opened)),
        }
    }

    /// Accepts the connection at the end that waits for it, as soon as it is there.
    fn accept(&mut self, side: Side) {
        let Socket::Listens(listener) = &self.parts.sockets[side.index()] else { return };
        match socket::accept(listener.as_fd()) {
            Ok(accepted) => {
                if let Err(error) = discard_on_close(accepted.as_fd()) {
                    self.fail(side, "no SO_LINGER", &error);
                }
                let accepted = Arc::new(accepted);
                self.parts.sockets[side.index()] = Socket::Accepted(accepted.clone());
                self.order(side, Order::Socket(accepted));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.fail(side, "cannot accept", &error),
        }
    }

    /// Reads everything that has arrived in order at an end. Returns the number of bytes.
    fn drain(&mut self, side: Side) -> u64 {
        let Some(connected) = self.parts.sockets[side.index()].connected().cloned() else { return 0 };
        let mut bytes = 0;
        loop {
            match socket::discard(connected.as_fd(), usize::MAX >> 1) {
                Ok(0) => {
                    // The other end has closed: this one does so too.
                    if !std::mem::replace(&mut self.closed[side.index()], true) {
                        self.order(side, Order::Close);
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

    /// Reads the state of the sender's socket.
    fn observe(&mut self, now: Instant) {
        if let Some(connected) = self.parts.sockets[Side::Sender.index()].connected() {
            match Info::of(connected.as_fd()) {
                Ok(info) => self.sender.observe(now, info),
                Err(error) => self.fail(Side::Sender, "cannot read TCP_INFO", &error),
            }
        }
    }
}

impl Connection for KernelConnection {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let Some(frame) = &arrived.payload else { return false };
        self.parts.ports[side.index()].deliver(now, frame, arrived.ecn);
        self.accept(side);
        let segment = Headers::read(frame);
        if side == Side::Sender {
            if let Some(segment) = &segment {
                self.latest_rtt = self.streams[side.index()].acknowledge(now, segment).or(self.latest_rtt);
            }
            self.observe(now);
        }
        // A pure ACK brings no data.
        if segment.is_none_or(|segment| segment.length() == 0) {
            return false;
        }
        let bytes = self.drain(side);
        if bytes > 0 && side == Side::Receiver {
            self.checkpoints.pass(now, self.delivered_bytes());
            self.delivered_at = now;
        }
        self.read[side.index()] += bytes;
        bytes > 0
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        loop {
            let frame = self.parts.ports[side.index()].receive()?;
            // Only TCP of IPv4 belongs to a flow.
            let Some(segment) = Headers::read(&frame) else { continue };
            let (number, kind) = self.streams[side.index()].send(now, &segment);
            let number = if side == Side::Sender { number } else { self.streams[Side::Sender.index()].expected(&segment) };
            if side == Side::Sender && kind != Transmission::Ack {
                self.sender.counters.sent += 1;
                if kind == Transmission::Retransmission {
                    self.sender.counters.retransmitted += 1;
                    // A timer may have expired, which no ACK shows.
                    self.observe(now);
                }
            }
            let datagram = Datagram {
                number,
                size: segment.size,
                sent: now,
                ecn: segment.ecn,
                echo: segment.flags.has(Flags::ECE),
                payload: Some(frame),
            };
            return Some((datagram, kind));
        }
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        let bulk = self.parts.bulk.filter(|_| side == Side::Sender)?;
        if self.started { bulk.stop.filter(|_| !self.stopped) } else { Some(bulk.start) }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        let Some(bulk) = self.parts.bulk else { return };
        if self.started {
            self.stopped = true;
            self.order(side, Order::Stop);
            return;
        }
        self.connect(side);
        let stopped = bulk.stop.is_some_and(|stop| stop <= now);
        match bulk.packets {
            _ if stopped => {}
            Some(packets) => self.order(side, Order::Write(packets.saturating_mul(self.parts.segment))),
            None => self.order(side, Order::Endless),
        }
        if bulk.amount().is_some() {
            self.order(side, Order::Close);
        }
    }

    fn open(&mut self, now: Instant) {
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
        self.connect(Side::Receiver);
    }

    fn write(&mut self, _now: Instant, side: Side, _stream: StreamId, bytes: u64) {
        self.order(side, Order::Write(bytes));
    }

    fn close(&mut self, _now: Instant, side: Side, _stream: StreamId) {
        self.order(side, Order::Close);
    }

    fn offer(&mut self, _now: Instant, packets: u64) {
        self.order(Side::Sender, Order::Write(packets.saturating_mul(self.parts.segment)));
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        self.read[side.index()]
    }

    fn delivered_bytes(&self) -> u64 {
        self.read[Side::Receiver.index()]
    }

    fn window(&self) -> Option<Window> {
        // As in a simulation, the trace begins with the flow, not with the end of its handshake.
        self.sender.window().or(Some(Window { cwnd: self.parts.initial_window, ssthresh: self.parts.threshold }))
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        self.sender.timing()
    }

    fn latest_rtt(&self) -> Option<Duration> {
        self.latest_rtt
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(&self.sender.exit)
    }

    fn tally(&mut self, end: Instant) -> Tally {
        self.observe(end);
        let delivered_bytes = self.delivered_bytes();
        let complete =
            self.parts.bulk.and_then(|bulk| bulk.amount()).is_some_and(|packets| delivered_bytes >= packets * self.parts.segment);
        Tally {
            counters: self.sender.counters,
            window: self.sender.window(),
            delivered_bytes,
            delivered_packets: delivered_bytes / self.parts.segment,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: self.sender.initial_window(),
            limited: self.sender.limited(if complete { self.delivered_at } else { end }),
            slow_start_exit: self.sender.exit.get(),
            min_rtt: self.sender.min_rtt(),
        }
    }
}
