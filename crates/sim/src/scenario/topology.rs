//! Topologies: expands the shorthands to nodes and links.

use std::collections::BTreeMap;

use ackclock_core::path::{delay, rate};
use ackclock_core::units::{Duration, Rate};

use crate::scenario::check::{Checked, Choice, Record};
use crate::scenario::error::{Origin, Problems};
use crate::scenario::keys::MAX_LINKS;
use crate::scenario::memory;
use crate::scenario::model::{GeneratorSpec, LinkSpec, LossPosition, LossSpec, MediumSpec, Model, PartSpec, QueueSpec, Variable};
use crate::scenario::parameter::Multiple;
use crate::scenario::spec::LISTED_BY_LINKS;
use crate::scenario::text::quoted;

/// The rate and the delay that the engine computes without a model.
const CONSTANT: &str = "constant";

/// One direction of a link. Its queue limit can still be a multiple of the bandwidth-delay product.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    /// The link.
    pub(crate) spec: LinkSpec,
    /// Parameters of its queue that are such multiples.
    pub(crate) bdp: Vec<Multiple>,
}

/// Nodes, links, and the default ends of flows.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// Names of the nodes.
    pub(crate) nodes: Vec<String>,
    /// Links.
    pub(crate) links: Vec<Pipe>,
    /// Sender and receiver of flow i: entry i modulo their number.
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// Expands `topology` for `flows` flows, which need `bytes` of memory. `None` if it is not valid; the problems are reported.
pub(crate) fn expand(topology: &Record, (flows, bytes): (u64, u64), problems: &mut Problems) -> Option<Network> {
    let pairs = || topology.integer("pairs").unwrap_or(flows);
    let links = match topology.kind {
        "dumbbell" => 4 * pairs() + 2,
        "parking-lot" => 6 * topology.integer("hops").unwrap_or(1) + 4,
        _ => 0,
    };
    if links > MAX_LINKS {
        problems.add(&topology.origin, "topology", format!("has {links} links; the limit is {MAX_LINKS}"));
        return None;
    }
    if let Some(lack) = memory::lacking(bytes.saturating_add(links * memory::LINK)) {
        problems.add(&topology.origin, "topology", format!("with {} {lack}", counts(links, flows)));
        return None;
    }
    let mut network = Network::default();
    match topology.kind {
        "dumbbell" => network.dumbbell(topology, pairs()),
        "parking-lot" => network.parking_lot(topology),
        "explicit" => network.explicit(topology, problems)?,
        _ => network.chain(topology, problems),
    }
    network.check_media(topology, problems);
    Some(network)
}

fn counts(links: u64, flows: u64) -> String {
    let flows = format!("{flows} {}", if flows == 1 { "flow" } else { "flows" });
    // Links listed one by one are not counted: they are few.
    if links == 0 { flows } else { format!("{links} links and {flows}") }
}

impl Network {
    fn node(&mut self, name: String) -> usize {
        self.nodes.push(name);
        self.nodes.len() - 1
    }

    /// Adds the link from `from` to `to` with the settings of `link`, and its reverse direction unless there is none.
    fn link(&mut self, (from, to): (usize, usize), link: &Record, delay: Option<Duration>) {
        let rate = own_rate(link).unwrap_or_else(any_rate);
        let delay = delay.map(Variable::Constant).or_else(|| own_delay(link)).unwrap_or(Variable::Constant(Duration::ZERO));
        let back = link.table("reverse").map(|reverse| {
            let own = (own_rate(reverse), own_delay(reverse));
            (reverse, (own.0.unwrap_or_else(|| rate.clone()), own.1.unwrap_or_else(|| delay.clone())))
        });
        // Both directions share a channel, which has the link's name unless it has its own.
        let medium = link.part("medium").map(|choice| {
            let channel = choice.extra.text("channel").map_or_else(|| self.name((from, to)), str::to_owned);
            MediumSpec { model: part(choice), channel }
        });
        self.pipe((from, to), link, (rate, delay), medium.clone());
        if let Some((reverse, quantities)) = back {
            self.pipe((to, from), reverse, quantities, medium);
        }
    }

    fn name(&self, (from, to): (usize, usize)) -> String {
        format!("{}>{}", self.nodes[from], self.nodes[to])
    }

    fn pipe(
        &mut self,
        (from, to): (usize, usize),
        end: &Record,
        (rate, delay): (Variable<Rate>, Variable<Duration>),
        medium: Option<MediumSpec>,
    ) {
        let name = self.name((from, to));
        let queue = end.part("queue");
        let losses = end.parts("loss").map(loss).collect();
        let quick_start = end.whole("quick_start").and_then(Rate::from_bits_per_sec);
        let spec = LinkSpec { name, from, to, rate, delay, queue: queue.map(queue_spec), losses, medium, quick_start };
        self.links.push(Pipe { spec, bdp: queue.map(|queue| queue.bdp.clone()).unwrap_or_default() });
    }

    /// Reports a channel whose links have different media.
    fn check_media(&self, topology: &Record, problems: &mut Problems) {
        let mut known: BTreeMap<&str, (&LinkSpec, &PartSpec)> = BTreeMap::new();
        for Pipe { spec, .. } in &self.links {
            let Some(MediumSpec { model, channel }) = &spec.medium else { continue };
            let (first, of_first) = *known.entry(channel).or_insert((spec, model));
            if spec.needs_kernel().is_some() {
                let what = "a queue discipline of Linux gives one packet at a time, and cannot stand before a shared medium";
                return problems.add(&topology.origin, "topology", format!("{}: {what}", spec.name));
            }
            if of_first != model {
                let [one, other] = [first, spec].map(|link| &link.name);
                let what = format!("the links {one} and {other} share the channel {} and must have the same medium", quoted(channel));
                return problems.add(&topology.origin, "topology", what);
            }
        }
    }

    fn chain(&mut self, topology: &Record, problems: &mut Problems) {
        let mut links: Vec<&Record> = topology.tables("links").collect();
        if topology.field("links").given {
            for name in LISTED_BY_LINKS {
                let field = topology.field(name);
                if field.given {
                    problems.add(&field.origin, topology.key(name), "cannot be combined with links, which lists all links of the chain");
                }
            }
        } else if let (Some(access), Some(bottleneck)) = (topology.table("access"), topology.table("bottleneck")) {
            links = vec![access, bottleneck, access];
        }
        let mut last = self.node("n0".to_owned());
        for (index, link) in links.into_iter().enumerate() {
            let next = self.node(format!("n{}", index + 1));
            self.link((last, next), link, None);
            last = next;
        }
        self.pairs = vec![(0, last)];
    }

    fn dumbbell(&mut self, topology: &Record, pairs: u64) {
        let (Some(access), Some(bottleneck)) = (topology.table("access"), topology.table("bottleneck")) else { return };
        let delays: Vec<Option<Duration>> = topology.list("access_delays").iter().map(|field| pair_delay(&field.value)).collect();
        let delay_of = |index: usize| if delays.is_empty() { None } else { delays[index % delays.len()] };
        let (r1, r2) = (self.node("r1".to_owned()), self.node("r2".to_owned()));
        let senders: Vec<usize> = (0..pairs).map(|index| self.node(format!("s{index}"))).collect();
        let receivers: Vec<usize> = (0..pairs).map(|index| self.node(format!("d{index}"))).collect();
        for (index, sender) in senders.iter().enumerate() {
            self.link((*sender, r1), access, delay_of(index));
        }
        self.link((r1, r2), bottleneck, None);
        for (index, receiver) in receivers.iter().enumerate() {
            self.link((r2, *receiver), access, delay_of(index));
        }
        self.pairs = senders.into_iter().zip(receivers).collect();
    }

    fn parking_lot(&mut self, topology: &Record) {
        let (Some(access), Some(bottleneck)) = (topology.table("access"), topology.table("bottleneck")) else { return };
        let hops = topology.integer("hops").unwrap_or(1);
        let routers: Vec<usize> = (0..=hops).map(|index| self.node(format!("r{index}"))).collect();
        for hop in routers.windows(2) {
            self.link((hop[0], hop[1]), bottleneck, None);
        }
        // Pair 0 crosses all hops, pair k crosses hop k.
        let ends = std::iter::once((routers[0], routers[routers.len() - 1])).chain(routers.windows(2).map(|hop| (hop[0], hop[1])));
        for (index, (enter, leave)) in ends.enumerate() {
            let (sender, receiver) = (self.node(format!("s{index}")), self.node(format!("d{index}")));
            self.link((sender, enter), access, None);
            self.link((leave, receiver), access, None);
            self.pairs.push((sender, receiver));
        }
    }

    fn explicit(&mut self, topology: &Record, problems: &mut Problems) -> Option<()> {
        let mut indices = BTreeMap::new();
        let mut sound = true;
        for (position, field) in topology.list("node").iter().enumerate() {
            let Checked::Text(name) = &field.value else { continue };
            let index = self.node(name.clone());
            if indices.insert(name.as_str(), index).is_some() {
                problems.add(&field.origin, format!("topology.node.{position}"), format!("there is already a node {}", quoted(name)));
                sound = false;
            }
        }
        if self.nodes.len() < 2 {
            let field = topology.field("node");
            problems.add(&field.origin, "topology.node", "at least two nodes are needed");
            return None;
        }
        let mut seen: BTreeMap<(usize, usize), Origin> = BTreeMap::new();
        for link in topology.tables("link") {
            let ends = ["from", "to"].map(|end| find(&indices, (link, end), "node", problems));
            let [Some(from), Some(to)] = ends else {
                sound = false;
                continue;
            };
            let reverse = link.table("reverse").map(|_| (to, from));
            let twice = [Some((from, to)), reverse].into_iter().flatten().find_map(|ends| seen.insert(ends, link.origin.clone()));
            if from == to {
                problems.add(&link.field("to").origin, link.key("to"), "must not be the node of from: a link joins two nodes");
            } else if let Some(origin) = twice {
                let before = if let Origin::Line(line) = origin { format!(" (line {line})") } else { String::new() };
                let why = "a link has both directions unless its reverse is \"none\"";
                problems.add(&link.origin, link.path.clone(), format!("there is already a link between these nodes{before}; {why}"));
            }
            self.link((from, to), link, None);
        }
        self.pairs = vec![(0, self.nodes.len() - 1)];
        sound.then_some(())
    }
}

/// The index of the node named by the key `end` of `record`.
pub(crate) fn find(indices: &BTreeMap<&str, usize>, (record, end): (&Record, &str), what: &str, problems: &mut Problems) -> Option<usize> {
    let name = record.text(end)?;
    let found = indices.get(name).copied();
    if found.is_none() {
        let known: Vec<&str> = indices.keys().copied().collect();
        problems.add(&record.field(end).origin, record.key(end), crate::scenario::text::unknown(what, name, &known));
    }
    found
}

/// After a problem any rate is good enough.
fn any_rate() -> Variable<Rate> {
    Variable::Constant(Rate::from_bits_per_sec(1).unwrap_or_else(|| unreachable!()))
}

/// Transmission rate of a direction, if it has its own.
fn own_rate(end: &Record) -> Option<Variable<Rate>> {
    let choice = end.part("rate")?;
    if choice.name == CONSTANT {
        return Rate::from_bits_per_sec(choice.params.number("rate") as u64).map(Variable::Constant);
    }
    let part = part(choice);
    let mean = rate::PARTS.build(&part).ok()?.mean();
    Some(Variable::Model(Box::new(Model { parts: vec![part], mean })))
}

/// Propagation delay of a direction, if it has its own.
fn own_delay(end: &Record) -> Option<Variable<Duration>> {
    let parts: Vec<PartSpec> = end.parts("delay").map(part).collect();
    let means = parts.iter().map(|part| delay::PARTS.build(part).ok().map(|model| model.mean()));
    let mean = means.reduce(|sum, mean| Some(sum? + mean?))??;
    Some(if parts.iter().all(|part| part.name == CONSTANT) {
        // Whole nanoseconds, which a frozen scenario can write.
        Variable::Constant(Duration::from_nanos(mean.as_nanos()))
    } else {
        Variable::Model(Box::new(Model { parts, mean }))
    })
}

fn pair_delay(value: &Checked) -> Option<Duration> {
    match value {
        Checked::Quantity(crate::scenario::unit::Quantity::Whole(_, nanos)) => Some(Duration::from_nanos(*nanos)),
        _ => None,
    }
}

/// The typed form of a chosen part.
pub(crate) fn part(choice: &Choice) -> PartSpec {
    PartSpec::new(choice.name, choice.params.clone())
}

fn queue_spec(choice: &Choice) -> QueueSpec {
    QueueSpec { discipline: part(choice), generator: generator(&choice.extra) }
}

fn loss(choice: &Choice) -> LossSpec {
    let position = if choice.extra.text("position") == Some("before") { LossPosition::BeforeQueue } else { LossPosition::AfterLink };
    LossSpec { model: part(choice), position, generator: generator(&choice.extra) }
}

fn generator(extra: &Record) -> GeneratorSpec {
    let word = |name| extra.integer(name).and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
    match extra.text("generator") {
        Some("mrg32k3a") => GeneratorSpec::Mrg32k3a { seed: word("seed"), stream: word("stream"), skip: word("skip") },
        _ => GeneratorSpec::Derived,
    }
}
