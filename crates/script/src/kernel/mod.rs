//! The world of the Linux kernel: its TCP in a network namespace of its own, in real time.
//!
//! The script's packets pass a TUN interface, as in packetdrill. The namespace disappears with the [`Kernel`]; settings that all
//! namespaces share (parameters of modules) get their old values back. A `Kernel` belongs to the thread that made it.

#![expect(clippy::cast_possible_wrap, reason = "sizes and counts of a socket are far below 2^63")]

mod options;
mod space;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use ackclock_core::units::{Duration, Instant};
use ackclock_linux::scheduling::{clock, poll};
use ackclock_linux::{libc, socket};

use self::space::Space;
use crate::errno::Errno;
use crate::network::Network;
use crate::stack::{Info, Refusal, Value};
use crate::world::{Call, Fd, Happening, Output, Return, World};

/// First file descriptor of a script: 0 to 2 are the standard streams.
const FIRST_FD: Fd = 3;
/// Sleeping ends this long before the time, since a sleeper wakes up late; the rest is spent looking at the clock.
const EARLY: u64 = 300_000;
/// `O_RDWR` and `O_NONBLOCK`, as `fcntl(F_GETFL)` reports them.
const READ_WRITE: i64 = 2;
const NONBLOCK: i64 = 0o4000;

/// A socket of the script. The kernel's socket never blocks; a blocking call is repeated until it succeeds.
#[derive(Debug)]
struct Open {
    socket: OwnedFd,
    nonblocking: bool,
}

/// A call that waits.
#[derive(Debug)]
struct Blocked {
    call: Call,
    /// Bytes written so far.
    written: u64,
    /// When the wait ends without result.
    deadline: Option<Instant>,
}

/// The kernel's TCP in a network namespace.
#[derive(Debug)]
pub struct Kernel {
    // Sockets close before the thread leaves the namespace.
    fds: Vec<Option<Open>>,
    space: Space,
    network: Network,
    /// The monotonic clock at time 0: that of the first event.
    start: Option<u64>,
    blocked: Option<Blocked>,
    sent: VecDeque<(Instant, Vec<u8>)>,
    /// Congestion control of new sockets: a namespace cannot change its default.
    control: Option<String>,
    /// Attributes of the route.
    route: Vec<String>,
    data: Vec<u8>,
}

/// How a call went: its result, or `None` if it must wait.
type Attempt = Result<Option<Return>, Refusal>;

fn errno(error: &io::Error) -> Refusal {
    Refusal::Error(Errno(error.raw_os_error().unwrap_or(Errno::EIO.0)))
}

impl Kernel {
    /// A world with the kernel's TCP and the addresses of `network`. Needs root.
    ///
    /// # Errors
    /// If the rights, the TUN device or a command are missing: says which.
    pub fn new(network: &Network) -> Result<Self, String> {
        let space = Space::enter(network)?;
        Ok(Self {
            fds: Vec::new(),
            space,
            network: *network,
            start: None,
            blocked: None,
            sent: VecDeque::new(),
            control: None,
            route: Vec::new(),
            data: Vec::new(),
        })
    }

    fn time(&mut self) -> Instant {
        let clock = clock();
        Instant::from_nanos(clock - *self.start.get_or_insert(clock))
    }

    /// Collects the packets that the kernel has sent.
    fn collect(&mut self) -> Result<(), String> {
        while let Some(packet) = self.space.receive().map_err(|error| format!("the TUN interface cannot be read: {error}"))? {
            let at = self.time();
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

    fn socket(&mut self, fd: Fd) -> Result<BorrowedFd<'_>, Refusal> {
        Ok(self.open(fd)?.socket.as_fd())
    }

    fn allot(&mut self, socket: OwnedFd, nonblocking: bool) -> i64 {
        let index = self.fds.iter().position(Option::is_none).unwrap_or(self.fds.len());
        if index == self.fds.len() {
            self.fds.push(None);
        }
        self.fds[index] = Some(Open { socket, nonblocking });
        index as i64 + i64::from(FIRST_FD)
    }

    /// Attempts a call once. `again`: it has waited before.
    fn attempt(&mut self, call: &Call, written: u64, again: bool) -> Attempt {
        let value = match *call {
            Call::Socket { nonblocking } => {
                let socket = socket::socket(self.network.local.is_ipv4()).map_err(|error| errno(&error))?;
                if let Some(control) = &self.control {
                    options::set(socket.as_fd(), "TCP_CONGESTION", &Value::Text(control.clone()))?
                        .map_err(|error| Refusal::Unsupported(format!("congestion control {control} of this kernel: {error}")))?;
                }
                self.allot(socket, nonblocking)
            }
            Call::Bind { fd, port } => {
                let local = SocketAddr::new(self.network.local, port.unwrap_or(self.network.local_port));
                socket::bind(self.socket(fd)?, local).map_err(|error| errno(&error))?;
                0
            }
            Call::Listen { fd, backlog } => {
                socket::listen(self.socket(fd)?, backlog).map_err(|error| errno(&error))?;
                0
            }
            Call::Accept { fd, nonblocking } => {
                let waits = !self.open(fd)?.nonblocking;
                match socket::accept(self.socket(fd)?) {
                    Ok(socket) => self.allot(socket, nonblocking),
                    Err(error) => return refused(&error, waits),
                }
            }
            Call::Connect { fd, port } => return self.connect(fd, port, again),
            Call::Write { fd, bytes, more, dont_wait } => return self.write(fd, bytes, (more, dont_wait), written),
            Call::Read { fd, most, dont_wait } => {
                let waits = !self.open(fd)?.nonblocking && !dont_wait;
                let mut data = std::mem::take(&mut self.data);
                data.resize(most.min(1 << 24) as usize, 0);
                let read = socket::receive(self.socket(fd)?, &mut data);
                self.data = data;
                match read {
                    Ok(bytes) => bytes as i64,
                    Err(error) => return refused(&error, waits),
                }
            }
            Call::Shutdown { fd, read, write } => {
                let how = match (read, write) {
                    (true, false) => libc::SHUT_RD,
                    (false, _) => libc::SHUT_WR,
                    (true, true) => libc::SHUT_RDWR,
                };
                socket::shutdown(self.socket(fd)?, how).map_err(|error| errno(&error))?;
                0
            }
            Call::Close { fd } => {
                self.open(fd)?;
                self.fds[(fd - FIRST_FD) as usize] = None;
                0
            }
            Call::SetOption { fd, ref name, ref value, .. } => {
                options::set(self.socket(fd)?, name, value)?.map_err(|error| errno(&error))?;
                0
            }
            Call::Option { fd, ref name, .. } => {
                let value = options::get(self.socket(fd)?, name)?.map_err(|error| errno(&error))?;
                return Ok(Some(Return { output: Output::Value(value), ..Return::success(0) }));
            }
            Call::SetNonBlocking { fd, on } => {
                self.open(fd)?.nonblocking = on;
                0
            }
            Call::Flags { fd } => READ_WRITE | if self.open(fd)?.nonblocking { NONBLOCK } else { 0 },
            Call::Unread { fd } | Call::Unacknowledged { fd } => {
                let request = if let Call::Unread { .. } = call { libc::FIONREAD } else { libc::TIOCOUTQ };
                let bytes = socket::count(self.socket(fd)?, request).map_err(|error| errno(&error))?;
                return Ok(Some(Return { output: Output::Value(Value::Integer(bytes)), ..Return::success(0) }));
            }
            Call::Poll { ref fds, timeout } => {
                let mut polled: Vec<libc::pollfd> = Vec::new();
                for &(fd, events) in fds {
                    // A negative descriptor is ignored by the kernel, and reported as invalid below.
                    let fd = self.socket(fd).map_or(-1, |socket| socket.as_raw_fd());
                    polled.push(libc::pollfd { fd, events, revents: 0 });
                }
                poll(&mut polled, Some(0)).map_err(|error| errno(&error))?;
                let events: Vec<i16> = polled.iter().map(|poll| if poll.fd < 0 { libc::POLLNVAL } else { poll.revents }).collect();
                let ready = events.iter().filter(|events| **events != 0).count();
                if ready == 0 && timeout != 0 {
                    return Ok(None);
                }
                return Ok(Some(Return { output: Output::Events(events), ..Return::success(ready as i64) }));
            }
        };
        Ok(Some(Return::success(value)))
    }

    fn connect(&mut self, fd: Fd, port: Option<u16>, again: bool) -> Attempt {
        let waits = !self.open(fd)?.nonblocking;
        if waits && again {
            return match options::get(self.socket(fd)?, "SO_ERROR")?.map_err(|error| errno(&error))? {
                Value::Integer(0) if !self.writable(fd)? => Ok(None),
                Value::Integer(0) => Ok(Some(Return::success(0))),
                Value::Integer(error) => Err(Refusal::Error(Errno(error as i32))),
                _ => Ok(None),
            };
        }
        let remote = SocketAddr::new(self.network.remote, port.unwrap_or(self.network.remote_port));
        match socket::connect(self.socket(fd)?, remote) {
            Ok(()) => Ok(Some(Return::success(0))),
            Err(error) if waits && error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(None),
            Err(error) => Err(errno(&error)),
        }
    }

    fn writable(&mut self, fd: Fd) -> Result<bool, Refusal> {
        let mut polled = [libc::pollfd { fd: self.socket(fd)?.as_raw_fd(), events: libc::POLLOUT, revents: 0 }];
        poll(&mut polled, Some(0)).map_err(|error| errno(&error))?;
        Ok(polled[0].revents != 0)
    }

    fn write(&mut self, fd: Fd, bytes: u64, (more, dont_wait): (bool, bool), written: u64) -> Attempt {
        let waits = !self.open(fd)?.nonblocking && !dont_wait;
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        data.resize((bytes - written) as usize, 0);
        let sent = socket::send(self.socket(fd)?, &data, if more { libc::MSG_MORE } else { 0 });
        self.data = data;
        let total = match sent {
            Ok(taken) => written + taken as u64,
            // An error after a part was written is reported by the next call.
            Err(_) if written > 0 && !waits => written,
            Err(error) => return refused(&error, waits),
        };
        if total == bytes || !waits {
            return Ok(Some(Return::success(total as i64)));
        }
        if let Some(blocked) = &mut self.blocked {
            blocked.written = total;
        }
        Ok(None)
    }

    /// Attempts the blocked call again.
    fn retry(&mut self) -> Result<Option<Return>, String> {
        let now = self.time();
        let Some(blocked) = self.blocked.as_ref() else { return Ok(None) };
        let (call, written, expired) = (blocked.call.clone(), blocked.written, blocked.deadline.is_some_and(|deadline| deadline <= now));
        let result = match self.attempt(&call, written, true) {
            Ok(Some(result)) => result,
            Ok(None) => match &call {
                Call::Poll { fds, .. } if expired => Return { output: Output::Events(vec![0; fds.len()]), ..Return::success(0) },
                _ => return Ok(None),
            },
            Err(Refusal::Error(errno)) => Return::error(errno),
            Err(Refusal::Unsupported(what)) => return Err(what),
        };
        self.blocked = None;
        Ok(Some(result))
    }

    /// Sleeps until the interface or the blocked call's socket is ready, or until a time of the clock.
    fn sleep(&mut self, until: u64) -> Result<(), String> {
        let mut polled = vec![libc::pollfd { fd: self.space.interface().as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        let wanted: Vec<(Fd, i16)> = match self.blocked.as_ref().map(|blocked| &blocked.call) {
            Some(Call::Accept { fd, .. } | Call::Read { fd, .. }) => vec![(*fd, libc::POLLIN)],
            Some(Call::Connect { fd, .. } | Call::Write { fd, .. }) => vec![(*fd, libc::POLLOUT)],
            Some(Call::Poll { fds, .. }) => fds.clone(),
            _ => Vec::new(),
        };
        for (fd, events) in wanted {
            if let Ok(socket) = self.socket(fd) {
                polled.push(libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 });
            }
        }
        let left = until.saturating_sub(clock()).saturating_sub(EARLY);
        poll(&mut polled, Some(left)).map_err(|error| format!("poll: {error}"))
    }
}

/// The answer to a call that failed: it waits if the error says so and the call may.
fn refused(error: &io::Error, waits: bool) -> Attempt {
    if waits && error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(errno(error)) }
}

impl World for Kernel {
    fn patience(&self) -> Duration {
        Duration::from_millis(10_000)
    }

    fn now(&mut self) -> Instant {
        self.time()
    }

    fn advance(&mut self, until: Instant) -> Result<Happening, String> {
        let now = self.time();
        let target = clock() + if until > now { until.since(now).as_nanos() } else { 0 };
        loop {
            self.collect()?;
            if let Some((at, packet)) = self.sent.pop_front() {
                return Ok(Happening::Sent { at, packet });
            }
            if let Some(result) = self.retry()? {
                return Ok(Happening::Returned { at: self.time(), result });
            }
            if clock() >= target {
                return Ok(Happening::Reached);
            }
            let now = self.time();
            let deadline = self.blocked.as_ref().and_then(|blocked| blocked.deadline);
            let sooner =
                deadline.map_or(target, |deadline| target.min(clock() + if deadline > now { deadline.since(now).as_nanos() } else { 0 }));
            self.sleep(sooner)?;
        }
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), String> {
        self.time();
        self.space.send(packet).map_err(|error| format!("the TUN interface refused a packet of {} bytes: {error}", packet.len()))?;
        self.collect()
    }

    fn call(&mut self, call: &Call, _may_block: bool) -> Attempt {
        let now = self.time();
        let deadline = match call {
            Call::Poll { timeout, .. } if *timeout > 0 => Some(now + Duration::from_millis(timeout.unsigned_abs())),
            _ => None,
        };
        self.blocked = Some(Blocked { call: call.clone(), written: 0, deadline });
        let result = match self.attempt(call, 0, false) {
            Ok(None) => return Ok(None),
            Ok(Some(result)) => result,
            Err(Refusal::Error(errno)) => Return::error(errno),
            Err(refusal) => {
                self.blocked = None;
                return Err(refusal);
            }
        };
        self.blocked = None;
        self.collect().map_err(Refusal::Unsupported)?;
        Ok(Some(result))
    }

    fn info(&mut self, fd: Fd) -> Result<Info, Refusal> {
        options::info(self.socket(fd)?).map_err(|error| errno(&error))
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
                Space::route(&self.network, &self.route).map_err(Refusal::Unsupported)
            }
            // Parameters of modules are shared by all namespaces.
            Some((module, parameter)) if module.starts_with("tcp_") => {
                self.space.write_shared(&format!("/sys/module/{module}/parameters/{parameter}"), value).map_err(unsupported)
            }
            None if name == "tcp_congestion_control" => {
                self.control = Some(value.to_owned());
                Ok(())
            }
            None if name == "qdisc" => Space::qdisc(value).map_err(Refusal::Unsupported),
            _ => {
                let path = name.replace('.', "/");
                let path = if path.contains('/') { path } else { format!("ipv4/{path}") };
                match Space::write(&format!("/proc/sys/net/{path}"), value) {
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
