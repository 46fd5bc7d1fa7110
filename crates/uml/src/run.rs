//! Runs of a scenario on a kernel in virtual time.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use ackclock_core::units::Duration;
use ackclock_host::Side;
use ackclock_kernel::{
    Chosen, FlowPlan, KernelConnection, KernelControl, KernelError, Offer, Plan, Seats, Terminal, address, is_old, owner,
};
use ackclock_linux::kept::processor_time;
use ackclock_linux::scheduling::Pinned;
use ackclock_sim::engine::{Arrival, FrameConnection, Lockstep, Outside, Replayed, RunError, RunResult, Warning, replays};
use ackclock_sim::scenario::Scenario;

use crate::control::Controls;
use crate::ends::{GuestEnds, PORT};
use crate::guest::{Guest, Limits, Stop};
use crate::host::{Host, Places};
use crate::joint::{DEVICES, SOCKETS, socket};
use crate::queues::{self, Heard, QueuePlan, Queues};
pub use crate::setup::Kernel;
use crate::setup::{Commands, GLOBAL, start, tick};

/// The congestion controls that are built into a guest's kernel.
const CONTROLS: &[&str] = &[
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];
/// What every node has, as in a run on a machine: no memory of earlier connections, and buffers that do not depend on the guest's memory.
const PARAMETERS: [(&str, &str); 2] = [("ipv4/tcp_no_metrics_save", "1"), ("ipv4/tcp_rmem", "4096 131072 6291456")];
/// Most data that waits in the send buffer of a flow that stops, in bytes: it is sent even after the application has stopped.
const UNSENT: u32 = 32 << 10;
/// Memory of a guest, of each flow, and of queues, which can hold many packets; in megabytes. What is not used costs nothing.
const MEMORY: [u32; 3] = [256, 24, 2048];
/// Most memory of a guest, in megabytes.
const MOST_MEMORY: u32 = 8192;
/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Links and hosts at which packets are captured.
    pub captured: &'a [String],
    /// Whether the scenario's controls decide outside the kernel, even those that the kernel has.
    pub outside: bool,
    /// The kernel's own control that every flow has, whatever the scenario names.
    pub control: Option<&'a str>,
    /// The flows that are connections of the kernel; the others are simulated.
    pub flows: Chosen,
    /// Start of the run after a tick of the kernel at which also coarse timers expire, in nanoseconds; by default the seed decides it. A later
    /// start has other random numbers.
    pub phase: Option<u64>,
    /// What the kernel may use.
    pub limits: Limits,
}

/// A run in a guest.
#[derive(Debug)]
pub struct Run {
    /// The result, as of a simulation.
    pub result: RunResult,
    /// The kernel's control of each flow; `None` for datagrams.
    pub controls: Vec<Option<String>>,
    /// Settings of the scenario that the kernel does not follow.
    pub warnings: Vec<Warning>,
    /// Start of the run after a tick of the kernel.
    pub phase: Duration,
    /// Processor time of the guest, its boot included.
    pub cpu: Duration,
    /// Whether the guest could write no file.
    pub confined: bool,
}

/// Says why the `flows` of `scenario` cannot run on a kernel in virtual time, with the kernel's own `control` if one is named. Starts nothing.
pub fn refusal(scenario: &Scenario, flows: Chosen, control: Option<&str>) -> Option<String> {
    plan(scenario, Options { captured: &[], outside: false, control, flows, phase: None, limits: Limits::default() }).err()
}

fn plan(scenario: &Scenario, options: Options<'_>) -> Result<Plan, String> {
    let seats = if options.outside { Seats::Always } else { Seats::Otherwise };
    let plan = Plan::new(scenario, options.flows, &Offer { names: CONTROLS, programs: None, seats, instead: options.control })?;
    // Sockets and interfaces have the numbers of their flows and nodes.
    let last = plan.flows.iter().rposition(Option::is_some).unwrap_or(0);
    let nodes = plan.terminals(scenario).iter().map(|terminal| terminal.node).max().unwrap_or(0);
    let most = DEVICES.saturating_sub(QueuePlan::all(scenario)?.len());
    if last >= SOCKETS / 2 || nodes >= most {
        let what = "a kernel in virtual time has at most";
        return Err(format!("{}: {what} {} flows and {most} nodes, which the scenario lists first", scenario.name, SOCKETS / 2));
    }
    Ok(plan)
}

/// Runs `scenario` on `kernel`: the chosen flows of TCP are connections of the kernel, all others are simulated. The seed of the scenario also moves the
/// start within a tick of the kernel. A control that the kernel does not have decides outside it.
///
/// # Errors
/// If the scenario cannot run on a kernel, the guest fails, or the run is to stop.
pub fn run(kernel: Kernel<'_>, scenario: &Scenario, options: Options<'_>, stop: &Stop) -> Result<Run, KernelError> {
    // What fails then, fails because of it.
    attempt(kernel, scenario, options, stop).map_err(|error| if stop.is_asked() { KernelError::Interrupted } else { error })
}

fn attempt(kernel: Kernel<'_>, scenario: &Scenario, options: Options<'_>, stop: &Stop) -> Result<Run, KernelError> {
    let plan = plan(scenario, options)?;
    let queues = QueuePlan::all(scenario)?;
    let mut controls = Controls::of(scenario, &plan)?;
    let flows = u32::try_from(plan.flows.iter().flatten().count()).unwrap_or(u32::MAX);
    let queued = if queues.is_empty() { 0 } else { MEMORY[2] };
    let memory_mb = (MEMORY[0] + queued).saturating_add(MEMORY[1].saturating_mul(flows)).min(MOST_MEMORY);
    // Without the right to choose a processor, the run only costs more.
    let _pinned = Pinned::new().ok();
    let heard = Heard::default();
    let limits = Limits { memory_mb, ..options.limits };
    let seed = scenario.seed ^ options.phase.unwrap_or_default();
    let mut guest = Guest::boot(kernel.folder, seed, limits, stop.clone(), heard.access(&queues))?;
    set_up(&mut guest, scenario, &plan, &controls)?;
    queues::set_up(&mut guest, &queues, &heard)?;
    let origin = start(kernel.hz, scenario.seed, options.phase, guest.now());
    guest.idle(origin)?;
    controls.start(origin);
    guest.controls = controls;
    let (confined, process) = (guest.is_confined(), guest.process());
    let places: Places = (0..plan.flows.len())
        .map(|flow| {
            let spec = &scenario.flows[flow];
            [(Side::Sender, spec.from), (Side::Receiver, spec.to)].map(|(side, node)| (node as u32, socket(flow, side)))
        })
        .collect();
    let host = Host::new(guest, origin, places, source, Queues::new(&queues));
    let terminals = plan.terminals(scenario);
    let mut nodes: Vec<usize> = terminals.iter().map(|terminal| terminal.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let names = nodes.iter().map(|node| scenario.nodes[*node].clone()).collect();
    let links = queues.iter().map(|queue| queue.link).collect();
    let outside = vec![Outside { nodes: names, queues: links, host: Box::new(host.clone()) }];
    let lockstep = Lockstep::between(scenario.clone(), options.captured, outside, &mut |index, spec, interfaces| {
        let flow = plan.flows[index].as_ref()?;
        let (host, name) = (host.clone(), spec.name.clone());
        let ends = GuestEnds { host, flow: index, name, nodes: [spec.from, spec.to], interfaces, read: [0; 2] };
        Some(Box::new(KernelConnection::new(flow, ends)) as FrameConnection)
    })?;
    let result = lockstep.run(&mut || stop.is_asked()).map_err(|error| match error {
        RunError::Interrupted => KernelError::Interrupted,
        other => KernelError::Refused(other.to_string()),
    })?;
    let cpu = Duration::from_secs_f64(processor_time(process).as_secs_f64());
    let phase = Duration::from_nanos(origin % tick(kernel.hz));
    Ok(Run { result, controls: plan.controls(), warnings: plan.warnings(scenario), phase, cpu, confined })
}

/// Sends `packets` over the links of `scenario`, whose queues are the kernel's where it says so. Returns the arrival of each packet.
///
/// # Errors
/// As [`run`].
pub fn replay(kernel: Kernel<'_>, scenario: Scenario, packets: &[Replayed], stop: &Stop) -> Result<Vec<Arrival>, KernelError> {
    let _pinned = Pinned::new().ok();
    let (queues, heard) = (QueuePlan::all(&scenario)?, Heard::default());
    let limits = Limits { memory_mb: MEMORY[0] + MEMORY[2], ..Limits::default() };
    let mut guest = Guest::boot(kernel.folder, scenario.seed, limits, stop.clone(), heard.access(&queues))?;
    queues::set_up(&mut guest, &queues, &heard)?;
    let origin = start(kernel.hz, scenario.seed, None, guest.now());
    guest.idle(origin)?;
    let host = Host::new(guest, origin, Places::new(), source, Queues::new(&queues));
    let links = queues.iter().map(|queue| queue.link).collect();
    let outside = vec![Outside { nodes: scenario.nodes.clone(), queues: links, host: Box::new(host) }];
    let (connections, arrivals) = replays(packets, scenario.flows.len());
    let mut connections = connections.into_iter();
    Lockstep::between(scenario, &[], outside, &mut |_, _, _| connections.next())?.run(&mut || stop.is_asked())?;
    Ok(arrivals.take())
}

/// The end of the flow whose address is the source of a packet.
fn source(frame: &[u8]) -> Option<(usize, Side)> {
    let bytes: &[u8; 4] = frame.get(12..16)?.try_into().ok()?;
    owner(Ipv4Addr::from(*bytes).into()).filter(|_| frame[0] >> 4 == 4)
}

/// Makes the nodes and the sockets of all flows.
fn set_up(guest: &mut Guest, scenario: &Scenario, plan: &Plan, controls: &Controls) -> Result<(), KernelError> {
    let mut commands = Commands::new(guest);
    commands.add(GLOBAL)?;
    if plan.hystart() == Some(false) {
        commands.add("module tcp_cubic hystart 0")?;
    }
    for (name, given) in plan.modules(scenario) {
        commands.ask(&format!("module {} {}", name.replace('.', " "), given.value), given)?;
    }
    let mut terminals = plan.terminals(scenario);
    terminals.sort_by_key(|terminal| terminal.node);
    for here in terminals.chunk_by(|one, other| one.node == other.node) {
        let node = here[0].node;
        let mtu = here.iter().map(|terminal| terminal.route.mtu).max().unwrap_or(1500);
        commands.add(&format!("node {node} {mtu}"))?;
        for (name, value) in PARAMETERS {
            commands.add(&format!("set {name} {value}"))?;
        }
        for (name, value) in plan.parameters(scenario, node).into_iter().flatten() {
            let command = format!("set {name} {value}");
            if is_old(name, value) {
                commands.attempt(&command)?;
            } else {
                commands.add(&command)?;
            }
        }
        for (name, given) in plan.sysctls(scenario, node) {
            commands.ask(&format!("set {} {}", name.strip_prefix("net.").unwrap_or(name).replace('.', "/"), given.value), given)?;
        }
        for terminal in here {
            commands.add(&route(terminal))?;
            if let Some(flow) = &plan.flows[terminal.flow] {
                commands.add(&make(terminal, flow, controls))?;
            }
        }
    }
    Ok(commands.finish()?)
}

/// The command that makes the route of an end.
fn route(terminal: &Terminal) -> String {
    let Terminal { flow, side, route, .. } = *terminal;
    let (own, peer) = (address(flow, side), address(flow, side.peer()));
    let [window, receive] = [route.initial_window, route.initial_receive_window].map(Option::unwrap_or_default);
    format!("route {own} {peer} {} {window} {receive} {}", route.mtu, u8::from(route.ecn))
}

/// The command that makes the socket of an end.
fn make(terminal: &Terminal, flow: &FlowPlan, controls: &Controls) -> String {
    let side = terminal.side;
    let opener = if flow.bulk.is_some() { Side::Sender } else { Side::Receiver };
    let control = match &flow.control {
        control if side == Side::Receiver => control.at_receiver(),
        KernelControl::Own(name) => name,
        KernelControl::CubicWithoutHystart => "cubic",
        // A guest offers no programs.
        KernelControl::Ebpf(_) => "none",
        KernelControl::Outside => controls.name(socket(terminal.flow, side)),
    };
    let clamp = flow.window.filter(|_| side == Side::Receiver).unwrap_or_default();
    let unsent = if flow.bulk.is_some_and(|bulk| bulk.stop.is_some()) { UNSENT } else { 0 };
    let mut text = format!("socket {} {} {PORT} {control}", socket(terminal.flow, side), address(terminal.flow, side));
    let flags = [u8::from(side != opener), u8::from(flow.no_delay)];
    let _ = write!(text, " {} {} {clamp} {unsent} {}", flags[0], flags[1], u8::from(flow.paced));
    text
}
