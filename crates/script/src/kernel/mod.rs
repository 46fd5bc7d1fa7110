//! The world of a Linux kernel: its TCP in a network namespace of its own.
//!
//! A [`System`] is the kernel with its clock, its interface and its system calls: [`Machine`] is that of this machine, in real time.

#![expect(clippy::cast_possible_wrap, reason = "sizes and counts of a socket are far below 2^63")]

mod machine;
mod options;
mod space;
mod system;

use std::collections::VecDeque;
use std::ffi::c_int;
use std::io;

use ackclock_core::units::{Duration, Instant};
use ackclock_linux::libc;

pub use self::machine::Machine;
pub use self::system::{Handle, Incoming, Outgoing, System};
use crate::blocked::{self, Blocked};
use crate::errno::Errno;
use crate::network::Network;
use crate::play::constants::{DONT_WAIT, ERROR_QUEUE};
use crate::stack::{Info, Refusal, Value};
use crate::world::{Call, Fd, Happening, Output, Return, World};

/// Most bytes of a call that reads.
const MOST: u64 = 1 << 24;
/// First file descriptor of a script: 0 to 2 are the standard streams.
const FIRST_FD: Fd = 3;
/// The state of a connection that waits for the answer to its SYN.
const SYN_SENT: i64 = 2;
/// `O_RDWR` and `O_NONBLOCK`, as `fcntl(F_GETFL)` reports them.
const READ_WRITE: i64 = 2;
const NONBLOCK: i64 = 0o4000;

/// A socket of the script. The kernel's socket never blocks; a blocking call is repeated until it succeeds.
#[derive(Clone, Copy, Debug)]
struct Open {
    socket: Handle,
    nonblocking: bool,
    /// Whether `connect` leaves the SYN to the first write (`TCP_FASTOPEN_CONNECT`).
    deferred: bool,
}

/// The TCP of a kernel.
#[derive(Debug)]
pub struct Kernel<S> {
    fds: Vec<Option<Open>>,
    system: S,
    network: Network,
    blocked: Option<Blocked>,
    sent: VecDeque<(Instant, Vec<u8>)>,
    /// Congestion control of new sockets: a namespace cannot change its default.
    control: Option<String>,
    /// Attributes of the route.
    route: Vec<String>,
}

/// How a call went: its result, or `None` if it must wait.
type Attempt = Result<Option<Return>, Refusal>;

fn errno(error: &io::Error) -> Refusal {
    Refusal::Error(Errno(error.raw_os_error().unwrap_or(Errno::EIO.0)))
}

impl Kernel<Machine> {
    /// A world with this machine's kernel and the addresses of `network`. Needs root.
    ///
    /// # Errors
    /// If the rights, the TUN device or a command are missing: says which.
    pub fn new(network: &Network) -> Result<Self, String> {
        Ok(Self::on(Machine::enter(network)?, network))
    }
}

impl<S: System> Kernel<S> {
    /// A world with a kernel that has the addresses of `network`.
    pub fn on(system: S, network: &Network) -> Self {
        Self { fds: Vec::new(), system, network: *network, blocked: None, sent: VecDeque::new(), control: None, route: Vec::new() }
    }

    /// Collects the packets that the kernel has sent.
    fn collect(&mut self) -> Result<(), String> {
        while let Some((at, packet)) = self.system.receive()? {
            // Neighbour discovery and the like are not the script's.
            let protocol = match packet.first() {
                Some(byte) if byte >> 4 == 4 => packet.get(9),
                _ => packet.get(6),
            };
            if protocol == Some(&6) {
                self.sent.push_back((at, packet));
            }
        }
        Ok(())
    }

    fn open(&mut self, fd: Fd) -> Result<&mut Open, Refusal> {
        let index = usize::try_from(fd - FIRST_FD).ok();
        index.and_then(|index| self.fds.get_mut(index)).and_then(Option::as_mut).ok_or(Refusal::Error(Errno::EBADF))
    }

    fn socket(&mut self, fd: Fd) -> Result<Handle, Refusal> {
        Ok(self.open(fd)?.socket)
    }

    /// Calls the system with a socket.
    fn with<T>(&mut self, fd: Fd, call: impl FnOnce(&mut S, Handle) -> io::Result<T>) -> Result<T, Refusal> {
        let socket = self.socket(fd)?;
        call(&mut self.system, socket).map_err(|error| errno(&error))
    }

    fn allot(&mut self, socket: Handle, nonblocking: bool) -> i64 {
        let index = self.fds.iter().position(Option::is_none).unwrap_or(self.fds.len());
        if index == self.fds.len() {
            self.fds.push(None);
        }
        self.fds[index] = Some(Open { socket, nonblocking, deferred: false });
        index as i64 + i64::from(FIRST_FD)
    }

    /// Attempts a call once. `again`: it has waited before.
    fn attempt(&mut self, call: &Call, written: u64, again: bool) -> Attempt {
        let value = match *call {
            Call::Socket { nonblocking } => {
                let socket = self.system.socket(self.network.local.is_ipv4() && !self.network.mapped).map_err(|error| errno(&error))?;
                if let Some(control) = &self.control {
                    options::set(&mut self.system, socket, "TCP_CONGESTION", &Value::Text(control.clone()))?
                        .map_err(|error| Refusal::Unsupported(format!("congestion control {control} of this kernel: {error}")))?;
                }
                self.allot(socket, nonblocking)
            }
            Call::Bind { fd, port } => {
                let local = self.network.socket_address(self.network.local, port.unwrap_or(self.network.local_port));
                self.with(fd, |system, socket| system.bind(socket, local))?;
                0
            }
            Call::Listen { fd, backlog } => {
                self.with(fd, |system, socket| system.listen(socket, backlog))?;
                0
            }
            Call::Accept { fd, nonblocking } => {
                let waits = !self.open(fd)?.nonblocking;
                let listener = self.socket(fd)?;
                match self.system.accept(listener) {
                    Ok(socket) => self.allot(socket, nonblocking),
                    Err(error) => return refused(&error, waits),
                }
            }
            Call::Connect { fd, ends: true, .. } => {
                self.with(fd, |system, socket| system.connect(socket, None))?;
                0
            }
            Call::Connect { fd, port, .. } => return self.connect(fd, port, again),
            Call::Write { fd, bytes, flags, connects, null } => {
                let to = connects.then(|| self.network.socket_address(self.network.remote, self.network.remote_port));
                return self.write(fd, &Outgoing { bytes, flags: flags as c_int, to, null }, written);
            }
            Call::Read { .. } => return self.read(call),
            Call::Shutdown { fd, read, write } => {
                let how = match (read, write) {
                    (true, false) => libc::SHUT_RD,
                    (false, _) => libc::SHUT_WR,
                    (true, true) => libc::SHUT_RDWR,
                };
                self.with(fd, |system, socket| system.shutdown(socket, how))?;
                0
            }
            Call::Close { fd } => {
                self.with(fd, System::close)?;
                self.fds[(fd - FIRST_FD) as usize] = None;
                0
            }
            Call::SetOption { fd, ref name, ref value, .. } => {
                let socket = self.socket(fd)?;
                options::set(&mut self.system, socket, name, value)?.map_err(|error| errno(&error))?;
                if name == "TCP_FASTOPEN_CONNECT" {
                    self.open(fd)?.deferred = *value != Value::Integer(0);
                }
                0
            }
            Call::Option { fd, ref name, .. } => {
                let socket = self.socket(fd)?;
                let value = options::get(&mut self.system, socket, name)?.map_err(|error| errno(&error))?;
                return Ok(Some(Return { output: Output::Value(value), ..Return::success(0) }));
            }
            Call::SetNonBlocking { fd, on } => {
                self.open(fd)?.nonblocking = on;
                0
            }
            Call::Flags { fd } => READ_WRITE | if self.open(fd)?.nonblocking { NONBLOCK } else { 0 },
            Call::Unread { fd } | Call::Unacknowledged { fd } => {
                let request = if let Call::Unread { .. } = call { libc::FIONREAD } else { libc::TIOCOUTQ };
                let bytes = self.with(fd, |system, socket| system.count(socket, request))?;
                return Ok(Some(Return { output: Output::Value(Value::Integer(bytes)), ..Return::success(0) }));
            }
            Call::Poll { ref fds, timeout } => {
                let mut events = Vec::with_capacity(fds.len());
                for &(fd, wanted) in fds {
                    events.push(match self.socket(fd) {
                        Ok(socket) => self.system.ready(socket, wanted).map_err(|error| errno(&error))?,
                        Err(_) => libc::POLLNVAL,
                    });
                }
                let ready = events.iter().filter(|events| **events != 0).count();
                if ready == 0 && timeout != 0 {
                    return Ok(None);
                }
                return Ok(Some(Return { output: Output::Events(events), ..Return::success(ready as i64) }));
            }
            Call::EpollCreate | Call::EpollControl { .. } | Call::EpollWait { .. } => return self.epoll(call),
        };
        Ok(Some(Return::success(value)))
    }

    /// Attempts a call that reads.
    fn read(&mut self, call: &Call) -> Attempt {
        let Call::Read { fd, most, flags, control, null } = *call else { return Ok(None) };
        let waits = !self.open(fd)?.nonblocking && flags & (DONT_WAIT | ERROR_QUEUE) == 0;
        let socket = self.socket(fd)?;
        match self.system.read(socket, most.min(MOST), flags as c_int, null) {
            Ok(message) => {
                let day = if control { self.system.day().map_err(|error| errno(&error))? } else { 0 };
                let output = Output::Message(i64::from(message.flags), options::control(&message.control, day));
                Ok(Some(Return { output, ..Return::success(message.bytes as i64) }))
            }
            Err(error) => refused(&error, waits),
        }
    }

    /// Attempts a call of epoll(7).
    fn epoll(&mut self, call: &Call) -> Attempt {
        let value = match *call {
            Call::EpollControl { epoll, operation, fd, events } => {
                let epoll = self.socket(epoll)?;
                self.with(fd, |system, socket| system.epoll_control(epoll, operation as c_int, socket, (events, fd)))?;
                0
            }
            Call::EpollWait { epoll, most, timeout } => {
                let most = usize::try_from(most).unwrap_or(0);
                let ready = self.with(epoll, |system, epoll| system.epoll_wait(epoll, most))?;
                if ready.is_empty() && timeout != 0 {
                    return Ok(None);
                }
                let count = ready.len() as i64;
                return Ok(Some(Return { output: Output::Ready(ready), ..Return::success(count) }));
            }
            _ => {
                let epoll = self.system.epoll().map_err(|error| errno(&error))?;
                self.allot(epoll, false)
            }
        };
        Ok(Some(Return::success(value)))
    }

    /// How the attempt to open a connection went; `None`: it is not over.
    fn opened(&mut self, fd: Fd) -> Attempt {
        let socket = self.socket(fd)?;
        match options::get(&mut self.system, socket, "SO_ERROR")?.map_err(|error| errno(&error))? {
            Value::Integer(0) if !self.writable(fd)? => Ok(None),
            Value::Integer(0) => Ok(Some(Return::success(0))),
            Value::Integer(error) => Err(Refusal::Error(Errno(error as i32))),
            _ => Ok(None),
        }
    }

    fn connect(&mut self, fd: Fd, port: Option<u16>, again: bool) -> Attempt {
        let waits = !self.open(fd)?.nonblocking;
        if waits && again {
            return self.opened(fd);
        }
        let remote = self.network.socket_address(self.network.remote, port.unwrap_or(self.network.remote_port));
        let socket = self.socket(fd)?;
        match self.system.connect(socket, Some(remote)) {
            Ok(()) => Ok(Some(Return::success(0))),
            Err(error) if waits && error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(None),
            Err(error) => Err(errno(&error)),
        }
    }

    fn writable(&mut self, fd: Fd) -> Result<bool, Refusal> {
        Ok(self.with(fd, |system, socket| system.ready(socket, libc::POLLOUT))? != 0)
    }

    /// Writes what is left of `message` after the first `written` bytes.
    fn write(&mut self, fd: Fd, message: &Outgoing, written: u64) -> Attempt {
        let Open { socket, nonblocking, deferred } = *self.open(fd)?;
        let waits = !nonblocking && message.flags & libc::MSG_DONTWAIT == 0;
        let mut opens = deferred || message.flags & libc::MSG_FASTOPEN != 0;
        let mut rest = Outgoing { bytes: message.bytes - written, ..*message };
        if self.blocked.as_ref().is_some_and(|blocked| blocked.opening) {
            match self.opened(fd) {
                Ok(Some(_)) => {}
                other => return other,
            }
            // The call goes on as an ordinary one.
            (opens, rest.flags, rest.to) = (false, rest.flags & !libc::MSG_FASTOPEN, None);
            if let Some(blocked) = &mut self.blocked {
                blocked.opening = false;
            }
            if rest.bytes == 0 {
                return Ok(Some(Return::success(written as i64)));
            }
        }
        let total = match self.system.write(socket, &rest) {
            Ok(taken) => written + taken,
            // An error after a part was written is reported by the next call.
            Err(_) if written > 0 && !waits => written,
            Err(error) if waits && opens && error.raw_os_error() == Some(libc::EINPROGRESS) => written,
            Err(error) => return refused(&error, waits),
        };
        let opening = waits && opens && self.state(socket)? == SYN_SENT;
        if !opening && (total == message.bytes || !waits) {
            return Ok(Some(Return::success(total as i64)));
        }
        if let Some(blocked) = &mut self.blocked {
            (blocked.written, blocked.opening) = (total, opening);
        }
        Ok(None)
    }

    /// The state of a connection.
    fn state(&mut self, socket: Handle) -> Result<i64, Refusal> {
        let info = options::info(&mut self.system, socket).map_err(|error| errno(&error))?;
        Ok(info.iter().find(|(name, _)| *name == "tcpi_state").map_or(0, |(_, state)| *state))
    }

    /// Attempts the blocked call again.
    fn retry(&mut self) -> Result<Option<Return>, String> {
        let now = self.system.now();
        let Some(blocked) = self.blocked.as_ref() else { return Ok(None) };
        let (call, written, expired) = (blocked.call.clone(), blocked.written, blocked.expired(now));
        let result = blocked::seen(self.attempt(&call, written, true))?.or(expired);
        self.blocked.take_if(|_| result.is_some());
        Ok(result)
    }

    /// The sockets for which the blocked call waits, with their events.
    fn waited(&mut self) -> Vec<(Handle, i16)> {
        let wanted: Vec<(Fd, i16)> = match self.blocked.as_ref().map(|blocked| &blocked.call) {
            Some(Call::Accept { fd, .. } | Call::Read { fd, .. } | Call::EpollWait { epoll: fd, .. }) => vec![(*fd, libc::POLLIN)],
            Some(Call::Connect { fd, .. } | Call::Write { fd, .. }) => vec![(*fd, libc::POLLOUT)],
            Some(Call::Poll { fds, .. }) => fds.clone(),
            _ => Vec::new(),
        };
        wanted.into_iter().filter_map(|(fd, events)| Some((self.socket(fd).ok()?, events))).collect()
    }
}

/// The answer to a call that failed: it waits if the error says so and the call may.
fn refused(error: &io::Error, waits: bool) -> Attempt {
    if waits && error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(errno(error)) }
}

impl<S: System> World for Kernel<S> {
    fn patience(&self) -> Duration {
        Duration::from_millis(10_000)
    }

    fn now(&mut self) -> Instant {
        self.system.now()
    }

    fn advance(&mut self, until: Instant) -> Result<Happening, String> {
        loop {
            self.collect()?;
            if let Some((at, packet)) = self.sent.pop_front() {
                return Ok(Happening::Sent { at, packet });
            }
            if let Some(result) = self.retry()? {
                return Ok(Happening::Returned { at: self.system.now(), result });
            }
            if self.system.now() >= until {
                return Ok(Happening::Reached);
            }
            let deadline = self.blocked.as_ref().and_then(|blocked| blocked.deadline);
            let waited = self.waited();
            self.system.pass(deadline.map_or(until, |deadline| deadline.min(until)), &waited)?;
        }
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), String> {
        self.system.send(packet)?;
        self.collect()
    }

    fn reads_icmp(&self) -> bool {
        true
    }

    fn call(&mut self, call: &Call, _may_block: bool) -> Attempt {
        self.blocked = Some(Blocked::new(call, self.system.now()));
        let result = blocked::seen(self.attempt(call, 0, false));
        if !matches!(result, Ok(None)) {
            self.blocked = None;
            self.collect().map_err(Refusal::Unsupported)?;
        }
        result.map_err(Refusal::Unsupported)
    }

    fn info(&mut self, fd: Fd) -> Result<Info, Refusal> {
        let socket = self.socket(fd)?;
        options::info(&mut self.system, socket).map_err(|error| errno(&error))
    }

    fn configure(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let unsupported = |error: io::Error| Refusal::Unsupported(format!("this kernel refuses {name} = {value}: {error}"));
        let shape =
            |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_. \t-".contains(letter)) && !text.contains("..");
        if !shape(name) || !shape(value) {
            return Err(Refusal::Unsupported(format!("{name} = {value} is not a kernel parameter")));
        }
        let name = name.trim_start_matches("net.").trim_start_matches("ipv4.");
        match name.split_once('.') {
            Some(("route", key)) => {
                self.route.push(format!("{key} {value}"));
                self.system.route(&self.network, &self.route).map_err(Refusal::Unsupported)
            }
            // Parameters of modules are shared by all namespaces.
            Some((module, parameter)) if module.starts_with("tcp_") => {
                self.system.write_shared(&format!("/sys/module/{module}/parameters/{parameter}"), value).map_err(unsupported)
            }
            None if name == "tcp_congestion_control" => {
                self.control = Some(value.to_owned());
                Ok(())
            }
            Some(("link", "mtu")) => match value.parse() {
                Ok(mtu) => self.system.link_mtu(mtu).map_err(Refusal::Unsupported),
                Err(_) => Err(Refusal::Unsupported(format!("{value} is no size of packets"))),
            },
            None if name == "qdisc" => self.system.qdisc(value).map_err(Refusal::Unsupported),
            _ => {
                let path = name.replace('.', "/");
                let elsewhere = ["core/", "ipv6/", "mptcp/"].iter().any(|folder| path.starts_with(folder));
                let path = if elsewhere { path } else { format!("ipv4/{path}") };
                match self.system.write_parameter(&format!("/proc/sys/net/{path}"), value) {
                    // The kernel is older or newer than the parameter, which therefore changes nothing.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    other => other.map_err(unsupported),
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
