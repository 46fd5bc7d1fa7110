//! What a script needs of a kernel.

use std::ffi::{c_int, c_ulong};
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use ackclock_core::units::Instant;

use crate::network::Network;

/// A socket of the system.
pub type Handle = i32;

/// A message that a socket sends: zeros.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Number of zeros.
    pub bytes: u64,
    /// Flags, by the numbers of Linux.
    pub flags: c_int,
    /// The receiver that the call names.
    pub to: Option<SocketAddr>,
    /// Whether the buffer is `NULL`.
    pub null: bool,
}

/// A message that a socket has received.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    /// Number of bytes.
    pub bytes: u64,
    /// Flags of the message.
    pub flags: c_int,
    /// Control messages as the kernel lays them out.
    pub control: Vec<u8>,
}

/// A kernel with its clock, one network interface, and its system calls on sockets that never block. A failed call gives the kernel's error.
#[expect(clippy::missing_errors_doc, reason = "the errors of a system call are those of its manual page")]
pub trait System: Debug {
    /// Time since the first event.
    fn now(&mut self) -> Instant;

    /// Lets time pass until `until`. Returns earlier if the kernel may have sent a packet, or if one of the sockets in `waited` may have
    /// one of its events (by the bits of poll(2)).
    ///
    /// # Errors
    /// If the kernel cannot go on.
    fn pass(&mut self, until: Instant, waited: &[(Handle, i16)]) -> Result<(), String>;

    /// The next packet that the kernel has sent, and when.
    ///
    /// # Errors
    /// If the interface cannot be read.
    fn receive(&mut self) -> Result<Option<(Instant, Vec<u8>)>, String>;

    /// A packet arrives at the interface now.
    ///
    /// # Errors
    /// If the interface refuses it.
    fn send(&mut self, packet: &[u8]) -> Result<(), String>;

    /// `socket`: one of TCP.
    fn socket(&mut self, v4: bool) -> io::Result<Handle>;
    /// `bind`.
    fn bind(&mut self, socket: Handle, address: SocketAddr) -> io::Result<()>;
    /// `listen`.
    fn listen(&mut self, socket: Handle, backlog: i64) -> io::Result<()>;
    /// `accept`.
    fn accept(&mut self, socket: Handle) -> io::Result<Handle>;
    /// `connect`; `None`: to an address of `AF_UNSPEC`, which ends the connection.
    fn connect(&mut self, socket: Handle, address: Option<SocketAddr>) -> io::Result<()>;
    /// `sendto` of zeros; the number of bytes taken.
    fn write(&mut self, socket: Handle, message: &Outgoing) -> io::Result<u64>;
    /// `recvmsg` with these flags into a buffer of `most` bytes, or into `NULL`.
    fn read(&mut self, socket: Handle, most: u64, flags: c_int, null: bool) -> io::Result<Incoming>;
    /// `shutdown`.
    fn shutdown(&mut self, socket: Handle, how: c_int) -> io::Result<()>;
    /// `close`.
    fn close(&mut self, socket: Handle) -> io::Result<()>;
    /// `setsockopt`.
    fn set_option(&mut self, socket: Handle, level: c_int, name: c_int, value: &[u8]) -> io::Result<()>;
    /// `getsockopt` of at most `most` bytes.
    fn option(&mut self, socket: Handle, level: c_int, name: c_int, most: usize) -> io::Result<Vec<u8>>;
    /// `ioctl` with a number as result.
    fn count(&mut self, socket: Handle, request: c_ulong) -> io::Result<i64>;
    /// `poll` without waiting: the events of a socket.
    fn ready(&mut self, socket: Handle, events: i16) -> io::Result<i16>;

    /// `epoll_create`.
    fn epoll(&mut self) -> io::Result<Handle>;
    /// `epoll_ctl` with events and the data that `epoll_wait` reports.
    fn epoll_control(&mut self, epoll: Handle, operation: c_int, socket: Handle, event: (u32, i32)) -> io::Result<()>;
    /// `epoll_wait` for at most `most` sockets without waiting: their data and events.
    fn epoll_wait(&mut self, epoll: Handle, most: usize) -> io::Result<Vec<(i32, u32)>>;
    /// The kernel's clock of the day at the first event, in nanoseconds.
    fn day(&mut self) -> io::Result<i64>;

    /// Writes a file below /proc/sys/net, which belongs to the namespace.
    fn write_parameter(&mut self, path: &str, value: &str) -> io::Result<()>;
    /// Writes a file that the whole kernel shares; it gets its old contents back at the end.
    fn write_shared(&mut self, path: &str, value: &str) -> io::Result<()>;

    /// Replaces the queue of the interface: `fifo` or `fq`.
    ///
    /// # Errors
    /// If the kernel has no such queue.
    fn qdisc(&mut self, name: &str) -> Result<(), String>;

    /// Gives the interface another size of the largest packet.
    ///
    /// # Errors
    /// If the interface refuses it.
    fn link_mtu(&mut self, mtu: u16) -> Result<(), String>;

    /// Gives the route of `network` attributes such as `initcwnd 4`.
    ///
    /// # Errors
    /// If the kernel refuses one.
    fn route(&mut self, network: &Network, attributes: &[String]) -> Result<(), String>;
}
