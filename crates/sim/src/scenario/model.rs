//! The typed scenario: everything a run needs, all defaults filled in, all shorthands expanded.

use std::sync::Arc;

use ackclock_core::cc::{CongestionControl, SlowStart};
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use crate::net::packet::HEADER;
use crate::scenario::application::{ApplicationSpec, Traffic};

pub use crate::tcp::modern::config::{Config as ModernHost, Pacing, ReceiveBuffer, Recovery as ModernRecovery, RtoBounds};

/// A validated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What tables and plots call it.
    pub name: String,
    /// The run ends here; events at this very time are no longer processed.
    pub duration: Duration,
    /// Seeds every generator of the run.
    pub seed: u64,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links, each in one direction.
    pub links: Vec<LinkSpec>,
    /// Flows, in the order of the file; the connections of an application follow each other.
    pub flows: Vec<FlowSpec>,
    /// Applications that drive flows, in the order of the file.
    pub applications: Vec<ApplicationSpec>,
    /// Which traces to record.
    pub record: Vec<TraceKind>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// `from>to` with the names of its nodes.
    pub name: String,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it reaches.
    pub to: usize,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The queue in front of it; `None` is a queue without limit.
    pub queue: Option<QueueSpec>,
    /// Packets lost for other reasons than the queue.
    pub loss: Option<LossSpec>,
}

/// A part of the registry with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSpec {
    /// Its name in the registry.
    pub name: &'static str,
    /// Values for all its parameters.
    pub params: Params,
}

/// A queue in front of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// The discipline.
    pub discipline: PartSpec,
    /// Where its random numbers come from.
    pub generator: GeneratorSpec,
}

/// A loss model on a link.
#[derive(Clone, Debug)]
pub struct LossSpec {
    /// The model.
    pub model: PartSpec,
    /// Whether it sits before the queue or after the propagation.
    pub position: LossPosition,
    /// Where its random numbers come from.
    pub generator: GeneratorSpec,
}

/// Where packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPosition {
    /// In front of the queue.
    BeforeQueue,
    /// After queue, transmission and propagation: a lost packet has used the link.
    AfterLink,
}

/// A random number generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorSpec {
    /// The default generator, derived from the run's seed, the link's name and the component.
    Derived,
    /// ns-2's `MRG32k3a` with all six words `seed`, then `stream` streams and `skip` numbers ahead.
    Mrg32k3a {
        /// The six words.
        seed: u32,
        /// Jumps of 2¹²⁷ numbers.
        stream: u32,
        /// Numbers that others have drawn before.
        skip: u32,
    },
}

/// A flow: one connection whose data goes from `from` to `to`, or a stream of datagrams.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// What tables and plots call it.
    pub name: String,
    /// Index of the sender's node.
    pub from: usize,
    /// Index of the receiver's node.
    pub to: usize,
    /// When the application starts.
    pub start: Instant,
    /// When a bulk transfer stops handing over data; what is outstanding is still delivered.
    pub stop: Option<Instant>,
    /// How many data packets a bulk transfer has; `None` is without end.
    pub packets: Option<u64>,
    /// What hands data to the sender.
    pub traffic: Traffic,
    /// The end hosts of profile `ns2`; of another profile, what the profiles share: packet size, first threshold, ECN, initial pacing.
    pub host: Ns2Host,
    /// The end hosts, if they are of profile `modern`.
    pub modern: Option<ModernHost>,
    /// The sender's congestion control.
    pub control: ControlSpec,
}

impl FlowSpec {
    /// Size of a full data packet with headers.
    pub(crate) fn wire_size(&self) -> Bytes {
        // Timestamps count in the announced segment size.
        let modern = self.modern.as_ref().map(|host| u64::from(host.mss) + u64::from(HEADER));
        Bytes(modern.unwrap_or(u64::from(self.host.wire_size())))
    }
}

/// The host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Ns2Host {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Data in a packet, without headers.
    pub packet_size: Bytes,
    /// Headers in every data packet; an ACK has 40 bytes of them in any case.
    pub header: Bytes,
    /// Receiver's window in packets.
    pub rwnd: u32,
    /// First slow start threshold in segments; infinite: none. ns-2's is the receiver's window.
    pub initial_ssthresh: Segments,
    /// Whether the receiver delays ACKs (every second packet, or after `delayed_ack_timeout`).
    pub delayed_ack: bool,
    /// Longest delay of an ACK.
    pub delayed_ack_timeout: Duration,
    /// Whether sender and receiver use Explicit Congestion Notification (RFC 3168).
    pub ecn: bool,
    /// Whether the first two duplicate ACKs release a new packet each (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the first window is spread over the first round trip, whatever the initial window.
    pub initial_pacing: bool,
    /// Tick of the clock that measures round-trip times.
    pub clock_granularity: Duration,
    /// Phase of that clock: it ticks at multiples of the granularity less this.
    pub clock_phase: Duration,
    /// Smallest retransmission timeout.
    pub min_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Largest retransmission timeout.
    pub max_rto: Duration,
}

/// Loss recovery of the `ns2` host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then start over.
    Tahoe,
    /// Fast recovery (RFC 2581).
    Reno,
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements with a pipe (RFC 3517, as ns-2's Sack1).
    Sack,
    /// Timeouts of fine grain (Brakmo & Peterson 1995, as ns-2's Vegas).
    Vegas,
}

impl Ns2Host {
    /// Size of a data packet in bytes, with headers.
    pub(crate) const fn wire_size(&self) -> u16 {
        (self.packet_size.0 + self.header.0) as u16
    }

    /// Size of the SYN in bytes: headers alone, or, where packets have none, as a data packet.
    pub(crate) const fn syn_size(&self) -> u16 {
        if self.header.0 == 0 { self.wire_size() } else { self.header.0 as u16 }
    }
}

/// Builds a congestion control that is not in the registry; called once for each flow.
pub type ControlFactory = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// Builds a slow start that is not in the registry; called once for each flow.
pub type SlowStartFactory = Arc<dyn Fn() -> Box<dyn SlowStart> + Send + Sync>;

/// Makes what no file can hold, by the index of a `[[flow]]`; `None` leaves the registry's usual part.
pub trait Makers {
    /// The whole congestion control of a flow.
    fn control(&self, flow: usize) -> Option<ControlFactory>;
    /// The slow start of a flow.
    fn slow_start(&self, flow: usize) -> Option<SlowStartFactory>;
}

/// A congestion control.
#[derive(Clone)]
pub enum ControlSpec {
    /// One part on each axis.
    Composed(ComposedSpec),
    /// Made by the caller.
    Custom(ControlFactory),
}

/// The parts of a composed congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct ComposedSpec {
    /// Axis `initial_window`.
    pub initial_window: PartSpec,
    /// Axis `slow_start`.
    pub slow_start: SlowStartSpec,
    /// Axis `avoidance`.
    pub avoidance: PartSpec,
    /// Axis `loss_response`; `None`: the avoidance's own.
    pub loss_response: Option<PartSpec>,
}

/// A slow start.
#[derive(Clone)]
pub enum SlowStartSpec {
    /// One of the registry.
    Part(PartSpec),
    /// Made by the caller.
    Custom(SlowStartFactory),
}

impl SlowStartSpec {
    /// Its name in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Part(part) => part.name,
            Self::Custom(_) => "python",
        }
    }

    /// The part, if it is one of the registry.
    pub const fn part(&self) -> Option<&PartSpec> {
        match self {
            Self::Part(part) => Some(part),
            Self::Custom(_) => None,
        }
    }
}

impl std::fmt::Debug for SlowStartSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Part(part) => part.fmt(f),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

impl PartialEq for SlowStartSpec {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Part(one), Self::Part(other)) => one == other,
            (Self::Custom(one), Self::Custom(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// What a run can record, each a table of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceKind {
    /// `cwnd` and `ssthresh` at every change.
    Cwnd,
    /// In-order delivery at the receiver.
    Delivered,
    /// Waiting packets and bytes of every queue at every change.
    Queue,
    /// Lost packets with the reason.
    Drops,
    /// Packets marked by a queue, with the reason.
    Marks,
    /// How long each packet waited in a queue.
    Sojourn,
    /// The queue disciplines' own quantities, at every packet: the probability to drop or mark, averages, virtual queues.
    Discipline,
    /// Every data packet sent and every ACK received, at the sender.
    Sequence,
    /// Round-trip times and the retransmission timeout, at every ACK.
    Rtt,
    /// The congestion control's own quantities, at every ACK.
    Internals,
}

impl TraceKind {
    /// Every kind with its name in a scenario.
    pub const ALL: [(&'static str, Self); 10] = [
        ("cwnd", Self::Cwnd),
        ("delivered", Self::Delivered),
        ("queue", Self::Queue),
        ("drops", Self::Drops),
        ("marks", Self::Marks),
        ("sojourn", Self::Sojourn),
        ("discipline", Self::Discipline),
        ("sequence", Self::Sequence),
        ("rtt", Self::Rtt),
        ("internals", Self::Internals),
    ];
}

impl std::fmt::Debug for ControlSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Composed(spec) => spec.fmt(f),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}
