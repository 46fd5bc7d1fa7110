//! A world in which time passes: it contains the stack under test, carries packets to and from it, and executes system calls.
//!
//! [`crate::Simulated`] is the world of virtual time. The interpreter knows nothing but [`World`], so that a script can also run against
//! the kernel in real time.

use ackclock_core::units::{Duration, Instant};

use crate::errno::Errno;
use crate::stack::{Control, Info, Refusal, Value};
use ackclock_wire::icmp::Message;

/// A file descriptor in the world.
pub type Fd = i32;

/// A system call with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `socket`: a TCP socket.
    Socket {
        /// Whether calls return at once.
        nonblocking: bool,
    },
    /// `bind`; `port`: that of the address, unless the script leaves it open.
    Bind {
        /// Socket.
        fd: Fd,
        /// Port.
        port: Option<u16>,
    },
    /// `listen`.
    Listen {
        /// Socket.
        fd: Fd,
        /// Length of the queue.
        backlog: i64,
    },
    /// `accept`, `accept4`.
    Accept {
        /// Listening socket.
        fd: Fd,
        /// Whether the new socket is non-blocking.
        nonblocking: bool,
    },
    /// `connect`; `port`: that of the address, unless the script leaves it open.
    Connect {
        /// Socket.
        fd: Fd,
        /// Port.
        port: Option<u16>,
        /// Whether the address is of `AF_UNSPEC`, which ends the connection.
        ends: bool,
    },
    /// `write`, `send`, `sendto`, `writev`, `sendmsg`.
    Write {
        /// Socket.
        fd: Fd,
        /// Bytes to write, all zero.
        bytes: u64,
        /// Flags such as `MSG_MORE`, by the numbers of Linux.
        flags: i64,
        /// Whether the call names the peer, as `sendto` does.
        connects: bool,
        /// Whether the buffer is `NULL`.
        null: bool,
    },
    /// `read`, `recv`, `recvfrom`, `readv`, `recvmsg`.
    Read {
        /// Socket.
        fd: Fd,
        /// Size of the buffer.
        most: u64,
        /// Flags such as `MSG_DONTWAIT`, by the numbers of Linux.
        flags: i64,
        /// Whether the script expects control messages.
        control: bool,
        /// Whether the buffer is `NULL`.
        null: bool,
    },
    /// `shutdown`.
    Shutdown {
        /// Socket.
        fd: Fd,
        /// Whether reading ends.
        read: bool,
        /// Whether writing ends.
        write: bool,
    },
    /// `close`.
    Close {
        /// Socket.
        fd: Fd,
    },
    /// `setsockopt`.
    SetOption {
        /// Socket.
        fd: Fd,
        /// Level, such as `SOL_TCP`.
        level: String,
        /// Name, such as `TCP_NODELAY`.
        name: String,
        /// Value.
        value: Value,
    },
    /// `getsockopt`.
    Option {
        /// Socket.
        fd: Fd,
        /// Level.
        level: String,
        /// Name.
        name: String,
    },
    /// `fcntl(F_SETFL)`: whether `O_NONBLOCK` is set.
    SetNonBlocking {
        /// Socket.
        fd: Fd,
        /// Whether calls return at once.
        on: bool,
    },
    /// `fcntl(F_GETFL)`.
    Flags {
        /// Socket.
        fd: Fd,
    },
    /// `ioctl(SIOCINQ)`: bytes received and not read.
    Unread {
        /// Socket.
        fd: Fd,
    },
    /// `ioctl(SIOCOUTQ)`: bytes written and not acknowledged.
    Unacknowledged {
        /// Socket.
        fd: Fd,
    },
    /// `poll`: sockets with their events.
    Poll {
        /// Sockets and events, by the bits of poll(2).
        fds: Vec<(Fd, i16)>,
        /// Milliseconds to wait; below 0 without end.
        timeout: i64,
    },
    /// `epoll_create`.
    EpollCreate,
    /// `epoll_ctl`.
    EpollControl {
        /// The epoll descriptor.
        epoll: Fd,
        /// `EPOLL_CTL_ADD` and others, by the numbers of Linux.
        operation: i64,
        /// Socket.
        fd: Fd,
        /// Events, by the bits of epoll(7).
        events: u32,
    },
    /// `epoll_wait`.
    EpollWait {
        /// The epoll descriptor.
        epoll: Fd,
        /// Most sockets to report.
        most: i64,
        /// Milliseconds to wait; below 0 without end.
        timeout: i64,
    },
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return {
    /// Value returned: −1 for an error.
    pub value: i64,
    /// The error.
    pub errno: Option<Errno>,
    /// What the call wrote into its arguments.
    pub output: Output,
}

/// What a call wrote into its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing.
    Nothing,
    /// The value of an option or request.
    Value(Value),
    /// Events per socket of `poll`.
    Events(Vec<i16>),
    /// Sockets with their events, of `epoll_wait`.
    Ready(Vec<(Fd, u32)>),
    /// Flags and control messages of `recvmsg`.
    Message(i64, Vec<Control>),
}

impl Return {
    /// A successful call.
    pub const fn success(value: i64) -> Self {
        Self { value, errno: None, output: Output::Nothing }
    }

    /// A failed call.
    pub const fn error(errno: Errno) -> Self {
        Self { value: -1, errno: Some(errno), output: Output::Nothing }
    }
}

/// What ended a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The time has come.
    Reached,
    /// The stack sent a packet.
    Sent {
        /// When.
        at: Instant,
        /// The IP packet.
        packet: Vec<u8>,
    },
    /// The blocked call has returned.
    Returned {
        /// When.
        at: Instant,
        /// Result.
        result: Return,
    },
}

/// A world in which time passes.
pub trait World {
    /// Time since the start of the script.
    fn now(&mut self) -> Instant;

    /// Lets time pass up to `until`, or until something happens before. A time that has passed returns what has happened so far.
    ///
    /// # Errors
    /// If the world or the stack fails.
    fn advance(&mut self, until: Instant) -> Result<Happening, String>;

    /// How long a call may block of which the script gives no end, and how long to wait for a packet at any time.
    fn patience(&self) -> Duration {
        Duration::from_millis(3_600_000)
    }

    /// A packet arrives at the stack.
    ///
    /// # Errors
    /// If the world cannot deliver packets.
    fn inject(&mut self, packet: &[u8]) -> Result<(), String>;

    /// Whether the stack reads messages of ICMP.
    fn reads_icmp(&self) -> bool {
        false
    }

    /// A message of ICMP arrives at the stack.
    ///
    /// # Errors
    /// If the world cannot deliver it, or the stack cannot read it.
    fn inject_icmp(&mut self, message: &Message) -> Result<(), String> {
        self.inject(&message.encode()?)
    }

    /// Executes a call; `None`: it blocks, and [`World::advance`] reports its return. At most one call is blocked. `may_block`: whether
    /// the script expects so; a world may wait for other calls.
    ///
    /// # Errors
    /// If the call is unsupported.
    fn call(&mut self, call: &Call, may_block: bool) -> Result<Option<Return>, Refusal>;

    /// `tcp_info` of the socket `fd`.
    ///
    /// # Errors
    /// If the world cannot tell.
    fn info(&mut self, fd: Fd) -> Result<Info, Refusal>;

    /// Sets a kernel parameter before or during the script.
    ///
    /// # Errors
    /// If the stack has no such parameter, or the value does not fit.
    fn configure(&mut self, name: &str, value: &str) -> Result<(), Refusal>;
}
