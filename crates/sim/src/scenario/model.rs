//! The typed scenario: the engine's input, with all defaults filled in and all shorthands expanded.

use std::sync::Arc;

use ackclock_core::cc::{CongestionControl, SlowStart};
pub use ackclock_core::params::PartSpec;
use ackclock_core::qdisc::{self, Reason};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use ackclock_tcp::HEADER;

use crate::scenario::application::{ApplicationSpec, DATAGRAM_HEADER, Traffic};

pub use crate::columns::traces::TraceKind;
pub use ackclock_tcp::modern::{
    AckRules, AdaptiveAcks, Config as ModernHost, Feedback, Growth, Offload, Pacing, ProbeMargins, ReceiveBuffer,
    Recovery as ModernRecovery, RtoBounds,
};
pub use ackclock_tcp::ns2::{Config as Ns2Host, Recovery};

/// A validated scenario.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// Name in tables and plots.
    pub name: String,
    /// End of the run. Events at exactly this time are not processed.
    pub duration: Duration,
    /// Seeds every generator of the run.
    pub seed: u64,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links, each in one direction.
    pub links: Vec<LinkSpec>,
    /// Flows in the order of the file. The connections of an application are adjacent.
    pub flows: Vec<FlowSpec>,
    /// Applications that drive flows, in the order of the file.
    pub applications: Vec<ApplicationSpec>,
    /// Traces to record.
    pub record: Vec<TraceKind>,
    /// Whether a registered part stands for one that the caller makes, which is missing.
    pub placeholder: bool,
}

impl Scenario {
    /// A run without a network, from which no trace is recorded.
    pub const fn new(name: String, duration: Duration, seed: u64) -> Self {
        Self {
            name,
            duration,
            seed,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            applications: Vec::new(),
            record: Vec::new(),
            placeholder: false,
        }
    }

    /// What in the scenario is a kernel in virtual time, for a message; `None`: the simulation has all that it needs.
    pub fn needs_kernel(&self) -> Option<String> {
        self.flows.iter().find_map(FlowSpec::needs_kernel).or_else(|| self.links.iter().find_map(LinkSpec::needs_kernel))
    }

    /// The version of the kernel that the scenario names, and its place. All flows on a kernel share one.
    pub fn kernel_version(&self) -> Option<&Given> {
        self.flows.iter().find_map(|flow| flow.kernel.as_ref()?.version.as_ref())
    }

    /// The reasons of drops and marks that its queues have besides the usual ones, each once.
    pub fn further_reasons(&self) -> Vec<Reason> {
        let of_queue = |queue: &QueueSpec| match queue.command() {
            Some(_) => qdisc::qdisc::REASONS.to_vec(),
            None => qdisc::PARTS.build(&queue.discipline).map(|discipline| discipline.reasons()).unwrap_or_default(),
        };
        let found: Vec<Reason> = self.links.iter().filter_map(|link| Some(of_queue(link.queue.as_ref()?))).flatten().collect();
        Reason::further().iter().filter(|reason| found.contains(reason)).copied().collect()
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkSpec {
    /// `from>to` with the names of its nodes.
    pub name: String,
    /// Index of the node where the link starts.
    pub from: usize,
    /// Index of the node where the link ends.
    pub to: usize,
    /// Transmission rate.
    pub rate: Variable<Rate>,
    /// Propagation delay.
    pub delay: Variable<Duration>,
    /// Queue in front of the link; `None` is an unlimited queue.
    pub queue: Option<QueueSpec>,
    /// Packet losses that the queue does not cause, in the order in which they decide.
    pub losses: Vec<LossSpec>,
    /// The medium that it shares with others; `None`: it has its own.
    pub medium: Option<MediumSpec>,
    /// The rate that its router approves of a Quick-Start request (RFC 4782); `None`: it does not take part.
    pub quick_start: Option<Rate>,
}

impl LinkSpec {
    /// A link between these nodes with an unlimited queue and without losses.
    pub const fn new(name: String, [from, to]: [usize; 2], rate: Variable<Rate>, delay: Variable<Duration>) -> Self {
        Self { name, from, to, rate, delay, queue: None, losses: Vec::new(), medium: None, quick_start: None }
    }
}

/// A quantity of a link: a constant, or a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable<T> {
    /// It does not change.
    Constant(T),
    /// Models of the registry.
    Model(Box<Model<T>>),
}

/// Models of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<T> {
    /// The models. Several of them add up.
    pub parts: Vec<PartSpec>,
    /// The mean of the quantity.
    pub mean: T,
}

impl<T: Copy> Variable<T> {
    /// The constant, or the mean of the models: what stands for the quantity where one number is needed.
    pub const fn mean(&self) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Model(model) => model.mean,
        }
    }

    /// The models; none if it is a constant.
    pub fn models(&self) -> &[PartSpec] {
        match self {
            Self::Constant(_) => &[],
            Self::Model(model) => &model.parts,
        }
    }
}

/// A queue in front of a link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueSpec {
    /// The discipline.
    pub discipline: PartSpec,
    /// Generator of its random numbers.
    pub generator: GeneratorSpec,
}

impl QueueSpec {
    /// A queue whose random numbers come from the run's seed.
    pub const fn new(discipline: PartSpec) -> Self {
        Self { discipline, generator: GeneratorSpec::Derived }
    }

    /// What `tc` takes, if the queue is a discipline of a Linux kernel.
    pub fn command(&self) -> Option<&str> {
        (self.discipline.name == qdisc::qdisc::NAME).then(|| self.discipline.params.word(qdisc::qdisc::COMMAND))
    }
}

/// A loss model on a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LossSpec {
    /// The model.
    pub model: PartSpec,
    /// Position: before the queue or after the propagation.
    pub position: LossPosition,
    /// Generator of its random numbers.
    pub generator: GeneratorSpec,
}

impl LossSpec {
    /// Losses whose random numbers come from the run's seed.
    pub const fn new(model: PartSpec, position: LossPosition) -> Self {
        Self { model, position, generator: GeneratorSpec::Derived }
    }
}

/// A medium that links share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MediumSpec {
    /// The model.
    pub model: PartSpec,
    /// Links with the same channel share it, and have the same model.
    pub channel: String,
}

impl MediumSpec {
    /// The medium of the links with this channel.
    pub const fn new(model: PartSpec, channel: String) -> Self {
        Self { model, channel }
    }
}

/// Position of a loss model.
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
    /// The default generator, seeded by the run's seed, the link's name and the component.
    Derived,
    /// ns-2's `MRG32k3a`: all six words are `seed`, then it advances by `stream` streams and `skip` numbers.
    Mrg32k3a {
        /// The six words.
        seed: u32,
        /// Jumps of 2¹²⁷ numbers.
        stream: u32,
        /// Numbers that other components have drawn.
        skip: u32,
    },
}

/// A flow: one connection with data from `from` to `to`, or a stream of datagrams.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowSpec {
    /// Name in tables and plots.
    pub name: String,
    /// Index of the sender's node.
    pub from: usize,
    /// Index of the receiver's node.
    pub to: usize,
    /// Time at which the application starts.
    pub start: Instant,
    /// Time at which a bulk transfer stops handing over data. Outstanding data is still delivered.
    pub stop: Option<Instant>,
    /// Number of data packets of a bulk transfer; `None` is unlimited.
    pub packets: Option<u64>,
    /// Source of the sender's data.
    pub traffic: Traffic,
    /// Both end hosts.
    pub host: HostSpec,
    /// The sender's congestion control.
    pub control: ControlSpec,
    /// Initial slow start threshold in segments; infinite if there is none. In ns-2 it is the receiver's window.
    pub initial_ssthresh: Segments,
    /// The kernel that both end hosts are, with the settings of `host`; `None`: they are simulated.
    pub kernel: Option<KernelSpec>,
}

impl FlowSpec {
    /// A bulk transfer between these nodes, from the start of the run to its end, without an initial threshold.
    pub const fn new(name: String, [from, to]: [usize; 2], host: HostSpec, control: ControlSpec) -> Self {
        Self {
            name,
            from,
            to,
            start: Instant::ZERO,
            stop: None,
            packets: None,
            traffic: Traffic::Bulk,
            host,
            control,
            initial_ssthresh: Segments::INFINITY,
            kernel: None,
        }
    }
}

/// The end hosts of a flow: a profile with its settings.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one, and a flow has one of them")]
pub enum HostSpec {
    /// Profile `ns2`: the packet-counting one-way TCP of ns-2.35.
    Ns2(Ns2Host),
    /// Profile `modern`: TCP as in today's systems.
    Modern(ModernHost),
    /// No TCP: datagrams with this many bytes of data.
    Datagrams(Bytes),
    /// Any other profile of the registry.
    Other(OtherHost),
}

/// End hosts of a profile that is neither `ns2` nor `modern`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OtherHost {
    /// The profile with its parameters.
    pub profile: PartSpec,
    /// Data in a full packet.
    pub packet_size: Bytes,
    /// Headers of a full packet.
    pub header: Bytes,
    /// Whether both ends use Explicit Congestion Notification.
    pub ecn: bool,
    /// Whether the first window is spread over the first round trip.
    pub initial_pacing: bool,
}

impl OtherHost {
    /// Hosts of a profile without ECN whose packets have so much data and such headers.
    pub const fn new(profile: PartSpec, packet_size: Bytes, header: Bytes) -> Self {
        Self { profile, packet_size, header, ecn: false, initial_pacing: false }
    }
}

/// The kernel that the hosts of a flow are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct KernelSpec {
    /// Its version; `None`: any.
    pub version: Option<Given>,
    /// The sender's control, by the kernel's name for it; `None`: that of the flow.
    pub control: Option<Given>,
    /// Parameters below `net.`, by their names with dots.
    pub sysctl: Vec<(String, Given)>,
    /// Parameters of modules, as `MODULE.PARAMETER`.
    pub module: Vec<(String, Given)>,
}

/// A value of a scenario that only a kernel can check.
#[derive(Clone, Debug)]
pub struct Given {
    /// The value.
    pub value: String,
    /// Where it was written, with its key, for a message.
    pub place: String,
}

impl LinkSpec {
    /// What in the link is a kernel in virtual time, for a message; `None`: its queue is simulated.
    pub fn needs_kernel(&self) -> Option<String> {
        let command = self.queue.as_ref()?.command()?;
        Some(format!("link {} has the queue discipline {command:?} of Linux", self.name))
    }
}

impl FlowSpec {
    /// What in the flow is a kernel in virtual time, for a message; `None`: its hosts are simulated.
    pub fn needs_kernel(&self) -> Option<String> {
        self.kernel.as_ref().map(|_| format!("flow {} has profile = \"kernel\"", self.name))
    }
}

impl HostSpec {
    /// The settings of `ns2` hosts, if the profile is `ns2`.
    pub const fn as_ns2(&self) -> Option<&Ns2Host> {
        if let Self::Ns2(host) = self { Some(host) } else { None }
    }

    /// The settings of `modern` hosts, if the profile is `modern`.
    pub const fn as_modern(&self) -> Option<&ModernHost> {
        if let Self::Modern(host) = self { Some(host) } else { None }
    }

    /// Data in a full packet, in bytes.
    pub fn packet_size(&self) -> Bytes {
        match self {
            Self::Ns2(host) => host.packet_size,
            Self::Modern(host) => host.packet_size(),
            Self::Datagrams(data) => *data,
            Self::Other(host) => host.packet_size,
        }
    }

    /// A full packet with all headers, in bytes.
    pub fn wire_size(&self) -> Bytes {
        match self {
            Self::Ns2(host) => Bytes(u64::from(host.wire_size())),
            // The announced segment size includes timestamps.
            Self::Modern(host) => Bytes(u64::from(host.mss) + u64::from(HEADER)),
            Self::Datagrams(data) => Bytes(data.0 + DATAGRAM_HEADER.0),
            Self::Other(host) => Bytes(host.packet_size.0 + host.header.0),
        }
    }

    /// Memory of both ends in a run, in bytes; measured and rounded up, as for links.
    pub(crate) const fn memory(&self) -> u64 {
        match self {
            Self::Ns2(_) | Self::Datagrams(_) => 3_500,
            Self::Modern(_) | Self::Other(_) => 10_000,
        }
    }

    /// Name of the profile; empty for datagrams.
    pub fn profile(&self) -> &'static str {
        match self {
            Self::Ns2(_) => "ns2",
            Self::Modern(_) => "modern",
            Self::Datagrams(_) => "",
            Self::Other(host) => host.profile.name,
        }
    }

    /// Name of the loss recovery in tables.
    pub fn recovery(&self) -> &'static str {
        match self {
            Self::Ns2(host) => host.recovery.name(),
            Self::Modern(host) => host.recovery.name(),
            Self::Datagrams(_) => "none",
            Self::Other(host) => host.profile.name,
        }
    }
}

/// Builds a congestion control that is not in the registry; called once for each flow.
pub type ControlFactory = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// Builds a slow start that is not in the registry; called once for each flow.
pub type SlowStartFactory = Arc<dyn Fn() -> Box<dyn SlowStart> + Send + Sync>;

/// Makes parts that no file can hold, by the index of a `[[flow]]`. `None` selects the registry's default part.
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
    /// A whole control: axis `congestion_control`.
    Whole(PartSpec),
    /// Made by the caller.
    Custom(ControlFactory),
    /// The one that the hosts bring with them, by its name.
    Own(&'static str),
}

/// The parts of a composed congestion control.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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

impl ComposedSpec {
    /// These parts, with the avoidance's own loss response.
    pub const fn new(initial_window: PartSpec, slow_start: SlowStartSpec, avoidance: PartSpec) -> Self {
        Self { initial_window, slow_start, avoidance, loss_response: None }
    }
}

/// A slow start.
#[derive(Clone)]
pub enum SlowStartSpec {
    /// A part of the registry.
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

    /// The part, if it is in the registry.
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

impl std::fmt::Debug for ControlSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Composed(spec) => spec.fmt(f),
            Self::Whole(part) => part.fmt(f),
            Self::Custom(_) => f.write_str("Custom"),
            Self::Own(name) => name.fmt(f),
        }
    }
}
