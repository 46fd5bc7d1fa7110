//! Random arrivals: expands `arrivals` of a flow to flows, each with a start and a size, and writes the key again.

use std::collections::BTreeMap;

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, NANOS_PER_SEC};
use serde_json::{Map, Value as Json, json};

use crate::net::route::{Ends, shortest_routes};
use crate::scenario::check::{Checked, Record};
use crate::scenario::drawn::{self, whole_packets};
use crate::scenario::error::Problems;
use crate::scenario::keys::MAX_FLOWS;
use crate::scenario::memory;
use crate::scenario::model::{FlowSpec, LinkSpec};
use crate::scenario::text::unknown;
use crate::scenario::topology::Network;
use crate::scenario::unit::{Quantity, write_probability, write_time};

/// A flow that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When it starts.
    pub(crate) start: Instant,
    /// Number of its data packets.
    pub(crate) packets: u64,
}

/// Context of arrivals besides their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// The network.
    pub(crate) network: &'a Network,
    /// Sender and receiver of the first flow.
    pub(crate) ends: Ends,
    /// Prototype of the arriving flows.
    pub(crate) like: &'a FlowSpec,
    /// End of the run in nanoseconds.
    pub(crate) end: u64,
    /// The run's seed.
    pub(crate) seed: u64,
    /// Number of flows that the scenario can still have.
    pub(crate) room: u64,
}

/// Checks constraints between the keys of a flow with `arrivals`.
pub(crate) fn check_arrivals(flow: &Record, arrivals: &Record, problems: &mut Problems) {
    // A wrong key has been reported and does not count as missing.
    let wrong = ["load", "rate"].iter().any(|key| problems.about(&arrivals.key(key)));
    let mut refuse = |table: &Record, name: &str, message: &str| problems.add(&table.field(name).origin, table.key(name), message);
    for key in ["size", "stop", "start_spread", "start_jitter"].into_iter().filter(|key| flow.field(key).given) {
        refuse(
            flow,
            key,
            "cannot be combined with arrivals, which sets the start and the size of every flow; arrivals.until ends the arrivals",
        );
    }
    match (arrivals.field("load").given, arrivals.field("rate").given) {
        (false, false) if !wrong => refuse(arrivals, "load", "is missing: give load = \"50 %\" of a link, or rate = \"20 per s\""),
        (true, true) => refuse(arrivals, "rate", "cannot be combined with load, which determines the rate"),
        (false, true) if arrivals.field("of").given => refuse(arrivals, "of", "requires load: it names the link that load refers to"),
        _ => {}
    }
    for key in ["count", "from", "to"].into_iter().filter(|key| arrivals.field("pairs").given && flow.field(key).given) {
        refuse(flow, key, "cannot be combined with arrivals.pairs, which lists the nodes of all flows");
    }
    if arrivals.field("pairs").given && (arrivals.list("pairs").is_empty() || pairs(arrivals).any(|pair| pair.is_none())) {
        refuse(arrivals, "pairs", "must list pairs of different nodes, each as [\"sender\", \"receiver\"]");
    }
    if arrivals.whole("until").is_some_and(|until| Some(until) <= flow.whole("start")) {
        refuse(arrivals, "until", "must be later than the flow's start, start_offset included");
    }
    if let Some(size) = arrivals.table("size") {
        drawn::check_sizes(size, problems);
    }
}

/// Sender and receiver of each of `pairs`; `None` if they are not two different names.
fn pairs(arrivals: &Record) -> impl Iterator<Item = Option<[&str; 2]>> {
    arrivals.list("pairs").iter().map(|pair| match &pair.value {
        Checked::List(ends) => match ends.iter().map(|end| &end.value).collect::<Vec<_>>()[..] {
            [Checked::Text(from), Checked::Text(to)] if from != to => Some([from.as_str(), to.as_str()]),
            _ => None,
        },
        _ => None,
    })
}

/// The nodes that the arriving flows use in turn, if `pairs` lists them.
pub(crate) fn nodes(arrivals: &Record, indices: &BTreeMap<&str, usize>, problems: &mut Problems) -> Vec<Ends> {
    let mut find = |name: &str| {
        let found = indices.get(name).copied();
        if found.is_none() {
            let known: Vec<&str> = indices.keys().copied().collect();
            problems.add(&arrivals.field("pairs").origin, arrivals.key("pairs"), unknown("node", name, &known));
        }
        found
    };
    pairs(arrivals).flatten().filter_map(|[from, to]| find(from).zip(find(to))).collect()
}

/// Name of the random numbers.
fn stream<'a>(flow: &'a Record, arrivals: &'a Record) -> &'a str {
    arrivals.text("stream").or_else(|| flow.text("name")).unwrap_or(&flow.path)
}

/// The key `arrivals` in the form of a scenario file, from which the same flows arrive: everything but `pairs`. `packet` is the data in a
/// packet.
pub(crate) fn write(flow: &Record, keys: &Record, packet: u64) -> Map<String, Json> {
    let mut table = Map::new();
    let mut put = |key: &str, value: Json| table.insert(key.to_owned(), value);
    put("kind", json!(keys.kind));
    if let Some(Quantity::Real(_, load)) = keys.quantity("load") {
        put("load", json!(write_probability(load)));
    }
    if let Some(of) = keys.text("of") {
        put("of", json!(of));
    }
    if let Some(Quantity::Real(_, rate)) = keys.quantity("rate") {
        let plain = (1e-6..=1e9).contains(&rate);
        put("rate", json!(if plain { format!("{rate} per s") } else { format!("{rate:e} per s") }));
    }
    if let Some(until) = keys.whole("until") {
        put("until", json!(write_time(Duration::from_nanos(until))));
    }
    if let Some(sizes) = keys.table("size").and_then(|size| drawn::sizes(size, packet)) {
        put("size", drawn::write_sizes(&sizes));
    }
    put("stream", json!(stream(flow, keys)));
    table
}

/// The arriving flows in the order of time; `None` after a problem, which is reported.
pub(crate) fn expand(flow: &Record, keys: &Record, site: Site<'_>, problems: &mut Problems) -> Option<Vec<Arrival>> {
    let packet = site.like.host.packet_size().0.max(1);
    let sizes = drawn::sizes(keys.table("size")?, packet)?;
    let per_second = match keys.quantity("rate") {
        Some(Quantity::Real(_, rate)) => rate,
        _ => rate_of_load(keys, site, &sizes, problems)?,
    };
    let start = flow.whole("start")?;
    let span = keys.whole("until").unwrap_or(site.end).min(site.end).saturating_sub(start) as f64;
    let seconds = span / NANOS_PER_SEC as f64;
    let expected = per_second * seconds;
    // Four standard deviations of a Poisson distribution: a drawn count rarely exceeds this.
    if expected + 4.0 * expected.sqrt() > site.room as f64 {
        let what = format!("makes about {expected:.0} flows in {seconds} s; a scenario can have at most {MAX_FLOWS}");
        problems.add(&keys.origin, keys.path.clone(), what);
        return None;
    }
    if let Some(lack) = memory::lacking((expected * site.like.host.memory() as f64) as u64) {
        problems.add(&keys.origin, keys.path.clone(), format!("with about {expected:.0} flows {lack}"));
        return None;
    }
    // Gaps and sizes have separate generators, so that a change of the load does not change the sizes.
    let stream = stream(flow, keys);
    let [mut gaps, mut drawn] = ["gaps", "sizes"].map(|of| Generator::derived(site.seed, &format!("flow/{stream}/arrivals/{of}")));
    let gap = Distribution::Exponential { mean: NANOS_PER_SEC as f64 / per_second };
    let mut after = 0.0;
    let next = std::iter::from_fn(|| {
        after += gap.draw(&mut gaps);
        (after < span).then(|| Arrival {
            start: Instant::from_nanos(start + after as u64),
            packets: whole_packets(sizes.draw(&mut drawn), packet) as u64,
        })
    });
    Some(next.take(site.room as usize).collect())
}

/// Arrivals per second at which `load` is reached: data packets with headers, without SYN and retransmissions.
fn rate_of_load(keys: &Record, site: Site<'_>, sizes: &Distribution, problems: &mut Problems) -> Option<f64> {
    let Some(Quantity::Real(_, load)) = keys.quantity("load") else { return None };
    let link = link(keys, site, problems)?;
    let packet = site.like.host.packet_size().0.max(1);
    let rounded_up = sizes.expectation(|bytes| whole_packets(bytes, packet) - bytes / packet as f64);
    let packets = sizes.mean() / packet as f64 + rounded_up;
    Some(load * link.rate.mean().as_bits_per_sec() as f64 / (8.0 * packets * site.like.host.wire_size().0 as f64))
}

/// The loaded link: `of`, or the slowest link on the path.
fn link<'a>(keys: &Record, site: Site<'a>, problems: &mut Problems) -> Option<&'a LinkSpec> {
    let links = || site.network.links.iter().map(|pipe| &pipe.spec);
    if let Some(name) = keys.text("of") {
        let found = links().find(|link| link.name == name);
        if found.is_none() {
            let known: Vec<&str> = links().map(|link| link.name.as_str()).collect();
            problems.add(&keys.field("of").origin, keys.key("of"), unknown("link", name, &known));
        }
        return found;
    }
    let ends: Vec<Ends> = links().map(|link| (link.from, link.to)).collect();
    let routes = shortest_routes(site.network.nodes.len(), &ends, std::iter::once(site.ends));
    let slowest = routes.get(&site.ends).and_then(Option::as_deref).unwrap_or_default().iter().map(|&link| link as usize);
    let slowest = slowest.map(|link| &site.network.links[link].spec).min_by_key(|link| link.rate.mean());
    if slowest.is_none() {
        problems.add(&keys.origin, keys.path.clone(), "there is no route from the sender to the receiver, so that load refers to no link");
    }
    slowest
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Document, Scenario};

    fn scenario(seed: u64, arrivals: &str) -> Result<Scenario, String> {
        let text = format!("duration = \"100 s\"\nseed = {seed}\n[flow]\nname = \"web\"\narrivals = {{ {arrivals} }}");
        Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).map_err(|error| error.to_string())
    }

    fn sound(seed: u64, arrivals: &str) -> Scenario {
        scenario(seed, arrivals).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Data packets of all flows.
    fn packets(scenario: &Scenario) -> u64 {
        scenario.flows.iter().filter_map(|flow| flow.packets).sum()
    }

    #[test]
    fn arrivals_are_a_poisson_process() {
        let scenario = sound(1, "rate = \"200 per s\", size.mean = \"1 packet\"");
        let starts: Vec<f64> = scenario.flows.iter().map(|flow| flow.start.as_secs_f64()).collect();
        // 20,000 arrivals are expected; the tolerance is four standard deviations.
        assert!((starts.len() as f64 - 20_000.0).abs() < 4.0 * 20_000_f64.sqrt(), "{}", starts.len());
        assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]) && starts.iter().all(|&start| start < 100.0));
        // The count in each second has mean and variance 200. The variance of 100 counts has a variance of about 2 · 200² / 100.
        let counts: Vec<f64> = (0..100).map(|second| starts.iter().filter(|&&start| start as u64 == second).count() as f64).collect();
        let variance = counts.iter().map(|count| (count - 200.0) * (count - 200.0)).sum::<f64>() / 100.0;
        assert!((variance - 200.0).abs() < 4.0 * 200.0 * 0.02_f64.sqrt(), "{variance}");
        assert_eq!((scenario.flows[0].name.as_str(), scenario.flows[1].name.as_str()), ("web0", "web1"));
    }

    #[test]
    fn flows_make_the_load() {
        let cases = [
            "kind = \"exponential\", mean = \"20 kB\"",
            "kind = \"fixed\", mean = \"20 packets\"",
            "kind = \"pareto\", mean = \"20 kB\", shape = 3.0",
            "kind = \"lognormal\", mean = \"2 kB\"",
            "kind = \"empirical\", sizes = [\"1500 B\", \"90 packets\"], weights = [9, 1]",
        ];
        for size in cases {
            // Offered wire bytes of ten seeds, over the bytes that 10 Mbit/s carry in 100 s.
            let offered: u64 = (1..=10).map(|seed| packets(&sound(seed, &format!("load = \"50 %\", size = {{ {size} }}")))).sum();
            let load = (offered * 1040) as f64 / (10.0 * 100.0 * 10e6 / 8.0);
            assert!((load - 0.5).abs() < 0.01, "{size}: {load}");
        }
    }

    #[test]
    fn the_load_is_of_the_link_that_is_named() {
        let count =
            |keys: &str| sound(1, &format!("load = \"5 %\", size = {{ kind = \"fixed\", mean = \"100 packets\" }}{keys}")).flows.len();
        assert_eq!(count(""), count(", of = \"n1>n2\""), "the bottleneck is the slowest");
        let ratio = count(", of = \"n0>n1\"") as f64 / count("") as f64;
        assert!((7.0..14.0).contains(&ratio), "a link of ten times the rate: {ratio}");
    }

    #[test]
    fn another_load_keeps_sizes_and_another_seed_does_not() {
        let sizes = |seed, load| -> Vec<Option<u64>> {
            let scenario = sound(seed, &format!("load = \"{load} %\", size.mean = \"50 kB\", until = \"20 s\""));
            assert!(scenario.flows.iter().all(|flow| flow.start.as_secs_f64() < 20.0));
            scenario.flows.iter().take(100).map(|flow| flow.packets).collect()
        };
        assert_eq!(sizes(1, 30), sizes(1, 30));
        assert_eq!(sizes(1, 30), sizes(1, 60));
        assert_ne!(sizes(1, 30), sizes(2, 30));
    }

    #[test]
    fn pairs_of_nodes_take_turns() {
        let text = "duration = \"10 s\"\ntopology.kind = \"dumbbell\"\nflow = [{ }, { count = 3, arrivals = { rate = \"9 per s\", \
                    size.mean = \"1 kB\" } }, { }]";
        let scenario = Document::from_toml(text, "t.toml").and_then(|document| document.scenario()).unwrap();
        let senders: Vec<&str> = scenario.flows.iter().map(|flow| scenario.nodes[flow.from].as_str()).collect();
        assert_eq!(senders[..6], ["s0", "s1", "s2", "s3", "s1", "s2"]);
        assert_eq!(senders.last(), Some(&"s4"));
    }

    /// Freezes the scenario `text` and asserts that the frozen one has the same flows; returns its text.
    fn freeze(text: &str) -> String {
        let document = Document::from_toml(text, "t.toml").unwrap();
        let frozen = document.frozen().unwrap_or_else(|error| panic!("{error}"));
        let again = Document::from_toml(&frozen, "t.toml").unwrap();
        assert_eq!(again.frozen().unwrap_or_else(|error| panic!("{error}\n{frozen}")), frozen);
        assert_eq!(again.expanded().unwrap(), document.expanded().unwrap());
        assert_eq!(document.expanded().unwrap().matches("[[flow]]").count(), document.scenario().unwrap().flows.len());
        frozen
    }

    #[test]
    fn frozen_arrivals_are_written_as_such_and_give_the_same_flows() {
        let cases = [
            "load = \"80.3 %\", size = { kind = \"pareto\", mean = \"9 kB\" }",
            "load = \"1e-1 %\", of = \"n0>n1\", size = { kind = \"lognormal\", mean = \"7 packets\", sigma = 0.3 }",
            "rate = \"33.3333333333333333333 per s\", until = \"5.000001 s\", size = \"9 kB\"",
            "rate = \"1e-9 per s\", size = { kind = \"empirical\", sizes = [\"1 kB\", \"1e15 packets\"], weights = [0.1, 0.7] }",
        ];
        for (arrivals, name) in cases.into_iter().flat_map(|case| [(case, ""), (case, "name = \"web\", ")]) {
            let frozen = freeze(&format!(
                "duration = \"10 s\"\nstart_offset = \"7 ms\"\nflow = [{{ count = 3 }}, {{ {name}arrivals = {{ {arrivals} }} }}]"
            ));
            assert!(frozen.len() < 6000 && frozen.matches("[[flow]]").count() == 4, "{frozen}");
        }
    }

    #[test]
    fn frozen_arrivals_keep_their_pairs_of_nodes() {
        let flow = |keys: &str| format!("{{ {keys}arrivals = {{ rate = \"9 per s\", size.mean = \"1 kB\" }} }}");
        let text = |flow: &str| format!("duration = \"10 s\"\ntopology.kind = \"dumbbell\"\nflow = [{{ }}, {flow}, {{ }}]");
        let several = freeze(&text(&flow("count = 3, ")));
        assert!(several.contains("pairs = [[\"s1\", \"d1\"], [\"s2\", \"d2\"], [\"s3\", \"d3\"]]"), "{several}");
        for one in ["", "count = 2, from = \"s0\", to = \"d1\", "] {
            assert!(!freeze(&text(&flow(one))).contains("pairs"));
        }
        // The receivers take turns, although the sender is given.
        assert!(freeze(&text(&flow("count = 2, from = \"s0\", "))).contains("pairs = [[\"s0\", \"d1\"], [\"s0\", \"d2\"]]"));
    }

    #[test]
    fn a_scenario_in_which_no_flow_arrives_is_valid() {
        let text = "duration = \"1 s\"\nflow = { arrivals = { rate = \"1e-9 per s\", size = \"1 kB\" } }";
        assert!(freeze(text).contains("arrivals"));
        let scenario = Document::from_toml(text, "t.toml").unwrap().scenario().unwrap();
        let result = crate::engine::run(&scenario, &mut || false).unwrap();
        assert!(scenario.flows.is_empty() && result.flows.is_empty());
        assert_eq!(result.links.iter().map(|link| link.arrivals).sum::<u64>(), 0);
    }

    #[test]
    fn mistakes() {
        let size = "size.mean = \"1 kB\"";
        let cases = [
            (size.to_owned(), "flow.0.arrivals.load: is missing: give load = \"50 %\" of a link, or rate = \"20 per s\""),
            ("load = \"50 %\"".to_owned(), "flow.0.arrivals.size: is missing; example: { mean = \"100 kB\" }"),
            ("load = \"50 %\", size = {}".to_owned(), "flow.0.arrivals.size.mean: is missing; example: \"100 kB\""),
            (
                format!("load = \"5 %\", rate = \"5 per s\", {size}"),
                "flow.0.arrivals.rate: cannot be combined with load, which determines the rate",
            ),
            (
                format!("rate = \"5 per s\", of = \"n1>n2\", {size}"),
                "flow.0.arrivals.of: requires load: it names the link that load refers to",
            ),
            (
                format!("load = \"5 %\", of = \"n1>n3\", {size}"),
                "flow.0.arrivals.of: there is no link \"n1>n3\"; did you mean \"n1>n0\"? (known: n0>n1, n1>n0, n1>n2, n2>n1, n2>n3, n3>n2)",
            ),
            (
                format!("rate = \"5 Hz\", {size}"),
                "flow.0.arrivals.rate: unknown unit \"Hz\" for a frequency; did you mean \"per s\"? (known: per s)",
            ),
            (
                format!("rate = \"1e6 per s\", {size}"),
                "flow.0.arrivals: makes about 100000000 flows in 100 s; a scenario can have at most 2000000",
            ),
            (
                format!("rate = \"5 per s\", until = \"0 s\", {size}"),
                "flow.0.arrivals.until: must be later than the flow's start, start_offset included",
            ),
            (
                "rate = \"5 per s\", size = { kind = \"pareto\", mean = \"1 kB\", shape = 1 }".to_owned(),
                "flow.0.arrivals.size.shape: must be a number from 1.01 to 100, but is 1",
            ),
            (
                format!("rate = \"5 per s\", pairs = [[\"n0\", \"n4\"]], {size}"),
                "flow.0.arrivals.pairs: there is no node \"n4\" (known: n0, n1, n2, n3)",
            ),
            (
                format!("rate = \"5 per s\", pairs = [[\"n0\", \"n3\"], [\"n0\"]], {size}"),
                "flow.0.arrivals.pairs: must list pairs of different nodes, each as [\"sender\", \"receiver\"]",
            ),
            (
                "rate = \"5 per s\", size = { kind = \"parreto\", mean = \"1 kB\" }".to_owned(),
                "flow.0.arrivals.size.kind: there is no size \"parreto\"; did you mean \"pareto\"? (known: exponential, fixed, pareto, lognormal, empirical)",
            ),
            (
                "rate = \"5 per s\", size = { mean = \"1 kB\", shape = 2 }".to_owned(),
                "flow.0.arrivals.size.shape: a size of kind \"exponential\" has no \"shape\"; kinds that have it: pareto (known: kind, mean)",
            ),
            (
                "rate = \"5 per s\", size = { kind = \"empirical\", sizes = [] }".to_owned(),
                "flow.0.arrivals.size.sizes: at least one size is needed",
            ),
            (
                "rate = \"5 per s\", size = { kind = \"empirical\", sizes = [\"1 kB\"], weights = [1, 2] }".to_owned(),
                "flow.0.arrivals.size.weights: must have as many entries as sizes, at least one of them above 0",
            ),
        ];
        for (arrivals, message) in cases {
            let said = scenario(1, &arrivals).map_or_else(|error| error, |_| panic!("this is sound: {arrivals}"));
            assert_eq!(said, format!("t.toml:5: {message}"));
        }
        let beside = "duration = \"9 s\"\nflow = { size = \"1 kB\", arrivals = { rate = \"5 per s\", size.mean = \"1 kB\" } }";
        let said = Document::from_toml(beside, "t.toml").and_then(|document| document.scenario()).unwrap_err().to_string();
        let message = "flow.0.size: cannot be combined with arrivals, which sets the start and the size of every flow; arrivals.until ends the arrivals";
        assert_eq!(said, format!("t.toml:2: {message}"));
    }
}
