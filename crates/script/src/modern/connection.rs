//! One connection of the host: an endpoint, its socket options, its buffers, and its errors.

use std::collections::VecDeque;

use ackclock_core::units::{Duration, Instant};
use ackclock_tcp::modern::segment::Segment;
use ackclock_tcp::modern::{Endpoint, State, WriteFlags};

use super::fast_open::Cookie;
use super::keep_alive::{Probes, Step};
use super::limits::{Activity, Limits};
use super::options::SocketOptions;
use super::segments;
use super::zero_copy::ZeroCopy;
use crate::errno::Errno;
use crate::packet::Packet;
use crate::script::Flags;
use crate::stack::{Ends, Refusal, Socket, Status, Writing};

/// How long a SYN is sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Retransmissions, unless the socket says otherwise.
    pub(super) syn_retries: u32,
    /// More retransmissions, whose timeouts do not double.
    pub(super) linear: u32,
    /// First timeout.
    pub(super) timeout: Duration,
}

impl Patience {
    /// Whether `retries` SYNs in `elapsed` are enough: as many as `most` and the linear ones, or as long as `most` doubling timeouts take.
    fn is_over(&self, most: u32, retries: u32, elapsed: Duration) -> bool {
        retries >= most + self.linear || retries > 0 && elapsed >= self.timeout * ((2_u64 << most.min(62)) - 1) as f64
    }
}

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
    /// Segments that left during a write.
    sent: VecDeque<Segment>,
    pub(super) zero_copy: ZeroCopy,
    limits: Limits,
    /// The option of Fast Open of the next SYN or SYN-ACK.
    pub(super) cookie: Option<Cookie>,
    /// The option of Fast Open that opened the connection.
    pub(super) asked: Option<Cookie>,
    /// The segment size that a SYN cookie gives, once the connection is open.
    pub(super) cookie_segment: Option<u16>,
    probes: Probes,
    wakes: u64,
    /// Since when retransmissions have had no answer.
    stalled: Option<Instant>,
    /// When the connection began, and when data last arrived.
    began: Instant,
    heard: Option<Instant>,
}

impl Connection {
    /// A connection of `endpoint` that begins `now`.
    pub(super) fn new(now: Instant, endpoint: Endpoint, ends: Ends, options: SocketOptions) -> Self {
        Self {
            endpoint,
            ends,
            options,
            listener: None,
            closed: false,
            shut: (false, false),
            error: None,
            broken: false,
            reset: None,
            sent: VecDeque::new(),
            zero_copy: ZeroCopy::default(),
            limits: Limits::default(),
            cookie: None,
            asked: None,
            cookie_segment: None,
            probes: Probes::new(now),
            wakes: 0,
            stalled: None,
            began: now,
            heard: None,
        }
    }

    /// A packet arrives.
    pub(super) fn handle(&mut self, now: Instant, packet: &Packet) {
        let (before, usable, unread) = (self.endpoint.state(), self.is_usable(), self.endpoint.readable());
        let heard_fin = self.endpoint.has_heard_fin();
        self.endpoint.handle_segment(now, &packet.segment());
        if self.endpoint.state() == State::Closed && !matches!(before, State::Closed | State::LastAck | State::Closing | State::TimeWait) {
            // Nobody knows of a connection that is reset before it is open.
            self.closed |= self.listener.is_some() && !usable;
            self.fail(match before {
                State::SynSent => Errno::ECONNREFUSED,
                State::CloseWait => Errno::EPIPE,
                _ => Errno::ECONNRESET,
            });
        }
        let news = self.endpoint.readable() > unread || self.endpoint.has_heard_fin() != heard_fin || self.is_usable() != usable;
        self.wakes += u64::from(news);
        self.probes = Probes::new(now);
        if let Some(segment) = self.cookie_segment.take_if(|_| self.endpoint.is_established()) {
            self.endpoint.change_mss(segment);
        }
        // The handshake counts as data.
        if self.endpoint.readable() > unread || self.is_usable() != usable {
            self.heard = Some(now);
        }
        // Nobody will read data that arrives after the socket was closed (RFC 9293 §3.10.7.4; RFC 2525 §2.17).
        if self.closed && self.endpoint.readable() > 0 && !self.broken {
            self.endpoint.abort(now);
            (self.broken, self.reset) = (true, segments::refusal(packet));
        }
        if packet.has(Flags::ACK) {
            self.release();
        }
        self.note_activity(now);
    }

    /// The peer may have acknowledged data, which may be news for the application.
    fn release(&mut self) {
        let una = self.endpoint.stream_position() - self.endpoint.unacknowledged();
        let told = self.zero_copy.acknowledge(una);
        self.wakes += u64::from(told);
    }

    /// The network cannot reach the peer: that ends a connection that opens, and one whose early data nobody has accepted.
    pub(super) fn note_unreachable(&mut self, error: Errno) {
        let request = self.listener.is_some() && !self.is_usable();
        if request || self.endpoint.state() == State::SynSent || self.endpoint.is_early() && self.listener.is_some() {
            self.closed |= request;
            self.endpoint.forget();
            self.fail(error);
        }
    }

    /// The connection ends with an error.
    fn fail(&mut self, error: Errno) {
        (self.broken, self.error) = (true, Some(error));
        self.wakes += 1;
    }

    /// Handles expired timers.
    pub(super) fn handle_timeout(&mut self, now: Instant, patience: &Patience) {
        let opening = self.endpoint.state() == State::SynSent;
        let syns = self.options.syn_retries.unwrap_or(patience.syn_retries);
        let given_up = opening && patience.is_over(syns, self.endpoint.info(now).total_retrans, now.since(self.began));
        let step = if self.is_idle() { self.probes.step(now, &self.options.keep_alive) } else { Step::Wait };
        if given_up || step == Step::GiveUp || self.expiry().is_some_and(|due| due <= now) {
            self.endpoint.forget();
            return self.fail(Errno::ETIMEDOUT);
        }
        if step == Step::Probe {
            self.endpoint.probe();
        }
        self.endpoint.handle_timeout(now);
        let info = self.endpoint.info(now);
        if info.backoff + info.probes == 0 {
            self.stalled = None;
        } else if !opening {
            self.stalled.get_or_insert(now);
        }
        self.note_activity(now);
    }

    /// Whether the connection is open, and neither sends nor waits for an ACK.
    fn is_idle(&self) -> bool {
        self.is_open() && !self.broken && self.endpoint.unacknowledged() + self.endpoint.unsent() == 0
    }

    /// When the connection gives up (`TCP_USER_TIMEOUT`).
    fn expiry(&self) -> Option<Instant> {
        self.stalled.zip(self.options.user_timeout).filter(|_| !self.broken).map(|(since, most)| since + Duration::from_millis(most))
    }

    /// When [`Connection::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let probe = self.probes.due(&self.options.keep_alive).filter(|_| self.is_idle());
        self.endpoint.poll_timeout().into_iter().chain(self.expiry()).chain(probe).reduce(Instant::min)
    }

    /// Aborts the connection with a reset.
    pub(super) fn abort(&mut self, now: Instant) {
        let (ends, tos) = (self.ends, self.options.tos);
        self.reset = self.endpoint.abort(now).map(|segment| segments::packet(&segment, ends, tos, &[])).or(self.reset.take());
        self.broken = true;
    }

    /// The next packet to send.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if let Some(reset) = self.reset.take() {
            return Some(reset);
        }
        let Some(mut segment) = self.sent.pop_front().or_else(|| self.endpoint.poll_transmit(now)) else {
            self.look_for_room(now);
            return None;
        };
        if self.closed && matches!(self.endpoint.state(), State::FinWait2 | State::TimeWait) {
            // A closed socket that waits for the peer's FIN has forgotten the counters of marks.
            (segment.flags, segment.options.ecn) = (segment.flags.without_ace(), None);
        }
        let cookie = if segment.flags.bits() & Flags::SYN != 0 { self.cookie.take() } else { None }.map_or_else(Vec::new, Cookie::options);
        self.note_activity(now);
        Some(segments::packet(&segment, self.ends, self.options.tos, &cookie))
    }

    /// Nothing can be sent now: an application that waits for room in the buffer may go on.
    fn look_for_room(&mut self, now: Instant) {
        let room = self.endpoint.waits_for_room() && self.endpoint.finds_room(now);
        self.wakes += u64::from(room);
    }

    /// Whether the handshake is over.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.endpoint.state(), State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether the application can use the connection: the handshake is over, or the SYN brought data.
    pub(super) fn is_usable(&self) -> bool {
        self.is_open() || self.endpoint.is_early()
    }

    /// Packets do not belong to the connection any more: it was reset, or has given up.
    pub(super) fn is_gone(&self) -> bool {
        self.broken && self.endpoint.state() == State::Closed
    }

    /// The connection can be forgotten: closed by the application, and over. In TIME-WAIT it still answers the peer's FIN.
    pub(super) fn is_over(&self) -> bool {
        self.closed && self.reset.is_none() && self.endpoint.state() == State::Closed
    }

    /// The application writes.
    pub(super) fn write(&mut self, now: Instant, bytes: u64, how: Writing) -> Result<u64, Refusal> {
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        if self.shut.0 || self.broken {
            return Err(Errno::EPIPE.into());
        }
        if !self.is_usable() || how.again && self.endpoint.waits_for_room() {
            return Ok(0);
        }
        let flags = WriteFlags { more: how.more, record: how.ends_record };
        let taken = self.endpoint.write_into_buffer(now, bytes, flags, &mut self.sent);
        if taken > 0 {
            self.note_write(how);
        }
        self.note_activity(now);
        Ok(taken)
    }

    /// The first data is written, before the handshake.
    pub(super) fn write_with_syn(&mut self, now: Instant, bytes: u64, how: Writing) {
        let taken = self.endpoint.write_into_buffer(now, bytes, WriteFlags::default(), &mut self.sent);
        self.endpoint.open_with_data(taken);
        self.note_write(how);
    }

    fn note_write(&mut self, how: Writing) {
        if how.zero_copy && self.options.is_set("SO_ZEROCOPY") {
            self.zero_copy.write(self.endpoint.stream_position() + self.endpoint.unsent());
        }
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
        if !self.is_usable() || self.broken {
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

    /// Notes what holds the connection back.
    fn note_activity(&mut self, now: Instant) {
        let (unsent, outstanding) = (self.endpoint.unsent(), self.endpoint.unacknowledged());
        self.limits.note(
            now,
            if !self.is_usable() || self.broken || unsent + outstanding == 0 {
                Activity::Idle
            } else if unsent > 0 && self.endpoint.waits_for_window() {
                Activity::ReceiveWindow
            } else if unsent == 0 && self.endpoint.waits_for_room() {
                Activity::SendBuffer
            } else {
                Activity::Busy
            },
        );
    }

    /// Time that the connection was busy, limited by the peer's window, and limited by the buffer.
    pub(super) fn limits(&self, now: Instant) -> [Duration; 3] {
        self.limits.at(now)
    }

    /// Time since data arrived, or since the connection began.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now.since(self.heard.unwrap_or(self.began))
    }

    /// What the socket can do.
    pub(super) fn status(&self) -> Status {
        let state = self.endpoint.state();
        let peer_closed = self.endpoint.has_heard_fin();
        let usable = self.is_usable() && !self.broken;
        Status {
            connecting: !self.is_usable() && (state == State::SynSent || self.listener.is_none()),
            readable: self.endpoint.readable() > 0 || peer_closed || self.broken,
            writable: usable && !self.shut.0 && self.endpoint.is_writeable() || self.broken,
            peer_closed: peer_closed || self.broken,
            hung_up: self.broken || peer_closed && self.shut.0,
            error: self.error,
            notified: self.zero_copy.has_message(),
            wakes: self.wakes,
        }
    }
}
