//! The scenarios behind the reference data of ns-2.35.
#![allow(dead_code, reason = "each test file uses a part")]

use ackclock_core::params::{Params, Value};
use ackclock_core::units::{Bytes, Duration, Limit, Rate};
use ackclock_sim::scenario::{
    ComposedSpec, ControlSpec, FlowSpec, HostSpec, LinkSpec, Ns2Host, PartSpec, QueueSpec, Recovery, Scenario, SlowStartSpec, TraceKind,
    Variable,
};

/// Phase of ns-2's clock in the chain scripts with the default seed: the last number drawn at start-up.
pub(crate) const CHAIN_CLOCK_PHASE: Duration = Duration::from_nanos(5_558_807);

/// The same for Vegas, which draws one more number.
pub(crate) const VEGAS_CLOCK_PHASE: Duration = Duration::from_nanos(142_047);

/// A part with its defaults.
pub(crate) fn part(name: &'static str) -> PartSpec {
    PartSpec::new(name, Params(Vec::new()))
}

/// A part with parameters.
pub(crate) fn part_with(name: &'static str, params: Vec<(&'static str, Value)>) -> PartSpec {
    PartSpec::new(name, Params(params))
}

/// `DropTail` with a limit in packets.
pub(crate) fn droptail(packets: u64) -> QueueSpec {
    let discipline = part_with("droptail", vec![("limit", Value::Limit(Limit::Packets(packets)))]);
    QueueSpec::new(discipline)
}

/// A fixed initial window.
pub(crate) fn fixed(segments: f64) -> PartSpec {
    part_with("fixed", vec![("segments", Value::Number(segments))])
}

/// ns-2's `windowInitOption_ 2`.
pub(crate) fn ns2_table() -> PartSpec {
    part_with("ns2_table", vec![("after_syn_loss", Value::Number(2.0))])
}

/// The parts of ns-2's own congestion control.
pub(crate) fn ns2_control(initial_window: PartSpec, slow_start: PartSpec) -> ControlSpec {
    ControlSpec::Composed(ComposedSpec::new(initial_window, SlowStartSpec::Part(slow_start), part("reno")))
}

/// The parts of the congestion control of ns-2's agent with this recovery. Vegas does not use `slow_start`.
pub(crate) fn agent_control(recovery: Recovery, initial_window: PartSpec, slow_start: PartSpec) -> ControlSpec {
    if recovery.name() == "vegas" {
        let number = |name, value| (name, Value::Number(value));
        let rule = || ("rule", Value::Word("ns2".to_owned()));
        let slow_start = part_with("vegas", vec![number("gamma", 1.0), number("alpha", 1.0), rule()]);
        let avoidance = part_with("vegas", vec![number("alpha", 1.0), number("beta", 3.0), rule()]);
        return ControlSpec::Composed(ComposedSpec::new(initial_window, SlowStartSpec::Part(slow_start), avoidance));
    }
    ns2_control(initial_window, slow_start)
}

/// An ns-2 host with defaults except for a window of 1000 packets.
pub(crate) fn host(recovery: Recovery) -> Ns2Host {
    let vegas = recovery.name() == "vegas";
    Ns2Host {
        recovery,
        packet_size: Bytes(1000),
        header: Bytes(if vegas { 0 } else { 40 }),
        rwnd: 1000,
        delayed_ack: false,
        delayed_ack_timeout: Duration::from_millis(100),
        ecn: false,
        limited_transmit: true,
        initial_pacing: false,
        clock_granularity: Duration::from_millis(10),
        clock_phase: if vegas { VEGAS_CLOCK_PHASE } else { CHAIN_CLOCK_PHASE },
        min_rto: Duration::from_millis(200),
        initial_rto: Duration::from_millis(3000),
        max_rto: Duration::from_millis(60_000),
    }
}

fn link(from: usize, to: usize, rate: u64, delay: u64) -> LinkSpec {
    let rate = Variable::Constant(Rate::from_bits_per_sec(rate).unwrap());
    LinkSpec::new(format!("n{from}>n{to}"), [from, to], rate, Variable::Constant(Duration::from_millis(delay)))
}

/// Index of the sender's own link in [`chain`].
pub(crate) const ACCESS: usize = 0;

/// Index of the bottleneck in [`chain`].
pub(crate) const BOTTLENECK: usize = 2;

/// `n0 – n1 – n2 – n3` with 10 ms on each link and one flow from end to end for 250 s.
pub(crate) fn chain(rate: u64, access: u64, queue: u64, host: Ns2Host, control: ControlSpec) -> Scenario {
    let mut links = Vec::new();
    for (a, b, rate) in [(0, 1, access), (1, 2, rate), (2, 3, access)] {
        links.push(link(a, b, rate, 10));
        links.push(link(b, a, rate, 10));
    }
    links[BOTTLENECK].queue = Some(droptail(queue));
    let threshold = f64::from(host.rwnd);
    let mut flow = FlowSpec::new("flow0".to_owned(), [0, 3], HostSpec::Ns2(host), control);
    flow.initial_ssthresh = threshold;
    let mut scenario = Scenario::new("chain".to_owned(), Duration::from_millis(250_000), 1);
    scenario.nodes = (0..4).map(|node| format!("n{node}")).collect();
    (scenario.links, scenario.flows, scenario.record) = (links, vec![flow], vec![TraceKind::Drops]);
    scenario
}

/// The recovery of an ns-2 agent.
pub(crate) fn recovery(agent: &str) -> Recovery {
    let name = if agent == "Sack1" { "sack".to_owned() } else { agent.to_lowercase() };
    Recovery::find(&name).unwrap_or_else(|| panic!("no agent {agent}"))
}

/// `0.3Mb` in bits per second.
pub(crate) fn rate(text: &str) -> u64 {
    (text.trim_end_matches("Mb").parse::<f64>().unwrap() * 1e6) as u64
}

/// A row of a small table, by column name.
pub(crate) struct Row<'a> {
    header: Vec<&'a str>,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    /// The whole row.
    pub(crate) fn all(&self) -> String {
        self.cells.join(",")
    }

    /// The cell in column `name`.
    pub(crate) fn get(&self, name: &str) -> &str {
        let column = self.header.iter().position(|column| *column == name);
        self.cells[column.unwrap_or_else(|| panic!("no column {name}"))]
    }
}

/// The rows of a table with a header.
pub(crate) fn rows(csv: &str) -> impl Iterator<Item = Row<'_>> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(move |line| Row { header: header.clone(), cells: line.split(',').collect() })
}
