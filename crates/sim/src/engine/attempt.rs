//! Runs within a sweep: a failure is a value, and a row of measures describes each run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ackclock_core::units::{Duration, Instant};

use super::error::RunError;
use super::prepared::Prepared;
use super::result::{FlowResult, LinkResult, RunResult};
use crate::columns::{seconds, table};
use crate::completion::{Statistics, Times};
use crate::scenario::Scenario;

/// A run within a sweep.
#[derive(Debug)]
pub struct Attempt {
    /// The result, or the reason why there is none.
    pub outcome: Result<RunResult, RunError>,
    /// Events processed.
    pub events: u64,
}

impl Attempt {
    /// Runs `scenario` without traces, with at most `max_events` events. A panic of the engine becomes [`RunError::Internal`].
    ///
    /// `interrupted` is called once after set-up and then from time to time; if it returns true, the run stops.
    pub fn new(scenario: &Scenario, max_events: u64, interrupted: &mut dyn FnMut() -> bool) -> Self {
        if scenario.placeholder {
            let reason = "a congestion control or slow start is a Python object, which a batch cannot run; use run or run_many".to_owned();
            return Self { outcome: Err(RunError::Part(reason)), events: 0 };
        }
        let mut prepared = match caught(|| Prepared::untraced(scenario)) {
            Ok(prepared) => prepared,
            Err(error) => return Self { outcome: Err(error), events: 0 },
        };
        // A run without events is never asked.
        if interrupted() {
            return Self { outcome: Err(RunError::Interrupted), events: 0 };
        }
        prepared.limit(max_events);
        let advanced = caught(|| prepared.advance(Instant::MAX, interrupted));
        let events = prepared.events();
        Self { outcome: advanced.and_then(|()| caught(|| prepared.run(&mut || false))), events }
    }
}

/// The value of `run`; a panic becomes an error.
fn caught<T>(run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    // Nothing but the number of events is read from a simulation after a panic.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(RunError::Internal(message(&*panic))))
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

table! {
    /// One run of a sweep.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RunRow of Scenario {
        task: u64 [task], "", "position of the scenario in the list of scenarios, from 0";
        error: Option<String> = |run| run.measures.as_ref().err().cloned(), "", "reason why the run gave no measures; null if it finished";
        flows: Option<u64> = |run| Some(run.measured()?.flows), "", "number of flows";
        finished_flows: Option<u64> = |run| Some(run.measured()?.finished_flows), "", "number of flows with a `completion_time`";
        delivered_bytes: Option<u64> = |run| Some(run.measured()?.delivered_bytes), "bytes", "sum of the flows' `delivered_bytes`";
        goodput_bps: Option<f64> = |run| Some(run.measured()?.goodput_bps), "bit/s", "payload delivered by all flows, without headers, per second of the run";
        jain: Option<f64> = |run| run.measured()?.jain, "", "Jain's index of the flows' `goodput_bps`: 1 if all are equal, 1/n if one of n flows has everything, null if all are 0";
        sent_packets: Option<u64> = |run| Some(run.measured()?.sent_packets), "packets", "sum of the flows' `sent_packets`";
        retransmitted_packets: Option<u64> = |run| Some(run.measured()?.retransmitted_packets), "packets", "sum of the flows' `retransmitted_packets`";
        dropped_packets: Option<u64> = |run| Some(run.measured()?.dropped_packets), "packets", "sum of the flows' `dropped_packets`";
        timeouts: Option<u64> = |run| Some(run.measured()?.timeouts), "", "sum of the flows' `timeouts`";
        utilisation: Option<f64> = |run| Some(run.bottleneck()?.utilisation), "", "share of the run during which the bottleneck transmitted: the slowest link on the first flow's data path. Null, like the next five columns, if that path has no link";
        queue_mean: Option<f64> = |run| Some(run.bottleneck()?.queue_mean), "packets", "mean number of packets that wait at the bottleneck, over time";
        queue_max: Option<u64> = |run| Some(run.bottleneck()?.queue_max), "packets", "largest number of packets that wait at the bottleneck";
        sojourn_mean: Option<Duration> = |run| Some(run.bottleneck()?.sojourn_mean), "s", "mean waiting time at the bottleneck, over all packets sent";
        sojourn_max: Option<Duration> = |run| Some(run.bottleneck()?.sojourn_max), "s", "longest waiting time at the bottleneck";
        drops: Option<u64> = |run| Some(run.bottleneck()?.drops), "packets", "packets dropped by the queue of the bottleneck";
        completion_mean: Option<f64> = |run| Some(run.completion()?.mean), "s", "mean of the flows' `completion_time`; null if no flow finished";
        completion_median: Option<f64> = |run| Some(run.completion()?.median), "s", "median of the flows' `completion_time`";
        completion_p95: Option<f64> = |run| Some(run.completion()?.p95), "s", "95th percentile of the flows' `completion_time`";
        warnings: Option<String> = |run| run.measured()?.warnings.clone(), "", "names of the run's warnings, separated by `, `; null if there are none";
        events: u64 [events], "", "events processed";
        cpu_s: f64 [cpu_s], "s", "processor time of set-up and run. Like `wall_s`, it differs from run to run";
        wall_s: f64 [wall_s], "s", "elapsed time of set-up and run";
    } besides {
        /// The measures, or the reason why there are none.
        measures: Result<Measures, String>,
    }
}

/// The measures of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures {
    flows: u64,
    finished_flows: u64,
    delivered_bytes: u64,
    goodput_bps: f64,
    jain: Option<f64>,
    sent_packets: u64,
    retransmitted_packets: u64,
    dropped_packets: u64,
    timeouts: u64,
    bottleneck: Option<LinkResult>,
    completion: Option<Statistics>,
    warnings: Option<String>,
}

impl RunRow {
    fn measured(&self) -> Option<&Measures> {
        self.measures.as_ref().ok()
    }

    fn bottleneck(&self) -> Option<&LinkResult> {
        self.measured()?.bottleneck.as_ref()
    }

    fn completion(&self) -> Option<Statistics> {
        self.measured()?.completion
    }
}

impl Measures {
    /// The measures of a run of `scenario`.
    pub fn of(scenario: &Scenario, result: &RunResult) -> Self {
        let flows = &result.flows;
        let sum = |count: fn(&FlowResult) -> u64| flows.iter().map(count).sum();
        let times = Times::of(flows.iter().map(|flow| flow.completion_time.map(|time| seconds(time.as_nanos()))));
        let names: Vec<&str> = result.warnings(scenario).iter().map(|warning| warning.name).collect();
        Self {
            flows: flows.len() as u64,
            finished_flows: (times.count - times.unfinished) as u64,
            delivered_bytes: sum(|flow| flow.delivered_bytes),
            goodput_bps: 8.0 * sum(|flow| flow.payload) as f64 / scenario.duration.as_secs_f64(),
            jain: jain(flows.iter().map(|flow| flow.goodput_bps)),
            sent_packets: sum(|flow| flow.sent_packets),
            retransmitted_packets: sum(|flow| flow.retransmitted_packets),
            dropped_packets: sum(|flow| flow.dropped_packets),
            timeouts: sum(|flow| flow.timeouts),
            bottleneck: result.bottleneck.map(|link| result.links[link].clone()),
            completion: times.statistics,
            warnings: (!names.is_empty()).then(|| names.join(", ")),
        }
    }
}

/// Jain's index of fairness, (Σx)² / (n·Σx²); `None` if all shares are 0.
fn jain(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(count, sum, squares), share| (count + 1.0, sum + share, squares + share * share));
    (squares > 0.0).then(|| sum * sum / (count * squares))
}
