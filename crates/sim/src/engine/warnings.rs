//! Warnings: signs that a run says little about congestion control.
//!
//! Warnings derive from the columns of the flows. A flow causes at most one: the first that applies, in the order of [`Finding`]. Beside
//! these, flows are named whose connection was lost or whose host has no such congestion control, and queues whose limit cannot matter.
//!
//! A run is *quiet* if no flow met a loss or a mark, and none left slow start. Some findings count only in a quiet run. A short or idle flow
//! beside long transfers is usual traffic.

use std::ops::RangeInclusive;

use ackclock_core::units::Instant;

use super::result::{FlowResult, LinkResult, RunResult};
use crate::scenario::{ControlSpec, FlowSpec, HostSpec, LinkSpec, Scenario, Traffic, Variable};

/// The share of the active time from which on a limit counts as the usual one.
const MOST: f64 = 0.5;
/// A flow that delivers nothing within this time of its start, in seconds, has a problem: initial timeouts are 1 s to 3 s.
const PATIENCE: f64 = 5.0;
/// Fewer drops than this are too few to say that their order decides.
const MANY: u64 = 10;
/// Names of flows that a warning lists.
const LISTED: usize = 3;

/// A sign that a run says little about congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its stable name.
    pub name: &'static str,
    /// Names of the flows, in the order of the scenario.
    pub flows: Vec<String>,
    /// One sentence with numbers and a remedy.
    pub text: String,
}

/// What is wrong with a flow, with the number that shows it.
#[derive(Clone, Copy, Debug)]
enum Finding {
    /// Its start is not within the run.
    NotStarted,
    /// Nothing arrived in this many seconds.
    NothingDelivered(f64),
    /// The receiver's window limited it for this share of the time; what to change.
    RwndLimited(f64, &'static str),
    /// The run is quiet, and the application limited it for this share of the time.
    ApplicationLimited(f64),
    /// The run is quiet, and the window never exceeded this initial window; what to change.
    InitialWindow(f64, &'static str),
    /// The run is quiet, and all data, this many packets, left in slow start; what to change.
    SlowStartOnly(f64, &'static str),
    /// The flow was still in slow start this many seconds after its start, when the run ended.
    SlowStartUnfinished(f64),
}

impl Finding {
    /// Stable name, and remedy; findings with equal ones are one warning.
    const fn group(self) -> (&'static str, &'static str) {
        match self {
            Self::NotStarted => ("not_started", "let it start earlier (flow.start) or raise duration"),
            Self::NothingDelivered(_) => ("nothing_delivered", "look for a route or a queue that loses every packet"),
            Self::RwndLimited(_, remedy) => ("rwnd_limited", remedy),
            Self::ApplicationLimited(_) => ("application_limited", "let flow.application send more to judge the congestion control"),
            Self::InitialWindow(_, remedy) => ("initial_window", remedy),
            Self::SlowStartOnly(_, remedy) => ("slow_start_only", remedy),
            Self::SlowStartUnfinished(_) => ("slow_start_unfinished", "raise duration to judge more than the start"),
        }
    }

    const fn number(self) -> f64 {
        match self {
            Self::NotStarted => 0.0,
            Self::NothingDelivered(number)
            | Self::RwndLimited(number, _)
            | Self::ApplicationLimited(number)
            | Self::InitialWindow(number, _)
            | Self::SlowStartOnly(number, _)
            | Self::SlowStartUnfinished(number) => number,
        }
    }

    /// What the flows did, for a sentence; `numbers`: smallest and largest number.
    fn fact(self, numbers: &RangeInclusive<f64>, seconds: f64) -> String {
        let percent = || between(100.0 * numbers.start(), 100.0 * numbers.end(), 0);
        let whole = || between(*numbers.start(), *numbers.end(), 0);
        let tenths = || between(*numbers.start(), *numbers.end(), 1);
        match self {
            Self::NotStarted => format!("did not start within the run of {} s", short(seconds, 3)),
            Self::NothingDelivered(_) => format!("delivered no data in {} s from the start to the end of the run", tenths()),
            Self::RwndLimited(..) => format!("spent {} % of the active time limited by the receive window", percent()),
            Self::ApplicationLimited(_) => {
                format!(
                    "spent {} % of the active time without data to send, and no flow met a loss, a mark or the end of slow start",
                    percent()
                )
            }
            Self::InitialWindow(..) => format!("never grew beyond the initial window of {} segments", tenths()),
            Self::SlowStartOnly(..) => format!("delivered all data ({} packets) in slow start, without a loss or a mark", whole()),
            Self::SlowStartUnfinished(_) => format!("stayed in slow start until the end of the run, {} s after the start", tenths()),
        }
    }
}

impl RunResult {
    /// Signs that the run of `scenario` says little about congestion control.
    pub fn warnings(&self, scenario: &Scenario) -> Vec<Warning> {
        warnings(scenario, self)
    }
}

/// The warnings of a run, in the order in which their first flows stand in the scenario.
fn warnings(scenario: &Scenario, result: &RunResult) -> Vec<Warning> {
    let quiet = result.flows.iter().all(|flow| flow.slow_start_exit.is_none() && flow.window_reductions == 0);
    let flows: Vec<(&FlowSpec, &FlowResult)> = scenario.flows.iter().zip(&result.flows).collect();
    let mut groups: Vec<(Finding, RangeInclusive<f64>, Vec<&str>)> = Vec::new();
    for (spec, flow) in &flows {
        let Some(finding) = find(scenario, spec, flow, quiet, &flows) else { continue };
        let number = finding.number();
        match groups.iter_mut().find(|(other, ..)| other.group() == finding.group()) {
            Some((_, numbers, names)) => {
                *numbers = numbers.start().min(number)..=numbers.end().max(number);
                names.push(&spec.name);
            }
            None => groups.push((finding, number..=number, vec![&spec.name])),
        }
    }
    let seconds = scenario.duration.as_secs_f64();
    let warning = |(finding, numbers, names): (Finding, RangeInclusive<f64>, Vec<&str>)| {
        let (name, remedy) = finding.group();
        let text = format!("{} {}: {remedy}", listed(&names, flows.len()), finding.fact(&numbers, seconds));
        Warning { name, flows: names.into_iter().map(str::to_owned).collect(), text }
    };
    groups
        .into_iter()
        .map(warning)
        .chain(lost(scenario, result))
        .chain(foreign(scenario))
        .chain(tied(scenario, result))
        .chain(unfilled(scenario, result))
        .collect()
}

/// The warning about connections that an end gave up, so that their flows end there.
fn lost(scenario: &Scenario, result: &RunResult) -> Option<Warning> {
    let lost = || scenario.flows.iter().zip(&result.flows).filter_map(|(spec, flow)| Some((spec.name.as_str(), flow.failure.as_ref()?)));
    let (_, (at, reason)) = lost().min_by_key(|(_, (at, _))| *at)?;
    let names: Vec<&str> = lost().map(|(name, _)| name).collect();
    let first = if names.len() == 1 { "" } else { "first " };
    let text = format!(
        "{}: an end gave up the connection, {first}at {} s: {reason}",
        listed(&names, result.flows.len()),
        short(at.as_secs_f64(), 3)
    );
    Some(Warning { name: "connection_lost", flows: names.into_iter().map(str::to_owned).collect(), text })
}

/// The warning about links on which most drops coincide with a departure, so that the counts hang on the order of events that no path has.
fn tied(scenario: &Scenario, result: &RunResult) -> Option<Warning> {
    let links = result.links.iter().zip(&scenario.links).filter(|(link, _)| link.tied_drops >= MANY && 2 * link.tied_drops > link.drops);
    let facts: Vec<String> = links.map(|(link, spec)| format!("{} of {} drops at {}", link.tied_drops, link.drops, spec.name)).collect();
    if facts.is_empty() {
        return None;
    }
    let met = result.flows.iter().zip(&scenario.flows).filter(|(flow, _)| flow.window_reductions > 0);
    let flows = met.map(|(_, spec)| spec.name.clone()).collect();
    let text = format!(
        "{} came less than 1 µs before a departure that made room, and the order of such events can decide the counts: judge several runs, with \
         flow.start or a delay changed by parts of a packet's transmission time",
        facts.join(" and ")
    );
    Some(Warning { name: "ties", flows, text })
}

/// The warning about queues with a limit that are fed no faster than they empty, by links without one: packets wait there instead.
fn unfilled(scenario: &Scenario, result: &RunResult) -> Option<Warning> {
    let links = || scenario.links.iter().zip(&result.links);
    let limited =
        |(link, measured): &(&LinkSpec, &LinkResult)| link.queue.is_some() && measured.arrivals > 0 && measured.drops + measured.marks == 0;
    if !links().any(|each| limited(&each)) {
        return None;
    }
    let (mut begins, mut into) = (vec![false; scenario.nodes.len()], vec![Vec::new(); scenario.nodes.len()]);
    for flow in &scenario.flows {
        (begins[flow.from], begins[flow.to]) = (true, true);
    }
    for each in links() {
        into[each.0.to].push(each);
    }
    let fact = |(link, _): (&LinkSpec, &LinkResult)| {
        let Variable::Constant(rate) = &link.rate else { return None };
        // What comes from the link's other end goes elsewhere.
        let feeders = || into[link.from].iter().filter(|(feeder, _)| feeder.from != link.to);
        // A delay that changes brings packets closer together.
        let constant = |(feeder, _): &(&LinkSpec, &LinkResult)| match (&feeder.rate, &feeder.delay) {
            (Variable::Constant(rate), Variable::Constant(_)) if feeder.queue.is_none() => Some(rate.as_bits_per_sec()),
            _ => None,
        };
        let inflow = feeders().map(constant).sum::<Option<u64>>()?;
        let (feeder, waiting) = feeders().max_by_key(|(_, measured)| measured.queue_max)?;
        (!begins[link.from] && inflow <= rate.as_bits_per_sec() && waiting.queue_max > 1)
            .then(|| format!("the queue at {} cannot fill: up to {} packets wait at {} instead", link.name, waiting.queue_max, feeder.name))
    };
    let facts: Vec<String> = links().filter(limited).filter_map(fact).collect();
    let text = format!("{}; let the links before it be faster, or give them queues with a limit", facts.join(", and "));
    (!facts.is_empty()).then(|| Warning { name: "queue_unfilled", flows: Vec::new(), text })
}

/// The warning about flows with the rules of Linux, whose mainline kernels have another version of their congestion control.
pub fn foreign(scenario: &Scenario) -> Option<Warning> {
    let is_foreign = |flow: &&FlowSpec| {
        let linux = flow.host.as_modern().is_some_and(|host| host.whole_segments);
        linux && matches!(&flow.control, ControlSpec::Whole(part) if part.name == "bbr")
    };
    let names: Vec<&str> = scenario.flows.iter().filter(is_foreign).map(|flow| flow.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let flows = listed(&names, scenario.flows.len());
    let text = format!("{flows}: bbr is version 3 here, but version 1, `bbr1`, in a mainline Linux kernel; no such host sends like this");
    Some(Warning { name: "linux_bbr", flows: names.into_iter().map(str::to_owned).collect(), text })
}

fn find(scenario: &Scenario, spec: &FlowSpec, flow: &FlowResult, quiet: bool, flows: &[(&FlowSpec, &FlowResult)]) -> Option<Finding> {
    let end = Instant::ZERO + scenario.duration;
    let Some(started) = flow.started.filter(|started| *started < end) else {
        // A client opens only the connections that it needs.
        let application = spec.traffic.application();
        let opened = |(other, flow): &(&FlowSpec, &FlowResult)| other.traffic.application() == application && flow.started.is_some();
        let spare = application.is_some() && flows.iter().any(opened);
        return (!spare).then_some(Finding::NotStarted);
    };
    let lasted = end.since(started).as_secs_f64();
    if flow.delivered_packets == 0 && lasted >= PATIENCE {
        return Some(Finding::NothingDelivered(lasted));
    }
    // Without a handshake and a window of its own, a flow has no congestion control to exercise.
    let (Some(initial), Some(limited)) = (flow.cwnd_initial, flow.limited) else { return None };
    let share = |time: f64| Some(time).filter(|time| *time > MOST);
    if let Some(share) = limited.share(|times| times.receive_window).and_then(share) {
        return Some(Finding::RwndLimited(share, widen(&spec.host)));
    }
    let stopped = spec.stop.is_some_and(|stop| stop < end);
    let endless = matches!(spec.traffic, Traffic::Bulk) && spec.packets.is_none() && !stopped;
    if !quiet {
        let unfinished = endless && flow.slow_start_exit.is_none() && flow.window_reductions == 0;
        return unfinished.then_some(Finding::SlowStartUnfinished(lasted));
    }
    let complete = flow.completion_time.is_some() || stopped;
    let driven = !matches!(spec.traffic, Traffic::Bulk);
    let idle = limited.share(|times| times.application).and_then(share);
    if let Some(share) = idle.filter(|_| driven) {
        return Some(Finding::ApplicationLimited(share));
    }
    let more = match (stopped, driven) {
        (true, _) => "raise flow.stop to judge the congestion control",
        (_, true) => "let flow.application send more to judge the congestion control",
        _ if complete => "raise flow.size to judge the congestion control",
        _ => "raise duration to judge the congestion control",
    };
    Some(if flow.cwnd_max <= initial {
        Finding::InitialWindow(initial, more)
    } else if complete {
        Finding::SlowStartOnly(flow.delivered_packets as f64, more)
    } else {
        Finding::SlowStartUnfinished(lasted)
    })
}

/// How to widen the receive window of a host.
const fn widen(host: &HostSpec) -> &'static str {
    match host {
        HostSpec::Modern(host) if !host.window_scaling => "set flow.modern.window_scaling to judge the congestion control",
        HostSpec::Modern(_) => "raise flow.modern.receive_buffer_max to judge the congestion control",
        _ => "raise flow.rwnd to judge the congestion control",
    }
}

/// Names of the flows for a sentence: all of them, or their number and the first.
fn listed(names: &[&str], of: usize) -> String {
    match names {
        [name] => (*name).to_owned(),
        [.., last] if names.len() <= LISTED => format!("{} and {last}", names[..names.len() - 1].join(", ")),
        _ => format!("{} of {of} flows ({}, …)", names.len(), names[..LISTED].join(", ")),
    }
}

/// `low` to `high`, as one number if they agree after rounding to `digits` decimals.
fn between(low: f64, high: f64, digits: usize) -> String {
    let (low, high) = (short(low, digits), short(high, digits));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A number with at most `digits` decimals, without trailing zeros.
fn short(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
