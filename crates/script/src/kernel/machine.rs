//! The kernel of this machine, in real time.
//!
//! The script's packets pass a TUN interface, as in packetdrill. The namespace disappears with the [`Machine`]; settings that all
//! namespaces share (parameters of modules) get their old values back. A `Machine` belongs to the thread that made it.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_ulong};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use ackclock_core::units::Instant;
use ackclock_linux::scheduling::{clock, day, poll};
use ackclock_linux::{epoll, libc, socket};

use super::space::Space;
use super::system::{Handle, Incoming, Outgoing, System};
use crate::network::Network;

/// Sleeping ends this long before the time, since a sleeper wakes up late; the rest is spent looking at the clock.
const EARLY: u64 = 300_000;
/// Most bytes of a call.
const MOST: usize = 1 << 24;
/// Room for control messages in bytes.
const CONTROL: usize = 512;

/// This machine's kernel in a network namespace.
#[derive(Debug)]
pub struct Machine {
    // Sockets close before the thread leaves the namespace.
    sockets: BTreeMap<Handle, OwnedFd>,
    space: Space,
    /// The monotonic clock at time 0: that of the first event.
    start: Option<u64>,
    data: Vec<u8>,
    /// What sockets send. The kernel may read them after a call with `MSG_ZEROCOPY`.
    zeros: Vec<u8>,
}

impl Machine {
    /// Enters a new namespace with the addresses of `network`. Needs root.
    ///
    /// # Errors
    /// If the rights, the TUN device or a command are missing: says which.
    pub(super) fn enter(network: &Network) -> Result<Self, String> {
        Ok(Self { sockets: BTreeMap::new(), space: Space::enter(network)?, start: None, data: Vec::new(), zeros: vec![0; MOST] })
    }

    fn fd(&self, socket: Handle) -> io::Result<BorrowedFd<'_>> {
        self.sockets.get(&socket).map(|socket| socket.as_fd()).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    fn keep(&mut self, socket: OwnedFd) -> Handle {
        let handle = socket.as_raw_fd();
        self.sockets.insert(handle, socket);
        handle
    }
}

impl System for Machine {
    fn now(&mut self) -> Instant {
        let clock = clock();
        Instant::from_nanos(clock - *self.start.get_or_insert(clock))
    }

    fn pass(&mut self, until: Instant, waited: &[(Handle, i16)]) -> Result<(), String> {
        let mut polled = vec![libc::pollfd { fd: self.space.interface().as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        polled.extend(waited.iter().map(|&(fd, events)| libc::pollfd { fd, events, revents: 0 }));
        let now = self.now();
        let left = if until > now { until.since(now).as_nanos() } else { 0 };
        poll(&mut polled, Some(left.saturating_sub(EARLY))).map_err(|error| format!("poll: {error}"))
    }

    fn receive(&mut self) -> Result<Option<(Instant, Vec<u8>)>, String> {
        let packet = self.space.receive().map_err(|error| format!("the TUN interface cannot be read: {error}"))?;
        Ok(packet.map(|packet| (self.now(), packet)))
    }

    fn send(&mut self, packet: &[u8]) -> Result<(), String> {
        self.now();
        self.space.send(packet).map_err(|error| format!("the TUN interface refused a packet of {} bytes: {error}", packet.len()))
    }

    fn socket(&mut self, v4: bool) -> io::Result<Handle> {
        let made = socket::socket(v4)?;
        Ok(self.keep(made))
    }

    fn bind(&mut self, socket: Handle, address: SocketAddr) -> io::Result<()> {
        socket::bind(self.fd(socket)?, address)
    }

    fn listen(&mut self, socket: Handle, backlog: i64) -> io::Result<()> {
        socket::listen(self.fd(socket)?, backlog)
    }

    fn accept(&mut self, socket: Handle) -> io::Result<Handle> {
        let accepted = socket::accept(self.fd(socket)?)?;
        Ok(self.keep(accepted))
    }

    fn connect(&mut self, socket: Handle, address: Option<SocketAddr>) -> io::Result<()> {
        match address {
            Some(address) => socket::connect(self.fd(socket)?, address),
            None => socket::disconnect(self.fd(socket)?),
        }
    }

    fn write(&mut self, socket: Handle, message: &Outgoing) -> io::Result<u64> {
        let length = (message.bytes as usize).min(MOST);
        let data = (!message.null).then_some(&self.zeros[..length]);
        let sent = socket::send_to(self.fd(socket)?, data, length, message.flags, message.to)?;
        Ok(sent as u64)
    }

    fn read(&mut self, socket: Handle, most: u64, flags: c_int, null: bool) -> io::Result<Incoming> {
        let mut data = std::mem::take(&mut self.data);
        data.resize(most as usize, 0);
        let mut control = vec![0; CONTROL];
        let read =
            self.fd(socket).and_then(|fd| socket::receive_message(fd, (!null).then_some(&mut data), most as usize, flags, &mut control));
        self.data = data;
        let (bytes, flags, length) = read?;
        control.truncate(length);
        Ok(Incoming { bytes: bytes as u64, flags, control })
    }

    fn shutdown(&mut self, socket: Handle, how: c_int) -> io::Result<()> {
        socket::shutdown(self.fd(socket)?, how)
    }

    fn close(&mut self, socket: Handle) -> io::Result<()> {
        self.sockets.remove(&socket).map(drop).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    fn set_option(&mut self, socket: Handle, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
        socket::set_option(self.fd(socket)?, level, name, value)
    }

    fn option(&mut self, socket: Handle, level: c_int, name: c_int, most: usize) -> io::Result<Vec<u8>> {
        let mut value = vec![0; most];
        let length = socket::option(self.fd(socket)?, level, name, &mut value)?;
        value.truncate(length);
        Ok(value)
    }

    fn count(&mut self, socket: Handle, request: c_ulong) -> io::Result<i64> {
        socket::count(self.fd(socket)?, request)
    }

    fn ready(&mut self, socket: Handle, events: i16) -> io::Result<i16> {
        let mut polled = [libc::pollfd { fd: self.fd(socket)?.as_raw_fd(), events, revents: 0 }];
        poll(&mut polled, Some(0))?;
        Ok(polled[0].revents)
    }

    fn epoll(&mut self) -> io::Result<Handle> {
        let made = epoll::create()?;
        Ok(self.keep(made))
    }

    fn epoll_control(&mut self, epoll: Handle, operation: c_int, socket: Handle, event: (u32, i32)) -> io::Result<()> {
        epoll::control(self.fd(epoll)?, operation, self.fd(socket)?, event)
    }

    fn epoll_wait(&mut self, epoll: Handle, most: usize) -> io::Result<Vec<(i32, u32)>> {
        epoll::wait(self.fd(epoll)?, most)
    }

    fn day(&mut self) -> io::Result<i64> {
        let (day, now) = (day(), clock());
        Ok(day - (now - *self.start.get_or_insert(now)) as i64)
    }

    fn write_parameter(&mut self, path: &str, value: &str) -> io::Result<()> {
        Space::write(path, value)
    }

    fn write_shared(&mut self, path: &str, value: &str) -> io::Result<()> {
        self.space.write_shared(path, value)
    }

    fn qdisc(&mut self, name: &str) -> Result<(), String> {
        Space::qdisc(name)
    }

    fn link_mtu(&mut self, mtu: u16) -> Result<(), String> {
        Space::link_mtu(mtu)
    }

    fn route(&mut self, network: &Network, attributes: &[String]) -> Result<(), String> {
        Space::route(network, attributes)
    }
}
