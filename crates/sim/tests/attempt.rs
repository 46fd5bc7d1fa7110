//! Runs within a sweep: budgets, failures, and the row of measures.

use std::sync::Arc;

use ackclock_core::cc::{SlowStart, Step, Window};
use ackclock_core::events::Ack;
use ackclock_sim::columns::Cell;
use ackclock_sim::engine::{Attempt, Measures, Prepared, RunError, RunResult, RunRow, run};
use ackclock_sim::scenario::{ControlFactory, Document, Makers, Scenario, SlowStartFactory};

fn scenario(flows: &str) -> Scenario {
    let text = format!("duration = '3 s'\nrecord = ['cwnd']\ntopology.bottleneck = {{ rate = '2 Mbit/s', queue = '9 packets' }}\n{flows}");
    Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"))
}

fn attempt(scenario: &Scenario, max_events: u64) -> Attempt {
    Attempt::new(scenario, max_events, &mut || false)
}

fn row(scenario: &Scenario, attempt: &Attempt) -> RunRow {
    let measures = attempt.outcome.as_ref().map(|result| Measures::of(scenario, result)).map_err(ToString::to_string);
    RunRow { task: 7, events: attempt.events, cpu_s: 0.25, wall_s: 0.5, measures }
}

/// The cell of a column.
fn cell(scenario: &Scenario, row: &RunRow, name: &str) -> Cell {
    let column = RunRow::COLUMNS.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}"));
    column.cell(scenario, 0, row)
}

#[test]
fn a_run_without_flows_has_measures() {
    let scenario = scenario("[[flow]]\narrivals = { load = '0.000001 %', size = { kind = 'pareto', mean = '30 kB', shape = 1.3 } }");
    assert!(scenario.flows.is_empty());
    let found = attempt(&scenario, u64::MAX);
    let row = row(&scenario, &found);
    assert_eq!((cell(&scenario, &row, "error"), cell(&scenario, &row, "flows")), (Cell::Missing, Cell::Whole(0)));
    assert_eq!(
        (cell(&scenario, &row, "utilisation"), cell(&scenario, &row, "jain")),
        (Cell::Number(0.0), Cell::Missing),
        "an idle bottleneck"
    );
}

#[test]
fn an_attempt_gives_the_result_of_a_run() {
    let scenario = scenario("[[flow]]\ncount = 2");
    let mut plain = scenario.clone();
    plain.record.clear();
    let found = attempt(&scenario, u64::MAX);
    let result = found.outcome.unwrap();
    assert_eq!(result.digest(), run(&plain, &mut || false).unwrap().digest(), "without the traces");
    assert_eq!(found.events, result.events);
}

#[test]
fn a_run_has_exactly_its_budget_of_events() {
    let scenario = scenario("[flow]");
    let needed = run(&scenario, &mut || false).unwrap().events;
    let ample = attempt(&scenario, needed);
    assert_eq!(ample.outcome.unwrap().events, needed);
    for budget in [0, 1, 100, needed - 1] {
        let short = attempt(&scenario, budget);
        let Err(RunError::Events { max, at, end }) = short.outcome else { panic!("{budget}: {:?}", short.outcome) };
        assert_eq!((max, short.events), (budget, budget));
        assert!((0.0..3.0).contains(&at) && (end - 3.0).abs() < 1e-12, "{at} of {end}");
    }
    let said = attempt(&scenario, 1).outcome.unwrap_err().to_string();
    assert!(said.starts_with("exceeds the budget of 1 events (max_events): stopped at 0.0"), "{said}");
}

#[test]
fn a_budget_holds_however_a_run_is_divided() {
    let scenario = scenario("[flow]");
    let mut prepared = Prepared::new(&scenario).unwrap();
    prepared.limit(500);
    let outcome = (0..3000).try_for_each(|step| {
        let until = ackclock_core::units::Instant::from_nanos(1_000_000 * step);
        prepared.advance(until, &mut || false)
    });
    assert!(matches!(outcome, Err(RunError::Events { max: 500, .. })), "{outcome:?}");
    assert_eq!(prepared.events(), 500);
    prepared.limit(600);
    assert!(matches!(prepared.run(&mut || false), Err(RunError::Events { max: 600, .. })));
}

#[test]
fn an_interrupted_attempt_says_so() {
    let found = Attempt::new(&scenario("[flow]"), u64::MAX, &mut || true);
    assert!(matches!(found.outcome, Err(RunError::Interrupted)));
    assert_eq!(found.events, 0);
}

/// A slow start that panics at the first ACK, or already when it is made.
#[derive(Clone, Debug)]
struct Broken {
    at_once: bool,
}

impl SlowStart for Broken {
    fn on_ack(&mut self, _ack: &Ack, _window: &Window) -> Step {
        panic!("a fault of {}", "this slow start")
    }
}

impl Makers for Broken {
    fn control(&self, _flow: usize) -> Option<ControlFactory> {
        None
    }

    fn slow_start(&self, _flow: usize) -> Option<SlowStartFactory> {
        let made = self.clone();
        Some(Arc::new(move || {
            assert!(!made.at_once, "made wrongly");
            Box::new(made.clone())
        }))
    }
}

fn custom() -> Document {
    let json = r#"{ "name": "custom", "duration": "1 s", "flow": [{ "congestion_control": "python_slow_start" }] }"#;
    Document::from_json(json, "t.json").unwrap()
}

#[test]
fn a_panic_is_an_internal_error() {
    for (at_once, message, at_start) in
        [(false, "internal error: a fault of this slow start", false), (true, "internal error: made wrongly", true)]
    {
        let scenario = custom().scenario_with(&Broken { at_once }).unwrap();
        let found = attempt(&scenario, u64::MAX);
        assert_eq!((found.events == 0, row(&scenario, &found).measures), (at_start, Err(message.to_owned())));
    }
}

#[test]
fn a_part_that_only_the_caller_can_make_is_not_replaced_silently() {
    let found = attempt(&custom().scenario().unwrap(), u64::MAX);
    let said = found.outcome.unwrap_err().to_string();
    assert_eq!(said, "a congestion control or slow start is a Python object, which a batch cannot run; use run or run_many");
}

#[test]
fn measures_sum_up_flows_and_bottleneck() {
    let scenario = scenario("[[flow]]\ncount = 2\n[[flow]]\nsize = '20 packets'\n[[flow]]\nsize = '5 packets'\nstart = '1 s'");
    let found = attempt(&scenario, u64::MAX);
    let row = row(&scenario, &found);
    let result: &RunResult = found.outcome.as_ref().unwrap();
    let cell = |name| cell(&scenario, &row, name);
    let sum = |count: fn(&ackclock_sim::engine::FlowResult) -> u64| Cell::Whole(result.flows.iter().map(count).sum());
    assert_eq!(
        (cell("task"), cell("error"), cell("flows"), cell("finished_flows")),
        (Cell::Whole(7), Cell::Missing, Cell::Whole(4), Cell::Whole(2))
    );
    assert_eq!(cell("delivered_bytes"), sum(|flow| flow.delivered_bytes));
    assert_eq!(cell("sent_packets"), sum(|flow| flow.sent_packets));
    assert_eq!(cell("retransmitted_packets"), sum(|flow| flow.retransmitted_packets));
    assert_eq!(cell("dropped_packets"), sum(|flow| flow.dropped_packets));
    assert_eq!(cell("timeouts"), sum(|flow| flow.timeouts));
    assert!(cell("retransmitted_packets") != Cell::Whole(0), "there is something to count");
    let packets: u64 = result.flows.iter().map(|flow| flow.delivered_packets).sum();
    assert_eq!(cell("goodput_bps"), Cell::Number(8.0 * 1000.0 * packets as f64 / scenario.duration.as_secs_f64()));
    let goodputs: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
    let (sum, squares) = (goodputs.iter().sum::<f64>(), goodputs.iter().map(|share| share * share).sum::<f64>());
    assert_eq!(cell("jain"), Cell::Number(sum * sum / (4.0 * squares)));
    let index = scenario.links.iter().position(|link| link.name == "n1>n2").unwrap();
    assert_eq!(result.bottleneck, Some(index));
    let link = &result.links[index];
    assert_eq!((cell("utilisation"), cell("queue_mean")), (Cell::Number(link.utilisation), Cell::Number(link.queue_mean)));
    assert_eq!((cell("queue_max"), cell("drops")), (Cell::Whole(link.queue_max), Cell::Whole(link.drops)));
    let seconds = |time: ackclock_core::units::Duration| Cell::Number(ackclock_sim::columns::seconds(time.as_nanos()));
    assert_eq!((cell("sojourn_mean"), cell("sojourn_max")), (seconds(link.sojourn_mean), seconds(link.sojourn_max)));
    let times = [2, 3].map(|flow: usize| result.flows[flow].completion_time.unwrap().as_secs_f64());
    for (name, expected) in [
        ("completion_mean", f64::midpoint(times[0], times[1])),
        ("completion_median", f64::midpoint(times[0], times[1])),
        ("completion_p95", times[0].max(times[1]) - 0.05 * (times[0] - times[1]).abs()),
    ] {
        let Cell::Number(found) = cell(name) else { panic!("{name}") };
        assert!((found - expected).abs() < 1e-8, "{name}: {found} instead of {expected}");
    }
    assert_eq!((cell("events"), cell("cpu_s"), cell("wall_s")), (Cell::Whole(found.events), Cell::Number(0.25), Cell::Number(0.5)));
}

#[test]
fn what_a_run_does_not_have_is_missing() {
    let idle = scenario("[[flow]]\nstart = '9 s'\n[[flow]]\nstart = '9 s'");
    let quiet = row(&idle, &attempt(&idle, u64::MAX));
    for name in ["jain", "completion_mean", "completion_median", "completion_p95", "error"] {
        assert_eq!(cell(&idle, &quiet, name), Cell::Missing, "{name}");
    }
    assert_eq!(cell(&idle, &quiet, "warnings"), Cell::Text("not_started".to_owned()));
    assert_eq!(cell(&idle, &quiet, "utilisation"), Cell::Number(0.0));
    let failed = row(&idle, &Attempt { outcome: Err(RunError::Part("wrong".to_owned())), events: 3 });
    for column in RunRow::COLUMNS {
        let missing = column.cell(&idle, 0, &failed) == Cell::Missing;
        assert_eq!(missing, !["task", "error", "events", "cpu_s", "wall_s"].contains(&column.name), "{}", column.name);
    }
    assert_eq!(cell(&idle, &failed, "error"), Cell::Text("wrong".to_owned()));
}
