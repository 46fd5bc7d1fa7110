//! Expands the tables of flows: `count`, `arrivals`, and applications with several connections.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use ackclock_core::rng::Generator;
use ackclock_core::units::Instant;
use serde_json::{Map, Value as Json};

use crate::net::route::Ends;
use crate::scenario::app_keys;
use crate::scenario::application::{ApplicationKind, ApplicationSpec, ClientSpec, Traffic};
use crate::scenario::arrivals::{self, Arrival, Site};
use crate::scenario::check::Record;
use crate::scenario::error::Problems;
use crate::scenario::flow_keys::{control, host, initial_ssthresh};
use crate::scenario::kernel;
use crate::scenario::keys::MAX_FLOWS;
use crate::scenario::memory;
use crate::scenario::model::FlowSpec;
use crate::scenario::text::quoted;
use crate::scenario::topology::{self, Network};
use crate::scenario::unit::{Measure, Quantity};

/// The expanded tables of flows.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// Every flow with the index of its table.
    pub(super) flows: Vec<(usize, FlowSpec)>,
    /// The applications that drive flows.
    pub(super) applications: Vec<ApplicationSpec>,
    /// The tables with `arrivals`, in the order of their flows.
    pub(super) drawn: Vec<Drawn>,
}

/// A table with `arrivals`, as it was written.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Index of the table.
    pub(crate) table: usize,
    /// Its flows, perhaps none.
    pub(crate) flows: Range<usize>,
    /// A flow without size that starts when the arrivals begin; the name is that of the table, perhaps empty.
    pub(crate) like: FlowSpec,
    /// The key `arrivals`, without `pairs`.
    pub(crate) arrivals: Map<String, Json>,
    /// Sender and receiver of the flows in turn.
    pub(crate) pairs: Vec<Ends>,
}

/// One of the flows that a table stands for.
struct Member {
    name: String,
    from: usize,
    to: usize,
    start: Instant,
    packets: Option<u64>,
}

/// Expands `tables` of the file `file`. `seed` is the run's, `end` its end in nanoseconds; `folder` is that of files, if there may be any.
pub(super) fn expand(
    tables: &[&Record],
    network: &Network,
    (seed, end): (u64, u64),
    (file, folder): (&str, Option<&Path>),
    problems: &mut Problems,
) -> Expanded {
    let indices: BTreeMap<&str, usize> = network.nodes.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let mut names = BTreeSet::new();
    let mut expanded = Expanded::default();
    let mut pairs = 0;
    for (index, table) in tables.iter().enumerate() {
        let [from, to] = ["from", "to"].map(|end| topology::find(&indices, (table, end), "node", problems));
        let count = table.integer("count").unwrap_or(1);
        let like = prototype(table, file);
        let application = table.table("application");
        let application = application.and_then(|keys| app_keys::read(keys, like.host.packet_size(), folder, problems));
        let listed = table.table("arrivals").map(|arrivals| arrivals::nodes(arrivals, &indices, problems)).unwrap_or_default();
        let ends = |number: u64| {
            if !listed.is_empty() {
                return listed[number as usize % listed.len()];
            }
            let usual = network.pairs.get((pairs + number % count) as usize % network.pairs.len().max(1)).copied().unwrap_or_default();
            (from.unwrap_or(usual.0), to.unwrap_or(usual.1))
        };
        let room = MAX_FLOWS.saturating_sub(expanded.flows.len() as u64);
        let arrivals: Option<Vec<Arrival>> = table.table("arrivals").map(|keys| {
            let site = Site { network, ends: ends(0), like: &like, end, seed, room };
            arrivals::expand(table, keys, site, problems).unwrap_or_default()
        });
        let each = application.as_ref().map_or(1, connections);
        if each.saturating_mul(count) > room {
            let what = format!("makes {} connections; a scenario can have at most {MAX_FLOWS} flows", each.saturating_mul(count));
            problems.add(&table.field("application").origin, table.key("application"), what);
            continue;
        }
        if let Some(lack) = memory::lacking(each.saturating_mul(count) * like.host.memory()) {
            let what = format!("with {} connections {lack}", each.saturating_mul(count));
            problems.add(&table.field("application").origin, table.key("application"), what);
            continue;
        }
        let first = expanded.flows.len();
        let mut twice = false;
        for number in 0..arrivals.as_ref().map_or(count, |arrivals| arrivals.len() as u64) {
            let arrival = arrivals.as_ref().map(|arrivals| arrivals[number as usize]);
            let name = match table.text("name") {
                Some(name) if table.field("count").given || arrival.is_some() => format!("{name}{number}"),
                Some(name) => name.to_owned(),
                None => format!("flow{}", expanded.flows.len()),
            };
            let start = arrival.map_or_else(|| start(table, (number, count), (seed, &name)), |arrival| arrival.start);
            let packets = arrival.map_or(like.packets, |arrival| Some(arrival.packets));
            let (from, to) = ends(number);
            let first = expanded.flows.len();
            let member = Member { name: name.clone(), from, to, start, packets };
            expanded.add((index, &like), member, application.as_ref().map(|kind| (kind, each)));
            // The application's own name must be unique too, even if its connections have other names: tables show it.
            let made = expanded.flows[first..].iter().map(|(_, flow)| &flow.name);
            for taken in made.filter(|made| **made != name).chain([&name]) {
                if !names.insert(taken.clone()) && !std::mem::replace(&mut twice, true) {
                    let what = format!("there is already a flow {}", quoted(taken));
                    problems.add(&table.field("name").origin, table.key("name"), what);
                }
            }
        }
        if let Some(keys) = table.table("arrivals") {
            // The ends repeat after the listed pairs, or after the smaller number of the topology's pairs and `count`.
            let period = if listed.is_empty() && from.zip(to).is_none() { count } else { listed.len().max(1) as u64 };
            let period = if network.pairs.len() < 2 && listed.is_empty() { 1 } else { period };
            let arrivals = arrivals::write(table, keys, like.host.packet_size().0.max(1));
            let start = Instant::from_nanos(table.whole("start").unwrap_or(0));
            let like = FlowSpec { name: table.text("name").unwrap_or_default().to_owned(), start, packets: None, ..like };
            let flows = first..expanded.flows.len();
            expanded.drawn.push(Drawn { table: index, flows, like, arrivals, pairs: (0..period).map(ends).collect() });
        }
        pairs += count;
    }
    expanded
}

impl Expanded {
    /// Adds a flow of the table `index`, or the flows of its application.
    fn add(&mut self, (index, like): (usize, &FlowSpec), member: Member, application: Option<(&ApplicationKind, u64)>) {
        let Member { name, from, to, start, packets } = member;
        let flow = FlowSpec { name, from, to, start, packets, ..like.clone() };
        let Some((kind, connections)) = application else {
            self.flows.push((index, flow));
            return;
        };
        let number = self.applications.len();
        let traffic = match kind {
            ApplicationKind::OnOff(_) | ApplicationKind::Frames(_) => Traffic::Bursts(number),
            ApplicationKind::Client(_) | ApplicationKind::Player(_) => Traffic::Connection(number),
            ApplicationKind::Datagrams(_) => Traffic::Datagrams(number),
        };
        let flow = FlowSpec { traffic, stop: None, ..flow };
        let first = self.flows.len();
        let several = matches!(kind, ApplicationKind::Client(ClientSpec { persistent, .. }) if !persistent || connections > 1);
        for connection in 0..connections {
            let name = if several { format!("{}.{connection}", flow.name) } else { flow.name.clone() };
            self.flows.push((index, FlowSpec { name, ..flow.clone() }));
        }
        let flows = first..self.flows.len();
        self.applications.push(ApplicationSpec { name: flow.name, start, stop: like.stop, flows, kind: kind.clone() });
    }
}

/// Number of flows that an application needs.
fn connections(kind: &ApplicationKind) -> u64 {
    if let ApplicationKind::Client(client) = kind { client.most_connections().unwrap_or(1) } else { 1 }
}

fn start(table: &Record, (number, count): (u64, u64), (seed, name): (u64, &str)) -> Instant {
    let nanos = |key| table.whole(key).unwrap_or(0);
    let spread = u128::from(nanos("start_spread")) * u128::from(number) / u128::from(count.max(1));
    let jitter = match nanos("start_jitter") {
        0 => 0,
        jitter => (Generator::derived(seed, &format!("flow/{name}/start")).uniform() * jitter as f64) as u64,
    };
    // Nanoseconds are added before the conversion to seconds, so that a start is the double nearest to its decimal.
    Instant::from_nanos(nanos("start").saturating_add(spread as u64).saturating_add(jitter))
}

/// The flow of `table`, in the file `file`, without name, nodes and start.
fn prototype(table: &Record, file: &str) -> FlowSpec {
    let host = host(table);
    let packets = table.quantity("size").map(|size| match size {
        Quantity::Whole(Measure::Bytes, bytes) => bytes.div_ceil(host.packet_size().0.max(1)),
        Quantity::Whole(_, packets) => packets,
        Quantity::Real(..) | Quantity::Word(_) => 0,
    });
    FlowSpec {
        name: String::new(),
        from: 0,
        to: 0,
        start: Instant::ZERO,
        stop: table.whole("stop").map(Instant::from_nanos),
        packets,
        traffic: Traffic::Bulk,
        host,
        control: control(table),
        initial_ssthresh: initial_ssthresh(table),
        kernel: kernel::read(table, file),
    }
}
