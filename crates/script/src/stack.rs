//! The stack under test: a TCP implementation without I/O, with the verbs of sockets.
//!
//! To test an endpoint of your own, implement [`Stack`] for it and run scripts with [`crate::Simulated`]. All calls return at once; the
//! world that drives the stack repeats a blocking call until the stack can finish it. Packets are the bytes of IP packets;
//! [`crate::packet::Packet`] reads and writes them.
//!
//! ```
//! use ackclock_core::units::Instant;
//! use ackclock_script::stack::Stack;
//! use ackclock_script::{Options, Simulated, Verdict, packet::Packet, run, script::Flags};
//!
//! /// Refuses every connection.
//! #[derive(Default)]
//! struct Refuses(Vec<Vec<u8>>);
//!
//! impl Stack for Refuses {
//!     fn handle(&mut self, _now: Instant, bytes: &[u8]) {
//!         let Ok(packet) = Packet::decode(bytes) else { return };
//!         let (flags, ack) = (Flags::RST | Flags::ACK, packet.seq.wrapping_add(packet.length()));
//!         let reset = Packet { flags, ack, seq: 0, window: 0, options: Vec::new(), source: packet.target, target: packet.source, ..packet };
//!         self.0.extend(reset.encode());
//!     }
//!
//!     fn poll_transmit(&mut self, _now: Instant) -> Option<Vec<u8>> {
//!         self.0.pop()
//!     }
//! }
//!
//! let script = "0 < S 0:0(0) win 1000 <mss 1000>\n+0 > R. 0:0(0) ack 1 win 0\n";
//! let outcome = run(script, &Options::default(), |network| Ok(Simulated::new(Refuses::default(), network)));
//! assert_eq!(outcome.verdict, Verdict::Passed);
//! ```

use std::net::SocketAddr;

use ackclock_core::units::Instant;

use crate::errno::Errno;
use ackclock_wire::icmp::Message;

/// A socket, by a number that the stack chooses.
pub type Socket = u32;

/// Why a stack refuses a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The call fails.
    Error(Errno),
    /// The stack does not implement the call; the script cannot be judged.
    Unsupported(String),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Self::Error(errno)
    }
}

/// The answer to a call.
pub type Answer<T> = Result<T, Refusal>;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The end of the stack.
    pub local: SocketAddr,
    /// The end that the script plays.
    pub remote: SocketAddr,
}

/// What a socket can do now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact, as in poll(2)")]
pub struct Status {
    /// A connection is being opened by this end.
    pub connecting: bool,
    /// Data or the peer's FIN can be read, or a connection can be accepted.
    pub readable: bool,
    /// Data can be written.
    pub writable: bool,
    /// The peer has sent its FIN.
    pub peer_closed: bool,
    /// Neither direction can carry data any more.
    pub hung_up: bool,
    /// The pending error, which the next call returns.
    pub error: Option<Errno>,
    /// Whether the queue of messages about data sent has one (`MSG_ERRQUEUE`).
    pub notified: bool,
    /// How often the socket has woken those who wait for it: at data, room, errors and messages.
    pub wakes: u64,
}

/// How data is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct Writing {
    /// The application announces more data (`MSG_MORE`).
    pub more: bool,
    /// The data ends a record, which no segment joins with later data (`MSG_EOR`).
    pub ends_record: bool,
    /// The application waits for a message before it uses the buffer again (`MSG_ZEROCOPY`).
    pub zero_copy: bool,
    /// The call has waited for room before.
    pub again: bool,
}

/// What opening a connection with data has done (RFC 7413).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The SYN carries so many bytes of the data.
    Carries(u64),
    /// The SYN requests a cookie.
    Requests,
}

/// The value of a socket option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, as most options have.
    Integer(i64),
    /// A name, as of a congestion control.
    Text(String),
    /// `struct linger`: whether it is on, and seconds.
    Linger(bool, i64),
}

/// A control message of `recvmsg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Level, by the number of Linux.
    pub level: i64,
    /// Type.
    pub kind: i64,
    /// Fields of the data with their names in scripts; `""`: the data is this number; [`Control::TIME`]: nanoseconds of the script.
    pub fields: Vec<(String, i64)>,
}

impl Control {
    /// The name of the field of a time.
    pub const TIME: &'static str = "time";
}

/// A system call that a stack does not implement.
fn missing<T>(what: &str) -> Answer<T> {
    Err(Refusal::Unsupported(format!("the stack under test does not implement {what}")))
}

/// Fields of `struct tcp_info` with their values. A stack reports those that it knows.
pub type Info = Vec<(&'static str, i64)>;

/// The fields of `struct tcp_info` that scripts ask for.
pub const INFO_FIELDS: [&str; 53] = [
    "tcpi_state",
    "tcpi_ca_state",
    "tcpi_retransmits",
    "tcpi_probes",
    "tcpi_backoff",
    "tcpi_options",
    "tcpi_snd_wscale",
    "tcpi_rcv_wscale",
    "tcpi_delivery_rate_app_limited",
    "tcpi_rto",
    "tcpi_ato",
    "tcpi_snd_mss",
    "tcpi_rcv_mss",
    "tcpi_unacked",
    "tcpi_sacked",
    "tcpi_lost",
    "tcpi_retrans",
    "tcpi_fackets",
    "tcpi_last_data_sent",
    "tcpi_pmtu",
    "tcpi_rcv_ssthresh",
    "tcpi_rtt",
    "tcpi_rttvar",
    "tcpi_snd_ssthresh",
    "tcpi_snd_cwnd",
    "tcpi_advmss",
    "tcpi_reordering",
    "tcpi_rcv_rtt",
    "tcpi_rcv_space",
    "tcpi_total_retrans",
    "tcpi_pacing_rate",
    "tcpi_bytes_acked",
    "tcpi_bytes_received",
    "tcpi_segs_out",
    "tcpi_segs_in",
    "tcpi_notsent_bytes",
    "tcpi_min_rtt",
    "tcpi_delivery_rate",
    "tcpi_delivered",
    "tcpi_delivered_ce",
    "tcpi_dsack_dups",
    "tcpi_reord_seen",
    "tcpi_last_data_recv",
    "tcpi_busy_time",
    "tcpi_rwnd_limited",
    "tcpi_sndbuf_limited",
    "tcpi_received_ce",
    "tcpi_delivered_e1_bytes",
    "tcpi_delivered_e0_bytes",
    "tcpi_delivered_ce_bytes",
    "tcpi_received_e1_bytes",
    "tcpi_received_e0_bytes",
    "tcpi_received_ce_bytes",
];

/// A TCP implementation. Only packets are mandatory: a call without an implementation makes the script unsupported.
#[expect(unused_variables, reason = "the names document the parameters")]
pub trait Stack {
    /// An IP packet arrives.
    fn handle(&mut self, now: Instant, packet: &[u8]);

    /// Whether the stack reads messages of ICMP.
    fn reads_icmp(&self) -> bool {
        false
    }

    /// A message of ICMP arrives.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn handle_icmp(&mut self, now: Instant, message: &Message) -> Answer<()> {
        missing("ICMP")
    }

    /// The next IP packet that the stack sends now, if any.
    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>>;

    /// When [`Stack::handle_timeout`] is due.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// The time of [`Stack::poll_timeout`] has come.
    fn handle_timeout(&mut self, now: Instant) {}

    /// Makes a socket.
    ///
    /// # Errors
    /// As [`Refusal`] says; so for all other calls.
    fn socket(&mut self) -> Answer<Socket> {
        missing("socket")
    }

    /// Listens at `local`, with a queue of `backlog` connections.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn listen(&mut self, socket: Socket, local: SocketAddr, backlog: i64) -> Answer<()> {
        missing("listen")
    }

    /// Takes the next connection that `listener` has completed; `None`: there is none yet.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn accept(&mut self, now: Instant, listener: Socket) -> Answer<Option<Socket>> {
        missing("accept")
    }

    /// Begins to open a connection. [`Status::connecting`] tells when that is over.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn connect(&mut self, now: Instant, socket: Socket, ends: Ends) -> Answer<()> {
        missing("connect")
    }

    /// Begins to open a connection with the first of `data` in the SYN, whose size it gives (`MSG_FASTOPEN`).
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn connect_with_data(&mut self, now: Instant, socket: Socket, ends: Ends, data: (u64, Writing)) -> Answer<Opening> {
        missing("Fast Open")
    }

    /// Whether `connect` to the address `remote` returns at once, because the first data will open the connection
    /// (`TCP_FASTOPEN_CONNECT`).
    fn defers_connect(&mut self, socket: Socket, remote: SocketAddr) -> bool {
        false
    }

    /// Ends the connection, so that the socket can open another (`connect` with `AF_UNSPEC`).
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn disconnect(&mut self, now: Instant, socket: Socket) -> Answer<()> {
        missing("connect with AF_UNSPEC")
    }

    /// Writes up to `bytes` bytes; returns the number written, 0 if there is no room.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn write(&mut self, now: Instant, socket: Socket, bytes: u64, how: Writing) -> Answer<u64> {
        missing("write")
    }

    /// Takes the next message about data sent (`recvmsg` with `MSG_ERRQUEUE`); `None`: there is none.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn notification(&mut self, now: Instant, socket: Socket) -> Answer<Option<Control>> {
        missing("MSG_ERRQUEUE")
    }

    /// The control messages of the latest read.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn controls(&mut self, socket: Socket) -> Answer<Vec<Control>> {
        missing("control messages")
    }

    /// Reads up to `most` bytes; returns the number read, 0 after the peer's FIN; `None`: nothing can be read yet.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn read(&mut self, now: Instant, socket: Socket, most: u64) -> Answer<Option<u64>> {
        missing("read")
    }

    /// Ends one or both directions: whether this end stops to `read` and to `write`.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn shutdown(&mut self, now: Instant, socket: Socket, read: bool, write: bool) -> Answer<()> {
        missing("shutdown")
    }

    /// Closes the socket. The stack finishes the connection by itself.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn close(&mut self, now: Instant, socket: Socket) -> Answer<()> {
        missing("close")
    }

    /// Sets the option `name`, such as `TCP_NODELAY`.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn set_option(&mut self, now: Instant, socket: Socket, name: &str, value: &Value) -> Answer<()> {
        missing(&format!("the socket option {name}"))
    }

    /// The option `name`.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn option(&mut self, now: Instant, socket: Socket, name: &str) -> Answer<Value> {
        missing(&format!("the socket option {name}"))
    }

    /// Bytes that wait: received and not read, and written and not acknowledged.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn queued(&mut self, socket: Socket) -> Answer<(u64, u64)> {
        missing("SIOCINQ and SIOCOUTQ")
    }

    /// What the socket can do now.
    fn status(&self, socket: Socket) -> Status {
        Status::default()
    }

    /// The fields of `tcp_info`, with names as `tcpi_snd_cwnd`; empty if the stack does not report any.
    fn info(&self, now: Instant, socket: Socket) -> Info {
        Info::new()
    }

    /// Sets a kernel parameter, such as `tcp_sack`; names as in [`crate::settings::Settings::parameters`], and `qdisc` with `fq` or `pfifo`.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn configure(&mut self, name: &str, value: &str) -> Answer<()> {
        missing(&format!("the setting {name}"))
    }
}
