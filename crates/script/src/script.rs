//! A script as data: what the parser returns, the printer writes and the interpreter plays.
//!
//! Every node records its [`Position`]. Positions do not count in comparisons: two scripts are equal if they say the same.

use std::fmt;

pub use ackclock_wire::options::{EcnCounter, TcpOption};

/// A time in nanoseconds.
pub type Nanos = u64;

/// A place in a script's text. All positions are equal, so that nodes compare by content.
#[derive(Clone, Copy, Default)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Position {}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A script: options, an optional first command, events, an optional last command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The options at the top.
    pub options: Vec<Setting>,
    /// The command before the first event.
    pub before: Option<Command>,
    /// The events, in the order of the text.
    pub events: Vec<Event>,
    /// The command after the last event.
    pub after: Option<Command>,
}

impl Script {
    /// The value of the last option `--name=value`; an option without a value has the value "".
    pub fn option(&self, name: &str) -> Option<&str> {
        let setting = self.options.iter().rev().find(|setting| setting.name == name)?;
        Some(setting.value.as_deref().unwrap_or_default())
    }
}

/// An option `--name` or `--name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Place of the first dash.
    pub at: Position,
    /// Name without dashes.
    pub name: String,
    /// Text after the equals sign.
    pub value: Option<String>,
}

/// A shell command, or several lines of them, between backquotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Place of the first character after the backquote.
    pub at: Position,
    /// Text between the backquotes.
    pub text: String,
}

/// A block `%{ … }%`. [`crate::code`] reads its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Place of the first character after the opening.
    pub at: Position,
    /// Text between the braces.
    pub text: String,
}

/// A time and what happens then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Place of the time.
    pub at: Position,
    /// When.
    pub time: Time,
    /// What.
    pub action: Action,
}

/// The time of an event. Relative times count from the previous event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// `0.5`: since the start of the script.
    Absolute(Nanos),
    /// `+0.5`.
    Relative(Nanos),
    /// `0.5~0.7`.
    AbsoluteRange(Nanos, Nanos),
    /// `+0.5~+0.7`.
    RelativeRange(Nanos, Nanos),
    /// `*`: not checked.
    Any,
}

/// What happens at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A packet that arrives at the stack, or is expected from it.
    Packet(Packet),
    /// A system call.
    Call(Call),
    /// A shell command.
    Command(Command),
    /// A block of assertions.
    Code(Code),
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: injected into the stack under test.
    In,
    /// `>`: expected from it.
    Out,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Place of the direction.
    pub at: Position,
    /// Direction.
    pub direction: Direction,
    /// Outer headers, from the outermost inwards.
    pub encapsulations: Vec<Encapsulation>,
    /// What the line says about the IP header.
    pub ip: IpInfo,
    /// What the IP packet carries.
    pub payload: Payload,
}

/// An outer header, such as `ipv4 1.1.1.1 > 2.2.2.2:` or `mpls (label 0, tc 0, ttl 255):`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// Place of the name.
    pub at: Position,
    /// `ipv4`, `ipv6`, `gre` or `mpls`.
    pub name: String,
    /// The text up to the colon.
    pub text: String,
}

/// Fields of the IP header; those that a line does not name are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpInfo {
    /// The ECN field.
    pub ecn: Option<EcnField>,
    /// The whole byte of DSCP and ECN field.
    pub tos: Option<u8>,
    /// Time to live, or hop limit.
    pub ttl: Option<u8>,
    /// Flow label of IPv6.
    pub flow_label: Option<u32>,
}

/// The ECN field of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnField {
    /// `noecn`: not ECN-capable.
    NotCapable,
    /// `ect0`.
    Ect0,
    /// `ect1`.
    Ect1,
    /// `ce`: congestion experienced.
    Ce,
    /// `ect01`: either of `ect0` and `ect1`.
    Ect01,
}

/// What an IP packet carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A TCP segment.
    Tcp(Tcp),
    /// `udp (LENGTH)`.
    Udp {
        /// Ports of source and destination, `p > q`.
        ports: Option<(u16, u16)>,
        /// Bytes of payload.
        length: u32,
    },
    /// `icmp TYPE [CODE] [mtu N] [ECHO]`.
    Icmp(Icmp),
}

/// A TCP segment, in the numbers of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Ports of source and destination, `p > q`.
    pub ports: Option<(u16, u16)>,
    /// Flags.
    pub flags: Flags,
    /// First sequence number. SYN and FIN do not count in `start`, `end` and `length`.
    pub start: u32,
    /// First sequence number after the payload.
    pub end: u32,
    /// Bytes of payload.
    pub length: u32,
    /// Acknowledgment number.
    pub ack: Option<u32>,
    /// Field of the header, not scaled.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u16>,
    /// Options.
    pub options: Options,
}

/// The flags of a TCP header as the bits of its 13th and 14th byte, or the ACE field as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Flags that are set; those of the ACE field only if `ace` is absent.
    pub bits: u16,
    /// The bits AE, CWR and ECE as a number from 0 to 7.
    pub ace: Option<u8>,
}

impl Flags {
    /// Letters of all flags with their bits, in the order in which they are printed.
    pub const LETTERS: [(char, u16); 8] = [
        ('S', Self::SYN),
        ('F', Self::FIN),
        ('R', Self::RST),
        ('P', Self::PSH),
        ('E', Self::ECE),
        ('W', Self::CWR),
        ('A', Self::AE),
        ('.', Self::ACK),
    ];
    /// No more data from the sender.
    pub const FIN: u16 = 1;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 2;
    /// Reset.
    pub const RST: u16 = 4;
    /// Push.
    pub const PSH: u16 = 8;
    /// The acknowledgment number is valid.
    pub const ACK: u16 = 16;
    /// ECN echo.
    pub const ECE: u16 = 64;
    /// Congestion window reduced.
    pub const CWR: u16 = 128;
    /// Accurate ECN.
    pub const AE: u16 = 256;

    /// Whether all flags of `mask` are set.
    pub const fn has(self, mask: u16) -> bool {
        self.bits & mask == mask
    }
}

/// The options of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Options {
    /// Exactly these, in this order. Without `<…>` a segment has none.
    Listed(Vec<TcpOption>),
    /// `<...>`: not compared.
    Any,
}

/// An ICMP message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// Whether the message is of ICMP for IPv6.
    pub v6: bool,
    /// Type, such as `unreachable`.
    pub kind: String,
    /// Code, such as `frag_needed`.
    pub code: Option<String>,
    /// MTU of the next hop.
    pub mtu: Option<u32>,
    /// The packet that the message answers.
    pub echo: Option<Echo>,
}

/// The packet that an ICMP message quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// `[start:end(length)]`: a TCP segment.
    Tcp {
        /// First sequence number.
        start: u32,
        /// First sequence number after the payload.
        end: u32,
        /// Bytes of payload.
        length: u32,
    },
    /// `[udp (length)]`.
    Udp {
        /// Bytes of payload.
        length: u32,
    },
}

/// A system call `name(arguments) = result ERRNO (note)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Place of the name.
    pub at: Position,
    /// When a blocking call returns (`+0...0.1`): of the same kind as the event's time, and counted from the same point.
    pub end: Option<Nanos>,
    /// Name.
    pub name: String,
    /// Arguments.
    pub arguments: Vec<Expression>,
    /// Result; [`Kind::Any`] for `...`.
    pub result: Expression,
    /// Name of the error.
    pub errno: Option<String>,
    /// Text in parentheses after the result.
    pub note: Option<String>,
}

/// A value in a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Place of the first character.
    pub at: Position,
    /// Content.
    pub kind: Kind,
}

/// The content of an [`Expression`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `...`: any value.
    Any,
    /// A number, decimal or hexadecimal.
    Integer(i64),
    /// A text in double quotes.
    Text(String),
    /// A symbolic constant, such as `SOL_SOCKET`.
    Name(String),
    /// `[a, b]`: an array, or a value by reference.
    List(Vec<Expression>),
    /// `{a, name=b}`.
    Struct(Vec<Field>),
    /// `name(a, b)`, such as `htons(8080)`.
    Function(String, Vec<Expression>),
    /// `-a`.
    Negative(Box<Expression>),
    /// `~a`.
    Complement(Box<Expression>),
    /// `a | b` and others.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A field of a struct: `name=value`, `name(size)=value`, or a value alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Place of the field.
    pub at: Position,
    /// Name.
    pub name: Option<String>,
    /// Size of an array, or `...`, in parentheses after the name.
    pub size: Option<Expression>,
    /// Value.
    pub value: Expression,
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `&`.
    And,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
}

impl Operator {
    /// All operators with their sign and how tightly they bind, as in C.
    pub const ALL: [(&'static str, Self, u8); 5] =
        [("|", Self::Or, 1), ("^", Self::Xor, 2), ("&", Self::And, 3), ("<<", Self::ShiftLeft, 4), (">>", Self::ShiftRight, 4)];
}
