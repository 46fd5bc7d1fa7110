//! The world of virtual time: runs a [`Stack`] from timer to timer, and gives its sockets file descriptors and blocking calls.

mod epoll;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use ackclock_core::units::{Duration, Instant};

use crate::blocked::{self, Blocked};
use crate::errno::Errno;
use crate::network::Network;
use crate::play::constants::{self, DONT_WAIT, ERROR_QUEUE, FAST_OPEN, MORE, NO_SIGNAL, RECORD, ZERO_COPY};
use crate::settings::is_of_kernels;
use crate::stack::{Answer, Control, Ends, Info, Opening, Refusal, Socket, Stack, Status, Value, Writing};
use crate::world::{Call, Fd, Happening, Output, Return, World};
use ackclock_wire::icmp::Message;
use epoll::Epoll;

/// First file descriptor of a script: 0 to 2 are the standard streams.
const FIRST_FD: Fd = 3;
/// File descriptors of a process, with the standard streams: Linux's soft limit `RLIMIT_NOFILE`, unless the shell sets another.
const MOST_FDS: usize = 1024;
/// First port of connections that this end opens.
const EPHEMERAL_PORT: u16 = 32_768;
/// Timeouts in a row at one time before the stack counts as broken.
const MOST_TIMEOUTS: u32 = 10_000;
/// Packets at one time before the stack counts as broken.
const MOST_PACKETS: u32 = 100_000;
/// `O_RDWR` and `O_NONBLOCK`, as `fcntl(F_GETFL)` reports them.
const READ_WRITE: i64 = 2;
const NONBLOCK: i64 = 0o4000;

/// Events of poll(2).
mod events {
    pub(super) const IN: i16 = 1;
    pub(super) const OUT: i16 = 4;
    pub(super) const ERR: i16 = 8;
    pub(super) const HUP: i16 = 16;
    pub(super) const INVALID: i16 = 32;
    pub(super) const READ_NORMAL: i16 = 64;
    pub(super) const WRITE_NORMAL: i16 = 256;
    pub(super) const PEER_CLOSED: i16 = 0x2000;
}

/// An open file descriptor.
#[derive(Clone, Copy, Debug)]
struct Open {
    socket: Socket,
    nonblocking: bool,
    /// Local address, once bound.
    bound: Option<SocketAddr>,
    /// Whether `connect` was called, and whether its success was reported.
    connecting: bool,
    connected: bool,
    /// Where the first data opens a connection, after a `connect` that did not.
    deferred: Option<Ends>,
}

/// A socket that epoll descriptors have instead of one of the stack.
const NO_SOCKET: Socket = Socket::MAX;
/// Flags that `send` knows.
const OF_SEND: i64 = DONT_WAIT | NO_SIGNAL | MORE | RECORD | ZERO_COPY | FAST_OPEN;
/// Flags that `recv` knows.
const OF_RECEIVE: i64 = DONT_WAIT | NO_SIGNAL | ERROR_QUEUE;

/// Refuses flags that are not `known`.
fn check(flags: i64, known: i64, call: &str) -> Answer<()> {
    let names = constants::names_of(known).join(", ");
    match flags & !known {
        0 => Ok(()),
        other => {
            Err(Refusal::Unsupported(format!("{call} with the flags {other:#x}: {names} are supported; others need a kernel under test")))
        }
    }
}

/// A stack in virtual time.
#[derive(Debug)]
pub struct Simulated<S> {
    stack: S,
    network: Network,
    now: Instant,
    fds: Vec<Option<Open>>,
    blocked: Option<Blocked>,
    next_port: u16,
    sent: VecDeque<Vec<u8>>,
    epolls: BTreeMap<Fd, Epoll>,
}

impl<S: Stack> Simulated<S> {
    /// A world with `stack` at time 0.
    pub fn new(stack: S, network: &Network) -> Self {
        Self {
            stack,
            network: *network,
            now: Instant::ZERO,
            fds: Vec::new(),
            blocked: None,
            next_port: EPHEMERAL_PORT,
            sent: VecDeque::new(),
            epolls: BTreeMap::new(),
        }
    }

    /// The stack.
    pub fn stack(&mut self) -> &mut S {
        &mut self.stack
    }

    fn open(&mut self, fd: Fd) -> Answer<&mut Open> {
        let index = usize::try_from(fd - FIRST_FD).ok();
        Ok(index.and_then(|index| self.fds.get_mut(index)).and_then(Option::as_mut).ok_or(Errno::EBADF)?)
    }

    /// Index of the lowest free descriptor, which the next call gets; an error if all are open.
    fn vacancy(&self) -> Answer<usize> {
        let index = self.fds.iter().position(Option::is_none).unwrap_or(self.fds.len());
        if index < MOST_FDS - FIRST_FD as usize { Ok(index) } else { Err(Errno::EMFILE.into()) }
    }

    /// Opens the free descriptor `index` for `socket`.
    fn allot(&mut self, index: usize, socket: Socket, nonblocking: bool) -> Fd {
        if index == self.fds.len() {
            self.fds.push(None);
        }
        self.fds[index] = Some(Open { socket, nonblocking, bound: None, connecting: false, connected: false, deferred: None });
        // `vacancy` returns small indices only.
        Fd::try_from(index).unwrap_or(Fd::MAX - FIRST_FD) + FIRST_FD
    }

    /// Collects the packets that the stack sends now.
    fn collect(&mut self) -> Result<(), String> {
        let mut count = 0;
        while let Some(packet) = self.stack.poll_transmit(self.now) {
            self.sent.push_back(packet);
            count += 1;
            if count > MOST_PACKETS {
                return Err(format!("the stack sends without end at {} s", self.now.as_secs_f64()));
            }
        }
        Ok(())
    }

    /// Attempts a call once; `None`: it cannot finish yet. `again`: it has waited before.
    fn attempt(&mut self, call: &Call, written: u64, again: bool) -> Answer<Option<Return>> {
        let value = match *call {
            Call::Socket { nonblocking } => {
                let index = self.vacancy()?;
                let socket = self.stack.socket()?;
                i64::from(self.allot(index, socket, nonblocking))
            }
            Call::Bind { fd, port } => {
                let local = SocketAddr::new(self.network.local, port.unwrap_or(self.network.local_port));
                self.open(fd)?.bound = Some(local);
                0
            }
            Call::Listen { fd, backlog } => {
                let open = *self.open(fd)?;
                let local = open.bound.unwrap_or_else(|| self.ephemeral());
                self.stack.listen(open.socket, local, backlog)?;
                0
            }
            Call::Accept { fd, nonblocking } => {
                let open = *self.open(fd)?;
                // As in Linux, a call without a free descriptor fails at once, also if no connection waits.
                let index = self.vacancy()?;
                match self.stack.accept(self.now, open.socket)? {
                    Some(socket) => i64::from(self.allot(index, socket, nonblocking)),
                    None if open.nonblocking => return Err(Errno::EAGAIN.into()),
                    None => return Ok(None),
                }
            }
            Call::Connect { fd, ends: true, .. } => {
                let open = self.open(fd)?;
                (open.connecting, open.connected, open.deferred) = (false, false, None);
                let socket = open.socket;
                self.stack.disconnect(self.now, socket)?;
                0
            }
            Call::Connect { fd, port, .. } => return self.connect(fd, port),
            Call::Write { fd, bytes, flags, null, .. } => {
                check(flags, OF_SEND, "send")?;
                self.open(fd)?;
                if null && bytes > 0 {
                    return Err(Errno::EFAULT.into());
                }
                return self.write(fd, (bytes, written), flags, again);
            }
            Call::Read { fd, most, flags, control, null } => {
                check(flags, OF_RECEIVE, "recv")?;
                return self.read(fd, most, flags, (control, null));
            }
            Call::Shutdown { fd, read, write } => {
                let socket = self.open(fd)?.socket;
                self.stack.shutdown(self.now, socket, read, write)?;
                0
            }
            Call::Close { fd } => {
                let socket = self.open(fd)?.socket;
                self.fds[(fd - FIRST_FD) as usize] = None;
                self.epolls.remove(&fd);
                self.epolls.values_mut().for_each(|set| set.forget(fd));
                if socket != NO_SOCKET {
                    self.stack.close(self.now, socket)?;
                }
                0
            }
            Call::SetOption { fd, ref name, ref value, .. } => {
                let socket = self.open(fd)?.socket;
                self.stack.set_option(self.now, socket, name, value)?;
                0
            }
            Call::Option { fd, ref name, .. } => {
                let socket = self.open(fd)?.socket;
                let value = self.stack.option(self.now, socket, name)?;
                return Ok(Some(Return { output: Output::Value(value), ..Return::success(0) }));
            }
            Call::SetNonBlocking { fd, on } => {
                self.open(fd)?.nonblocking = on;
                0
            }
            Call::Flags { fd } => READ_WRITE | if self.open(fd)?.nonblocking { NONBLOCK } else { 0 },
            Call::Unread { fd } | Call::Unacknowledged { fd } => {
                let socket = self.open(fd)?.socket;
                let (unread, unacknowledged) = self.stack.queued(socket)?;
                let bytes = if let Call::Unread { .. } = call { unread } else { unacknowledged };
                return Ok(Some(Return { output: Output::Value(Value::Integer(bytes.cast_signed())), ..Return::success(0) }));
            }
            Call::Poll { ref fds, timeout } => return Ok(self.poll(fds, timeout == 0)),
            Call::EpollCreate => {
                let index = self.vacancy()?;
                let fd = self.allot(index, NO_SOCKET, false);
                self.epolls.insert(fd, Epoll::default());
                i64::from(fd)
            }
            Call::EpollControl { epoll, operation, fd, events } => {
                let socket = self.open(fd)?.socket;
                let set = self.epolls.get_mut(&epoll).ok_or(Errno::EINVAL)?;
                set.control(operation, (fd, socket), events)?;
                0
            }
            Call::EpollWait { epoll, most, timeout } => return self.wait(epoll, most, timeout == 0),
        };
        Ok(Some(Return::success(value)))
    }

    /// The next free local address.
    fn ephemeral(&mut self) -> SocketAddr {
        self.next_port += 1;
        SocketAddr::new(self.network.local, self.next_port - 1)
    }

    /// The ends of a connection that a descriptor opens.
    fn ends(&mut self, open: &Open, port: Option<u16>) -> Ends {
        let local = open.bound.unwrap_or_else(|| self.ephemeral());
        Ends { local, remote: SocketAddr::new(self.network.remote, port.unwrap_or(self.network.remote_port)) }
    }

    fn connect(&mut self, fd: Fd, port: Option<u16>) -> Answer<Option<Return>> {
        let open = *self.open(fd)?;
        if open.deferred.is_some() {
            return Err(Errno::EISCONN.into());
        }
        if !open.connecting {
            let ends = self.ends(&open, port);
            if self.stack.defers_connect(open.socket, ends.remote) {
                *self.open(fd)? = Open { bound: Some(ends.local), deferred: Some(ends), ..open };
                return Ok(Some(Return::success(0)));
            }
            self.stack.connect(self.now, open.socket, ends)?;
            *self.open(fd)? = Open { connecting: true, bound: Some(ends.local), ..open };
        }
        let status = self.stack.status(open.socket);
        if status.connecting {
            let again = open.connecting && open.nonblocking;
            return if again {
                Err(Errno::EALREADY.into())
            } else if open.nonblocking {
                Err(Errno::EINPROGRESS.into())
            } else {
                Ok(None)
            };
        }
        if let Some(error) = status.error {
            // Reading the option clears the error.
            self.stack.option(self.now, open.socket, "SO_ERROR").ok();
            self.open(fd)?.connecting = false;
            return Err(error.into());
        }
        if open.connected {
            return Err(Errno::EISCONN.into());
        }
        self.open(fd)?.connected = true;
        Ok(Some(Return::success(0)))
    }

    fn write(&mut self, fd: Fd, (bytes, mut written): (u64, u64), flags: i64, again: bool) -> Answer<Option<Return>> {
        let open = *self.open(fd)?;
        let waits = !open.nonblocking && flags & DONT_WAIT == 0;
        let how = Writing { more: flags & MORE != 0, ends_record: flags & RECORD != 0, zero_copy: flags & ZERO_COPY != 0, again };
        let retried = self.blocked.as_ref().is_some_and(|blocked| blocked.opening);
        // The first call after the opening takes its result, as `connect` would.
        let finishes = open.connecting && !open.connected && !self.stack.status(open.socket).connecting;
        let opens = !retried && !finishes && (open.deferred.is_some() || flags & FAST_OPEN != 0);
        if opens {
            let ends = open.deferred.unwrap_or_else(|| self.ends(&open, None));
            let opening = self.stack.connect_with_data(self.now, open.socket, ends, (bytes, how))?;
            *self.open(fd)? = Open { connecting: true, bound: Some(ends.local), deferred: None, ..open };
            if let Opening::Carries(carried) = opening {
                written = carried;
            }
        }
        if opens || retried {
            if self.stack.status(open.socket).connecting {
                if waits {
                    if let Some(blocked) = &mut self.blocked {
                        (blocked.written, blocked.opening) = (written, true);
                    }
                    return Ok(None);
                }
                return if written > 0 { Ok(Some(Return::success(written.cast_signed()))) } else { Err(Errno::EINPROGRESS.into()) };
            }
            // The data that the SYN carried does not hide the error of the opening.
            if let Some(error) = self.stack.status(open.socket).error {
                self.stack.option(self.now, open.socket, "SO_ERROR").ok();
                return Err(error.into());
            }
            if let Some(blocked) = &mut self.blocked {
                blocked.opening = false;
            }
        }
        if finishes {
            self.open(fd)?.connected = true;
        }
        let taken = match self.stack.write(self.now, open.socket, bytes - written, how) {
            // An error after a part was written is reported by the next call.
            Err(_) if written > 0 => return Ok(Some(Return::success(written.cast_signed()))),
            answer => answer?,
        };
        let total = written + taken;
        if total == bytes || total > 0 && !waits {
            return Ok(Some(Return::success(total.cast_signed())));
        }
        if !waits {
            return Err(Errno::EAGAIN.into());
        }
        if let Some(blocked) = &mut self.blocked {
            blocked.written = total;
        }
        Ok(None)
    }

    /// Reads; `control`: with control messages; `null`: into no buffer.
    fn read(&mut self, fd: Fd, most: u64, flags: i64, (control, null): (bool, bool)) -> Answer<Option<Return>> {
        let open = *self.open(fd)?;
        let message =
            |value: i64, flags, messages: Vec<Control>| Return { output: Output::Message(flags, messages), ..Return::success(value) };
        if flags & ERROR_QUEUE != 0 {
            return match self.stack.notification(self.now, open.socket)? {
                Some(notification) => Ok(Some(message(0, ERROR_QUEUE, vec![notification]))),
                None => Err(Errno::EAGAIN.into()),
            };
        }
        if open.deferred.is_some() {
            return Err(Errno::EAGAIN.into());
        }
        if null && most > 0 && self.stack.status(open.socket).readable {
            return Err(Errno::EFAULT.into());
        }
        match self.stack.read(self.now, open.socket, most)? {
            Some(bytes) => {
                let messages = if control { self.stack.controls(open.socket)? } else { Vec::new() };
                Ok(Some(message(bytes.cast_signed(), 0, messages)))
            }
            None if open.nonblocking || flags & DONT_WAIT != 0 => Err(Errno::EAGAIN.into()),
            None => Ok(None),
        }
    }

    /// The descriptors of an epoll set that have events; `None`: none has, and the call waits.
    fn wait(&mut self, epoll: Fd, most: i64, at_once: bool) -> Answer<Option<Return>> {
        let mut set = self.epolls.remove(&epoll).ok_or(Errno::EINVAL)?;
        let most = usize::try_from(most).ok().filter(|most| *most > 0);
        let ready = most.map(|most| {
            set.ready(most, |fd, socket, wanted| {
                let wakes = self.stack.status(socket).wakes;
                (self.events(fd, wanted), wakes)
            })
        });
        self.epolls.insert(epoll, set);
        let ready = ready.ok_or(Errno::EINVAL)?;
        let count = i64::try_from(ready.len()).unwrap_or(i64::MAX);
        Ok((count > 0 || at_once).then(|| Return { output: Output::Ready(ready), ..Return::success(count) }))
    }

    /// The events of sockets; `None`: there are none, and the call waits.
    fn poll(&mut self, fds: &[(Fd, i16)], at_once: bool) -> Option<Return> {
        let events: Vec<i16> = fds.iter().map(|&(fd, wanted)| self.events(fd, wanted)).collect();
        let ready = events.iter().filter(|events| **events != 0).count();
        (ready > 0 || at_once)
            .then(|| Return { output: Output::Events(events), ..Return::success(i64::try_from(ready).unwrap_or(i64::MAX)) })
    }

    fn events(&mut self, fd: Fd, wanted: i16) -> i16 {
        let Ok(open) = self.open(fd).copied() else { return events::INVALID };
        let Status { connecting, readable, writable, peer_closed, hung_up, error, notified, .. } = match open.deferred {
            // The first data will open the connection.
            Some(_) => Status { writable: true, ..Status::default() },
            None => self.stack.status(open.socket),
        };
        let mask = |condition: bool, bits: i16| if condition { bits } else { 0 };
        let asked = mask(readable || peer_closed || error.is_some(), events::IN | events::READ_NORMAL)
            | mask(!connecting && (writable || error.is_some()), events::OUT | events::WRITE_NORMAL)
            | mask(peer_closed || hung_up, events::PEER_CLOSED);
        asked & wanted | mask(error.is_some() || notified, events::ERR) | mask(hung_up, events::HUP)
    }

    /// Attempts the blocked call again.
    fn retry(&mut self) -> Result<Option<Return>, String> {
        let Some(blocked) = self.blocked.as_ref() else { return Ok(None) };
        let (call, written, expired) = (blocked.call.clone(), blocked.written, blocked.expired(self.now));
        let result = blocked::seen(self.attempt(&call, written, true))?.or(expired);
        self.blocked.take_if(|_| result.is_some());
        Ok(result)
    }
}

impl<S: Stack> World for Simulated<S> {
    fn now(&mut self) -> Instant {
        self.now
    }

    fn advance(&mut self, until: Instant) -> Result<Happening, String> {
        let mut timeouts = 0;
        loop {
            self.collect()?;
            if let Some(packet) = self.sent.pop_front() {
                return Ok(Happening::Sent { at: self.now, packet });
            }
            if let Some(result) = self.retry()? {
                return Ok(Happening::Returned { at: self.now, result });
            }
            // The retried call may have let the stack send.
            self.collect()?;
            if !self.sent.is_empty() {
                continue;
            }
            let deadline = self.blocked.as_ref().and_then(|blocked| blocked.deadline);
            let due = [self.stack.poll_timeout(), deadline].into_iter().flatten().reduce(Instant::min);
            // Scripts give decimal times, so a timer may be due a rounding error later.
            let Some(due) = due.filter(|due| *due <= until + Duration::NANOSECOND) else {
                self.now = self.now.max(until);
                return Ok(Happening::Reached);
            };
            timeouts = if due > self.now { 0 } else { timeouts + 1 };
            if timeouts > MOST_TIMEOUTS {
                return Err(format!("the stack's timer of {} s never ends", due.as_secs_f64()));
            }
            self.now = self.now.max(due);
            self.stack.handle_timeout(self.now);
        }
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), String> {
        self.stack.handle(self.now, packet);
        self.collect()
    }

    fn reads_icmp(&self) -> bool {
        self.stack.reads_icmp()
    }

    fn inject_icmp(&mut self, message: &Message) -> Result<(), String> {
        match self.stack.handle_icmp(self.now, message) {
            Ok(()) => self.collect(),
            Err(Refusal::Unsupported(what)) => Err(what),
            Err(Refusal::Error(errno)) => Err(errno.to_string()),
        }
    }

    fn call(&mut self, call: &Call, _may_block: bool) -> Result<Option<Return>, Refusal> {
        self.blocked = Some(Blocked::new(call, self.now));
        let result = blocked::seen(self.attempt(call, 0, false));
        if !matches!(result, Ok(None)) {
            self.blocked = None;
            self.collect().map_err(Refusal::Unsupported)?;
        }
        result.map_err(Refusal::Unsupported)
    }

    fn info(&mut self, fd: Fd) -> Result<Info, Refusal> {
        let socket = self.open(fd)?.socket;
        Ok(self.stack.info(self.now, socket))
    }

    fn configure(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        if is_of_kernels(name) { Ok(()) } else { self.stack.configure(name, value) }
    }
}
