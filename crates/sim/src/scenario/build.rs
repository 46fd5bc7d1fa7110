//! From checked tables to the typed scenario: expands `count`, finds routes, and checks what concerns several keys at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ackclock_core::units::{Bytes, Duration};

use crate::net::packet::HEADER;
use crate::net::route::{Ends, shortest_routes};
use crate::scenario::app_keys::check_application;
use crate::scenario::arrivals;
use crate::scenario::check::{Checked, Field, Record, check};
use crate::scenario::error::{Problems, quoted};
use crate::scenario::flows::{self, Expanded};
use crate::scenario::memory;
use crate::scenario::model::{
    ComposedSpec, FlowSpec, ModernHost, ModernRecovery, Ns2Host, Pacing, PartSpec, ReceiveBuffer, Recovery, RtoBounds, Scenario, TraceKind,
};
use crate::scenario::part::Axis;
use crate::scenario::route;
use crate::scenario::spec::{CONTROL_AXES, MAX_FLOWS, NS2_KEYS, ROOT};
use crate::scenario::topology::{self, Network, part};
use crate::scenario::unit::Quantity;
use crate::scenario::value::Node;

/// Largest data in a packet of a `modern` host, in bytes.
const MODERN_PACKET: u64 = 65_443;

/// A scenario and which of its flows leave their congestion control to Python.
#[derive(Debug)]
pub(crate) struct Built {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// For each flow whose congestion control is made in Python, the index of its `[[flow]]`.
    pub(crate) python: Vec<Option<usize>>,
}

/// What is fixed about a document besides its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The scenario's name if it gives itself none.
    pub(crate) name: &'a str,
    /// Whether it comes from the Python API.
    pub(crate) python: bool,
    /// Where the files lie that it names.
    pub(crate) folder: &'a Path,
}

/// Builds the scenario; it is worth something only if there are no problems.
pub(crate) fn build(root: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Built> {
    let root = check(root, ROOT, problems);
    let flows: Vec<&Record> = root.tables("flow").collect();
    for flow in &flows {
        check_flow(flow, context, problems);
    }
    let count = flows.iter().map(|flow| flow.integer("count").unwrap_or(1)).fold(0, u64::saturating_add);
    if count > MAX_FLOWS {
        problems.add(&root.field("flow").origin, "flow", format!("makes {count} flows; at most {MAX_FLOWS} are possible"));
        return None;
    }
    // A topology that is wrong would make every flow's nodes wrong.
    if problems.concern("topology") {
        return None;
    }
    let bytes = flows.iter().map(|flow| flow.integer("count").unwrap_or(1) * memory::flow(is_modern(flow))).sum();
    let mut network = topology::expand(root.table("topology")?, (count, bytes), problems)?;
    if problems.concern("topology") {
        return None;
    }
    let seed = root.integer("seed").unwrap_or(1);
    let end = time(&root, "duration").as_nanos();
    let Expanded { flows: expanded, applications } = flows::expand(&flows, &network, (seed, end, context.folder), problems);
    resolve_routes(&mut network, &flows, &expanded, problems);
    let scenario = Scenario {
        name: root.text("name").unwrap_or(context.name).to_owned(),
        duration: time(&root, "duration"),
        seed,
        nodes: network.nodes,
        links: network.links.into_iter().map(|pipe| pipe.spec).collect(),
        flows: expanded.iter().map(|(_, flow)| flow.clone()).collect(),
        applications,
        record: traces(&root),
    };
    let python = expanded.iter().map(|&(index, _)| flows[index].field("congestion_control").given.then_some(index)).collect();
    Some(Built { scenario, python })
}

/// The traces to record, each once.
fn traces(root: &Record) -> Vec<TraceKind> {
    let named = |item: &Field| match &item.value {
        Checked::Text(name) => TraceKind::ALL.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind),
        _ => None,
    };
    let kinds: BTreeSet<TraceKind> = root.list("record").iter().filter_map(named).collect();
    kinds.into_iter().collect()
}

/// Checks what concerns several keys of one flow.
fn check_flow(flow: &Record, context: Context<'_>, problems: &mut Problems) {
    let mut refuse = |name: &str, message: String| problems.add(&flow.field(name).origin, flow.key(name), message);
    let last_start = ["start", "start_spread", "start_jitter"].iter().filter_map(|key| flow.whole(key)).fold(0, u64::saturating_add);
    if flow.whole("stop").is_some_and(|stop| stop <= last_start) {
        refuse("stop", "must be later than start, start_spread and start_jitter together".to_owned());
    }
    if flow.whole("clock_phase") >= flow.whole("clock_granularity") {
        refuse("clock_phase", "must be below clock_granularity".to_owned());
    }
    if flow.whole("min_rto") > flow.whole("max_rto") {
        refuse("min_rto", "must not be above max_rto".to_owned());
    }
    if flow.text("from").is_some() && flow.text("from") == flow.text("to") {
        refuse("to", "must differ from from: a flow goes from one node to another".to_owned());
    }
    check_profile(flow, &mut refuse);
    if let Some(application) = flow.table("application") {
        check_application(flow, application, problems);
    }
    if let Some(arrivals) = flow.table("arrivals") {
        arrivals::check_arrivals(flow, arrivals, problems);
    }
    let mut refuse = |name: &str, message: String| problems.add(&flow.field(name).origin, flow.key(name), message);
    if flow.field("congestion_control").given {
        if !context.python {
            let parts = CONTROL_AXES.join(", ");
            refuse("congestion_control", format!("only the Python API can set this; a file composes it of {parts}"));
        }
        for axis in CONTROL_AXES.into_iter().filter(|axis| flow.field(axis).given) {
            refuse(axis, "cannot stand beside congestion_control, which replaces it".to_owned());
        }
    }
}

/// Checks that a flow has settings of its own profile only.
fn check_profile(flow: &Record, refuse: &mut impl FnMut(&str, String)) {
    if !is_modern(flow) {
        if flow.field("host").given {
            refuse("host", "is for profile = \"modern\", which is the profile if none is given".to_owned());
        } else if flow.field("modern").given {
            refuse("modern", "is for profile = \"modern\"".to_owned());
        }
        return;
    }
    for key in NS2_KEYS.into_iter().filter(|key| flow.field(key).given) {
        refuse(key, "is for profile = \"ns2\"; the settings of a modern host are in [flow.modern]".to_owned());
    }
    if flow.field("initial_ssthresh").given && matches!(flow.quantity("initial_ssthresh"), Some(Quantity::Word("rwnd"))) {
        refuse("initial_ssthresh", "must be a number of segments or \"unlimited\": a modern host's window is in bytes".to_owned());
    }
    if flow.whole("packet_size").is_some_and(|bytes| bytes > MODERN_PACKET) {
        refuse("packet_size", format!("must be at most {MODERN_PACKET} B: a modern host's headers have up to 92 bytes"));
    }
    if let Some(modern) = flow.table("modern")
        && modern.whole("min_rto") > modern.whole("max_rto")
    {
        refuse("modern", "min_rto must not be above max_rto".to_owned());
    }
}

pub(super) fn host(table: &Record) -> Ns2Host {
    let rwnd = table.whole("rwnd").and_then(|packets| u32::try_from(packets).ok()).unwrap_or(u32::MAX);
    let recovery = table.text("recovery").unwrap_or_default();
    Ns2Host {
        recovery: RECOVERIES.iter().find(|(name, _)| *name == recovery).map_or(Recovery::Sack, |(_, recovery)| *recovery),
        packet_size: Bytes(table.whole("packet_size").unwrap_or(1)),
        header: Bytes(table.whole("header").unwrap_or(u64::from(HEADER))),
        rwnd,
        initial_ssthresh: match table.quantity("initial_ssthresh") {
            Some(Quantity::Real(_, segments)) => segments,
            Some(Quantity::Word("unlimited")) => f64::INFINITY,
            _ if is_modern(table) => f64::INFINITY,
            _ => f64::from(rwnd),
        },
        delayed_ack: table.flag("delayed_ack"),
        delayed_ack_timeout: time(table, "delayed_ack_timeout"),
        ecn: table.flag("ecn"),
        limited_transmit: table.flag("limited_transmit"),
        initial_pacing: table.text("initial_pacing") == Some("rtt"),
        clock_granularity: time(table, "clock_granularity"),
        clock_phase: time(table, "clock_phase"),
        min_rto: time(table, "min_rto"),
        initial_rto: time(table, "initial_rto"),
        max_rto: time(table, "max_rto"),
    }
}

pub(super) fn is_modern(table: &Record) -> bool {
    table.text("profile") == Some("modern")
}

/// The `modern` host of `[flow.modern]`.
pub(super) fn modern(table: &Record, shared: &Ns2Host) -> ModernHost {
    let bytes = |key| table.whole(key).unwrap_or(1);
    let (initial, max) = (bytes("receive_buffer"), bytes("receive_buffer_max"));
    let recovery = table.text("recovery").unwrap_or_default();
    let timestamps = table.flag("timestamps");
    let windowed = table.text("pacing") == Some("window");
    ModernHost {
        // The announced size counts the timestamps, so that a full segment has `packet_size` bytes of data.
        mss: (shared.packet_size.0 + if timestamps { 12 } else { 0 }) as u16,
        recovery: MODERN_RECOVERIES.iter().find(|(name, _)| *name == recovery).map_or(ModernRecovery::Rack, |(_, recovery)| *recovery),
        timestamps,
        window_scaling: table.flag("window_scaling"),
        ecn: shared.ecn,
        buffer: if max > initial { ReceiveBuffer::Autotuned { initial, max } } else { ReceiveBuffer::Fixed(initial) },
        delayed_ack: time(table, "delayed_ack"),
        quick_acks: table.integer("quick_acks").unwrap_or(0) as u32,
        limited_transmit: table.flag("limited_transmit"),
        prr: table.flag("prr"),
        tlp: table.flag("tlp"),
        frto: table.flag("frto"),
        undo: table.flag("undo"),
        idle_restart: table.flag("idle_restart"),
        abc_limit: table.integer("abc_limit").unwrap_or(1) as f64,
        // Linux's ratios.
        pacing: if windowed { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control },
        initial_pacing: shared.initial_pacing,
        rto: RtoBounds {
            initial: time(table, "initial_rto"),
            min: time(table, "min_rto"),
            max: time(table, "max_rto"),
            margin: time(table, "rto_margin"),
        },
        ..ModernHost::default()
    }
}

/// Recoveries of `modern` hosts with their names in a scenario.
pub(crate) const MODERN_RECOVERIES: [(&str, ModernRecovery); 3] =
    [("rack", ModernRecovery::Rack), ("sack", ModernRecovery::Sack), ("newreno", ModernRecovery::NewReno)];

/// Recoveries with their names in a scenario.
pub(crate) const RECOVERIES: [(&str, Recovery); 5] = [
    ("tahoe", Recovery::Tahoe),
    ("reno", Recovery::Reno),
    ("newreno", Recovery::NewReno),
    ("sack", Recovery::Sack),
    ("vegas", Recovery::Vegas),
];

pub(super) fn control(table: &Record) -> ComposedSpec {
    let chosen = |axis| table.part(axis).map(part);
    let usual =
        |axis| Axis::find(axis).map_or_else(|| PartSpec { name: "", params: ackclock_core::params::Params(Vec::new()) }, Axis::usual_part);
    let some = |axis| chosen(axis).unwrap_or_else(|| usual(axis));
    ComposedSpec {
        initial_window: if is_modern(table) && !table.field("initial_window").given {
            PartSpec { name: "rfc6928", params: ackclock_core::params::Params(Vec::new()) }
        } else {
            some("initial_window")
        },
        slow_start: some("slow_start"),
        avoidance: some("avoidance"),
        loss_response: chosen("loss_response"),
    }
}

pub(super) fn time(table: &Record, name: &str) -> Duration {
    Duration::from_nanos(table.whole(name).unwrap_or(0))
}

/// Checks that every flow has routes, and turns limits of 1 BDP into packets.
fn resolve_routes(network: &mut Network, tables: &[&Record], flows: &[(usize, FlowSpec)], problems: &mut Problems) {
    let mut packets: BTreeMap<Ends, u64> = BTreeMap::new();
    for (_, flow) in flows {
        let packet = packets.entry((flow.from, flow.to)).or_default();
        *packet = (*packet).max(flow.wire_size().0);
    }
    let links: Vec<Ends> = network.links.iter().map(|pipe| (pipe.spec.from, pipe.spec.to)).collect();
    let routes = shortest_routes(network.nodes.len(), &links, packets.keys().copied());
    let mut reported = BTreeSet::new();
    for (index, flow) in flows {
        let table = tables[*index];
        if flow.from == flow.to {
            if table.text("from") != table.text("to") && reported.insert(index) {
                problems.add(&table.origin, table.path.clone(), format!("goes from {} to itself", quoted(&network.nodes[flow.from])));
            }
            continue;
        }
        let lost = [(flow.from, flow.to), (flow.to, flow.from)].into_iter().find(|ends| routes.get(ends).is_none_or(Option::is_none));
        if let Some((from, to)) = lost
            && reported.insert(index)
        {
            let [from, to] = [from, to].map(|node| quoted(&network.nodes[node]));
            let what = "data goes one way and ACKs the other";
            problems.add(&table.origin, table.path.clone(), format!("there is no route from {from} to {to}: {what}"));
        }
    }
    route::resolve_bdp(network, &routes, &packets);
}
