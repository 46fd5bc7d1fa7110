//! Scripts in packetdrill's language on a guest: exact times, no rights.

use std::collections::VecDeque;
use std::ffi::{c_int, c_ulong};
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use ackclock_core::units::Instant;
use ackclock_script::{Handle, Incoming, Kernel, Network, Outgoing, System};

use crate::guest::{Guest, GuestError, Limits, Stop};
use crate::joint::Said;

/// The kernel's time at the start of a script, at the earliest, in nanoseconds.
const START: u64 = 1_000_000_000;
/// `EINVAL`.
const INVALID: i32 = 22;
/// No socket is looked after.
const NO_SOCKET: u32 = u32::MAX;

/// A guest with one interface.
#[derive(Debug)]
pub struct Guesthouse {
    guest: Guest,
    /// The kernel's time now, which may be later than that of its last event.
    clock: u64,
    /// The kernel's time at time 0: that of the first event.
    start: Option<u64>,
    sent: VecDeque<(u64, Vec<u8>)>,
}

/// Boots the kernel in the folder `kernel` for a script with the addresses of `network`.
///
/// # Errors
/// If it does not boot, or the kernel has no IPv6 and the network has.
pub fn world(kernel: &Path, network: &Network) -> Result<Kernel<Guesthouse>, String> {
    let (local, remote) = (network.local, network.remote);
    let booted = || -> Result<Guesthouse, GuestError> {
        let mut guest = Guest::boot(kernel, 1, Limits::default(), Stop::default(), None)?;
        let mtu = network.mtu;
        guest.set_up(&format!("node 0 {mtu};set ipv4/tcp_no_metrics_save 1;route {local} {remote} 0 0 0 0"))?;
        let clock = guest.now().max(START).next_multiple_of(4_000_000);
        guest.idle(clock)?;
        Ok(Guesthouse { guest, clock, start: None, sent: VecDeque::new() })
    };
    Ok(Kernel::on(booted().map_err(|error| error.to_string())?, network))
}

impl Guesthouse {
    fn instant(&mut self, at: u64) -> Instant {
        Instant::from_nanos(at.saturating_sub(*self.start.get_or_insert(at)))
    }

    /// Lets the kernel run at `now` and before `until`. Returns what the first process answers, if anything.
    fn run(&mut self, now: u64, until: u64) -> Result<Option<String>, GuestError> {
        self.guest.run(now, until)?;
        self.clock = self.clock.max(now).max(self.guest.now());
        let mut answer = None;
        for said in std::mem::take(&mut self.guest.said) {
            match said {
                Said::Packet { at, frame, .. } => self.sent.push_back((at, frame)),
                Said::Line(text) => answer = Some(text),
                // A script runs no programs.
                Said::Ended { .. } | Said::Dropped { .. } => {}
            }
        }
        Ok(answer)
    }

    /// Lets the first process do what `command` says, now; returns its answer.
    fn ask(&mut self, command: &str) -> Result<String, GuestError> {
        self.start.get_or_insert(self.clock);
        self.guest.joint.line(command);
        let mut now = self.clock;
        loop {
            if let Some(answer) = self.run(now, now + 1)? {
                return Ok(answer);
            }
            // A call that fails takes some time.
            now = match self.guest.joint.next() {
                Some(next) if next < self.clock + 1_000_000_000 => next,
                _ => return Err(self.guest.failure("the first process of the kernel gives no answer".to_owned())),
            };
        }
    }

    /// Does what `command` says; an error is the kernel's.
    fn obey(&mut self, command: &str) -> io::Result<()> {
        match self.ask(command).map_err(io::Error::other)?.as_str() {
            "ok" => Ok(()),
            text if text.contains("No such file") => Err(io::Error::new(io::ErrorKind::NotFound, text.to_owned())),
            text => Err(io::Error::other(text.to_owned())),
        }
    }

    /// A system call; returns its result and what it wrote, in hexadecimal digits.
    fn call(&mut self, call: &str) -> io::Result<(i64, String)> {
        let answer = self.ask(&format!("sys {call}")).map_err(io::Error::other)?;
        let mut words = answer.split_whitespace();
        match (words.next(), words.next().and_then(|word| word.parse().ok())) {
            (Some("ok"), Some(result)) => Ok((result, words.next().unwrap_or_default().to_owned())),
            (Some("errno"), Some(number)) => Err(io::Error::from_raw_os_error(number as i32)),
            _ => Err(io::Error::from_raw_os_error(INVALID)),
        }
    }

    fn at_address(&mut self, call: &str, socket: Handle, address: SocketAddr) -> io::Result<()> {
        self.call(&format!("{call} {socket} {} {}", address.ip(), address.port())).map(drop)
    }
}

/// The bytes of hexadecimal digits.
fn hexadecimal(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16).unwrap_or_default();
    digits.as_bytes().chunks_exact(2).map(byte).collect()
}

impl System for Guesthouse {
    fn now(&mut self) -> Instant {
        self.instant(self.clock)
    }

    fn pass(&mut self, until: Instant, waited: &[(Handle, i16)]) -> Result<(), String> {
        let start = *self.start.get_or_insert(self.clock);
        let until = start + until.as_nanos();
        match self.guest.joint.next().filter(|next| *next <= until) {
            // The time has come without an event.
            None => self.clock = self.clock.max(until),
            Some(next) => {
                // A call that waits is tried again after each event.
                let end = if waited.is_empty() { until + 1 } else { next + 1 };
                self.run(next.max(self.clock), end).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(Instant, Vec<u8>)>, String> {
        let sent = self.sent.pop_front();
        Ok(sent.map(|(at, packet)| (self.instant(at), packet)))
    }

    fn send(&mut self, packet: &[u8]) -> Result<(), String> {
        self.start.get_or_insert(self.clock);
        self.guest.joint.packet(0, NO_SOCKET, packet);
        self.run(self.clock, self.clock + 1).map(drop).map_err(|error| error.to_string())
    }

    fn socket(&mut self, v4: bool) -> io::Result<Handle> {
        self.call(if v4 { "socket 4" } else { "socket 6" }).map(|(fd, _)| fd as Handle)
    }

    fn bind(&mut self, socket: Handle, address: SocketAddr) -> io::Result<()> {
        self.at_address("bind", socket, address)
    }

    fn listen(&mut self, socket: Handle, backlog: i64) -> io::Result<()> {
        self.call(&format!("listen {socket} {backlog}")).map(drop)
    }

    fn accept(&mut self, socket: Handle) -> io::Result<Handle> {
        self.call(&format!("accept {socket}")).map(|(fd, _)| fd as Handle)
    }

    fn connect(&mut self, socket: Handle, address: Option<SocketAddr>) -> io::Result<()> {
        match address {
            Some(address) => self.at_address("connect", socket, address),
            None => self.call(&format!("connect {socket} none 0")).map(drop),
        }
    }

    fn write(&mut self, socket: Handle, message: &Outgoing) -> io::Result<u64> {
        let Outgoing { bytes, flags, to, null } = *message;
        let to = to.map_or_else(String::new, |to| format!(" {} {}", to.ip(), to.port()));
        self.call(&format!("send {socket} {bytes} {flags} {}{to}", u8::from(null))).map(|(taken, _)| taken as u64)
    }

    fn read(&mut self, socket: Handle, most: u64, flags: c_int, null: bool) -> io::Result<Incoming> {
        let (bytes, digits) = self.call(&format!("receive {socket} {most} {flags} {}", u8::from(null)))?;
        let wrote = hexadecimal(&digits);
        let flags = wrote.first_chunk().map_or(0, |flags| c_int::from_ne_bytes(*flags));
        Ok(Incoming { bytes: bytes as u64, flags, control: wrote.get(4..).unwrap_or_default().to_vec() })
    }

    fn shutdown(&mut self, socket: Handle, how: c_int) -> io::Result<()> {
        self.call(&format!("shutdown {socket} {how}")).map(drop)
    }

    fn close(&mut self, socket: Handle) -> io::Result<()> {
        self.call(&format!("close {socket}")).map(drop)
    }

    fn set_option(&mut self, socket: Handle, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
        let mut command = format!("set {socket} {level} {name} ");
        for byte in value {
            let _ = write!(command, "{byte:02x}");
        }
        self.call(&command).map(drop)
    }

    fn option(&mut self, socket: Handle, level: c_int, name: c_int, most: usize) -> io::Result<Vec<u8>> {
        let (_, digits) = self.call(&format!("get {socket} {level} {name} {most}"))?;
        Ok(hexadecimal(&digits))
    }

    fn count(&mut self, socket: Handle, request: c_ulong) -> io::Result<i64> {
        self.call(&format!("count {socket} {request}")).map(|(count, _)| count)
    }

    fn ready(&mut self, socket: Handle, events: i16) -> io::Result<i16> {
        self.call(&format!("ready {socket} {events}")).map(|(events, _)| events as i16)
    }

    fn epoll(&mut self) -> io::Result<Handle> {
        self.call("epoll").map(|(fd, _)| fd as Handle)
    }

    fn epoll_control(&mut self, epoll: Handle, operation: c_int, socket: Handle, event: (u32, i32)) -> io::Result<()> {
        let (events, data) = event;
        self.call(&format!("watch {epoll} {operation} {socket} {events} {data}")).map(drop)
    }

    fn epoll_wait(&mut self, epoll: Handle, most: usize) -> io::Result<Vec<(i32, u32)>> {
        let (_, digits) = self.call(&format!("events {epoll} {most}"))?;
        let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |four| u32::from_ne_bytes(*four));
        Ok(hexadecimal(&digits).chunks_exact(8).map(|pair| (number(&pair[4..]).cast_signed(), number(pair))).collect())
    }

    fn day(&mut self) -> io::Result<i64> {
        let (day, _) = self.call("day")?;
        Ok(day - (self.guest.now() - self.start.unwrap_or(0)).cast_signed())
    }

    fn write_parameter(&mut self, path: &str, value: &str) -> io::Result<()> {
        let name = path.strip_prefix("/proc/sys/net/").ok_or_else(|| io::Error::from_raw_os_error(INVALID))?;
        self.obey(&format!("set {name} {value}"))
    }

    fn write_shared(&mut self, path: &str, value: &str) -> io::Result<()> {
        // The guest is this script's alone.
        let mut parts = path.trim_start_matches("/sys/module/").split("/parameters/");
        match (parts.next(), parts.next()) {
            (Some(module), Some(parameter)) => self.obey(&format!("module {module} {parameter} {value}")),
            _ => Err(io::Error::from_raw_os_error(INVALID)),
        }
    }

    fn qdisc(&mut self, name: &str) -> Result<(), String> {
        let kind = if name == "fq" { "fq" } else { "pfifo_fast" };
        self.obey(&format!("qdisc {kind}")).map_err(|error| error.to_string())
    }

    fn link_mtu(&mut self, mtu: u16) -> Result<(), String> {
        self.obey(&format!("mtu {mtu}")).map_err(|error| error.to_string())
    }

    fn route(&mut self, network: &Network, attributes: &[String]) -> Result<(), String> {
        let [mut mtu, mut window, mut receive] = [0_u32; 3];
        for attribute in attributes {
            let place = match attribute.split_once(' ') {
                Some(("mtu", value)) => Some((&mut mtu, value)),
                Some(("initcwnd", value)) => Some((&mut window, value)),
                Some(("initrwnd", value)) => Some((&mut receive, value)),
                _ => None,
            };
            match place.and_then(|(place, value)| Some((place, value.parse().ok()?))) {
                Some((place, value)) => *place = value,
                None => return Err(format!("the route attribute {attribute} does not exist on linux")),
            }
        }
        let command = format!("route {} {} {mtu} {window} {receive} 0", network.local, network.remote);
        self.obey(&command).map_err(|error| error.to_string())
    }
}
