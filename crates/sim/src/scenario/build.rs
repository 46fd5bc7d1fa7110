//! From checked tables to the typed scenario: expands `count`, finds routes, and checks constraints between keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ackclock_core::cc::whole::{PYTHON, PYTHON_SLOW_START};
use ackclock_core::limits;
use ackclock_core::units::NANOS_PER_SEC;

use crate::net::route::{Ends, shortest_routes};
use crate::scenario::app_keys::check_application;
use crate::scenario::arrivals;
use crate::scenario::check::{Checked, Field, Record, check};
use crate::scenario::error::{Origin, Problems};
use crate::scenario::flow_keys::{feedback, host, is_modern, other_host, profile_name};
use crate::scenario::flows::{self, Drawn, Expanded};
use crate::scenario::kernel;
use crate::scenario::keys::MAX_FLOWS;
use crate::scenario::memory;
use crate::scenario::model::{FlowSpec, Scenario, TraceKind};
use crate::scenario::part::CONTROL_AXES;
use crate::scenario::route;
use crate::scenario::spec::{ROOT, keys_of};
use crate::scenario::text::quoted;
use crate::scenario::topology::{self, Network, part};
use crate::scenario::unit::Quantity;
use crate::scenario::value::{Data, Node};
use ackclock_host::{Host, PacketSizes};
use ackclock_tcp::modern::Feedback;

/// Latest start of a flow, in nanoseconds: the bound of the key, so that a frozen scenario can be read.
const MAX_START: u64 = 1_000_000_000 * NANOS_PER_SEC;
/// Largest data in a packet of a `modern` host, in bytes.
const MODERN_PACKET: u64 = 65_443;

/// A scenario, and the parts of its flows that Python makes.
#[derive(Debug)]
pub(crate) struct Built {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// For each flow with a part made in Python: the index of its `[[flow]]`, and the part.
    pub(crate) python: Vec<Option<(usize, Python)>>,
    /// The tables with random arrivals, and the parts of their flows that Python makes.
    pub(crate) drawn: Vec<(Drawn, Option<Python>)>,
}

/// A part made in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Python {
    /// The whole congestion control.
    Control,
    /// The slow start.
    SlowStart,
}

impl Python {
    /// The part of the flow `table` that Python makes.
    fn of(table: &Record) -> Option<Self> {
        match table.text("congestion_control") {
            Some(PYTHON) => Some(Self::Control),
            Some(PYTHON_SLOW_START) => Some(Self::SlowStart),
            _ => None,
        }
    }

    /// Its word in a scenario.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Control => PYTHON,
            Self::SlowStart => PYTHON_SLOW_START,
        }
    }

    /// The axes that it replaces.
    fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Control => &CONTROL_AXES,
            Self::SlowStart => &["slow_start"],
        }
    }
}

/// Properties of a document other than its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// Name of a scenario that does not set one.
    pub(crate) name: &'a str,
    /// Name of its file.
    pub(crate) file: &'a str,
    /// Whether the document comes from the Python API.
    pub(crate) python: bool,
    /// Folder of the files that the document names; `None`: it must not name files.
    pub(crate) folder: Option<&'a Path>,
}

/// How to write many flows.
const REMEDY: &str = "write equal flows as one, with count";

/// Adds a problem if a file has too many tables of flows; returns whether it does.
pub(crate) fn has_too_many_tables(tables: u64, problems: &mut Problems) -> bool {
    let most = limits::FLOW_TABLES.most;
    if tables > most {
        problems.add(&Origin::Nowhere, "flow", format!("has {tables} tables; the limit is {most}: {REMEDY}"));
    }
    tables > most
}

/// Builds the scenario. The result is valid only if there are no problems.
pub(crate) fn build(root: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Built> {
    let tables = root.get("flow").map_or(0, |flows| if let Data::List(tables) = &flows.data { tables.len() as u64 } else { 1 });
    if has_too_many_tables(tables, problems) {
        return None;
    }
    if let Some(lack) = memory::lacking(tables * memory::TABLE) {
        problems.add(&Origin::Nowhere, "flow", format!("with {tables} tables {lack}: {REMEDY}"));
        return None;
    }
    let mut root = check(root, ROOT, context.folder, problems);
    if problems.too_many() {
        return None;
    }
    // From here on, every start is the sum.
    root.postpone("flow", "start", root.whole("start_offset").unwrap_or(0));
    let flows: Vec<&Record> = root.tables("flow").collect();
    for flow in &flows {
        check_flow(flow, context, problems);
    }
    kernel::check_shared(&flows, problems);
    let count = flows.iter().map(|flow| flow.integer("count").unwrap_or(1)).fold(0, u64::saturating_add);
    if count > MAX_FLOWS {
        problems.add(&root.field("flow").origin, "flow", format!("makes {count} flows; the limit is {MAX_FLOWS}"));
        return None;
    }
    // With a wrong topology, the nodes of every flow would be reported too.
    if problems.concerns("topology") {
        return None;
    }
    let bytes = flows.iter().map(|flow| flow.integer("count").unwrap_or(1) * host(flow).memory()).sum();
    let mut network = topology::expand(root.table("topology")?, (count, bytes), problems)?;
    if problems.concerns("topology") {
        return None;
    }
    let seed = root.integer("seed").unwrap_or(1);
    let end = root.time("duration").as_nanos();
    let Expanded { flows: expanded, applications, drawn } =
        flows::expand(&flows, &network, (seed, end), (context.file, context.folder), problems);
    resolve_routes(&mut network, &flows, &expanded, problems);
    let python: Vec<_> = expanded.iter().map(|&(index, _)| Some((index, Python::of(flows[index])?))).collect();
    let scenario = Scenario {
        name: root.text("name").unwrap_or(context.name).to_owned(),
        duration: root.time("duration"),
        seed,
        nodes: network.nodes,
        links: network.links.into_iter().map(|pipe| pipe.spec).collect(),
        flows: expanded.iter().map(|(_, flow)| flow.clone()).collect(),
        applications,
        record: traces(&root),
        placeholder: python.iter().any(Option::is_some),
    };
    let drawn = drawn.into_iter().map(|drawn| {
        let python = Python::of(flows[drawn.table]);
        (drawn, python)
    });
    Some(Built { scenario, python, drawn: drawn.collect() })
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

/// Checks constraints between the keys of one flow.
pub(crate) fn check_flow(flow: &Record, context: Context<'_>, problems: &mut Problems) {
    let mut refuse = |name: &str, message: String| problems.add(&flow.field(name).origin, flow.key(name), message);
    let last_start = ["start", "start_spread", "start_jitter"].iter().filter_map(|key| flow.whole(key)).fold(0, u64::saturating_add);
    if flow.whole("stop").is_some_and(|stop| stop <= last_start) {
        refuse("stop", "must be later than the sum of start, start_spread, start_jitter and start_offset".to_owned());
    }
    if last_start > MAX_START {
        refuse("start", "with start_spread, start_jitter and start_offset, must be at most 1e9 s".to_owned());
    }
    if flow.whole("clock_phase") >= flow.whole("clock_granularity") {
        refuse("clock_phase", "must be below clock_granularity".to_owned());
    }
    if flow.whole("min_rto") > flow.whole("max_rto") {
        refuse("min_rto", "must not be above max_rto".to_owned());
    }
    if flow.text("from").is_some() && flow.text("from") == flow.text("to") {
        refuse("to", "must not be the node of from: a flow connects two nodes".to_owned());
    }
    check_profile(flow, &mut refuse);
    kernel::check(flow, problems);
    if let Some(application) = flow.table("application") {
        check_application(flow, application, problems);
    }
    if let Some(arrivals) = flow.table("arrivals") {
        arrivals::check_arrivals(flow, arrivals, problems);
    }
    let mut refuse = |name: &str, message: String| problems.add(&flow.field(name).origin, flow.key(name), message);
    let whole = flow.part("congestion_control").is_some();
    let python = Python::of(flow);
    if python.is_some() && !context.python {
        let parts = CONTROL_AXES.join(", ");
        refuse(
            "congestion_control",
            format!("only the Python API can set this value; in a file, name a control or set its parts: {parts}"),
        );
    }
    let replaced = if whole { &CONTROL_AXES[..] } else { python.map_or(&[][..], Python::axes) };
    for axis in replaced.iter().filter(|axis| flow.field(axis).given) {
        refuse(axis, "cannot be combined with congestion_control, which replaces it".to_owned());
    }
}

/// Checks that a flow sets only keys of its own profile.
fn check_profile(flow: &Record, refuse: &mut impl FnMut(&str, String)) {
    if !is_modern(flow) {
        if flow.field("host").given {
            refuse("host", "requires profile = \"modern\", which is the default with host".to_owned());
        } else if flow.field("modern").given {
            refuse("modern", "requires profile = \"modern\"".to_owned());
        }
        let profile = profile_name(flow);
        if let Some(feedback) = feedback(flow).filter(|feedback| *feedback != Feedback::Classic) {
            let name = feedback.name();
            refuse("ecn", format!("{name} requires profile = \"modern\"; {profile} hosts have classic feedback only: ecn = true"));
        }
        for key in keys_of("ns2").filter(|key| profile != "ns2" && flow.field(key).given) {
            refuse(key, format!("requires profile = \"ns2\", but the profile is {profile}"));
        }
        if let Some(host) = flow.part("profile").and_then(|choice| other_host(&part(choice))) {
            check_other(flow, profile, &*host, refuse);
        }
        return;
    }
    for key in keys_of("ns2").filter(|key| flow.field(key).given) {
        refuse(key, "requires profile = \"ns2\"; a modern host has its settings in [flow.modern]".to_owned());
    }
    if flow.field("initial_ssthresh").given && matches!(flow.quantity("initial_ssthresh"), Some(Quantity::Word("rwnd"))) {
        refuse("initial_ssthresh", "must be a number of segments or \"unlimited\": a modern host's window is in bytes".to_owned());
    }
    if flow.whole("packet_size").is_some_and(|bytes| bytes > MODERN_PACKET) {
        refuse("packet_size", format!("must be at most {MODERN_PACKET} B: a modern host's headers take up to 92 bytes"));
    }
    if let Some(modern) = flow.table("modern")
        && modern.whole("min_rto") > modern.whole("max_rto")
    {
        refuse("modern", "min_rto must not be above max_rto".to_owned());
    }
}

/// Checks what hosts of a profile whose packets are bytes say of sizes and controls.
fn check_other(flow: &Record, profile: &str, host: &dyn Host, refuse: &mut impl FnMut(&str, String)) {
    let PacketSizes { least, most, .. } = host.packet_sizes();
    if let Some(bytes) = flow.whole("packet_size").filter(|_| flow.field("packet_size").given)
        && !(least.0..=most.0).contains(&bytes)
    {
        refuse("packet_size", format!("must be {} to {} B with profile {profile}", least.0, most.0));
    }
    if flow.text("initial_pacing") == Some("rtt") && !host.capabilities().initial_pacing {
        refuse("initial_pacing", format!("hosts of profile {profile} pace the initial window like any other"));
    }
    if let Some(name) = host.own_control() {
        for key in CONTROL_AXES.iter().chain(&["congestion_control"]).filter(|key| flow.field(key).given) {
            refuse(
                key,
                format!(
                    "cannot be combined with this profile {profile}, whose hosts have a congestion control of their own, {name}; profile.control chooses it"
                ),
            );
        }
    }
}

/// Checks that every flow has routes, and converts limits in BDP to packets.
fn resolve_routes(network: &mut Network, tables: &[&Record], flows: &[(usize, FlowSpec)], problems: &mut Problems) {
    let mut packets: BTreeMap<Ends, u64> = BTreeMap::new();
    for (_, flow) in flows {
        let packet = packets.entry((flow.from, flow.to)).or_default();
        *packet = (*packet).max(flow.host.wire_size().0);
    }
    let links: Vec<Ends> = network.links.iter().map(|pipe| (pipe.spec.from, pipe.spec.to)).collect();
    let routes = shortest_routes(network.nodes.len(), &links, packets.keys().copied());
    let mut reported = BTreeSet::new();
    for (index, flow) in flows {
        let table = tables[*index];
        if flow.from == flow.to {
            if table.text("from") != table.text("to") && reported.insert(index) {
                problems.add(
                    &table.origin,
                    table.path.clone(),
                    format!("starts and ends at {}: a flow connects two nodes", quoted(&network.nodes[flow.from])),
                );
            }
            continue;
        }
        let lost = [(flow.from, flow.to), (flow.to, flow.from)].into_iter().find(|ends| routes.get(ends).is_none_or(Option::is_none));
        if let Some((from, to)) = lost
            && reported.insert(index)
        {
            let [from, to] = [from, to].map(|node| quoted(&network.nodes[node]));
            let what = "a flow needs a route for data and one for ACKs";
            problems.add(&table.origin, table.path.clone(), format!("there is no route from {from} to {to}: {what}"));
        }
    }
    route::resolve_bdp(network, &routes, &packets);
}
